// The args of one event as EventStore keeps those that no analysis asks for: `"key": value,` pairs
// in the order in which they are added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"

namespace jarvis::trace {

class ArgsText {
 public:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

  void Clear() { text_.clear(); }
  // A value of kNone is left out, and a list of nothing else.
  void Add(std::string_view key, std::int64_t value);
  void AddUnsigned(std::string_view key, std::uint64_t value);
  void AddList(std::string_view key, std::int64_t x, std::int64_t y, std::int64_t z);
  void AddNumber(std::string_view key, double value);
  void AddText(std::string_view key, std::string_view value);
  // Bytes, and what they make of the time that they took.
  void AddBytes(std::int64_t bytes, std::int64_t dur_ns);

  const std::string& text() const { return text_; }

 private:
  void Key(std::string_view key);
  std::string text_;
};

// What was made of numbers, kept for equal ones that follow closely.
template <std::size_t kWidth>
class MadeTexts {
 public:
  using Key = std::array<std::int64_t, kWidth>;
  // make() gives the text of the key where it is not kept.
  template <typename Make>
  StringId Of(const Key& key, const Make& make) {
    if (made_.empty()) made_.resize(kMade);
    std::uint64_t hash = 0;
    for (const std::int64_t value : key)
      hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15ull + (hash >> 29);
    Made& made = made_[(hash >> 32) % kMade];
    if (made.text == kNoString || made.key != key) made = {key, make()};
    return made.text;
  }

 private:
  static constexpr std::size_t kMade = 1024;
  struct Made {
    Key key;
    StringId text = kNoString;
  };
  std::vector<Made> made_;
};

}  // namespace jarvis::trace
