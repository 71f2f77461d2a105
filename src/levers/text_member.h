// Texts in files of the catalogue and of phrases: one rule for what a text may be, and errors that
// name the file, the fix and the key.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/dom_parse.h"
#include "base/result.h"

namespace jarvis::levers {

// Of a name in an error, in bytes.
inline constexpr std::size_t kNameShown = 60;

// Where in which file it is, for errors.
struct At {
  std::string_view file;
  std::string_view id;  // empty: the file says it

  tl::unexpected<Error> Bad(std::string_view key, std::string_view expected) const;
};

// A text, or the lines of one, with blanks between them.
Result<std::string> TextIn(const At& at, std::string_view key, const simdjson::dom::element& value);
Result<simdjson::dom::object> ObjectIn(const At& at, simdjson::dom::parser* parser,
                                       std::string_view json);

}  // namespace jarvis::levers
