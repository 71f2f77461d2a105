// The results of the protocol's methods, each in the form of the revision that asked. There is one
// form, the newest; older ones are it with parts taken away.
#pragma once

#include <string>

#include "mcp/protocol.h"
#include "mcp/tool.h"
#include "rpc/json.h"

namespace jarvis::mcp {

struct ServerInfo {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;  // for the model: how the tools go together
};

rpc::Json InitializeResult(const ServerInfo& info, Revision revision);
rpc::Json DiscoverResult(const ServerInfo& info, Revision revision);
rpc::Json EmptyResult(const ServerInfo& info, Revision revision);
rpc::Json ToolListResult(const ServerInfo& info, const ToolSet& tools, Revision revision);
rpc::Json ToolCallResult(const ServerInfo& info, const ToolReply& reply, Revision revision);
// The answer to subscriptions/listen, sent when the server ends it.
rpc::Json ListenResult(const ServerInfo& info, const rpc::Json& request_id, Revision revision);

}  // namespace jarvis::mcp
