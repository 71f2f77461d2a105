// What a call has besides its arguments: the job, the client's capabilities, answers to what was
// asked of the client earlier, and ways to tell the client something before the answer.
//
// Asking: whoever wants to know something of the client answers with InputNeeded instead of a
// result. The client's answers come with a second run of the same call, in `inputs`; nothing is
// kept in between but `state`. It works the same in every era: newer clients send the call again,
// older ones are sent requests, and a task waits in its list.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/job.h"
#include "json/json.h"
#include "mcp/changes.h"

namespace jarvis::mcp {

struct InputNeeded {
  // By a key of the asker's choice: {"method": "elicitation/create", "params": {...}}, or
  // sampling/createMessage or roots/list.
  Json requests = Json::object();
  Json state;  // given back in the next run, unread and unchanged by the client; null: none
};

// In the order of their weight.
enum class LogLevel { kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency };
std::string_view Name(LogLevel level);
std::optional<LogLevel> FindLogLevel(std::string_view name);

struct CallContext {
  explicit CallContext(Job& the_job) : job(the_job) {}

  Job& job;
  Json capabilities = Json::object();  // of the client
  Json inputs = Json::object();        // by key; empty in the first run
  Json state;                          // null in the first run

  // Nobody listens where these are empty.
  std::function<void(LogLevel level, const Json& data)> log;
  std::function<void(const Change& change)> announce;
  // Ends the stream of the call's messages; the client comes back for the rest.
  std::function<void()> hang_up;

  bool ClientCan(const char* capability) const { return capabilities.contains(capability); }
};

}  // namespace jarvis::mcp
