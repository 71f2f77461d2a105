#include "mcp/tasks.h"

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "rpc/base64.h"

namespace jarvis::mcp {
namespace {

std::string NowText() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, size};
}

// The longer it has taken, the less often it is worth asking.
int PollMs(std::chrono::steady_clock::duration age) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  return static_cast<int>(std::clamp<std::int64_t>(seconds * 100, 1000, 5000));
}

}  // namespace

std::optional<std::string> Tasks::Create(const std::string& principal, Control control) {
  Task task;
  task.id = rpc::RandomHex(16);
  task.principal = principal;
  task.control = std::move(control);
  task.created = task.updated = NowText();
  const std::lock_guard lock(mutex_);
  Sweep();
  if (task.id.empty() || tasks_.size() >= kCountMax) return std::nullopt;
  std::string id = task.id;
  tasks_.emplace(id, std::move(task));
  return id;
}

void Tasks::Forget(const std::string& id) noexcept {
  const std::lock_guard lock(mutex_);
  tasks_.erase(id);
}

bool Tasks::IsOver(const Task& task) {
  return task.status != "working" && task.status != "input_required";
}

// A full list makes room by the tasks that have been over for longest.
void Tasks::Sweep() {
  const auto now = Clock::now();
  std::erase_if(tasks_, [now](const auto& entry) { return entry.second.ends < now; });
  if (tasks_.size() < kCountMax) return;
  auto oldest = tasks_.end();
  for (auto entry = tasks_.begin(); entry != tasks_.end(); ++entry) {
    const bool older = oldest == tasks_.end() || entry->second.ends < oldest->second.ends;
    if (IsOver(entry->second) && older) oldest = entry;
  }
  if (oldest != tasks_.end()) tasks_.erase(oldest);
}

Tasks::Task* Tasks::Find(const std::string& id) {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

Tasks::Task* Tasks::FindOf(const std::string& id, const std::string& principal) {
  Sweep();
  Task* task = Find(id);
  return task != nullptr && task->principal == principal ? task : nullptr;
}

void Tasks::Touch(Task& task, std::string status) {
  task.status = std::move(status);
  task.updated = NowText();
}

Json Tasks::Fields(const Task& task) {
  Json json = {
      {"taskId", task.id},
      {"status", task.status},
      {"createdAt", task.created},
      {"lastUpdatedAt", task.updated},
      {"ttlMs",
       std::chrono::duration_cast<std::chrono::milliseconds>(task.ends - task.began).count()},
      {"pollIntervalMs", PollMs(Clock::now() - task.began)}};
  if (!task.message.empty()) json["statusMessage"] = task.message;
  if (task.outcome.is_object()) json.update(task.outcome);
  if (task.status == "input_required") json["inputRequests"] = task.asked;
  return json;
}

Change Tasks::News(const Task& task) {
  return {Change::Kind::kTask, task.id, Fields(task), task.principal};
}

void Tasks::SetMessage(const std::string& id, std::string_view message) {
  const std::lock_guard lock(mutex_);
  Task* task = Find(id);
  if (task != nullptr && !IsOver(*task)) task->message = message;
}

void Tasks::Ask(const std::string& id, Json requests) {
  Change news;
  {
    const std::lock_guard lock(mutex_);
    Task* task = Find(id);
    if (task == nullptr || IsOver(*task)) return;
    if (task->cancelled) {
      Conclude(*task, "cancelled");
    } else {
      task->asked = std::move(requests);
      task->answers = Json::object();
      Touch(*task, "input_required");
    }
    news = News(*task);
  }
  changes_.Announce(news);
}

void Tasks::End(const std::string& id, std::string status, Json outcome) {
  Change news;
  {
    const std::lock_guard lock(mutex_);
    Task* task = Find(id);
    if (task == nullptr || IsOver(*task)) return;
    if (!task->cancelled) task->outcome = std::move(outcome);
    Conclude(*task, task->cancelled ? "cancelled" : std::move(status));
    news = News(*task);
  }
  changes_.Announce(news);
}

void Tasks::Conclude(Task& task, std::string status) {
  Touch(task, std::move(status));
  task.control = {};  // and with it the call
  task.ends = Clock::now() + kLifeAfterEnd;
}

void Tasks::Complete(const std::string& id, Json result) {
  Json outcome = Json::object();
  outcome["result"] = std::move(result);
  End(id, "completed", std::move(outcome));
}

void Tasks::Break(const std::string& id, const rpc::RpcError& error) {
  Json outcome = Json::object();
  outcome["error"] = rpc::MakeError(Json(), error).at("error");
  End(id, "failed", std::move(outcome));
}

std::optional<Json> Tasks::Describe(const std::string& id, const std::string& principal) {
  const std::lock_guard lock(mutex_);
  const Task* task = FindOf(id, principal);
  if (task == nullptr) return std::nullopt;
  return Fields(*task);
}

bool Tasks::Cancel(const std::string& id, const std::string& principal) {
  std::function<void()> stop;
  bool waits_for_client = false;
  {
    const std::lock_guard lock(mutex_);
    Task* task = FindOf(id, principal);
    if (task == nullptr) return false;
    if (IsOver(*task)) return true;
    task->cancelled = true;
    stop = task->control.stop;
    waits_for_client = task->status == "input_required";
  }
  if (stop) stop();
  if (waits_for_client) End(id, "cancelled", Json());
  return true;
}

bool Tasks::Update(const std::string& id, const std::string& principal, const Json& inputs) {
  std::function<void(Json)> go_on;
  Json answers;
  {
    const std::lock_guard lock(mutex_);
    Task* task = FindOf(id, principal);
    if (task == nullptr) return false;
    if (task->status != "input_required") return true;
    for (const auto& [key, answer] : inputs.items()) {
      if (task->asked.erase(key) > 0) task->answers[key] = answer;
    }
    if (!task->asked.empty()) return true;
    answers = std::exchange(task->answers, Json::object());
    go_on = task->control.go_on;
    Touch(*task, "working");
  }
  if (go_on) go_on(std::move(answers));
  return true;
}

void Tasks::StopAll() {
  std::vector<std::function<void()>> stops;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, task] : tasks_) {
      if (!IsOver(task) && task.control.stop) stops.push_back(task.control.stop);
    }
  }
  for (const auto& stop : stops)
    stop();
}

}  // namespace jarvis::mcp
