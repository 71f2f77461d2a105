#include "analysis/attribution/kernel_cells.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;
using Calls = std::vector<std::vector<EventIndex>>;

std::vector<KernelCell> Summarized(const Loaded& loaded, const Calls& calls, bool by_position) {
  TableRules rules;
  rules.skip_deviating_kernel_lists = by_position;
  std::vector<std::span<const EventIndex>> spans(calls.begin(), calls.end());
  return SummarizeKernels(loaded.events(), spans, rules);
}

// "name count total" by cell.
std::string Text(const std::vector<KernelCell>& cells) {
  std::string text;
  for (const KernelCell& cell : cells) {
    double total = 0;
    for (const double us : cell.durations_us)
      total += us;
    text += (text.empty() ? "" : ", ") + std::string(cell.name) + " " +
            std::to_string(cell.durations_us.size()) + " " +
            std::to_string(static_cast<int>(total));
  }
  return text;
}

// Kernels 0..5: a 20, b 30, c 40, a 22, b 28, c 41.
Loaded SixKernels() {
  return Load(TraceText()
                  .Kernel("a", 0, 20, 1)
                  .Kernel("b", 100, 30, 2)
                  .Kernel("c", 200, 40, 3)
                  .Kernel("a", 300, 22, 4)
                  .Kernel("b", 400, 28, 5)
                  .Kernel("c", 500, 41, 6));
}

TEST_CASE("G1: the same kernels in each call") {
  const Loaded loaded = SixKernels();
  for (const bool by_position : {false, true}) {
    CHECK(Text(Summarized(loaded, {{0, 1, 2}, {3, 4, 5}}, by_position)) ==
          "a 2 42, b 2 58, c 2 81");
  }
}

TEST_CASE("calls that ran other kernels") {
  const Loaded loaded = SixKernels();
  // A shorter list: by position it is left out, by name nothing is.
  CHECK(Text(Summarized(loaded, {{0, 1, 2}, {3, 4}}, true)) == "a 1 20, b 1 30, c 1 40");
  CHECK(Text(Summarized(loaded, {{0, 1, 2}, {3, 4}}, false)) == "c 1 40, a 2 42, b 2 58");
  // Another order: by position under the first call's names, by name where they belong.
  CHECK(Text(Summarized(loaded, {{0, 1}, {4, 3}}, true)) == "a 2 48, b 2 52");
  CHECK(Text(Summarized(loaded, {{0, 1}, {4, 3}}, false)) == "a 2 42, b 2 58");
  // One kernel twice in a call is two cells.
  CHECK(Text(Summarized(loaded, {{0, 3}}, false)) == "a 1 20, a 1 22");
  CHECK(Text(Summarized(loaded, {{}, {0}}, true)) == "a 1 20");
  CHECK(Summarized(loaded, {}, true).empty());
}

TEST_CASE("the cells' texts") {
  const std::string long_name(70, 'x');
  const Loaded loaded =
      Load(TraceText().Kernel(long_name, 0, 27.125, 1, 3).Kernel(long_name, 100, 26, 2, 3));
  const auto cells = Summarized(loaded, {{0}, {1}}, true);
  CHECK(
      KernelSummaryText(cells) ==
      "[{'name': '" + long_name +
          "', 'stream': 3, 'count': 2, 'total_duration_us': 53.125, 'mean_duration_us': 26.5625, "
          "'median_duration_us': 26.5625, 'std_dev_duration_us': 0.5625, 'min_duration_us': 26.0, "
          "'max_duration_us': 27.125}]");
  CHECK(KernelShortText(cells) ==
        "[{'name': '" + std::string(64, 'x') + "...', 'stream': 3, 'mean_duration_us': 26.56}]");
  CHECK(KernelSummaryText({}) == "[]");
  CHECK(KernelShortText({}) == "");
}

}  // namespace
}  // namespace jarvis::analysis
