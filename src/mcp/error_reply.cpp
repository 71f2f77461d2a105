#include "mcp/error_reply.h"

#include <string>
#include <string_view>

namespace jarvis::mcp {

ToolReply ErrorReply(const Error& error) {
  ToolReply reply;
  reply.is_error = true;
  reply.text = "[";
  reply.text += ErrorCodeName(error.code);
  reply.text += "] ";
  reply.text += error.message;
  constexpr std::string_view kEndings = ".?!";
  if (!error.message.empty() && kEndings.find(error.message.back()) == std::string_view::npos) {
    reply.text += '.';
  }
  if (!error.hint.empty()) reply.text += "\nNext: " + error.hint;
  return reply;
}

}  // namespace jarvis::mcp
