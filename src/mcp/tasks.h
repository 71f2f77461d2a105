// Calls that outlive their request: the tasks extension of 2026-07-28. A client is told an id and
// asks after it.
//
// Threads: any.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "json/json.h"
#include "mcp/changes.h"
#include "rpc/message.h"

namespace jarvis::mcp {

inline constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";

class Tasks {
 public:
  static constexpr std::size_t kCountMax = 64;
  static constexpr std::chrono::hours kLifeAfterEnd{1};
  static constexpr std::chrono::hours kLife{24};

  explicit Tasks(Changes& changes) : changes_(changes) {}

  struct Control {
    std::function<void()> stop;              // asks the work to stop
    std::function<void(Json inputs)> go_on;  // runs it again with the client's answers
  };
  // The id, or nothing: too many tasks, or no random numbers.
  std::optional<std::string> Create(const std::string& principal, Control control);

  // Of a task of which its client was never told.
  void Forget(const std::string& id) noexcept;

  // From the work.
  void SetMessage(const std::string& id, std::string_view message);
  void Ask(const std::string& id, Json requests);
  // Of the call: a JSON-RPC result, or an error. Of a task that was cancelled it is dropped.
  void Complete(const std::string& id, Json result);
  void Break(const std::string& id, const rpc::RpcError& error);

  // From its client. Nothing, or false: no such task of this principal.
  std::optional<Json> Describe(const std::string& id, const std::string& principal);
  bool Cancel(const std::string& id, const std::string& principal);
  // Answers to some of what was asked; others are ignored.
  bool Update(const std::string& id, const std::string& principal, const Json& inputs);

  void StopAll();

 private:
  using Clock = std::chrono::steady_clock;
  struct Task {
    std::string id;
    std::string principal;
    Control control;
    std::string status = "working";
    std::string message;
    std::string created;  // ISO 8601
    std::string updated;
    Clock::time_point began = Clock::now();
    Clock::time_point ends = began + kLife;
    bool cancelled = false;  // the work may still be on its way to an end
    Json outcome;            // {"result": ...} or {"error": ...}
    Json asked;              // that nobody has answered yet
    Json answers = Json::object();
  };

  static Json Fields(const Task& task);
  static bool IsOver(const Task& task);
  void Touch(Task& task, std::string status);                         // REQUIRES: mutex_ held
  void Conclude(Task& task, std::string status);                      // REQUIRES: mutex_ held
  Task* Find(const std::string& id);                                  // REQUIRES: mutex_ held
  Task* FindOf(const std::string& id, const std::string& principal);  // REQUIRES: mutex_ held
  void End(const std::string& id, std::string status, Json outcome);
  static Change News(const Task& task);
  void Sweep();  // REQUIRES: mutex_ held

  Changes& changes_;
  std::mutex mutex_;
  std::map<std::string, Task> tasks_;
};

}  // namespace jarvis::mcp
