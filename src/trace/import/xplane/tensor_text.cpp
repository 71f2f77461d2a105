#include "trace/import/xplane/tensor_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace jarvis::trace::xplane {
namespace {

// TensorFlow's names of types, and those of HLO.
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"half", "f16"},   {"float", "f32"},  {"double", "f64"}, {"bfloat16", "bf16"}, {"bool", "pred"},
    {"int8", "s8"},    {"int16", "s16"},  {"int32", "s32"},  {"int64", "s64"},     {"uint8", "u8"},
    {"uint16", "u16"}, {"uint32", "u32"}, {"uint64", "u64"}, {"complex64", "c64"},
};

bool IsDimensions(std::string_view text) {
  return text.find_first_not_of("0123456789,") == text.npos && text.find(",,") == text.npos &&
         (text.empty() || (text.front() != ',' && text.back() != ','));
}

// "half[4,384]": its type as HLO names it, and what stands in the brackets.
std::optional<std::pair<std::string, std::string_view>> ReadInput(std::string_view text) {
  if (text.empty()) return std::pair(std::string(), std::string_view());
  const std::size_t open = text.find('[');
  if (open == text.npos || text.back() != ']') return std::nullopt;
  const std::string_view type = text.substr(0, open);
  const std::string_view dims = text.substr(open + 1, text.size() - open - 2);
  const bool plain = std::ranges::all_of(
      type, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  // Of an unknown size, as "?", the input is not known.
  if (!plain) return std::nullopt;
  if (!IsDimensions(dims)) return std::pair(std::string(), std::string_view());
  const auto* known =
      std::ranges::find(kTypes, type, &std::pair<std::string_view, std::string_view>::first);
  return std::pair(std::string(known == std::end(kTypes) ? type : known->second), dims);
}

}  // namespace

std::optional<TensorInputs> ReadTensorInputs(std::string_view text) {
  constexpr std::size_t kInputsMax = 256;
  if (text.size() < 3 || text.front() != '(' || text.back() != ')') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  TensorInputs inputs;
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const std::size_t end = text.find(';');
    const auto input = ReadInput(text.substr(0, end));
    if (!input || count == kInputsMax) return std::nullopt;
    inputs.dims += fmt::format("{}[{}]", count == 0 ? "" : ",", input->second);
    inputs.types += fmt::format("{}\"{}\"", count == 0 ? "" : ",", input->first);
    more = end != text.npos;
    if (more) text.remove_prefix(end + 1);
  }
  return TensorInputs{"[" + inputs.dims + "]", "[" + inputs.types + "]"};
}

}  // namespace jarvis::trace::xplane
