#include "tools/shared/first_view.h"

#include <string>

#include "documents/first_screen.h"
#include "documents/front.h"
#include "output/number_format.h"

namespace jarvis::tools {

Json FirstScreen(const findings::Analysis& analysis) {
  const documents::Front front = documents::FrontOf(analysis, {});
  Json base = Json::array(), parts = Json::array(), fixes = Json::array();
  for (std::size_t i = 0; i < front.brief; ++i)
    base.push_back(documents::PlainLine(front.summary[i]));
  for (const documents::FrontPart& part : front.parts) {
    parts.push_back({{"name", documents::BarName(part.name)},
                     {"share", part.share},
                     {"percent", output::Rounded(part.percent)},
                     {"look", part.look}});
  }
  for (const documents::FixRow* row : documents::FirstFixRows(front)) {
    Json fix = {{"number", documents::NumberOf(*row)},
                {"path", std::string(1, row->ways.front().path)},
                {"saves", row->brief},
                {"action", documents::PlainLine(documents::FirstAction(*row))}};
    if (!row->findings.empty()) fix["finding"] = row->findings.front()->id;
    fixes.push_back(std::move(fix));
  }
  return {{"title", documents::PlainLine(front.title)},
          {"run", documents::PlainLine(front.run)},
          {"base", std::move(base)},
          {"parts", std::move(parts)},
          {"fixes", std::move(fixes)},
          {"trust", documents::PlainLine(documents::FirstTrust(front))}};
}

}  // namespace jarvis::tools
