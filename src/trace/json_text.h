// Small pieces of raw JSON text, as they stand in a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace jarvis::trace {

// The text between a JSON string's quotes, with its escapes resolved. A lone surrogate becomes
// U+FFFD, an unknown escape stays as it is: text from a trace is never a reason to fail.
std::string Unescape(std::string_view raw);

// At most so many bytes of the beginning, whole characters and escapes, and a mark by which
// different texts stay different. REQUIRES: it is longer. `raw` is as Unescape takes it, and so is
// the result, which needs no escapes besides.
std::string CutName(std::string_view raw, std::size_t bytes_max);

// `text` as the inside of a JSON string.
std::string Escape(std::string_view text);

// A string token without its quotes, else the token itself.
constexpr std::string_view Unquoted(std::string_view token) {
  token = Trim(token);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    return token.substr(1, token.size() - 2);
  }
  return token;
}

// A JSON number, or a number in quotes, as an integer. A fraction is cut off.
std::optional<std::int64_t> IntegerOf(std::string_view token);

// A time in microseconds, a number or a number in quotes, in nanoseconds.
struct TimeValue {
  std::int64_t ns = 0;
  double us = 0;      // only if not exact
  bool exact = true;  // false: the text has digits below a nanosecond
  bool quoted = false;
};
std::optional<TimeValue> TimeOf(std::string_view token);
// Whether a token that is no TimeOf is a number all the same, and too large for one.
bool IsHugeTime(std::string_view token);

// Raw JSON members ("key": value, "key": value,): the raw value of one key, or empty.
std::string_view MemberOf(std::string_view members, std::string_view key);

// The raw elements of a JSON list; empty if the text is no list.
std::vector<std::string_view> ElementsOf(std::string_view list);

}  // namespace jarvis::trace
