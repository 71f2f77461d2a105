#include "launch/summary.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::launch {
namespace {

constexpr std::array<std::string_view, 4> kStatuses = {"UNKNOWN", "SUCCESS", "FAILED", "SKIPPED"};

std::string Line(const std::vector<std::string>& values, std::string_view status,
                 std::string_view duration) {
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i)
    line += fmt::format("{:<{}} ", OneLine(values[i]), i == 0 ? 10 : 15);
  return line + fmt::format("{:<10} {:<15}\n", status, duration);
}

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words;
  while (!(line = Trim(line)).empty()) {
    words.emplace_back(line.substr(0, line.find(' ')));
    line.remove_prefix(words.back().size());
  }
  return words;
}

}  // namespace

std::string_view StatusText(RunStatus status) {
  return kStatuses.at(static_cast<std::size_t>(status));
}

std::optional<RunStatus> FindStatus(std::string_view text) {
  const auto* found = std::find(kStatuses.begin(), kStatuses.end(), text);
  if (found == kStatuses.end()) return std::nullopt;
  return static_cast<RunStatus>(found - kStatuses.begin());
}

std::string SummaryText(const Plan& plan, const std::vector<SummaryRow>& rows,
                        std::string_view generated) {
  std::string text =
      fmt::format("NCCL Channel & Thread Sweep Summary\nGenerated: {}\n\n", generated);
  text += Line(AxisTitles(plan), "STATUS", "DURATION(s)");
  text += std::string(52, '-') + "\n";
  const std::size_t group = GroupSize(plan);
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const SummaryRow& row = rows[i];
    text += Line(plan.runs[i].values, StatusText(row.status),
                 row.duration_s ? std::to_string(*row.duration_s) : "N/A");
    if ((i + 1) % group == 0) text += "\n";
  }
  text += "\nOutput directories:\n";
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    if (i % group == 0) text += fmt::format("  {}:\n", GroupTitle(plan, plan.runs[i]));
    text += fmt::format("    - {}/{}/\n", plan.sweep_dir, plan.runs[i].directory);
  }
  return text;
}

std::vector<SummaryLine> ReadSummary(std::string_view text) {
  std::vector<SummaryLine> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::vector<std::string> words = Words(line);
    if (words.size() < 3) continue;
    const auto status = FindStatus(words[words.size() - 2]);
    if (!status) continue;
    SummaryLine read;
    read.row = {*status, ParseInt(words.back())};
    words.resize(words.size() - 2);
    read.values = std::move(words);
    lines.push_back(std::move(read));
  }
  return lines;
}

std::vector<std::string> AxisTitles(const Plan& plan) {
  std::vector<std::string> titles;
  for (const Axis& axis : plan.axes)
    titles.push_back(UpperAscii(axis.name));
  return titles;
}

std::size_t GroupSize(const Plan& plan) {
  return plan.axes.size() < 2 ? plan.runs.size() : plan.axes.back().values.size();
}

std::string GroupTitle(const Plan& plan, const PlannedRun& run) {
  if (plan.axes.size() < 2) return "Runs";
  std::string title;
  for (std::size_t i = 0; i + 1 < plan.axes.size(); ++i) {
    title += fmt::format("{}{}={}", title.empty() ? "" : ", ", UpperAscii(plan.axes[i].name),
                         OneLine(run.values[i]));
  }
  return title;
}

}  // namespace jarvis::launch
