// Which revision a request speaks, and what it says about itself. Decided for each request by its
// body alone.
#pragma once

#include <optional>

#include "mcp/call_context.h"
#include "mcp/protocol.h"
#include "rpc/message.h"

namespace jarvis::mcp {

struct Envelope {
  Revision revision = kNewestHandshake;
  Json progress_token;                 // a string or an integer; null: wants no progress
  Json capabilities = Json::object();  // of the client
  std::optional<LogLevel> log_level;   // stateless: nothing, if messages are not wanted
};

// Is this of the revision without a handshake? So it is when its _meta names a version, or when
// its method exists only there.
bool LooksStateless(const rpc::Message& message);
bool LooksStateless(const Json& params);

// Does the client say that it knows this extension?
bool KnowsExtension(const Json& capabilities, const char* extension);

// The checks that come before the method is looked at. `negotiated` is what a request of the
// handshake era speaks. The log level is not read.
rpc::RpcResult<Envelope> ReadEnvelope(const rpc::Message& request, Revision negotiated);
// Those that come after.
rpc::RpcResult<LogLevel> ReadLogLevel(const Json& level, std::string_view where);

// The names, for the data of version errors.
Json RevisionNames(bool with_stateless);

}  // namespace jarvis::mcp
