// Captures of graphs below their replays, as the reference merges them: T17 to T19 included.
#include "compat/tracelens_capture.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

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
Loaded ReplayOf(const std::vector<Kernels>& graphs, int rows = 32, int streams = 1) {
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
  return Load(text);
}

TraceLensCapture Listed(const Loaded& capture, std::int64_t rows, const char* mode) {
  return {&capture.events(), rows, mode, true};
}

// "kernel<op" for each kernel of the trace; "-": nothing was merged.
std::string Ops(const Loaded& replay, const std::vector<TraceLensCapture>& captures) {
  const auto merged = MergeCaptures(replay.events(), captures);
  if (!merged) return "-";
  std::string text;
  for (EventIndex e = 0; e < replay.events().size(); ++e) {
    if (!trace::IsGpuWork(replay.events()[e].kind)) continue;
    EventIndex up = merged->tree.parent[e];
    while (up != kNoEvent && (*merged->events)[up].kind != trace::EventKind::kCpuOp)
      up = merged->tree.parent[up];
    text += fmt::format("{}<{} ", merged->events->name(e),
                        up == kNoEvent ? "?" : merged->events->name(up));
  }
  return text;
}

TEST_CASE("what was captured hangs below the replay and has its time") {
  const Loaded replay = ReplayOf({{"a", "b"}});
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
  CHECK(Ops(replay, {Listed(one, 16, "FULL")}) == "-");
  CHECK(Ops(replay, {Listed(other, 32, "FULL"), Listed(one, 32, "FULL")}) == "a<op_a ");
}

TEST_CASE("pieces are taken in their order, and only if there are as many") {
  const Loaded pieces = CaptureOf({{"a"}, {"b", "c"}}), whole = CaptureOf({{"a", "b", "c"}});
  const std::vector<TraceLensCapture> both = {Listed(pieces, 32, "PIECEWISE"),
                                              Listed(whole, 32, "FULL")};
  CHECK(Ops(ReplayOf({{"a"}, {"b", "c"}}), both) == "a<op_a b<op_b c<op_c ");
  CHECK(Ops(ReplayOf({{"a", "b", "c"}}), both) == "a<op_a b<op_b c<op_c ");
  CHECK(Ops(ReplayOf({{"a"}, {"b", "c"}, {"a"}}), both) == "-");
  // One that does not fit leaves the others.
  CHECK(Ops(ReplayOf({{"a"}, {"b", "x"}}), both) == "a<op_a b<? x<? ");
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
