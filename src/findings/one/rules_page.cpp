#include "findings/one/rules_page.h"

#include <fmt/format.h>

#include "findings/one/pattern.h"
#include "findings/one/published_rates.h"

namespace jarvis::findings {
namespace {

std::string RuleLine(std::string_view name, std::string_view text) {
  return fmt::format("| {} | {} |\n", name, text.empty() ? std::string_view("none") : text);
}

}  // namespace

std::string RulesPage() {
  std::string page =
      "# Rules\n\n"
      "What the analysis looks for besides the distance to the roofline. The page is made from "
      "the\n"
      "files in `src/levers/catalogue` (`UPDATE_GOLDEN=1 build/release/tests/findings_test` "
      "rewrites\n"
      "it). Words in braces stand for numbers and names from the trace; text in double brackets\n"
      "appears only where they are known. Path A: the model's code may change; Path B: the model "
      "stays\n"
      "as it is. A saving is of GPU time; how much wall time it saves depends on the host.\n";
  for (const RuleRow& row : levers::Shipped().rules()) {
    page += fmt::format("\n## {}\n\n`{}`\n\n| | |\n|---|---|\n", Info(row.pattern).what,
                        Info(row.pattern).key);
    page += RuleLine("signature", row.signature);
    page += RuleLine("evidence", row.evidence);
    page += RuleLine("Path A", row.path_a);
    page += RuleLine("Path B", row.path_b);
    page += RuleLine("not where", row.excluded);
    page += RuleLine("target", row.target);
    page += RuleLine("source", row.source);
    if (!row.open.empty()) page += RuleLine("no trace shows", row.open);
  }
  page +=
      "\n## Published rates of fused attention\n\n"
      "Forward, 16-bit operands, long sequences; rounded down. Without a row: 40% of the dense "
      "peak.\n\n"
      "| device | head size up to | TFLOPS/s | kernels | source |\n|---|---|---|---|---|\n";
  for (const PublishedAttention& rate : PublishedAttentionRates()) {
    page += fmt::format("| {} | {:.0f} | {:.0f} | {} | {} |\n", rate.platform, rate.head_size,
                        rate.tflops, rate.kernels, rate.source);
  }
  return page;
}

}  // namespace jarvis::findings
