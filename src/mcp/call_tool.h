// One call of a tool, from raw arguments to a reply; nothing thrown gets past here.
#pragma once

#include <string>

#include "mcp/schema.h"
#include "mcp/tool.h"

namespace jarvis::mcp {

struct CallOutcome {
  ToolReply reply;
  // Not empty: our bug, told as "Internal error, incident 1f00ba47"; the same word is in the log.
  std::string incident;
};

// The arguments as the handler wants them, by their names of today; errors as those of Normalize.
Result<Normalized> ArgumentsOf(const Tool& tool, const Json& arguments);

// Checks and completes the arguments, then runs. An argument error is a reply with is_error.
CallOutcome CallTool(const Tool& tool, const Json& arguments, CallContext& context);

// The same without a client to talk to.
inline CallOutcome CallTool(const Tool& tool, const Json& arguments, Job& job) {
  CallContext context(job);
  return CallTool(tool, arguments, context);
}

// The second half of CallTool, for callers that tell argument errors from others.
CallOutcome RunTool(const Tool& tool, const Normalized& arguments, CallContext& context);
inline CallOutcome RunTool(const Tool& tool, const Normalized& arguments, Job& job) {
  CallContext context(job);
  return RunTool(tool, arguments, context);
}

}  // namespace jarvis::mcp
