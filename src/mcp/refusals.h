// Errors that several methods answer with.
#pragma once

#include <string>

#include "rpc/message.h"

namespace jarvis::mcp {

inline tl::unexpected<rpc::RpcError> NoMethod(const rpc::Message& request) {
  return rpc::FailRpc(rpc::kMethodNotFound, "Unknown method " + rpc::Excerpt(request.method));
}

// `name`: of the member of params.
inline tl::unexpected<rpc::RpcError> WrongMember(const std::string& name, const char* expected,
                                                 const rpc::Json& received) {
  return rpc::FailRpc(rpc::kInvalidParams, "params." + name + ": expected " + expected +
                                               ", received " + rpc::Excerpt(received));
}

}  // namespace jarvis::mcp
