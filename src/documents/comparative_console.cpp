#include "documents/comparative_console.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "documents/comparative_base.h"
#include "documents/comparative_changes.h"
#include "documents/comparative_facts.h"
#include "documents/comparative_levers.h"
#include "documents/comparative_phases.h"
#include "documents/comparative_verdict.h"
#include "documents/comparative_words.h"
#include "documents/markdown_text.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kConsoleLevers = 5;
constexpr std::size_t kConsoleParts = 2;
constexpr double kConsoleShare = 0.02;
constexpr double kConsoleChange = 0.002;  // of the candidate's unit: lines that changed
constexpr double kConsoleLarge = 0.1;     // ... and those that are large though they did not

std::string WorkloadText(const findings::Analysis& analysis) {
  const std::string line = findings::WorkloadLine(analysis.workload);
  return line.empty() ? "workload not known" : line;
}

std::string BalanceText(const ComparativeFacts& facts) {
  const findings::Balance& balance = facts.pair.balance;
  const double least = kConsoleShare * balance.ms[0];
  std::string text =
      fmt::format("{:<52} {:>11} {:>11} {:>11}\n", "", "baseline", "candidate", "difference");
  for (const WindowPart& part : WindowParts(facts)) {
    text += fmt::format("{:<52} {:>11} {:>11} {:>11}  {}\n", part.name, Ms(part.baseline_ms),
                        Ms(part.candidate_ms), SignedMs(part.candidate_ms - part.baseline_ms),
                        Delta(part.candidate_ms, part.baseline_ms));
  }
  // What hardly changed is one row with what is hardly there, so that the rows add up.
  double rest[2] = {0, 0};
  for (const findings::BalanceLine& line : balance.lines) {
    if (std::abs(line.difference_ms()) < kConsoleChange * balance.ms[0] &&
        std::max(line.ms[0], line.ms[1]) < kConsoleLarge * balance.ms[0]) {
      for (int side = 0; side < 2; ++side)
        rest[side] += line.ms[side];
      continue;
    }
    const std::string mostly = PartsText(balance, line, kConsoleParts,
                                         std::max(least, 0.1 * std::abs(line.difference_ms())));
    text += fmt::format("  {:<50} {:>11} {:>11} {:>11}{}{}\n", LineName(line), Ms(line.ms[1]),
                        Ms(line.ms[0]), SignedMs(line.difference_ms()),
                        line.expected_ms ? "  by the hardware " + Ms(*line.expected_ms) : "",
                        mostly.empty() ? "" : "  " + mostly);
  }
  if (rest[0] > 0 || rest[1] > 0) {
    text += fmt::format("  {:<50} {:>11} {:>11} {:>11}\n", "all other lines", Ms(rest[1]),
                        Ms(rest[0]), SignedMs(rest[0] - rest[1]));
  }
  return text;
}

// What these recordings cannot tell, and what to record for it; how alike they are stands in the
// report.
std::string LimitsText(const ComparativeFacts& facts) {
  std::vector<std::string> limits = PairLimits(facts);
  if (!limits.empty()) limits.erase(limits.begin());
  std::string text;
  for (const std::string& limit : limits)
    text += "- " + WithoutEmphasis(limit) + "\n";
  for (const std::string& next : PairNextRecordings(facts))
    text += "- Record next: " + WithoutEmphasis(next) + "\n";
  return text.empty() ? text : "\nWhat this cannot tell:\n" + text;
}

std::string PhaseText(const ComparativeFacts& facts) {
  const std::vector<PhaseRow> rows = PairPhaseRows(facts);
  if (rows.empty()) return {};
  std::string text = fmt::format("{:<42} {:>25} {:>25} {:>11}\n",
                                 "By phase, " + PhaseRowsOf(facts) + " (busy + idle)", "baseline",
                                 "candidate", "difference");
  for (const PhaseRow& row : rows)
    text += fmt::format("  {:<40} {:>25} {:>25} {:>11}\n", row.name, row.baseline, row.candidate,
                        row.difference);
  return text + "\n";
}

}  // namespace

Result<std::string> PairConsole(const ComparativeSide& candidate, const ComparativeSide& baseline,
                                Job& job) {
  JV_ASSIGN(const ComparativeFacts facts, CollectFacts(candidate, baseline, job));
  std::string text = WithoutEmphasis(PairVerdict(facts)) + "\n";
  if (const std::string split = PairSplit(facts); !split.empty()) text += split + "\n";
  if (const auto changes = PairChangeLines(facts); !changes.empty()) {
    text += "What changed, net, by size:\n";
    for (const std::string& line : changes)
      text += "- " + WithoutEmphasis(line) + "\n";
  }
  text += "\n";
  const std::string workloads[2] = {WorkloadText(*facts.pair.primary),
                                    WorkloadText(*facts.pair.comparison)};
  if (workloads[0] == workloads[1]) {
    text += "both:      " + workloads[0] + "\n";
  } else {
    text += "candidate: " + workloads[0] + "\nbaseline:  " + workloads[1] + "\n";
  }
  if (!facts.shared.empty()) text += facts.shared + "\n";
  if (!facts.differences.empty())
    text += fmt::format("differs:   {}\n", fmt::join(facts.differences, "; "));
  for (const std::string& line : PairBases(facts))
    text += line + "\n";
  if (!facts.pair.balance.lines.empty())
    text += "\n" + BalanceText(facts) + "\n" + PhaseText(facts);
  if (!facts.pair.comparable() || facts.pair.balance.lines.empty()) {
    while (text.ends_with('\n'))
      text.pop_back();
    return text;
  }
  for (const std::string& finding : KeyFindings(facts))
    text += "- " + WithoutEmphasis(finding) + "\n";
  const std::vector<LeverText> levers = PairLevers(facts);
  if (!levers.empty()) text += "\nWhat to do about the candidate:\n";
  for (std::size_t i = 0; i < levers.size() && i < kConsoleLevers; ++i) {
    text += fmt::format("{}. {}: {}\n", i + 1, levers[i].title,
                        levers[i].impact.empty() ? "saving not known" : levers[i].impact);
    if (const std::string action = ActionText(levers[i]); !action.empty())
      text += "   " + action + "\n";
  }
  if (const std::string order = LeverOrderText(levers); !order.empty()) text += order + "\n";
  text += LimitsText(facts);
  text.pop_back();
  return text;
}

}  // namespace jarvis::documents
