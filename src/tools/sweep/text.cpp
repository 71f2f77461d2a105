#include "tools/sweep/text.h"

#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/plan.h"

namespace jarvis::tools {
namespace {

// The last two cells of a row: directory and what becomes of it.
std::string RowLine(const Json& row) {
  if (row.size() < 2) return {};
  return fmt::format("  {:<40} {}\n", OneLine(row[row.size() - 2].get<std::string>()),
                     OneLine(row[row.size() - 1].get<std::string>()));
}

// As it could be typed.
std::string RunLines(const Json& run) {
  std::string lines;
  for (const auto& [name, value] : run.at("env").items())
    lines += fmt::format("  {}={} \\\n", name, launch::CommandLine({value.get<std::string>()}));
  return lines + "  " + launch::CommandLine(run.at("command").get<std::vector<std::string>>()) +
         "\n";
}

}  // namespace

std::string PlanText(const Json& answer) {
  std::string text = answer.at("summary").get<std::string>() + "\n\n";
  for (const Json& row : answer.at("rows"))
    text += RowLine(row);
  if (answer.at("truncated") == Json(true))
    text += fmt::format("  ... {} in all\n", answer.at("total").get<std::uint64_t>());
  if (!answer.at("runs").empty()) {
    text += "\nThe first of them, and the others with their own values:\n";
    text += RunLines(answer.at("runs").front());
  }
  text += "\n";
  for (const Json& note : answer.value("notes", Json::array()))
    text += "Note: " + OneLine(note.get<std::string>()) + "\n";
  for (const Json& file : answer.value("files", Json::array()))
    text += "File: " + file.at("path").get<std::string>() + "\n";
  text.pop_back();
  return text;
}

}  // namespace jarvis::tools
