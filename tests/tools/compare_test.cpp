// The tool `compare` on pairs of small traces.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "json/json.h"
#include "mcp/call_tool.h"
#include "mcp/schema.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"
#include "tools/catalog/all_tools.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {
namespace {

using testing::TraceText;

constexpr const char* kH100 = "NVIDIA H100 80GB HBM3";
constexpr const char* kMi300x = "AMD Instinct MI300X";

class Pair {
 public:
  std::string Write(const std::string& name, const TraceText& text,
                    const std::string& device = "") const {
    const std::string devices =
        device.empty() ? "" : R"("deviceProperties":[{"id":0,"name":")" + device + "\"}],";
    return folder_.Write(name + ".json",
                         "{" + devices + R"("traceEvents":[)" + text.Elements() + "]}");
  }
  const std::string& folder() const { return folder_.path(); }

  Json Ask(const std::string& primary, const std::string& comparison,
           Json arguments = Json::object()) {
    const mcp::ToolReply reply = Call(primary, comparison, std::move(arguments));
    CHECK_MESSAGE(!reply.is_error, reply.text);
    CHECK(reply.text.size() <= kAnswerBytesMax);
    CHECK(DumpLine(reply.structured).size() <= kAnswerBytesMax);
    return reply.structured;
  }
  mcp::ToolReply Call(const std::string& primary, const std::string& comparison, Json arguments) {
    arguments["candidate"] = primary;
    arguments["baseline"] = comparison;
    const mcp::Tool* tool = tools_.Find("compare");
    REQUIRE(tool != nullptr);
    const auto normalized = mcp::Normalize(tool->input_schema(), arguments);
    REQUIRE_MESSAGE(normalized.has_value(), (normalized ? "" : normalized.error().message));
    Job job;
    return mcp::RunTool(*tool, *normalized, job).reply;
  }

 private:
  testing::TempFolder folder_;
  session::Workspace workspace_;
  mcp::ToolSet tools_ = AllTools(workspace_);
};

Json CellOf(const Json& answer, const std::string& row, const std::string& column) {
  const Json& columns = answer.at("columns");
  const auto at = std::find(columns.begin(), columns.end(), Json(column)) - columns.begin();
  for (const Json& cells : answer.at("rows")) {
    if (cells.at(0) == row) return cells.at(static_cast<std::size_t>(at));
  }
  FAIL("no row " << row);
  return nullptr;
}

int ScoreOf(const Json& answer) {
  return answer.at("comparability").at("score").get<int>();
}

constexpr const char* kMm =
    R"("Input Dims":[[4096,4096],[4096,4096]],"Input type":["c10::BFloat16","c10::BFloat16"],)"
    R"("Input Strides":[[4096,1],[4096,1]],"Concrete Inputs":["",""])";
constexpr const char* kAdd =
    R"("Input Dims":[[8192,8192],[8192,8192],[]],"Input type":["c10::BFloat16","c10::BFloat16",)"
    R"("Scalar"],"Input Strides":[[8192,1],[8192,1],[]],"Concrete Inputs":["","","1"])";

// A product, a sum and an op of unknown work.
TraceText Model(double mm_us, double add_us, double other_us) {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 50, "gemm", 100, mm_us, 1, kMm);
  text.OpWithKernel("aten::add", 1000, 50, "vectorized", 1100, add_us, 2, kAdd);
  text.OpWithKernel("custom::thing", 3000, 50, "thing", 3100, other_us, 3);
  return text;
}

TEST_CASE("a trace against itself") {
  Pair pair;
  const std::string path = pair.Write("a", Model(200, 300, 50), kH100);
  for (const char* by : {"op", "category", "kernel", "module"}) {
    const Json answer = pair.Ask(path, path, {{"by", by}});
    CHECK(answer["comparability"]["verdict"] == "same file");
    CHECK(ScoreOf(answer) == 100);
    for (std::size_t r = 2; r < answer["rows"].size(); ++r) {
      const auto name = answer["rows"][r][0].get<std::string>();
      CHECK(CellOf(answer, name, "candidate_over_baseline") == 1.0);
      CHECK(CellOf(answer, name, "baseline_over_candidate") == 1.0);
      CHECK(CellOf(answer, name, "expected_candidate_over_baseline") == 1.0);
      CHECK(CellOf(answer, name, "unexpected_ms") == 0.0);
      CHECK(CellOf(answer, name, "verdict") == "as expected");
    }
    CHECK(CellOf(answer, "(all 0 rows only in candidate)", "candidate_ms") == 0.0);
    CHECK(CellOf(answer, "(all 0 rows only in baseline)", "baseline_ms") == 0.0);
  }
  // Another file with the same work.
  const Json equal = pair.Ask(path, pair.Write("b", Model(210, 310, 60), kH100));
  CHECK(equal["comparability"]["verdict"] == "equal work");
}

TEST_CASE("what the devices explain") {
  Pair pair;
  // MI300X against H100: 5300 to 3350 GB/s, 1307 to 989 bf16 TFLOP/s, peak to peak, as nobody
  // measured the H100's.
  const std::string mi300x = pair.Write("m", Model(280, 190, 80), kMi300x);
  const std::string h100 = pair.Write("h", Model(200, 300, 50), kH100);
  const Json answer = pair.Ask(mi300x, h100);
  const double add = CellOf(answer, "aten::add", "expected_candidate_over_baseline").get<double>();
  CHECK(add == doctest::Approx(3350.0 / 5300).epsilon(0.01));
  CHECK(CellOf(answer, "aten::add", "bound") == "memory");
  CHECK(CellOf(answer, "aten::add", "verdict") == "as expected");
  CHECK(CellOf(answer, "aten::mm", "bound") == "compute");
  const double mm = CellOf(answer, "aten::mm", "expected_candidate_over_baseline").get<double>();
  CHECK(mm == doctest::Approx(989.4 / 1307.4).epsilon(0.01));
  CHECK(CellOf(answer, "aten::mm", "verdict") == "slower than expected");
  CHECK(CellOf(answer, "custom::thing", "verdict") == "unknown");
  CHECK(CellOf(answer, "custom::thing", "unexpected_ms").is_null());
  // Both ways round the expected ratios are each other's inverse.
  const Json turned = pair.Ask(h100, mi300x);
  CHECK(CellOf(turned, "aten::add", "expected_candidate_over_baseline").get<double>() * add ==
        doctest::Approx(1).epsilon(0.01));
  // Slower than the devices explain: it stands first, with what is unexpected.
  const Json slow = pair.Ask(pair.Write("s", Model(280, 900, 80), kMi300x), h100);
  CHECK(slow["rows"][2][0] == "aten::add");
  CHECK(CellOf(slow, "aten::add", "verdict") == "slower than expected");
  // Neither is near its bandwidth then, so that the H100's time is what is known to be possible.
  CHECK(CellOf(slow, "aten::add", "unexpected_ms").get<double>() ==
        doctest::Approx(0.9 - 0.3).epsilon(0.01));
  const Json fast = pair.Ask(pair.Write("f", Model(280, 90, 80), kMi300x), h100);
  CHECK(CellOf(fast, "aten::add", "verdict") == "faster than expected");
  // Platforms that the caller names count; an unknown one is refused.
  const Json named = pair.Ask(mi300x, h100, {{"platform", "H100"}});
  CHECK(CellOf(named, "custom::thing", "expected_candidate_over_baseline") == 1.0);
  CHECK(pair.Call(mi300x, h100, {{"baseline_platform", "H900"}}).is_error);
  // Without platforms there are ratios and no verdicts.
  const Json bare = pair.Ask(pair.Write("x", Model(1, 2, 3)), pair.Write("y", Model(2, 2, 3)));
  CHECK(CellOf(bare, "aten::mm", "verdict") == "unknown");
  CHECK(CellOf(bare, "aten::mm", "baseline_over_candidate") == 2.0);
}

// Each column of one direction beside the one of the other that says the same.
TEST_CASE("both directions are each other's mirror") {
  Pair pair;
  TraceText more = Model(280, 400, 80);
  more.OpWithKernel("custom::new", 5000, 50, "new", 5100, 30, 4);
  more.OpWithKernel("aten::neg", 6000, 50, "tiny", 6100, 2, 5,
                    R"("Input Dims":[[64]],"Input type":["float"])");
  TraceText less = Model(200, 300, 50);
  less.OpWithKernel("aten::neg", 6000, 50, "tiny", 6100, 5, 5,
                    R"("Input Dims":[[64]],"Input type":["float"])");
  const std::string a = pair.Write("a", more, kMi300x);
  const std::string b = pair.Write("b", less, kH100);
  const std::map<std::string, std::string> kTurned = {
      {"slower than expected", "faster than expected"},
      {"faster than expected", "slower than expected"},
      {"only in candidate", "only in baseline"},
      {"only in baseline", "only in candidate"}};
  const auto number = [](const Json& cell) { return cell.get<double>(); };
  for (const char* by : {"op", "category", "kernel", "module"}) {
    const Json one = pair.Ask(a, b, {{"by", by}});
    const Json other = pair.Ask(b, a, {{"by", by}});
    CHECK(ScoreOf(one) == ScoreOf(other));
    CHECK(one["total"] == other["total"]);
    for (std::size_t r = 2; r < one["rows"].size(); ++r) {
      const auto name = one["rows"][r][0].get<std::string>();
      const auto cell = [&](const Json& answer, const char* column) {
        return CellOf(answer, name, column);
      };
      CHECK(cell(one, "candidate_ms") == cell(other, "baseline_ms"));
      CHECK(cell(one, "baseline_ms") == cell(other, "candidate_ms"));
      CHECK(cell(one, "candidate_over_baseline") == cell(other, "baseline_over_candidate"));
      CHECK(cell(one, "candidate_calls") == cell(other, "baseline_calls"));
      const auto verdict = cell(one, "verdict").get<std::string>();
      const auto turned = kTurned.find(verdict);
      CHECK(cell(other, "verdict") == (turned == kTurned.end() ? verdict : turned->second));
      const Json expected = cell(one, "expected_candidate_over_baseline");
      CHECK(expected.is_null() == cell(other, "expected_candidate_over_baseline").is_null());
      if (expected.is_null()) continue;
      CHECK(number(expected) * number(cell(other, "expected_candidate_over_baseline")) ==
            doctest::Approx(1).epsilon(1e-3));
      CHECK(cell(one, "unexpected_ms").is_null() == cell(other, "unexpected_ms").is_null());
      if (cell(one, "unexpected_ms").is_null()) continue;
      CHECK(number(cell(one, "unexpected_ms")) * number(cell(other, "unexpected_ms")) <= 0);
    }
  }
  // A kernel too small for the rates to matter: slower than the ratio of bandwidths says, and as
  // far as fixed costs explain.
  const Json tiny = pair.Ask(pair.Write("c", less, kMi300x), b);
  CHECK(CellOf(tiny, "aten::neg", "candidate_over_baseline") == 1.0);
  CHECK(CellOf(tiny, "aten::neg", "expected_candidate_over_baseline").get<double>() < 0.7);
  CHECK(CellOf(tiny, "aten::neg", "verdict") == "as expected");
}

TEST_CASE("unlinked kernels of other names are one row") {
  Pair pair;
  const auto with = [](std::initializer_list<const char*> names) {
    TraceText text = Model(200, 300, 50);
    int place = 0;
    for (const char* name : names)
      text.Kernel(name, 7000 + 100 * place++, 10, 0);
    return text;
  };
  const std::string a = pair.Write("a", with({"both", "amd_gemm", "amd_copy"}), kMi300x);
  const std::string b = pair.Write("b", with({"both", "sm90_gemm"}), kH100);
  const Json answer = pair.Ask(a, b);
  CHECK(CellOf(answer, "(unlinked) both", "candidate_over_baseline") == 1.0);
  CHECK(CellOf(answer, "(unlinked) kernels of other names", "candidate_ms") == 0.02);
  CHECK(CellOf(answer, "(unlinked) kernels of other names", "baseline_ms") == 0.01);
  CHECK(CellOf(answer, "(unlinked) kernels of other names", "verdict") == "unknown");
}

TEST_CASE("one role under two names, kernels of two compilers, and communication") {
  Pair pair;
  const auto model = [](const char* product, const char* dims, const char* kernel, double wait) {
    TraceText text;
    text.OpWithKernel(product, 0, 50, kernel, 100, 200, 1,
                      fmt::format(R"("Input Dims":{},"Input type":["float","float"])", dims));
    text.OpWithKernel("record_param_comms", 1000, 50, "ncclDevKernel_AllReduce_Sum_f32", 1100, wait,
                      2);
    return text;
  };
  const std::string one = pair.Write(
      "a", model("aten::mm", "[[512,256],[256,128]]", "void gemm<hip::Stream, float>(int)", 50),
      kH100);
  const std::string other = pair.Write(
      "b",
      model("aten::bmm", "[[1,512,256],[1,256,128]]", "void gemm<cuda::Stream, float>(int)", 500),
      kH100);
  const Json by_op = pair.Ask(one, other);
  CHECK(CellOf(by_op, "aten::bmm ~ aten::mm", "candidate_over_baseline") == 1.0);
  CHECK(CellOf(by_op, "aten::bmm ~ aten::mm", "verdict") == "as expected");
  CHECK(CellOf(by_op, "record_param_comms", "candidate_over_baseline") == 0.1);
  CHECK(CellOf(by_op, "record_param_comms", "verdict") == "unknown");
  const Json by_kernel = pair.Ask(one, other, {{"by", "kernel"}});
  CHECK(by_kernel["total"] == 4);  // two that always stand first, the product, the collective
  // Other work under another name is no match.
  const Json foreign =
      pair.Ask(one, pair.Write("c", model("aten::bmm", "[[1,512,256],[1,256,256]]", "k", 50)));
  CHECK(CellOf(foreign, "aten::mm", "verdict") == "only in candidate");
}

TEST_CASE("an empty trace is equal to none") {
  Pair pair;
  TraceText host;
  host.Op("aten::add", 0, 10);
  const std::string empty = pair.Write("e", host, kH100);
  const std::string full = pair.Write("a", Model(200, 300, 50), kH100);
  for (const auto& [a, b] : {std::pair(empty, full), {full, empty}, {empty, empty}}) {
    const Json answer = pair.Ask(a, b);
    CHECK(ScoreOf(answer) == 0);
    CHECK(answer["comparability"]["verdict"] == "not comparable");
  }
  const Json answer = pair.Ask(full, empty);
  CHECK(CellOf(answer, "(all 3 rows only in candidate)", "candidate_ms") == 0.55);
  CHECK(CellOf(answer, "aten::mm", "verdict") == "only in candidate");
}

TEST_CASE("other models and other arguments") {
  Pair pair;
  const std::string model = pair.Write("a", Model(200, 300, 50), kH100);
  TraceText other;
  other.OpWithKernel("aten::convolution", 0, 50, "conv", 100, 100, 1,
                     R"("Input Dims":[[1,3,224,224]],"Input type":["float"])");
  other.OpWithKernel("aten::batch_norm", 1000, 50, "bn", 1100, 100, 2,
                     R"("Input Dims":[[1,64,112,112]],"Input type":["float"])");
  const Json strange = pair.Ask(model, pair.Write("b", other, kH100));
  CHECK(ScoreOf(strange) == 0);
  CHECK(strange["comparability"]["verdict"] == "not comparable");
  CHECK(CellOf(strange, "(all 2 rows only in baseline)", "baseline_ms") == 0.2);

  // The same op with another batch: matched by name, and nothing is expected of it.
  TraceText batch;
  batch.OpWithKernel(
      "aten::mm", 0, 50, "gemm", 100, 400, 1,
      R"("Input Dims":[[8192,4096],[4096,4096]],"Input type":["c10::BFloat16","c10::BFloat16"])");
  const Json larger = pair.Ask(model, pair.Write("c", batch, kH100));
  CHECK(CellOf(larger, "aten::mm", "shape") == "(other arguments)");
  CHECK(CellOf(larger, "aten::mm", "verdict") == "unknown");
  CHECK(CellOf(larger, "aten::mm", "baseline_over_candidate") == 2.0);
  CHECK(ScoreOf(larger) < 40);
}

TEST_CASE("another number of steps") {
  const auto steps = [](int count, double us) {
    TraceText text;
    for (int i = 0; i < count; ++i) {
      text.Annotation(fmt::format("ProfilerStep#{}", i), 1000 * i, 1000);
      text.OpWithKernel("aten::mm", 1000 * i + 1, 50, "gemm", 1000 * i + 100, us, i + 1, kMm);
    }
    return text;
  };
  Pair pair;
  const Json answer =
      pair.Ask(pair.Write("a", steps(4, 300), kH100), pair.Write("b", steps(2, 200), kH100));
  CHECK(CellOf(answer, "aten::mm", "candidate_ms") == 0.3);
  CHECK(CellOf(answer, "aten::mm", "baseline_ms") == 0.2);
  CHECK(CellOf(answer, "aten::mm", "candidate_calls") == 1.0);
  CHECK(ScoreOf(answer) == 100);
  CHECK(answer["notes"][0].get<std::string>().find("4 and 2 units") != std::string::npos);
}

TEST_CASE("pages and files") {
  TraceText text;
  for (int i = 0; i < 60; ++i) {
    text.OpWithKernel(fmt::format("custom::op_{}", i), 100 * i, 50, fmt::format("k_{}", i),
                      100 * i + 60, 1 + i % 30, i + 1);
  }
  Pair pair;
  const std::string path = pair.Write("a", text, kH100);
  const std::string other = pair.Write("b", Model(200, 300, 50), kH100);
  std::set<std::string> seen;
  Json arguments = {{"limit", 200}};
  for (;;) {
    const Json answer = pair.Ask(path, other, arguments);
    for (const Json& row : answer["rows"])
      CHECK(seen.insert(row[0].get<std::string>()).second);
    if (!answer.contains("next_cursor")) break;
    arguments["cursor"] = answer["next_cursor"];
  }
  CHECK(seen.size() == 65);

  const std::string out = pair.folder() + "/out";
  const Json written = pair.Ask(path, other, {{"output_dir", out}});
  for (const Json& file : written["files"])
    CHECK(std::filesystem::exists(file["path"].get<std::string>()));
  CHECK(std::filesystem::exists(out + "/comparison.xlsx"));
  const std::string tables = out + "/comparison_csvs";
  CHECK(std::filesystem::exists(tables + "/ops_unique_args_only_baseline_candidate.csv"));
  // The tables that were written are a report's directory too, with one timeline.
  CHECK_FALSE(pair.Call(tables, tables, {}).is_error);
  // Nothing that we did not write is replaced.
  std::ofstream(tables + "/compare_by_op.csv") << "mine";
  CHECK(pair.Call(path, other, {{"output_dir", out}}).is_error);
  CHECK(!pair.Call(path, other, {{"output_dir", out}, {"overwrite", true}}).is_error);
}

}  // namespace
}  // namespace jarvis::tools
