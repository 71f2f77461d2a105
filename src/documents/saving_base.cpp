#include "documents/saving_base.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/text.h"
#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "findings/one/wall_classes.h"
#include "findings/one/wall_plan.h"
#include "phrases/ids/base.h"
#include "phrases/phrase.h"

namespace jarvis::documents {
namespace {

// A sum has a low end where some of its parts have one, however wide the others make it.
bool HasLowEnd(const findings::Range& sum) {
  constexpr double kNothing = 0.005;
  return sum.low > kNothing * sum.high;
}

bool TellsLow(const findings::Range& sum) {
  return sum.low != sum.high && HasLowEnd(sum);
}

// What savings are shares of, at its least and at its most, of all units.
findings::Range SavingBaseMs(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  const double once = WithoutFirstCalls(analysis) ? 0 : wall.first_calls_ms;
  const double middle = wall.wall_ms + once;
  if (!wall.of_unrecorded || !TellsUnrecorded(analysis)) return {middle, middle, middle};
  const findings::Range& without = *wall.unrecorded_ms;
  return {without.low + once, middle, without.high + once};
}

// What all shares of savings are of, of all units: where savings are of the middle of what the unit
// may take without the profiler, that middle.
double ShareBaseMs(const findings::Analysis& analysis) {
  return SavingBaseMs(analysis).mid;
}

bool IsShareKnown(const findings::Analysis& analysis) {
  return analysis.wall.known && analysis.wall.wall_ms > 0;
}

std::string ShareOf(const findings::Analysis& analysis, double ms) {
  if (!IsShareKnown(analysis)) return BaseShare(analysis, ms);
  const double whole = ShareBaseMs(analysis);
  return Pct(whole > 0 ? std::min(ms, whole) / whole * 100 : 0);
}

// The shares of the ends that the range tells, in their order.
std::string ShareOfRange(const findings::Analysis& analysis, const findings::Range& ms,
                         bool low_end) {
  const std::string high = ShareOf(analysis, ms.high);
  const std::string low = low_end ? ShareOf(analysis, ms.low) : high;
  return low == high ? high : low + " to " + high;
}

}  // namespace

bool AreAlike(const findings::Range& alone, const findings::Range& after) {
  constexpr double kApart = 0.2;
  const auto apart = [](double a, double b) { return std::abs(a - b) > kApart * std::max(a, b); };
  return !apart(alone.mid, after.mid) && !apart(alone.high, after.high);
}

bool TellsUnrecorded(const findings::Analysis& analysis) {
  return findings::TellsUnrecorded(analysis.wall);
}

// First calls are a part of the steps that were recorded, as long as they are no large part of the
// only one: it says nothing of a later one then. The profiler's pauses are none.
bool WithoutFirstCalls(const findings::Analysis& analysis) {
  constexpr double kLargePart = 0.3;
  const findings::WallBase& wall = analysis.wall;
  // What the step may take without the profiler is told without them.
  if (wall.of_unrecorded) return analysis.base.Percent(wall.first_calls_ms) >= kPartToldPercent;
  return analysis.base.count == 1 &&
         wall.first_calls_ms > kLargePart * (wall.wall_ms + wall.first_calls_ms);
}

std::string SavingBaseText(const findings::Analysis& analysis) {
  const findings::Range of = SavingBaseMs(analysis);
  const std::string middle = EachMs(analysis, of.mid);
  return of.low == of.high ? middle : fmt::format("about {} ({})", middle, EachRange(analysis, of));
}

namespace {

// What shares of savings are of, in full.
std::string FullBase(const findings::Analysis& analysis) {
  const std::string base = OfSavingBase(analysis);
  if (IsShareKnown(analysis) && analysis.wall.of_unrecorded) {
    return Say(phrases::base::kEstimatedBase,
               {{"length", EachMs(analysis, ShareBaseMs(analysis))}, {"unit", analysis.base.unit}});
  }
  return base.empty() ? Say(phrases::base::kOfUnit, {{"unit", analysis.base.unit}}) : base;
}

// The same beside each saving: where it is not the recorded unit, its length, which the first
// paragraph says in full.
std::string ShareBase(const findings::Analysis& analysis) {
  if (OfSavingBase(analysis).empty())
    return Say(phrases::base::kOfUnit, {{"unit", analysis.base.unit}});
  return Say(phrases::base::kOfLength, {{"length", EachMs(analysis, ShareBaseMs(analysis))}});
}

}  // namespace

std::string SavingShare(const findings::Analysis& analysis, double ms) {
  return ShareOf(analysis, ms) + " " + ShareBase(analysis);
}

std::string OfSavingBase(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known || wall.wall_ms <= 0) return "";
  const bool profiler =
      analysis.base.Percent(wall.profiler_ms) >= kPartToldPercent || wall.of_unrecorded;
  const bool steady = WithoutFirstCalls(analysis);
  if (!profiler && !steady) return "";
  return Say(phrases::base::kSavingBase, {{"unit", analysis.base.unit},
                                          {"profiler", profiler},
                                          {"both", profiler && steady},
                                          {"one_time", steady}});
}

std::string Expected(const findings::Analysis& analysis, const findings::Range& ms) {
  constexpr double kApart = 1.4;   // the high end over the low one
  constexpr double kAtEnd = 0.15;  // of the range: an end says it already
  // A low end of nothing may mean that the way out fails, or that recording may have cost so much.
  if (findings::IsWide(ms) && !analysis.wall.of_unrecorded) return "";
  if (ms.high < kApart * ms.low) return "";
  if (std::min(ms.high - ms.mid, ms.mid - ms.low) < kAtEnd * (ms.high - ms.low)) return "";
  return fmt::format("about {}", EachMs(analysis, ms.mid));
}

namespace {

// "3.04 ms of the recorded 4.43 ms step": where savings are of an estimated unit and this end is
// longer than it, what that end is of; else empty. In full it names the unit.
std::string OfRecorded(const findings::Analysis& analysis, double high_ms, bool full) {
  const bool beyond =
      IsShareKnown(analysis) && analysis.wall.of_unrecorded && high_ms > ShareBaseMs(analysis);
  if (!beyond) return "";
  const bool step = analysis.base.unit != "recording";
  return Say(phrases::base::kRecordedBase,
             {{"step", step},
              {"length", EachMs(analysis, analysis.base.total_ms)},
              {"unit", full || !step ? analysis.base.unit : std::string()}});
}

}  // namespace

std::string SavingText(const findings::Analysis& analysis, const findings::Range& ms,
                       const std::string& range, bool low_end, bool total) {
  const std::string expected = Expected(analysis, ms);
  const std::string recorded = OfRecorded(analysis, ms.high, total);
  const std::string base = total ? FullBase(analysis) : ShareBase(analysis);
  if (!expected.empty()) {
    std::string text =
        fmt::format("{} ({}{}{}; {} {}", expected, range, recorded.empty() ? "" : " ", recorded,
                    ShareOf(analysis, ms.mid), base);
    if (total && recorded.empty()) text += ", " + ShareOfRange(analysis, ms, low_end);
    return text + ")";
  }
  // Longer than the estimated unit: of the recorded one, which is what this end is of.
  if (!recorded.empty()) {
    const std::string most = BaseShare(analysis, ms.high);
    return fmt::format("{} ({}{} {})", range,
                       low_end ? BaseShare(analysis, ms.low) + " to " : std::string(), most,
                       recorded);
  }
  return fmt::format("{} ({} {})", range, ShareOfRange(analysis, ms, low_end), base);
}

std::string AfterRange(const findings::Analysis& analysis, const findings::WallSaving& saving) {
  return EachRange(analysis, findings::AfterOthers(saving));
}

std::string LikelyAfter(const findings::Analysis& analysis, const findings::WallSaving& saving) {
  const std::string expected = Expected(analysis, findings::AfterOthers(saving));
  const std::string range = AfterRange(analysis, saving);
  return expected.empty() ? range : fmt::format("{} ({})", expected, range);
}

std::string AfterText(const findings::Analysis& analysis, const findings::WallSaving& saving) {
  const findings::Range ms = findings::AfterOthers(saving);
  // Its upper end alone where RangeMs tells no other.
  const bool low_end = ms.low != ms.high && !findings::IsWide(ms);
  return SavingText(analysis, ms, AfterRange(analysis, saving), low_end, false);
}

std::string SumRange(const findings::Analysis& analysis, const findings::Range& ms) {
  const findings::StepBase& base = analysis.base;
  if (ms.low == ms.high) return EachMs(analysis, ms.high);
  if (!HasLowEnd(ms)) return "up to " + EachMs(analysis, ms.high);
  return Digits(base.Each(ms.low)) + " to " + EachMs(analysis, ms.high);
}

std::string SumCell(const findings::Analysis& analysis, const findings::Range& ms) {
  return SavingText(analysis, ms, SumRange(analysis, ms), TellsLow(ms), false);
}

namespace {

// Whether most of what all of them are expected to save is of rows that tell a middle of their own,
// or none because their ends are as good.
bool MiddlesAreTold(const findings::Analysis& analysis) {
  constexpr double kMuch = 0.1;  // of the sum
  double sum_ms = 0, above_ms = 0;
  for (const findings::Finding& finding : analysis.findings) {
    const findings::WallSaving* best = findings::BestWall(finding);
    if (best == nullptr || finding.one_off) continue;
    const findings::Range ms = findings::AfterOthers(*best);
    sum_ms += ms.mid;
    if (Expected(analysis, ms).empty()) above_ms += ms.mid - (ms.low + ms.high) / 2;
  }
  return above_ms <= kMuch * sum_ms;
}

// No longer than the unit.
findings::Range WithinUnit(const findings::Analysis& analysis, const findings::Range& ms) {
  const double whole = analysis.wall.wall_ms;
  const findings::Range most = analysis.wall.of_unrecorded ? *analysis.wall.unrecorded_ms
                                                           : findings::Range{whole, whole, whole};
  return findings::Within(ms, most);
}

}  // namespace

findings::Range TogetherMs(const findings::Analysis& analysis) {
  findings::Range ms = WithinUnit(analysis, *analysis.wall.together_ms);
  // The sum of what rows save at their most is no middle.
  if (!MiddlesAreTold(analysis)) ms.mid = ms.high;
  return ms;
}

std::string TogetherText(const findings::Analysis& analysis) {
  const findings::Range ms = TogetherMs(analysis);
  return SavingText(analysis, ms, SumRange(analysis, ms), TellsLow(ms), true);
}

std::string ExactTogetherText(const findings::Analysis& analysis) {
  if (!analysis.wall.exact_ms) return {};
  findings::Range ms = WithinUnit(analysis, *analysis.wall.exact_ms);
  if (!MiddlesAreTold(analysis)) ms.mid = ms.high;
  return SumRange(analysis, ms);
}

std::string TogetherShare(const findings::Analysis& analysis) {
  const findings::Range ms = TogetherMs(analysis);
  return ShareOfRange(analysis, ms, TellsLow(ms));
}

namespace {

// Of communication that has a bound and no saving: nobody knows from one rank which part can go.
std::string ExposedOutsideTotal(const findings::Analysis& analysis) {
  const bool bounds = std::ranges::any_of(analysis.findings, [](const findings::Finding& finding) {
    return finding.bound_ms && findings::BestWall(finding) == nullptr;
  });
  const double ms = static_cast<double>(analysis.base.balance.exposed_comm_ns) / 1e6;
  return bounds && ms > 0 ? EachMs(analysis, ms) : std::string();
}

// The findings that lower precision, by their numbers.
std::vector<std::string> RanksOfInexact(const findings::Analysis& analysis) {
  std::vector<std::string> ranks;
  for (const findings::Finding& finding : analysis.findings) {
    const bool inexact = finding.rule && findings::Info(*finding.rule).inexact;
    if (inexact && findings::BestWall(finding) != nullptr)
      ranks.push_back(fmt::format("{}", finding.global_rank));
  }
  return ranks;
}

}  // namespace

std::string TogetherSentence(const findings::Analysis& analysis) {
  const std::vector<std::string> lossy = RanksOfInexact(analysis);
  return Say(phrases::base::kTogether, {{"saving", TogetherText(analysis)},
                                        {"exact", lossy.empty() ? "" : ExactTogetherText(analysis)},
                                        {"several", lossy.size() > 1},
                                        {"lossy", Enumerated(lossy)},
                                        {"exposed", ExposedOutsideTotal(analysis)}});
}

std::string OverlapSentence(const findings::Analysis& analysis) {
  constexpr double kRounded = 1.02;
  if (!analysis.wall.together_ms) return "";
  const auto rows = findings::TogetherOf(std::span<const findings::Finding>(analysis.findings));
  const findings::Range total = TogetherMs(analysis);
  if (!rows || rows->high <= kRounded * total.high) return "";
  const bool ends = rows->low <= kRounded * total.low;
  return Say(phrases::base::kRowsAddUpToMore, {{"ends", ends}});
}

}  // namespace jarvis::documents
