#include "query/functions.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <sqlite3.h>

namespace jarvis::query {
namespace {

// Not here, with a reason that is not plain: json_patch takes time in proportion to the product of
// its arguments; fts3_tokenizer answers an address; subtype, sqlite_log and what counts changes are
// of no use to who reads.
constexpr std::string_view kAllowed[] = {
    "->",
    "->>",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "degrees",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_type",
    "json_valid",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "radians",
    "random",
    "randomblob",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sin",
    "sinh",
    "soundex",
    "sqlite_version",
    "sqrt",
    "strftime",
    "substr",
    "substring",
    "sum",
    "tan",
    "tanh",
    "time",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unicode",
    "unixepoch",
    "unlikely",
    "upper",
    "zeroblob",
};

using Byte = unsigned char;

// Counts what a function does and looks at the time once in a while.
class Budget {
 public:
  explicit Budget(sqlite3_context* context)
      : watch_(*static_cast<const Watch*>(sqlite3_user_data(context))) {}

  // False: the question is over, now and from now on.
  bool Take(std::size_t steps = 1) {
    if (left_ > steps) {
      left_ -= steps;
      return true;
    }
    left_ = over_ || watch_.Over() ? 0 : kBetweenLooks;
    over_ = left_ == 0;
    return !over_;
  }
  bool over() const { return over_; }

 private:
  static constexpr std::size_t kBetweenLooks = 20'000;

  const Watch& watch_;
  std::size_t left_ = kBetweenLooks;
  bool over_ = false;
};

void ResultInterrupted(sqlite3_context* context) {
  sqlite3_result_error_code(context, SQLITE_INTERRUPT);
}

// Text as SQLite shows it: followed by a NUL, of any bytes. A null pointer: NULL, or no memory.
struct Text {
  const Byte* begin = nullptr;
  std::size_t size = 0;

  std::string_view view() const { return {reinterpret_cast<const char*>(begin), size}; }
};

Text TextOf(sqlite3_value* value) {
  const Byte* const begin = sqlite3_value_text(value);
  return {begin, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

bool IsTail(Byte byte) {  // of a character in UTF-8
  return (byte & 0xC0) == 0x80;
}

// Behind the character there, as SQLite tells characters of damaged text too.
const Byte* SkipCharacter(const Byte* at) {
  if (*at++ >= 0xC0) {
    while (IsTail(*at))
      ++at;
  }
  return at;
}

// The character there; `at` is behind it then. 0 at the end.
std::uint32_t ReadCharacter(const Byte*& at) {
  std::uint32_t c = *at++;
  if (c < 0xC0) return c;
  c &= c < 0xE0 ? 0x1F : c < 0xF0 ? 0x0F : c < 0xF8 ? 0x07 : c < 0xFC ? 0x03 : c < 0xFE ? 0x01 : 0;
  while (IsTail(*at))
    c = (c << 6) + (0x3F & *at++);
  const bool is_none = c < 0x80 || (c & 0xFFFFF800) == 0xD800 || (c & 0xFFFFFFFE) == 0xFFFE;
  return is_none ? 0xFFFD : c;
}

// Where the needle is in the haystack; memmem takes time in proportion to their lengths together.
const Byte* FindIn(const Byte* haystack, std::size_t size, std::string_view needle) {
  return static_cast<const Byte*>(memmem(haystack, size, needle.data(), needle.size()));
}

struct FreeValue {
  void operator()(sqlite3_value* value) const { sqlite3_value_free(value); }
};
using ValueCopy = std::unique_ptr<sqlite3_value, FreeValue>;

// instr(X,Y): the place of Y in X, from 1; of two blobs in bytes, else in characters.
void Instr(sqlite3_context* context, int /*argc*/, sqlite3_value** argv) {
  const int types[] = {sqlite3_value_type(argv[0]), sqlite3_value_type(argv[1])};
  if (types[0] == SQLITE_NULL || types[1] == SQLITE_NULL) return;
  const bool blobs[] = {types[0] == SQLITE_BLOB, types[1] == SQLITE_BLOB};
  Text haystack;
  Text needle;
  ValueCopy copies[2];
  if (blobs[0] && blobs[1]) {
    const auto blob = [](sqlite3_value* value) {
      const auto* begin = static_cast<const Byte*>(sqlite3_value_blob(value));
      return Text{begin, static_cast<std::size_t>(sqlite3_value_bytes(value))};
    };
    haystack = blob(argv[0]);
    needle = blob(argv[1]);
  } else if (blobs[0] || blobs[1]) {  // a blob's own value stays one
    for (const int i : {0, 1})
      copies[i].reset(sqlite3_value_dup(argv[i]));
    if (copies[0] == nullptr || copies[1] == nullptr) return sqlite3_result_error_nomem(context);
    haystack = TextOf(copies[0].get());
    needle = TextOf(copies[1].get());
  } else {
    haystack = TextOf(argv[0]);
    needle = TextOf(argv[1]);
  }
  if (needle.size == 0) return sqlite3_result_int(context, 1);
  if (needle.begin == nullptr || (haystack.size > 0 && haystack.begin == nullptr))
    return sqlite3_result_error_nomem(context);
  const bool in_characters = !(blobs[0] && blobs[1]);
  const Byte* found = nullptr;
  if (in_characters && IsTail(needle.begin[0])) {
    // Such a text can only be where no character begins, and the first byte always begins one.
    if (haystack.view().starts_with(needle.view())) found = haystack.begin;
  } else if (haystack.size >= needle.size) {
    found = FindIn(haystack.begin, haystack.size, needle.view());
  }
  if (found == nullptr) return sqlite3_result_int(context, 0);
  std::int64_t place = 1;
  for (const Byte* at = haystack.begin + 1; at <= found; ++at)
    place += static_cast<std::int64_t>(!in_characters || !IsTail(*at));
  sqlite3_result_int64(context, place);
}

// replace(X,Y,Z): X with Z for each Y.
void Replace(sqlite3_context* context, int /*argc*/, sqlite3_value** argv) {
  const Text text = TextOf(argv[0]);
  if (text.begin == nullptr) return;
  const Text pattern = TextOf(argv[1]);
  if (pattern.begin == nullptr) return;
  if (pattern.begin[0] == 0) return sqlite3_result_value(context, argv[0]);
  const Text with = TextOf(argv[2]);
  if (with.begin == nullptr) return;
  const auto size_max = static_cast<std::size_t>(
      sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1));
  Budget budget(context);
  std::string made;
  const Byte* at = text.begin;
  const Byte* const end = text.begin + text.size;
  while (const Byte* const found = FindIn(at, static_cast<std::size_t>(end - at), pattern.view())) {
    made.append(at, found);
    made += with.view();
    at = found + pattern.size;
    if (made.size() > size_max) return sqlite3_result_error_toobig(context);
    if (!budget.Take()) return ResultInterrupted(context);
  }
  made.append(at, end);
  sqlite3_result_text64(context, made.data(), made.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

enum Side : int { kLeft = 1, kRight = 2 };

// trim(X), trim(X,Y): X without the characters of Y, spaces, at its sides.
template <int kSides>
void TrimText(sqlite3_context* context, int argc, sqlite3_value** argv) {
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
  const Text text = TextOf(argv[0]);
  if (text.begin == nullptr) return;
  std::string_view rest = text.view();
  Budget budget(context);
  std::vector<std::string_view> characters;
  if (argc == 1) {
    characters = {" "};
  } else {
    const Byte* at = sqlite3_value_text(argv[1]);
    if (at == nullptr) return;
    while (*at != 0) {
      const Byte* const next = SkipCharacter(at);
      characters.emplace_back(reinterpret_cast<const char*>(at),
                              static_cast<std::size_t>(next - at));
      at = next;
      if (!budget.Take()) return ResultInterrupted(context);
    }
  }
  // The first of them that is there.
  const auto find = [&](auto is_there) -> std::size_t {
    for (const std::string_view one : characters) {
      if (!budget.Take(1 + one.size() / 16)) return 0;
      if (is_there(one)) return one.size();
    }
    return 0;
  };
  if constexpr ((kSides & kLeft) != 0) {
    while (const std::size_t size =
               find([&rest](std::string_view one) { return rest.starts_with(one); }))
      rest.remove_prefix(size);
  }
  if constexpr ((kSides & kRight) != 0) {
    while (const std::size_t size =
               find([&rest](std::string_view one) { return rest.ends_with(one); }))
      rest.remove_suffix(size);
  }
  if (budget.over()) return ResultInterrupted(context);
  sqlite3_result_text64(context, rest.data(), rest.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// What of a pattern has a meaning. `any_of`: '[' where there are such; else 0.
struct Wildcards {
  std::uint32_t all = 0;
  std::uint32_t one = 0;
  std::uint32_t any_of = 0;
  bool no_case = false;
};
constexpr Wildcards kGlob = {'*', '?', '[', false};
constexpr Wildcards kLike = {'%', '_', 0, true};

std::uint32_t LowerAscii(std::uint32_t c) {
  return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

bool SameCharacter(std::uint32_t a, std::uint32_t b, bool no_case) {
  return a == b || (no_case && a < 0x80 && b < 0x80 && LowerAscii(a) == LowerAscii(b));
}

enum class Match { kYes, kNo, kNeverFromHere };  // never: no later start in the text helps either

// SQLite's patternCompare.
class PatternMatch {
 public:
  // `other`: the character of escapes, or of sets.
  PatternMatch(const Wildcards& wildcards, std::uint32_t other, Budget& budget)
      : wildcards_(wildcards), other_(other), budget_(budget) {}

  Match Compare(const Byte* pattern, const Byte* text) {
    const Byte* escaped = nullptr;
    while (const std::uint32_t c = ReadCharacter(pattern)) {
      if (!budget_.Take()) return Match::kNeverFromHere;
      std::uint32_t wanted = c;
      if (c == wildcards_.all) return AfterAll(pattern, text);
      if (c == other_) {
        if (wildcards_.any_of != 0) {
          if (!IsInSet(pattern, text)) return Match::kNo;
          continue;
        }
        wanted = ReadCharacter(pattern);
        if (wanted == 0) return Match::kNo;
        escaped = pattern;
      }
      const std::uint32_t found = ReadCharacter(text);
      if (SameCharacter(wanted, found, wildcards_.no_case)) continue;
      if (wanted == wildcards_.one && pattern != escaped && found != 0) continue;
      return Match::kNo;
    }
    return *text == 0 ? Match::kYes : Match::kNo;
  }

 private:
  // `pattern` is behind a wildcard for any text.
  Match AfterAll(const Byte* pattern, const Byte* text) {
    std::uint32_t c = ReadCharacter(pattern);
    for (; c == wildcards_.all || (c == wildcards_.one && c != 0); c = ReadCharacter(pattern)) {
      if (!budget_.Take()) return Match::kNeverFromHere;
      if (c == wildcards_.one && ReadCharacter(text) == 0) return Match::kNeverFromHere;
    }
    if (c == 0) return Match::kYes;
    if (c == other_) {
      if (wildcards_.any_of != 0) {
        for (; *text != 0; text = SkipCharacter(text)) {
          const Match match = Compare(pattern - 1, text);
          if (match != Match::kNo) return match;
        }
        return Match::kNeverFromHere;
      }
      c = ReadCharacter(pattern);
      if (c == 0) return Match::kNeverFromHere;
    }
    while (const std::uint32_t found = ReadCharacter(text)) {
      if (!budget_.Take()) return Match::kNeverFromHere;
      if (!SameCharacter(c, found, wildcards_.no_case)) continue;
      const Match match = Compare(pattern, text);
      if (match != Match::kNo) return match;
    }
    return Match::kNeverFromHere;
  }

  // Takes one character of the text and a set of the pattern behind its '['.
  bool IsInSet(const Byte*& pattern, const Byte*& text) {
    const std::uint32_t c = ReadCharacter(text);
    if (c == 0) return false;
    bool seen = false;
    bool inverted = false;
    std::uint32_t before = 0;
    std::uint32_t next = ReadCharacter(pattern);
    if (next == '^') {
      inverted = true;
      next = ReadCharacter(pattern);
    }
    if (next == ']') {
      seen = c == ']';
      next = ReadCharacter(pattern);
    }
    for (; next != 0 && next != ']'; next = ReadCharacter(pattern)) {
      if (!budget_.Take()) return false;
      if (next == '-' && *pattern != ']' && *pattern != 0 && before > 0) {
        next = ReadCharacter(pattern);
        seen = seen || (c >= before && c <= next);
        before = 0;
      } else {
        seen = seen || c == next;
        before = next;
      }
    }
    return next != 0 && seen != inverted;
  }

  const Wildcards& wildcards_;
  const std::uint32_t other_;
  Budget& budget_;
};

// like(PATTERN,TEXT), like(PATTERN,TEXT,ESCAPE), glob(PATTERN,TEXT)
template <const Wildcards& kWildcards>
void MatchPattern(sqlite3_context* context, int argc, sqlite3_value** argv) {
  if (sqlite3_value_type(argv[0]) == SQLITE_BLOB || sqlite3_value_type(argv[1]) == SQLITE_BLOB)
    return sqlite3_result_int(context, 0);
  const int size_max =
      sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
  if (sqlite3_value_bytes(argv[0]) > size_max)
    return sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
  Wildcards wildcards = kWildcards;
  std::uint32_t other = wildcards.any_of;
  if (argc == 3) {
    const Byte* escape = sqlite3_value_text(argv[2]);
    if (escape == nullptr) return;
    if (*escape == 0 || *SkipCharacter(escape) != 0)
      return sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
    other = ReadCharacter(escape);
    if (other == wildcards.all) wildcards.all = 0;
    if (other == wildcards.one) wildcards.one = 0;
  }
  const Byte* const pattern = sqlite3_value_text(argv[0]);
  const Byte* const text = sqlite3_value_text(argv[1]);
  if (pattern == nullptr || text == nullptr) return;
  Budget budget(context);
  const Match match = PatternMatch(wildcards, other, budget).Compare(pattern, text);
  if (budget.over()) return ResultInterrupted(context);
  sqlite3_result_int(context, static_cast<int>(match == Match::kYes));
}

// Nothing thrown may cross SQLite, which is C; memory is all that can run out here.
using Function = void (*)(sqlite3_context*, int, sqlite3_value**);
template <Function kFunction>
void GuardedFunction(sqlite3_context* context, int argc, sqlite3_value** argv) {
  try {
    kFunction(context, argc, argv);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

struct Own {
  const char* name;
  int arguments;
  Function function;
};
constexpr Own kOwn[] = {
    {"instr", 2, &GuardedFunction<&Instr>},
    {"replace", 3, &GuardedFunction<&Replace>},
    {"trim", 1, &GuardedFunction<&TrimText<kLeft | kRight>>},
    {"trim", 2, &GuardedFunction<&TrimText<kLeft | kRight>>},
    {"ltrim", 1, &GuardedFunction<&TrimText<kLeft>>},
    {"ltrim", 2, &GuardedFunction<&TrimText<kLeft>>},
    {"rtrim", 1, &GuardedFunction<&TrimText<kRight>>},
    {"rtrim", 2, &GuardedFunction<&TrimText<kRight>>},
    {"like", 2, &GuardedFunction<&MatchPattern<kLike>>},
    {"like", 3, &GuardedFunction<&MatchPattern<kLike>>},
    {"glob", 2, &GuardedFunction<&MatchPattern<kGlob>>},
};

}  // namespace

std::span<const std::string_view> AllowedFunctions() {
  return kAllowed;
}

bool IsAllowedFunction(std::string_view name) {
  return std::binary_search(std::begin(kAllowed), std::end(kAllowed), name);
}

int AddFunctions(sqlite3* database, const Watch* watch) {
  constexpr int kKind = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (const Own& own : kOwn) {
    const int code = sqlite3_create_function_v2(
        database, own.name, own.arguments, kKind,
        const_cast<Watch*>(watch),  // NOLINT(cppcoreguidelines-pro-type-const-cast): only read
        own.function, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace jarvis::query
