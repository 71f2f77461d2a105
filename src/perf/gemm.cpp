#include "perf/gemm.h"

#include <algorithm>
#include <map>
#include <vector>

#include <simdjson.h>

#include "base/text.h"

namespace jarvis::perf {
namespace {

using Shape = std::vector<std::int64_t>;

// The results are those of torch._scaled_mm and torch._int_mm by default.
constexpr Precision kPrecisions[] = {
    {"fp64", 8, "fp64"},  {"fp32", 4, "fp32"},   {"tf32", 4, "tf32"},   {"fp16", 2, "fp16"},
    {"bf16", 2, "bf16"},  {"fp8", 1, "bf16"},    {"fp6", 0.75, "bf16"}, {"fp4", 0.5, "bf16"},
    {"int8", 1, "int32"}, {"int32", 4, "int32"},
};

std::vector<Shape> ShapesOf(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  std::vector<Shape> shapes;
  if (parser.parse(json.data(), json.size()).get(list) != simdjson::SUCCESS) return shapes;
  for (const simdjson::dom::element item : list) {
    Shape shape;
    simdjson::dom::array sizes;
    if (item.get(sizes) == simdjson::SUCCESS) {
      for (const simdjson::dom::element size : sizes) {
        std::int64_t number = 0;
        // A list of tensors in this place: no shape.
        if (size.get(number) != simdjson::SUCCESS) {
          shape.clear();
          break;
        }
        shape.push_back(number);
      }
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<std::string> TextsOf(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  std::vector<std::string> texts;
  if (parser.parse(json.data(), json.size()).get(list) != simdjson::SUCCESS) return texts;
  for (const simdjson::dom::element item : list) {
    std::string_view text;
    texts.emplace_back(item.get(text) == simdjson::SUCCESS ? text : std::string_view());
  }
  return texts;
}

// Where the operands of a call stand among its arguments.
struct Slots {
  std::size_t a;
  std::size_t b;
  bool batched;
  bool b_is_nk;  // B stands as a weight, (N,K)
  enum class Bias : std::uint8_t { kNone, kAlways, kThirdArgument } bias;
};
const Slots* SlotsOf(std::string_view op) {
  using Bias = Slots::Bias;
  static const std::map<std::string_view, Slots> kSlots = {
      {"aten::mm", {0, 1, false, false, Bias::kNone}},
      {"aten::addmm", {1, 2, false, false, Bias::kAlways}},
      {"aten::addmm_", {1, 2, false, false, Bias::kAlways}},
      {"aten::_addmm_activation", {1, 2, false, false, Bias::kAlways}},
      {"aten::bmm", {0, 1, true, false, Bias::kNone}},
      {"aten::baddbmm", {1, 2, true, false, Bias::kAlways}},
      {"aten::baddbmm_", {1, 2, true, false, Bias::kAlways}},
      {"aten::linear", {0, 1, false, true, Bias::kThirdArgument}},
      {"aten::_scaled_mm", {0, 1, false, false, Bias::kNone}},
  };
  const auto found = kSlots.find(op);
  return found == kSlots.end() ? nullptr : &found->second;
}

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

const Precision* PrecisionOfType(std::string_view type) {
  if (type == "c10::BFloat16") return FindPrecision("bf16");
  if (type == "c10::Half") return FindPrecision("fp16");
  if (type == "float") return FindPrecision("fp32");
  if (type == "double") return FindPrecision("fp64");
  if (type == "signed char") return FindPrecision("int8");
  if (type.starts_with("c10::Float8_e4m3") || type.starts_with("c10::Float8_e5m2")) {
    return FindPrecision("fp8");
  }
  return nullptr;
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

std::optional<Gemm> GemmOfCall(std::string_view op, std::string_view dims, std::string_view types) {
  const Slots* slots = SlotsOf(op);
  if (slots == nullptr) return std::nullopt;
  const std::vector<Shape> shapes = ShapesOf(dims);
  if (shapes.size() <= slots->b) return std::nullopt;
  const Shape& a = shapes[slots->a];
  const Shape& b = shapes[slots->b];
  Gemm gemm;
  if (slots->b_is_nk) {  // all but the last dimension of the input are rows
    if (a.empty() || b.size() != 2 || a.back() != b[1]) return std::nullopt;
    gemm.m = 1;
    for (std::size_t i = 0; i + 1 < a.size(); ++i) {
      if (__builtin_mul_overflow(gemm.m, a[i], &gemm.m)) return std::nullopt;
    }
    gemm.k = b[1];
    gemm.n = b[0];
  } else {
    const std::size_t at = slots->batched ? 1 : 0;
    if (a.size() != at + 2 || b.size() != at + 2 || a[at + 1] != b[at]) return std::nullopt;
    if (slots->batched) gemm.batch = a[0];
    gemm.m = a[at];
    gemm.k = a[at + 1];
    gemm.n = b[at + 1];
  }
  if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1 || gemm.batch < 1) return std::nullopt;
  gemm.bias = slots->bias == Slots::Bias::kAlways || (slots->bias == Slots::Bias::kThirdArgument &&
                                                      shapes.size() > 2 && !shapes[2].empty());
  const std::vector<std::string> names = TextsOf(types);
  if (slots->a < names.size()) gemm.in = PrecisionOfType(names[slots->a]);
  if (gemm.in != nullptr) gemm.out = FindPrecision(gemm.in->result);
  return gemm;
}

}  // namespace jarvis::perf
