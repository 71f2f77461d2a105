#include "mcp/http_event_log.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace jarvis::mcp {
namespace {

// How long a client waits before it comes back.
constexpr std::string_view kRetry = "retry: 1000\n";

}  // namespace

std::optional<EventId> ParseEventId(std::string_view text) {
  EventId id;
  const char* const end = text.data() + text.size();
  const auto stream = std::from_chars(text.data(), end, id.stream);
  if (stream.ec != std::errc() || stream.ptr == end || *stream.ptr != '-') return std::nullopt;
  const auto event = std::from_chars(stream.ptr + 1, end, id.event);
  if (event.ec != std::errc() || event.ptr != end) return std::nullopt;
  return id;
}

std::optional<std::uint64_t> EventLog::TakeOver() {
  const std::lock_guard lock(mutex_);
  if (mailbox_) {
    // The one before may have left, and put it to sleep, since the caller found the log.
    if (!mailbox_->Rouse()) return std::nullopt;
    // The one before finds out that it is no longer the writer.
    mailbox_->Wake();
  }
  ++readers_;
  return ++turn_;
}

bool EventLog::IsWriter(std::uint64_t turn) const {
  const std::lock_guard lock(mutex_);
  return turn == turn_;
}

void EventLog::Leave() {
  const std::lock_guard lock(mutex_);
  if (--readers_ > 0) {
    // What this one has collected is for another, or another is to find out.
    if (mailbox_) mailbox_->Wake();
    return;
  }
  if (mailbox_) mailbox_->Sleep();
  since_ = std::chrono::steady_clock::now();
}

std::shared_ptr<Mailbox> EventLog::mailbox() const {
  const std::lock_guard lock(mutex_);
  return mailbox_;
}

std::string EventLog::Text(std::uint64_t number, std::string_view data) const {
  std::string text = "id: " + std::to_string(stream_) + "-" + std::to_string(number) + "\n";
  if (data.empty()) {
    text += kRetry;
  } else {
    text += "event: message\n";
  }
  text += "data: ";
  text += data;
  return text + "\n\n";
}

void EventLog::Append(std::string_view data) {
  events_.push_back(Text(++count_, data));
  bytes_ += events_.back().size();
  if (events_.size() > kEventsMax) DropOldest();
}

void EventLog::DropOldest() {
  bytes_ -= events_.front().size();
  events_.pop_front();
}

void EventLog::Put(const Mailbox::Mail& mail) {
  const std::lock_guard lock(mutex_);
  PutLocked(mail);
}

void EventLog::PutLocked(const Mailbox::Mail& mail) {
  if (count_ == 0) Append({});  // an id from the start, so that any break can be mended
  for (const Json& message : mail.notifications)
    Append(DumpLine(message));
  if (!mail.answer.is_null()) Append(DumpLine(mail.answer));
  hang_up_ = hang_up_ || mail.hang_up;
  if (mail.over) mailbox_ = nullptr;
}

EventLog::Batch EventLog::Collect(std::uint64_t seen) {
  const std::lock_guard lock(mutex_);
  PutLocked(mailbox_ ? mailbox_->Take() : Mailbox::Mail{});
  Batch batch;
  batch.hang_up = std::exchange(hang_up_, false);
  const std::uint64_t first = count_ - events_.size() + 1;
  for (std::uint64_t number = std::max(first, seen + 1); number <= count_; ++number)
    batch.events.push_back(events_[number - first]);
  batch.seen = count_;
  while (bytes_ > kBytesMax && events_.size() > 1)
    DropOldest();
  batch.over = mailbox_ == nullptr;
  return batch;
}

bool EventLog::IsStale(std::chrono::steady_clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return readers_ == 0 && now - since_ > kKept;
}

bool EventLog::HasReader() const {
  const std::lock_guard lock(mutex_);
  return readers_ > 0;
}

std::size_t EventLog::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace jarvis::mcp
