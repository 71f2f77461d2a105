#include "documents/comparative_console.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/comparative_base.h"
#include "documents/comparative_facts.h"
#include "documents/comparative_levers.h"
#include "documents/comparative_words.h"
#include "documents/markdown_text.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kConsoleLevers = 5;
constexpr std::size_t kConsoleParts = 2;
constexpr double kConsoleShare = 0.02;

// Marks of emphasis say nothing in a terminal.
std::string Plain(std::string text) {
  for (std::size_t at = text.find("**"); at != std::string::npos; at = text.find("**", at))
    text.erase(at, 2);
  return text;
}

std::string WorkloadText(const findings::Analysis& analysis) {
  const std::string line = findings::WorkloadLine(analysis.workload);
  return line.empty() ? "workload not known" : line;
}

std::string BalanceText(const ComparativeFacts& facts) {
  const findings::Balance& balance = facts.pair.balance;
  const double least = kConsoleShare * balance.ms[0];
  std::string text =
      fmt::format("{:<38} {:>11} {:>11} {:>11}\n", "", "baseline", "candidate", "difference");
  for (const WindowPart& part : WindowParts(facts)) {
    text += fmt::format("{:<38} {:>11} {:>11} {:>11}\n", part.name, Ms(part.baseline_ms),
                        Ms(part.candidate_ms), Delta(part.candidate_ms, part.baseline_ms));
  }
  for (const findings::BalanceLine& line : balance.lines) {
    if (std::max(line.ms[0], line.ms[1]) < least) continue;
    const std::string mostly = PartsText(balance, line, kConsoleParts,
                                         std::max(least, 0.1 * std::abs(line.difference_ms())));
    text += fmt::format("  {:<36} {:>11} {:>11} {:>11}{}{}\n", line.name, Ms(line.ms[1]),
                        Ms(line.ms[0]), SignedMs(line.difference_ms()),
                        line.expected_ms ? "  by the hardware " + Ms(*line.expected_ms) : "",
                        mostly.empty() ? "" : "  " + mostly);
  }
  return text;
}

}  // namespace

Result<std::string> PairConsole(const ComparativeSide& candidate, const ComparativeSide& baseline,
                                Job& job) {
  JV_ASSIGN(const ComparativeFacts facts, CollectFacts(candidate, baseline, job));
  std::string text = Plain(PairVerdict(facts)) + "\n";
  for (const std::string& line : PairBases(facts))
    text += line + "\n";
  text += "candidate: " + WorkloadText(*facts.pair.primary) + "\n";
  text += "baseline:  " + WorkloadText(*facts.pair.comparison) + "\n";
  if (!facts.differences.empty())
    text += fmt::format("differs:   {}\n", fmt::join(facts.differences, "; "));
  if (!facts.pair.balance.lines.empty()) text += "\n" + BalanceText(facts) + "\n";
  if (!facts.pair.comparable() || facts.pair.balance.lines.empty()) {
    while (text.ends_with('\n'))
      text.pop_back();
    return text;
  }
  for (const std::string& finding : KeyFindings(facts))
    text += "- " + Plain(finding) + "\n";
  const std::vector<LeverText> levers = PairLevers(facts);
  if (!levers.empty()) text += "\nWhat to do about the candidate:\n";
  for (std::size_t i = 0; i < levers.size() && i < kConsoleLevers; ++i) {
    text += fmt::format("{}. {}: {}\n", i + 1, levers[i].title,
                        levers[i].impact.empty() ? "saving not known" : levers[i].impact);
    if (const std::string action = ActionText(levers[i]); !action.empty())
      text += "   " + action + "\n";
  }
  if (const std::string order = LeverOrderText(levers); !order.empty()) text += order + "\n";
  text.pop_back();
  return text;
}

}  // namespace jarvis::documents
