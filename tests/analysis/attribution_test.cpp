#include "analysis/attribution/attribution.h"

#include <string>

#include <doctest/doctest.h>

#include "support/attribution_rows.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

void Check(const TraceText& text, const std::string& launchers) {
  const Loaded loaded = Load(text);
  CHECK(testing::Launchers(loaded.events(), Attribute(loaded.events(), loaded.tree)) == launchers);
}

TEST_CASE("which operation a kernel belongs to") {
  Check(testing::K1(), "op 1 50/50");
  Check(testing::K2(), "op 2 70/70");
  Check(testing::K4(1), "op 1 50/50");
  Check(testing::K4(5), "op 1 50/50");
  Check(testing::K5(), "hipLaunchKernel 1 50/50");
  Check(testing::K6(), "op 1 50/50, hipLaunchKernel 1 20/20");
  Check(testing::K9("cudaGraphLaunch"), "op 3 90/90");
  Check(testing::K9("hipGraphLaunch"), "op 3 90/90");
  Check(testing::K11(), "conv_bn_fused 1 80/80");
  Check(testing::K13(), "hipLaunchKernel 1 50/50");
  Check(testing::K14(), "inner 1 50/50");
  Check(testing::K15(), "left 1 50/50, right 1 40/40");
  Check(testing::K16(), "aten::copy_ 1 10/10, aten::zero_ 1 5/5");
}

TEST_CASE("where the default differs from the reference") {
  // K7, K8: collectives count.
  Check(testing::K7(), "op 1 50/50");
  Check(testing::K8(), "op 2 70/70");
  // K17: nested calls are climbed through.
  Check(testing::K17(), "op 1 50/50");
  // K19: a call that sticks out of its op stays its op's.
  Check(testing::K19(), "op 1 50/50");
}

TEST_CASE("K18: an op with work of its own and below") {
  TraceText text;
  text.Op("parent", 0, 100);
  testing::Launch(text, 2, "own", 150, 10, 3);
  text.Op("child", 10, 50);
  testing::Launch(text, 20, "k", 200, 50, 1);
  Check(text, "parent 1 10/60, child 1 50/50");
}

TEST_CASE("busy time counts overlapping work of one op once") {
  TraceText text;
  text.Op("op", 0, 100)
      .Runtime("r", 10, 2, 1)
      .Kernel("a", 200, 50, 1, 7)
      .Kernel("b", 220, 50, 1, 8);
  Check(text, "op 2 70/70");
}

TEST_CASE("unlinked work has launchers of its own") {
  TraceText text;
  text.Op("op", 0, 10).Kernel("a", 200, 50, 1).Kernel("a", 300, 20, 2);
  const Loaded loaded = Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  CHECK(testing::Launchers(loaded.events(), attribution) ==
        "(unlinked) 1 50/50, (unlinked) 1 20/20");
  CHECK(attribution.CategoryOf(attribution.launchers[0]) == "unlinked");
  CHECK(attribution.cpu_ops);
}

TEST_CASE("E8: a trace without ops") {
  const Loaded gpu_only = Load(TraceText().Runtime("r", 0, 5, 1).Kernel("k", 10, 5, 1));
  CHECK_FALSE(Attribute(gpu_only.events(), gpu_only.tree).cpu_ops);
  const Loaded with_op =
      Load(TraceText().Op("op", 50, 5).Runtime("r", 0, 5, 1).Kernel("k", 10, 5, 1));
  CHECK(Attribute(with_op.events(), with_op.tree).cpu_ops);
}

TEST_CASE("what is left out by the reader is in no total") {
  TraceText text = testing::K1();
  text.Kernel("k", 200, 50, 1).Kernel("k", 200, 50, 1);
  Check(text, "op 1 50/50");
}

TEST_CASE("coverage adds up") {
  TraceText text;
  text.Op("op", 0, 10).Runtime("r1", 2, 2, 1).Runtime("r2", 20, 2, 2);
  text.Kernel("with_op", 100, 10, 1).Kernel("bare", 200, 20, 2).Kernel("unlinked", 300, 40, 3);
  text.Kernel("with_op", 100, 10, 1);                          // a duplicate
  text.Kernel("long", 400, 500, 4).Kernel("next", 450, 5, 5);  // clipped from 500 to 50
  const Loaded loaded = Load(text);
  const Coverage coverage = ComputeCoverage(loaded.events(), loaded.tree);
  CHECK(coverage.all.count == 5);
  CHECK(coverage.all.time_us == 125);
  CHECK(coverage.linked.count == 2);
  CHECK(coverage.linked.time_us == 30);
  CHECK(coverage.with_op.count == 1);
  CHECK(coverage.with_op.time_us == 10);
  CHECK(coverage.unlinked.count == 3);
  CHECK(coverage.unlinked.time_us == 95);
  CHECK(coverage.clipped.count == 1);
  CHECK(coverage.clipped.time_us == 450);
  CHECK(coverage.left_out.count == 1);
  CHECK(coverage.left_out.time_us == 10);
}

TEST_CASE("names of collectives") {
  for (const char* name :
       {"ncclDevKernel_AllReduce", "RCCL_x", "void cross_device_reduce_1stage<int>"}) {
    CHECK(IsCollectiveName(name));
  }
  for (const char* name : {"gemm", "ncc", "cross_device", ""})
    CHECK_FALSE(IsCollectiveName(name));
}

}  // namespace
}  // namespace jarvis::analysis
