// What a tool says, before it becomes the two halves of a reply. Each half stands alone and fits
// the token budget; they hold the same facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/json.h"
#include "mcp/tool.h"
#include "table/table.h"

namespace jarvis::tools {

struct FileLink {
  std::string path;  // absolute
  std::string what;
  std::uint64_t rows = 0;  // 0: it has none, or is nothing that has rows
};

struct NextCall {
  std::string tool;
  Json arguments;
  std::string why;
};

struct Answer {
  std::string trace;    // id
  std::string summary;  // the headline, one or two sentences
  Json facts;           // further members of the structured half; null: none
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::uint64_t total = 0;   // rows there are
  std::uint64_t offset = 0;  // of the first row shown among them
  std::string cursor_key;    // what a cursor must belong to; empty: this answer has no pages
  std::string block;         // preformatted text instead of the table (a tree); in both halves
  std::vector<std::string> notes;
  std::vector<FileLink> files;
  std::vector<NextCall> next;
  Json view;            // for the view beside the answer (FirstScreen); null: none
  std::string picture;  // SVG, where the caller asked for an image; no part of either half
};

// 2,000 tokens at 3.5 bytes each.
inline constexpr std::size_t kAnswerBytesMax = 7000;

// Cuts rows from the end until the larger half fits, never below three; if that is not enough,
// texts and lists are shortened too, and a note says so. What comes from a trace stays on its line.
mcp::ToolReply Render(const Answer& answer);

// Cursors: opaque to the caller, bound to one question.
std::string MakeCursor(const std::string& key, std::uint64_t offset);
Result<std::uint64_t> ReadCursor(const std::string& key, const std::string& cursor);

}  // namespace jarvis::tools
