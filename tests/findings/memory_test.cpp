// What a trace is said to take up, with all that is derived from it, against what the heap has.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <malloc.h>

#include "findings/one/analysis_cache.h"
#include "findings/one/quality.h"
#include "findings/one/wall_base.h"
#include "perf/platform.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {
namespace {

std::size_t HeapInUse() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// Loads the trace and makes everything that is kept with it.
std::shared_ptr<const session::LoadedTrace> LoadAndAsk(const std::string& path) {
  Job job;
  auto trace = session::LoadTrace(path, 1, job);
  REQUIRE(trace.has_value());
  REQUIRE(QualityOf(**trace, job).has_value());
  REQUIRE(AnalysisOf(**trace, perf::FindPlatform("MI300X"), {}, job).has_value());
  REQUIRE(WallGroundOf(**trace, job).has_value());
  (*trace)->Works();
  for (const auto by : {analysis::GroupBy::kOp, analysis::GroupBy::kKernel,
                        analysis::GroupBy::kModule, analysis::GroupBy::kStream}) {
    for (const analysis::SummaryRow& row : (*trace)->SummaryBy(by).rows) {
      if (by == analysis::GroupBy::kOp) (*trace)->CallersOf(row);
    }
  }
  return *trace;
}

TEST_CASE("a trace is counted as the heap has it") {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  const std::string folder = std::string(data == nullptr ? "" : data) + "/traces/";
  if (!std::filesystem::exists(folder + "owlv2-mi300x") || HeapInUse() == 0) {
    MESSAGE("skipped: no traces, or a heap that does not tell");
    return;
  }
  // What is made once for all traces is no trace's.
  LoadAndAsk(folder + "simple-add/trace.json.gz").reset();
  for (const char* name : {"owlv2-mi300x", "sam-fast-a100", "sd35-xdit-mi300x", "qwen1.5-0.5b-h100",
                           "gptoss-vllm-b200"}) {
    CAPTURE(std::string(name));
    const std::size_t before = HeapInUse();
    const auto trace = LoadAndAsk(folder + name + "/trace.json.gz");
    const auto taken = static_cast<double>(HeapInUse() - before);
    const auto counted = static_cast<double>(trace->MemoryBytes());
    CHECK(counted > 0.85 * taken);
    CHECK(counted < 1.25 * taken);
  }
}

}  // namespace
}  // namespace jarvis::findings
