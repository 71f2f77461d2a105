#include "tools/sweep/text.h"

#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/plan.h"
#include "table/column_place.h"

namespace jarvis::tools {
namespace {

// A line a run: its directory and what becomes of it.
std::string RowLines(const Json& answer) {
  const auto columns = answer.at("columns").get<std::vector<std::string>>();
  const std::size_t directory = PlaceOf(columns, "directory");
  const std::size_t what = PlaceOf(columns, "what");
  std::string lines;
  for (const Json& row : answer.at("rows")) {
    lines += fmt::format("  {:<40} {}\n", OneLine(row[directory].get<std::string>()),
                         OneLine(row[what].get<std::string>()));
  }
  return lines;
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
  text += RowLines(answer);
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
