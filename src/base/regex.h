// Regular expressions of PCRE2, which asks for memory where it can be refused: RE2 unwinds through
// half-made expressions then and frees what is none of its own.
//
// Throws: std::bad_alloc. Threads: any number may search with one expression.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct pcre2_real_code_8;

namespace jarvis {

// The groups of a match by number, the whole of it first; null data where a group took no part.
using RegexGroups = std::vector<std::string_view>;

class Regex {
 public:
  // A character is a byte, and "$" stands for the end of the text alone. Errors: kBadValue for what
  // is no expression, with what is wrong and where.
  static Result<Regex> Make(std::string_view expression);

  // Whether it occurs in the text. Absent: it has tried a great many ways, and does not know.
  std::optional<bool> Search(std::string_view text, RegexGroups* groups = nullptr) const;

  // The number of a named group; absent: there is none.
  std::optional<std::size_t> GroupOf(const char* name) const;
  bool has_named_groups() const { return named_groups_; }

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };

  std::unique_ptr<pcre2_real_code_8, Free> code_;
  bool named_groups_ = false;
};

}  // namespace jarvis
