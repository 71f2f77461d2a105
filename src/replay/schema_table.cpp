#include "replay/schema_table.h"

#include <unordered_map>

namespace jarvis::replay {
namespace {

constexpr std::string_view kVersionMark = "# torch ";

struct Table {
  std::string_view version;
  std::unordered_map<std::string_view, std::vector<std::string_view>> lines;  // by op
};

Table ReadTable() {
  Table table;
  for (const EmbeddedFile& file : ReplaySchemaFiles()) {
    std::string_view rest = file.text;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      if (line.starts_with(kVersionMark)) table.version = line.substr(kVersionMark.size());
      if (line.empty() || line.front() == '#') continue;
      table.lines[line.substr(0, line.find_first_of(".("))].push_back(line);
    }
  }
  return table;
}

const Table& TheTable() {
  static const Table table = ReadTable();
  return table;
}

}  // namespace

std::vector<OpSchema> OverloadsOf(std::string_view op) {
  std::vector<OpSchema> overloads;
  const auto found = TheTable().lines.find(op);
  if (found == TheTable().lines.end()) return overloads;
  for (const std::string_view line : found->second) {
    if (auto schema = ParseSchema(line)) overloads.push_back(std::move(*schema));
  }
  return overloads;
}

std::string_view SchemaTableVersion() {
  return TheTable().version;
}

}  // namespace jarvis::replay
