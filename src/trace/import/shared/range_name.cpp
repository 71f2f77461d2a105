#include "trace/import/shared/range_name.h"

#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/dom_parse.h"
#include "base/text.h"

namespace jarvis::trace {
namespace {

bool StartsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool GoesOnWord(char c) {
  return StartsWord(c) || (c >= '0' && c <= '9');
}

// Takes a word off the front; a tilde may begin it where a destructor's name can stand.
bool TakeWord(std::string_view* text, bool tilde, bool digits_first) {
  std::size_t at = 0;
  if (at < text->size() && (StartsWord((*text)[at]) || (tilde && (*text)[at] == '~') ||
                            (digits_first && GoesOnWord((*text)[at]))))
    ++at;
  if (at == 0) return false;
  while (at < text->size() && GoesOnWord((*text)[at]))
    ++at;
  text->remove_prefix(at);
  return true;
}

// "namespace::op", "namespace::op.overload": as functions are registered.
bool IsRegistered(std::string_view name) {
  if (!TakeWord(&name, false, false) || !name.starts_with("::")) return false;
  while (name.starts_with("::")) {
    name.remove_prefix(2);
    if (!TakeWord(&name, true, false)) return false;
  }
  if (name.starts_with('.')) {
    name.remove_prefix(1);
    if (!TakeWord(&name, false, true)) return false;
  }
  return name.empty();
}

bool IsJson(std::string_view text) {
  thread_local simdjson::dom::parser parser;
  simdjson::dom::element parsed;
  return !ParseDom(&parser, text, &parsed);
}

// Takes ", key = 12" off the end.
std::optional<std::int64_t> TakeNumber(std::string_view key, std::string_view* name) {
  const std::size_t at = name->rfind(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name->substr(at + key.size());
  if (digits.empty() || digits.front() == '+') return std::nullopt;
  const auto value = ParseInt(digits);
  if (value) *name = name->substr(0, at);
  return value;
}

bool IsOp(const RangeName& range) {
  const std::string_view name = range.name;
  if (range.sequence || !range.sizes.empty() ||
      IsOneOf(name, {"record_param_comms", "detach", "detach_"}) ||
      name.starts_with("autograd::engine::evaluate_function"))
    return true;
  // A function, or somebody's range: the recording does not say which.
  if (range.op_id)
    return (IsRegistered(name) && !name.starts_with("FSDP::")) || name.starts_with("triton_");
  constexpr std::string_view kPyTorch[] = {
      "aten::", "prim::", "torch::", "c10d::", "_c10d_functional::", "inductor::"};
  return IsRegistered(name) && std::any_of(std::begin(kPyTorch), std::end(kPyTorch),
                                           [&](auto one) { return name.starts_with(one); });
}

}  // namespace

RangeName ParseRangeName(std::string_view text) {
  RangeName range;
  range.name = text;
  constexpr std::string_view kInputs = ", input_op_ids = [";
  constexpr std::string_view kSizes = ", sizes = [";
  const auto ends_as_list = [&] { return range.name.ends_with(']'); };
  if (const auto at = range.name.rfind(kInputs); at != std::string_view::npos && ends_as_list())
    range.name = range.name.substr(0, at);
  if (const auto at = range.name.rfind(kSizes); at != std::string_view::npos && ends_as_list()) {
    const std::string_view sizes = range.name.substr(at + kSizes.size() - 1);
    if (IsJson(sizes)) {
      range.sizes = sizes;
      range.name = range.name.substr(0, at);
    }
  }
  range.op_id = TakeNumber(", op_id = ", &range.name);
  range.sequence = TakeNumber(", seq = ", &range.name);
  range.is_op = IsOp(range);
  return range;
}

}  // namespace jarvis::trace
