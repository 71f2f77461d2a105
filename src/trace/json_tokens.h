// Where the tokens of a JSON text begin: brackets, commas, colons, strings, and whatever else
// stands between them. simdjson's first stage finds them, many bytes at once; whether they make
// sense is for the caller to see. A token that the text does not have is the caller's to refuse: at
// end() First() is 0, so that comparing it with what is expected suffices.
//
// Errors: std::bad_alloc where memory is refused.
// Threads: one owner. Places and views are valid until the next Find() and as long as the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace jarvis::trace {

class JsonTokens {
 public:
  using Place = const std::uint32_t*;  // of a token; the next one is at + 1

  JsonTokens();
  ~JsonTokens();
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  // Finds the tokens of `text`, behind which lies a byte 0. False: it is not UTF-8, has a control
  // character inside a string or a string without an end, or is empty.
  bool Find(const char* text, std::size_t size);

  Place begin() const { return begin_; }
  Place end() const { return end_; }

  char First(Place at) const { return text_[*at]; }
  const char* Start(Place at) const { return text_ + *at; }

  // The token without the white space behind it. REQUIRES: at != end().
  std::string_view Text(Place at) const {
    const char* const start = text_ + at[0];
    const char* stop = text_ + at[1];
    while (stop > start && IsSpace(stop[-1]))
      --stop;
    return {start, static_cast<std::size_t>(stop - start)};
  }

  // Whether a key stands at `at`, with a colon behind it; *key is what its quotes enclose.
  bool IsKey(Place at, std::string_view* key) const {
    if (First(at) != '"' || First(at + 1) != ':') return false;
    const char* const start = text_ + at[0] + 1;
    const char* stop = text_ + at[1] - 1;
    while (*stop != '"')  // between a string and the next token there is nothing but white space
      --stop;
    *key = {start, static_cast<std::size_t>(stop - start)};
    return true;
  }

  // Whether a value can begin at `at`.
  bool IsValue(Place at) const {
    const char first = First(at);
    return at < end_ && first != ',' && first != '}' && first != ']' && first != ':';
  }

  // The token behind the value at `at`; null: its bracket is not closed. Kinds of brackets are not
  // told apart. REQUIRES: IsValue(at).
  Place Behind(Place at) const {
    const char first = First(at);
    return first == '[' || first == '{' ? BehindBracket(at) : at + 1;
  }

 private:
  struct Parser;

  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  Place BehindBracket(Place at) const;

  std::unique_ptr<Parser> parser_;
  const char* text_ = nullptr;
  Place begin_ = nullptr;
  Place end_ = nullptr;
};

}  // namespace jarvis::trace
