// Captured launches and replayed kernels, paired as the reference pairs them.
#include "compat/capture_alignment.h"

#include <algorithm>
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

struct Ran {
  std::string name;
  int stream = 7;
};

// A launch and its kernel; "": none is recorded, and the call is named as given.
struct Launched {
  std::string kernel;
  std::string call = "hipLaunchKernel";
};

// "kernel<n" for each pair: the n-th launch of the capture; "-": they do not agree.
std::string Pairs(const std::vector<Launched>& launched, const std::vector<Ran>& ran) {
  TraceText captured, replayed;
  double at = 0;
  for (const Launched& launch : launched) {
    captured.Runtime(launch.call, at += 10, 5, 1,
                     launch.kernel.empty() ? "" : fmt::format("\"kernel\":\"{}\"", launch.kernel));
  }
  replayed.Runtime("hipGraphLaunch", 0, 5, 1);
  for (const Ran& kernel : ran)
    replayed.Kernel(kernel.name, at += 10, 5, 1, kernel.stream);
  const Loaded capture = Load(captured), replay = Load(replayed);
  analysis::CapturedGraph graph;
  for (std::size_t i = 0; i < launched.size(); ++i) {
    graph.launches.push_back(static_cast<trace::EventIndex>(i));
    graph.kernels.push_back(launched[i].kernel);
  }
  analysis::ReplayedGraph work;
  for (std::size_t i = 0; i < ran.size(); ++i)
    work.gpu.push_back(static_cast<trace::EventIndex>(i + 1));
  const auto pairs = PairLikeTraceLens(replay.events(), work, capture.events(), graph);
  if (pairs.empty()) return "-";
  std::string text;
  for (const auto& [gpu, launch] : pairs)
    text += fmt::format("{}<{} ", replay.events().name(gpu), launch);
  return text;
}

TEST_CASE("as many launches as kernels go place by place, else name by name") {
  CHECK(Pairs({{"a"}, {"b"}}, {{"a"}, {"b"}}) == "a<0 b<1 ");
  // Kernels come in the order of the capture then.
  CHECK(Pairs({{"b"}, {"a"}}, {{"a"}, {"b"}}) == "b<0 a<1 ");
  CHECK(Pairs({{"b"}, {"a"}}, {{"a"}, {"a"}}) == "-");
  // A launch without a recorded kernel fits whatever ran in its place, and no name.
  CHECK(Pairs({{"a"}, {""}}, {{"a"}, {"b"}}) == "a<0 b<1 ");
  CHECK(Pairs({{""}, {"b"}}, {{"a"}, {"c"}}) == "-");
  CHECK(Pairs({{"b"}, {""}}, {{"a"}, {"b"}}) == "-");
}

TEST_CASE("launches that the replay does not run are dropped") {
  CHECK(Pairs({{"a"}, {"noise"}, {"b"}}, {{"a"}, {"b"}}) == "a<0 b<2 ");
  CHECK(Pairs({{"a"}, {""}, {"b"}}, {{"a"}, {"b"}}) == "a<0 b<2 ");
  CHECK(Pairs({{"b"}, {"noise"}, {"a"}}, {{"a"}, {"b"}}) == "-");
  CHECK(Pairs({{"a"}}, {{"a"}, {"a"}}) == "-");
  CHECK(Pairs({{"", "hipMemcpyAsync"}, {"x"}}, {{"Memcpy DtoH (Device -> Host)"}}) ==
        "Memcpy DtoH (Device -> Host)<0 ");
  CHECK(Pairs({{"x"}, {"", "hipMemsetAsync"}}, {{"__amd_rocclr_fillBufferAligned"}}) ==
        "__amd_rocclr_fillBufferAligned<1 ");
}

TEST_CASE("each stream runs its kernels in the order of their launches") {
  CHECK(Pairs({{"a"}, {"b"}, {"c"}}, {{"b", 8}, {"a", 7}, {"c", 7}}) == "b<1 a<0 c<2 ");
  CHECK(Pairs({{"a"}, {"b"}}, {{"b", 8}, {"a", 7}, {"c", 7}}) == "-");
  // Both streams begin with one kernel: that which goes on as the capture does is meant.
  CHECK(Pairs({{"a"}, {"b"}, {"a"}, {"c"}}, {{"a", 9}, {"a", 8}, {"c", 9}, {"b", 8}}) ==
        "a<2 a<0 c<3 b<1 ");
  // Of two that go on alike it is the one that ran first, whatever its number.
  CHECK(Pairs({{"a"}, {"a"}}, {{"a", 9}, {"a", 8}}) == "a<0 a<1 ");
  CHECK(Pairs({{"a"}, {"a"}}, {{"a", 8}, {"a", 9}}) == "a<0 a<1 ");
}

}  // namespace
}  // namespace jarvis::compat
