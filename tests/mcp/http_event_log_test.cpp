// How much of what streams have sent is kept for clients that come back.
#include "mcp/http_event_log.h"

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "mcp/http_sessions.h"
#include "mcp_support.h"

namespace jarvis::mcp {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

Json BigMessage(std::size_t bytes) {
  return {
      {"jsonrpc", "2.0"}, {"method", "notifications/message"}, {"params", std::string(bytes, 'x')}};
}

TEST_CASE("a log keeps its last events up to a number of bytes, after they were collected") {
  const auto mailbox = Mailbox::Make();
  REQUIRE(mailbox);
  EventLog log(1, mailbox, false);
  Mailbox::Mail mail;
  for (int i = 0; i < 10; ++i)
    mail.notifications.push_back(BigMessage(kMebibyte));
  log.Put(mail);
  // Whoever writes to the client gets all of it; what is kept is for those who come back.
  CHECK(log.Collect(0).events.size() == 11);
  CHECK(log.bytes() <= EventLog::kBytesMax);
  const std::size_t kept = log.Collect(0).events.size();
  CHECK(kept >= 2);
  CHECK(kept <= 4);
  // The last stays, whatever its size: it may be the answer.
  Mailbox::Mail answer;
  answer.answer = BigMessage(8 * kMebibyte);
  log.Put(answer);
  CHECK(log.Collect(0).events.size() > 1);
  CHECK(log.Collect(0).events.size() == 1);
}

TEST_CASE("whoever left a stream does not put its mailbox to sleep under the next") {
  const auto mailbox = Mailbox::Make();
  REQUIRE(mailbox);
  EventLog log(1, mailbox, false);
  const auto first = log.TakeOver();
  REQUIRE(first);
  const auto second = log.TakeOver();
  REQUIRE(second);
  CHECK_FALSE(log.IsWriter(*first));
  CHECK(log.IsWriter(*second));
  log.Leave();
  CHECK(mailbox->wake_fd() >= 0);
  CHECK(log.HasReader());
  log.Leave();
  CHECK_FALSE(log.HasReader());
}

TEST_CASE("a reader that found the log before the one before left has a descriptor") {
  const auto mailbox = Mailbox::Make();
  REQUIRE(mailbox);
  EventLog log(1, mailbox, false);
  REQUIRE(log.TakeOver());
  REQUIRE(log.mailbox()->Rouse());  // it comes back
  log.Leave();                      // only now does the one before notice
  REQUIRE(log.TakeOver());
  CHECK(mailbox->wake_fd() >= 0);
  log.Leave();
}

struct Table {
  Gate gate;
  Server server{{TestTools(gate)}, TestInfo()};
  MemoryClient client{server};
  SessionTable sessions;

  explicit Table(const SessionLimits& limits) : sessions(limits) {}
  SessionTable::Hold Make() {
    const auto hold = sessions.Create("somebody", client.connection);
    REQUIRE(hold);
    return hold;
  }
  // A stream that was read to its end; its number.
  std::uint64_t Stream(const SessionTable::Hold& session, std::size_t bytes, bool leave = true) {
    const auto mailbox = Mailbox::Make();
    REQUIRE(mailbox);
    const auto log = sessions.OpenLog(session, mailbox, false);
    REQUIRE(log->TakeOver());
    Mailbox::Mail mail;
    mail.answer = BigMessage(bytes);
    mail.over = true;
    log->Put(mail);
    log->Collect(0);
    if (leave) log->Leave();
    sessions.TrimLogs();
    return ++streams_[session->id];
  }

 private:
  std::map<std::string, std::uint64_t> streams_;
};

TEST_CASE("the logs of a session have a limit of bytes, and the oldest go first") {
  Table table({.session_log_bytes = 3 * kMebibyte});
  const auto session = table.Make();
  const auto read = table.Stream(session, 2 * kMebibyte, /*leave=*/false);
  const auto first = table.Stream(session, kMebibyte / 2);
  const auto second = table.Stream(session, kMebibyte / 4);
  CHECK(table.sessions.FindLog(session, first));
  const auto third = table.Stream(session, kMebibyte / 2);
  CHECK(table.sessions.FindLog(session, read));  // somebody has it
  CHECK_FALSE(table.sessions.FindLog(session, first));
  CHECK(table.sessions.FindLog(session, second));
  CHECK(table.sessions.FindLog(session, third));
}

TEST_CASE("the logs of all sessions have a limit of bytes, and those of the largest go first") {
  Table table({.log_bytes = 6 * kMebibyte});
  const auto modest = table.Make();
  const auto greedy = table.Make();
  const auto own = table.Stream(modest, kMebibyte);
  std::uint64_t last = 0;
  for (int i = 0; i < 10; ++i)
    last = table.Stream(greedy, kMebibyte);
  CHECK(table.sessions.FindLog(modest, own));
  CHECK(table.sessions.FindLog(greedy, last));
  CHECK_FALSE(table.sessions.FindLog(greedy, 1));
}

}  // namespace
}  // namespace jarvis::mcp
