#include "bench/event_windows.h"

#include <utility>

namespace jarvis::bench {
namespace {

constexpr std::size_t kPadding = 64;  // what simdjson may read behind a document
constexpr std::string_view kEventsKey = "traceEvents";

}  // namespace

EventWindows::EventWindows(std::size_t window_bytes, WindowVisitor visitor)
    : window_bytes_(window_bytes), visitor_(std::move(visitor)) {
  text_.reserve(window_bytes + (std::size_t{2} << 20));
}

void EventWindows::ScanStructural(char c, std::size_t at) {
  if (c == '{' || c == '[') {
    if (depth_ == 0 && c == '[') {
      top_is_list_ = true;
      event_list_depth_ = 1;
    }
    ++depth_;
    if (depth_ == 2 && c == '[' && key_is_events_) event_list_depth_ = 2;
    key_is_events_ = false;
  } else if (c == '}' || c == ']') {
    if (depth_ == event_list_depth_) list_ended_ = true;
    --depth_;
  } else if (c == ',') {
    if (depth_ == 1) key_is_events_ = false;
    if (depth_ == event_list_depth_ && !list_ended_) cut_ = at;
  }
}

void EventWindows::Scan() {
  for (; scanned_ < text_.size(); ++scanned_) {
    const char c = text_[scanned_];
    if (escaped_) {
      escaped_ = false;
    } else if (in_string_) {
      if (c == '\\') escaped_ = true;
      if (c != '"') continue;
      in_string_ = false;
      if (depth_ == 1)
        key_is_events_ =
            std::string_view(text_).substr(string_begin_, scanned_ - string_begin_) == kEventsKey;
    } else if (c == '"') {
      in_string_ = true;
      string_begin_ = scanned_ + 1;
    } else {
      ScanStructural(c, scanned_);
    }
  }
}

void EventWindows::Emit(std::string_view suffix) {
  text_ += suffix;
  const std::size_t size = text_.size();
  text_.append(kPadding, ' ');
  visitor_(std::string_view(text_).substr(0, size), text_.size());
}

void EventWindows::Add(std::string_view bytes) {
  text_ += bytes;
  Scan();
  if (text_.size() < window_bytes_ || cut_ == 0) return;
  const std::string rest = text_.substr(cut_ + 1);
  text_.resize(cut_);
  Emit(top_is_list_ ? "]" : "]}");
  text_.assign(top_is_list_ ? "[" : "{\"traceEvents\":[");
  text_ += rest;
  // The rest has been scanned already. string_begin_ is stale now, but it matters only outside of
  // the list.
  scanned_ = text_.size();
  cut_ = 0;
}

void EventWindows::Finish() {
  if (!text_.empty()) Emit("");
  text_.clear();
}

}  // namespace jarvis::bench
