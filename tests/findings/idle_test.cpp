// Each class of gap, by what the host did in it.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "findings/one/system_findings.h"
#include "findings/one/thresholds.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

// Two kernels with a gap from 100 to 200; the second is launched at `launch`.
TraceText Two(double launch) {
  TraceText text;
  text.OpWithKernel("aten::relu", 0, 10, "k1", 50, 50, 1);
  text.OpWithKernel("aten::relu", launch, 9, "k2", 200, 50, 2);
  return text;
}

const findings::GapGroup& Only(const Analyzed& one) {
  REQUIRE(one.analysis.idle.by_class.size() == 1);
  return one.analysis.idle.by_class.front();
}

TEST_CASE("the host was busy with ops and launched late") {
  TraceText text = Two(185);
  text.Op("aten::view", 110, 60);
  const Analyzed one = Analyze(text);
  CHECK(Only(one).name == "host_bound");
  CHECK(Only(one).total_us == doctest::Approx(100));
  CHECK(Only(one).saved_low_us == doctest::Approx(100 - limits::kLaunchMinUs));
  CHECK(one.analysis.idle.flagged);
  REQUIRE(one.analysis.idle.gaps.size() == 1);
  CHECK(one.analysis.idle.gaps[0].dominant == "aten::view");
  CHECK(one.analysis.idle.gaps[0].next_op == "aten::relu");
  // One gap has no launches to tell a habit from; without a simulation the classes are all there
  // is.
  const std::vector<Finding> found = IdleFindings(one.analysis);
  REQUIRE(found.size() == 1);
  CHECK(found[0].subject == "host_bound");
  CHECK(found[0].count == 1);
  REQUIRE(found[0].savings_ms.has_value());
  CHECK(found[0].savings_ms->high == doctest::Approx(0.1));
  CHECK(found[0].savings_ms->low == doctest::Approx((100 - limits::kLaunchMinUs) / 1000));
  CHECK(found[0].host == nullptr);
}

TEST_CASE(
    "where the launching thread records nothing, the one that feeds it says what the host did") {
  // A thread launches for another one, which is in Python for most of the time between.
  const auto between = [](bool feeds) {
    TraceText text;
    text.Thread(100, 200);
    for (int i = 0; i < 6; ++i)
      text.OpWithKernel("my::run", 3000 * i + 2600, 300, "k", 3000 * i + 2650, 200, i + 1);
    text.Thread(100, 100);
    for (int i = 0; i < 6; ++i) {
      if (feeds)
        text.Python("prepare.py(3): prepare", 3000 * i, 2500);
      else
        text.Op("aten::copy_", 3000 * i, 2500);
    }
    return Analyze(text);
  };
  const Analyzed fed = between(true);
  CHECK(Only(fed).name == "host_bound");
  REQUIRE_FALSE(fed.analysis.idle.gaps.empty());
  CHECK(fed.analysis.idle.gaps[0].dominant == "prepare.py(3): prepare");
  CHECK(Only(between(false)).name == "unknown");
}

TEST_CASE("the host waited for the GPU before it went on") {
  TraceText text = Two(185);
  text.Runtime("cudaStreamSynchronize", 20, 85, 77);
  CHECK(Only(Analyze(text)).name == "synchronisation");
  CHECK(Analyze(text).analysis.idle.gaps[0].drained);
}

TEST_CASE("the host waited for data") {
  TraceText text = Two(185);
  text.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 105, 70);
  CHECK(Only(Analyze(text)).name == "data_loading");
}

TEST_CASE("memory and code were set up") {
  TraceText text = Two(185);
  text.Runtime("cudaMalloc", 110, 60, 77);
  CHECK(Only(Analyze(text)).name == "start_up");
}

TEST_CASE("work that was queued in time and started late claims no saving") {
  const Analyzed one = Analyze(Two(60));
  CHECK(Only(one).name == "launch_delay");
  CHECK(Only(one).saved_us == 0);
}

TEST_CASE("queued beside a collective it is a wait for communication") {
  TraceText text;
  text.OpWithKernel("aten::relu", 0, 10, "k1", 50, 50, 1);
  text.OpWithKernel("c10d::allreduce_", 60, 9, "ncclDevKernel_AllReduce", 200, 50, 2);
  CHECK(Only(Analyze(text)).name == "communication_wait");
}

TEST_CASE("nothing on the host explains it") {
  TraceText text;
  text.OpWithKernel("aten::relu", 0, 10, "k1", 50, 50, 1);
  text.OpWithKernel("aten::relu", 5000, 9, "k2", 5012, 50, 2);
  const Analyzed one = Analyze(text);
  CHECK(Only(one).name == "unknown");
  CHECK(Only(one).saved_us == 0);
}

TEST_CASE("graph replay hides launches, and the analysis says so") {
  TraceText text;
  text.Runtime("cudaGraphLaunch", 0, 10, 1);
  text.Kernel("a", 20, 100, 1).Kernel("b", 1000, 100, 1);
  const Analyzed one = Analyze(text);
  CHECK_FALSE(one.analysis.idle.reliable);
  CHECK(one.analysis.idle.unreliable_because == "graph_replay");
  CHECK(one.analysis.idle.graph_percent == doctest::Approx(100));
  for (const findings::GapGroup& group : one.analysis.idle.by_class)
    CHECK(group.saved_us == 0);
  const std::vector<Finding> found = IdleFindings(one.analysis);
  REQUIRE(found.size() == 1);
  CHECK(found[0].subject == "idle");
  CHECK_FALSE(found[0].savings_ms.has_value());
  CHECK(found[0].warnings == std::vector<std::string>{"graph_replay"});
  // What the host did between two kernels of a graph is not known, so none of it is claimed.
  CHECK_FALSE(one.analysis.wall.range_only.empty());
  for (const Finding& finding : one.analysis.findings)
    CHECK(finding.host == nullptr);
  CHECK(one.Quality("gpu_graph_replay") != nullptr);
  CHECK(one.Quality("high_idle") == nullptr);
}

TEST_CASE("a graph launch of microseconds per node is the profiler's, if the GPU waits for it") {
  // A pass in `call`'s 100 nodes of 10 us each, which begin `late` into it and as it takes `us`.
  const auto told = [](std::string_view call, double us, double late) {
    TraceText text;
    text.Op("my::prepare", 0, 50).Runtime("cudaLaunchKernel", 5, 5, 1).Kernel("first", 12, 30, 1);
    text.Runtime(call, 60, us, 2);
    for (int i = 0; i < 100; ++i)
      text.Kernel("node", 60 + late + 10 * i, 9.8, 2);
    return Analyze(text).Quality("graph_launch") != nullptr;
  };
  CHECK(told("cudaGraphLaunch", 200, 198));
  CHECK_FALSE(told("cudaGraphLaunch", 200, 5));   // nothing waits for it
  CHECK_FALSE(told("cudaGraphLaunch", 40, 40));   // 0.4 us per node: as launches are
  CHECK_FALSE(told("hipGraphLaunch", 200, 198));  // which launches node by node by itself
}

TEST_CASE("classes and short gaps together are the idle time") {
  TraceText text;
  for (int i = 0; i < 20; ++i)
    text.OpWithKernel("aten::relu", 20 * i, 4, "k", 20 * i + 6, i % 2 == 0 ? 13 : 18, i + 1);
  const Analyzed one = Analyze(text);
  double sum = 0;
  for (const findings::GapGroup& group : one.analysis.idle.by_class)
    sum += group.total_us;
  CHECK(sum == doctest::Approx(one.analysis.idle.idle_us));
  CHECK(one.analysis.idle.micro_count > 0);
}

}  // namespace
}  // namespace jarvis::findings
