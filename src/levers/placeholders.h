// The {facts} that a text names, its [[optional parts]], which fall away unless all of theirs are
// known, and its {choices|of one|of others}: the first words stand where the fact is "1" or "true",
// the second otherwise, with the fact for each # in them. One engine for the catalogue of fixes and
// for phrases.
#pragma once

#include <cstddef>
#include <functional>
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

// What stands for a placeholder; not `known`: an optional part with it falls away.
struct Filling {
  std::string text;
  bool known = false;
};
std::string Fill(std::string_view text, const std::function<Filling(std::string_view key)>& of);

// Whether braces and double brackets are closed and not nested, and choices have one or two ends.
bool IsWellFormed(std::string_view text);

}  // namespace jarvis::levers
