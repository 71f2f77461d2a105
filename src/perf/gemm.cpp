#include "perf/gemm.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace jarvis::perf {
namespace {

// The results are those of torch._scaled_mm and torch._int_mm by default.
constexpr Precision kPrecisions[] = {
    {"fp64", 8, "fp64"},  {"fp32", 4, "fp32"},   {"tf32", 4, "tf32"},   {"fp16", 2, "fp16"},
    {"bf16", 2, "bf16"},  {"fp8", 1, "bf16"},    {"fp6", 0.75, "bf16"}, {"fp4", 0.5, "bf16"},
    {"int8", 1, "int32"}, {"int32", 4, "int32"},
};

}  // namespace

std::span<const Precision> Precisions() {
  return kPrecisions;
}

const Precision* FindPrecision(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kPrecisions), std::end(kPrecisions),
                   [&](const Precision& one) { return EqualsNoCase(one.name, name); });
  return found == std::end(kPrecisions) ? nullptr : found;
}

double FlopsOf(const Gemm& gemm) {
  const auto m = static_cast<double>(gemm.m);
  const auto n = static_cast<double>(gemm.n);
  const double products = 2 * m * n * static_cast<double>(gemm.k);
  return static_cast<double>(gemm.batch) * (products + (gemm.bias ? m * n : 0));
}

std::optional<double> BytesOf(const Gemm& gemm) {
  if (gemm.in == nullptr || gemm.out == nullptr) return std::nullopt;
  const auto m = static_cast<double>(gemm.m);
  const auto n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);
  const double results = m * n + (gemm.bias ? n : 0);
  return static_cast<double>(gemm.batch) *
         ((m * k + k * n) * gemm.in->bytes + results * gemm.out->bytes);
}

Work WorkOf(const Gemm& gemm) {
  // The spec keys of all precisions, so that a view of one can be given away.
  static const auto kSpecs = [] {
    std::map<std::string_view, std::string> specs;
    for (const Precision& precision : kPrecisions)
      specs[precision.name] = "matrix_" + std::string(precision.name);
    return specs;
  }();
  return {FlopsOf(gemm), BytesOf(gemm),
          gemm.in == nullptr ? std::string_view() : kSpecs.at(gemm.in->name)};
}

std::array<Gemm, 2> BackwardOf(const Gemm& forward) {
  Gemm dx = forward;
  dx.bias = false;
  dx.n = forward.k;
  dx.k = forward.n;
  Gemm dw = forward;
  dw.bias = false;
  dw.m = forward.n;
  dw.n = forward.k;
  dw.k = forward.m;
  return {dx, dw};
}

MlpGemms GemmsOf(const MlpLayer& layer, const Precision& in, const Precision& out) {
  Gemm up;
  up.m = layer.decode ? layer.batch_size : layer.batch_size * layer.seq_len;
  up.k = layer.d_model;
  up.n = layer.d_ff;
  up.in = &in;
  up.out = &out;
  Gemm down = up;
  std::swap(down.n, down.k);
  return {up, down};
}

}  // namespace jarvis::perf
