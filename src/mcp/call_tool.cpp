#include "mcp/call_tool.h"

#include <cstdint>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include <sys/random.h>

#include "base/check.h"
#include "mcp/error_reply.h"
#include "rpc/log.h"

namespace jarvis::mcp {
namespace {

CallOutcome OutOfMemory() {
  return {ErrorReply({ErrorCode::kOutOfMemory, "Not enough memory for this call",
                      "ask for less: a filter, a smaller limit, or one rank"}),
          ""};
}

// The text of a foreign exception goes to the log only: it may repeat what is in a trace. `told` is
// what may be told.
CallOutcome Incident(const Tool& tool, std::string_view what, std::string_view told = {}) {
  std::uint32_t word = 0;
  static_cast<void>(::getrandom(&word, sizeof word, GRND_NONBLOCK));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id;
  for (int shift = 28; shift >= 0; shift -= 4)
    id += kDigits[(word >> shift) & 0xFU];
  rpc::LogWarning("incident " + id + " in " + tool.name + ": ", what);
  std::string message = "Internal error, incident " + id;
  if (!told.empty()) message.append(": ").append(told);
  return {ErrorReply({ErrorCode::kInternal, message, ""}), message};
}

void AddNotes(const std::vector<std::string>& notes, ToolReply& reply) {
  if (reply.is_error) return;
  for (const std::string& note : notes) {
    reply.text += "\nNote: " + note;
    if (reply.structured.is_object()) reply.structured["notes"].push_back(note);
  }
}

}  // namespace

Result<Normalized> ArgumentsOf(const Tool& tool, const Json& arguments) {
  if (tool.options.aliases.empty()) return Normalize(tool.input_schema(), arguments);
  JV_ASSIGN(const Json renamed, RenameArguments(tool.options.aliases, arguments));
  return Normalize(tool.input_schema(), renamed);
}

CallOutcome CallTool(const Tool& tool, const Json& arguments, CallContext& context) {
  if (tool.options.free_schema) return RunTool(tool, {arguments, {}}, context);
  const Result<Normalized> normalized = ArgumentsOf(tool, arguments);
  if (!normalized) return {ErrorReply(normalized.error()), ""};
  return RunTool(tool, *normalized, context);
}

CallOutcome RunTool(const Tool& tool, const Normalized& arguments, CallContext& context) {
  try {
    CallOutcome outcome{tool.handler(arguments.value, context), ""};
    AddNotes(arguments.notes, outcome.reply);
    return outcome;
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const CheckFailure& failure) {
    return Incident(tool, failure.what(), failure.what());
  } catch (const std::exception& exception) {
    return Incident(tool, exception.what());
  } catch (...) {
    return Incident(tool, "something that is no std::exception");
  }
}

}  // namespace jarvis::mcp
