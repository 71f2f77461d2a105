#include "rpc/json.h"

#include <array>
#include <cstdint>

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace jarvis::rpc {
namespace {

// Counts brackets outside strings. Text that is not JSON may pass; the parser finds that.
Status CheckShape(std::string_view text) {
  std::array<std::uint32_t, kDepthMax> members{};
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (depth == kDepthMax) {
        return Fail(ErrorCode::kTooLarge,
                    "JSON nested deeper than " + std::to_string(kDepthMax) + " levels");
      }
      members[depth++] = 0;
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
    } else if (c == ':' && depth > 0 && ++members[depth - 1] > kObjectMembersMax) {
      return Fail(ErrorCode::kTooLarge,
                  "JSON object with more than " + std::to_string(kObjectMembersMax) + " members");
    }
  }
  return {};
}

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  JV_TRY(CheckShape(text));
  Json value = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return Fail(ErrorCode::kBadValue, "not valid JSON in UTF-8");
  return value;
}

const Json* FindMember(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string DumpLine(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Excerpt(const Json& value, std::size_t chars_max) {
  std::string text = DumpLine(value);
  std::size_t chars = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsContinuation(text[i])) continue;
    if (chars++ == chars_max) {
      text.resize(i);
      text += "...";
      break;
    }
  }
  return text;
}

}  // namespace jarvis::rpc
