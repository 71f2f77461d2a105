// What a request of 2026-07-28 says twice: in its body and, for gateways, in HTTP headers. The two
// must agree, or a gateway would let through what it never saw.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rpc/http_message.h"
#include "rpc/message.h"

namespace jarvis::mcp {

// MCP-Protocol-Version; REQUIRES: the envelope names a version. Comes before the check of whether
// we speak it. Errors: kHeaderMismatch.
rpc::RpcResult<void> CheckVersionHeader(const rpc::HttpRequest& http, const rpc::Message& request);

// Mcp-Method, and Mcp-Name where the method has a name.
rpc::RpcResult<void> CheckMethodHeaders(const rpc::HttpRequest& http, const rpc::Message& request);

// Mcp-Param-NAME for every argument whose schema has "x-mcp-header": NAME. There if and only if the
// argument is. `schema`: the tool's input schema.
rpc::RpcResult<void> CheckArgumentHeaders(const rpc::HttpRequest& http, const Json& schema,
                                          const Json& arguments);

// "=?base64?...?=" decoded, any other value as it is. Nothing: bad base64, or bytes that no raw
// value may have.
std::optional<std::string> DecodeHeaderValue(std::string_view value);

}  // namespace jarvis::mcp
