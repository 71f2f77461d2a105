#include "documents/trust_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "documents/limits_text.h"
#include "documents/markdown_text.h"
#include "findings/one/quality_absent.h"
#include "findings/one/quality_scope.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kQualitiesTold = 4;
constexpr std::size_t kLinesTold = 5;
// Percent by which the replay of an unchanged trace may be off before it limits what is said.
constexpr double kReplayOff = 2;

std::string QualityLine(const findings::Quality& one) {
  std::string text = CellOfText(one.text);
  if (!one.consequence.empty()) text += " " + CellOfText(one.consequence);
  if (!one.record.empty()) text += " Record next: " + CellOfText(one.record) + ".";
  return text;
}

}  // namespace

std::vector<std::string> TrustLines(const findings::Analysis& analysis) {
  std::vector<std::string> lines;
  for (const findings::Quality& one : analysis.quality) {
    if (one.code == findings::kNotRecorded) lines.push_back(QualityLine(one));
  }
  const findings::WallBase& wall = analysis.wall;
  if (analysis.cpu) {
    lines.push_back(
        "Savings are upper bounds measured in the trace: the whole time of what would go away.");
  } else if (!wall.known) {
    lines.push_back("Savings are of GPU time: " + CellOfText(wall.why_not));
  } else if (std::abs(wall.replay_error_percent) >= kReplayOff) {
    lines.push_back(fmt::format(
        "Savings come from a simulation that reproduces the unchanged trace to within {}: "
        "smaller savings are not reliable.",
        Pct(std::abs(wall.replay_error_percent))));
  }
  std::vector<std::string> limits = RecommendationLimits(analysis);
  const std::size_t told = std::min(kQualitiesTold, kLinesTold - limits.size());
  std::move(limits.begin(), limits.end(), std::back_inserter(lines));
  const auto bearing = findings::BearingQualities(analysis);
  for (std::size_t i = 0; i < std::min(told, bearing.size()); ++i)
    lines.push_back(QualityLine(*bearing[i]));
  return lines;
}

std::string TrustList(const findings::Analysis& analysis) {
  std::string text;
  for (const std::string& line : TrustLines(analysis))
    text += "- " + line + "\n";
  return text;
}

std::string SavingsNote(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known) return "";
  return fmt::format(
      "Savings are of wall time: the trace's dependencies are simulated with the change made. "
      "Without "
      "a change the simulation is off by {}{}.",
      Pct(std::abs(wall.replay_error_percent)),
      wall.matched_waits_percent > 0
          ? fmt::format(" and explains {} of the host's waits", Pct(wall.matched_waits_percent))
          : "");
}

}  // namespace jarvis::documents
