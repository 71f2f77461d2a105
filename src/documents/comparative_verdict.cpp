#include "documents/comparative_verdict.h"

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "documents/comparative_base.h"
#include "documents/markdown_text.h"
#include "documents/time_parts.h"

namespace jarvis::documents {
namespace {

using findings::DifferenceVerdict;
using findings::Proof;

// "the recording", "a step": what takes the time.
std::string Subject(const ComparativeFacts& facts) {
  return OneUnit(facts.pair.balance.ledger.unit[0]);
}

// "5 iterations", "1 step".
std::string UnitsText(std::size_t count, analysis::TimeUnit unit) {
  return fmt::format("{} {}{}", count, analysis::TimeUnitText(unit), count == 1 ? "" : "s");
}

std::string SpreadText(const ComparativeFacts& facts, int side) {
  const findings::Sample& of = facts.pair.verdict.spread[side];
  return fmt::format("{} ± {} over {}", Digits(of.mean), Ms(of.deviation),
                     UnitsText(of.count, facts.pair.balance.ledger.unit[side]));
}

std::string TakesText(const ComparativeFacts& facts) {
  const findings::Balance& balance = facts.pair.balance;
  const double change = balance.ms[0] - balance.ms[1];
  const double ratio = balance.ms[1] / balance.ms[0];
  constexpr double kTimesFrom = 1.1;
  std::string text = fmt::format(
      "{} takes {} instead of {}{}, {} {} ({:+.1f} %", Subject(facts), Ms(balance.ms[0]),
      balance.like_units ? "" : OneUnit(balance.ledger.unit[1]) + " of ", Ms(balance.ms[1]),
      Ms(std::abs(change)), change > 0 ? "more" : "less", change / balance.ms[1] * 100);
  if (ratio >= kTimesFrom) text += fmt::format(", {:.2f} times as fast", ratio);
  return text + ")";
}

// Beyond so many times what runs of unchanged code differ by, one run a side tells.
constexpr double kFarTimes = 3;

double TimesUsual(const ComparativeFacts& facts) {
  return std::abs(facts.pair.verdict.ms) / (findings::kUsualWall * facts.pair.balance.ms[1]);
}

// How large a difference is beside what runs of unchanged code differ by.
std::string UsualText(const ComparativeFacts& facts) {
  const double times = TimesUsual(facts);
  const std::string usual = fmt::format("the about {:.0f} % by which runs of unchanged code differ",
                                        findings::kUsualWall * 100);
  if (!facts.ops().same_device) return fmt::format("{} is of one machine, not of two", usual);
  return fmt::format("it is {} {}",
                     times > kFarTimes ? "far more than"
                     : times > 1       ? "more than"
                                       : "no more than",
                     usual);
}

// By how much more the candidate's unit holds of what happens once.
double OneTimeMore(const ComparativeFacts& facts) {
  return OneTimeMs(facts.pair, 0) - OneTimeMs(facts.pair, 1);
}

// One run a side on two machines, or what happens once on one side alone.
bool IsUnproven(const ComparativeFacts& facts) {
  const DifferenceVerdict& verdict = facts.pair.verdict;
  if (verdict.proof == Proof::kWithinUsual || verdict.proof == Proof::kSpread) return true;
  const bool turned = (verdict.ms - OneTimeMore(facts) > 0) != (verdict.ms > 0);
  return turned || (verdict.proof == Proof::kAboveUsual && !facts.ops().same_device &&
                    TimesUsual(facts) <= kFarTimes);
}

// What happens once on one side, where that is much of the difference.
std::string OneTimeText(const ComparativeFacts& facts) {
  constexpr double kMuch = 0.25;  // of the difference
  const double ms = facts.pair.verdict.ms;
  const double more = OneTimeMore(facts);
  if (std::abs(more) < kMuch * std::abs(ms)) return {};
  const int side = more > 0 ? 0 : 1;
  return fmt::format(
      " The {}'s {} holds {} of one-time work, {}; without it the difference is about {}.",
      side == 0 ? "candidate" : "baseline",
      analysis::TimeUnitText(facts.pair.balance.ledger.unit[side]), Ms(OneTimeMs(facts.pair, side)),
      std::abs(more) > std::abs(ms) ? "more than the difference" : "a good part of the difference",
      SignedMs(ms - more));
}

std::string ProofText(const ComparativeFacts& facts) {
  const DifferenceVerdict& verdict = facts.pair.verdict;
  switch (verdict.proof) {
    case Proof::kNoWork: return {};
    case Proof::kSteps:
      return fmt::format("proven by the steps of these two runs: {} against {}",
                         SpreadText(facts, 0), SpreadText(facts, 1));
    case Proof::kSpread:
      return fmt::format("the spread of the steps explains it: {} against {}", SpreadText(facts, 0),
                         SpreadText(facts, 1));
    case Proof::kAboveUsual:
    case Proof::kWithinUsual:
      return fmt::format("{}, so there is no spread to test it by, and {}",
                         verdict.spread[0].count < 2 && verdict.spread[1].count < 2
                             ? "one run each"
                             : "one run on a side",
                         UsualText(facts));
  }
  return {};
}

// What of a difference within the noise is real all the same.
std::string RealWorkText(const ComparativeFacts& facts) {
  const DifferenceVerdict& verdict = facts.pair.verdict;
  const bool small = verdict.proof == Proof::kWithinUsual || verdict.proof == Proof::kSpread;
  if (!small || !verdict.work_changed || !facts.pair.comparable()) return {};
  return fmt::format(
      " The GPU's own work{} changed by {}, more than the {:.0f} % by which it usually varies: "
      "that "
      "part is a change.",
      verdict.any_comm ? " without communication" : "", SignedMs(verdict.work_ms),
      findings::kUsualWork * 100);
}

std::string ClockText(const ComparativeFacts& facts, double factor) {
  return fmt::format(
      "No change of the program: with the same calls nearly all kernels take {} of the baseline's "
      "time, whatever they compute, which is the GPU's clock or a power limit (`nvidia-smi -q -d "
      "CLOCK,PERFORMANCE`, `rocm-smi`). {}.",
      ThreeDigits(factor), Capitalised(TakesText(facts)));
}

// "batch 16 x 559 tokens": the 16, and what follows it; 0: no such text.
std::pair<double, std::string_view> BatchOf(const findings::Analysis& analysis) {
  constexpr std::string_view kBatchWord = "batch ";
  const std::string_view value = analysis.workload[findings::WorkloadPart::kBatch].value;
  if (!value.starts_with(kBatchWord)) return {0, {}};
  double number = 0;
  std::size_t at = kBatchWord.size();
  for (; at < value.size() && value[at] >= '0' && value[at] <= '9'; ++at)
    number = 10 * number + (value[at] - '0');
  return {number, value.substr(at)};
}

// Steps of other batch sizes are compared by what one of the batch takes.
std::string SampleText(const ComparativeFacts& facts) {
  const auto [candidate, of_candidate] = BatchOf(*facts.pair.primary);
  const auto [baseline, of_baseline] = BatchOf(*facts.pair.comparison);
  if (!(candidate > 0) || !(baseline > 0) || candidate == baseline || of_candidate != of_baseline)
    return {};
  const double each[2] = {facts.pair.balance.ms[0] / candidate,
                          facts.pair.balance.ms[1] / baseline};
  return fmt::format(" The batches differ: one sample takes {} against {} ({:+.0f} %).",
                     Ms(each[0]), Ms(each[1]), (each[0] / each[1] - 1) * 100);
}

}  // namespace

std::string PairVerdict(const ComparativeFacts& facts) {
  const findings::Balance& balance = facts.pair.balance;
  const findings::Comparability& c = facts.comparability();
  if (c.verdict == "same file") return "Both are the same file, so every difference is 0.";
  std::string text;
  if (!facts.pair.comparable()) {
    text = fmt::format(
        "**The two traces are not comparable by their calls ({} of 100)**: what follows adds up, "
        "and no difference in it is a finding. ",
        c.score);
  }
  if (!(balance.ms[0] > 0) || !(balance.ms[1] > 0))
    return text + "At least one of them has no GPU time.";
  const DifferenceVerdict& verdict = facts.pair.verdict;
  if (!facts.pair.comparable()) return text + Capitalised(TakesText(facts)) + ".";
  if (verdict.clock_factor && facts.ops().same_device)
    return text + ClockText(facts, *verdict.clock_factor);
  constexpr double kEqual = 0.0005;
  if (std::abs(verdict.ms) < kEqual * balance.ms[1])
    return text +
           fmt::format("**No difference**: {} takes {} on both sides.", Subject(facts),
                       Ms(balance.ms[0])) +
           RealWorkText(facts);
  return text +
         fmt::format("**{}**: {}; {}.",
                     IsUnproven(facts) ? "No difference is proven"
                     : verdict.ms < 0  ? "The candidate is faster"
                                       : "The candidate is slower",
                     TakesText(facts), ProofText(facts)) +
         OneTimeText(facts) + RealWorkText(facts) + SampleText(facts);
}

std::string PairSplit(const ComparativeFacts& facts) {
  const DifferenceVerdict& verdict = facts.pair.verdict;
  const findings::Balance& balance = facts.pair.balance;
  if (verdict.proof == Proof::kNoWork || facts.comparability().verdict == "same file") return {};
  const double least = findings::kPartOfUnit / 2 * balance.ms[0];
  std::vector<std::string> parts;
  double told = 0;
  const auto add = [&](const char* what, double ms) {
    if (std::abs(ms) < least) return;
    parts.push_back(fmt::format("{} {}", what, SignedMs(ms)));
    told += ms;
  };
  add("GPU work", verdict.work_ms);
  add("exposed communication", verdict.comm_ms);
  add("exposed copies from and to the host", verdict.copy_ms);
  add("GPU idle", verdict.idle_ms);
  add("work launched before the recording", verdict.rest_ms);
  if (parts.empty()) return {};
  constexpr double kRestTold = 0.005;  // of the difference: else the parts seem not to add up
  if (std::abs(verdict.ms - told) > kRestTold * std::abs(verdict.ms))
    parts.push_back(fmt::format("all else {}", SignedMs(verdict.ms - told)));
  std::string text = fmt::format("Of the {}: {}.", SignedMs(verdict.ms), fmt::join(parts, ", "));
  if (std::abs(verdict.comm_ms) >= least) {
    text += " With one rank a side, communication cannot be split into waiting and transfer";
    text +=
        verdict.comm == findings::CommLikeness::kUnlike
            ? std::string(".")
            : fmt::format(
                  "; there are as many calls on both sides, so it is skew between ranks or noise, "
                  "and without it the difference is {}.",
                  SignedMs(verdict.ms - verdict.comm_ms));
  }
  return text;
}

}  // namespace jarvis::documents
