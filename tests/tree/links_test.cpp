// Launch calls to GPU work, forward ops to backward nodes.
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "support/trace_builder.h"
#include "tree/build.h"

namespace jarvis::tree {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

TEST_CASE("L1: a launch, an arrow, a kernel") {
  const Loaded loaded = Load(TraceText().OpWithKernel("op", 0, 10, "k", 20, 5, 1));
  CHECK(loaded.ParentOf("k") == "cudaLaunchKernel");
  CHECK(loaded.ParentOf("cudaLaunchKernel") == "op");
  CHECK(loaded.Names(loaded.tree.GpuBelow(loaded.Find("op"))) == "k");
  CHECK(loaded.Names(loaded.tree.GpuOf(loaded.Find("op"))) == "");
  CHECK(loaded.Names(loaded.tree.GpuOf(loaded.Find("cudaLaunchKernel"))) == "k");
  CHECK(loaded.tree.unlinked().empty());
}

TEST_CASE("L2: correlations link, arrows are not needed") {
  for (const bool finish : {true, false}) {
    TraceText text;
    text.Op("op", 0, 10).Runtime("launch", 2, 3, 1).Kernel("k", 20, 5, 1);
    if (finish) text.Finish(1);
    CHECK(Load(text).ParentOf("k") == "launch");
  }
}

TEST_CASE("of launches with one correlation, the last that is not later than the work") {
  TraceText text;
  for (int i = 0; i < 100; ++i)
    text.Runtime("launch" + std::to_string(i), 10 * i, 2, 7);
  text.Runtime("other", 5000, 2, 8);
  const Loaded loaded = Load(text.Kernel("middle", 505, 2, 7)
                                 .Kernel("at the start", 500, 2, 7, 8)
                                 .Kernel("before all", -5, 2, 7, 9)
                                 .Kernel("after", 6000, 2, 7));
  CHECK(loaded.ParentOf("middle") == "launch50");
  CHECK(loaded.ParentOf("at the start") == "launch50");
  CHECK(loaded.ParentOf("before all") == "launch0");
  CHECK(loaded.ParentOf("after") == "launch99");
}

TEST_CASE("L3: all kernels of a graph launch, over streams, by start") {
  for (const char* call : {"cudaGraphLaunch", "hipGraphLaunch", "anyOtherLaunch"}) {
    TraceText text;
    text.Op("op", 0, 10).Runtime(call, 2, 3, 1);
    text.Kernel("c", 40, 5, 1, 7).Kernel("a", 20, 5, 1, 8).Kernel("b", 30, 5, 1, 7);
    const Loaded loaded = Load(text);
    CHECK(loaded.Names(loaded.tree.GpuOf(loaded.Find(call))) == "a b c");
    CHECK(loaded.Names(loaded.tree.GpuBelow(loaded.Find("op"))) == "a b c");
  }
}

TEST_CASE("L4: two kernels with one correlation on one stream are both linked") {
  const Loaded loaded = Load(
      TraceText().Runtime("launch", 0, 3, 1).Kernel("a", 10, 5, 1).Kernel("b", 20, 5, 1).Arrow(1));
  CHECK(loaded.ParentOf("a") == "launch");
  CHECK(loaded.ParentOf("b") == "launch");
}

TEST_CASE("L5: with one correlation on two calls the nearest call before the work counts") {
  TraceText text;
  text.Op("op1", 0, 10).Runtime("r1", 2, 3, 1).Op("op2", 100, 10).Runtime("r2", 102, 3, 1);
  text.Kernel("early", 20, 5, 1).Kernel("late", 120, 5, 1);
  const Loaded loaded = Load(text);
  CHECK(loaded.ParentOf("early") == "r1");
  CHECK(loaded.ParentOf("late") == "r2");
  CHECK(loaded.Names(loaded.tree.GpuBelow(loaded.Find("op1"))) == "early");
  CHECK(loaded.Names(loaded.tree.GpuBelow(loaded.Find("op2"))) == "late");
  // A clock that runs ahead: the work seems to start before the call.
  CHECK(Load(TraceText().Runtime("r", 50, 3, 1).Kernel("k", 20, 5, 1)).ParentOf("k") == "r");
}

TEST_CASE("L6: the innermost of nested calls") {
  TraceText text;
  text.Op("op", 0, 20).Runtime("runtime", 2, 10, 1).Driver("driver", 4, 3, 1).Kernel("k", 30, 5, 1);
  const Loaded loaded = Load(text);
  CHECK(loaded.ParentOf("k") == "driver");
  CHECK(loaded.ParentOf("driver") == "runtime");
  CHECK(loaded.ParentOf("runtime") == "op");
}

TEST_CASE("L7: a launch outside of any op") {
  const Loaded loaded = Load(TraceText().Runtime("launch", 0, 3, 1).Kernel("k", 10, 5, 1));
  CHECK(loaded.ParentOf("launch") == "-");
  CHECK(loaded.ParentOf("k") == "launch");
}

TEST_CASE("the op by External id, where no call has the correlation") {
  TraceText text;
  text.Op("op", 0, 10, R"("External id":5)").Op("other", 20, 10, R"("External id":6)");
  text.Kernel("by_id", 30, 5, 77, 7, R"("External id":5)");
  text.Kernel("neither", 40, 5, 78, 7, R"("External id":99)");
  text.Kernel("no_ids", 25, 5, -1);
  const Loaded loaded = Load(text);
  CHECK(loaded.ParentOf("by_id") == "op");
  CHECK(loaded.tree.linked_by_external_id() == 1);
  CHECK(loaded.Names(loaded.tree.unlinked()) == "no_ids neither");
  CHECK(loaded.Names(loaded.tree.GpuBelow(loaded.Find("op"))) == "by_id");
}

TEST_CASE("a trace of GPU work only") {
  const Loaded loaded =
      Load(TraceText().Kernel("b", 20, 5, 1).Kernel("a", 10, 5, 2).Memcpy("m", 30, 5, 3));
  CHECK(loaded.Names(loaded.tree.unlinked()) == "a b m");
  CHECK(loaded.tree.preorder().empty());
}

TEST_CASE("correlations far apart, negative and huge") {
  TraceText text;
  const std::int64_t ids[] = {0, 5, 4294967296, 9223372036854775806};
  for (const std::int64_t id : ids) {
    text.Runtime("r" + std::to_string(id), 0, 1, id).Kernel("k" + std::to_string(id), 10, 1, id);
  }
  text.Runtime("minus", 0, 1, -1, R"("correlation":-9223372036854775807)");
  text.Kernel("kminus", 10, 1, -1, 7, R"("correlation":-9223372036854775807)");
  const Loaded loaded = Load(text);
  for (const std::int64_t id : ids) {
    CHECK(loaded.ParentOf("k" + std::to_string(id)) == "r" + std::to_string(id));
  }
  CHECK(loaded.ParentOf("kminus") == "minus");
}

TEST_CASE("synchronisation drawn on a stream is no work") {
  TraceText text;
  text.Runtime("cudaStreamSynchronize", 0, 50, 1);
  text.Raw(
      R"({"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":7,"ts":5,"dur":40,"args":{"correlation":1,"stream":7}})");
  const Loaded loaded = Load(text.Kernel("k", 60, 5, 2).Runtime("launch", 55, 2, 2));
  CHECK(loaded.tree.GpuOf(loaded.Find("cudaStreamSynchronize")).empty());
  CHECK(loaded.tree.unlinked().empty());
}

constexpr const char* kNode = "autograd::engine::evaluate_function: AddmmBackward0";

std::string Forward(const Loaded& loaded, std::string_view backward = kNode) {
  return loaded.NameOf(loaded.tree.ForwardOf(loaded.Find(backward)));
}

TEST_CASE("forward and backward on two threads: the deepest forward op") {
  TraceText text;
  text.Thread(1, 1).Op("aten::linear", 0, 30, R"("Sequence number":5)");
  text.Op("aten::addmm", 10, 10, R"("Sequence number":5)");
  text.Thread(1, 2).Op(kNode, 100, 20, R"("Sequence number":5)");
  text.Op("AddmmBackward0", 101, 18, R"("Sequence number":5)");
  const Loaded loaded = Load(text);
  CHECK(Forward(loaded) == "aten::addmm");
  CHECK(loaded.NameOf(loaded.tree.BackwardOf(loaded.Find("aten::addmm"))) == kNode);
  CHECK(loaded.tree.BackwardOf(loaded.Find("aten::linear")) == kNoEvent);
  CHECK(loaded.tree.ForwardOf(loaded.Find("aten::addmm")) == kNoEvent);
}

TEST_CASE("forward and backward on one thread are linked too") {
  TraceText text;
  text.Op("aten::mm", 0, 10, R"("Sequence number":7)").Op(kNode, 100, 20, R"("Sequence number":7)");
  CHECK(Forward(Load(text)) == "aten::mm");
}

TEST_CASE("backward nodes without a forward op") {
  CHECK(Forward(Load(TraceText().Op(kNode, 100, 20, R"("Sequence number":7)"))) == "-");
  CHECK(Forward(Load(TraceText().Op("aten::mm", 0, 10).Op(kNode, 100, 20))) == "-");
  // Not before the node: links must not go in circles.
  TraceText text;
  text.Op(kNode, 100, 20, R"("Sequence number":7)")
      .Op("aten::mm", 100, 5, R"("Sequence number":7)");
  CHECK(Forward(Load(text)) == "-");
}

TEST_CASE("the first of several nodes with one number; the numbers of several passes") {
  TraceText text;
  text.Op("aten::mm", 0, 10, R"("Sequence number":7)").Op(kNode, 100, 20, R"("Sequence number":7)");
  text.Op("autograd::engine::evaluate_function: Second", 200, 20, R"("Sequence number":7)");
  const Loaded loaded = Load(text);
  CHECK(Forward(loaded) == "aten::mm");
  CHECK(Forward(loaded, "autograd::engine::evaluate_function: Second") == "-");
}

// One rank of a file that a tool put together: `ops` ops, 100 us apart, each with a launch and a
// kernel `lead` later, ids from `first` on, on a process and a device that are called so.
struct MergedRank {
  std::string host;
  std::string device;
  double begin = 0;
  double lead = 5;
  int first = 1;
  int ops = 5;
};

void AddRank(const MergedRank& rank, const std::string& name, TraceText* text) {
  for (int i = 0; i < rank.ops; ++i) {
    const double ts = rank.begin + 100 * i;
    const auto event = [&](const char* category, const std::string& called, const std::string& pid,
                           double at, double dur) {
      text->Raw(R"({"ph":"X","cat":")" + std::string(category) + R"(","name":")" + called +
                R"(","pid":")" + pid + R"(","tid":7,"ts":)" + std::to_string(at) + R"(,"dur":)" +
                std::to_string(dur) + R"(,"args":{"External id":)" +
                std::to_string(rank.first + i) + R"(,"correlation":)" +
                std::to_string(rank.first + i) + R"(,"stream":7}})");
    };
    const std::string number = name + std::to_string(i);
    event("cpu_op", "op" + number, rank.host, ts, 20);
    event("cuda_runtime", "launch" + number, rank.host, ts + 1, 3);
    event("kernel", "k" + number, rank.device, ts + rank.lead, 50);
  }
}

// How many kernels of a rank stand below the launch of their own rank and op, and how many are
// below no call at all.
std::pair<int, int> RightAndUnlinked(const Loaded& loaded, const std::string& name, int ops = 5) {
  int right = 0;
  int unlinked = 0;
  for (int i = 0; i < ops; ++i) {
    const std::string parent = loaded.ParentOf("k" + name + std::to_string(i));
    right += parent == "launch" + name + std::to_string(i) ? 1 : 0;
    unlinked += parent == "-" ? 1 : 0;
  }
  return {right, unlinked};
}

TEST_CASE("ranks merged by other tools share ids: work belongs to the process of its label") {
  constexpr const char* kPids[][4] = {
      {"[TP00] 1000", "[TP00] 0", "[TP01] 1001", "[TP01] 0"},
      {"rank0/1000", "rank0/0", "rank1/1001", "rank1/0"},
      {"1000_r0", "0_r0", "1001_r1", "0_r1"},
      {"1000 (rank 0)", "0 (rank 0)", "1001 (rank 1)", "0 (rank 1)"},
  };
  for (const auto& pids : kPids) {
    CAPTURE(pids[0]);
    TraceText text;
    // Both wait as long, so that time tells nothing.
    AddRank({pids[0], pids[1], 0, 250}, "a", &text);
    AddRank({pids[2], pids[3], 1, 250}, "b", &text);
    const Loaded loaded = Load(text);
    CHECK(RightAndUnlinked(loaded, "a") == std::pair(5, 0));
    CHECK(RightAndUnlinked(loaded, "b") == std::pair(5, 0));
    CHECK(loaded.tree.ambiguous() == 0);
  }
}

TEST_CASE("... to the process whose calls come before it and have its ids") {
  TraceText text;
  AddRank({"1000", "0", 0, 5}, "a", &text);
  AddRank({"1001", "1", 40, 5}, "b", &text);
  AddRank({"1002", "2", 80, 5, 1, 7}, "c", &text);
  const Loaded loaded = Load(text);
  CHECK(RightAndUnlinked(loaded, "a") == std::pair(5, 0));
  CHECK(RightAndUnlinked(loaded, "b") == std::pair(5, 0));
  CHECK(RightAndUnlinked(loaded, "c", 7) == std::pair(7, 0));
}

TEST_CASE("... in a file of one rank after the other, between whose calls it lies") {
  TraceText text;
  for (int rank = 0; rank < 3; ++rank) {
    AddRank({std::to_string(5'000'000 + rank), std::to_string(rank), 0, 250},
            std::string(1, static_cast<char>('a' + rank)), &text);
  }
  const Loaded loaded = Load(text);
  for (const char* rank : {"a", "b", "c"})
    CHECK(RightAndUnlinked(loaded, rank) == std::pair(5, 0));
}

TEST_CASE("... and to none where every process has the same device: that is counted") {
  TraceText text;
  AddRank({"1000", "0", 0, 250}, "a", &text);
  AddRank({"1001", "0", 3, 250}, "b", &text);
  AddRank({"1002", "0", 6, 250, 4}, "c", &text);
  const Loaded loaded = Load(text);
  for (const char* rank : {"a", "b"})
    CHECK(RightAndUnlinked(loaded, rank) == std::pair(0, 5));
  // Three ids are its alone.
  CHECK(RightAndUnlinked(loaded, "c") == std::pair(3, 2));
  CHECK(loaded.tree.ambiguous() == 12);
}

TEST_CASE("one process with several devices, and ranks whose ids differ, are linked as ever") {
  TraceText text;
  AddRank({"1000", "0", 0, 5, 1}, "a", &text);
  AddRank({"1000", "1", 20, 5, 100}, "b", &text);
  CHECK_FALSE(Load(text).tree.launch_processes().several());
  AddRank({"1001", "0", 50, 5, 200}, "c", &text);
  const Loaded loaded = Load(text);
  for (const char* rank : {"a", "b", "c"})
    CHECK(RightAndUnlinked(loaded, rank) == std::pair(5, 0));
}

TEST_CASE("forward and backward are of one process, whatever the numbers of another") {
  TraceText text;
  text.Thread(1, 1).Op("fwd1", 0, 10, R"("Sequence number":5)");
  text.Thread(2, 1).Op("fwd2", 20, 10, R"("Sequence number":5)");
  text.Thread(1, 2).Op(kNode, 100, 20, R"("Sequence number":5)");
  CHECK(Forward(Load(text)) == "fwd1");
}

TEST_CASE("a launch call beside its op, and in another, is of the op that its External id names") {
  TraceText text;
  text.Op("mm", 0, 120, R"("External id":1)").Op("add", 122, 30, R"("External id":2)");
  text.Runtime("launch1", 1, 3, 1, R"("External id":1)");
  text.Runtime("launch2", 117, 3, 2, R"("External id":2)");
  text.Op("late", 200, 10, R"("External id":3)").Op("other", 213, 10, R"("External id":4)");
  text.Runtime("launch3", 214, 3, 3, R"("External id":3)");
  text.Kernel("k1", 10, 5, 1).Kernel("k2", 130, 5, 2).Kernel("k3", 230, 5, 3);
  const Loaded loaded = Load(text);
  CHECK(loaded.ParentOf("launch2") == "add");
  CHECK(loaded.ParentOf("launch3") == "late");
  CHECK(loaded.tree.moved_calls() == 2);
  CHECK(loaded.Names(loaded.tree.GpuBelow(loaded.Find("mm"))) == "k1");
  CHECK(loaded.Names(loaded.tree.GpuBelow(loaded.Find("add"))) == "k2");
  CHECK(loaded.Names(loaded.tree.GpuBelow(loaded.Find("late"))) == "k3");
  CHECK(loaded.Names(loaded.tree.GpuBelow(loaded.Find("other"))) == "");
  CHECK(loaded.Names(loaded.tree.preorder()) == "mm launch1 add launch2 late launch3 other");
}

TEST_CASE("an External id of an op far away, of another thread or around the call moves nothing") {
  TraceText text;
  text.Op("far", 0, 20, R"("External id":1)").Op("outer", 100, 100, R"("External id":2)");
  text.Op("inner", 110, 50, R"("External id":3)");
  text.Runtime("stale", 120, 3, 1, R"("External id":1)");
  text.Runtime("around", 130, 3, 2, R"("External id":2)");
  text.Thread(100, 200).Op("elsewhere", 112, 5, R"("External id":4)");
  text.Thread(100, 100).Runtime("crossed", 140, 3, 3, R"("External id":4)");
  text.Kernel("k1", 150, 5, 1).Kernel("k2", 160, 5, 2).Kernel("k3", 170, 5, 3);
  const Loaded loaded = Load(text);
  for (const char* call : {"stale", "around", "crossed"})
    CHECK(loaded.ParentOf(call) == "inner");
  CHECK(loaded.tree.moved_calls() == 0);
}

}  // namespace
}  // namespace jarvis::tree
