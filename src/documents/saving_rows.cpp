#include "documents/saving_rows.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "documents/base_text.h"
#include "documents/host_rows.h"
#include "documents/subjects.h"
#include "findings/one/estimates.h"

namespace jarvis::documents {
namespace {

// With the share of what could be saved: of kernels that of the GPU window, of wall time that of
// the unit. Of an estimated unit each end has a length of its own, which the impact tells.
void AddShare(const findings::Analysis& analysis, const findings::Finding& finding,
              MarkdownTable* table) {
  constexpr double kRounded = 0.001;
  const double window = analysis.totals.Percent(finding.savings_ms->high).value_or(0);
  const double told = finding.impact_percent->high;
  if (told > 100) return;  // of time around it
  const bool of_window = std::abs(window - told) <= kRounded * std::max(window, told);
  if (!of_window && analysis.wall.known && analysis.wall.of_unrecorded) return;
  table->Row({fmt::format("Possible saving, share of the {}",
                          of_window ? "GPU window" : analysis.base.unit),
              RangePct(*finding.impact_percent)});
}

// What GPU work could be spared, of the whole recording and of one of its steps.
void AddPossible(const findings::Analysis& analysis, const findings::Finding& finding,
                 MarkdownTable* table) {
  if (finding.savings_ms) {
    const std::string name = OfHostTime(analysis, finding)
                                 ? "Possible saving"
                                 : "Possible saving of these kernels' GPU time";
    table->Row({name, RangeMs(*finding.savings_ms)});
    if (!finding.one_off && (analysis.base.count > 1 || finding.own_part < 1)) {
      table->Row({name + " " + UnitPhrase(analysis), EachRange(analysis, finding.OwnSavingsMs())});
    }
    if (finding.impact_percent) AddShare(analysis, finding, table);
  }
}

}  // namespace

void AddSavingRows(const findings::Analysis& analysis, const findings::Finding& finding,
                   MarkdownTable* table) {
  AddPossible(analysis, finding, table);
  const bool host_time = OfHostTime(analysis, finding);
  for (const auto& [path, change] :
       {std::pair{"Path A", &finding.change_a}, {"Path B", &finding.change_b}}) {
    if (!*change || !finding.rule) continue;
    const std::string name =
        host_time ? fmt::format("{} saves", path) : fmt::format("GPU time that {} saves", path);
    table->Row({name, RangeMs((*change)->savings_ms)});
    if (analysis.base.count > 1) {
      table->Row({fmt::format("{} {}", name, UnitPhrase(analysis)),
                  EachRange(analysis, findings::Scaled((*change)->savings_ms, finding.own_part))});
    }
    table->Row({fmt::format("{} reaches", path),
                InDeviceWords(analysis, fmt::format("{} ({})", CellOfText((*change)->target),
                                                    CellOfText((*change)->source)))});
  }
}

}  // namespace jarvis::documents
