#include "tools/shared/answer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/string_pool.h"
#include "base/text.h"
#include "output/number_format.h"

namespace jarvis::tools {
namespace {

// Longer texts are cut: an answer is for reading, the files have them whole.
constexpr std::size_t kCellBytesMax = 600;

std::string Cut(const std::string& text) {
  if (text.size() <= kCellBytesMax) return text;
  return std::string(Utf8Prefix(text, kCellBytesMax)) + "...";
}

Json CellJson(const Cell& cell) {
  struct Visitor {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(std::int64_t value) const { return value; }
    Json operator()(double value) const { return output::Rounded(value); }
    Json operator()(bool value) const { return value; }
    Json operator()(const std::string& value) const { return Cut(value); }
  };
  return std::visit(Visitor{}, cell);
}

// Text from a trace in a cell of a markdown table: one line, no bars.
std::string TableText(const Cell& cell) {
  std::string text = OneLine(Cut(output::CellText(cell)));
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

Json Structured(const Answer& answer, std::size_t shown) {
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
        row.push_back(CellJson(cell));
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
  return value.is_string() ? OneLine(value.get_ref<const std::string&>()) : DumpLine(value);
}

// Each part is on lines of its own, and what came from a trace cannot begin one: no name in it can
// pass for a note or a suggestion.
std::string Text(const Answer& answer, std::size_t shown) {
  std::string out;
  if (!answer.trace.empty()) out += "trace " + answer.trace + "\n";
  out += OneLine(answer.summary) + "\n";
  if (answer.facts.is_object()) {
    for (const auto& [key, value] : answer.facts.items())
      out += key + ": " + FactText(value) + "\n";
  }
  if (!answer.columns.empty() && shown > 0) {
    out += '\n';
    std::string line;
    for (const std::string& column : answer.columns) {
      out += "| " + column + " ";
      line += "|---";
    }
    out += "|\n" + line + "|\n";
    for (std::size_t r = 0; r < shown; ++r) {
      for (const Cell& cell : answer.rows[r])
        out += "| " + TableText(cell) + " ";
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
  if (!answer.block.empty()) out += "\n" + answer.block + "\n";
  for (const std::string& note : answer.notes)
    out += "Note: " + OneLine(note) + "\n";
  for (const FileLink& file : answer.files) {
    out += fmt::format("File: {} ({}, {} rows)\n", file.path, file.what, file.rows);
  }
  for (const NextCall& call : answer.next) {
    out += fmt::format("Next: {} {} ({})\n", call.tool, DumpLine(call.arguments), call.why);
  }
  out.pop_back();
  return out;
}

}  // namespace

mcp::ToolReply Render(const Answer& answer) {
  constexpr std::size_t kRowsMin = 3;
  std::size_t shown = answer.rows.size();
  for (;;) {
    mcp::ToolReply reply{Structured(answer, shown), Text(answer, shown), false};
    const std::size_t bytes = std::max(reply.text.size(), DumpLine(reply.structured).size());
    if (bytes <= kAnswerBytesMax || shown <= kRowsMin) return reply;
    // Rows are of similar size: aim once, then row by row.
    const std::size_t aim = shown * kAnswerBytesMax / bytes;
    shown = std::max(kRowsMin, std::min(aim, shown - 1));
  }
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
