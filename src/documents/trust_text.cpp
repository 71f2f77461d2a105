#include "documents/trust_text.h"

#include <algorithm>
#include <cmath>

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
  std::string text = "- " + CellOfText(one.text);
  if (!one.consequence.empty()) text += " " + CellOfText(one.consequence);
  if (!one.record.empty()) text += " Record next: " + CellOfText(one.record) + ".";
  return text + "\n";
}

}  // namespace

std::string TrustList(const findings::Analysis& analysis) {
  std::string text;
  for (const findings::Quality& one : analysis.quality) {
    if (one.code == findings::kNotRecorded) text += QualityLine(one);
  }
  const findings::WallBase& wall = analysis.wall;
  if (analysis.cpu) {
    text +=
        "- Savings are upper bounds measured in the trace: the whole time of what would go away.\n";
  } else if (!wall.known) {
    text += "- Savings are of GPU time: " + CellOfText(wall.why_not) + "\n";
  } else if (std::abs(wall.replay_error_percent) >= kReplayOff) {
    text += fmt::format(
        "- Savings come from a simulation that reproduces the unchanged trace to within {}: "
        "smaller "
        "savings are not reliable.\n",
        Pct(std::abs(wall.replay_error_percent)));
  }
  const std::vector<std::string> limits = RecommendationLimits(analysis);
  for (const std::string& limit : limits)
    text += "- " + limit + "\n";
  const auto bearing = findings::BearingQualities(analysis);
  const std::size_t told = std::min(kQualitiesTold, kLinesTold - limits.size());
  for (std::size_t i = 0; i < std::min(told, bearing.size()); ++i)
    text += QualityLine(*bearing[i]);
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
