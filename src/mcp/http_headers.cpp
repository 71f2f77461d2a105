#include "mcp/http_headers.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/check.h"
#include "base/text.h"
#include "mcp/protocol.h"
#include "rpc/base64.h"

namespace jarvis::mcp {
namespace {

using rpc::FailRpc;

struct NamedMethod {
  std::string_view method;
  const char* member;  // of params: what Mcp-Name repeats
};
constexpr std::array kNamedMethods = {
    NamedMethod{"tools/call", "name"},     NamedMethod{"prompts/get", "name"},
    NamedMethod{"resources/read", "uri"},  NamedMethod{"tasks/get", "taskId"},
    NamedMethod{"tasks/update", "taskId"}, NamedMethod{"tasks/cancel", "taskId"}};

constexpr std::string_view kOpen = "=?base64?";
constexpr std::string_view kClose = "?=";

rpc::RpcResult<void> Mismatch(std::string text) {
  return FailRpc(kHeaderMismatch, std::move(text));
}

rpc::RpcResult<void> CheckHeader(const rpc::HttpRequest& http, const char* shown,
                                 std::string_view name, const std::string& wanted, bool encoded) {
  const std::string* value = http.Find(name);
  if (value == nullptr) return Mismatch(std::string("the header ") + shown + " is missing");
  if (http.Count(name) > 1) return Mismatch(std::string("the header ") + shown + " comes twice");
  const auto decoded = encoded ? DecodeHeaderValue(*value) : std::optional(*value);
  if (!decoded) return Mismatch(std::string("the header ") + shown + " cannot be read");
  if (*decoded == wanted) return {};
  return Mismatch(std::string("the header ") + shown + " says " + Excerpt(*decoded) +
                  ", the body " + Excerpt(wanted));
}

// "7" and "07" say the same.
bool SameInteger(const std::string& text, const Json& argument) {
  const auto number = ParseInt(text);
  return number && argument == *number;
}

rpc::RpcResult<void> CheckArgumentHeader(const rpc::HttpRequest& http, const std::string& shown,
                                         const std::string& lower, const Json& argument) {
  const std::string wanted =
      argument.is_string() ? argument.get<std::string>() : DumpLine(argument);
  const std::string* value = http.Find(lower);
  if (value != nullptr && argument.is_number_integer() && http.Count(lower) == 1 &&
      SameInteger(*value, argument)) {
    return {};
  }
  return CheckHeader(http, shown.c_str(), lower, wanted, /*encoded=*/true);
}

}  // namespace

std::optional<std::string> DecodeHeaderValue(std::string_view value) {
  if (value.size() >= kOpen.size() + kClose.size() && value.starts_with(kOpen) &&
      value.ends_with(kClose)) {
    return rpc::DecodeBase64(
        value.substr(kOpen.size(), value.size() - kOpen.size() - kClose.size()));
  }
  const bool plain =
      std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c <= 0x7E; });
  if (!plain) return std::nullopt;
  return std::string(value);
}

rpc::RpcResult<void> CheckVersionHeader(const rpc::HttpRequest& http, const rpc::Message& request) {
  const Json& version = request.params.at("_meta").at(kMetaVersion);
  JV_CHECK(version.is_string());
  return CheckHeader(http, "MCP-Protocol-Version", "mcp-protocol-version",
                     version.get<std::string>(), /*encoded=*/false);
}

rpc::RpcResult<void> CheckMethodHeaders(const rpc::HttpRequest& http, const rpc::Message& request) {
  const auto method =
      CheckHeader(http, "Mcp-Method", "mcp-method", request.method, /*encoded=*/false);
  if (!method) return method;
  for (const NamedMethod& named : kNamedMethods) {
    if (named.method != request.method) continue;
    const Json name = request.params.value(named.member, Json());
    if (!name.is_string()) return {};  // the method will say what is wrong with it
    return CheckHeader(http, "Mcp-Name", "mcp-name", name.get<std::string>(), /*encoded=*/true);
  }
  return {};
}

rpc::RpcResult<void> CheckArgumentHeaders(const rpc::HttpRequest& http, const Json& schema,
                                          const Json& arguments) {
  static const Json kAbsent;
  const Json* properties = FindMember(schema, "properties");
  if (properties == nullptr) return {};
  for (const auto& [name, property] : properties->items()) {
    const Json* given = FindMember(arguments, name.c_str());
    const Json& argument = given == nullptr ? kAbsent : *given;
    if (auto inner = CheckArgumentHeaders(http, property, argument); !inner) return inner;
    const Json* header = FindMember(property, "x-mcp-header");
    if (header == nullptr || !header->is_string()) continue;
    const std::string shown = "Mcp-Param-" + header->get<std::string>();
    const std::string lower = LowerAscii(shown);
    if (argument.is_null()) {
      if (http.Find(lower) == nullptr) continue;
      return Mismatch("the header " + shown + " is there, its argument " + name + " is not");
    }
    if (auto checked = CheckArgumentHeader(http, shown, lower, argument); !checked) return checked;
  }
  return {};
}

}  // namespace jarvis::mcp
