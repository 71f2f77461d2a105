// Any text as a question in SQL: an answer or an error within its limits, and nothing but reading.
#include <cstdint>
#include <string>

#include "findings/one/analysis_cache.h"
#include "fuzz/loaded_text.h"
#include "fuzz/require.h"
#include "fuzz/trace_recipe.h"
#include "query/database.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

std::shared_ptr<const session::LoadedTrace> ATrace() {
  std::string recipe;
  for (int i = 0; i < 40; ++i)
    recipe += std::string("\x0a\x00\x00\x01\x03\x06\x00\x05\x21\x03\x09\x01\x22\x03", 14);
  Job job;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(recipe.data());
  auto trace =
      testing::LoadText(testing::DocumentOf(testing::ElementsOf({bytes, recipe.size()})), job);
  testing::Require(trace.has_value(), "the trace of the questions is read");
  return *trace;
}

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jarvis;
  static const auto trace = ATrace();
  Job job;
  query::Catalogue catalogue(
      *trace, [&](Job& of) { return findings::AnalysisOf(*trace, nullptr, {}, of); }, job);
  std::uint64_t rows = 0;
  const query::Limits limits{.time = std::chrono::milliseconds(200), .rows = 1000};
  const auto outcome = query::Run(
      catalogue, std::string(data, data + size), limits,
      [&](std::span<const query::Value>) { ++rows; }, job);
  if (outcome) {
    testing::Require(outcome->rows == rows && rows <= limits.rows, "rows are counted and bounded");
  } else {
    testing::Require(!outcome.error().message.empty(), "an error has words");
  }
  return 0;
}
