#include "tools/shared/part_warnings.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "formats/json_parts.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kWarningsMax = 8;
constexpr std::size_t kMessageMax = 160;  // characters

std::string Shown(const std::string& text) {
  const std::string line = OneLine(ValidUtf8(text));
  const std::string_view cut = Utf8Characters(line, kMessageMax);
  return std::string(cut) + (cut.size() < line.size() ? "..." : "");
}

}  // namespace

Json WarningsJson(const std::vector<PartWarning>& warnings) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(warnings.size(), kWarningsMax); ++i) {
    const PartWarning& one = warnings[i];
    list.push_back({{"config", formats::TextOrNull(one.config)},
                    {"rank", one.rank ? Json(*one.rank) : Json(nullptr)},
                    {"file", formats::TextOrNull(ValidUtf8(one.file))},
                    {"code", one.code},
                    {"message", Shown(one.message)}});
  }
  return list;
}

Table WarningsTable(std::string name, const std::vector<PartWarning>& warnings) {
  Table table{std::move(name), {"config", "rank", "file", "code", "message"}, {}};
  const auto text = [](const std::string& value) { return value.empty() ? Cell() : Cell(value); };
  for (const PartWarning& one : warnings) {
    table.rows.push_back({text(one.config), one.rank ? Cell(*one.rank) : Cell(), text(one.file),
                          one.code, one.message});
  }
  return table;
}

void AddMoreWarnings(const std::vector<PartWarning>& warnings, const char* file, Answer* answer) {
  if (warnings.size() > kWarningsMax) {
    answer->notes.push_back(
        fmt::format("{} further warnings: {}", warnings.size() - kWarningsMax, file));
  }
}

}  // namespace jarvis::tools
