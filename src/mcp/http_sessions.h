// The sessions of clients that start with a handshake: between two HTTP requests nothing else says
// that they come from one client.
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mcp/connection.h"
#include "mcp/http_event_log.h"
#include "mcp/http_mailbox.h"

namespace jarvis::mcp {

struct SessionLimits {
  std::size_t count = 256;
  std::size_t logs = 64;  // of a session
  // Of the events that logs keep. Beyond these, logs that nobody reads go: the session's own
  // oldest; of all sessions, first those of the one that has most.
  std::size_t session_log_bytes = std::size_t{16} << 20;
  std::size_t log_bytes = std::size_t{128} << 20;
  std::chrono::milliseconds idle_time{3'600'000};  // without a request, a stream or a call
};

class Session {
 public:
  Session(std::string name, std::string owner, std::shared_ptr<Connection> client)
      : id(std::move(name)), principal(std::move(owner)), connection(std::move(client)) {}

  const std::string id;
  const std::string principal;  // whose token made it; nobody else's opens it
  const std::shared_ptr<Connection> connection;
  std::mutex accepting;  // Connection::Accept is called by one thread at a time

 private:
  friend class SessionTable;
  // Guarded by the table.
  std::chrono::steady_clock::time_point last_use = std::chrono::steady_clock::now();
  std::size_t users = 0;            // requests that are being answered
  std::shared_ptr<Mailbox> stream;  // of GET
  std::map<std::uint64_t, std::shared_ptr<EventLog>> logs;
  std::uint64_t streams = 0;  // that had a log
};

class SessionTable {
 public:
  explicit SessionTable(const SessionLimits& limits) : limits_(limits) {}
  ~SessionTable() { EndAll(); }

  // A request's hold on its session. While one exists the session does not expire.
  using Hold = std::shared_ptr<Session>;

  // When full, the oldest idle session makes room, of the principal that has most sessions: many of
  // one token take nobody else's. Null: no session is idle; or there is no source of random
  // numbers.
  Hold Create(const std::string& principal, std::shared_ptr<Connection> connection);
  // Null: unknown, ended, expired, or somebody else's.
  Hold Find(const std::string& id, const std::string& principal);
  // Stops its calls and ends its stream.
  void End(const std::string& id);
  void EndAll();
  // The one stream of a session. False: it has one.
  bool OpenStream(const Hold& session, const std::shared_ptr<Mailbox>& stream);
  void CloseStream(const Hold& session);
  // A log of what the mailbox gets. The oldest that nobody reads makes room.
  std::shared_ptr<EventLog> OpenLog(const Hold& session, const std::shared_ptr<Mailbox>& mailbox,
                                    bool of_news);
  // Holds the logs to their limits; after one has grown.
  void TrimLogs();
  // Null: unknown, too long ago, or dropped for want of room.
  std::shared_ptr<EventLog> FindLog(const Hold& session, std::uint64_t stream);
  // Ends those whose time is over; looks for them once in a while however often it is called.
  void Sweep();

 private:
  Hold Held(const std::shared_ptr<Session>& session);  // REQUIRES: mutex_ held
  // The one that makes room for another; null: none is idle. REQUIRES: mutex_ held
  std::shared_ptr<Session> NextToGo() const;
  // Takes it out of the table. REQUIRES: mutex_ held
  std::shared_ptr<Session> Remove(const std::string& id);
  static void Close(const std::shared_ptr<Session>& session);
  std::vector<std::shared_ptr<Session>> TakeExpired();  // REQUIRES: mutex_ held
  void TrimLogsLocked();                                // REQUIRES: mutex_ held
  static bool IsIdle(const Session& session);

  const SessionLimits limits_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Session>> sessions_;
  std::chrono::steady_clock::time_point swept_{};
};

}  // namespace jarvis::mcp
