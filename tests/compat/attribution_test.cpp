#include <string>

#include <doctest/doctest.h>

#include "analysis/attribution/gpu_timeline.h"
#include "compat/tracelens.h"
#include "support/attribution_rows.h"

namespace jarvis::compat {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

void Check(const TraceText& text, const std::string& launchers) {
  const Loaded loaded = Load(text);
  for (const bool python_frames : {false, true}) {
    CHECK(testing::Launchers(loaded.events(),
                             AttributeLikeTraceLens(
                                 loaded.events(), {.python_frames = python_frames})) == launchers);
  }
}

TEST_CASE("which operation a kernel belongs to, for the reference") {
  Check(testing::K1(), "op 1 50/50");
  Check(testing::K2(), "op 2 70/70");
  Check(testing::K4(1), "op 1 50/50");
  Check(testing::K4(5), "op 1 50/50");
  Check(testing::K5(), "hipLaunchKernel 1 50/50");
  Check(testing::K6(), "op 1 50/50, hipLaunchKernel 1 20/20");
  Check(testing::K7(), "");
  Check(testing::K8(), "op 1 30/70");
  Check(testing::K9("cudaGraphLaunch"), "op 3 90/90");
  Check(testing::K9("hipGraphLaunch"), "op 3 90/90");
  Check(testing::K11(), "conv_bn_fused 1 80/80");
  Check(testing::K13(), "hipLaunchKernel 1 50/50");
  Check(testing::K14(), "inner 1 50/50");
  Check(testing::K15(), "left 1 50/50, right 1 40/40");
  Check(testing::K16(), "aten::copy_ 1 10/10, aten::zero_ 1 5/5");
  Check(testing::K17(), "cuLaunchKernelEx 1 50/50");
  Check(testing::K19(), "hipLaunchKernel 1 50/50");
}

TEST_CASE("one kernel of two calls counts in both subtrees (T7)") {
  TraceText text;
  text.Op("op1", 0, 10).Runtime("hipLaunchKernel", 2, 2, 1).Op("op2", 20, 10);
  text.Runtime("hipLaunchKernel", 22, 2, 1).Kernel("k", 100, 50, 1).Arrow(1);
  testing::Launch(text.Op("op1", 40, 10), 42, "l", 200, 5, 2);
  Check(text, "op2 1 50/50, op1 1 5/5");
}

TEST_CASE("the timeline counts linked work only, unless asked for all") {
  TraceText text = testing::K1();
  text.Kernel("unlinked", 300, 30, 9);
  const Loaded loaded = Load(text);
  const auto busy = [&](bool unlinked) {
    const auto attribution =
        AttributeLikeTraceLens(loaded.events(), {.include_unlinked_kernels = unlinked});
    return analysis::ComputeGpuTimeline(loaded.events(), attribution.timeline, attribution.clock)
        ->busy;
  };
  CHECK(busy(false) == 50);
  CHECK(busy(true) == 80);
  // The kernel tables know all kernels, linked or not, but no copies.
  TraceText with_copy = text;
  with_copy.Memcpy("Memcpy", 400, 5, 10);
  const Loaded copy = Load(with_copy);
  CHECK(AttributeLikeTraceLens(copy.events(), {}).places.size() == 2);
}

TEST_CASE("rows with equal keys are ordered as the reference's sort leaves them") {
  // Up to 16 rows an insertion sort, reversed twice: stable. Beyond that partitions move ties.
  std::vector<double> values(16, 1.0);
  values[5] = 2.0;
  const auto small = TraceLensRules().descending(values);
  CHECK(small.front() == 5);
  for (std::size_t i = 1; i + 1 < small.size(); ++i)
    CHECK(small[i] < small[i + 1]);
  values.assign(40, 1.0);
  auto large = TraceLensRules().descending(values);
  CHECK(large.size() == 40);
  std::sort(large.begin(), large.end());
  for (std::size_t i = 0; i < large.size(); ++i)
    CHECK(large[i] == i);
  values.clear();
  for (int i = 0; i < 100; ++i)
    values.push_back(i * 7919 % 101);
  const auto order = TraceLensRules().descending(values);
  for (std::size_t i = 1; i < order.size(); ++i)
    CHECK(values[order[i - 1]] >= values[order[i]]);
}

TEST_CASE("pseudo-ops of the reference") {
  TraceText text;
  text.Op("aiter::fused_moe_", 0, 100).Python("moe.py(1): flydsl_moe_stage1", 1, 50);
  testing::Launch(text, 10, "k", 200, 5, 1);
  text.Op("sglang_profiler::step_4", 300, 20);
  testing::Launch(text, 305, "l", 400, 7, 2);
  const auto names = [](const TraceText& trace, bool pseudo_ops) {
    const Loaded loaded = Load(trace);
    const auto made =
        AttributeLikeTraceLens(loaded.events(), {.python_frames = true, .pseudo_ops = pseudo_ops});
    std::string list;
    for (const auto& launcher : made.launchers)
      list += std::string(made.pseudo.NameOf(loaded.events(), launcher.op)) + ", ";
    return list;
  };
  CHECK(names(text, false) == "aiter::fused_moe_, sglang_profiler::step_4, ");
  CHECK(names(text, true) == "pseudo_op::moe_flydsl_stage1, sglang_profiler::step, ");
  // T15: with these ops there is none.
  text.Op("_rocm_C::paged_attention", 600, 5);
  CHECK(names(text, true) == "aiter::fused_moe_, sglang_profiler::step, ");
}

TEST_CASE("T13: for the reference work of one op overlaps with itself") {
  TraceText text;
  text.Op("op", 0, 100);
  text.Runtime("hipLaunchKernel", 10, 2, 1).Kernel("k", 200, 20, 1, 7).Arrow(1, 7);
  text.Runtime("hipLaunchKernel", 20, 2, 2).Kernel("l", 210, 20, 2, 8).Arrow(2, 8);
  const Loaded loaded = Load(text);
  const auto made = AttributeLikeTraceLens(loaded.events(), {});
  Job job;
  const auto found =
      analysis::FindOverlaps(loaded.events(), made.timeline, TraceLensOverlapOptions(), job);
  REQUIRE(found.has_value());
  CHECK(loaded.Names(found->PartnersOf(loaded.Find("k"))) == "l");
}

}  // namespace
}  // namespace jarvis::compat
