// Which tools there are, what they may write, and what a tool answers whose trace is not there yet.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "mcp/call_tool.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"
#include "tools/catalog/all_tools.h"
#include "tools/catalog/loading.h"

namespace jarvis::tools {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::TempFolder {
 public:
  Folder() {
    testing::TraceText text;
    for (int i = 0; i < 200; ++i)
      text.OpWithKernel("aten::mm", 100 * i, 50, "gemm", 100 * i + 60, 30, i + 1,
                        R"("Input Dims":[[8,8],[8,8]],"Input type":["float","float"])");
    Write("trace.json", text.Json());
  }
  io::FilePolicy Policy(const std::string& output) const {
    auto policy = io::FilePolicy::Limit({{path()}, output.empty() ? output : *this / output});
    REQUIRE(policy.has_value());
    return *policy;
  }
};

mcp::ToolSet Choose(session::Workspace& workspace, const ToolChoice& choice) {
  auto tools = ChooseTools(workspace, choice);
  REQUIRE_MESSAGE(tools.has_value(), (tools ? "" : tools.error().message));
  return std::move(*tools);
}

mcp::ToolReply Call(const mcp::ToolSet& tools, const std::string& name, const Json& arguments) {
  const mcp::Tool* tool = tools.Find(name);
  REQUIRE(tool != nullptr);
  Job job;
  return mcp::CallTool(*tool, arguments, job).reply;
}

bool Names(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

TEST_CASE("profiles") {
  session::Workspace workspace;
  CHECK(Choose(workspace, {.profile = "all"}).Names() == AllTools(workspace).Names());
  const mcp::ToolSet full = Choose(workspace, {.profile = "full"});
  CHECK(full.Find("perf_report") != nullptr);
  CHECK(full.Find("sweep_scan") == nullptr);
  const mcp::ToolSet sweeps = Choose(workspace, {.profile = "sweep"});
  CHECK(sweeps.Find("sweep_scan") != nullptr);
  CHECK(sweeps.Find("perf_report") == nullptr);
  const mcp::ToolSet core = Choose(workspace, {.profile = "core"});
  CHECK(core.Find("perf_report") == nullptr);
  CHECK(core.Find("category_filter") != nullptr);
  CHECK(Choose(workspace, {.profile = "min"}).Names() ==
        std::vector<std::string>{"load_trace", "ops_summary", "parent_chain"});
  // In the order of an analysis, however they are named.
  CHECK(Choose(workspace, {.tools = {"ops_summary", "load_trace"}}).Names() ==
        std::vector<std::string>{"load_trace", "ops_summary"});
  const auto profile = ChooseTools(workspace, {.profile = "cor"});
  REQUIRE_FALSE(profile.has_value());
  CHECK(Names(profile.error().message, "did you mean core?"));
  const auto tool = ChooseTools(workspace, {.tools = {"load_trace", "lod_trace"}});
  REQUIRE_FALSE(tool.has_value());
  CHECK(Names(tool.error().message, "did you mean load_trace?"));
}

TEST_CASE("nothing names a tool that is not there") {
  const Folder folder;
  session::Workspace workspace;
  const std::vector<std::string> all = AllTools(workspace).Names();
  const std::vector<ToolChoice> choices = {{.profile = "full"},
                                           {.profile = "core"},
                                           {.profile = "min"},
                                           {.profile = "full", .tools = {"ops_summary"}},
                                           {.profile = "full", .read_only = true}};
  for (const ToolChoice& choice : choices) {
    const mcp::ToolSet tools = Choose(workspace, choice);
    const std::string instructions = Instructions(tools);
    CHECK(instructions.size() <= 1000);
    for (const std::string& name : all) {
      if (tools.Find(name) == nullptr) CHECK_FALSE(Names(instructions, name));
    }
    const mcp::ToolReply answer = Call(tools, "ops_summary", {{"trace", folder / "trace.json"}});
    REQUIRE_FALSE(answer.is_error);
    const mcp::ToolReply error = Call(tools, "ops_summary", {{"trace", "t_00000000"}});
    REQUIRE(error.is_error);
    for (const std::string& name : all) {
      if (tools.Find(name) != nullptr) continue;
      CAPTURE(name);
      CHECK_FALSE(Names(answer.text, "Next: " + name));
      CHECK_FALSE(Names(DumpLine(answer.structured), "\"tool\":\"" + name));
      CHECK_FALSE(Names(error.text, "Next: " + name));
    }
  }
}

TEST_CASE("read-only leaves out what writes, and nothing is written") {
  const Folder folder;
  session::Workspace workspace({.files = folder.Policy("")});
  const mcp::ToolSet tools = Choose(workspace, {.profile = "full", .read_only = true});
  CHECK(tools.Find("perf_report") == nullptr);
  for (const mcp::Tool& tool : tools.tools()) {
    CAPTURE(tool.name);
    CHECK(tool.definition["annotations"]["readOnlyHint"] == true);
    for (const std::string writing : {"output_dir", "chart", "overwrite", "output_xlsx"}) {
      if (tool.name == "validate" && writing == "output_dir") continue;  // it reads there
      CHECK_FALSE(tool.input_schema()["properties"].contains(writing));
    }
    CHECK_FALSE(Names(tool.definition["description"].get<std::string>(), "Writes"));
  }
  const mcp::ToolReply categories =
      Call(tools, "category_filter", {{"trace", folder / "trace.json"}});
  REQUIRE_MESSAGE(!categories.is_error, categories.text);
  CHECK_FALSE(categories.structured["rows"].empty());
  CHECK_FALSE(categories.structured.contains("files"));
  CHECK(Call(tools, "gemm_roofline", {{"m", 1}, {"n", 1}, {"k", 1}, {"chart", "x.svg"}}).is_error);
  std::size_t entries = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder / ".")) {
    CHECK(entry.path().filename() == "trace.json");
    ++entries;
  }
  CHECK(entries == 1);
}

TEST_CASE("the paths of every argument are held to the roots") {
  const Folder folder;
  const Folder outside;
  session::Workspace workspace({.files = folder.Policy("out")});
  const mcp::ToolSet tools = AllTools(workspace);
  const std::string trace = folder / "trace.json";
  std::ofstream(outside / "platform.json") << "{}";
  const std::string stranger = outside / "platform.json";
  const Json gemm = {{"m", 8}, {"n", 8}, {"k", 8}, {"platform", "H100"}};
  const auto with = [](Json all, const Json& more) {
    all.update(more);
    return all;
  };
  const std::pair<const char*, Json> calls[] = {
      {"load_trace", {{"trace", outside / "trace.json"}}},
      {"gpu_timeline", {{"trace", outside / "none.json"}}},
      {"ops_summary", {{"trace", trace}, {"platform", stranger}}},
      {"gemm_roofline", with(gemm, {{"platform", stranger}})},
      {"gemm_roofline", with(gemm, {{"chart", outside / "a.svg"}})},
      {"gemm_roofline", with(gemm, {{"chart", "../a.svg"}})},
      {"category_filter", {{"trace", trace}, {"output_dir", outside / "o"}}},
      {"perf_report", {{"trace", trace}, {"output_dir", "../o"}}},
      {"perf_report", {{"trace", trace}, {"output_xlsx", outside / "a.xlsx"}}},
      {"perf_report", {{"trace", trace}, {"extension", stranger}}},
      {"prioritize", {{"trace", trace}, {"extension", stranger}}},
      {"category_filter", {{"trace", trace}, {"extension", stranger}}},
      {"render_report", {{"trace", trace}, {"extension", stranger}}},
      {"perf_report", {{"trace", trace}, {"platform", stranger}}},
      {"perf_report", {{"trace", trace}, {"gpu_arch", stranger}}}};
  for (const auto& [tool, arguments] : calls) {
    CAPTURE(DumpLine(arguments));
    const mcp::ToolReply reply = Call(tools, tool, arguments);
    CHECK(reply.is_error);
    CHECK_MESSAGE(reply.text.starts_with("[not_allowed] "), reply.text);
    CHECK(Names(reply.text, "-root DIR"));
  }
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(outside / "."))
    ++entries;
  CHECK(entries == 2);
  // And where it is allowed it works, in a place of its own if none is named.
  const mcp::ToolReply report = Call(tools, "perf_report", {{"trace", trace}});
  REQUIRE_MESSAGE(!report.is_error, report.text);
  const auto id = report.structured["trace"].get<std::string>();
  CHECK(fs::exists(folder / ("out/" + id + "/gpu_timeline.csv")));
  CHECK_FALSE(
      Call(tools, "perf_report", {{"trace", trace}, {"output_xlsx", "book.xlsx"}}).is_error);
  CHECK(fs::exists(folder / "out/book.xlsx"));
  for (const std::string other : {"gpu_timeline.csv", ".jarvis-files", "book"})
    CHECK(Call(tools, "perf_report", {{"trace", trace}, {"output_xlsx", other}}).is_error);
  CHECK_FALSE(Call(tools, "gemm_roofline", with(gemm, {{"chart", "a.svg"}})).is_error);
  CHECK(fs::exists(folder / "out/a.svg"));
}

TEST_CASE("files in the way are kept unless the caller says otherwise") {
  const Folder folder;
  session::Workspace workspace({.files = folder.Policy("out")});
  const mcp::ToolSet tools = AllTools(workspace);
  fs::create_directories(folder / "out/r/category_data");
  std::ofstream(folder / "out/r/gpu_timeline.csv") << "mine";
  std::ofstream(folder / "out/r/category_data/category_manifest.json") << "mine";
  for (const char* tool : {"perf_report", "category_filter"}) {
    Json arguments = {{"trace", folder / "trace.json"}, {"output_dir", "r"}};
    CHECK(Call(tools, tool, arguments).text.starts_with("[exists] "));
    arguments["overwrite"] = true;
    CHECK_FALSE(Call(tools, tool, arguments).is_error);
    arguments.erase("overwrite");
    CHECK_FALSE(Call(tools, tool, arguments).is_error);  // ours now
  }
}

TEST_CASE("a trace that takes long is a result, and asking again gets it") {
  const Folder folder;
  session::Workspace workspace({.patience = std::chrono::milliseconds(0)});
  const mcp::ToolSet tools = AllTools(workspace);
  const std::string trace = folder / "trace.json";
  const mcp::ToolReply first = Call(tools, "ops_summary", {{"trace", trace}});
  REQUIRE_FALSE(first.is_error);
  CHECK(first.structured["status"] == "loading");
  CHECK(first.structured.contains("percent"));
  REQUIRE(first.structured["next"].size() == 1);
  CHECK(first.structured["next"][0]["tool"] == "load_trace");
  CHECK(first.structured["next"][0]["arguments"] == Json{{"trace", trace}});
  CHECK(Names(first.text, "still loading"));
  CHECK(Names(first.text, "Next: load_trace"));
  Json last;
  for (int i = 0; i < 2000 && !last.contains("events"); ++i) {
    const mcp::ToolReply reply =
        Call(tools, "load_trace", first.structured["next"][0]["arguments"]);
    REQUIRE_FALSE(reply.is_error);
    last = reply.structured;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(last["gpu_events"] == 200);
  CHECK_FALSE(last.contains("status"));
  // A caller that waits by itself is never told to ask again.
  std::ofstream(folder / "other.json") << testing::TraceText().Op("only", 0, 1).Json();
  Job patient;
  patient.set_patient();
  const mcp::ToolReply reply =
      mcp::CallTool(*tools.Find("load_trace"), {{"trace", folder / "other.json"}}, patient).reply;
  CHECK_FALSE(reply.structured.contains("status"));
}

TEST_CASE("a trace beyond the memory limit is loaded, and the answer says so") {
  const Folder folder;
  session::Workspace workspace({.memory_bytes_max = 1});
  const mcp::ToolSet tools = AllTools(workspace);
  const mcp::ToolReply reply = Call(tools, "load_trace", {{"trace", folder / "trace.json"}});
  REQUIRE_FALSE(reply.is_error);
  CHECK(Names(reply.text, "--memory-limit"));
  CHECK(Names(DumpLine(reply.structured["notes"]), "--memory-limit"));
}

TEST_CASE("the whole of a shortened kernel name is one call away") {
  const Folder folder;
  const std::string full =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)";
  testing::TraceText text;
  text.OpWithKernel("aten::add", 0, 50, full, 100, 60, 1);
  std::ofstream(folder / "t.json") << text.Json();
  session::Workspace workspace;
  const mcp::ToolSet tools = AllTools(workspace);
  const Json trace = folder / "t.json";
  const mcp::ToolReply kernels = Call(tools, "ops_summary", {{"trace", trace}, {"by", "kernel"}});
  CHECK_FALSE(Names(kernels.text, "void at::native"));
  CHECK(kernels.structured["rows"][0][1] == "vectorized_elementwise_kernel<CUDAFunctor_add, fp32>");
  const mcp::ToolReply callers = Call(tools, "parent_chain", {{"trace", trace}, {"row", "k1"}});
  CHECK(callers.structured["full_name"] == full);
  CHECK(Names(callers.text, full));
  const mcp::ToolReply tree =
      Call(tools, "parent_chain", {{"trace", trace}, {"row", "op1"}, {"mode", "subtree"}});
  CHECK(Names(tree.text, "vectorized_elementwise_kernel<CUDAFunctor_add, fp32> (k1) [kernel]"));
}

}  // namespace
}  // namespace jarvis::tools
