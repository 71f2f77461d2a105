#include "app/collectives_text.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace jarvis::app {
namespace {

constexpr std::size_t kRanksShown = 16;
constexpr std::size_t kNotesShown = 4;

std::string CellText(const Json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number_integer()) return fmt::format("{}", cell.get<std::int64_t>());
  if (!cell.is_number()) return "-";
  const double value = cell.get<double>();
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

// A table whose columns are as wide as they must be.
std::string RanksTable(const Json& answer) {
  const auto columns = answer.value("columns", std::vector<std::string>());
  const Json rows = answer.value("rows", Json::array());
  std::vector<std::vector<std::string>> lines = {columns};
  for (std::size_t r = 0; r < rows.size() && r < kRanksShown; ++r) {
    lines.emplace_back();
    for (const Json& cell : rows[r])
      lines.back().push_back(CellText(cell));
  }
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i)
      row += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", line[i], widths[i]);
    text += row + "\n";
  }
  if (rows.size() > kRanksShown) text += fmt::format("and {} more\n", rows.size() - kRanksShown);
  return text;
}

std::string LeversText(const Json& levers, double base_ms) {
  std::string text;
  std::size_t number = 0;
  for (const Json& lever : levers) {
    // Without ways out it is a part of another.
    if (!lever.contains("path_a") && !lever.contains("path_b")) continue;
    const double saved = lever.value("saved_ms", 0.0);
    text +=
        fmt::format("{}. {}: saves {} ms{}\n", ++number, lever.value("change", ""), CellText(saved),
                    base_ms > 0 ? fmt::format(" ({:.0f} %)", 100 * saved / base_ms) : "");
    if (lever.contains("path_a")) text += "   Path A: " + lever.value("path_a", "") + "\n";
    if (lever.contains("path_b")) text += "   Path B: " + lever.value("path_b", "") + "\n";
  }
  return text;
}

// What is left once nobody is waited for: a line each.
std::string ThenText(const Json& levers) {
  constexpr std::size_t kThenShown = 4;
  constexpr std::size_t kPathMax = 200;
  std::string text;
  for (std::size_t i = 0; i < levers.size() && i < kThenShown; ++i) {
    const Json& lever = levers[i];
    const double most = lever.value("at_most_ms", 0.0);
    text += fmt::format("- {}: at most {} ms\n", lever.value("change", ""), CellText(Json(most)));
    for (const char* path : {"path_a", "path_b"}) {
      const std::string words = lever.value(path, "");
      if (words.empty() || words.size() > kPathMax) continue;
      const double part = lever.value(std::string(path) + "_at_most_ms", most);
      text +=
          fmt::format("   Path {}: {}: at most {} ms\n",
                      path == std::string_view("path_a") ? "A" : "B", words, CellText(Json(part)));
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
  text += "\n" + RanksTable(answer);
  const std::string levers =
      LeversText(verdict.value("levers", Json::array()), verdict.value("base_ms", 0.0));
  if (!levers.empty()) text += "\nWhat to change:\n" + levers;
  if (const std::string then = ThenText(verdict.value("then", Json::array())); !then.empty())
    text += (levers.empty() ? "\nWhat to change:\n" : "Then, on every rank:\n") + then;
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
