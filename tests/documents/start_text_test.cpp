// What is said of recordings of a program's start.
#include "documents/start_text.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "documents/front.h"
#include "support/analyzed.h"

namespace jarvis::documents {
namespace {

using testing::Analyze;
using testing::TraceText;

// A context of 400 us, then a kernel of 2 us that is launched `times` times, from `begin` on.
TraceText Program(int times, double begin = 0) {
  TraceText text;
  text.Runtime("cudaFree", begin, 400, 9001);
  for (int i = 0; i < times; ++i) {
    text.Runtime("cudaLaunchKernel", begin + 600 + 20 * i, 6, i + 1);
    text.Kernel("kernel", begin + 609 + 20 * i, 2, i + 1);
  }
  return text;
}

std::string Recording(std::string_view more = {}) {
  return fmt::format(R"("recording":{{"profiler":"nsys"{}}})", more);
}

TEST_CASE("what is too little is said first, in words of the profiler that recorded it") {
  const auto one = Analyze(Program(4), "", Recording());
  const std::vector<std::string> told = SummarySentences(one.analysis);
  REQUIRE_FALSE(told.empty());
  CHECK(
      told.front() ==
      "4 kernels and 0.00800 ms of GPU work are too little to rank: no kernel runs often enough to "
      "show what it usually costs. Start-up takes the host 0.400 ms, once per process (longest: "
      "`cudaFree` 0.400 ms). Record next: several steps of the steady work, with `nsys profile "
      "--trace=cuda,nvtx --capture-range=cudaProfilerApi` and `cudaProfilerStart()` after the "
      "warm-up.");
  for (const std::string& sentence : told) {
    CHECK(sentence.find("recommendations") == std::string::npos);
    CHECK(sentence.find("-bound") == std::string::npos);
  }
  CHECK(StartTable(one.analysis).find("`cudaFree` | 1 | 0.400 ms") != std::string::npos);
  CHECK(TooLittleSentence(Analyze(Program(40), "", Recording()).analysis).empty());
}

TEST_CASE("the recording's length stands beside the work of a start") {
  const std::string span = R"(,"begin_ns":0,"end_ns":468000000)";
  const std::string start =
      R"(,"start_up":[{"what":"CUDA profiling initialization","count":1,"ms":173}])";
  const auto said = [](const TraceText& text, const std::string& more) {
    return RecordedSpanSentence(Analyze(text, "", Recording(more)).analysis);
  };
  CHECK(said(Program(2, 339'000), span + start) ==
        "The profiler recorded 468.0 ms of the process; its first GPU work begins after 339.6 ms "
        "(among others: CUDA profiling initialization 173.0 ms).");
  CHECK(said(Program(2, 339'000), span) ==
        "The profiler recorded 468.0 ms of the process; its first GPU work begins after 339.6 ms.");
  // Enough work, and what came before it is no start-up.
  CHECK(said(Program(40, 339'000), span).empty());
  CHECK(said(Program(2), "").empty());
}

TEST_CASE("a graph that its replays do not pay for") {
  TraceText text = Program(2);
  text.Runtime("cudaStreamBeginCapture", 700, 5, 11);
  text.Runtime("cudaLaunchKernel", 708, 6, 12);
  text.Runtime("cudaStreamEndCapture", 720, 5, 13);
  text.Runtime("cudaGraphInstantiate", 730, 50, 14);
  text.Runtime("cudaGraphLaunch", 800, 9, 15).Kernel("kernel", 812, 2, 15);
  CHECK(
      CostlyGraphSentence(Analyze(text, "", Recording()).analysis) ==
      "Building the GPU graph (capture, instantiation, destruction) took 0.0600 ms, more than the "
      "one recorded replay saves: at most 0.00600 ms of launches. Build a graph once and replay it "
      "often enough to pay for that.");
  CHECK(CostlyGraphSentence(Analyze(Program(2), "", Recording()).analysis).empty());
}

}  // namespace
}  // namespace jarvis::documents
