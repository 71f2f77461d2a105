// The args of one event as EventStore keeps those that no analysis asks for: `"key": value,` pairs
// in the order in which they are added.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

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

}  // namespace jarvis::trace
