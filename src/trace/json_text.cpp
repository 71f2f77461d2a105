#include "trace/json_text.h"

#include <cmath>

#include <fmt/format.h>

#include "base/string_pool.h"

namespace jarvis::trace {
namespace {

void AppendUtf8(std::uint32_t code, std::string* out) {
  const auto put = [&](std::uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// Four hex digits at text[at], or nothing.
std::optional<std::uint32_t> Hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const char c = text[i];
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
    } else {
      return std::nullopt;
    }
    value = value * 16 + digit;
  }
  return value;
}

// The character of an escape \uXXXX whose digits start at `at`; moves `at` past it.
std::uint32_t UnicodeEscape(std::string_view raw, std::uint32_t first, std::size_t* at) {
  *at += 4;
  if (first >= 0xD800 && first < 0xDC00 && raw.substr(*at, 2) == "\\u") {
    const std::optional<std::uint32_t> second = Hex4(raw, *at + 2);
    if (second && *second >= 0xDC00 && *second < 0xE000) {
      *at += 6;
      return 0x10000 + ((first - 0xD800) << 10) + (*second - 0xDC00);
    }
  }
  return first >= 0xD800 && first < 0xE000 ? 0xFFFD : first;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Microseconds of which three still fit 63 bits as nanoseconds: a window goes from a start below
// zero to the end of an event, at most three times this. As a date: the year 2065.
constexpr std::int64_t kMicrosMax = 3'000'000'000'000'000;

// What the fast path of TimeOf cannot say: exponents, digits below a nanosecond, long numbers.
std::optional<TimeValue> SlowTimeOf(std::string_view text, bool quoted) {
  const std::optional<double> us = ParseDouble(text);
  if (!us || !(std::abs(*us) <= static_cast<double>(kMicrosMax))) return std::nullopt;
  TimeValue value;
  value.ns = std::llround(static_cast<long double>(*us) * 1000.0L);
  value.us = *us;
  value.exact = false;
  value.quoted = quoted;
  return value;
}

}  // namespace

std::string Unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] != '\\' || at + 1 == raw.size()) {
      out.push_back(raw[at++]);
      continue;
    }
    const char c = raw[at + 1];
    at += 2;
    switch (c) {
      case 'n': out.push_back('\n'); break;
      case 't': out.push_back('\t'); break;
      case 'r': out.push_back('\r'); break;
      case 'b': out.push_back('\b'); break;
      case 'f': out.push_back('\f'); break;
      case '"':
      case '\\':
      case '/': out.push_back(c); break;
      case 'u':
        if (const std::optional<std::uint32_t> code = Hex4(raw, at)) {
          AppendUtf8(UnicodeEscape(raw, *code, &at), &out);
          break;
        }
        [[fallthrough]];
      default: out.push_back('\\'); out.push_back(c);
    }
  }
  return out;
}

std::string CutName(std::string_view raw, std::size_t bytes_max) {
  std::size_t end = 0;
  while (end < bytes_max) {
    std::size_t next = raw[end] != '\\' ? end + 1 : end + (raw[end + 1] == 'u' ? 6 : 2);
    if (next > bytes_max) break;
    end = next;
  }
  return fmt::format("{}…#{:016x}", Utf8Prefix(raw, end), HashText(raw));
}

std::string Escape(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::optional<std::int64_t> IntegerOf(std::string_view token) {
  const std::string_view text = Unquoted(token);
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++at;
  const std::size_t first = at;
  std::int64_t value = 0;
  while (at < text.size() && IsDigit(text[at]) && at - first < 18)
    value = value * 10 + (text[at++] - '0');
  if (at == first) return std::nullopt;
  if (at == text.size()) return negative ? -value : value;
  if (const auto whole = ParseInt(text)) return whole;
  const std::optional<double> number = ParseDouble(text);
  if (!number || !(std::abs(*number) < 9e18)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<TimeValue> TimeOf(std::string_view token) {
  TimeValue value;
  value.quoted = !token.empty() && token.front() == '"';
  const std::string_view text = value.quoted ? Trim(Unquoted(token)) : token;
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++at;
  const std::size_t first = at;
  std::int64_t us = 0;
  while (at < text.size() && IsDigit(text[at])) {
    if (at - first >= 16) return SlowTimeOf(Trim(text), value.quoted);
    us = us * 10 + (text[at++] - '0');
  }
  if (at == first) return std::nullopt;
  if (us > kMicrosMax) return std::nullopt;
  std::int64_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    int digits = 0;
    for (; at < text.size() && IsDigit(text[at]); ++at, ++digits) {
      if (digits < 3) {
        fraction = fraction * 10 + (text[at] - '0');
      } else if (text[at] != '0') {
        return SlowTimeOf(Trim(text), value.quoted);
      }
    }
    for (; digits < 3; ++digits)
      fraction *= 10;
  }
  while (at < text.size() &&
         (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
    ++at;
  if (at != text.size()) return SlowTimeOf(Trim(text), value.quoted);
  value.ns = us * 1000 + fraction;
  if (negative) value.ns = -value.ns;
  return value;
}

bool IsHugeTime(std::string_view token) {
  const std::optional<double> us = ParseDouble(Trim(Unquoted(token)));
  return us && *us > static_cast<double>(kMicrosMax);
}

std::string_view MemberOf(std::string_view members, std::string_view key) {
  std::size_t at = 0;
  const auto skip_string = [&] {
    for (++at; at < members.size() && members[at] != '"'; ++at) {
      if (members[at] == '\\') ++at;
    }
    ++at;
  };
  while (at < members.size()) {
    while (at < members.size() && members[at] != '"')
      ++at;
    const std::size_t key_start = at + 1;
    if (key_start >= members.size()) return {};
    skip_string();
    const std::string_view found = members.substr(key_start, at - 1 - key_start);
    while (at < members.size() && members[at] != ':')
      ++at;
    ++at;
    const std::size_t value_start = at;
    int depth = 0;
    while (at < members.size() && (depth > 0 || members[at] != ',')) {
      const char c = members[at];
      if (c == '"') {
        skip_string();
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      ++at;
    }
    if (found == key) {
      return Trim(members.substr(std::min(value_start, members.size()),
                                 at > value_start ? at - value_start : 0));
    }
    ++at;
  }
  return {};
}

std::vector<std::string_view> ElementsOf(std::string_view list) {
  list = Trim(list);
  std::vector<std::string_view> elements;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return elements;
  const std::string_view inside = list.substr(1, list.size() - 2);
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < inside.size(); ++at) {
    const char c = inside[at];
    if (c == '"') {
      for (++at; at < inside.size() && inside[at] != '"'; ++at) {
        if (inside[at] == '\\') ++at;
      }
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      elements.push_back(Trim(inside.substr(start, at - start)));
      start = at + 1;
    }
  }
  const std::string_view last = Trim(inside.substr(start));
  if (!last.empty() || !elements.empty()) elements.push_back(last);
  return elements;
}

}  // namespace jarvis::trace
