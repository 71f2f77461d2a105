#include "mcp/error_reply.h"

#include <string>
#include <string_view>

#include "base/text.h"

namespace jarvis::mcp {
namespace {

constexpr std::size_t kMessageBytesMax = 4000;
constexpr std::size_t kHintBytesMax = 2000;

}  // namespace

ToolReply ErrorReply(const Error& error) {
  ToolReply reply;
  reply.is_error = true;
  reply.text = "[";
  reply.text += ErrorCodeName(error.code);
  reply.text += "] ";
  // File names and names of a trace may hold anything, and are as long as they like.
  const std::string message = Shortened(OneLine(error.message), kMessageBytesMax);
  reply.text += message;
  constexpr std::string_view kEndings = ".?!";
  if (!message.empty() && kEndings.find(message.back()) == std::string_view::npos) {
    reply.text += '.';
  }
  if (!error.hint.empty()) {
    reply.text += "\nNext: " + Shortened(OneLine(error.hint), kHintBytesMax);
  }
  return reply;
}

}  // namespace jarvis::mcp
