// One analysis of a trace for all who ask: told apart by platform and models, counted, let go.
#include "findings/one/analysis_cache.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "findings/one/analysis.h"
#include "session/extension.h"
#include "session/workspace.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"

namespace jarvis::findings {
namespace {

using testing::TempFolder;
using testing::TraceText;
using AnalysisPtr = std::shared_ptr<const Analysis>;
using TracePtr = std::shared_ptr<const session::LoadedTrace>;

std::string WriteTrace(const TempFolder& folder, const std::string& name, int ops) {
  TraceText text;
  for (int i = 0; i < ops; ++i)
    text.OpWithKernel("mylib::op", 100 * i, 50, "some_kernel", 100 * i + 60, 30, i + 1);
  return folder.Write(name, text.Json());
}

TracePtr Open(session::Workspace& workspace, const std::string& path) {
  Job job;
  auto trace = workspace.Open(path, job);
  REQUIRE_MESSAGE(trace.has_value(), (trace ? "" : trace.error().message));
  return *trace;
}

AnalysisPtr Ask(const session::LoadedTrace& trace, const perf::Platform* platform,
                const AnalysisOptions& options = {}) {
  Job job;
  auto analysis = AnalysisOf(trace, platform, options, job);
  REQUIRE(analysis.has_value());
  return *analysis;
}

std::shared_ptr<const perf::ModelRows> Extension() {
  constexpr std::string_view kJson =
      R"({"rows": [{"model": "mine", "like": "op", "ops": ["mylib::op"], "category": "mine",
          "flops": 1000, "bytes": 1000}]})";
  auto rows = session::ModelsWithExtension("mine.json", kJson, session::Compat::kNone);
  REQUIRE_MESSAGE(rows.has_value(), (rows ? "" : rows.error().message));
  return *rows;
}

TEST_CASE("an analysis is made once for a trace, a platform and a set of models") {
  const TempFolder folder;
  session::Workspace workspace;
  const TracePtr trace = Open(workspace, WriteTrace(folder, "a.json", 20));
  const perf::Platform* mi300x = perf::FindPlatform("MI300X");
  REQUIRE(mi300x != nullptr);
  const std::size_t before = trace->MemoryBytes();
  const AnalysisPtr first = Ask(*trace, mi300x);
  const auto after = trace->derived().statistics();
  CHECK(after.made >= 2);  // the analysis, and what all analyses of the trace share
  CHECK(trace->MemoryBytes() > before);
  // Figures that are the same are the same platform, wherever they stand.
  const perf::Platform copy = *mi300x;
  CHECK(Ask(*trace, &copy) == first);
  CHECK(trace->derived().statistics().made == after.made);
  // Others need an analysis of their own, and nothing else.
  perf::Platform other = *mi300x;
  other.mem_bw_gbps = 1;
  CHECK(Ask(*trace, &other) != first);
  CHECK(Ask(*trace, nullptr) != first);
  CHECK(trace->derived().statistics().made == after.made + 2);
  CHECK(Ask(*trace, mi300x) == first);
}

TEST_CASE("a user's models reach findings, and never those of others") {
  const TempFolder folder;
  session::Workspace workspace;
  const TracePtr trace = Open(workspace, WriteTrace(folder, "a.json", 20));
  const perf::Platform* platform = perf::FindPlatform("MI300X");
  const auto models = Extension();
  const AnalysisPtr ours = Ask(*trace, platform);
  const AnalysisPtr mine = Ask(*trace, platform, {models});
  CHECK(mine != ours);
  CHECK(Ask(*trace, platform, {models}) == mine);
  CHECK(Ask(*trace, platform) == ours);
  CHECK(ours->FindCategory("mine") == nullptr);
  const CategoryAnalysis* category = mine->FindCategory("mine");
  REQUIRE(category != nullptr);
  CHECK(category->operations[0].has_model);
  CHECK(category->operations[0].efficiency.flops == 1000);
  CHECK(mine->FindOperation("mine.1") == category->operations.data());
  CHECK(mine->FindOperation("mine.2") == nullptr);
  CHECK(mine->FindOperation("mine.x") == nullptr);
  CHECK(mine->FindOperation("mine") == nullptr);
}

TEST_CASE("what was derived counts against the memory limit and goes with its trace") {
  const TempFolder folder;
  const std::string path = WriteTrace(folder, "a.json", 300);
  const std::string other = WriteTrace(folder, "b.json", 301);
  std::size_t plain = 0;
  std::size_t analysed = 0;
  {
    session::Workspace probe;
    const TracePtr trace = Open(probe, path);
    plain = trace->MemoryBytes();
    static_cast<void>(Ask(*trace, nullptr));
    static_cast<void>(trace->SummaryBy(analysis::GroupBy::kModule));
    analysed = trace->MemoryBytes();
  }
  REQUIRE(analysed > plain);
  // Two traces fit, but not with the analysis of one of them.
  session::Workspace workspace({.memory_bytes_max = 2 * plain + (analysed - plain) / 2});
  TracePtr a = Open(workspace, path);
  static_cast<void>(Open(workspace, other));
  CHECK(workspace.IsAtHand(path));
  AnalysisPtr made = Ask(*a, nullptr);
  static_cast<void>(a->SummaryBy(analysis::GroupBy::kModule));
  const std::weak_ptr<const session::LoadedTrace> trace = a;
  const std::weak_ptr<const Analysis> kept = made;
  a.reset();
  made.reset();
  CHECK_FALSE(kept.expired());
  static_cast<void>(Open(workspace, other));  // now `path` is the oldest, and too large
  CHECK_FALSE(workspace.IsAtHand(path));
  CHECK(trace.expired());
  CHECK(kept.expired());
}

TEST_CASE("a trace beyond the limit stays while it is asked for; what can be made again does not") {
  const TempFolder folder;
  session::Workspace tiny({.memory_bytes_max = 1});
  const std::string path = WriteTrace(folder, "a.json", 20);
  const TracePtr trace = Open(tiny, path);
  static_cast<void>(Ask(*trace, nullptr));
  CHECK(trace->derived().MemoryBytes() > 0);
  CHECK(Open(tiny, path) == trace);
  CHECK(trace->derived().MemoryBytes() == 0);
  CHECK(Ask(*trace, nullptr)->trace_id == trace->id());
}

}  // namespace
}  // namespace jarvis::findings
