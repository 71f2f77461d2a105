#include "rpc/message.h"

#include <algorithm>
#include <utility>

namespace jarvis::rpc {
namespace {

bool IsId(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size() <= kIdBytesMax;
  return value.is_number_integer();
}

Message Invalid(Message message, int code, std::string text) {
  message.kind = MessageKind::kInvalid;
  message.error = RpcError{code, std::move(text), {}};
  return message;
}

}  // namespace

Message Classify(Json value) {
  Message message;
  if (!value.is_object()) {
    return Invalid(std::move(message), kInvalidRequest, "a message must be a JSON object");
  }
  const auto id = value.find("id");
  const bool has_id = id != value.end();
  if (has_id && IsId(*id)) message.id = *id;
  const auto method = value.find("method");
  if (method == value.end() && (value.contains("result") || value.contains("error"))) {
    message.kind = MessageKind::kResponse;
    if (const auto result = value.find("result"); result != value.end()) {
      message.result = std::move(*result);
    }
    return message;
  }
  const auto version = value.find("jsonrpc");
  if (version == value.end() || !version->is_string() || *version != "2.0") {
    return Invalid(std::move(message), kInvalidRequest, "\"jsonrpc\" must be the string \"2.0\"");
  }
  if (has_id && message.id.is_null()) {
    return Invalid(std::move(message), kInvalidRequest,
                   "\"id\" must be an integer or a string of at most " +
                       std::to_string(kIdBytesMax) + " bytes");
  }
  if (method == value.end() || !method->is_string()) {
    return Invalid(std::move(message), kInvalidRequest, "\"method\" must be a string");
  }
  message.method = method->get<std::string>();
  message.kind = has_id ? MessageKind::kRequest : MessageKind::kNotification;
  const auto params = value.find("params");
  if (params == value.end() || params->is_null()) return message;
  if (params->is_object()) {
    message.params = std::move(*params);
  } else if (has_id) {
    return Invalid(std::move(message), kInvalidParams,
                   "params: expected an object, received " + Excerpt(*params));
  }
  return message;
}

Json IdInText(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto skip = [&](std::size_t at) {
    return std::min(text.find_first_not_of(kBlanks, at), text.size());
  };
  const auto text_end = [&](std::size_t quote) {  // past the quote that ends it
    std::size_t at = quote + 1;
    while (at < text.size() && text[at] != '"')
      at += text[at] == '\\' ? std::size_t{2} : std::size_t{1};
    return std::min(at + 1, text.size());
  };
  int depth = 0;
  std::string_view id;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const std::size_t end = text_end(at);
    const bool is_id = depth == 1 && text.substr(at, end - at) == "\"id\"";
    const std::size_t colon = skip(end);
    at = end - 1;
    if (!is_id || colon == text.size() || text[colon] != ':') continue;
    const std::size_t value = skip(colon + 1);
    const bool quoted = value < text.size() && text[value] == '"';
    const std::size_t value_end =
        quoted ? text_end(value) : std::min(text.find_first_of(",}] \t\r\n", value), text.size());
    id = text.substr(value, value_end - value);
  }
  // A message that was cut short may be a part of any other.
  if (depth != 0 || id.empty() || id.size() > 2 * kIdBytesMax) return Json();
  const auto read = ParseJson(id);
  return read && IsId(*read) ? *read : Json();
}

std::string IdKey(const Json& id) {
  return DumpLine(id);
}

Json MakeResult(const Json& id, Json result) {
  Json message = {{"jsonrpc", "2.0"}, {"id", id}};
  message["result"] = std::move(result);
  return message;
}

Json MakeError(const Json& id, const RpcError& error) {
  Json message = {{"jsonrpc", "2.0"}};
  if (!id.is_null()) message["id"] = id;
  Json body = {{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  message["error"] = std::move(body);
  return message;
}

Json MakeNotification(std::string_view method, Json params) {
  Json message = {{"jsonrpc", "2.0"}, {"method", method}};
  message["params"] = std::move(params);
  return message;
}

}  // namespace jarvis::rpc
