#include "documents/saving_base.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/number_text.h"
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

// What savings are shares of, at its least and at its most, of all units.
findings::Range SavingBaseMs(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  const double once = WithoutFirstCalls(analysis) ? 0 : wall.first_calls_ms;
  const double recorded = wall.wall_ms + once;
  if (!TellsUnrecorded(analysis)) return {recorded, recorded, recorded};
  const findings::Range& without = *wall.unrecorded_ms;
  return {without.low + once, without.mid + once, without.high + once};
}

// Both ends as shares, each of the same end of the base, the smaller one first. `left_ms`: of the
// longest unit, whatever is saved at most.
std::string RangeShare(const findings::Analysis& analysis, const findings::Range& ms, bool low_end,
                       double left_ms) {
  if (!analysis.wall.known || analysis.wall.wall_ms <= 0) {
    const std::string high = BaseShare(analysis, ms.high);
    return low_end ? BaseShare(analysis, ms.low) + " to " + high : high;
  }
  const findings::Range of = SavingBaseMs(analysis);
  const auto share = [](double saved, double whole, double most) {
    return whole > 0 ? std::min(std::max(0.0, most), saved) / whole * 100 : 0;
  };
  const double low = share(ms.low, of.low, of.low);
  const double high = share(ms.high, of.high, of.high - left_ms);
  if (!low_end) return Pct(high);
  // Bases differ by end: the share of the middle, where it is told, may lie outside of both.
  const double mid = Expected(analysis, ms).empty() ? low : share(ms.mid, of.mid, of.mid - left_ms);
  const std::string least = Pct(std::min({low, mid, high})), most = Pct(std::max({low, mid, high}));
  return least == most ? most : least + " to " + most;
}

}  // namespace

bool TellsUnrecorded(const findings::Analysis& analysis) {
  return findings::TellsUnrecorded(analysis.wall);
}

// First calls are a part of the steps that were recorded, as long as they are no large part of the
// only one: it says nothing of a later one then. The profiler's pauses are none.
bool WithoutFirstCalls(const findings::Analysis& analysis) {
  constexpr double kLargePart = 0.3;
  const findings::WallBase& wall = analysis.wall;
  return analysis.base.count == 1 &&
         wall.first_calls_ms > kLargePart * (wall.wall_ms + wall.first_calls_ms);
}

std::string SavingBaseText(const findings::Analysis& analysis) {
  return EachRange(analysis, SavingBaseMs(analysis));
}

std::string SavingShare(const findings::Analysis& analysis, double ms) {
  return RangeShare(analysis, {0, ms, ms}, false, 0);
}

std::string OfSavingBase(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known || wall.wall_ms <= 0) return "";
  const bool profiler =
      analysis.base.Percent(wall.profiler_ms) >= kPartToldPercent || TellsUnrecorded(analysis);
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

std::string AfterText(const std::string& expected, const std::string& range,
                      const std::string& share) {
  return expected.empty() ? fmt::format("{} ({})", range, share)
                          : fmt::format("{} ({}, {})", expected, range, share);
}

std::string AfterRange(const findings::Analysis& analysis, const findings::WallSaving& saving) {
  return EachRange(analysis, findings::AfterOthers(saving));
}

std::string LikelyAfter(const findings::Analysis& analysis, const findings::WallSaving& saving) {
  const std::string expected = Expected(analysis, findings::AfterOthers(saving));
  const std::string range = AfterRange(analysis, saving);
  return expected.empty() ? range : fmt::format("{} ({})", expected, range);
}

std::string AfterShare(const findings::Analysis& analysis, const findings::Finding& finding) {
  const findings::WallSaving& saving = *findings::BestWall(finding);
  const findings::Range ms = findings::AfterOthers(saving);
  // Its upper end alone where RangeMs tells no other.
  const bool low_end = ms.low != ms.high && !findings::IsWide(ms);
  // What spares the host alone leaves the GPU's own work as it is.
  const bool gpu_stays = TellsUnrecorded(analysis) && finding.host != nullptr &&
                         finding.host->gpu_ms <= 0 && !finding.host->gone;
  return RangeShare(analysis, ms, low_end, gpu_stays ? analysis.wall.gpu_own_ms : 0);
}

std::string AfterCell(const findings::Analysis& analysis, const findings::Finding& finding) {
  const findings::WallSaving& best = *findings::BestWall(finding);
  return AfterText(Expected(analysis, findings::AfterOthers(best)), AfterRange(analysis, best),
                   AfterShare(analysis, finding));
}

std::string SumRange(const findings::Analysis& analysis, const findings::Range& ms) {
  const findings::StepBase& base = analysis.base;
  if (ms.low == ms.high) return EachMs(analysis, ms.high);
  if (!HasLowEnd(ms)) return "up to " + EachMs(analysis, ms.high);
  return Digits(base.Each(ms.low)) + " to " + EachMs(analysis, ms.high);
}

std::string SumShare(const findings::Analysis& analysis, const findings::Range& ms) {
  return RangeShare(analysis, ms, ms.low != ms.high && HasLowEnd(ms), 0);
}

findings::Range TogetherMs(const findings::Analysis& analysis) {
  findings::Range ms = *analysis.wall.together_ms;
  const double whole = analysis.wall.wall_ms;
  const findings::Range most = analysis.wall.of_unrecorded ? *analysis.wall.unrecorded_ms
                                                           : findings::Range{whole, whole, whole};
  return findings::Within(ms, most);
}

std::string TogetherRange(const findings::Analysis& analysis) {
  return SumRange(analysis, TogetherMs(analysis));
}

std::string TogetherShare(const findings::Analysis& analysis) {
  const findings::Range ms = TogetherMs(analysis);
  const double left_ms = TellsUnrecorded(analysis) ? analysis.wall.gpu_left_ms : 0;
  return RangeShare(analysis, ms, ms.low != ms.high && HasLowEnd(ms), left_ms);
}

std::string TogetherSentence(const findings::Analysis& analysis) {
  const bool bounded =
      std::any_of(analysis.findings.begin(), analysis.findings.end(), [](const auto& finding) {
        return finding.bound_ms && findings::BestWall(finding) == nullptr;
      });
  const std::string expected = Expected(analysis, TogetherMs(analysis));
  const std::string range = TogetherRange(analysis);
  // The share is that of the upper end where the range has no other.
  const bool most = !expected.empty() && !HasLowEnd(TogetherMs(analysis));
  return Say(phrases::base::kTogether,
             {{"bounded", bounded},
              {"saving", expected.empty() ? range : fmt::format("{} ({})", expected, range)},
              {"per_unit", UnitPhrase(analysis)},
              {"share", (most ? "up to " : "") + TogetherShare(analysis)},
              {"of_base", OfSavingBase(analysis)}});
}

}  // namespace jarvis::documents
