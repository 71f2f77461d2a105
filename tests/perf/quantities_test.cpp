// Work of given sizes, without a recorded call.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "perf/model.h"

namespace jarvis::perf {
namespace {

using Failure = OpWork::Failure;

// "value", or "! reason", of each; a line each.
std::string Ask(const char* model, const std::vector<GivenQuantity>& given,
                const std::vector<std::string_view>& wanted, const OpCall& call = {}) {
  static ModelSet models(BuiltinRows());
  const ModelRow* row = models.rows().FindModel(model);
  REQUIRE(row != nullptr);
  std::string out;
  for (const Quantity& quantity : models.Quantities(*row, given, wanted, call)) {
    out += quantity.failure == Failure::kNone ? quantity.value.Str() : "! " + quantity.reason;
    out += '\n';
  }
  return out;
}

TEST_CASE("a product of given sizes") {
  const std::vector<GivenQuantity> sizes = {{"M", "128"}, {"N", "256"}, {"K", "64"}};
  CHECK(Ask("gemm.mm", sizes, {"flops", "M", "bias"}) == "4194304.0\n128\nFalse\n");
  std::vector<GivenQuantity> typed = sizes;
  typed.emplace_back("dtype_A_B", R"(["c10::BFloat16","c10::BFloat16"])");
  CHECK(Ask("gemm.mm", typed, {"bytes", "precision", "unit"}) == "114688.0\nbf16\nmatrix\n");
  typed.emplace_back("bias", "true");
  CHECK(Ask("gemm.mm", typed, {"flops"}) == "4227072.0\n");
}

TEST_CASE("lists are given as arrays, and results may be lists") {
  CHECK(Ask("conv",
            {{"input_shape", "[8,3,224,224]"},
             {"filter_shape", "[64,3,7,7]"},
             {"stride", "[2,2]"},
             {"padding", "[3,3]"},
             {"dilation", "[1,1]"},
             {"transposed_conv", "false"},
             {"has_bias", "false"}},
            {"output", "flops"}) == "(8, 64, 112, 112)\n1888223232.0\n");
}

TEST_CASE("what is not given comes from the call, or is not known") {
  CHECK(Ask("gemm.mm", {{"M", "128"}}, {"M", "flops"}) ==
        "128\n! asked for [1] of something that was not recorded\n");
  OpCall call;
  call.dims = "[[8,4],[4,16]]";
  CHECK(Ask("gemm.mm", {{"M", "100"}}, {"flops"}, call) == "12800.0\n");
  CHECK(Ask("gemm.mm", {{"M", "null"}, {"N", "2"}, {"K", "2"}}, {"M", "flops"}) == "None\nNone\n");
}

TEST_CASE("mistakes are told, each for itself") {
  CHECK(Ask("gemm.mm", {{"m", "128"}}, {"flops"}) == "! no quantity m in gemm.mm\n");
  CHECK(Ask("gemm.mm", {{"M", "1"}, {"N", "1"}, {"K", "1"}}, {"flop", "flops"}) ==
        "! no quantity flop in gemm.mm\n2.0\n");
  CHECK(Ask("gemm.mm", {{"M", "\"many\""}, {"N", "1"}, {"K", "1"}}, {"flops"}).starts_with("! "));
  CHECK(Ask("gemm.mm", {{"M", "-5"}, {"N", "1"}, {"K", "1"}}, {"flops"}) ==
        "! less than no work: the arguments do not fit\n");
  const std::string deep = std::string(500, '[') + std::string(500, ']');
  CHECK(Ask("gemm.mm", {{"M", deep}}, {"M"}).starts_with("! "));
  // Sizes beyond the machine's integers are doubles; a cost cannot wrap around.
  CHECK(Ask("gemm.mm", {{"M", "4000000000000"}, {"N", "4000000000000"}, {"K", "4000000000000"}},
            {"flops"}) == "1.28e+38\n");
}

}  // namespace
}  // namespace jarvis::perf
