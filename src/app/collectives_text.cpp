#include "app/collectives_text.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace jarvis::app {
namespace {

constexpr std::size_t kRanksShown = 16;
constexpr std::size_t kNotesShown = 4;
constexpr double kNothingMs = 0.005;

std::string CellText(const Json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number_integer()) return fmt::format("{}", cell.get<std::int64_t>());
  if (!cell.is_number()) return "-";
  const double value = cell.get<double>();
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

// Columns that say the same of every rank tell no rank from another.
bool IsShown(const std::string& column, std::size_t place, const Json& rows) {
  const bool plain = column == "role" || column == "base" || column == "unmatched_ms" ||
                     column == "bubble_ms" || column == "last" || column == "lost_ms";
  if (!plain || rows.size() < 2) return true;
  if (column == "role" || column == "base") {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Json& row) { return row[place] != rows.front()[place]; });
  }
  return std::any_of(rows.begin(), rows.end(), [&](const Json& row) {
    return !row[place].is_number() || row[place].get<double>() >= kNothingMs;
  });
}

// What the roles of the rows mean.
std::string RolesText(const Json& rows, std::size_t place) {
  static constexpr std::pair<const char*, const char*> kMeanings[] = {
      {"cause", "cause: others wait for it"},
      {"victim", "victim: it waits for a cause"},
      {"neither", "neither: it costs the others little"}};
  std::string text;
  for (const auto& [role, meaning] : kMeanings) {
    const bool any = std::any_of(rows.begin(), rows.end(),
                                 [&](const Json& row) { return row[place] == Json(role); });
    if (any) text += (text.empty() ? "" : "; ") + std::string(meaning);
  }
  return text;
}

// What the columns mean that do not say it themselves.
std::string Legend(const Json& answer, const std::vector<std::string>& shown,
                   const std::string& base) {
  static constexpr std::pair<const char*, const char*> kMeanings[] = {
      {"wait_ms", "wait_ms: in collectives, until the last rank comes"},
      {"bubble_ms", "bubble_ms: for another stage of the pipeline"},
      {"unmatched_ms", "unmatched_ms: in calls that no other rank's recording has"},
      {"last", "last: how often it comes last by more than the clocks may be wrong"},
      {"lost_ms", "lost_ms: by how much later than the middle one, all times together"}};
  const auto columns = answer.value("columns", std::vector<std::string>());
  std::vector<std::string> parts;
  for (const std::string& column : shown) {
    if (column == "role") {
      const auto place = static_cast<std::size_t>(
          std::find(columns.begin(), columns.end(), column) - columns.begin());
      const std::string roles = RolesText(answer.value("rows", Json::array()), place);
      if (!roles.empty()) parts.push_back(roles);
    }
    for (const auto& [name, meaning] : kMeanings) {
      if (column == name) parts.emplace_back(meaning);
    }
  }
  if (parts.empty()) return {};
  return fmt::format("(of the {} of each rank; {})\n", base.empty() ? "recording" : base,
                     fmt::join(parts, "; "));
}

// A table whose columns are as wide as they must be.
std::string RanksTable(const Json& answer, const std::string& base) {
  const auto columns = answer.value("columns", std::vector<std::string>());
  const Json rows = answer.value("rows", Json::array());
  std::vector<std::size_t> places;
  std::vector<std::vector<std::string>> lines = {{}};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!IsShown(columns[i], i, rows)) continue;
    places.push_back(i);
    lines.front().push_back(columns[i]);
  }
  for (std::size_t r = 0; r < rows.size() && r < kRanksShown; ++r) {
    lines.emplace_back();
    for (const std::size_t place : places)
      lines.back().push_back(CellText(rows[r][place]));
  }
  std::vector<std::size_t> widths(places.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i)
      row += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", line[i], widths[i]);
    text += row + "\n";
  }
  if (rows.size() > kRanksShown) text += fmt::format("and {} more\n", rows.size() - kRanksShown);
  return text + Legend(answer, lines.front(), base);
}

std::string MsText(double ms) {
  std::string digits = CellText(Json(ms));
  if (ms >= 1000) digits.insert(digits.size() - 3, ",");
  return digits;
}

// Both kinds in one list, in their places.
std::string ChangesText(const Json& verdict) {
  constexpr std::size_t kChangesShown = 6;
  constexpr std::size_t kBoundPathMax = 300;
  const double base_ms = verdict.value("base_ms", 0.0);
  std::vector<Json> changes;
  for (const char* list : {"levers", "then"}) {
    for (const Json& one : verdict.value(list, Json::array())) {
      // Without a place it is a part of another.
      if (one.contains("place")) changes.push_back(one);
    }
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Json& a, const Json& b) {
    return a.value("place", 0) < b.value("place", 0);
  });
  std::string text;
  for (std::size_t i = 0; i < changes.size() && i < kChangesShown; ++i) {
    const Json& one = changes[i];
    const bool bound = !one.contains("saved_ms");
    const double ms = one.value(bound ? "at_most_ms" : "saved_ms", 0.0);
    text += fmt::format("{}. {}: ", i + 1, one.value("change", ""));
    text += ms > 0 || !bound ? fmt::format("{} {} ms", bound ? "at most" : "saves", MsText(ms))
                             : "not sized";
    if (base_ms > 0 && ms > 0) text += fmt::format(" ({:.0f} %", 100 * ms / base_ms);
    if (base_ms > 0 && ms > 0) {
      const double of_rest = one.value("percent_of_what_first_leaves", 0.0);
      text += of_rest > 0 ? fmt::format("; {:.0f} % of what number 1 leaves)", of_rest) : ")";
    }
    text += one.contains("later") && i > 0 ? ", shows after number 1\n" : "\n";
    for (const char* path : {"path_a", "path_b"}) {
      const std::string words = one.value(path, "");
      if (words.empty() || (bound && words.size() > kBoundPathMax)) continue;
      text += fmt::format("   Path {}: {}", path == std::string_view("path_a") ? "A" : "B", words);
      if (bound) {
        const std::string size = std::string(path) + "_at_most_ms";
        text += one.contains(size) ? fmt::format(": at most {} ms", MsText(one.value(size, 0.0)))
                                   : ": not sized";
      }
      text += "\n";
    }
  }
  return text;
}

// The cause stands alone on the first line; what speaks for it and the counts follow.
std::string HeadText(const std::string& summary) {
  const std::size_t end = summary.find(". ");
  if (end == std::string::npos) return summary + "\n";
  return summary.substr(0, end + 1) + "\n" + summary.substr(end + 2) + "\n";
}

}  // namespace

std::string CollectivesText(const Json& answer) {
  const Json verdict = answer.value("verdict", Json::object());
  if (verdict.value("text", "").empty()) return {};
  std::string text = HeadText(answer.value("summary", ""));
  if (const std::string workload = answer.value("workload", ""); !workload.empty())
    text += workload + "\n";
  text += "\n" + RanksTable(answer, verdict.value("base", ""));
  if (const std::string changes = ChangesText(verdict); !changes.empty())
    text += "\nWhat to change:\n" + changes;
  const auto not_told = verdict.value("not_told", std::vector<std::string>());
  for (std::size_t i = 0; i < not_told.size(); ++i)
    text += (i == 0 ? "\n" : "") + not_told[i] + "\n";
  const auto notes = answer.value("notes", std::vector<std::string>());
  for (std::size_t i = 0; i < notes.size() && i < kNotesShown; ++i)
    text += fmt::format("{}{}\n", i == 0 ? "\nNote: " : "Note: ", notes[i]);
  const Json files = answer.value("files", Json::array());
  if (!files.empty()) {
    const std::filesystem::path report = files.front().value("path", "");
    std::size_t tables = 0;
    for (const Json& file : files)
      tables += file.value("path", "").ends_with(".html") || file == files.front() ? 0U : 1U;
    text += fmt::format("\n{} ({} tables beside it)", report.string(), tables);
  }
  return text;
}

}  // namespace jarvis::app
