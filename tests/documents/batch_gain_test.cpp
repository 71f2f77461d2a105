// What a larger batch gives where the GPU waits for the host.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "documents/host_prose.h"
#include "documents/lever_table.h"
#include "documents/same_action.h"
#include "support/analyzed.h"

namespace jarvis::documents {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

// Eight passes of 3 ms, whose GPU work of 500 us begins 2 ms into each. `waits`: the pass ends when
// it is done; else the next one is launched meanwhile.
Analyzed Passes(bool waits) {
  TraceText text;
  for (int i = 0; i < 8; ++i) {
    const double at = 3000.0 * i;
    text.Annotation(fmt::format("ProfilerStep#{}", i + 1), at, 2990);
    text.Python("model.py(3): prepare", at + 5, waits ? 1900 : 2900);
    const double launch = waits ? 2000 : 2950;
    for (int k = 0; k < 5; ++k) {
      text.OpWithKernel("aten::relu", at + launch + 5 * k, 4, "k",
                        at + launch + (waits ? 30 : 2500) + 101 * k, 100, 10 * i + k + 1);
    }
    if (waits) text.Runtime("cudaDeviceSynchronize", at + 2040, 520, 1000 + i);
  }
  return Analyze(text);
}

TEST_CASE("a pass that waits for the GPU gets longer with its batch") {
  const Analyzed one = Passes(true);
  const auto gain = BatchGainOf(one.analysis);
  REQUIRE(gain.has_value());
  CHECK(gain->longer);
  CHECK(gain->times >= 4);
  const double pass_ms = one.analysis.base.Each(one.analysis.base.total_ms);
  CHECK(gain->step_ms == doctest::Approx(pass_ms + (gain->times - 1) * 0.5).epsilon(0.02));
  CHECK(gain->throughput == doctest::Approx(gain->times * pass_ms / gain->step_ms));
  CHECK(BatchText(one.analysis, *gain).find(" instead of ") != std::string::npos);
}

TEST_CASE("where the next pass is launched before the GPU is done, latency hardly grows") {
  const Analyzed one = Passes(false);
  const auto gain = BatchGainOf(one.analysis);
  REQUIRE(gain.has_value());
  CHECK_FALSE(gain->longer);
  CHECK(gain->throughput == doctest::Approx(gain->times));
}

// Replays of a graph that keep the GPU busy with kernels of `blocks` blocks on 132 units.
Analyzed Replays(int blocks) {
  TraceText text;
  for (int i = 0; i < 8; ++i) {
    const double at = 3000.0 * i;
    text.Annotation(fmt::format("ProfilerStep#{}", i + 1), at, 2990);
    for (int k = 0; k < 28; ++k) {
      const int id = 100 * i + k + 1;
      text.Op("my::scan", at + 10 + 5 * k, 4).Runtime("cudaLaunchKernel", at + 11 + 5 * k, 2, id);
      text.Kernel("my_kernel", at + 20 + 106 * k, 105, id, 7,
                  fmt::format(R"("grid":[{},1,1])", blocks));
    }
  }
  return Analyze(text, "H100", R"("deviceProperties":[{"id":0,"name":"H100","numSms":132}])");
}

TEST_CASE("small grids of a pass that the GPU binds have room for a larger batch") {
  const auto told = [](int blocks) {
    const Analyzed one = Replays(blocks);
    const std::size_t count = one.analysis.findings.size();
    const auto rows = FixRows(one.analysis, {}, ActionGroups(one.analysis, count), count);
    return std::ranges::any_of(rows, [](const FixRow& row) {
      return row.after.starts_with("a single pass gets no shorter");
    });
  };
  CHECK(told(60));
  CHECK_FALSE(told(132));
}

}  // namespace
}  // namespace jarvis::documents
