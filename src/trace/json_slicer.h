// Cuts a stream of JSON text of any size into runs of whole events.
//
// The text of the traceEvents array is never parsed here: only quotes, braces and the array's end
// are looked at, 64 bytes at a time. Other top-level values are collected whole. What is no trace
// (no object, no array) is noticed at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/oddities.h"

namespace jarvis::trace {

// Finds the ends of objects in text that starts between two objects of one array.
class EventScanner {
 public:
  enum class State : std::uint8_t { kBetween, kInside, kSkipping, kArrayEnd };

  // Scans text[from..]; `text` must be the same buffer as before, longer. Stops at the array's end.
  void Scan(std::string_view text, std::size_t from);

  State state() const { return state_; }
  std::size_t events_end() const { return events_end_; }  // past the last whole element
  std::size_t array_end() const { return array_end_; }    // of the ']' when kArrayEnd
  std::uint64_t elements() const { return elements_; }    // whole ones so far
  // The buffer's first `bytes` bytes are gone, and so are the elements counted so far.
  void Drop(std::size_t bytes);

 private:
  std::size_t Between(std::string_view text, std::size_t at);
  std::size_t Inside(std::string_view text, std::size_t at);
  std::size_t Skip(std::string_view text, std::size_t at);
  bool Braces(std::uint64_t opens, std::uint64_t closes, std::string_view text, std::size_t at,
              std::size_t* next);
  void ElementEnds(std::size_t end) {
    events_end_ = end;
    ++elements_;
    state_ = State::kBetween;
  }

  State state_ = State::kBetween;
  std::size_t events_end_ = 0;
  std::size_t array_end_ = 0;
  std::uint64_t elements_ = 0;
  std::int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

struct TopLevelValue {
  std::string key;
  std::string json;
};

// The whole document: top-level members, and the text of traceEvents in slices.
class JsonSlicer {
 public:
  struct Slice {
    std::string_view text;        // whole elements, separated by commas
    std::uint64_t first_element;  // position of the first in traceEvents
    std::uint64_t elements;
  };

  // `buffer` starts with what the last call did not consume. Afterwards `consumed()` bytes at its
  // front are done with, and `slice()` lies among them (empty: no whole element yet). Call again
  // with the rest, and more, until the input ends.
  Status Feed(std::string_view buffer);
  // Before the first call: the text to come lies behind so many elements of traceEvents.
  void ResumeInEvents(std::uint64_t elements, bool bare_array);
  const Slice& slice() const { return slice_; }
  std::size_t consumed() const { return consumed_; }
  bool inside_events() const { return phase_ == Phase::kEvents; }

  // At the end of the input: whether the document was complete.
  bool complete() const { return phase_ == Phase::kDone; }
  bool started() const { return phase_ != Phase::kStart; }
  bool seen_events() const { return seen_events_; }
  bool bare_array() const { return bare_array_; }
  bool text_after_end() const { return text_after_end_; }
  std::uint64_t elements() const { return elements_; }
  // Text of an event that the input ended inside of.
  bool inside_element() const {
    return phase_ == Phase::kEvents && scanner_.state() != EventScanner::State::kBetween;
  }
  std::vector<TopLevelValue>& values() { return values_; }
  // Members beyond limits::kMetadataBytesAllMax, which are not among values().
  std::uint64_t values_left_out() const { return values_left_out_; }

 private:
  enum class Phase : std::uint8_t {
    kStart,
    kKeyOrEnd,
    kKey,
    kColon,
    kValueStart,
    kValue,
    kEvents,
    kDone
  };

  Status Outside(std::string_view buffer, std::size_t* at);
  Status StartChar(char c);
  void ValueChar(char c);
  void EndValue(char c);
  void Events(std::string_view buffer, std::size_t start, std::size_t at);

  Phase phase_ = Phase::kStart;
  EventScanner scanner_;
  Slice slice_{};
  std::size_t consumed_ = 0;
  std::size_t scanned_ = 0;  // of the next buffer's front
  std::uint64_t elements_ = 0;
  std::uint64_t position_ = 0;  // in the whole text, for messages
  bool seen_events_ = false;
  bool bare_array_ = false;
  bool text_after_end_ = false;

  // Of the member being read.
  std::string key_;
  std::string value_;
  std::int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  std::vector<TopLevelValue> values_;
  std::size_t values_bytes_ = 0;
  std::uint64_t values_left_out_ = 0;
};

}  // namespace jarvis::trace
