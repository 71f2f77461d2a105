#include "perf/dtype.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/text.h"

namespace jarvis::perf {
namespace {

constexpr auto kBool = Dtype::kBool;
constexpr auto kInteger = Dtype::kInteger;
constexpr auto kFloat = Dtype::kFloat;
constexpr auto kComplex = Dtype::kComplex;

constexpr Dtype kDtypes[] = {
    {"double", 8, kFloat, "fp64"},
    {"float", 4, kFloat, "fp32"},
    {"half", 2, kFloat, "fp16"},
    {"float16", 2, kFloat, "fp16"},
    {"bfloat16", 2, kFloat, "bf16"},
    {"fp8", 1, kFloat, "fp8"},
    {"fp4", 1, kFloat, "fp4"},
    {"mxfp4", 0, {}, "fp4"},
    {"long int", 8, kInteger, "int64"},
    {"long", 8, kInteger, "int64"},
    {"unsigned long", 8, kInteger, ""},
    {"unsigned long int", 8, kInteger, ""},
    {"int", 4, kInteger, "int32"},
    {"unsigned int", 4, kInteger, ""},
    {"short int", 2, kInteger, "int16"},
    {"short", 2, kInteger, ""},
    {"unsigned short", 2, kInteger, ""},
    {"signed char", 1, kInteger, "int8"},
    {"unsigned char", 1, kInteger, "uint8"},
    {"char", 1, kInteger, ""},
    {"bool", 1, kBool, "bool"},
    {"scalar", 4, {}, ""},
    {"c10::double", 8, kFloat, ""},
    {"c10::float", 4, kFloat, ""},
    {"c10::half", 2, kFloat, "fp16"},
    {"c10::bfloat16", 2, kFloat, "bf16"},
    {"c10::long", 8, kInteger, ""},
    {"c10::int", 4, kInteger, ""},
    {"c10::byte", 1, kInteger, ""},
    {"c10::char", 1, kInteger, ""},
    {"c10::float8_e4m3fnuz", 1, kFloat, "fp8"},
    {"c10::float8_e4m3fn", 1, kFloat, "fp8"},
    {"c10::float8_e5m2", 1, kFloat, "fp8"},
    {"c10::float8_e5m2fnuz", 1, kFloat, "fp8"},
    {"c10::float8_e8m0fnu", 1, kFloat, ""},
    {"c10::float4_e2m1fn_x2", 1, kFloat, "fp4"},
    {"c10::complex<c10::half>", 4, kComplex, ""},
    {"c10::complex<float>", 8, kComplex, ""},
    {"c10::complex<double>", 16, kComplex, ""},
    {"c10::quint8", 1, kInteger, ""},
    {"c10::qint8", 1, kInteger, "int8"},
    {"c10::qint32", 4, kInteger, ""},
    // As XLA writes them.
    {"pred", 1, kBool, "bool"},
    {"s8", 1, kInteger, "int8"},
    {"s16", 2, kInteger, "int16"},
    {"s32", 4, kInteger, "int32"},
    {"s64", 8, kInteger, "int64"},
    {"u8", 1, kInteger, ""},
    {"u16", 2, kInteger, ""},
    {"u32", 4, kInteger, ""},
    {"u64", 8, kInteger, ""},
    {"f16", 2, kFloat, "fp16"},
    {"bf16", 2, kFloat, "bf16"},
    {"f32", 4, kFloat, "fp32"},
    {"f64", 8, kFloat, "fp64"},
    {"c64", 8, kComplex, ""},
    {"c128", 16, kComplex, ""},
    {"f8e4m3fn", 1, kFloat, "fp8"},
    {"f8e4m3fnuz", 1, kFloat, "fp8"},
    {"f8e4m3b11fnuz", 1, kFloat, "fp8"},
    {"f8e4m3", 1, kFloat, "fp8"},
    {"f8e3m4", 1, kFloat, "fp8"},
    {"f8e5m2", 1, kFloat, "fp8"},
    {"f8e5m2fnuz", 1, kFloat, "fp8"},
    {"f8e8m0fnu", 1, kFloat, ""},
};

char LowerByte(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct HashNoCase {
  std::size_t operator()(std::string_view text) const {
    std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
    for (const char c : text)
      hash = (hash ^ static_cast<unsigned char>(LowerByte(c))) * 0x100000001B3u;
    return hash;
  }
};
struct SameNoCase {
  bool operator()(std::string_view a, std::string_view b) const { return EqualsNoCase(a, b); }
};

// The dtype that holds both.
const Dtype* Wider(const Dtype* a, std::string_view* a_name, const Dtype* b,
                   std::string_view b_name) {
  const auto take = [&](std::string_view name) {
    *a_name = name;
    return FindDtype(name);
  };
  if (a == nullptr || *a_name == b_name) return take(b_name);
  if (a->kind != b->kind) {
    const Dtype* real = a->kind == kFloat ? a : b;
    const bool mixed =
        (a->kind == kFloat && b->kind == kComplex) || (a->kind == kComplex && b->kind == kFloat);
    if (mixed && real->bytes == 8) return take("c10::complex<double>");
    return *a->kind > *b->kind ? a : take(b_name);
  }
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? a : take(b_name);
  if (a == b) return a;
  // Half and bfloat16; signed and unsigned bytes.
  if (a->kind == kFloat) return a->bytes == 2 ? take("float") : a;
  return a->bytes == 1 ? take("short int") : a;
}

}  // namespace

const Dtype* FindDtype(std::string_view name) {
  static const auto* const known = [] {
    auto* all = new std::unordered_map<std::string_view, const Dtype*, HashNoCase, SameNoCase>;
    for (const Dtype& one : kDtypes)
      all->emplace(one.name, &one);
    return all;
  }();
  const auto found = known->find(name);
  return found == known->end() ? nullptr : found->second;
}

std::string_view Promote(std::span<const PromotedArgument> arguments) {
  struct Best {
    const Dtype* dtype = nullptr;
    std::string_view name;
  };
  Best best[3];  // by rank
  for (const PromotedArgument& argument : arguments) {
    const Dtype* dtype = FindDtype(argument.dtype);
    if (dtype == nullptr || !dtype->kind) return {};
    Best& of = best[argument.rank];
    of.dtype = Wider(of.dtype, &of.name, dtype, argument.dtype);
  }
  Best result = best[PromotedArgument::kTensor];
  for (const auto rank : {PromotedArgument::kZeroDimensional, PromotedArgument::kNumber}) {
    const Best& other = best[rank];
    if (other.dtype == nullptr) continue;
    if (result.dtype == nullptr) {
      result = other;
    } else if (*other.dtype->kind > *result.dtype->kind) {
      // A number of no dimensions lends its kind, not its width.
      const std::string_view name = other.dtype->kind == kFloat     ? "float"
                                    : other.dtype->kind == kComplex ? "c10::complex<float>"
                                                                    : other.name;
      result = {FindDtype(name), name};
    }
  }
  return result.name;
}

}  // namespace jarvis::perf
