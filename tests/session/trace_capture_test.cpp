// Captures beside a trace: pieces of a model, several numbers of rows, several ranks.
#include "session/trace_capture.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include "session/workspace.h"
#include "support/trace_builder.h"

namespace jarvis::session {
namespace {

using testing::TraceText;
using Kernels = std::vector<std::string>;

class CaptureFolder {
 public:
  CaptureFolder() {
    static int number = 0;
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("trace_capture_test.{}.{}", getpid(), ++number);
    std::filesystem::create_directories(folder_ / "capture");
  }
  ~CaptureFolder() { std::filesystem::remove_all(folder_); }
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  CaptureFolder& Add(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / "capture" / name) << text;
    return *this;
  }
  std::shared_ptr<const LoadedTrace> Open(const std::string& json) const {
    std::ofstream(folder_ / "trace.json") << json;
    Workspace workspace;
    Job job;
    auto trace = workspace.Open((folder_ / "trace.json").string(), job);
    REQUIRE(trace.has_value());
    return *trace;
  }

 private:
  std::filesystem::path folder_;
};

// Captures of so many rows, one graph for each list; its ops are named after the rows and the place
// of the graph.
TraceText& AddGraphs(int rows, const std::vector<Kernels>& graphs, double at, TraceText* text) {
  const double begin = at;
  std::int64_t correlation = static_cast<std::int64_t>(at) * 1000;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    text->Runtime("cudaStreamBeginCapture", at, 1, ++correlation);
    for (const std::string& kernel : graphs[g]) {
      at += 10;
      text->Op(fmt::format("rows{}_piece{}", rows, g), at, 8)
          .Runtime("cudaLaunchKernel", at + 2, 3, ++correlation,
                   fmt::format("\"kernel\":\"{}\"", kernel));
    }
    text->Runtime("cudaStreamEndCapture", at += 10, 1, ++correlation);
    at += 10;
  }
  return text->Annotation(fmt::format("capture_{}_PIECEWISE", rows), begin - 1, at - begin + 2);
}

std::string StepName(int rows) {
  return fmt::format("execute_context_0(0)_generation_{0}({0})", rows);
}

// One step of that name, which replays a graph for each list.
void AddStep(const std::string& name, const std::vector<Kernels>& graphs, double at,
             TraceText* text) {
  std::int64_t correlation = static_cast<std::int64_t>(at);
  text->Annotation(name, at, 900);
  for (const Kernels& kernels : graphs) {
    text->Runtime("cudaGraphLaunch", at += 10, 5, ++correlation);
    for (const std::string& kernel : kernels)
      text->Kernel(kernel, at += 10, 5, correlation);
  }
}

// By kernel of the trace: the op that it stands below; "-": none.
std::string OpsOf(const LoadedTrace& trace) {
  const LoadedTrace& joined = trace.WithCapture();
  std::string text;
  for (trace::EventIndex e = 0; e < trace.events().size(); ++e) {
    if (!trace::IsGpuWork(trace.events()[e].kind)) continue;
    trace::EventIndex up = joined.tree().parent(e);
    while (up != trace::kNoEvent && joined.events()[up].kind != trace::EventKind::kCpuOp)
      up = joined.tree().parent(up);
    if (!text.empty()) text += ' ';
    text += up == trace::kNoEvent ? "-" : std::string(joined.events().name(up));
  }
  return text;
}

const Kernels kLayerPiece = {"gemm", "norm"};

TEST_CASE("pieces that launch the same kernels are told by their order") {
  CaptureFolder folder;
  TraceText capture, served;
  AddGraphs(16, {kLayerPiece, kLayerPiece, kLayerPiece}, 10, &capture);
  for (const double at : {1000.0, 2000.0})
    AddStep(StepName(16), {kLayerPiece, kLayerPiece, kLayerPiece}, at, &served);
  const auto trace = folder.Add("graphs.json", capture.Json()).Open(served.Json());
  CHECK(trace->capture().aligned == 6);
  const std::string once =
      "rows16_piece0 rows16_piece0 rows16_piece1 rows16_piece1 rows16_piece2 rows16_piece2";
  CHECK(OpsOf(*trace) == once + " " + once);
}

TEST_CASE("pieces of one step are below one call of the modules around their captures") {
  CaptureFolder folder;
  TraceText capture, served;
  capture.Module("Model_0", 0, 900).Module("Layers_0", 2, 890);
  AddGraphs(16, {kLayerPiece, {"head"}}, 10, &capture);
  for (const double at : {1000.0, 2000.0})
    AddStep(StepName(16), {kLayerPiece, {"head"}}, at, &served);
  const auto trace = folder.Add("graphs.json", capture.Json()).Open(served.Json());
  const LoadedTrace& joined = trace->WithCapture();
  std::vector<std::string> found;
  std::set<trace::EventIndex> models;
  for (trace::EventIndex e = 0; e < trace->events().size(); ++e) {
    if (!trace::IsGpuWork(joined.events()[e].kind)) continue;
    std::string& modules = found.emplace_back();
    for (auto up = joined.tree().parent(e); up != trace::kNoEvent; up = joined.tree().parent(up)) {
      const std::string_view name = joined.events().name(up);
      if (name.starts_with("nn.Module")) modules += std::string(name) + " ";
      if (name == "nn.Module: Model_0") models.insert(up);
    }
  }
  CHECK(found == std::vector<std::string>(6, "nn.Module: Layers_0 nn.Module: Model_0 "));
  CHECK(models.size() == 2);
}

TEST_CASE("a piece that was not captured stays without ops, the others do not") {
  CaptureFolder folder;
  TraceText capture, served;
  AddGraphs(16, {kLayerPiece, {"head"}}, 10, &capture);
  AddStep(StepName(16), {kLayerPiece, {"other"}, {"head"}}, 1000, &served);
  const auto trace = folder.Add("graphs.json", capture.Json()).Open(served.Json());
  CHECK(OpsOf(*trace) == "rows16_piece0 rows16_piece0 - rows16_piece1");
  CHECK(trace->capture().aligned == 2);
  CHECK(trace->capture().replays == 3);
}

TEST_CASE("of one file's captures for several numbers of rows that with room is taken") {
  CaptureFolder folder;
  TraceText capture, served;
  AddGraphs(8, {kLayerPiece, kLayerPiece}, 10, &capture);
  AddGraphs(16, {kLayerPiece, kLayerPiece}, 1010, &capture);
  AddGraphs(32, {kLayerPiece, kLayerPiece}, 2010, &capture);
  AddStep(StepName(12), {kLayerPiece, kLayerPiece}, 1000, &served);
  AddStep(StepName(32), {kLayerPiece, kLayerPiece}, 2000, &served);
  AddStep(StepName(40), {kLayerPiece, kLayerPiece}, 3000, &served);
  const auto trace = folder.Add("graphs.json", capture.Json()).Open(served.Json());
  CHECK(OpsOf(*trace) ==
        "rows16_piece0 rows16_piece0 rows16_piece1 rows16_piece1 "
        "rows32_piece0 rows32_piece0 rows32_piece1 rows32_piece1 - - - -");
}

std::string OfRank(const TraceText& text, int rank) {
  return fmt::format("{{\"distributedInfo\":{{\"rank\":{},\"world_size\":2}},{}", rank,
                     text.Json().substr(1));
}

TEST_CASE("of the captures of a job's ranks the trace's own is used, and no other is read") {
  CaptureFolder folder;
  TraceText own, other, served;
  AddGraphs(16, {kLayerPiece}, 10, &own);
  AddGraphs(32, {kLayerPiece}, 10, &other);
  AddStep(StepName(16), {kLayerPiece}, 1000, &served);
  folder.Add("graph_capture_rank_0.json", "no trace").Add("graph_capture_rank_1.json", own.Json());
  const auto trace = folder.Open(OfRank(served, 1));
  CHECK(OpsOf(*trace) == "rows16_piece0 rows16_piece0");
  REQUIRE(trace->capture().unused.size() == 1);
  CHECK(trace->capture().unused[0].why == "is of rank 0, and the trace of rank 1");
  // What a file records of its rank counts more than its name.
  folder.Add("graph_capture_rank_1.json", OfRank(other, 0));
  CHECK(OpsOf(*folder.Open(OfRank(served, 1))) == "- -");
}

TEST_CASE("captures for fewer rows than a step runs are said") {
  CaptureFolder folder;
  TraceText capture, served;
  AddGraphs(8, {kLayerPiece}, 10, &capture);
  AddStep(StepName(32), {kLayerPiece}, 1000, &served);
  const auto trace = folder.Add("graphs.json", capture.Json()).Open(served.Json());
  CHECK(OpsOf(*trace) == "- -");
  REQUIRE(trace->capture().unused.size() == 1);
  CHECK(trace->capture().unused[0].why == "was made for 8 rows, and the replay runs 32");
}

TEST_CASE("one graph serves every step of a denoising loop") {
  CaptureFolder folder;
  TraceText capture, served;
  AddGraphs(2, {kLayerPiece}, 10, &capture);
  AddStep("execute_diffusion_1_1024x1024", {kLayerPiece, kLayerPiece, kLayerPiece}, 1000, &served);
  const auto trace = folder.Add("graphs.json", capture.Json()).Open(served.Json());
  CHECK(trace->capture().aligned == 3);
  // An image may take two rows, guided and not.
  CHECK_FALSE(trace->capture().rows.has_value());
  CHECK(OpsOf(*trace) ==
        "rows2_piece0 rows2_piece0 rows2_piece0 rows2_piece0 rows2_piece0 rows2_piece0");
}

TEST_CASE("a step of another thread tells the rows of its replays") {
  CaptureFolder folder;
  TraceText capture, served;
  AddGraphs(8, {kLayerPiece}, 10, &capture);
  AddGraphs(16, {kLayerPiece}, 1010, &capture);
  served.Annotation(StepName(12), 0, 900)
      .Thread(100, 200)
      .Runtime("cudaGraphLaunch", 10, 5, 1)
      .Kernel("gemm", 20, 5, 1)
      .Kernel("norm", 30, 5, 1);
  const auto trace = folder.Add("graphs.json", capture.Json()).Open(served.Json());
  CHECK(OpsOf(*trace) == "rows16_piece0 rows16_piece0");
}

TEST_CASE("captures stay with the trace, with what their folder's list says") {
  CaptureFolder folder;
  TraceText capture, served;
  AddGraphs(16, {kLayerPiece}, 10, &capture);
  AddStep(StepName(16), {kLayerPiece}, 1000, &served);
  folder.Add("graphs.json", capture.Json());
  folder.Add("execution_details.json",
             "[ {\"file\": \"graphs.json\", \"batch_size\": 16,\n \"mode\": \"FULL\"\n } ]");
  const auto trace = folder.Open(served.Json());
  REQUIRE(trace->captures().size() == 1);
  CHECK(trace->captures()[0].rows == 16);
  CHECK(trace->captures()[0].mode == "FULL");
  CHECK(trace->captures()[0].listed);
}

TEST_CASE("what a list names and what serves no replay stays with the trace too") {
  CaptureFolder folder;
  TraceText capture, served, eager;
  AddGraphs(16, {kLayerPiece}, 10, &capture);
  eager.OpWithKernel("aten::mm", 0, 5, "gemm", 2, 3, 1);
  AddStep(StepName(16), {kLayerPiece}, 1000, &served);
  folder.Add("graphs.json", capture.Json()).Add("eager.json", eager.Json());
  folder.Add("execution_details.json",
             R"([{"file":"graphs.json","batch_size":32,"mode":"FULL"},)"
             R"({"file":"gone.json","batch_size":24,"mode":"FULL"},)"
             R"({"file":"eager.json","batch_size":32,"mode":"PIECEWISE"}])");
  const auto trace = folder.Open(served.Json());
  std::vector<std::string> kept;
  for (const CaptureRecording& one : trace->captures())
    kept.push_back(fmt::format("{} {} {}", *one.rows, one.mode, one.trace ? "read" : "-"));
  std::sort(kept.begin(), kept.end());
  CHECK(kept == std::vector<std::string>{"24 FULL -", "32 FULL read", "32 PIECEWISE -"});
  CHECK(OpsOf(*trace) == "rows16_piece0 rows16_piece0");
}

TEST_CASE("captures are listed in the order of their folder's list, each as often as there") {
  CaptureFolder folder;
  TraceText capture, served;
  AddGraphs(16, {kLayerPiece}, 10, &capture);
  AddGraphs(64, {kLayerPiece}, 1010, &capture);
  AddStep(StepName(48), {kLayerPiece}, 1000, &served);
  for (const char* name : {"rank_10.json", "rank_2.json", "unlisted_9.json", "unlisted_10.json"})
    folder.Add(name, capture.Json());
  folder.Add("execution_details.json",
             R"([{"file":"rank_10.json","batch_size":64,"mode":"FULL"},)"
             R"({"file":"rank_2.json","batch_size":64,"mode":"FULL"},)"
             R"({"file":"rank_10.json","batch_size":64,"mode":"PIECEWISE"}])");
  const auto trace = folder.Open(served.Json());
  std::vector<std::string> kept;
  for (const CaptureRecording& one : trace->captures()) {
    const std::string& path = one.trace->path();
    kept.push_back(path.substr(path.rfind('/') + 1) + " " + one.mode);
  }
  CHECK(kept == std::vector<std::string>{"rank_10.json FULL", "rank_2.json FULL",
                                         "rank_10.json PIECEWISE", "unlisted_10.json ",
                                         "unlisted_9.json "});
  CHECK(OpsOf(*trace) == "rows64_piece0 rows64_piece0");
}

}  // namespace
}  // namespace jarvis::session
