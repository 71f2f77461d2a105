#include "documents/base_text.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "documents/iteration_text.h"
#include "documents/limits_text.h"
#include "documents/markdown_text.h"
#include "documents/saving_base.h"
#include "findings/one/wall_plan.h"
#include "phrases/ids/base.h"
#include "phrases/phrase.h"
#include "session/trace_frames.h"
#include "trace/step_mark.h"

namespace jarvis::documents {
namespace {

constexpr double kExposedTold = 10;  // ... of collectives that nothing hides, told apart from work

// "step", "passes": what so many units are called.
std::string UnitsOf(const findings::Analysis& analysis, std::size_t count) {
  const std::string& unit = analysis.base.unit;
  return count == 1 ? unit : analysis::PluralOfUnit(unit);
}

// What limits the step.
phrases::Phrase BoundOf(const findings::Analysis& analysis, double host_ms, double gpu_ms) {
  constexpr double kInTurns = 0.85;  // both together fill the time: one after the other
  switch (analysis.bound.kind) {
    case ledger::BoundKind::kBalanced: return phrases::base::kBalanced;
    case ledger::BoundKind::kCommunication: return phrases::base::kCommunicationBound;
    case ledger::BoundKind::kCopies: return phrases::base::kCopyBound;
    case ledger::BoundKind::kHost: {
      const ledger::WallBook& wall = analysis.frames->books.wall;
      const std::int64_t input = wall.Of(ledger::IdleCause::kInput);
      const bool most = input == *std::max_element(wall.idle_ns.begin(), wall.idle_ns.end());
      return input > 0 && most ? phrases::base::kInputBound : phrases::base::kHostBound;
    }
    case ledger::BoundKind::kGpu: return phrases::base::kGpuBound;
    case ledger::BoundKind::kUnknown:
    case ledger::BoundKind::kInTurns: break;
  }
  const double all = analysis.base.total_ms;
  const bool fill = host_ms + gpu_ms >= kInTurns * all && host_ms + gpu_ms <= 1.2 * all;
  return fill ? phrases::base::kOneAfterTheOther : phrases::base::kInTurn;
}

// What faster GPU work alone saves at most, and a faster host alone: the time that the other does
// not need, no more than there is of the work, and no more than the simulation lets go.
struct MostAlone {
  double gpu_ms = 0;
  double host_ms = 0;
};

MostAlone MostSavedAlone(const findings::Analysis& analysis, double host_ms, double busy_ms) {
  const double all = analysis.base.total_ms;
  const findings::WallBase& wall = analysis.wall;
  const auto most = [&](double work, double other, double floor) {
    const double free = std::min(work, all - std::min(other, all));
    return wall.known ? std::clamp(wall.wall_ms - floor, 0.0, free) : free;
  };
  return {most(busy_ms, host_ms, wall.host_floor_ms), most(host_ms, busy_ms, wall.gpu_floor_ms)};
}

// Whether the host binds while it is recorded alone.
bool OnlyRecordingBinds(const findings::Analysis& analysis) {
  return std::ranges::any_of(
      analysis.quality, [](const findings::Quality& quality) { return quality.gpu_binds_without; });
}

// Whether the host probably binds without the profiler, too.
bool HostLikelyBinds(const findings::Analysis& analysis) {
  return std::ranges::any_of(analysis.quality,
                             [](const findings::Quality& quality) { return quality.host_likely; });
}

// Whether nobody knows what binds without the profiler.
bool IsBoundUnsure(const findings::Analysis& analysis) {
  return std::ranges::any_of(analysis.quality,
                             [](const findings::Quality& quality) { return quality.bound_unsure; });
}

// Where the host sets the pace and less of it is recorded than the GPU works: what the GPU waits
// for outside of what is recorded. 0: nothing to tell.
double OutsideOpsMs(const findings::Analysis& analysis) {
  const double all = analysis.base.total_ms;
  const double host = std::min(MillisOf(analysis.frames->books.host.alone_ns), all);
  const double gpu = MillisOf(analysis.base.balance.busy_ns());
  const bool binds = analysis.bound.kind == ledger::BoundKind::kHost && host < gpu;
  if (!binds || OnlyRecordingBinds(analysis)) return 0;
  return std::max(0.0, analysis.bound.host_work / 100 * all - host);
}

// The same in a sentence, with the host's own work and the GPU's as the books have them.
std::string BoundSentence(const findings::Analysis& analysis) {
  if (analysis.bound.kind == ledger::BoundKind::kUnknown) return "";
  const ledger::Books& books = analysis.frames->books;
  const double all = analysis.base.total_ms;
  const double host = std::min(MillisOf(books.host.alone_ns), all);
  const double gpu = std::min(MillisOf(analysis.base.balance.busy_ns()), all);
  const auto each = [&](double ms) { return EachMs(analysis, ms); };
  const MostAlone alone = MostSavedAlone(analysis, host, gpu);
  const double outside = OutsideOpsMs(analysis);
  return Say(BoundOf(analysis, host, gpu),
             {{"recording", OnlyRecordingBinds(analysis)},
              {"unsure", IsBoundUnsure(analysis)},
              {"only", analysis.wall.profiler_ms > 0 && host > gpu},
              {"likely", HostLikelyBinds(analysis)},
              {"input", each(MillisOf(books.wall.Of(ledger::IdleCause::kInput)))},
              {"host", each(host)},
              {"outside", outside > 0 ? each(outside) : std::string()},
              {"kernels_save", each(alone.gpu_ms)},
              {"host_saves", each(alone.host_ms)},
              {"copies", each(MillisOf(books.wall.Of(ledger::WorkKind::kHostCopy)))}});
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
  bool whole = true;  // a unit; else one of those that a group is of
  std::size_t count = 0;
  std::size_t ended = 0;  // of them, those whose end was recorded, if any
  std::int64_t ns = 0;    // of these
  double mean_ms() const { return MillisOf(ns) / static_cast<double>(ended); }
};
std::vector<OddGroup> OddGroups(const findings::Analysis& analysis) {
  std::vector<OddGroup> groups;  // by the first of each
  const analysis::TimeFrames& frames = analysis.frames->frames;
  for (const analysis::StepFrame& step : frames.steps) {
    if (step.steady) continue;
    // The marks of a host that runs ahead say when it asked for the work, not how long that took.
    const auto i = static_cast<std::size_t>(&step - frames.steps.data());
    const analysis::TimeSpan unit = frames.base.units[i];
    const bool whole = frames.base.group.HeldIn(i) == frames.base.group.size;
    auto found = std::find_if(groups.begin(), groups.end(), [&](const OddGroup& one) {
      return one.why == step.odd_because && one.whole == whole;
    });
    if (found == groups.end()) found = groups.insert(found, {step.odd_because, whole});
    ++found->count;
    if (frames.base.open_end && &step == &frames.steps.back() && found->ended > 0) continue;
    ++found->ended;
    found->ns += frames.base.by_completion ? unit.end - unit.start : step.host_ns();
  }
  return groups;
}

std::string UnitsOf(const findings::Analysis& analysis, const OddGroup& one) {
  if (one.whole) return UnitsOf(analysis, one.count);
  const std::string part(analysis::TimeUnitText(analysis.frames->frames.base.unit));
  return one.count == 1 ? part : analysis::PluralOfUnit(part);
}

// The shortest and the longest of the steps that the mean is of; absent: they are alike, or the
// host runs ahead, and its marks say when it waited.
struct StepSpread {
  double least_ms = 0;
  double most_ms = 0;
  std::string longest;  // its name; empty: several take as long
};
std::optional<StepSpread> SpreadOf(const findings::Analysis& analysis) {
  constexpr double kSpread = 1.1;   // longest over shortest
  constexpr double kAsLong = 0.99;  // the second over the longest
  const analysis::TimeFrames& frames = analysis.frames->frames;
  if (frames.steps.empty() || analysis.base.count < 3 || frames.runs_ahead) return std::nullopt;
  StepSpread spread;
  double second_ms = 0;
  for (std::size_t i = 0; i < frames.steps.size(); ++i) {
    const analysis::StepFrame& step = frames.steps[i];
    if (!step.steady) continue;
    // As long as in the mean: the last one may end later than its mark.
    const analysis::TimeSpan unit = frames.base.units[i];
    const double ms = MillisOf(frames.base.by_completion ? step.host_ns() : unit.end - unit.start);
    if (spread.least_ms == 0 || ms < spread.least_ms) spread.least_ms = ms;
    second_ms = std::max(second_ms, std::min(ms, spread.most_ms));
    if (ms <= spread.most_ms) continue;
    spread.most_ms = ms;
    // An annotation of its own, as it writes itself, is no name to read.
    const bool torch = trace::StepMarkName(step.name) == "ProfilerStep";
    spread.longest = torch || frames.base.source != analysis::StepSource::kMarks
                         ? step.name
                         : fmt::format("step {}", step.number);
    if (std::ranges::all_of(spread.longest, [](char c) { return c >= '0' && c <= '9'; }))
      spread.longest = fmt::format("{} {}", analysis.base.unit, spread.longest);
  }
  if (spread.most_ms < kSpread * spread.least_ms) return std::nullopt;
  // A mean outside of them is the GPU's, and the host's marks are of something else.
  const double mean = analysis.base.unit_ms();
  if (mean < spread.least_ms || mean > spread.most_ms) return std::nullopt;
  if (second_ms > kAsLong * spread.most_ms) spread.longest.clear();
  return spread;
}

// Of several: what each figure is per; empty: there is one.
std::string RepeatedUnit(const findings::Analysis& analysis) {
  return analysis.base.count <= 1 ? std::string() : analysis.base.unit;
}

}  // namespace

bool HasOps(const findings::Analysis& analysis) {
  return std::none_of(analysis.quality.begin(), analysis.quality.end(),
                      [](const auto& one) { return one.code == "no_cpu_ops"; });
}

std::string CallsTitle(const findings::Analysis& analysis) {
  return Say(phrases::base::kCallsTitle, {{"unit", RepeatedUnit(analysis)}});
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
  constexpr double kShownMs = 5e-6;  // less is nothing
  const auto each = [&](double one) {
    const double shown = analysis.base.Each(one);
    return shown < kShownMs ? 0 : shown;
  };
  return RangeMs({each(ms.low), each(ms.mid), each(ms.high)});
}

std::string UnitPhrase(const findings::Analysis& analysis) {
  return Say(analysis.base.count <= 1 ? phrases::base::kOfUnit : phrases::base::kPerUnit,
             {{"unit", analysis.base.unit}});
}

std::string SavingTitle(const findings::Analysis& analysis) {
  return Say(phrases::base::kSavingTitle, {{"unit", RepeatedUnit(analysis)}});
}

std::string UnitTitle(const findings::Analysis& analysis) {
  constexpr std::size_t kScopeMax = 60;
  const findings::StepBase& base = analysis.base;
  const analysis::BaseOfTime& of = analysis.frames->frames.base;
  const std::string& scope = of.group.scope;
  return Say(phrases::base::kUnitTitle,
             {{"unit", of.group.size > 1 ? of.unit_text() : base.unit},
              {"scope", scope.empty() ? scope : Code(scope, kScopeMax)},
              {"count", base.count <= 1 ? std::string() : fmt::format("{}", base.count)}});
}

std::string BaseShare(const findings::Analysis& analysis, double ms) {
  if (analysis.base.total_ms <= 0) return std::string(kAbsentText);
  return Pct(analysis.base.Percent(ms));
}

double OwnMs(const findings::Operation& operation) {
  return std::max(0.0, operation.gpu_us - operation.foreign_us) / 1000;
}

double OwnMs(const findings::CategoryAnalysis& category) {
  return std::max(0.0, category.gpu_us - category.foreign_us) / 1000;
}

namespace {

// Waiting in collectives is no work, where it is much of the step.
phrases::Phrase WorkOf(const findings::Analysis& analysis, double busy_ms, double foreign_ms) {
  if (busy_ms <= 0 && foreign_ms > 0) return phrases::base::kBusyWithEarlierWork;
  const double exposed = MillisOf(analysis.base.balance.exposed_comm_ns);
  return analysis.base.Percent(exposed) < kExposedTold ? phrases::base::kBusy
                                                       : phrases::base::kBusyAndCommunication;
}

std::string WorkPhrase(const findings::Analysis& analysis) {
  const double busy = MillisOf(analysis.base.balance.busy_ns());
  const double exposed = MillisOf(analysis.base.balance.exposed_comm_ns);
  const double foreign = MillisOf(Length(analysis.frames->frames.foreign_busy));
  return Say(WorkOf(analysis, busy, foreign), {{"busy", EachMs(analysis, busy)},
                                               {"busy_share", BaseShare(analysis, busy)},
                                               {"own", EachMs(analysis, busy - exposed)},
                                               {"own_share", BaseShare(analysis, busy - exposed)},
                                               {"exposed", EachMs(analysis, exposed)},
                                               {"exposed_share", BaseShare(analysis, exposed)},
                                               {"earlier", Ms(foreign)}});
}

}  // namespace

std::string UnitLength(const findings::Analysis& analysis) {
  const analysis::BaseOfTime& base = analysis.frames->frames.base;
  std::string text = Say(phrases::base::kLength, {{"title", Capitalised(UnitTitle(analysis))},
                                                  {"length", Ms(analysis.base.unit_ms())}});
  if (base.warm_estimated) text += " " + Say(phrases::base::kEstimated);
  if (const auto spread = SpreadOf(analysis)) {
    const bool cycles = base.regimes.cycle > 1;
    text += " " + Say(cycles ? phrases::base::kSpreadInCycles : phrases::base::kSpread,
                      {{"shortest", Ms(spread->least_ms)},
                       {"longest", Ms(spread->most_ms)},
                       {"name", spread->longest},
                       {"cycle", base.regimes.cycle}});
  }
  return text;
}

std::vector<std::pair<std::string, double>> LeftOutUnits(const findings::Analysis& analysis) {
  std::vector<std::pair<std::string, double>> rows;
  for (const OddGroup& one : OddGroups(analysis)) {
    rows.emplace_back(
        Say(phrases::base::kToldOdd, {{"count", one.count}, {"units", UnitsOf(analysis, one)}}),
        one.mean_ms());
  }
  return rows;
}

std::string MeasuredBound(const findings::Analysis& analysis, double ms) {
  return Say(phrases::base::kMeasuredBound, {{"saving", EachMs(analysis, ms)},
                                             {"per_unit", UnitPhrase(analysis)},
                                             {"share", BaseShare(analysis, ms)}});
}

std::string LeftOut(const findings::Analysis& analysis) {
  const analysis::TimeFrames& frames = analysis.frames->frames;
  const analysis::BaseOfTime& base = frames.base;
  std::vector<std::string> parts;
  const auto add = [&](std::int64_t ns, phrases::Phrase phrase) {
    if (MillisOf(ns) * 100 < kPartToldPercent * MillisOf(frames.whole.total_ns)) return;
    parts.push_back(Say(phrase, {{"time", Ms(MillisOf(ns))}}));
  };
  add(base.unrecorded_ns - frames.holes_ns(), base.head.foreign.empty()
                                                  ? phrases::base::kLeftOutUnrecorded
                                                  : phrases::base::kLeftOutEarlier);
  const bool numbered = std::all_of(base.holes.begin(), base.holes.end(),
                                    [](const auto& hole) { return hole.first.has_value(); });
  add(frames.holes_ns(), numbered ? phrases::base::kLeftOutSteps : phrases::base::kLeftOutBetween);
  add(OutsideNs(analysis), phrases::base::kLeftOutOutside);
  if (base.warm_estimated) add(base.one_time_ns, phrases::base::kLeftOutOneTime);
  if (frames.apart()) {
    for (const OddGroup& one : OddGroups(analysis)) {
      parts.push_back(Say(phrases::base::kLeftOutUnits, {{"count", one.count},
                                                         {"units", UnitsOf(analysis, one)},
                                                         {"time", Ms(one.mean_ms())},
                                                         {"why", one.why}}));
    }
  }
  if (parts.empty()) return "";
  return Say(phrases::base::kLeftOut, {{"parts", fmt::format("{}", fmt::join(parts, "; "))}});
}

namespace {

// "16.8% to 32.7%": the GPU's work is the same without what recording cost the host. Empty: where
// the GPU sets the pace then, the step is its work.
std::string BusyWithoutRecording(const findings::Analysis& analysis) {
  const findings::Range& unit = *analysis.wall.unrecorded_ms;
  const double busy = MillisOf(analysis.base.balance.busy_ns());
  if (unit.low <= 0 || busy >= unit.low) return "";
  if (analysis.wall.of_unrecorded) return "about " + Pct(busy / unit.mid * 100);
  const std::string least = Pct(busy / unit.high * 100);
  const std::string most = Pct(busy / unit.low * 100);
  return least == most ? least : least + " to " + most;
}

// How long the unit is then; of each end of a range, how much of it the GPU is busy.
std::string WithoutRecording(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  const findings::Range& unit = *wall.unrecorded_ms;
  const std::string busy = BusyWithoutRecording(analysis);
  if (wall.of_unrecorded) {
    return Say(phrases::base::kWithoutRecordingAbout, {{"once", WithoutFirstCalls(analysis)},
                                                       {"unit", analysis.base.unit},
                                                       {"middle", EachMs(analysis, wall.wall_ms)},
                                                       {"length", EachRange(analysis, unit)},
                                                       {"busy", busy}});
  }
  const std::string least = EachMs(analysis, unit.low), most = EachMs(analysis, unit.high);
  const auto share = [&](double ms) {
    return busy.empty() ? busy : Pct(MillisOf(analysis.base.balance.busy_ns()) / ms * 100);
  };
  const bool range = least != most;
  return Say(phrases::base::kWithoutRecording,
             {{"unit", analysis.base.unit},
              {"least", least},
              {"most_busy", share(unit.low)},
              {"most", range ? most : std::string()},
              {"least_busy", range ? share(unit.high) : std::string()}});
}

}  // namespace

std::string LengthSentence(const findings::Analysis& analysis) {
  return Say(phrases::base::kSentence,
             {{"length", UnitLength(analysis)}, {"work", WorkPhrase(analysis)}});
}

namespace {

std::string Joined(std::initializer_list<std::string> sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    if (!sentence.empty()) text += (text.empty() ? "" : " ") + sentence;
  }
  return text;
}

// What recording Python stacks takes of the unit; empty: next to nothing.
std::string ProfilerSentence(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known || analysis.base.Percent(wall.profiler_ms) < kPartToldPercent) return "";
  return Say(phrases::base::kProfiler, {{"profiler", EachMs(analysis, wall.profiler_ms)},
                                        {"unit", analysis.base.unit},
                                        {"without", SavingBaseText(analysis)}});
}

std::string OneTimeSentence(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known || analysis.base.Percent(wall.first_calls_ms) < kPartToldPercent) return "";
  const bool without = WithoutFirstCalls(analysis) && !wall.of_unrecorded;
  return Say(phrases::base::kOneTime,
             {{"one_time", EachMs(analysis, wall.first_calls_ms)},
              {"unit", analysis.base.unit},
              {"without", without ? SavingBaseText(analysis) : std::string()}});
}

}  // namespace

std::string BaseEssence(const findings::Analysis& analysis) {
  return Joined(
      {LengthSentence(analysis), BoundSentence(analysis),
       TellsUnrecorded(analysis) ? WithoutRecording(analysis) : std::string(),
       ProfilerSentence(analysis),
       analysis.frames->frames.base.part_of_pass ? Say(phrases::base::kPartOfPass) : std::string(),
       IterationSentence(analysis.frames->iterations)});
}

std::string BaseRest(const findings::Analysis& analysis) {
  return Joined({LeftOut(analysis), OneTimeSentence(analysis)});
}

std::string BaseSentence(const findings::Analysis& analysis) {
  return Joined({BaseEssence(analysis), BaseRest(analysis)});
}

namespace {

// What the halves of the base take, and what savings are of.
void AddHostRows(const findings::Analysis& analysis, double busy, MarkdownTable* table) {
  const double all = analysis.base.total_ms;
  const double host = std::min(MillisOf(analysis.frames->books.host.alone_ns), all);
  table->Row({Say(phrases::base::kToldHost), EachMs(analysis, host), BaseShare(analysis, host)});
  if (const double outside = OutsideOpsMs(analysis); outside > 0) {
    table->Row({Say(phrases::base::kToldOutsideOps), EachMs(analysis, outside),
                BaseShare(analysis, outside)});
  }
  const MostAlone alone = MostSavedAlone(analysis, host, busy);
  table->Row({Say(phrases::base::kToldKernelsSave), EachMs(analysis, alone.gpu_ms),
              BaseShare(analysis, alone.gpu_ms)});
  table->Row({Say(phrases::base::kToldHostSaves), EachMs(analysis, alone.host_ms),
              BaseShare(analysis, alone.host_ms)});
  const findings::WallBase& wall = analysis.wall;
  if (wall.known) {
    table->Row({Say(phrases::base::kToldHostFloor), EachMs(analysis, wall.host_floor_ms),
                std::string(kAbsentText)});
    if (TellsUnrecorded(analysis)) {
      if (wall.of_unrecorded) {
        table->Row({Say(phrases::base::kToldUnrecordedMiddle), EachMs(analysis, wall.wall_ms),
                    std::string(kAbsentText)});
      }
      table->Row({Say(phrases::base::kToldUnrecordedLeast),
                  EachMs(analysis, wall.unrecorded_ms->low), std::string(kAbsentText)});
      table->Row({Say(phrases::base::kToldUnrecordedMost),
                  EachMs(analysis, wall.unrecorded_ms->high), std::string(kAbsentText)});
      if (const std::string shares = BusyWithoutRecording(analysis); !shares.empty()) {
        table->Row({Say(phrases::base::kToldUnrecordedBusy), std::string(kAbsentText), shares});
      }
    }
    table->Row(
        {Say(phrases::base::kToldSavingBase), SavingBaseText(analysis), std::string(kAbsentText)});
    table->Row({Say(phrases::base::kToldOneTime), EachMs(analysis, wall.first_calls_ms),
                std::string(kAbsentText)});
    if (wall.profiler_ms > 0) {
      table->Row({Say(phrases::base::kToldProfiler), EachMs(analysis, wall.profiler_ms),
                  std::string(kAbsentText)});
    }
  }
}

}  // namespace

std::string ToldTable(const findings::Analysis& analysis) {
  const analysis::TimeFrames& frames = analysis.frames->frames;
  const double busy = MillisOf(analysis.base.balance.busy_ns());
  MarkdownTable table({Say(phrases::base::kToldTitle, {{"unit", analysis.base.unit}}),
                       Say(phrases::base::kToldValue), Say(phrases::base::kToldShare)});
  table.Row({Say(phrases::base::kToldBusy), EachMs(analysis, busy), BaseShare(analysis, busy)});
  const double exposed = MillisOf(analysis.base.balance.exposed_comm_ns);
  if (exposed > 0) {
    table.Row({Say(phrases::base::kToldOwn), EachMs(analysis, busy - exposed),
               BaseShare(analysis, busy - exposed)});
    table.Row({Say(phrases::base::kToldExposed), EachMs(analysis, exposed),
               BaseShare(analysis, exposed)});
  }
  if (const double unassessed = analysis.UnassessedMs(); unassessed > 0)
    table.Row({Say(phrases::base::kToldUnassessed), EachMs(analysis, unassessed),
               BaseShare(analysis, unassessed)});
  for (const ledger::WorkKind kind : analysis.UnassessedKinds()) {
    const double ms = analysis.UncoveredMs(kind);
    table.Row({Say(phrases::base::kToldUnassessedKind, {{"kind", ledger::WorkKindText(kind)}}),
               EachMs(analysis, ms), BaseShare(analysis, ms)});
  }
  const auto row = [&](phrases::Phrase name, double ms,
                       std::initializer_list<phrases::Slot> slots = {}) {
    table.Row({Say(name, slots), Ms(ms), std::string(kAbsentText)});
  };
  row(phrases::base::kToldEarlier, MillisOf(frames.base.unrecorded_ns - frames.holes_ns()));
  if (!frames.base.holes.empty()) row(phrases::base::kToldBetween, MillisOf(frames.holes_ns()));
  if (frames.base.warm_estimated)
    row(phrases::base::kToldOneTimeLeftOut, MillisOf(frames.base.one_time_ns));
  if (const std::int64_t outside = OutsideNs(analysis); outside > 0)
    row(phrases::base::kToldOutside, MillisOf(outside));
  if (const auto spread = SpreadOf(analysis)) {
    row(phrases::base::kToldShortest, spread->least_ms);
    row(phrases::base::kToldLongest, spread->most_ms);
  }
  for (const auto& [name, ms] : LeftOutUnits(analysis))
    table.Row({name, Ms(ms), std::string(kAbsentText)});
  if (const auto pace = PaceOf(analysis.frames->iterations)) {
    row(phrases::base::kToldIteration, pace->busy_ms);
    if (pace->period_ms) row(phrases::base::kToldPeriod, *pace->period_ms);
    if (pace->between_ms) row(phrases::base::kToldAfterAnnotation, *pace->between_ms);
    if (pace->per_second) {
      table.Row({Say(phrases::base::kToldRate, {{"at_most", !pace->period_ms}}),
                 PerSecond(*pace->per_second), std::string(kAbsentText)});
    }
  }
  AddHostRows(analysis, busy, &table);
  if (const findings::Operation* calls = EqualCallsOf(analysis)) {
    table.Row({Say(phrases::base::kToldShortestCall), fmt::format("{:.0f} µs", calls->min_us),
               std::string(kAbsentText)});
    table.Row({Say(phrases::base::kToldLongestCall), fmt::format("{:.0f} µs", calls->max_us),
               std::string(kAbsentText)});
  }
  if (const auto& one = analysis.slow_instance) {
    row(phrases::base::kToldInstance, one->ms,
        {{"gpu", one->of_gpu}, {"module", Code(one->module, 60)}});
    row(phrases::base::kToldSiblings, one->usual_ms, {{"gpu", one->of_gpu}});
    row(phrases::base::kToldDifference, one->ms - one->usual_ms);
  }
  if (analysis.wall.together_ms) {
    table.Row({Say(phrases::base::kToldTogether), TogetherText(analysis), TogetherShare(analysis)});
    if (const std::string exact = ExactTogetherText(analysis); !exact.empty())
      table.Row({Say(phrases::base::kToldExact), exact, std::string(kAbsentText)});
  } else if (analysis.combined.savings_ms.high > 0) {
    table.Row({Say(phrases::base::kToldGpuTime), EachMs(analysis, analysis.combined.OwnMostMs()),
               std::string(kAbsentText)});
  }
  return table.text() + "\n";
}

}  // namespace jarvis::documents
