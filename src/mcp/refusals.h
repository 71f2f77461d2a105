// Errors that several methods answer with.
#pragma once

#include <string>
#include <utility>

#include "mcp/protocol.h"
#include "mcp/tasks.h"
#include "rpc/message.h"

namespace jarvis::mcp {

inline tl::unexpected<rpc::RpcError> NoMethod(const rpc::Message& request) {
  return rpc::FailRpc(rpc::kMethodNotFound, "Unknown method " + Excerpt(request.method));
}

// `name`: of the member of params.
inline tl::unexpected<rpc::RpcError> WrongMember(const std::string& name, const char* expected,
                                                 const Json& received) {
  return rpc::FailRpc(rpc::kInvalidParams, "params." + name + ": expected " + expected +
                                               ", received " + Excerpt(received));
}

// `capability`: as an object of the kind that clients declare.
inline tl::unexpected<rpc::RpcError> LacksCapability(std::string text, Json capability) {
  return rpc::FailRpc(kMissingCapability, std::move(text),
                      {{"requiredCapabilities", std::move(capability)}});
}

inline Json TasksCapability() {
  return {{"extensions", {{kTasksExtension, Json::object()}}}};
}

}  // namespace jarvis::mcp
