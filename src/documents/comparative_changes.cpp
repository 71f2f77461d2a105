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
    if (std::string text = QuantisesText(); !text.empty()) lines.push_back(std::move(text));
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

  // What one side's kernels are for that the other does not have.
  std::string QuantisesText() const {
    if (!changes_.quantises) return {};
    const int side = *changes_.quantises;
    return fmt::format(
        "The {} quantizes activations and the {} does not [inferred from kernel names]: {} kernels "
        "of {} {}, with what is fused into them.",
        side == 0 ? "candidate" : "baseline", side == 0 ? "baseline" : "candidate",
        ThreeDigits(changes_.quantised_calls[side]), Ms(changes_.quantised_ms[side]), UnitText(f_));
  }

  // " (host time 149.7 → 40.1 ms, and waiting for the GPU 600 → 658 ms)"; empty: it is little.
  std::string HostTimeOf(const ChangedCall& call) const {
    const auto worth = [&](double a, double b) {
      return std::max(a, b) >= kHostWorth * balance_.ms[1];
    };
    const auto change = [](double before, double now) {
      return fmt::format("{} → {}", Digits(before), Ms(now));
    };
    std::vector<std::string> texts;
    if (worth(call.own_ms(0), call.own_ms(1)))
      texts.push_back("host time " + change(call.own_ms(1), call.own_ms(0)));
    if (worth(call.wait_ms[0], call.wait_ms[1]))
      texts.push_back("waiting for the GPU " + change(call.wait_ms[1], call.wait_ms[0]));
    return texts.empty() ? "" : fmt::format(" ({})", fmt::join(texts, "; "));
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
      texts.push_back(fmt::format("{} {} instead of {}{}", Code(call.name, kNameBytes),
                                  ThreeDigits(call.calls[0]), ThreeDigits(call.calls[1]),
                                  HostTimeOf(call)));
    }
    if (texts.empty()) return {};
    return fmt::format("Calls that changed, {}: {}.", UnitText(f_), fmt::join(texts, ", "));
  }

  const ComparativeFacts& f_;
  const findings::PairChanges& changes_;
  const findings::Balance& balance_;
};

}  // namespace

std::vector<std::string> PairChangeLines(const ComparativeFacts& facts) {
  const bool judged = facts.pair.comparable() && facts.comparability().verdict != "same file" &&
                      facts.ops().same_device &&
                      !(facts.pair.verdict.clock_factor && facts.ops().same_device);
  return judged ? ChangeWriter(facts).Run() : std::vector<std::string>();
}

}  // namespace jarvis::documents
