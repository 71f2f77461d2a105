// The {facts} that a fix's text names, and its [[optional parts]], which fall away unless all of
// theirs are known.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::levers {

// What the short form of an action may take at most, in bytes.
inline constexpr std::size_t kShortAction = 110;

struct Placeholder {
  std::string key;
  bool optional = false;  // stands in double brackets
};
std::vector<Placeholder> PlaceholdersOf(std::string_view text);

// Those of the text's short form: its first sentence, or what stands before its first semicolon
// outside of round brackets. A first sentence that is optional is followed by the next.
std::vector<std::string> ShortFormFacts(std::string_view text);

// Whether braces and double brackets are closed and not nested.
bool IsWellFormed(std::string_view text);

}  // namespace jarvis::levers
