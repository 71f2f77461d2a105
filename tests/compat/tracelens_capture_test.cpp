// Captures of graphs below their replays, as the reference merges them: T17 to T19 included.
#include "compat/tracelens_capture.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compat/tracelens.h"
#include "compat/tracelens_diff.h"
#include "compat/tracelens_models.h"
#include "compat/tracelens_work.h"
#include "support/trace_builder.h"

namespace jarvis::compat {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;
using Kernels = std::vector<std::string>;

// One capture for each list of kernels, each kernel below an op of its own.
Loaded CaptureOf(const std::vector<Kernels>& graphs, bool named = true) {
  TraceText text;
  double at = 10;
  std::int64_t correlation = 100;
  text.Python("serve.py(1): run", 0, 1e5);
  for (const Kernels& kernels : graphs) {
    text.Runtime("hipStreamBeginCapture", at, 1, correlation++);
    for (const std::string& kernel : kernels) {
      at += 10;
      text.Op("op_" + kernel, at, 8)
          .Runtime("hipLaunchKernel", at + 2, 3, correlation++,
                   named ? fmt::format("\"kernel\":\"{}\"", kernel) : "");
    }
    at += 10;
    text.Runtime("hipStreamEndCapture", at, 1, correlation++);
    at += 10;
  }
  return Load(text);
}

// A step of so many rows that replays one graph for each list.
TraceText ReplayText(const std::vector<Kernels>& graphs, int rows = 32, int streams = 1) {
  TraceText text;
  text.Annotation(fmt::format("execute_context_0(0)_generation_{0}({0})", rows), 0, 1000);
  double at = 10;
  std::int64_t correlation = 1;
  for (const Kernels& kernels : graphs) {
    text.Runtime("hipGraphLaunch", at, 5, correlation);
    int stream = 0;
    for (const std::string& kernel : kernels)
      text.Kernel(kernel, at += 5, 5, correlation, 7 + stream++ % streams);
    ++correlation;
    at += 10;
  }
  return text;
}

Loaded ReplayOf(const std::vector<Kernels>& graphs, int rows = 32, int streams = 1) {
  return Load(ReplayText(graphs, rows, streams));
}

TraceLensCapture Listed(const Loaded& capture, std::int64_t rows, const char* mode) {
  return {&capture.events(), rows, mode, true};
}

// "kernel<op" for each kernel of the trace; "-": the reference goes on without the captures.
std::string Ops(const Loaded& replay, const std::vector<TraceLensCapture>& captures) {
  const auto merged = MergeCaptures(replay.events(), captures);
  if (!merged) return "-";
  const trace::EventStore& events = merged->events ? *merged->events : replay.events();
  std::string text;
  for (EventIndex e = 0; e < replay.events().size(); ++e) {
    if (!trace::IsGpuWork(events[e].kind)) continue;
    EventIndex up = merged->tree.parent[e];
    while (up != kNoEvent && events[up].kind != trace::EventKind::kCpuOp)
      up = merged->tree.parent[up];
    text += fmt::format("{}<{} ", events.name(e), up == kNoEvent ? "?" : events.name(up));
  }
  return text;
}

TEST_CASE("what was captured hangs below the replay and has its time") {
  TraceText text = ReplayText({{"a", "b"}});
  text.Meta("thread_name", "\"name\":\"main\"");  // as most recordings end
  const Loaded replay = Load(text);
  const Loaded capture = CaptureOf({{"a", "b"}});
  const auto merged = MergeCaptures(replay.events(), std::vector{Listed(capture, 32, "FULL")});
  REQUIRE(merged.has_value());
  const trace::EventStore& events = *merged->events;
  const EventIndex launch = replay.Find("hipGraphLaunch");
  const EventIndex root = replay.events().size();
  CHECK(events.name(root) == "CaptureRoot");
  CHECK(merged->tree.parent[root] == launch);
  CHECK(events[root].uid == replay.events().elements);
  for (EventIndex e = root; e < events.size(); ++e) {
    CHECK(events[e].ts_ns == events[launch].ts_ns);
    CHECK(events[e].dur_ns == events[launch].dur_ns);
    CHECK(events[e].uid == events[root].uid + (e - root));
  }
  CHECK(Ops(replay, {Listed(capture, 32, "FULL")}) == "a<op_a b<op_b ");
  CHECK(merged->tree.links.size() == 2);
}

TEST_CASE("the smallest capture that has room is taken, a later one for equal rows") {
  const Loaded one = CaptureOf({{"a"}}), other = CaptureOf({{"x"}});
  const Loaded replay = ReplayOf({{"a"}}, 24);
  CHECK(Ops(replay, {Listed(other, 16, "FULL"), Listed(one, 32, "FULL"),
                     Listed(other, 64, "FULL")}) == "a<op_a ");
  CHECK(Ops(replay, {Listed(one, 16, "FULL")}) == "a<? ");
  // A file that the list names and that is not there counts as the smallest all the same.
  CHECK(Ops(replay, {Listed(one, 32, "FULL"), {nullptr, 24, "FULL", true}}) == "a<? ");
  CHECK(Ops(replay, {Listed(one, 32, "FULL"), {nullptr, 16, "FULL", true}}) == "a<op_a ");
  CHECK(Ops(replay, {Listed(other, 32, "FULL"), Listed(one, 32, "FULL")}) == "a<op_a ");
}

TEST_CASE("pieces are taken in their order, and only if there are as many") {
  const Loaded pieces = CaptureOf({{"a"}, {"b", "c"}}), whole = CaptureOf({{"a", "b", "c"}});
  const std::vector<TraceLensCapture> both = {Listed(pieces, 32, "PIECEWISE"),
                                              Listed(whole, 32, "FULL")};
  CHECK(Ops(ReplayOf({{"a"}, {"b", "c"}}), both) == "a<op_a b<op_b c<op_c ");
  CHECK(Ops(ReplayOf({{"a", "b", "c"}}), both) == "a<op_a b<op_b c<op_c ");
  CHECK(Ops(ReplayOf({{"a"}, {"b", "c"}, {"a"}}), both) == "a<? b<? c<? a<? ");
  // A launch that started nothing is one of them, and is passed over.
  CHECK(Ops(ReplayOf({{"a"}, {}}), both) == "a<op_a ");
  CHECK(Ops(ReplayOf({{"a"}, {"b", "c"}, {}}), both) == "a<? b<? c<? ");
  // One graph serves every launch of a step.
  CHECK(Ops(ReplayOf({{"a"}, {}, {"a"}}), {Listed(CaptureOf({{"a"}}), 32, "FULL")}) ==
        "a<op_a a<op_a ");
  // One that does not fit leaves the others.
  CHECK(Ops(ReplayOf({{"a"}, {"b", "x"}}), both) == "a<op_a b<? x<? ");
}

TEST_CASE("captures that fit nothing leave the tree as it was, with Python frames") {
  const Loaded replay = ReplayOf({{"a"}}), other = CaptureOf({{"x"}});
  const auto merged = MergeCaptures(replay.events(), std::vector{Listed(other, 32, "FULL")});
  REQUIRE(merged.has_value());
  CHECK(merged->events == nullptr);
  CHECK(merged->tree.links.size() == 1);
  CHECK_FALSE(MergeCaptures(replay.events(), {}).has_value());
}

TEST_CASE("surplus launches are dropped, and streams are told by names alone") {
  const Loaded surplus = CaptureOf({{"a", "noise", "b"}});
  CHECK(Ops(ReplayOf({{"a", "b"}}), {Listed(surplus, 32, "FULL")}) == "a<op_a b<op_b ");
  const Loaded named = CaptureOf({{"a", "b"}}), unnamed = CaptureOf({{"a", "b"}}, false);
  const Loaded replay = ReplayOf({{"b", "a"}}, 32, 2);
  CHECK(Ops(replay, {Listed(named, 32, "FULL")}) == "b<op_b a<op_a ");
  // T17.
  CHECK(Ops(replay, {Listed(unnamed, 32, "FULL")}) == "-");
}

// "op: kernels" for each row of the table of all ops.
std::string Rows(const Loaded& replay, const Loaded& capture) {
  const auto merged = MergeCaptures(replay.events(), std::vector{Listed(capture, 1, "FULL")});
  REQUIRE(merged.has_value());
  const trace::EventStore& events = *merged->events;
  const auto attribution = AttributeLikeTraceLens(events, merged->tree, {.python_frames = true});
  analysis::OpWorks works(events, TraceLensModels());
  const TraceLensWork work =
      CollectTraceLensWork(events, merged->tree, attribution, works, {true, true});
  std::string text;
  for (const analysis::WorkCall& call : work.unified) {
    text += call.name.empty() ? std::string(events.name(call.op)) : call.name;
    text += ":";
    for (const trace::EventIndex kernel : call.kernels)
      text += fmt::format(" {}", events.name(kernel));
    text += fmt::format(" {:g}\n", call.kernel_us);
  }
  return text;
}

// A compiled model that replays its graph in an op of its own, once for each of the steps.
Loaded DenoiseOf(int steps) {
  TraceText text;
  text.Python("pipeline.py(9): denoise", 0, 5000).Annotation("execute_diffusion_1_64x64", 1, 4990);
  for (int step = 0; step < steps; ++step) {
    const double at = 100 + 200 * step;
    text.Op("Torch-Compiled Region: 0/0", at, 50)
        .Runtime("hipGraphLaunch", at + 10, 5, step + 1)
        .Kernel("gemm", at + 20, 40, step + 1)
        .Kernel("tail", at + 70, 10, step + 1);
  }
  return Load(text);
}

Loaded CompiledCapture(bool tail_has_op) {
  TraceText text;
  text.Python("runner.py(3): capture", 0, 1000)
      .Runtime("hipStreamBeginCapture", 10, 1, 1)
      .Python("compiled.py(1): call", 20, 200)
      .Op("aten::mm", 30, 20, R"("Input Dims":[[8,4],[4,16]],"Input type":["float","float"])")
      .Runtime("hipLaunchKernel", 35, 5, 2, R"("kernel":"gemm")");
  if (tail_has_op) text.Op("tail_op", 60, 20);
  text.Runtime("hipLaunchKernel", 65, 5, 3, R"("kernel":"tail")")
      .Runtime("hipStreamEndCapture", 300, 1, 4);
  return Load(text);
}

TEST_CASE("an op around the replay that launches nothing itself is passed through") {
  CHECK(Rows(DenoiseOf(2), CompiledCapture(true)) ==
        "aten::mm: gemm 40\ntail_op: tail 10\naten::mm: gemm 40\ntail_op: tail 10\n");
}

TEST_CASE("one that captured launches hang below lists its kernels twice (T18), ops count too") {
  CHECK(Rows(DenoiseOf(1), CompiledCapture(false)) ==
        "Torch-Compiled Region: 0/0: gemm tail gemm tail 50\naten::mm: gemm 40\n");
}

TEST_CASE("captured ops are found where nothing is above the replay") {
  TraceText text;
  text.Annotation("execute_diffusion_1_64x64", 1, 990)
      .Runtime("hipGraphLaunch", 10, 5, 1)
      .Kernel("gemm", 20, 40, 1)
      .Kernel("tail", 70, 10, 1);
  CHECK(Rows(Load(text), CompiledCapture(true)) == "aten::mm: gemm 40\ntail_op: tail 10\n");
}

TEST_CASE("a side of a comparison has the ops of its captures") {
  const Loaded replay = DenoiseOf(1), capture = CompiledCapture(true);
  const auto ops = [&](const std::vector<TraceLensCapture>& captures) {
    analysis::DiffNames names = TraceLensDiffNames();
    const auto read = ReadTraceLensDiffSide(replay.events(), true, captures, names);
    std::string text;
    for (const analysis::DiffNode& node : read.side.tree.nodes) {
      if (node.kind == analysis::DiffKind::kOp)
        text += fmt::format("{} ", read.side.events->name(node.event));
    }
    return text;
  };
  CHECK(ops({}) == "Torch-Compiled Region: 0/0 ");
  CHECK(ops({Listed(capture, 1, "FULL")}) == "Torch-Compiled Region: 0/0 aten::mm tail_op ");
}

TEST_CASE("steps of another name are none, and leave all replays as they are") {
  TraceText text;
  text.Annotation("## Call CompiledFxGraph fabc ##", 0, 1000)
      .Runtime("hipGraphLaunch", 10, 5, 1)
      .Kernel("a", 20, 5, 1);
  CHECK(Ops(Load(text), {Listed(CaptureOf({{"a"}}), 1, "FULL")}) == "a<? ");
}

TEST_CASE("without a list the reference tells mode and rows from the capture") {
  TraceText text;
  text.Op("aten::mm", 0, 5, "\"Input Dims\":[[32,8],[8,8]]")
      .Op("aten::add", 10, 5, "\"Input Dims\":[[8],[]]")
      .Op("aten::cat", 20, 5, "\"Input Dims\":[[[32,8]],[]]");
  Loaded capture = Load(text);
  TraceLensCapture one{&capture.events(), {}, {}, false};
  ClassifyCapture(&one);
  CHECK(one.mode == "FULL");
  CHECK(one.batch == 8);
  text.Runtime("hipStreamBeginCapture", 30, 1, 1).Runtime("hipStreamBeginCapture", 40, 1, 2);
  capture = Load(text);
  one = {&capture.events(), {}, {}, false};
  ClassifyCapture(&one);
  CHECK(one.mode == "PIECEWISE");
  // T19: a mode that its loader does not take.
  text.Python("vllm/v1/worker/gpu_model_runner.py(4021): _dummy_run", 50, 10)
      .Annotation("capture_16_decode", 50, 10);
  capture = Load(text);
  one = {&capture.events(), {}, {}, false};
  ClassifyCapture(&one);
  CHECK(one.mode == "decode");
  CHECK(one.batch == 16);
}

}  // namespace
}  // namespace jarvis::compat
