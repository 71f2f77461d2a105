// Tools that are asked about one trace show one analysis of it, each with the same models.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "mcp/call_tool.h"
#include "mcp/schema.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"
#include "tools/catalog/all_tools.h"

namespace jarvis::tools {
namespace {

class Session {
 public:
  Session() {
    testing::TraceText text;
    for (int i = 0; i < 20; ++i)
      text.OpWithKernel("mylib::op", 100 * i, 50, "some_kernel", 100 * i + 60, 30, i + 1);
    trace_ = folder_.Write("trace.json", text.Json());
    extension_ = folder_.Write(
        "mine.json",
        R"({"rows": [{"model": "mine", "like": "op", "ops": ["mylib::op"], "category": "mine",
            "flops": 1000, "bytes": 1000}]})");
  }

  Json Ask(const std::string& tool, Json arguments = Json::object()) {
    arguments["trace"] = trace_;
    const mcp::Tool* found = tools_.Find(tool);
    REQUIRE(found != nullptr);
    const auto normalized = mcp::Normalize(found->input_schema(), arguments);
    REQUIRE_MESSAGE(normalized.has_value(), (normalized ? "" : normalized.error().message));
    Job job;
    const mcp::ToolReply reply = mcp::RunTool(*found, *normalized, job).reply;
    REQUIRE_MESSAGE(!reply.is_error, reply.text);
    return reply.structured;
  }
  // How many things were derived from the trace so far.
  std::uint64_t Made() {
    Job job;
    return (*workspace_.Open(trace_, job))->derived().statistics().made;
  }
  std::string out() const { return folder_ / "out"; }
  const std::string& extension() const { return extension_; }

 private:
  testing::TempFolder folder_;
  std::string trace_;
  std::string extension_;
  session::Workspace workspace_;
  mcp::ToolSet tools_ = AllTools(workspace_);
};

std::string Text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("tools share the analysis of a trace") {
  Session session;
  session.Ask("prioritize", {{"platform", "MI300X"}});
  // Whatever it takes to judge a trace: of this one each thing once.
  const std::uint64_t made = session.Made();
  CHECK(made > 0);
  session.Ask("prioritize", {{"platform", "MI300X"}});
  session.Ask("category_analysis", {{"platform", "MI300X"}, {"category", "all"}});
  session.Ask("fusion_candidates", {{"platform", "MI300X"}});
  session.Ask("perf_report", {{"platform", "MI300X"}, {"output_dir", session.out()}});
  session.Ask("render_report", {{"platform", "MI300X"}, {"output_dir", session.out()}});
  session.Ask("category_filter", {{"platform", "MI300X"}, {"output_dir", session.out()}});
  session.Ask("validate", {{"output_dir", session.out()}});
  // What the host did, the frames of time and the simulation are the analysis' own.
  for (const char* tool : {"gpu_timeline", "host_summary", "critical_path", "idle_gaps"})
    session.Ask(tool);
  // What the report's page shows of the trace is kept as well.
  CHECK(session.Made() == made + 1);
  // Another platform is another analysis, of the same work on the same host.
  session.Ask("prioritize", {{"platform", "H100"}});
  CHECK(session.Made() == made + 2);
}

TEST_CASE("an extension reaches tables, findings and reports alike") {
  Session session;
  const Json with = {{"platform", "MI300X"}, {"extension", session.extension()}};
  const auto and_output = [&] {
    Json all = with;
    all["output_dir"] = session.out();
    return all;
  };
  session.Ask("prioritize", {{"platform", "MI300X"}});
  const std::uint64_t ours = session.Made();
  session.Ask("perf_report", and_output());
  CHECK(Text(session.out() + "/unified_perf_summary.csv").find("mine") != std::string::npos);
  session.Ask("render_report", and_output());
  const Json filtered = session.Ask("category_filter", and_output());
  CHECK(filtered.at("rows")[0][0] == "mine");
  CHECK(Text(session.out() + "/category_data/mine_ops.csv").find("mylib::op") != std::string::npos);
  CHECK(Text(session.out() + "/category_findings/mine_findings.md") != "");
  Json about = with;
  about["category"] = "mine";
  CHECK(
      session.Ask("category_analysis", about).at("summary").get<std::string>().starts_with("mine"));
  // The models' rows, the work by them, the analysis and its page, once each, beside ours.
  CHECK(session.Made() == ours + 4);
  // The directory remembers what its files were made with.
  CHECK(session.Ask("validate", {{"output_dir", session.out()}}).at("valid") == true);
  CHECK(session.Made() == ours + 4);
}

}  // namespace
}  // namespace jarvis::tools
