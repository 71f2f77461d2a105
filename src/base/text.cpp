#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

namespace jarvis {
namespace {

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Bytes of the valid UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool outside = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
  return overlong || outside ? 0 : length;
}

// A byte inside a UTF-8 character, not its first.
bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// How many bytes at the start of a text are one control character, of ASCII, of Latin 1 (U+0080 to
// U+009F), a line end of Unicode's, or one that turns the direction of writing; 0: none.
std::size_t ControlBytes(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return 2;
  if (byte(0) == 0xD8 && byte(1) == 0x9C) return 2;  // U+061C
  if (byte(0) != 0xE2) return 0;
  const unsigned third = byte(2);
  // U+200E, U+200F, U+2028 to U+202E
  if (byte(1) == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xA8 && third <= 0xAE)))
    return 3;
  // U+2066 to U+2069
  return byte(1) == 0x81 && third >= 0xA6 && third <= 0xA9 ? 3 : 0;
}

bool EqualsLower(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(),
                    [](char a, char b) { return Lower(a) == b; });
}

}  // namespace

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    c = Lower(c);
  return lower;
}

std::string UpperAscii(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

bool ContainsNoCase(std::string_view text, std::string_view lower_part) {
  if (lower_part.empty()) return true;
  if (text.size() < lower_part.size()) return false;
  // The next places of the first character, as it is and in upper case: the library finds one
  // character many times as fast as a loop does.
  const char* const last = text.data() + (text.size() - lower_part.size());
  const auto next = [&](char c, const char* from) {
    const void* found =
        from > last ? nullptr : std::memchr(from, c, static_cast<std::size_t>(last - from) + 1);
    return found == nullptr ? last + 1 : static_cast<const char*>(found);
  };
  const char lower = lower_part.front();
  const char upper = lower >= 'a' && lower <= 'z' ? static_cast<char>(lower - 'a' + 'A') : lower;
  const char* at_lower = next(lower, text.data());
  const char* at_upper = upper == lower ? last + 1 : next(upper, text.data());
  while (at_lower <= last || at_upper <= last) {
    const char*& at = at_lower < at_upper ? at_lower : at_upper;
    if (EqualsLower({at, lower_part.size()}, lower_part)) return true;
    at = next(*at, at + 1);
  }
  return false;
}

bool EqualsNoCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string WithoutEmphasis(std::string text) {
  for (std::size_t at = text.find("**"); at != std::string::npos; at = text.find("**", at))
    text.erase(at, 2);
  return text;
}

std::string Enumerated(std::span<const std::string> parts, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " " + std::string(last) + " " : ", ";
    text += parts[i];
  }
  return text;
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> candidates) {
  return std::find(candidates.begin(), candidates.end(), text) != candidates.end();
}

bool NaturallyBefore(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && digit(text[end]))
      ++end;
    while (at + 1 < end && text[at] == '0')
      ++at;
    return text.substr(at, end - at);
  };
  const auto after = [&](std::string_view text, std::size_t at) {
    while (at < text.size() && digit(text[at]))
      ++at;
    return at;
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const std::string_view x = number(a, i);
      const std::string_view y = number(b, j);
      if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
      i = after(a, i);
      j = after(b, j);
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // "a01" and "a1" are not the same name
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  return ParseWhole<std::int64_t>(text);
}
std::optional<double> ParseDouble(std::string_view text) {
  return ParseWhole<double>(text);
}

std::optional<std::string_view> Closest(std::string_view text,
                                        std::span<const std::string_view> candidates) {
  std::optional<std::string_view> best;
  std::size_t best_distance = std::max<std::size_t>(2, text.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = EditDistance(text, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string OneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = ControlBytes(text.substr(at));
    line += bytes == 0 ? text[at] : ' ';
    at += std::max<std::size_t>(bytes, 1);
  }
  return line;
}

std::string Shortened(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view kEllipsis = "...";
  if (text.size() <= bytes_max) return std::string(text);
  if (bytes_max <= kEllipsis.size()) return std::string(kEllipsis.substr(0, bytes_max));
  const std::size_t room = bytes_max - kEllipsis.size();
  std::string shown(Utf8Prefix(text, room - room / 3));
  shown += kEllipsis;
  std::size_t end = text.size() - room / 3;
  while (end < text.size() && IsContinuation(text[end]))
    ++end;
  shown += text.substr(end);
  return shown;
}

std::string_view Utf8Prefix(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && IsContinuation(text[end]))
    --end;
  return text.substr(0, end);
}

std::string_view Utf8Characters(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  while (end < text.size() && characters > 0) {
    ++end;
    while (end < text.size() && IsContinuation(text[end]))
      ++end;
    --characters;
  }
  return text.substr(0, end);
}

std::string ValidUtf8(std::string_view text, bool* changed) {
  std::string valid;
  valid.reserve(text.size());
  if (changed != nullptr) *changed = false;
  for (std::size_t i = 0; i < text.size();) {
    // Almost every text is ASCII from end to end: it is copied by the run.
    std::size_t ascii = i;
    while (ascii < text.size() && static_cast<unsigned char>(text[ascii]) < 0x80)
      ++ascii;
    valid.append(text.substr(i, ascii - i));
    i = ascii;
    if (i == text.size()) break;
    const std::size_t length = Utf8Length(text.substr(i));
    if (length == 0) {
      valid += "\xEF\xBF\xBD";
      if (changed != nullptr) *changed = true;
      ++i;
    } else {
      valid.append(text.substr(i, length));
      i += length;
    }
  }
  return valid;
}

}  // namespace jarvis
