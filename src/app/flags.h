// Flags of commands that are not made from a tool's schema, as tables: each command says what its
// flags are called, where their values go and what its help says about them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/commands.h"
#include "base/result.h"

namespace jarvis::app {

// Where the value goes.
struct CommaList {
  std::vector<std::string>* list;  // "a,b"; the last one given counts
  // Of these words further ones may follow: "a b".
  std::vector<std::string_view> known = {};
};
struct Repeated {
  std::vector<std::string>* list;  // one each time the flag is given
  bool words = false;              // and further words behind it, up to the next flag
};
struct WholeNumber {
  std::uint64_t min;
  std::uint64_t max;
  std::function<void(std::uint64_t value)> set;
};
using SetSwitch = std::function<void()>;
using SetValue = std::function<Status(std::string_view name, std::string_view value)>;
// A bool and SetSwitch take no value, all others take one.
using FlagTarget =
    std::variant<bool*, SetSwitch, std::string*, CommaList, Repeated, WholeNumber, SetValue>;

struct Flag {
  std::vector<std::string_view> names;  // all spellings
  FlagTarget to;
  std::string help = {};  // its lines as they are printed; empty: told with another flag, or not
};

struct FlagRules {
  // A word that is no flag of the table, with its value if it has one behind "="; `last`: no other
  // follows.
  std::function<Status(std::string_view word, bool last)> other;
  // What becomes of a flag that the last word is, and of an empty value.
  enum class NoValue {
    kRefuse,       // it "needs a value"; an empty one is one
    kRefuseEmpty,  // an empty one is none
    kEmpty,        // the value is empty; texts and lists refuse that
  };
  NoValue no_value = NoValue::kRefuse;
};

// Goes through the words from left to right; "--name value" and "--name=value" are understood.
// Errors: kBadValue, those of setters and of `other`; what that says of a word like a flag ends
// with the flag that was probably meant.
Status ParseFlags(const std::vector<Flag>& flags, Arguments arguments, const FlagRules& rules);

// What the help says about the flags, in the order of the table.
std::string FlagsHelp(const std::vector<Flag>& flags);

// "8G", "512M", "1000000": the letters mean powers of 1024. Nothing: it is no such number above 0.
std::optional<std::uint64_t> ParseBytes(std::string_view text);

// "X needs a value"
tl::unexpected<Error> NeedsValue(std::string_view flag);

}  // namespace jarvis::app
