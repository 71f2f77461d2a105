// gemm_roofline as a client meets it.
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "mcp/call_tool.h"
#include "mcp/schema.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"
#include "tools/catalog/all_tools.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {
namespace {

class Server {
 public:
  std::string operator/(const std::string& name) const { return folder_ / name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name, std::ios::trunc) << text;
    return *this / name;
  }

  mcp::ToolReply Call(const Json& arguments) {
    const mcp::Tool* tool = tools_.Find("gemm_roofline");
    REQUIRE(tool != nullptr);
    const auto normalized = mcp::Normalize(tool->input_schema(), arguments);
    REQUIRE_MESSAGE(normalized.has_value(), (normalized ? "" : normalized.error().message));
    Job job;
    return mcp::RunTool(*tool, *normalized, job).reply;
  }
  Json Ask(const Json& arguments) {
    const mcp::ToolReply reply = Call(arguments);
    CHECK_MESSAGE(!reply.is_error, reply.text);
    return reply.structured;
  }
  std::string Refused(const Json& arguments) {
    const mcp::ToolReply reply = Call(arguments);
    CHECK(reply.is_error);
    return reply.text;
  }

 private:
  testing::TempFolder folder_;
  session::Workspace workspace_;
  mcp::ToolSet tools_ = AllTools(workspace_);
};

Json At(const Json& answer, std::size_t row, const std::string& column) {
  for (std::size_t c = 0; c < answer.at("columns").size(); ++c) {
    if (answer["columns"][c] == column) return answer.at("rows").at(row).at(c);
  }
  return "no such column";
}

bool Has(const Json& text, std::string_view part) {
  return text.dump().find(part) != std::string::npos;
}

// Three calls of one product, one of another, and an op that is none, on a device.
std::string Trace(const std::string& device) {
  testing::TraceText text;
  constexpr const char* kTypes = R"("Input type":["c10::BFloat16","c10::BFloat16"])";
  for (int i = 0; i < 3; ++i) {
    text.OpWithKernel("aten::mm", 1000 * i, 50, "gemm", 1000 * i + 100, 391, i + 1,
                      fmt::format(R"("Input Dims":[[4096,8192],[8192,4096]],{})", kTypes));
  }
  text.OpWithKernel("aten::mm", 5000, 50, "gemm", 5100, 100, 8,
                    fmt::format(R"("Input Dims":[[1,4096],[4096,4096]],{})", kTypes));
  text.OpWithKernel("aten::add", 6000, 50, "add", 6100, 10, 9, R"("Input Dims":[[8],[8]])");
  return R"({"deviceProperties":[{"id":0,"name":")" + device + R"("}],"traceEvents":[)" +
         text.Elements() + "]}";
}

TEST_CASE("a product by its sizes") {
  Server server;
  const Json answer = server.Ask({{"m", 4096},
                                  {"n", 4096},
                                  {"k", 8192},
                                  {"platform", "mi300x"},
                                  {"time_us", 391},
                                  {"phase", "training"}});
  CHECK(At(answer, 0, "gflop") == 274.878);
  CHECK(At(answer, 0, "mb") == 167.772);
  CHECK(At(answer, 0, "flop_per_byte") == 1638.4);
  CHECK(At(answer, 0, "bound") == "COMPUTE_BOUND");
  CHECK(At(answer, 0, "roof_us") == 388.246);
  CHECK(At(answer, 0, "peak_roof_us") == 210.248);
  CHECK(At(answer, 0, "tflops") == 703.013);
  CHECK(At(answer, 0, "tb_s") == 0.4291);
  CHECK(At(answer, 0, "percent_of_roof") == 99.296);
  CHECK(At(answer, 0, "percent_of_peak_roof") == 53.772);
  CHECK(answer["platform"]["roof_source"] == "achievable");
  CHECK(answer["ridge_flop_per_byte"]["peak"] == 246.679);
  CHECK(answer["ridge_flop_per_byte"]["roof"] == 133.585);
  CHECK(answer["rows"].size() == 3);
  CHECK(At(answer, 1, "gemm") == "dX");
  CHECK(At(answer, 1, "n") == 8192);
  CHECK(At(answer, 2, "m") == 4096);
  CHECK(At(answer, 2, "k") == 4096);
  // It is above 70 % already: nothing to gain there.
  CHECK(answer["projection"]["rows"][2] == Json({70.0, 0.391, 0.0}));
  CHECK(answer["projection"]["rows"][3] == Json({100.0, 0.3882, 0.002754}));
}

TEST_CASE("the products of an MLP") {
  Server server;
  const Json layer = {{"batch_size", 4}, {"seq_len", 2048}, {"d_model", 4096}, {"d_ff", 14336}};
  Json training = layer;
  training.update({{"phase", "training"}});
  const Json prefill = server.Ask(training);
  CHECK(At(prefill, 0, "gemm") == "up");
  CHECK(At(prefill, 0, "m") == 8192);
  CHECK(At(prefill, 0, "n") == 14336);
  CHECK(At(prefill, 0, "k") == 4096);
  CHECK(At(prefill, 3, "gemm") == "down");
  CHECK(At(prefill, 3, "n") == 4096);
  CHECK(prefill["rows"].size() == 6);
  // Without training nothing goes backward.
  CHECK(server.Ask(layer)["rows"].size() == 2);
  // Without a platform there is no roof, and the answer says how to get one.
  CHECK(At(prefill, 0, "roof_us") == "no such column");
  CHECK(Has(prefill["notes"], "pass platform"));
  Json step = layer;
  step.update({{"phase", "decode"}, {"platform", "H200"}});
  const Json decode = server.Ask(step);
  CHECK(At(decode, 0, "m") == 4);
  CHECK(At(decode, 0, "bound") == "MEMORY_BOUND");
  CHECK(decode["rows"].size() == 2);
}

TEST_CASE("the products of a row") {
  Server server;
  const std::string trace = server.Write("t.json", Trace("AMD Instinct MI300X"));
  const Json answer = server.Ask({{"trace", trace}, {"row", "op1"}, {"chart", server / "r.svg"}});
  CHECK(answer["platform"]["name"] == "MI300X");
  CHECK(Has(answer["notes"], "by the trace's device"));
  CHECK(answer["rows"].size() == 2);
  CHECK(At(answer, 0, "calls") == 3);
  CHECK(At(answer, 0, "us") == 391.0);
  CHECK(At(answer, 0, "percent_of_roof") == 99.296);
  CHECK(At(answer, 1, "m") == 1);
  CHECK(At(answer, 1, "bound") == "MEMORY_BOUND");
  CHECK(answer["projection"]["columns"].size() == 4);
  // Only the second product is below half of its roof.
  const double roof_us = At(answer, 1, "roof_us").get<double>();
  CHECK(answer["projection"]["rows"][1][2].get<double>() ==
        doctest::Approx((100 - roof_us * 2) / 1000).epsilon(1e-3));
  CHECK(answer["next"][0]["tool"] == "parent_chain");
  CHECK(answer["files"][0]["path"] == server / "r.svg");
  CHECK(server.Ask(
            {{"trace", trace}, {"row", "op1"}, {"chart", server / "r.png"}})["files"][0]["path"] ==
        server / "r.png");
  char signature[4] = {};
  std::ifstream(server / "r.png", std::ios::binary).read(signature, 4);
  CHECK(std::string_view(signature, 4) == "\x89PNG");
  // Again, over the file that is ours.
  CHECK_FALSE(
      server.Call({{"trace", trace}, {"row", "op1"}, {"chart", server / "r.svg"}}).is_error);
}

TEST_CASE("a device without figures gives no efficiency") {
  Server server;
  const std::string trace = server.Write("t.json", Trace("NVIDIA GeForce RTX 4090 Laptop GPU"));
  const Json answer = server.Ask({{"trace", trace}, {"row", "op1"}});
  CHECK_FALSE(answer.contains("platform"));
  CHECK(At(answer, 0, "percent_of_roof") == "no such column");
  CHECK(At(answer, 0, "tflops") == 703.013);
  CHECK(Has(answer["notes"], "slower than the RTX 4090"));
  // The caller's word counts.
  CHECK(server.Ask(
            {{"trace", trace}, {"row", "op1"}, {"platform", "RTX 4090"}})["platform"]["name"] ==
        "RTX-4090");
}

TEST_CASE("formats and platforms of the caller") {
  Server server;
  const std::string file = server.Write(
      "mine.json",
      R"({"name":"Mine","mem_bw_gbps":1000,"max_achievable_tflops":{"matrix_fp8":10}})");
  Json ask = {{"m", 64}, {"n", 64}, {"k", 64}, {"platform", file}, {"dtype", "fp8"}};
  Json answer = server.Ask(ask);
  CHECK(answer["platform"]["name"] == "Mine");
  CHECK(answer["platform"]["peak_tflops"].is_null());
  CHECK(At(answer, 0, "mb") == Json(0.01638));  // 2 * 64^2 + 2 * 64^2: the result is bf16
  ask["out_dtype"] = "fp32";
  CHECK(At(server.Ask(ask), 0, "mb") == Json(0.02458));
  ask["dtype"] = "fp4";
  answer = server.Ask(ask);
  CHECK(At(answer, 0, "roof_us").is_null());
  CHECK(Has(answer["notes"], "no figure for matrix_fp4"));
  CHECK(
      Has(server.Ask({{"m", 4096}, {"n", 4096}, {"k", 4096}, {"platform", "H100"}, {"time_us", 1}}),
          "faster than the peak allows"));
}

TEST_CASE("questions that cannot be answered say what to ask") {
  Server server;
  const std::string trace = server.Write("t.json", Trace("NVIDIA H200"));
  CHECK(Has(server.Refused(Json::object()), "no product is named"));
  CHECK(Has(server.Refused({{"trace", trace}}), "no product is named"));
  CHECK(Has(server.Refused({{"m", 1}, {"n", 1}, {"k", 1}, {"d_ff", 1}}), "more than one way"));
  CHECK(Has(server.Refused({{"m", 1}, {"n", 1}}), "k is missing"));
  CHECK(Has(server.Refused({{"m", 0}, {"n", 1}, {"k", 1}}), "m: expected an integer from 1"));
  CHECK(Has(server.Refused({{"row", "op1"}}), "row needs the trace"));
  CHECK(Has(server.Refused({{"trace", trace}, {"row", "op9"}}), "[unknown_row]"));
  CHECK(Has(server.Refused({{"trace", trace}, {"row", "op2"}}), "no matrix product"));
  CHECK(Has(server.Refused({{"trace", trace}, {"row", "op1"}, {"time_us", 5}}), "time_us is"));
  const Json product = {{"m", 1}, {"n", 1}, {"k", 1}};
  const auto with = [&](const Json& more) {
    Json all = product;
    all.update(more);
    return all;
  };
  CHECK(Has(server.Refused(with({{"platform", "MI325Y"}})), "did you mean MI325X?"));
  CHECK(Has(server.Refused(with({{"platform", server / "none.json"}})), "no file at"));
  CHECK(Has(server.Refused(with({{"platform", server.Write("bad.json", "{\"mem_bw_gbps\":-1}")}})),
            "mem_bw_gbps: expected a number above 0"));
  CHECK(Has(server.Refused(with({{"out_dtype", "bf17"}})), "out_dtype: expected one of"));
  CHECK(Has(server.Refused(with({{"time_us", 0}})), "time_us: expected a number above 0"));
  CHECK(Has(server.Refused(with({{"platform", "H100"}, {"chart", server / "x.jpg"}})), ".svg"));
  const std::string other = server.Write("other.svg", "<svg/>");
  CHECK(Has(server.Refused(with({{"platform", "H100"}, {"chart", other}})), "[exists]"));
}

}  // namespace
}  // namespace jarvis::tools
