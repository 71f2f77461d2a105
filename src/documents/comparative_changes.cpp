#include "documents/comparative_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "documents/comparative_base.h"
#include "documents/comparative_words.h"
#include "documents/markdown_text.h"
#include "documents/time_parts.h"

namespace jarvis::documents {
namespace {

using findings::BalanceLine;
using findings::ChangedCall;
using findings::ChangedKernel;
using findings::ChangeKind;
using findings::DifferenceVerdict;
using findings::PairChange;
using findings::Proof;

constexpr std::size_t kKernelsNamed = 2;
constexpr std::size_t kLinesNamed = 4;
constexpr std::size_t kCallsNamed = 3;
constexpr std::size_t kNameBytes = 60;
constexpr double kHostWorth = 0.05;  // of the unit: host time that is worth a word

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

// How large a difference is beside what runs of unchanged code differ by.
std::string UsualText(double ms, double of_ms) {
  constexpr double kFar = 3;
  const double times = std::abs(ms) / (findings::kUsualWall * of_ms);
  return fmt::format("{} the about {:.0f} % by which runs of unchanged code differ",
                     times > kFar ? "far more than"
                     : times > 1  ? "more than"
                                  : "no more than",
                     findings::kUsualWall * 100);
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
      return fmt::format("{}, so there is no spread to test it by, and it is {}",
                         verdict.spread[0].count < 2 && verdict.spread[1].count < 2
                             ? "one run each"
                             : "one run on a side",
                         UsualText(verdict.ms, facts.pair.balance.ms[1]));
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

class ChangeWriter {
 public:
  explicit ChangeWriter(const ComparativeFacts& facts)
      : f_(facts), changes_(facts.pair.changes), balance_(facts.pair.balance) {}

  std::vector<std::string> Run() {
    std::vector<std::string> lines;
    for (const PairChange& change : changes_.changes) {
      if (!IsNoise(change))
        lines.push_back(fmt::format("**{}**: {}.", SignedMs(change.ms), TextOf(change)));
    }
    for (const PairChange& change : changes_.changes) {
      if (IsNoise(change))
        lines.push_back(
            fmt::format("No change of the code, {}: {}.", SignedMs(change.ms), TextOf(change)));
    }
    if (std::string calls = CallsText(); !calls.empty()) lines.push_back(std::move(calls));
    return lines;
  }

 private:
  // Communication that is the same on both sides, as far as one rank tells.
  bool IsNoise(const PairChange& change) const {
    return change.kind == ChangeKind::kCommunication && change.helpers.empty() &&
           f_.pair.verdict.comm != findings::CommLikeness::kUnlike;
  }

  std::string TextOf(const PairChange& change) const {
    switch (change.kind) {
      case ChangeKind::kGenerated: return Generated(change);
      case ChangeKind::kPrecision:
        return fmt::format("Precision {} → {}{}", changes_.precision[1], changes_.precision[0],
                           Lines(change));
      case ChangeKind::kReplaced: return Replaced(change);
      case ChangeKind::kSameCalls: return SameCalls(change);
      case ChangeKind::kFewerCalls:
        return OftenText("fewer", change) + Lines(change) + KernelList(change);
      case ChangeKind::kMoreCalls:
        return OftenText("more", change) + Lines(change) + KernelList(change);
      case ChangeKind::kCommunication: return Communication(change);
      case ChangeKind::kHostIdle: return HostIdle(change);
      case ChangeKind::kInput: return Input(change);
      case ChangeKind::kHostCopies: break;
    }
    return WithoutColon(Lines(change));
  }

  // Less is not worth naming.
  double LeastMs() const { return findings::kPartOfUnit / 4 * balance_.ms[0]; }

  static std::string WithoutColon(std::string text) {
    return text.starts_with(": ") ? text.substr(2) : text;
  }

  // ": GPU: GEMMs 350.5 to 270.4 ms, ...": lines that carry it.
  std::string Lines(const PairChange& change) const {
    std::vector<std::string> texts;
    for (const BalanceLine* line : change.lines) {
      if (texts.size() == kLinesNamed) break;
      if (!texts.empty() && std::abs(line->difference_ms()) < LeastMs()) break;
      texts.push_back(fmt::format("{} {} → {} ({})", PlainName(*line), Digits(line->ms[1]),
                                  Ms(line->ms[0]), SignedMs(line->difference_ms())));
    }
    return texts.empty() ? std::string() : fmt::format(": {}", fmt::join(texts, ", "));
  }

  // Without what every line of its sort begins with.
  static std::string PlainName(const BalanceLine& line) {
    std::string name = LineName(line);
    for (const std::string_view begin : {"GPU: ", "GPU idle: "}) {
      if (name.starts_with(begin)) return name.substr(begin.size());
    }
    return name;
  }

  std::string Names(const PairChange& change) const {
    std::vector<std::string> names;
    for (const BalanceLine* line : change.lines) {
      const bool helper =
          std::find(change.helpers.begin(), change.helpers.end(), line) != change.helpers.end();
      const bool first = line == change.lines.front();
      if (first ||
          (!helper && std::abs(line->difference_ms()) >= LeastMs() && names.size() < kLinesNamed))
        names.push_back(PlainName(*line));
    }
    return Capitalised(fmt::format("{}", fmt::join(names, ", ")));
  }

  std::string OftenText(const char* word, const PairChange& change) const {
    const double times = changes_.times_as_often;
    if (times >= 2 && change.kind == ChangeKind::kMoreCalls) {
      return fmt::format(
          "Nearly every kernel runs {0} times as often: {0} parts of the batch, or {0} times the "
          "work [inferred]",
          ThreeDigits(times));
    }
    if (times <= 0.5 && change.kind == ChangeKind::kFewerCalls) {
      return fmt::format(
          "Nearly every kernel runs once where it ran {} times [inferred: parts of "
          "a batch became one]",
          ThreeDigits(1 / times));
    }
    double calls[2] = {0, 0};
    for (const ChangedKernel& kernel : change.kernels) {
      for (int i = 0; i < 2; ++i)
        calls[i] += kernel.calls[i];
    }
    return fmt::format("{} kernels of these kinds ({} instead of {})",
                       Capitalised(std::string(word)), ThreeDigits(calls[0]),
                       ThreeDigits(calls[1]));
  }

  static std::string CallsOf(const ChangedKernel& kernel) {
    const auto calls = [](double count, const char* word) {
      return fmt::format("{} {}call{}", ThreeDigits(count), word, count == 1 ? "" : "s");
    };
    if (!(kernel.calls[1] > 0)) return calls(kernel.calls[0], "");
    if (!(kernel.calls[0] > 0)) return calls(kernel.calls[1], "");
    const double more = kernel.calls[0] - kernel.calls[1];
    return calls(std::abs(more), more > 0 ? "more " : "fewer ");
  }

  std::string KernelText(const ChangedKernel& kernel) const {
    return fmt::format("{} {} ({})", Code(kernel.name, kNameBytes),
                       SignedMs(kernel.difference_ms()), CallsOf(kernel));
  }

  // "; mostly `a` -12.1 ms (3 fewer calls)".
  std::string KernelList(const PairChange& change) const {
    std::vector<std::string> texts;
    for (const ChangedKernel& kernel : change.kernels) {
      if (texts.size() == kKernelsNamed ||
          std::abs(kernel.difference_ms()) < 0.1 * std::abs(change.ms))
        break;
      texts.push_back(KernelText(kernel));
    }
    return texts.empty() ? std::string() : fmt::format("; mostly {}", fmt::join(texts, ", "));
  }

  // Kernels that come, and those whose place they take.
  std::string Exchange(const PairChange& change) const {
    std::vector<std::string> come;
    std::vector<std::string> gone;
    double most = 0;
    for (const ChangedKernel& kernel : change.kernels)
      most = std::max(most, std::abs(kernel.difference_ms()));
    constexpr double kNamedPart = 0.2;  // of the largest
    for (const ChangedKernel& kernel : change.kernels) {
      auto& list = kernel.difference_ms() > 0 ? come : gone;
      if (list.size() < kKernelsNamed && std::abs(kernel.difference_ms()) >= kNamedPart * most)
        list.push_back(KernelText(kernel));
    }
    if (come.empty() || gone.empty()) return KernelList(change);
    return fmt::format("; {} in place of {}", fmt::join(come, ", "), fmt::join(gone, ", "));
  }

  std::string Replaced(const PairChange& change) const {
    std::string text = Names(change) + " by other kernels" +
                       (change.lines.size() > 1 ? Lines(change) : std::string());
    return text + Exchange(change);
  }

  std::string SameCalls(const PairChange& change) const {
    std::string text = fmt::format("{}: the same kernels, as often, take {}", Names(change),
                                   change.ms < 0 ? "less" : "more");
    std::vector<std::string> texts;
    for (const ChangedKernel& kernel : change.kernels) {
      if (texts.size() == kKernelsNamed ||
          std::abs(kernel.difference_ms()) < 0.1 * std::abs(change.ms))
        break;
      texts.push_back(fmt::format("{} {} → {}, {} calls", Code(kernel.name, kNameBytes),
                                  Digits(kernel.ms[1]), Ms(kernel.ms[0]),
                                  ThreeDigits(kernel.calls[0])));
    }
    return text + (texts.empty() ? "" : fmt::format(" ({})", fmt::join(texts, "; "))) +
           ": names and calls are equal, so tiles, settings, the layout of inputs, or variation "
           "between runs";
  }

  // One side compiles: what its kernels hold is the other's work.
  std::string Generated(const PairChange& change) const {
    const double(&ms)[2] = changes_.generated_ms;
    const bool candidate = ms[0] > ms[1];
    const bool graph = HasGraph(candidate ? 0 : 1) && !HasGraph(candidate ? 1 : 0);
    constexpr double kSome = 0.1;  // of the other's
    const bool both = std::min(ms[0], ms[1]) > kSome * std::max(ms[0], ms[1]);
    std::string text =
        both ? "Other compiled kernels"
             : fmt::format(
                   "{} {}{}",
                   candidate ? "Eager ops became compiled kernels"
                             : "Compiled kernels became eager ops",
                   graph ? (candidate ? "in a replayed graph" : "without a replayed graph") : "",
                   "");
    while (text.ends_with(' '))
      text.pop_back();
    text += Lines(change);
    if (both) return text + Exchange(change);
    return text + fmt::format(
                      "; the work moved and is not gone: the {}'s compiled kernels "
                      "(`triton_`) take {} in all{}",
                      candidate ? "candidate" : "baseline", Ms(ms[candidate ? 0 : 1]),
                      GeneratedKinds(candidate ? 0 : 1));
  }

  bool HasGraph(int side) const {
    const findings::Analysis& of = side == 0 ? *f_.pair.primary : *f_.pair.comparison;
    return of.workload[findings::WorkloadPart::kExecution].value.find("graph") != std::string::npos;
  }

  // " (GEMMs 56.6 ms, kernels of unknown kind 65.9 ms)".
  std::string GeneratedKinds(int side) const {
    std::map<ledger::WorkKind, double> kinds;
    for (const ledger::DifferenceLine& kernel : balance_.ledger.kernels) {
      if (findings::IsGenerated(kernel.line)) kinds[*kernel.work] += MillisOf(kernel.ns[side]);
    }
    double fused = 0;
    std::vector<std::string> texts;
    for (const auto& [kind, ms] : kinds) {
      if (findings::FoldsTogether(kind)) {
        fused += ms;
      } else if (ms > findings::kPartOfUnit * balance_.ms[side]) {
        texts.push_back(fmt::format("{} {}", LineWords(kind).substr(5), Ms(ms)));
      }
    }
    if (texts.empty()) return "";
    texts.push_back(fmt::format("fused passes {}", Ms(fused)));
    return fmt::format(" ({})", fmt::join(texts, ", "));
  }

  std::string Communication(const PairChange& change) const {
    if (!change.helpers.empty() && changes_.times_as_often >= 2)
      return fmt::format(
          "Nearly every kernel runs {} times as often, on parts of the batch, and communication "
          "runs beside the other part [inferred]{}",
          ThreeDigits(changes_.times_as_often), Lines(change));
    if (!change.helpers.empty())
      return fmt::format("Narrower messages [inferred], with the casts for them{}", Lines(change));
    std::string text = WithoutColon(Lines(change));
    switch (f_.pair.verdict.comm) {
      case findings::CommLikeness::kSizes:
        return text + ": as many calls of the same sizes, so skew between ranks or noise";
      case findings::CommLikeness::kCalls:
        return text +
               ": as many calls by the same kernels, so probably skew between ranks or noise "
               "(sizes "
               "are not recorded)";
      case findings::CommLikeness::kUnlike: break;
    }
    return text + ": one rank a side cannot split it into waiting and transfer";
  }

  std::string HostIdle(const PairChange& change) const {
    double idle[2] = {0, 0};
    for (const BalanceLine* line : change.lines) {
      for (int i = 0; i < 2; ++i)
        idle[i] += line->ms[i];
    }
    constexpr double kNearlyAll = 0.99;
    std::string text = fmt::format(
        "{} {} → {}",
        idle[1] >= kNearlyAll * balance_.idle_ms[1] ? "GPU idle" : "GPU idle for other reasons",
        Digits(idle[1]), Ms(idle[0]));
    // Memory taken from the driver, and first calls, are no matter of how many calls there are.
    const auto& largest = change.lines.front()->idle;
    if (largest == ledger::IdleCause::kAllocator || largest == ledger::IdleCause::kFirstCall)
      return text + Lines(change);
    std::vector<std::string> texts;
    const double(&syncs)[2] = f_.pair.syncs;
    const auto counts = [&](double now, double before, const char* what) {
      constexpr double kChanged = 0.05;
      if (std::abs(now - before) < 0.5 || std::abs(now - before) < kChanged * std::max(now, before))
        return;
      texts.push_back(
          fmt::format("{} {} instead of {}", ThreeDigits(now), what, ThreeDigits(before)));
    };
    counts(syncs[0], syncs[1], "synchronizing calls");
    counts(changes_.kernels[0], changes_.kernels[1], "kernels and copies");
    constexpr double kFarFewer = 3;
    const bool read_back = syncs[1] > kFarFewer * syncs[0] && syncs[0] > 0 && change.ms < 0;
    if (!texts.empty())
      return text + fmt::format(": {}{}", fmt::join(texts, ", "),
                                read_back ? "; results are read back for many items at once, not "
                                            "one by one [inferred]"
                                          : "");
    if (Reordered()) return text + ": the same calls in another order";
    return text + Lines(change);
  }

  // As many calls of every kind, and not in one order.
  bool Reordered() const {
    constexpr double kNearlyAll = 0.95;
    constexpr double kMoved = 0.99;
    const findings::CommonOrder& order = f_.comparability().order;
    const double larger = std::max(order.primary_calls, order.comparison_calls);
    return larger > 0 && order.candidates >= kNearlyAll * larger &&
           order.common_calls < kMoved * order.candidates;
  }

  std::string Input(const PairChange& change) const {
    return "GPU idle, " + WithoutColon(Lines(change));
  }

  // What the code calls much more or less often; ops that a compiler took are told already.
  std::string CallsText() const {
    const auto& all = changes_.changes;
    if (std::any_of(all.begin(), all.end(),
                    [](const PairChange& change) { return change.kind == ChangeKind::kGenerated; }))
      return {};
    std::vector<std::string> texts;
    for (const ChangedCall& call : changes_.calls) {
      if (texts.size() == kCallsNamed) break;
      const double ms = std::max(call.host_ms[0], call.host_ms[1]);
      texts.push_back(fmt::format(
          "{} {} instead of {}{}", Code(call.name, kNameBytes), ThreeDigits(call.calls[0]),
          ThreeDigits(call.calls[1]),
          ms >= kHostWorth * balance_.ms[1] ? fmt::format(" ({} of host time)", Ms(ms)) : ""));
    }
    if (texts.empty()) return {};
    return fmt::format("Calls that changed, {}: {}.", UnitText(f_), fmt::join(texts, ", "));
  }

  const ComparativeFacts& f_;
  const findings::PairChanges& changes_;
  const findings::Balance& balance_;
};

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
  const bool small = verdict.proof == Proof::kWithinUsual || verdict.proof == Proof::kSpread;
  return text +
         fmt::format("**{}**: {}; {}.",
                     small            ? "No difference is proven"
                     : verdict.ms < 0 ? "The candidate is faster"
                                      : "The candidate is slower",
                     TakesText(facts), ProofText(facts)) +
         RealWorkText(facts) + SampleText(facts);
}

std::string PairSplit(const ComparativeFacts& facts) {
  const DifferenceVerdict& verdict = facts.pair.verdict;
  const findings::Balance& balance = facts.pair.balance;
  if (verdict.proof == Proof::kNoWork || facts.comparability().verdict == "same file") return {};
  const double least = findings::kPartOfUnit / 2 * balance.ms[0];
  std::vector<std::string> parts;
  const auto add = [&](const char* what, double ms) {
    if (std::abs(ms) >= least) parts.push_back(fmt::format("{} {}", what, SignedMs(ms)));
  };
  add("GPU work", verdict.work_ms);
  add("exposed communication", verdict.comm_ms);
  add("exposed copies from and to the host", verdict.copy_ms);
  add("GPU idle", verdict.idle_ms);
  add("work launched before the recording", verdict.rest_ms);
  if (parts.empty()) return {};
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

std::vector<std::string> PairChangeLines(const ComparativeFacts& facts) {
  const bool judged = facts.pair.comparable() && facts.comparability().verdict != "same file" &&
                      facts.ops().same_device &&
                      !(facts.pair.verdict.clock_factor && facts.ops().same_device);
  return judged ? ChangeWriter(facts).Run() : std::vector<std::string>();
}

std::string PhaseRowsOf(const ComparativeFacts& facts) {
  return facts.pair.phases.by_order ? "wall time" : "GPU time";
}

std::vector<PhaseRow> PairPhaseRows(const ComparativeFacts& facts) {
  constexpr double kShown = 0.005;  // of the unit
  std::vector<PhaseRow> rows;
  if (!facts.pair.comparable() || facts.comparability().verdict == "same file") return rows;
  for (const findings::PairPhase& phase : facts.pair.phases.phases) {
    double all[2];
    for (int i = 0; i < 2; ++i)
      all[i] = phase.busy_ms[i] + phase.idle_ms[i];
    if (std::max(all[0], all[1]) < kShown * facts.pair.balance.ms[0]) continue;
    const auto cell = [&](int side) {
      return fmt::format("{} ({} + {})", Ms(all[side]), Digits(phase.busy_ms[side]),
                         Digits(phase.idle_ms[side]));
    };
    rows.push_back({Md(phase.name, 60), cell(1), cell(0), SignedMs(all[0] - all[1])});
  }
  if (rows.size() < 2) rows.clear();
  return rows;
}

}  // namespace jarvis::documents
