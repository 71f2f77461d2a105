#include "ledger/kinds/required_literals.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace jarvis::ledger {
namespace {

constexpr std::size_t kSetMax = 64;  // literals of a set
constexpr std::size_t kSetsMax = 4;  // sets of an expression
constexpr int kDepthMax = 100;       // of groups

using LiteralSets = std::vector<LiteralSet>;

std::size_t Shortest(const LiteralSet& set) {
  std::size_t shortest = set.front().size();
  for (const std::string_view literal : set)
    shortest = std::min(shortest, literal.size());
  return shortest;
}

// Whether a set tells more than another: its shortest literal decides, as that is met most.
bool TellsMore(const LiteralSet& a, const LiteralSet& b) {
  const std::size_t shortest_a = Shortest(a);
  const std::size_t shortest_b = Shortest(b);
  return shortest_a != shortest_b ? shortest_a > shortest_b : a.size() < b.size();
}

void Need(LiteralSet set, LiteralSets* needed) {
  const auto place = std::upper_bound(needed->begin(), needed->end(), set, TellsMore);
  needed->insert(place, std::move(set));
  if (needed->size() > kSetsMax) needed->pop_back();
}

class ExpressionReader {
 public:
  explicit ExpressionReader(std::string_view text) : text_(text) {}

  // Each of several with its own sets; if one has none, nothing is known.
  std::vector<LiteralSets> Ways() {
    std::vector<LiteralSets> ways;
    do {
      ways.push_back(Sequence(0));
      if (ways.back().empty()) return {};
    } while (Take('|'));
    return ways;
  }

 private:
  // One of several: each must have a literal, or nothing is known.
  LiteralSets Alternatives(int depth) {
    LiteralSets first = Sequence(depth);
    if (AtEnd() || text_[at_] != '|') return first;
    bool known = !first.empty();
    LiteralSet any = known ? std::move(first.front()) : LiteralSet();
    while (Take('|')) {
      const LiteralSets next = Sequence(depth);
      known = known && !next.empty();
      if (known) any.insert(any.end(), next.front().begin(), next.front().end());
    }
    if (!known || any.size() > kSetMax) return {};
    return {std::move(any)};
  }

  bool AtEnd() const { return at_ >= text_.size(); }
  bool Take(char c) {
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool IsQuantifier(std::size_t at) const {
    return at < text_.size() &&
           (text_[at] == '?' || text_[at] == '*' || text_[at] == '+' || text_[at] == '{');
  }
  // A character that stands for itself, once: most of any expression.
  bool IsPlain() const {
    switch (text_[at_]) {
      case '(':
      case '[':
      case '.':
      case '^':
      case '$':
      case '\\':
      case '?':
      case '*':
      case '+':
      case '{': return false;
      default: return !IsQuantifier(at_ + 1);
    }
  }

  // One after another: all are needed.
  LiteralSets Sequence(int depth) {
    LiteralSets needed;
    std::size_t run = at_;  // of characters that stand for themselves
    const auto end_run = [&] {
      if (at_ - run >= kLiteralMin) Need({text_.substr(run, at_ - run)}, &needed);
    };
    while (!AtEnd() && text_[at_] != '|' && text_[at_] != ')') {
      if (IsPlain()) {
        ++at_;
        continue;
      }
      end_run();
      const LiteralSets inside = Atom(depth);
      if (!MayBeAbsent()) {
        for (const LiteralSet& set : inside)
          Need(set, &needed);
      }
      run = at_;
    }
    end_run();
    return needed;
  }

  // Takes the quantifiers of what was read last.
  bool MayBeAbsent() {
    bool absent = false;
    while (IsQuantifier(at_)) {
      absent =
          absent || text_[at_] == '?' || text_[at_] == '*' || text_.substr(at_).starts_with("{0");
      if (text_[at_] == '{') at_ = std::min(text_.find('}', at_), text_.size() - 1);
      ++at_;
    }
    return absent;
  }

  LiteralSets Atom(int depth) {
    const char c = text_[at_++];
    if (c == '(') return Group(depth);
    if (c == '[') SkipClass();
    if (c == '\\' && !AtEnd()) ++at_;
    return {};
  }

  LiteralSets Group(int depth) {
    if (depth >= kDepthMax) {
      at_ = text_.size();
      return {};
    }
    if (Take('?')) {  // (?:...), (?P<name>...), or flags: (?i)
      at_ = text_.find_first_of(":)>", at_);
      if (AtEnd()) return {};
      if (text_[at_++] == ')') return {};
    }
    LiteralSets inside = Alternatives(depth + 1);
    Take(')');
    return inside;
  }

  void SkipClass() {
    Take('^');
    Take(']');
    while (!AtEnd() && text_[at_] != ']')
      at_ += text_[at_] == '\\' ? 2u : 1u;
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::vector<LiteralSet>> RequiredLiterals(std::string_view lower_expression) {
  return ExpressionReader(lower_expression).Ways();
}

}  // namespace jarvis::ledger
