#include "findings/two/compare_traces.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "findings/two/comparability.h"
#include "findings/two/compare_groups.h"
#include "findings/two/own_work.h"
#include "session/trace_frames.h"
#include "session/trace_work.h"

namespace jarvis::findings {
namespace {

using analysis::GroupBy;

// A ratio within this factor of the expected one is as expected.
constexpr double kTolerance = 1.15;
// What a kernel may cost whatever its work is, about what the shortest kernels take: no ratio of
// the devices explains it.
constexpr double kFixedUs = 3;
// The expected ratio is known if at least this share of a row's time has a roof.
constexpr double kMost = 0.9;
// Rows with more communication than this are not judged: nobody knows how much of it is waiting.
constexpr double kCommunication = 0.1;
// Work that takes more than twice its roof on both devices is bound by something else.
constexpr double kNearRoof = 0.5;
// Rows of which fixed costs are this share are not judged between devices.
constexpr double kMostlyFixed = 0.5;

// The platforms of both, as their rates are held against each other, and the primary's with what
// was measured on it.
struct ComparedPlatforms {
  std::optional<perf::Platform> sides[2];
  std::optional<perf::Platform> practical;
};

ComparedPlatforms PlatformsOf(const CompareSide& primary, const CompareSide& comparison) {
  ComparedPlatforms made;
  if (!primary.platform || !comparison.platform) return made;
  auto [a, b] = perf::LikeWithLike(*primary.platform, *comparison.platform);
  made.sides[0] = std::move(a);
  made.sides[1] = std::move(b);
  made.practical = primary.platform;
  std::erase_if(made.practical->maf_tflops,
                [](const auto& rate) { return rate.second.source != perf::Source::kAchievable; });
  return made;
}

// The roofs of one trace's work on both platforms.
class Roofs {
 public:
  Roofs(const session::LoadedTrace& trace, const ComparedPlatforms& platforms)
      : trace_(trace), platforms_(platforms) {}

  struct Sum {
    double us[2] = {0, 0};         // on the primary's platform, on the comparison's
    double memory_us[2] = {0, 0};  // ... of work that memory bounds there
    double arithmetic_us[2] = {0, 0};
    double practical_us = 0;  // of work whose rate was measured on the primary's
    double measured_us = 0;   // GPU time of that work
    double flops = 0, bytes = 0;
    double known_us = 0;  // GPU time of the work that has both roofs
    double kernels = 0;   // of that work

    Sum& operator+=(const Sum& other) {
      for (int i = 0; i < 2; ++i) {
        us[i] += other.us[i];
        memory_us[i] += other.memory_us[i];
      }
      known_us += other.known_us;
      kernels += other.kernels;
      return *this;
    }
    // Of most of the work.
    perf::Bound BoundOn(int platform) const {
      return memory_us[platform] > us[platform] / 2 ? perf::Bound::kMemory : perf::Bound::kCompute;
    }
  };
  Sum Of(const std::vector<std::uint32_t>& launchers) {
    Sum sum;
    if (!platforms_.sides[0] || !platforms_.sides[1]) return sum;
    for (const std::uint32_t i : launchers) {
      const analysis::LauncherWork& work = trace_.Works()[i];
      if (work.work == nullptr || !(work.call_us > 0)) continue;
      const Roof& roof = RoofOf(work);
      if (!roof.us[0] || !roof.us[1]) continue;
      const double us = trace_.attribution().launchers[i].direct_us;
      // A call's work belongs to its launchers by their time.
      const double share = us / work.call_us;
      for (int p = 0; p < 2; ++p) {
        sum.us[p] += share * *roof.us[p];
        if (roof.memory[p]) sum.memory_us[p] += share * *roof.us[p];
        sum.arithmetic_us[p] += share * roof.arithmetic_us[p];
      }
      if (roof.practical_us) {
        sum.practical_us += share * *roof.practical_us;
        sum.measured_us += us;
      }
      sum.flops += share * roof.flops;
      sum.bytes += share * roof.bytes;
      sum.known_us += us;
      sum.kernels += trace_.attribution().launchers[i].count;
    }
    return sum;
  }

 private:
  struct Roof {
    std::optional<double> us[2];
    bool memory[2] = {false, false};
    double arithmetic_us[2] = {0, 0};  // 0: no rate is known
    std::optional<double> practical_us;
    double flops = 0, bytes = 0;
  };
  const Roof& RoofOf(const analysis::LauncherWork& work) {
    const auto [found, added] = roofs_.try_emplace(work.work);
    if (!added) return found->second;
    Roof& roof = found->second;
    for (int i = 0; i < 2; ++i) {
      const analysis::Metrics metrics =
          analysis::MetricsOf(work.work, work.call_us, {&*platforms_.sides[i]});
      roof.us[i] = metrics.roof_us;
      roof.memory[i] = metrics.bound == perf::Bound::kMemory;
      roof.flops = metrics.gflops.value_or(0) * 1e9;
      roof.bytes = metrics.bytes.value_or(0);
      const auto rate = perf::CeilingFor(*platforms_.sides[i], metrics.spec);
      if (rate && rate->tflops > 0) roof.arithmetic_us[i] = roof.flops / rate->tflops / 1e6;
    }
    const analysis::Metrics practical =
        analysis::MetricsOf(work.work, work.call_us, {&*platforms_.practical});
    if (practical.bound == perf::Bound::kCompute &&
        platforms_.practical->maf_tflops.contains(practical.spec)) {
      roof.practical_us = practical.roof_us;
    }
    return roof;
  }

  const session::LoadedTrace& trace_;
  const ComparedPlatforms& platforms_;
  std::unordered_map<const perf::OpWork*, Roof> roofs_;
};

class Comparer {
 public:
  Comparer(const CompareSide& primary, const CompareSide& comparison, GroupBy by)
      : primary_(primary),
        comparison_(comparison),
        by_(by),
        platforms_(PlatformsOf(primary, comparison)),
        roofs_{Roofs(primary.trace, platforms_), Roofs(comparison.trace, platforms_)} {
    const std::string device = DeviceNames(primary.trace);
    if (primary.trace.id() == comparison.trace.id() && !primary.platform && !comparison.platform) {
      out_.same_device = true;
    } else if (primary.platform && comparison.platform) {
      out_.same_device = primary.platform->name == comparison.platform->name;
    } else if (!primary.platform && !comparison.platform) {
      out_.same_device = !device.empty() && device.find(',') == std::string::npos &&
                         device == DeviceNames(comparison.trace);
    }
  }

  Result<TraceComparison> Run(Job& job) {
    JV_ASSIGN(const auto frames, session::FramesOf(primary_.trace, job));
    JV_ASSIGN(const auto others, session::FramesOf(comparison_.trace, job));
    if (primary_.platform && comparison_.platform) {  // roofs are asked for; here it can be stopped
      JV_TRY(session::WorkOf(primary_.trace, nullptr, job));
      JV_TRY(session::WorkOf(comparison_.trace, nullptr, job));
    }
    const OwnWork own[2] = {OwnWork(primary_.trace, frames->frames),
                            OwnWork(comparison_.trace, others->frames)};
    for (int i = 0; i < 2; ++i)
      out_.units[i] = own[i].steps();
    JV_ASSIGN(std::vector<CompareMatch> matches,
              MatchGroups({primary_.trace, own[0]}, {comparison_.trace, own[1]}, by_, job));
    for (CompareMatch& match : matches)
      Add(std::move(match));
    JV_TRY(job.Check());
    if (expected_us_[1] > 0) out_.expected = expected_us_[0] / expected_us_[1];
    std::stable_sort(
        out_.rows.begin(), out_.rows.end(),
        [](const CompareRow& a, const CompareRow& b) { return Weight(a) > Weight(b); });
    return std::move(out_);
  }

 private:
  static double Weight(const CompareRow& row) {
    if (row.unexpected_ms) return std::abs(*row.unexpected_ms);
    return std::abs(row.primary_ms.value_or(0) - row.comparison_ms.value_or(0));
  }

  void Add(CompareMatch match) {
    CompareRow row;
    row.name = std::move(match.name);
    row.shape = std::move(match.shape);
    row.arguments_differ = match.arguments_differ;
    if (match.primary) {
      row.primary_ms = match.primary->us / 1000 / out_.units[0];
      row.primary_calls = match.primary->calls / out_.units[0];
      out_.primary_ms += *row.primary_ms;
    }
    if (match.comparison) {
      row.comparison_ms = match.comparison->us / 1000 / out_.units[1];
      row.comparison_calls = match.comparison->calls / out_.units[1];
      out_.comparison_ms += *row.comparison_ms;
    }
    if (!match.comparison) {
      row.verdict = CompareVerdict::kOnlyInPrimary;
      row.unexpected_ms = row.primary_ms;
      out_.only_primary_ms += *row.primary_ms;
      ++out_.only_primary_rows;
      if (by_ != GroupBy::kKernel) FillRoofs(0, *match.primary, &row);
    } else if (!match.primary) {
      row.verdict = CompareVerdict::kOnlyInComparison;
      row.unexpected_ms = 0 - *row.comparison_ms;
      out_.only_comparison_ms += *row.comparison_ms;
      ++out_.only_comparison_rows;
      if (by_ != GroupBy::kKernel) FillRoofs(1, *match.comparison, &row);
    } else {
      Judge(*match.primary, *match.comparison, &row);
    }
    if (match.primary) row.primary_launchers = std::move(match.primary->launchers);
    if (match.comparison) row.comparison_launchers = std::move(match.comparison->launchers);
    out_.rows.push_back(std::move(row));
  }

  bool IsCommunication(const CompareGroup& primary, const CompareGroup& comparison) const {
    if (primary_.trace.id() == comparison_.trace.id()) return false;  // nothing to judge
    return primary.communication_us > kCommunication * primary.us ||
           comparison.communication_us > kCommunication * comparison.us;
  }

  void Judge(const CompareGroup& primary, const CompareGroup& comparison, CompareRow* row) {
    if (*row->comparison_ms > 0) row->ratio = *row->primary_ms / *row->comparison_ms;
    if (IsCommunication(primary, comparison)) {
      row->not_judged = NotJudged::kCommunication;
      return;
    }
    // The work of a kernel is not known, only that of the op that launched it.
    if (by_ != GroupBy::kKernel) Expect(primary, comparison, row);
    if (out_.same_device) row->expected = row->expected_with_fixed_cost = 1.0;
    row->not_judged = row->arguments_differ ? NotJudged::kArguments
                      : !row->expected      ? NotJudged::kUnknown
                                            : NotJudged::kNo;
    if (row->not_judged != NotJudged::kNo) return;
    double low = std::min(*row->expected, *row->expected_with_fixed_cost);
    double high = std::max(*row->expected, *row->expected_with_fixed_cost);
    const double by_rates = std::clamp(row->ratio.value_or(*row->expected), low, high);
    const bool holds = row->ratio && Within(*row->ratio, by_rates);
    if (!out_.same_device && !holds) {
      const double fixed_us = kFixedUs * (primary.kernels + comparison.kernels);
      if (fixed_us > kMostlyFixed * (primary.us + comparison.us)) {
        row->not_judged = NotJudged::kShort;
        return;
      }
      row->far_from_roofs = IsFar(*row);
      if (row->far_from_roofs) {
        low = std::min(low, 1.0);
        high = std::max(high, 1.0);
      }
    }
    const double nearest = std::clamp(row->ratio.value_or(*row->expected), low, high);
    if (row->far_from_roofs && row->ratio && Within(*row->ratio, nearest)) {
      row->not_judged = NotJudged::kFarFromRoofs;
      return;
    }
    row->unexpected_ms = *row->primary_ms - nearest * *row->comparison_ms;
    out_.expected_known_ms += *row->primary_ms;
    out_.expected_known_comparison_ms += *row->comparison_ms;
    expected_us_[0] += *row->expected * *row->comparison_ms;
    expected_us_[1] += *row->comparison_ms;
    if (!row->ratio) return;
    row->verdict = Within(*row->ratio, nearest) ? CompareVerdict::kAsExpected
                   : *row->ratio > nearest      ? CompareVerdict::kSlower
                                                : CompareVerdict::kFaster;
  }

  static bool Within(double ratio, double expected) {
    const double excess = ratio / expected;
    return excess <= kTolerance && excess >= 1 / kTolerance;
  }

  // Neither side comes near its own roof.
  static bool IsFar(const CompareRow& row) {
    const auto share = [](const std::optional<double>& roof, const std::optional<double>& ms) {
      return roof && ms && *ms > 0 ? *roof / *ms : 0;
    };
    return share(row.primary_roof_ms, row.primary_ms) < kNearRoof &&
           share(row.comparison_roof_ms, row.comparison_ms) < kNearRoof;
  }

  // The roofs of one side's work, where most of it is known; null: it is not.
  std::optional<Roofs::Sum> FillRoofs(int side, const CompareGroup& group, CompareRow* row) {
    const Roofs::Sum sum = roofs_[side].Of(group.launchers);
    if (!(sum.known_us > 0) || sum.known_us < kMost * group.us) return std::nullopt;
    const bool primary = side == 0;
    const double units = out_.units[side];
    (primary ? row->primary_roof_ms : row->comparison_roof_ms) = sum.us[side] / 1000 / units;
    (primary ? row->primary_flops : row->comparison_flops) = sum.flops / units;
    (primary ? row->primary_bytes : row->comparison_bytes) = sum.bytes / units;
    if (sum.arithmetic_us[side] > 0) {
      (primary ? row->primary_arithmetic_ms : row->comparison_arithmetic_ms) =
          sum.arithmetic_us[side] / 1000 / units;
    }
    if (primary && sum.measured_us > kMost * group.us)
      row->primary_practical_ms = sum.practical_us / 1000 / units;
    return sum;
  }

  // By the work of both sides, so that they may be exchanged.
  void Expect(const CompareGroup& primary, const CompareGroup& comparison, CompareRow* row) {
    const CompareGroup* groups[2] = {&primary, &comparison};
    Roofs::Sum both;
    for (int i = 0; i < 2; ++i) {
      if (const auto sum = FillRoofs(i, *groups[i], row)) both += *sum;
    }
    if (!(both.us[0] > 0) || !(both.us[1] > 0)) return;
    row->expected = both.us[0] / both.us[1];
    const double fixed_us = kFixedUs * both.kernels;
    row->expected_with_fixed_cost = (both.us[0] + fixed_us) / (both.us[1] + fixed_us);
    row->primary_bound = both.BoundOn(0);
    row->comparison_bound = both.BoundOn(1);
  }

  const CompareSide& primary_;
  const CompareSide& comparison_;
  GroupBy by_;
  ComparedPlatforms platforms_;
  Roofs roofs_[2];
  double expected_us_[2] = {0, 0};  // of rows with a known ratio: what is expected, what was
  TraceComparison out_;
};

}  // namespace

std::string_view VerdictText(CompareVerdict verdict) {
  switch (verdict) {
    case CompareVerdict::kAsExpected: return "as expected";
    case CompareVerdict::kSlower: return "slower than expected";
    case CompareVerdict::kFaster: return "faster than expected";
    case CompareVerdict::kUnknown: return "unknown";
    case CompareVerdict::kOnlyInPrimary: return "only in candidate";
    case CompareVerdict::kOnlyInComparison: return "only in baseline";
  }
  return "";
}

Result<TraceComparison> CompareTraces(const CompareSide& primary, const CompareSide& comparison,
                                      analysis::GroupBy by, Job& job) {
  job.Report(0, 1, "comparing");
  return Comparer(primary, comparison, by).Run(job);
}

}  // namespace jarvis::findings
