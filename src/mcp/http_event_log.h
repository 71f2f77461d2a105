// The events of one stream of a session, numbered, so that a client whose connection broke can come
// back for those that it has not seen. The stream's messages come out of its mailbox; whoever
// writes to the client takes them through the log.
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/http_mailbox.h"

namespace jarvis::mcp {

// "3-17": the 17th event of stream 3.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t event = 0;
};
std::optional<EventId> ParseEventId(std::string_view text);

class EventLog {
 public:
  static constexpr std::size_t kEventsMax = 1000;  // the oldest go first
  // Of events that somebody has collected; the last is kept whatever its size.
  static constexpr std::size_t kBytesMax = std::size_t{4} << 20;
  static constexpr std::chrono::seconds kKept{60};  // after the end, or without a reader

  EventLog(std::uint64_t stream, std::shared_ptr<Mailbox> mailbox, bool of_news)
      : stream_(stream), of_news_(of_news), mailbox_(std::move(mailbox)) {}

  bool of_news() const { return of_news_; }

  // From now on the caller writes to the client, and nobody who did before; until its Leave() the
  // mailbox stays awake. Null: there are no descriptors left.
  std::optional<std::uint64_t> TakeOver();
  bool IsWriter(std::uint64_t turn) const;
  // Once for each TakeOver().
  void Leave();

  // Its descriptor is readable when there is something to collect. Null: there never will be.
  std::shared_ptr<Mailbox> mailbox() const;
  // What somebody has taken out of the mailbox before.
  void Put(const Mailbox::Mail& mail);
  // Moves what the mailbox holds into the log.
  struct Batch {
    std::vector<std::string> events;  // after `seen`, as they go on the wire
    std::uint64_t seen = 0;           // now
    bool over = false;                // the last event is among them or was before
    bool hang_up = false;             // the connection is to be closed after them
  };
  Batch Collect(std::uint64_t seen);

  // Nobody will come back for it.
  bool IsStale(std::chrono::steady_clock::time_point now) const;
  bool HasReader() const;
  // Of the events that are kept.
  std::size_t bytes() const;

 private:
  std::string Text(std::uint64_t number, std::string_view data) const;
  void Append(std::string_view data);         // REQUIRES: mutex_ held
  void DropOldest();                          // REQUIRES: mutex_ held
  void PutLocked(const Mailbox::Mail& mail);  // REQUIRES: mutex_ held

  const std::uint64_t stream_;
  const bool of_news_;
  mutable std::mutex mutex_;
  std::shared_ptr<Mailbox> mailbox_;  // null: over
  std::deque<std::string> events_;    // the last of them has the number count_
  std::size_t bytes_ = 0;             // of them
  std::uint64_t count_ = 0;
  std::uint64_t turn_ = 0;
  // The one who writes, and those before it who have not found out yet.
  std::size_t readers_ = 0;
  bool hang_up_ = false;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace jarvis::mcp
