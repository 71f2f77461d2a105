#include "compat/tracelens_models.h"

#include <utility>
#include <vector>

#include "base/check.h"

namespace jarvis::compat {

bool InTheReference(std::string_view file) {
  return !file.starts_with("beyond_");
}

const perf::ModelRows& TraceLensModels() {
  static const perf::ModelRows rows = [] {
    std::vector<std::pair<std::string_view, std::string_view>> overlays;
    for (const EmbeddedFile& file : OverlayFiles())
      overlays.emplace_back(file.name, file.text);
    Result<perf::ModelRows> made = perf::RowsWith(&InTheReference, overlays);
    JV_CHECK(made);  // built in and tested
    made->Trust();
    return *std::move(made);
  }();
  return rows;
}

}  // namespace jarvis::compat
