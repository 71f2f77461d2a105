#include "documents/chains_table.h"

#include <vector>

#include <fmt/format.h>

#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "findings/one/chain_works.h"

namespace jarvis::documents {

std::string ChainsTable(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr std::size_t kWorksMax = 10;
  const std::vector<findings::ChainWork> works = findings::ChainWorksOf(analysis, finding);
  if (works.size() < 2) return "";
  MarkdownTable table({"Chain", "Module", "Count", "Time", "Saves of GPU time"});
  for (const findings::ChainWork& work : works) {
    if (table.rows() == kWorksMax) break;
    table.Row({work.what.name,
               work.module_class.empty() ? std::string(kAbsentText) : Code(work.module_class),
               fmt::format("{}", work.count), EachMs(analysis, finding.own_part * work.ms),
               EachRange(analysis, work.savings_ms)});
  }
  return table.text() + "\n";
}

}  // namespace jarvis::documents
