#include "mcp/http_sessions.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "rpc/base64.h"

namespace jarvis::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kSweepInterval(1000);

using Logs = std::map<std::uint64_t, std::shared_ptr<EventLog>>;

std::size_t BytesOf(const Logs& logs) {
  std::size_t bytes = 0;
  for (const auto& [number, log] : logs)
    bytes += log->bytes();
  return bytes;
}

// The oldest that nobody reads. False: there is none.
bool DropOneOf(Logs& logs) {
  const auto unread = std::find_if(logs.begin(), logs.end(),
                                   [](const auto& entry) { return !entry.second->HasReader(); });
  if (unread == logs.end()) return false;
  logs.erase(unread);
  return true;
}

}  // namespace

SessionTable::Hold SessionTable::Create(const std::string& principal,
                                        std::shared_ptr<Connection> connection) {
  const std::string id = rpc::RandomHex(16);
  if (id.empty()) return nullptr;
  std::shared_ptr<Session> oldest;
  Hold hold;
  {
    const std::lock_guard lock(mutex_);
    if (sessions_.size() >= limits_.count) {
      oldest = NextToGo();
      if (!oldest) return nullptr;
      Remove(oldest->id);
    }
    const auto session = std::make_shared<Session>(id, principal, std::move(connection));
    sessions_[id] = session;
    hold = Held(session);
  }
  if (oldest) Close(oldest);
  return hold;
}

std::shared_ptr<Session> SessionTable::NextToGo() const {
  std::map<std::string_view, std::size_t> sessions_of;
  for (const auto& [id, session] : sessions_)
    ++sessions_of[session->principal];
  std::shared_ptr<Session> next;
  for (const auto& [id, session] : sessions_) {
    if (!IsIdle(*session)) continue;
    const std::size_t own = sessions_of[session->principal];
    const std::size_t most = next ? sessions_of[next->principal] : 0;
    if (own > most || (own == most && session->last_use < next->last_use)) next = session;
  }
  return next;
}

SessionTable::Hold SessionTable::Find(const std::string& id, const std::string& principal) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second->principal != principal) return nullptr;
  return Held(found->second);
}

SessionTable::Hold SessionTable::Held(const std::shared_ptr<Session>& session) {
  ++session->users;
  return {session.get(), [this, session](Session*) {
            const std::lock_guard lock(mutex_);
            --session->users;
            session->last_use = steady_clock::now();
          }};
}

std::shared_ptr<Session> SessionTable::Remove(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return nullptr;
  std::shared_ptr<Session> session = std::move(found->second);
  sessions_.erase(found);
  return session;
}

void SessionTable::Close(const std::shared_ptr<Session>& session) {
  session->connection->StopCalls();
  if (session->stream) session->stream->Finish();
}

void SessionTable::End(const std::string& id) {
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    session = Remove(id);
    if (session && session->stream) session->stream->Finish();
  }
  if (session) session->connection->StopCalls();
}

void SessionTable::EndAll() {
  std::map<std::string, std::shared_ptr<Session>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(sessions_);
    for (auto& [id, session] : all) {
      if (session->stream) session->stream->Finish();
    }
  }
  for (auto& [id, session] : all)
    session->connection->StopCalls();
}

bool SessionTable::OpenStream(const Hold& session, const std::shared_ptr<Mailbox>& stream) {
  const std::lock_guard lock(mutex_);
  if (session->stream || !sessions_.contains(session->id)) return false;
  session->stream = stream;
  session->connection->SetNewsChannel(stream);
  return true;
}

void SessionTable::CloseStream(const Hold& session) {
  const std::lock_guard lock(mutex_);
  session->stream = nullptr;
}

std::shared_ptr<EventLog> SessionTable::OpenLog(const Hold& session,
                                                const std::shared_ptr<Mailbox>& mailbox,
                                                bool of_news) {
  const std::lock_guard lock(mutex_);
  auto& logs = session->logs;
  if (logs.size() >= limits_.logs) DropOneOf(logs);
  TrimLogsLocked();
  auto log = std::make_shared<EventLog>(++session->streams, mailbox, of_news);
  logs[session->streams] = log;
  return log;
}

void SessionTable::TrimLogs() {
  const std::lock_guard lock(mutex_);
  TrimLogsLocked();
}

void SessionTable::TrimLogsLocked() {
  std::size_t all = 0;
  std::multimap<std::size_t, Session*> by_bytes;
  for (const auto& [id, session] : sessions_) {
    std::size_t bytes = BytesOf(session->logs);
    while (bytes > limits_.session_log_bytes && DropOneOf(session->logs))
      bytes = BytesOf(session->logs);
    all += bytes;
    if (bytes > 0) by_bytes.emplace(bytes, session.get());
  }
  while (all > limits_.log_bytes && !by_bytes.empty()) {
    const auto most = std::prev(by_bytes.end());
    const auto [bytes, session] = *most;
    by_bytes.erase(most);
    if (!DropOneOf(session->logs)) continue;  // all of them are being read
    const std::size_t left = BytesOf(session->logs);
    all -= bytes - left;
    by_bytes.emplace(left, session);
  }
}

std::shared_ptr<EventLog> SessionTable::FindLog(const Hold& session, std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  const auto found = session->logs.find(stream);
  return found == session->logs.end() ? nullptr : found->second;
}

void SessionTable::Sweep() {
  std::vector<std::shared_ptr<Session>> expired;
  {
    const std::lock_guard lock(mutex_);
    const auto now = steady_clock::now();
    if (now - swept_ < std::min<milliseconds>(kSweepInterval, limits_.idle_time / 4)) return;
    swept_ = now;
    expired = TakeExpired();
  }
  for (const auto& session : expired)
    Close(session);
}

std::vector<std::shared_ptr<Session>> SessionTable::TakeExpired() {
  const auto now = steady_clock::now();
  std::vector<std::shared_ptr<Session>> expired;
  for (auto entry = sessions_.begin(); entry != sessions_.end();) {
    Session& session = *entry->second;
    std::erase_if(session.logs, [now](const auto& log) { return log.second->IsStale(now); });
    if (IsIdle(session) && now - session.last_use > limits_.idle_time) {
      expired.push_back(std::move(entry->second));
      entry = sessions_.erase(entry);
    } else {
      ++entry;
    }
  }
  return expired;
}

bool SessionTable::IsIdle(const Session& session) {
  return session.users == 0 && session.connection->WaitIdle(milliseconds(0));
}

}  // namespace jarvis::mcp
