#include "app/flags.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/text.h"
#include "mcp/closest_match.h"

namespace jarvis::app {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
// What the language says by itself, and clang 14 does not do.
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

// "a,,b," has three items, one of them empty.
std::vector<std::string> ItemsOf(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    items.emplace_back(item);
    text.remove_prefix(std::min(text.size(), item.size() + 1));
  }
  return items;
}

Status SetNumber(const WholeNumber& number, std::string_view name, std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!whole || value < number.min || value > number.max) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("{}: expected a number from {} to {}, received {}", name, number.min,
                            number.max, text));
  }
  number.set(value);
  return {};
}

class FlagParser {
 public:
  FlagParser(const std::vector<Flag>& flags, Arguments arguments, const FlagRules& rules)
      : flags_(flags), arguments_(arguments), rules_(rules) {}

  Status Parse() {
    for (; at_ < arguments_.size(); ++at_)
      JV_TRY(One(arguments_[at_]));
    return {};
  }

 private:
  Status One(std::string_view word) {
    if (const Flag* flag = Find(word, /*takes_value=*/false)) {
      if (bool* const* on = std::get_if<bool*>(&flag->to)) {
        **on = true;
      } else {
        std::get<SetSwitch>(flag->to)();
      }
      return {};
    }
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const Flag* flag = Find(name, /*takes_value=*/true);
    const bool last = at_ + 1 == arguments_.size();
    if (flag == nullptr) return WithGuess(name, rules_.other(word, last));
    std::string_view value;
    if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (!last) {
      value = arguments_[++at_];
    } else if (rules_.no_value == FlagRules::NoValue::kRefuse) {
      return NeedsValue(name);
    }
    if (value.empty() && rules_.no_value == FlagRules::NoValue::kRefuseEmpty)
      return NeedsValue(name);
    return Set(flag->to, name, value);
  }

  Status WithGuess(std::string_view name, Status told) const {
    if (told || !name.starts_with("--")) return told;
    std::vector<std::string> known;
    for (const Flag& flag : flags_) {
      for (const std::string_view one : flag.names) {
        if (one.starts_with("--")) known.emplace_back(one.substr(2));
      }
    }
    const auto meant = mcp::ClosestMatch(name.substr(2), known);
    if (meant) told.error().message += fmt::format("; did you mean --{}?", *meant);
    return told;
  }

  const Flag* Find(std::string_view name, bool takes_value) const {
    for (const Flag& flag : flags_) {
      const bool on =
          std::holds_alternative<bool*>(flag.to) || std::holds_alternative<SetSwitch>(flag.to);
      if (on == takes_value) continue;
      if (std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end()) return &flag;
    }
    return nullptr;
  }

  Status Set(const FlagTarget& to, std::string_view name, std::string_view value) {
    const bool refused = value.empty() && rules_.no_value == FlagRules::NoValue::kEmpty;
    const bool text = std::holds_alternative<std::string*>(to) ||
                      std::holds_alternative<CommaList>(to) || std::holds_alternative<Repeated>(to);
    if (refused && text) return NeedsValue(name);
    return std::visit(
        Overloaded{[](bool*) { return Status(); }, [](const SetSwitch&) { return Status(); },
                   [&](std::string* one) {
                     *one = value;
                     return Status();
                   },
                   [&](const CommaList& many) {
                     *many.list = ItemsOf(value);
                     TakeKnown(many);
                     return Status();
                   },
                   [&](const Repeated& many) {
                     many.list->emplace_back(value);
                     if (many.words) TakeWords(many.list);
                     return Status();
                   },
                   [&](const WholeNumber& number) { return SetNumber(number, name, value); },
                   [&](const SetValue& set) { return set(name, value); }},
        to);
  }

  void TakeKnown(const CommaList& many) {
    const auto is_known = [&](std::string_view word) {
      return std::find(many.known.begin(), many.known.end(), word) != many.known.end();
    };
    while (at_ + 1 < arguments_.size() && is_known(arguments_[at_ + 1]))
      many.list->emplace_back(arguments_[++at_]);
  }

  void TakeWords(std::vector<std::string>* list) {
    while (at_ + 1 < arguments_.size() && !arguments_[at_ + 1].starts_with("-"))
      list->emplace_back(arguments_[++at_]);
  }

  const std::vector<Flag>& flags_;
  const Arguments arguments_;
  const FlagRules& rules_;
  std::size_t at_ = 0;
};

}  // namespace

Status ParseFlags(const std::vector<Flag>& flags, Arguments arguments, const FlagRules& rules) {
  return FlagParser(flags, arguments, rules).Parse();
}

std::string FlagsHelp(const std::vector<Flag>& flags) {
  std::string text;
  for (const Flag& flag : flags)
    text += flag.help;
  return text;
}

std::optional<std::uint64_t> ParseBytes(std::string_view text) {
  constexpr std::string_view kLetters = "KMGT";
  int shift = 0;
  if (!text.empty()) {
    const char last = text.back() >= 'a' ? static_cast<char>(text.back() - 'a' + 'A') : text.back();
    const std::size_t letter = kLetters.find(last);
    if (letter != std::string_view::npos) {
      shift = 10 * static_cast<int>(letter + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = ParseInt(text);
  if (!number || *number < 1 || *number > (std::int64_t{1} << 62) >> shift) return std::nullopt;
  return static_cast<std::uint64_t>(*number) << shift;
}

tl::unexpected<Error> NeedsValue(std::string_view flag) {
  return Fail(ErrorCode::kBadValue, fmt::format("{} needs a value", flag));
}

}  // namespace jarvis::app
