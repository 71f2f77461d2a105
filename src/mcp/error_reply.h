// The one place where an Error becomes what a tool's caller reads.
#pragma once

#include "base/result.h"
#include "mcp/tool.h"

namespace jarvis::mcp {

// "[code] message." and, with a hint, a line "Next: hint". No structured half.
ToolReply ErrorReply(const Error& error);

}  // namespace jarvis::mcp
