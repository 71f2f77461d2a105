#include "documents/base_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/iteration_text.h"
#include "documents/limits_text.h"
#include "documents/markdown_text.h"
#include "findings/one/wall_plan.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

constexpr double kPartShown = 0.5;   // percent of the base
constexpr double kExposedTold = 10;  // ... of collectives that nothing hides, told apart from work

// A sum has a low end where some of its parts have one, however wide the others make it.
bool HasLowEnd(const findings::Range& sum) {
  constexpr double kNothing = 0.005;
  return sum.low > kNothing * sum.high;
}

// Its upper end alone where RangeMs tells no other.
std::string RangeShare(const findings::Analysis& analysis, const findings::Range& ms) {
  const std::string high = SavingShare(analysis, ms.high);
  if (ms.low == ms.high || findings::IsWide(ms)) return high;
  return SavingShare(analysis, ms.low) + " to " + high;
}

// What limits the step, with the host's own work and the GPU's as the books have them.
std::string BoundPhrase(const findings::Analysis& analysis) {
  constexpr double kInTurns = 0.85;  // both together fill the time: one after the other
  const ledger::Books& books = analysis.frames->books;
  if (analysis.bound.kind == ledger::BoundKind::kUnknown) return "";
  const double all = analysis.base.total_ms;
  const double host = std::min(MillisOf(books.host.alone_ns), all);
  const double gpu = std::min(MillisOf(analysis.base.balance.busy_ns()), all);
  const std::string work =
      fmt::format("host work {}, GPU work {}", EachMs(analysis, host), EachMs(analysis, gpu));
  switch (analysis.bound.kind) {
    case ledger::BoundKind::kUnknown: return "";
    case ledger::BoundKind::kBalanced:
      return fmt::format(
          "Balanced: {}; faster kernels alone could save up to {}, a faster host alone up to {}",
          work, EachMs(analysis, all - host), EachMs(analysis, all - gpu));
    case ledger::BoundKind::kCommunication:
      return fmt::format("Communication-bound ({} of exposed waiting or transfer): {}",
                         EachMs(analysis, MillisOf(analysis.base.balance.exposed_comm_ns)), work);
    case ledger::BoundKind::kCopies:
      return fmt::format("Bound by copies between host and device ({} exposed): {}",
                         EachMs(analysis, MillisOf(books.wall.Of(ledger::WorkKind::kHostCopy))),
                         work);
    case ledger::BoundKind::kHost: {
      const auto& idle = books.wall.idle_ns;
      const std::int64_t input = books.wall.Of(ledger::IdleCause::kInput);
      if (input > 0 && input == *std::max_element(idle.begin(), idle.end()))
        return fmt::format("Input-bound: {}", work);
      return fmt::format("Host-bound: {}", work);
    }
    case ledger::BoundKind::kGpu: return fmt::format("GPU-bound: {}", work);
    case ledger::BoundKind::kInTurns: break;
  }
  if (host + gpu >= kInTurns * all && host + gpu <= 1.2 * all)
    return "Host and GPU mostly work one after the other: " + work;
  return "Host and GPU wait for each other in turn: " + work;
}

// GPU work that no step launched, and that was not launched before the recording.
std::int64_t OutsideNs(const findings::Analysis& analysis) {
  const analysis::TimeFrames& frames = analysis.frames->frames;
  if (frames.steps.empty()) return 0;
  const auto busy = static_cast<std::int64_t>(analysis.totals.busy_ms * 1e6);
  return std::max<std::int64_t>(0, busy - frames.whole.busy_ns() - Length(frames.foreign_busy));
}

// Units that are left out, by why they are.
struct OddGroup {
  std::string_view why;
  std::size_t count = 0;
  std::int64_t ns = 0;
  double mean_ms() const { return MillisOf(ns) / static_cast<double>(count); }
};
std::vector<OddGroup> OddGroups(const findings::Analysis& analysis) {
  std::vector<OddGroup> groups;  // by the first of each
  for (const analysis::StepFrame& step : analysis.frames->frames.steps) {
    if (step.steady) continue;
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const OddGroup& one) { return one.why == step.odd_because; });
    if (found == groups.end()) found = groups.insert(found, {step.odd_because});
    ++found->count;
    found->ns += step.host_ns();
  }
  return groups;
}

// "one iteration of 4.46 s (first calls), 8 iterations of 158 ms each (an earlier, faster pace)".
std::string OddUnits(const findings::Analysis& analysis) {
  const std::string& unit = analysis.base.unit;
  std::string text;
  for (const OddGroup& one : OddGroups(analysis)) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ",
                        one.count == 1
                            ? fmt::format("one {} of {}", unit, Ms(one.mean_ms()))
                            : fmt::format("{} {}s of {} each", one.count, unit, Ms(one.mean_ms())),
                        one.why);
  }
  return text;
}

std::string ApartText(const findings::Analysis& analysis) {
  const analysis::TimeFrames& frames = analysis.frames->frames;
  const analysis::Balance& all = frames.whole;
  std::string text;
  const auto add = [&](std::int64_t ns, const char* what) {
    if (MillisOf(ns) * 100 < kPartShown * MillisOf(all.total_ns)) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", Ms(MillisOf(ns)), what);
  };
  const analysis::BaseOfTime& base = frames.base;
  add(base.unrecorded_ns - frames.holes_ns(),
      base.head.foreign.empty() ? "in which the GPU runs work that is not in the trace"
                                : "of GPU work launched before the trace");
  const bool numbered = std::all_of(frames.base.holes.begin(), frames.base.holes.end(),
                                    [](const auto& hole) { return hole.first.has_value(); });
  add(frames.holes_ns(),
      numbered ? "of steps that were not recorded" : "between steps without any recorded event");
  add(OutsideNs(analysis), "of GPU work outside the steps");
  if (base.warm_estimated)
    add(base.one_time_ns, "of one-time initialization (first launches, set-up, memory)");
  if (frames.apart()) {
    text += (text.empty() ? "" : ", ") + OddUnits(analysis);
  }
  return text.empty() ? "" : " Left out: " + text + ".";
}

// The shortest and the longest of the steps that the mean is of; absent: they are alike, or the
// host runs ahead, and its marks say when it waited.
struct StepSpread {
  double least_ms = 0;
  double most_ms = 0;
  std::string longest;  // its name
};
std::optional<StepSpread> SpreadOf(const findings::Analysis& analysis) {
  constexpr double kSpread = 1.1;  // longest over shortest
  const analysis::TimeFrames& frames = analysis.frames->frames;
  if (frames.steps.empty() || analysis.base.count < 3 || frames.runs_ahead) return std::nullopt;
  StepSpread spread;
  for (const analysis::StepFrame& step : frames.steps) {
    if (!step.steady) continue;
    const double ms = MillisOf(step.host_ns());
    if (spread.least_ms == 0 || ms < spread.least_ms) spread.least_ms = ms;
    if (ms <= spread.most_ms) continue;
    spread.most_ms = ms;
    spread.longest = step.name;
  }
  if (spread.most_ms < kSpread * spread.least_ms) return std::nullopt;
  // A mean outside of them is the GPU's, and the host's marks are of something else.
  const double mean = analysis.base.unit_ms();
  if (mean < spread.least_ms || mean > spread.most_ms) return std::nullopt;
  return spread;
}

}  // namespace

bool HasOps(const findings::Analysis& analysis) {
  return std::none_of(analysis.quality.begin(), analysis.quality.end(),
                      [](const auto& one) { return one.code == "no_cpu_ops"; });
}

std::string CallsTitle(const findings::Analysis& analysis) {
  return analysis.base.count <= 1 ? "Calls" : "Calls per " + analysis.base.unit;
}

std::string EachCalls(const findings::Analysis& analysis, std::uint64_t calls, double foreign) {
  const double own = std::max(0.0, static_cast<double>(calls) - foreign);
  const double each = analysis.base.Each(own);
  // Calls of other steps are told apart by their GPU work, which may differ a little.
  const bool whole = std::abs(each - std::round(each)) < 0.3;
  return whole ? fmt::format("{:.0f}", each) : fmt::format("{:.1f}", each);
}

std::string EachMs(const findings::Analysis& analysis, double ms) {
  return Ms(analysis.base.Each(ms));
}

std::string EachRange(const findings::Analysis& analysis, const findings::Range& ms) {
  const findings::StepBase& base = analysis.base;
  return RangeMs({base.Each(ms.low), base.Each(ms.mid), base.Each(ms.high)});
}

std::string UnitPhrase(const findings::Analysis& analysis) {
  const findings::StepBase& base = analysis.base;
  if (base.count <= 1) return "of the " + base.unit;
  return "per " + base.unit;
}

std::string SavingTitle(const findings::Analysis& analysis) {
  const findings::StepBase& base = analysis.base;
  return base.count <= 1 ? "Saving on its own" : "Saving per " + base.unit + " on its own";
}

std::string UnitTitle(const findings::Analysis& analysis) {
  const findings::StepBase& base = analysis.base;
  return base.count <= 1 ? base.unit : fmt::format("{} (mean of {})", base.unit, base.count);
}

std::string BaseShare(const findings::Analysis& analysis, double ms) {
  if (analysis.base.total_ms <= 0) return std::string(kAbsentText);
  return Pct(analysis.base.Percent(ms));
}

namespace {

// First calls are a part of the steps that were recorded, as long as they are no large part of the
// only one: it says nothing of a later one then. The profiler's pauses are none.
bool WithoutFirstCalls(const findings::Analysis& analysis) {
  constexpr double kLargePart = 0.3;
  const findings::WallBase& wall = analysis.wall;
  return analysis.base.count == 1 &&
         wall.first_calls_ms > kLargePart * (wall.wall_ms + wall.first_calls_ms);
}

double SavingBaseMs(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  return wall.wall_ms + (WithoutFirstCalls(analysis) ? 0 : wall.first_calls_ms);
}

}  // namespace

std::string SavingShare(const findings::Analysis& analysis, double ms) {
  const double of = SavingBaseMs(analysis);
  if (!analysis.wall.known || of <= 0) return BaseShare(analysis, ms);
  return Pct(ms / of * 100);
}

std::string OfSavingBase(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known || wall.wall_ms <= 0) return "";
  const bool pauses = analysis.base.Percent(wall.profiler_ms) >= kPartShown;
  const bool steady = WithoutFirstCalls(analysis);
  if (!pauses && !steady) return "";
  return fmt::format(" of the {} without {}", analysis.base.unit,
                     pauses && steady ? "profiler overhead and one-time initialization"
                     : pauses         ? "profiler overhead"
                                      : "one-time initialization");
}

findings::Range TogetherMs(const findings::Analysis& analysis) {
  findings::Range ms = *analysis.wall.together_ms;
  for (double* each : {&ms.low, &ms.mid, &ms.high})
    *each = std::min(*each, analysis.wall.wall_ms);
  return ms;
}

std::string TogetherSentence(const findings::Analysis& analysis) {
  const bool bounded =
      std::any_of(analysis.findings.begin(), analysis.findings.end(), [](const auto& finding) {
        return finding.bound_ms && findings::BestWall(finding) == nullptr;
      });
  return fmt::format("All recommendations{} together save {} {} ({}{}).",
                     bounded ? " except those for communication" : "", TogetherRange(analysis),
                     UnitPhrase(analysis), TogetherShare(analysis), OfSavingBase(analysis));
}

std::string SumRange(const findings::Analysis& analysis, const findings::Range& ms) {
  const findings::StepBase& base = analysis.base;
  if (ms.low == ms.high) return EachMs(analysis, ms.high);
  if (!HasLowEnd(ms)) return "up to " + EachMs(analysis, ms.high);
  return Digits(base.Each(ms.low)) + " to " + EachMs(analysis, ms.high);
}

std::string TogetherRange(const findings::Analysis& analysis) {
  return SumRange(analysis, TogetherMs(analysis));
}

std::string SumShare(const findings::Analysis& analysis, const findings::Range& ms) {
  const std::string high = SavingShare(analysis, ms.high);
  if (ms.low == ms.high || !HasLowEnd(ms)) return high;
  return SavingShare(analysis, ms.low) + " to " + high;
}

std::string TogetherShare(const findings::Analysis& analysis) {
  return SumShare(analysis, TogetherMs(analysis));
}

std::string AfterRange(const findings::Analysis& analysis, const findings::WallSaving& saving) {
  return EachRange(analysis, findings::AfterOthers(saving));
}

std::string AfterShare(const findings::Analysis& analysis, const findings::WallSaving& saving) {
  return RangeShare(analysis, findings::AfterOthers(saving));
}

double OwnMs(const findings::Operation& operation) {
  return std::max(0.0, operation.gpu_us - operation.foreign_us) / 1000;
}

double OwnMs(const findings::CategoryAnalysis& category) {
  return std::max(0.0, category.gpu_us - category.foreign_us) / 1000;
}

namespace {

// Waiting in collectives is no work, where it is much of the step.
std::string WorkPhrase(const findings::Analysis& analysis) {
  const double busy = MillisOf(analysis.base.balance.busy_ns());
  const double exposed = MillisOf(analysis.base.balance.exposed_comm_ns);
  const double foreign = MillisOf(Length(analysis.frames->frames.foreign_busy));
  if (busy <= 0 && foreign > 0) {
    return fmt::format(
        "none of the GPU work that it launches is recorded; meanwhile the GPU is busy for {} with "
        "work launched before the trace",
        Ms(foreign));
  }
  if (analysis.base.Percent(exposed) < kExposedTold)
    return fmt::format("the GPU is busy for {} of it ({})", EachMs(analysis, busy),
                       BaseShare(analysis, busy));
  const double own = busy - exposed;
  return fmt::format(
      "the GPU computes or copies for {} of it ({}) and only communicates for {} ({})",
      EachMs(analysis, own), BaseShare(analysis, own), EachMs(analysis, exposed),
      BaseShare(analysis, exposed));
}

}  // namespace

std::string UnitLength(const findings::Analysis& analysis) {
  std::string text =
      fmt::format("{}: {}", Capitalised(UnitTitle(analysis)), Ms(analysis.base.unit_ms()));
  if (analysis.frames->frames.base.warm_estimated)
    text += " (estimate: the recorded pass without its one-time work)";
  if (const auto spread = SpreadOf(analysis)) {
    const std::size_t cycle = analysis.frames->frames.base.regimes.cycle;
    text += fmt::format(" ({} to {}, {})", Ms(spread->least_ms), Ms(spread->most_ms),
                        cycle > 1 ? fmt::format("repeating every {} {}s", cycle, analysis.base.unit)
                                  : "longest: " + spread->longest);
  }
  return text;
}

std::string MeasuredBound(const findings::Analysis& analysis, double ms) {
  return fmt::format("At most {} {} ({}), measured in the trace.", EachMs(analysis, ms),
                     UnitPhrase(analysis), BaseShare(analysis, ms));
}

std::string LeftOut(const findings::Analysis& analysis) {
  return ApartText(analysis);
}

std::string BaseSentence(const findings::Analysis& analysis) {
  const findings::StepBase& base = analysis.base;
  std::string text = UnitLength(analysis) + "; " + WorkPhrase(analysis);
  const std::string bound = BoundPhrase(analysis);
  text += '.';
  if (!bound.empty()) text += " " + bound + ".";
  text += ApartText(analysis);
  if (analysis.frames->frames.base.part_of_pass)
    text += " The recording holds no whole pass: what repeats in it are layers.";
  const findings::WallBase& wall = analysis.wall;
  if (wall.known && base.Percent(wall.profiler_ms) >= kPartShown) {
    text += fmt::format(
        " Recording Python stacks adds {} to it. Without them the {} takes {}, and savings refer "
        "to "
        "that. Record without stacks first.",
        EachMs(analysis, wall.profiler_ms), base.unit, EachMs(analysis, SavingBaseMs(analysis)));
  }
  if (wall.known && base.Percent(wall.first_calls_ms) >= kPartShown)
    text += fmt::format(
        " {} of the {} is one-time initialization{}.", EachMs(analysis, wall.first_calls_ms),
        base.unit,
        WithoutFirstCalls(analysis)
            ? "; savings refer to the " + EachMs(analysis, SavingBaseMs(analysis)) + " without it"
            : "");
  const std::string pace = IterationSentence(analysis.frames->iterations);
  return pace.empty() ? text : text + " " + pace;
}

namespace {

// What the halves of the base take, and what savings are of.
void AddHostRows(const findings::Analysis& analysis, double busy, MarkdownTable* table) {
  const double all = analysis.base.total_ms;
  const double host = std::min(MillisOf(analysis.frames->books.host.alone_ns), all);
  table->Row({"Host work", EachMs(analysis, host), BaseShare(analysis, host)});
  table->Row({"Faster GPU work alone saves up to", EachMs(analysis, all - host),
              BaseShare(analysis, all - host)});
  table->Row({"A faster host alone saves up to", EachMs(analysis, all - std::min(busy, all)),
              BaseShare(analysis, all - std::min(busy, all))});
  const findings::WallBase& wall = analysis.wall;
  if (wall.known) {
    table->Row({"Wall time if GPU work took no time", EachMs(analysis, wall.host_floor_ms),
                std::string(kAbsentText)});
    table->Row({"Time that savings refer to", EachMs(analysis, SavingBaseMs(analysis)),
                std::string(kAbsentText)});
    table->Row({"One-time initialization in it", EachMs(analysis, wall.first_calls_ms),
                std::string(kAbsentText)});
    if (wall.profiler_ms > 0) {
      table->Row({"Profiler overhead in it", EachMs(analysis, wall.profiler_ms),
                  std::string(kAbsentText)});
    }
  }
}

}  // namespace

std::string ToldTable(const findings::Analysis& analysis) {
  const analysis::TimeFrames& frames = analysis.frames->frames;
  const double busy = MillisOf(analysis.base.balance.busy_ns());
  MarkdownTable table({"Of the " + analysis.base.unit, "Value", "Share"});
  table.Row({"GPU busy", EachMs(analysis, busy), BaseShare(analysis, busy)});
  const double exposed = MillisOf(analysis.base.balance.exposed_comm_ns);
  if (exposed > 0) {
    table.Row({"GPU computes or copies", EachMs(analysis, busy - exposed),
               BaseShare(analysis, busy - exposed)});
    table.Row({"GPU only communicates", EachMs(analysis, exposed), BaseShare(analysis, exposed)});
  }
  if (const double unassessed = analysis.UnassessedMs(); unassessed > 0)
    table.Row({"Not assessed", EachMs(analysis, unassessed), BaseShare(analysis, unassessed)});
  const auto row = [&](const char* name, double ms) {
    table.Row({name, Ms(ms), std::string(kAbsentText)});
  };
  row("Left out: GPU work launched before the trace or not recorded",
      MillisOf(frames.base.unrecorded_ns - frames.holes_ns()));
  if (!frames.base.holes.empty())
    row("Left out: between recorded steps", MillisOf(frames.holes_ns()));
  if (frames.base.warm_estimated)
    row("Left out: one-time initialization", MillisOf(frames.base.one_time_ns));
  if (const std::int64_t outside = OutsideNs(analysis); outside > 0)
    row("Left out: GPU work outside the steps", MillisOf(outside));
  if (const auto spread = SpreadOf(analysis)) {
    row("Shortest step", spread->least_ms);
    row("Longest step", spread->most_ms);
  }
  for (const OddGroup& one : OddGroups(analysis))
    row("Left out, each", one.mean_ms());
  if (const auto pace = PaceOf(analysis.frames->iterations)) {
    row("GPU work per iteration", pace->busy_ms);
    if (pace->period_ms) row("Start to start of iterations", *pace->period_ms);
    if (pace->between_ms) row("After the annotation of an iteration", *pace->between_ms);
    if (pace->per_second) {
      table.Row({pace->period_ms ? "Generated tokens/s" : "Generated tokens/s, at most",
                 PerSecond(*pace->per_second), std::string(kAbsentText)});
    }
  }
  AddHostRows(analysis, busy, &table);
  if (const findings::Operation* calls = EqualCallsOf(analysis)) {
    table.Row({"Shortest of equal GEMMs", fmt::format("{:.0f} µs", calls->min_us),
               std::string(kAbsentText)});
    table.Row({"Longest of equal GEMMs", fmt::format("{:.0f} µs", calls->max_us),
               std::string(kAbsentText)});
  }
  if (const auto& one = analysis.slow_instance) {
    const std::string time = one->of_gpu ? "GPU time" : "host time";
    row((Capitalised(time) + " per call of " + Code(one->module, 60)).c_str(), one->ms);
    row((Capitalised(time) + " per call of its siblings, median").c_str(), one->usual_ms);
    row("Difference of both", one->ms - one->usual_ms);
  }
  if (analysis.wall.together_ms) {
    table.Row({"All recommendations together", TogetherRange(analysis), TogetherShare(analysis)});
  } else if (analysis.combined.savings_ms.high > 0) {
    table.Row({"All recommendations together, of GPU time at most",
               EachMs(analysis, analysis.combined.savings_ms.high), std::string(kAbsentText)});
  }
  return table.text() + "\n";
}

}  // namespace jarvis::documents
