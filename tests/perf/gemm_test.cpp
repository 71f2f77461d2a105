#include "perf/gemm.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace jarvis::perf {
namespace {

std::string Mnk(const std::optional<Gemm>& gemm) {
  if (!gemm) return "none";
  return fmt::format("{}x{},{},{}{} {}", gemm->batch, gemm->m, gemm->n, gemm->k,
                     gemm->bias ? "+" : "", gemm->in == nullptr ? "?" : gemm->in->name);
}

TEST_CASE("FLOPs and bytes of a product") {
  // (1024 x 4096)(4096 x 512) in bf16, by hand.
  Gemm gemm{1024, 512, 4096};
  CHECK(FlopsOf(gemm) == 4294967296.0);
  CHECK_FALSE(BytesOf(gemm).has_value());
  gemm.in = gemm.out = FindPrecision("bf16");
  CHECK(*BytesOf(gemm) == 13631488.0);
  CHECK(WorkOf(gemm).spec == "matrix_bf16");
  gemm.batch = 3;
  CHECK(FlopsOf(gemm) == 3 * 4294967296.0);
  CHECK(*BytesOf(gemm) == 3 * 13631488.0);
  // fp8 operands, bf16 result.
  gemm = {1024, 512, 4096, 1, false, FindPrecision("fp8"), FindPrecision("bf16")};
  CHECK(*BytesOf(gemm) == 1024.0 * 4096 + 4096 * 512 + 2 * 1024 * 512);
  // addmm [640] + [888,2880][2880,640] in bf16.
  gemm = {888, 640, 2880, 1, true, FindPrecision("bf16"), FindPrecision("bf16")};
  CHECK(FlopsOf(gemm) == 3274091520.0);
  CHECK(*BytesOf(gemm) == 9939200.0);
  CHECK(FlopsOf({1000000000, 1000000000, 1000000000, 1000000}) == doctest::Approx(2e33));
}

TEST_CASE("the backward pass has two products of as many FLOPs") {
  const Gemm forward{7, 5, 3, 2, true, FindPrecision("bf16"), FindPrecision("bf16")};
  const auto [dx, dw] = BackwardOf(forward);
  CHECK(Mnk(dx) == "2x7,3,5 bf16");  // dX (7,3) = dY (7,5) W (5,3)
  CHECK(Mnk(dw) == "2x5,3,7 bf16");  // dW (5,3) = dY^T (5,7) X (7,3)
  CHECK(FlopsOf(dx) == FlopsOf(dw));
  CHECK(*BytesOf(dx) == *BytesOf(dw));
}

TEST_CASE("the MLP of a transformer") {
  const Precision& bf16 = *FindPrecision("bf16");
  const MlpGemms prefill = GemmsOf({4, 2048, 4096, 14336, false}, bf16, bf16);
  CHECK(Mnk(prefill.up) == "1x8192,14336,4096 bf16");
  CHECK(Mnk(prefill.down) == "1x8192,4096,14336 bf16");
  const MlpGemms decode = GemmsOf({4, 2048, 4096, 14336, true}, bf16, bf16);
  CHECK(Mnk(decode.up) == "1x4,14336,4096 bf16");
  CHECK(Mnk(decode.down) == "1x4,4096,14336 bf16");
}

TEST_CASE("precisions") {
  for (const Precision& precision : Precisions()) {
    CHECK(FindPrecision(precision.name) == &precision);
    CHECK(FindPrecision(precision.result) != nullptr);
  }
  CHECK(FindPrecision("BF16") != nullptr);
  CHECK(FindPrecision("bf17") == nullptr);
}

}  // namespace
}  // namespace jarvis::perf
