#include "ledger/kinds/required_literals.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text.h"

namespace jarvis::ledger {
namespace {

constexpr std::size_t kExactMax = 24;  // texts of a part of which all are known
constexpr std::size_t kSetMax = 64;    // literals of a set
constexpr std::size_t kSetsMax = 4;    // sets of an expression
constexpr std::size_t kClassMax = 4;   // characters of a class that is spelled out
constexpr int kDepthMax = 100;         // of groups

// What is known of the texts that a part of an expression matches.
struct Part {
  bool exact = false;  // `texts` are all of them
  std::vector<std::string> texts;
  std::vector<LiteralSet> needed;  // if not exact
};

std::size_t Shortest(const LiteralSet& set) {
  std::size_t shortest = set.empty() ? 0 : set.front().size();
  for (const std::string& literal : set)
    shortest = std::min(shortest, literal.size());
  return shortest;
}

// Whether a set tells more than another: its shortest literal decides, as that is met most.
bool TellsMore(const LiteralSet& a, const LiteralSet& b) {
  const std::size_t shortest_a = Shortest(a);
  const std::size_t shortest_b = Shortest(b);
  return shortest_a != shortest_b ? shortest_a > shortest_b : a.size() < b.size();
}

void Need(LiteralSet set, std::vector<LiteralSet>* needed) {
  if (set.empty() || set.size() > kSetMax || Shortest(set) < kLiteralMin) return;
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  if (std::find(needed->begin(), needed->end(), set) != needed->end()) return;
  needed->push_back(std::move(set));
  std::sort(needed->begin(), needed->end(), TellsMore);
  if (needed->size() > kSetsMax) needed->resize(kSetsMax);
}

void NeedAll(const Part& part, std::vector<LiteralSet>* needed) {
  if (part.exact) {
    Need(part.texts, needed);
  } else {
    for (const LiteralSet& set : part.needed)
      Need(set, needed);
  }
}

Part Exactly(std::string text) {
  return {true, {std::move(text)}, {}};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Part Alternatives(int depth) {
    std::vector<Part> parts;
    do {
      parts.push_back(Sequence(depth));
    } while (Take('|'));
    if (parts.size() == 1) return std::move(parts.front());
    return OneOf(parts);
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  bool Take(char c) {
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  static Part OneOf(const std::vector<Part>& parts) {
    Part out;
    out.exact = std::all_of(parts.begin(), parts.end(), [](const Part& p) { return p.exact; });
    LiteralSet any;
    for (const Part& part : parts) {
      if (!part.exact && part.needed.empty()) return {};
      const LiteralSet& best = part.exact ? part.texts : part.needed.front();
      any.insert(any.end(), best.begin(), best.end());
    }
    if (out.exact && any.size() <= kExactMax) {
      out.texts = std::move(any);
    } else {
      out.exact = false;
      Need(std::move(any), &out.needed);
    }
    return out;
  }

  // One after another: texts that are known are strung together as long as they are few.
  Part Sequence(int depth) {
    LiteralSet run = {std::string()};
    Part out = {true, {}, {}};
    while (!AtEnd() && text_[at_] != '|' && text_[at_] != ')') {
      const Part next = Repeated(depth);
      if (next.exact && run.size() * next.texts.size() <= kExactMax) {
        LiteralSet longer;
        for (const std::string& head : run) {
          for (const std::string& tail : next.texts)
            longer.push_back(head + tail);
        }
        run = std::move(longer);
        continue;
      }
      out.exact = false;
      Need(std::move(run), &out.needed);
      run = {std::string()};
      if (next.exact) {
        run = next.texts;
      } else {
        NeedAll(next, &out.needed);
      }
    }
    if (out.exact) {
      out.texts = std::move(run);
    } else {
      Need(std::move(run), &out.needed);
    }
    return out;
  }

  Part Repeated(int depth) {
    Part part = Atom(depth);
    while (!AtEnd()) {
      const char c = text_[at_];
      if (c == '?') {
        ++at_;
        if (part.exact && part.texts.size() < kExactMax) {
          part.texts.emplace_back();
        } else {
          part = {};
        }
        Take('?');
      } else if (c == '*') {
        ++at_;
        part = {};
        Take('?');
      } else if (c == '+' || (c == '{' && IsCount())) {
        const bool may_be_absent = c == '{' && text_.substr(at_).starts_with("{0");
        at_ = c == '+' ? at_ + 1 : text_.find('}', at_) + 1;
        Part once;
        if (!may_be_absent) NeedAll(part, &once.needed);
        part = std::move(once);
        Take('?');
      } else {
        break;
      }
    }
    return part;
  }

  bool IsCount() const {
    const std::size_t end = text_.find_first_not_of("0123456789,", at_ + 1);
    return end != std::string_view::npos && end > at_ + 1 && text_[end] == '}';
  }

  Part Atom(int depth) {
    const char c = text_[at_++];
    switch (c) {
      case '(': return Group(depth);
      case '[': return Class();
      case '.': return {};
      case '^':
      case '$': return Exactly({});
      case '\\': return Escape();
      default: return Exactly(LowerAscii({&c, 1}));
    }
  }

  Part Group(int depth) {
    if (depth >= kDepthMax) {
      at_ = text_.size();
      return {};
    }
    if (Take('?')) {
      const std::size_t end = text_.find_first_of(":)>", at_);
      if (end == std::string_view::npos) return {};
      const bool flags_only = text_[end] == ')';
      at_ = end + 1;
      if (flags_only) return Exactly({});
    }
    Part inside = Alternatives(depth + 1);
    Take(')');
    return inside;
  }

  Part Escape() {
    if (AtEnd()) return {};
    const char c = text_[at_++];
    if (c == 'b' || c == 'B' || c == 'A' || c == 'z') return Exactly({});
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter ? Part() : Exactly({&c, 1});
  }

  Part Class() {
    Part out = {true, {}, {}};
    if (Take('^')) out.exact = false;
    bool first = true;
    for (; !AtEnd() && (text_[at_] != ']' || first); ++at_, first = false) {
      const char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size()) {
        out.exact = false;
        ++at_;
      } else if (c == '-' || c == '[' || out.texts.size() == kClassMax) {
        out.exact = false;
      } else {
        out.texts.push_back(LowerAscii({&c, 1}));
      }
    }
    ++at_;
    if (!out.exact) out.texts.clear();
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<LiteralSet> RequiredLiterals(std::string_view expression) {
  std::vector<LiteralSet> needed;
  NeedAll(Reader(expression).Alternatives(0), &needed);
  return needed;
}

}  // namespace jarvis::ledger
