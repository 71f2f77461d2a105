// Text without a domain: no locale, no allocation where none is needed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace jarvis {

std::string LowerAscii(std::string_view text);
std::string UpperAscii(std::string_view text);
// True if `part` (given in lower case) occurs in `text`, whatever the case of ASCII letters there.
bool ContainsNoCase(std::string_view text, std::string_view lower_part);
bool EqualsNoCase(std::string_view a, std::string_view b);
// Without spaces, tabs and ends of lines around it.
constexpr std::string_view Trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && space(text.back()))
    text.remove_suffix(1);
  return text;
}
// Without marks of bold type ("**"), which say nothing where they are not rendered.
std::string WithoutEmphasis(std::string text);
bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> candidates);
// "a", "a and b", "a, b and c", with the word for "and".
std::string Enumerated(std::span<const std::string> parts, std::string_view last = "and");

// In the order in which people read names: numbers in them by their value ("a2" before "a10").
bool NaturallyBefore(std::string_view a, std::string_view b);

// The whole text as a decimal integer.
std::optional<std::int64_t> ParseInt(std::string_view text);
std::optional<double> ParseDouble(std::string_view text);

// The candidate with the smallest edit distance, if one is close enough to be a slip.
std::optional<std::string_view> Closest(std::string_view text,
                                        std::span<const std::string_view> candidates);

// Invalid UTF-8 becomes U+FFFD. `changed`, if given, says whether anything was.
std::string ValidUtf8(std::string_view text, bool* changed = nullptr);

// Line ends, tabs and other control characters become blanks, and so do those that turn the
// direction of what follows: a name must not look like something else.
std::string OneLine(std::string_view text);

// At most so many bytes: the start, an ellipsis and the end, in whole characters.
std::string Shortened(std::string_view text, std::size_t bytes_max);

// The longest beginning of at most that many bytes that does not end inside a character.
std::string_view Utf8Prefix(std::string_view text, std::size_t bytes_max);
// The first so many characters.
std::string_view Utf8Characters(std::string_view text, std::size_t characters);

}  // namespace jarvis
