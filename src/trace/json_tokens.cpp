#include "trace/json_tokens.h"

#include <algorithm>
#include <array>
#include <string>

#include <simdjson.h>

#include "base/dom_parse.h"

namespace jarvis::trace {
namespace {

// simdjson finds out at its first use which code suits the machine, which takes memory and cannot
// fail. Before main() there is some.
[[maybe_unused]] const std::string kChosenCode = simdjson::get_active_implementation()->name();

constexpr std::array<std::int8_t, 256> MakeDepths() {
  std::array<std::int8_t, 256> depths{};
  depths['['] = depths['{'] = 1;
  depths[']'] = depths['}'] = -1;
  return depths;
}

// What a token that begins with a character adds to the depth.
constexpr std::array<std::int8_t, 256> kDepths = MakeDepths();

}  // namespace

struct JsonTokens::Parser {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stages;
};

JsonTokens::JsonTokens() : parser_(std::make_unique<Parser>()) {}
JsonTokens::~JsonTokens() = default;

bool JsonTokens::Find(const char* text, std::size_t size) {
  auto& stages = parser_->stages;
  if (stages == nullptr) {
    constexpr std::size_t kNoDepth = 1;  // brackets are matched by the caller
    if (ButNoMemory(simdjson::get_active_implementation()->create_dom_parser_implementation(
            size, kNoDepth, stages))) {
      return false;
    }
  } else if (stages->capacity() < size && ButNoMemory(stages->set_capacity(size))) {
    return false;
  }
  if (stages->stage1(reinterpret_cast<const std::uint8_t*>(text), size,
                     simdjson::stage1_mode::regular)) {
    return false;
  }
  text_ = text;
  begin_ = stages->structural_indexes.get();
  end_ = begin_ + stages->n_structural_indexes;
  return true;
}

JsonTokens::Place JsonTokens::BehindBracket(Place at) const {
  int depth = 0;
  for (; at < end_; ++at) {
    depth += kDepths[static_cast<unsigned char>(text_[*at])];
    if (depth == 0) return at + 1;
  }
  return nullptr;
}

}  // namespace jarvis::trace
