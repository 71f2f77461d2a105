// Launch calls to GPU work, forward ops to backward nodes.
#include <string>

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

}  // namespace
}  // namespace jarvis::tree
