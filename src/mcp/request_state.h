// What a call puts by between two rounds of asking, in the hands of the client. It is signed with a
// key of this process, so that what comes back is what was sent: for the same method, arguments and
// client, and not for ever.
//
// Threads: any.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "json/json.h"

namespace jarvis::mcp {

class RequestStates {
 public:
  static constexpr std::chrono::seconds kLife{3600};
  using Clock = std::chrono::system_clock;

  RequestStates();

  // `binding`: text that names the request and its client.
  std::string Seal(const Json& state, const std::string& binding,
                   Clock::time_point now = Clock::now()) const;
  // Nothing: changed, too old, of another request or of another process.
  std::optional<Json> Open(const std::string& sealed, const std::string& binding,
                           Clock::time_point now = Clock::now()) const;

 private:
  std::string Sign(const std::string& text) const;

  std::string key_;
};

}  // namespace jarvis::mcp
