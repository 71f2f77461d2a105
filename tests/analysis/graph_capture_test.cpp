#include "analysis/align/graph_capture.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

// A capture that launches these kernels in this order, each below an op of its own.
Loaded Capture(const std::vector<std::string>& kernels, bool named = true) {
  TraceText text;
  text.Annotation("capture_16_decode", 0, 1000).Runtime("hipStreamBeginCapture", 5, 2, 1);
  double at = 10;
  std::int64_t correlation = 100;
  for (const std::string& kernel : kernels) {
    const std::string args = named ? fmt::format("\"kernel\":\"{}\",\"grid\":[4,1,1]", kernel) : "";
    text.Op("aten::op", at, 8).Runtime("hipLaunchKernel", at + 2, 3, correlation++, args);
    at += 10;
  }
  text.Runtime("hipStreamEndCapture", at + 5, 2, 2);
  return Load(text);
}

Loaded Replay(const std::vector<std::string>& kernels, int streams = 1) {
  TraceText text;
  text.Annotation("execute_context_0(0)_generation_9(9)", 0, 90)
      .Runtime("hipGraphLaunch", 10, 50, 7);
  double at = 30;
  int stream = 0;
  for (const std::string& kernel : kernels) {
    text.Kernel(kernel, at, 5, 7, 3 + stream++ % streams);
    at += 5;
  }
  return Load(text);
}

std::vector<std::uint32_t> Align(const Loaded& capture, const Loaded& replay) {
  const auto graphs = FindCapturedGraphs(capture.events(), capture.tree);
  const auto replays = FindReplayedGraphs(replay.events(), replay.tree);
  REQUIRE(graphs.size() == 1);
  REQUIRE(replays.size() == 1);
  return AlignReplay(replay.events(), replays.front(), capture.events(), graphs.front());
}

using Kernels = std::vector<std::string>;
using Places = std::vector<std::uint32_t>;

TEST_CASE("a capture is what runs between its begin and its end") {
  const Loaded capture = Capture({"a", "b"});
  const auto graphs = FindCapturedGraphs(capture.events(), capture.tree);
  REQUIRE(graphs.size() == 1);
  CHECK(graphs[0].kernels == std::vector<std::string>{"a", "b"});
  CHECK(capture.Names(graphs[0].events) == "aten::op hipLaunchKernel aten::op hipLaunchKernel");
  CHECK(graphs[0].batch == 16);
  CHECK(FindCapturedGraphs(Replay({"a"}).events(), Replay({"a"}).tree).empty());
}

TEST_CASE("a replay knows its kernels and the rows of its step") {
  const Loaded replay = Replay({"a", "b", "c"});
  const auto replays = FindReplayedGraphs(replay.events(), replay.tree);
  REQUIRE(replays.size() == 1);
  CHECK(replay.Names(replays[0].gpu) == "a b c");
  CHECK(replay.NameOf(replays[0].launch) == "hipGraphLaunch");
}

TEST_CASE("kernels agree with launches in order, or name by name") {
  CHECK(Align(Capture({"a", "b", "a"}), Replay({"a", "b", "a"})) == Places{0, 1, 2});
  CHECK(Align(Capture({"b", "a", "a"}), Replay({"a", "b", "a"})) == Places{1, 0, 2});
}

TEST_CASE("what does not agree is not aligned") {
  CHECK(Align(Capture({"a", "b"}), Replay({"a", "c"})).empty());
  CHECK(Align(Capture({"a", "b"}), Replay({"a", "b", "b"})).empty());
  CHECK(Align(Capture({"a", "b", "b"}), Replay({"a", "b"})).empty());
}

TEST_CASE("a capture may launch a little that the replay does not run") {
  Kernels many;
  for (int i = 0; i < 20; ++i)
    many.push_back(fmt::format("k{}", i % 3));
  Kernels more = many;
  more.insert(more.begin() + 5, "noise");
  Places places;
  for (std::uint32_t i = 0; i < 20; ++i)
    places.push_back(i < 5 ? i : i + 1);
  CHECK(Align(Capture(more), Replay(many)) == places);
  CHECK(Align(Capture(more, false), Replay(many)).empty());
  more.insert(more.end(), 2, "noise");
  CHECK(Align(Capture(more), Replay(many)).empty());
}

TEST_CASE("on several streams each runs its kernels in the order of their launches") {
  // One stream runs "b d", the other "b c": what follows the first "b" tells whose it is.
  CHECK(Align(Capture({"b", "c", "b", "d"}), Replay({"b", "b", "d", "c"}, 2)) ==
        Places{2, 0, 3, 1});
  CHECK(Align(Capture({"a", "b"}), Replay({"b", "a"}, 2)) == Places{1, 0});
  CHECK(Align(Capture({"a", "c"}), Replay({"b", "a"}, 2)).empty());
}

TEST_CASE("without recorded names only the order on one stream says something") {
  CHECK(Align(Capture({"a", "b"}, false), Replay({"x", "y"})) == Places{0, 1});
  CHECK(Align(Capture({"a", "b"}, false), Replay({"x", "y"}, 2)).empty());
  CHECK(Align(Capture({"a", "b"}, false), Replay({"x"})).empty());
}

}  // namespace
}  // namespace jarvis::analysis
