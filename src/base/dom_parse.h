// simdjson's documents, where refused memory is told from a text that is damaged: simdjson reports
// both as an error code, and a text that was only too large for the memory at hand must never be
// taken for one that is no JSON.
//
// Errors: std::bad_alloc where memory is refused; all else as simdjson's codes.
// Threads: a parser has one owner.
#pragma once

#include <new>
#include <string_view>

#include <simdjson.h>

namespace jarvis {

inline simdjson::error_code ButNoMemory(simdjson::error_code error) {
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error;
}

// The document that `text` spells, which lasts until the parser's next; SUCCESS: *document is set.
inline simdjson::error_code ParseDom(simdjson::dom::parser* parser, std::string_view text,
                                     simdjson::dom::element* document) {
  return ButNoMemory(parser->parse(text.data(), text.size()).get(*document));
}

}  // namespace jarvis
