#include "mcp/http_headers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "mcp/protocol.h"

namespace jarvis::mcp {
namespace {

using rpc::FailRpc;
using rpc::Json;

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

int Sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const int sextet = Sextet(c);
    if (sextet < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(sextet);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>((bits >> held) & 0xFFU);
  }
  // What is left over carries nothing; otherwise one text would have several spellings.
  if ((bits & ((1U << held) - 1U)) != 0 || held >= 6) return std::nullopt;
  return bytes;
}

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
  return Mismatch(std::string("the header ") + shown + " says " + rpc::Excerpt(*decoded) +
                  ", the body " + rpc::Excerpt(wanted));
}

}  // namespace

std::optional<std::string> DecodeHeaderValue(std::string_view value) {
  if (value.size() >= kOpen.size() + kClose.size() && value.starts_with(kOpen) &&
      value.ends_with(kClose)) {
    return DecodeBase64(value.substr(kOpen.size(), value.size() - kOpen.size() - kClose.size()));
  }
  const bool plain =
      std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c <= 0x7E; });
  if (!plain) return std::nullopt;
  return std::string(value);
}

rpc::RpcResult<void> CheckVersionHeader(const rpc::HttpRequest& http, const rpc::Message& request) {
  const Json& version = request.params.at("_meta").at(kMetaVersion);
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

}  // namespace jarvis::mcp
