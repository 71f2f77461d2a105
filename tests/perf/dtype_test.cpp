#include "perf/dtype.h"

#include <vector>

#include <doctest/doctest.h>

namespace jarvis::perf {
namespace {

using Argument = PromotedArgument;

std::string_view Promoted(const std::vector<Argument>& arguments) {
  return Promote(arguments);
}

TEST_CASE("dtypes by their names, in any case") {
  REQUIRE(FindDtype("c10::BFloat16") != nullptr);
  CHECK(FindDtype("c10::BFloat16")->bytes == 2);
  CHECK(FindDtype("C10::bfloat16")->precision == "bf16");
  CHECK(FindDtype("long int")->kind == Dtype::kInteger);
  CHECK(FindDtype("c10::complex<float>")->kind == Dtype::kComplex);
  CHECK_FALSE(FindDtype("Scalar")->kind);
  CHECK(FindDtype("Tensor") == nullptr);
  CHECK(FindDtype("") == nullptr);
}

// As torch.result_type says.
TEST_CASE("promotion") {
  CHECK(Promoted({}).empty());
  CHECK(Promoted({{"float"}, {"float"}}) == "float");
  CHECK(Promoted({{"int"}, {"long int"}}) == "long int");
  CHECK(Promoted({{"bool"}, {"unsigned char"}}) == "unsigned char");
  CHECK(Promoted({{"signed char"}, {"unsigned char"}}) == "short int");
  CHECK(Promoted({{"c10::Half"}, {"c10::BFloat16"}}) == "float");
  CHECK(Promoted({{"long int"}, {"c10::Half"}}) == "c10::Half");
  CHECK(Promoted({{"double"}, {"c10::complex<float>"}}) == "c10::complex<double>");
  CHECK(Promoted({{"float"}, {"Tensor"}}).empty());
  // Tensors without dimensions, and numbers, count only with a higher kind.
  CHECK(Promoted({{"c10::Half"}, {"double", Argument::kZeroDimensional}}) == "c10::Half");
  CHECK(Promoted({{"int"}, {"double", Argument::kZeroDimensional}}) == "float");
  CHECK(Promoted({{"int"}, {"float", Argument::kNumber}}) == "float");
  CHECK(Promoted({{"int"}, {"long int", Argument::kNumber}}) == "int");
  CHECK(Promoted({{"bool"}, {"long int", Argument::kNumber}}) == "long int");
  CHECK(Promoted({{"int", Argument::kZeroDimensional}, {"float", Argument::kNumber}}) == "float");
}

}  // namespace
}  // namespace jarvis::perf
