#include "tools/shared/answer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/string_pool.h"
#include "base/text.h"
#include "output/number_format.h"

namespace jarvis::tools {
namespace {

// What is shown of what an answer holds. Most answers fit at the first level; a trace whose names
// are of thousands of bytes, or a machine of thousands of devices, takes a later one. The files
// have everything whole.
struct Level {
  std::size_t cell;   // bytes of a text in the table
  std::size_t text;   // bytes of any other text
  std::size_t items;  // of a list, and three times as many columns
};
constexpr std::size_t kAll = std::string::npos;
constexpr Level kLevels[] = {{600, kAll, kAll}, {300, 600, 100}, {150, 300, 30}, {110, 220, 20},
                             {80, 150, 10},     {60, 110, 7},    {40, 80, 4},    {20, 40, 2}};
constexpr std::size_t kSummaryLeast = 300;  // bytes that stay of it, whatever is shortened
constexpr const char* kCutNote =
    "Long texts and lists are shortened here; the files have them whole.";

Json CellJson(const Cell& cell, std::size_t bytes_max) {
  struct Visitor {
    Json operator()(Absent) const { return nullptr; }
    Json operator()(std::int64_t value) const { return value; }
    Json operator()(double value) const { return output::Rounded(value); }
    Json operator()(bool value) const { return value; }
    Json operator()(const std::string& value) const { return Shortened(value, bytes_max); }
    std::size_t bytes_max;
  };
  return std::visit(Visitor{bytes_max}, cell);
}

// Text from a trace in a cell of a markdown table: one line, no bars.
std::string TableText(const Cell& cell, std::size_t bytes_max) {
  std::string text = OneLine(Shortened(output::CellText(cell), bytes_max));
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

Json Structured(const Answer& answer, std::size_t shown, std::size_t cell_bytes_max) {
  Json json = Json::object();
  if (!answer.trace.empty()) json["trace"] = answer.trace;
  json["summary"] = answer.summary;
  if (answer.facts.is_object()) json.update(answer.facts);
  if (!answer.columns.empty()) {
    json["columns"] = answer.columns;
    Json rows = Json::array();
    for (std::size_t r = 0; r < shown; ++r) {
      Json row = Json::array();
      for (const Cell& cell : answer.rows[r])
        row.push_back(CellJson(cell, cell_bytes_max));
      rows.push_back(std::move(row));
    }
    json["rows"] = std::move(rows);
    json["shown"] = shown;
    json["total"] = answer.total;
    const bool truncated = answer.offset + shown < answer.total;
    json["truncated"] = truncated;
    if (truncated && !answer.cursor_key.empty()) {
      json["next_cursor"] = MakeCursor(answer.cursor_key, answer.offset + shown);
    }
  }
  if (!answer.block.empty()) json["text"] = answer.block;
  if (!answer.notes.empty()) json["notes"] = answer.notes;
  for (const FileLink& file : answer.files) {
    json["files"].push_back({{"path", file.path}, {"what", file.what}, {"rows", file.rows}});
  }
  for (const NextCall& call : answer.next) {
    json["next"].push_back({{"tool", call.tool}, {"arguments", call.arguments}, {"why", call.why}});
  }
  return json;
}

std::string FactText(const Json& value) {
  return OneLine(value.is_string() ? value.get_ref<const std::string&>() : DumpLine(value));
}

// Lines stay lines.
std::string BlockText(std::string_view block) {
  std::string text;
  while (true) {
    const std::string_view line = block.substr(0, block.find('\n'));
    text += OneLine(line);
    if (line.size() == block.size()) return text;
    text += '\n';
    block.remove_prefix(line.size() + 1);
  }
}

// Each part is on lines of its own, and what came from a trace cannot begin one: no name in it can
// pass for a note or a suggestion.
std::string Text(const Answer& answer, std::size_t shown, std::size_t cell_bytes_max) {
  std::string out;
  if (!answer.trace.empty()) out += "trace " + answer.trace + "\n";
  out += OneLine(answer.summary) + "\n";
  if (answer.facts.is_object()) {
    for (const auto& [key, value] : answer.facts.items())
      out += OneLine(key) + ": " + FactText(value) + "\n";
  }
  if (!answer.columns.empty() && shown > 0) {
    out += '\n';
    std::string line;
    for (const std::string& column : answer.columns) {
      out += "| " + TableText(column, cell_bytes_max) + " ";
      line += "|---";
    }
    out += "|\n" + line + "|\n";
    for (std::size_t r = 0; r < shown; ++r) {
      for (const Cell& cell : answer.rows[r])
        out += "| " + TableText(cell, cell_bytes_max) + " ";
      out += "|\n";
    }
  }
  if (answer.offset + shown < answer.total) {
    out += fmt::format("{} of {} rows shown", shown, answer.total);
    if (!answer.cursor_key.empty()) {
      out += fmt::format("; more with cursor \"{}\"",
                         MakeCursor(answer.cursor_key, answer.offset + shown));
    }
    out += '\n';
  }
  if (!answer.block.empty()) out += "\n" + BlockText(answer.block) + "\n";
  for (const std::string& note : answer.notes)
    out += "Note: " + OneLine(note) + "\n";
  for (const FileLink& file : answer.files) {
    out += fmt::format("File: {} ({}{})\n", OneLine(file.path), OneLine(file.what),
                       file.rows > 0 ? fmt::format(", {} rows", file.rows) : "");
  }
  for (const NextCall& call : answer.next) {
    out +=
        fmt::format("Next: {} {} ({})\n", call.tool, DumpLine(call.arguments), OneLine(call.why));
  }
  out.pop_back();
  return out;
}

// The value with its texts and lists shortened. Keys are names too.
Json Limited(const Json& value, const Level& level, bool is_top) {
  if (value.is_string()) return Shortened(value.get_ref<const std::string&>(), level.text);
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value) {
      if (list.size() == level.items) break;
      list.push_back(Limited(item, level, false));
    }
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [key, item] : value.items()) {
    if (!is_top && object.size() == 3 * level.items) break;
    object[Shortened(key, level.text)] = Limited(item, level, false);
  }
  return object;
}

// The first lines that fit, each shortened.
std::string LimitedBlock(std::string_view block, const Level& level) {
  constexpr std::size_t kLinesBytesMax = kAnswerBytesMax / 2;
  std::string text;
  while (!block.empty()) {
    const std::string_view line = block.substr(0, block.find('\n'));
    std::string shown = Shortened(line, level.text);
    if (text.size() + shown.size() > kLinesBytesMax) {
      return text + fmt::format("... {} bytes more", block.size());
    }
    text += std::move(shown) + "\n";
    block.remove_prefix(std::min(block.size(), line.size() + 1));
  }
  if (!text.empty()) text.pop_back();
  return text;
}

Answer Limited(const Answer& answer, const Level& level) {
  const auto at_most = [&](std::size_t size, std::size_t items) { return std::min(size, items); };
  Answer shown;
  shown.trace = answer.trace;
  shown.summary = Shortened(answer.summary, std::max(2 * level.text, kSummaryLeast));
  if (answer.facts.is_object()) shown.facts = Limited(answer.facts, level, true);
  for (const std::string& column : answer.columns) {
    if (shown.columns.size() == 3 * level.items) break;
    shown.columns.push_back(Shortened(column, level.cell));
  }
  // No more rows fit into any answer.
  constexpr std::size_t kRowsMax = 1000;
  for (std::size_t r = 0; r < at_most(answer.rows.size(), kRowsMax); ++r) {
    const std::vector<Cell>& row = answer.rows[r];
    const auto columns = static_cast<std::ptrdiff_t>(at_most(row.size(), 3 * level.items));
    shown.rows.emplace_back(row.begin(), row.begin() + columns);
  }
  shown.total = answer.total;
  shown.offset = answer.offset;
  shown.cursor_key = answer.cursor_key;
  shown.block = LimitedBlock(answer.block, level);
  for (std::size_t i = 0; i < at_most(answer.notes.size(), level.items); ++i)
    shown.notes.push_back(Shortened(answer.notes[i], level.text));
  shown.notes.emplace_back(kCutNote);
  // A path that is cut is none.
  shown.files.assign(answer.files.begin(),
                     answer.files.begin() + static_cast<std::ptrdiff_t>(
                                                at_most(answer.files.size(), 2 * level.items)));
  for (const NextCall& call : answer.next) {
    if (DumpLine(call.arguments).size() > level.text) continue;
    shown.next.push_back({call.tool, call.arguments, Shortened(call.why, level.text)});
  }
  return shown;
}

// Cuts rows from the end until the larger half fits. False: it does not with the fewest.
bool RenderRows(const Answer& answer, std::size_t cell_bytes_max, mcp::ToolReply* reply) {
  constexpr std::size_t kRowsMin = 3;
  std::size_t shown = answer.rows.size();
  for (;;) {
    *reply = {Structured(answer, shown, cell_bytes_max), Text(answer, shown, cell_bytes_max),
              false};
    const std::size_t bytes = std::max(reply->text.size(), DumpLine(reply->structured).size());
    if (bytes <= kAnswerBytesMax) return true;
    if (shown <= kRowsMin) return false;
    // Rows are of similar size: aim once, then row by row.
    const std::size_t aim = shown * kAnswerBytesMax / bytes;
    shown = std::max(kRowsMin, std::min(aim, shown - 1));
  }
}

}  // namespace

mcp::ToolReply Render(const Answer& answer) {
  mcp::ToolReply reply;
  for (const Level& level : kLevels) {
    const bool whole = level.text == kAll;
    if (RenderRows(whole ? answer : Limited(answer, level), level.cell, &reply)) break;
  }
  reply.view = answer.view;
  return reply;
}

std::string MakeCursor(const std::string& key, std::uint64_t offset) {
  return fmt::format("{:x}-{:08x}", offset, HashText(key) >> 32);
}

Result<std::uint64_t> ReadCursor(const std::string& key, const std::string& cursor) {
  const std::size_t dash = cursor.find('-');
  std::uint64_t offset = 0;
  const bool number =
      dash != std::string::npos && dash > 0 && dash <= 8 &&
      std::all_of(cursor.begin(), cursor.begin() + static_cast<std::ptrdiff_t>(dash),
                  [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (number) offset = std::stoull(cursor.substr(0, dash), nullptr, 16);
  if (!number || MakeCursor(key, offset) != cursor) {
    return Fail(ErrorCode::kStaleCursor,
                fmt::format("cursor \"{}\" is not one of this question", cursor.substr(0, 40)),
                "repeat the call without cursor; a cursor goes with unchanged arguments");
  }
  return offset;
}

}  // namespace jarvis::tools
