// What savings are shares of where recording made the step longer, and what no saving exceeds.
#include "documents/saving_base.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "documents/lever_table.h"
#include "documents/markdown_text.h"
#include "documents/same_action.h"
#include "findings/one/wall_classes.h"
#include "findings/one/wall_plan.h"
#include "support/analyzed.h"

namespace jarvis::documents {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

// Three steps of 80 kernels, launched every 50 us by ops inside ops, and a collective at the end.
TraceText ManyOps(int ops_around, double kernel_us = 5, double collective_us = 0) {
  TraceText text;
  std::int64_t id = 0;
  for (int step = 0; step < 3; ++step) {
    const double begin = 4400.0 * step;
    text.Annotation(fmt::format("ProfilerStep#{}", step + 3), begin, 4300);
    for (int i = 0; i < 80; ++i) {
      const double at = begin + 20 + 50.0 * i;
      for (int around = ops_around; around > 0; --around)
        text.Op("aten::outer", at - around, 30 + 2.0 * around);
      text.OpWithKernel("aten::relu", at, 25, "k", at + 30, kernel_us, ++id);
    }
    if (collective_us > 0) {
      text.OpWithKernel("c10d::allreduce_", begin + 4020, 10,
                        "ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + 4060, collective_us,
                        ++id);
    }
  }
  return text;
}

double Percent(const std::string& text, bool last) {
  const std::size_t end = last ? text.rfind('%') : text.find('%');
  const std::size_t begin = text.rfind(' ', end);
  return std::stod(text.substr(begin == std::string::npos ? 0 : begin + 1));
}

TEST_CASE("where recording made steps longer, shares are of the step without it") {
  const Analyzed one = Analyze(ManyOps(8), "H100");
  const findings::WallBase& wall = one.analysis.wall;
  REQUIRE(TellsUnrecorded(one.analysis));
  REQUIRE(wall.together_ms.has_value());
  CHECK(OfSavingBase(one.analysis) == "of the step without profiler overhead");
  const std::string share = TogetherShare(one.analysis);
  CAPTURE(share);
  CHECK(Percent(share, true) <= 100);
  CHECK(Percent(share, false) <= Percent(share, true));
  // One base, its middle: the ends have other ones, and their shares would cross.
  const std::string sentence = TogetherSentence(one.analysis);
  CAPTURE(sentence);
  const std::string middle = Pct(100 * wall.together_ms->mid / wall.wall_ms);
  CHECK(sentence.find(middle + " of ") != std::string::npos);
  // Middles are of the middle of it.
  CHECK(wall.wall_ms == wall.unrecorded_ms->mid);
  CHECK(wall.unrecorded_ms->low < wall.wall_ms);
  CHECK(wall.wall_ms < wall.unrecorded_ms->high);
  CHECK(wall.unrecorded_ms->high <= one.analysis.base.total_ms);
  CHECK(wall.together_ms->mid <= wall.wall_ms);
  // The text has both ends of what savings are of.
  CHECK(SavingBaseText(one.analysis).find(" to ") != std::string::npos);
}

TEST_CASE("middles stay as recorded where nobody knows what sets the pace without the profiler") {
  // The GPU may: it works for nearly all of what is left.
  const Analyzed gpu = Analyze(ManyOps(8, 46), "H100");
  CHECK_FALSE(gpu.analysis.wall.of_unrecorded);
  CHECK(gpu.analysis.wall.wall_ms == doctest::Approx(gpu.analysis.base.total_ms));
  // Other ranks may: the profiler slows them as well.
  const Analyzed ranks = Analyze(ManyOps(8, 5, 230), "H100");
  CHECK_FALSE(ranks.analysis.wall.of_unrecorded);
  const Analyzed short_one = Analyze(ManyOps(8, 5, 20), "H100");
  CHECK(short_one.analysis.wall.of_unrecorded);
}

TEST_CASE("what recording hardly costs changes no share") {
  const Analyzed one = Analyze(ManyOps(0), "H100");
  const findings::WallBase& wall = one.analysis.wall;
  REQUIRE(wall.together_ms.has_value());
  if (TellsUnrecorded(one.analysis)) return;
  CHECK(OfSavingBase(one.analysis).empty());
  CHECK(Percent(TogetherShare(one.analysis), true) ==
        doctest::Approx(100 * wall.together_ms->high / wall.wall_ms).epsilon(0.01));
}

TEST_CASE("all fixes together leave the GPU's own work of the step without recording") {
  for (const int around : {4, 8}) {
    CAPTURE(around);
    const Analyzed one = Analyze(ManyOps(around), "H100");
    const findings::WallBase& wall = one.analysis.wall;
    REQUIRE(TellsUnrecorded(one.analysis));
    REQUIRE(wall.together_ms.has_value());
    const double margin = wall.replay_error_percent / 100 * wall.unrecorded_ms->high + 1e-9;
    const double most = wall.unrecorded_ms->high - wall.gpu_own_ms + margin;
    double largest = 0;
    for (const findings::Finding& finding : one.analysis.findings) {
      const findings::WallSaving* best = findings::BestWall(finding);
      if (best == nullptr || finding.host == nullptr || finding.one_off) continue;
      CAPTURE(finding.subject);
      CHECK(best->ms.high <= std::max(best->ms.mid, most));
      largest = std::max(largest, findings::AfterOthers(*best).high);
    }
    CHECK(wall.together_ms->high <= std::max(most, largest) + 1e-9);
  }
}

}  // namespace
}  // namespace jarvis::documents
