#include "findings/two/compare_traces.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "findings/two/comparability.h"
#include "findings/two/compare_groups.h"

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
// Rows with more communication than this are not judged: it is mostly waiting for other ranks.
constexpr double kCommunication = 0.1;

// The roofs of one trace's work on both platforms.
class Roofs {
 public:
  Roofs(const session::LoadedTrace& trace, const perf::Platform* primary,
        const perf::Platform* comparison)
      : trace_(trace), platforms_{primary, comparison} {}

  struct Sum {
    double us[2] = {0, 0};         // on the primary's platform, on the comparison's
    double memory_us[2] = {0, 0};  // ... of work that memory bounds there
    double known_us = 0;           // GPU time of the work that has both
    double kernels = 0;            // of that work

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
    if (platforms_[0] == nullptr || platforms_[1] == nullptr) return sum;
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
      }
      sum.known_us += us;
      sum.kernels += trace_.attribution().launchers[i].count;
    }
    return sum;
  }

 private:
  struct Roof {
    std::optional<double> us[2];
    bool memory[2] = {false, false};
  };
  const Roof& RoofOf(const analysis::LauncherWork& work) {
    const auto [found, added] = roofs_.try_emplace(work.work);
    if (added) {
      for (int i = 0; i < 2; ++i) {
        const analysis::Metrics metrics =
            analysis::MetricsOf(work.work, work.call_us, {platforms_[i]});
        found->second.us[i] = metrics.roof_us;
        found->second.memory[i] = metrics.bound == perf::Bound::kMemory;
      }
    }
    return found->second;
  }

  const session::LoadedTrace& trace_;
  const perf::Platform* platforms_[2];
  std::unordered_map<const perf::OpWork*, Roof> roofs_;
};

class Comparer {
 public:
  Comparer(const CompareSide& primary, const CompareSide& comparison, GroupBy by)
      : primary_(primary),
        comparison_(comparison),
        by_(by),
        roofs_{Roofs(primary.trace, Pointer(primary), Pointer(comparison)),
               Roofs(comparison.trace, Pointer(primary), Pointer(comparison))} {
    const double steps[2] = {static_cast<double>(primary.trace.steps().size()),
                             static_cast<double>(comparison.trace.steps().size())};
    out_.per_step = steps[0] > 0 && steps[1] > 0 && steps[0] != steps[1];
    for (int i = 0; i < 2; ++i)
      out_.parts[i] = out_.per_step ? steps[i] : 1;
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
    JV_ASSIGN(std::vector<CompareMatch> matches,
              MatchGroups(primary_.trace, comparison_.trace, by_, job));
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
  static const perf::Platform* Pointer(const CompareSide& side) {
    return side.platform ? &*side.platform : nullptr;
  }

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
      row.primary_ms = match.primary->us / 1000 / out_.parts[0];
      row.primary_calls = match.primary->calls / out_.parts[0];
      out_.primary_ms += *row.primary_ms;
    }
    if (match.comparison) {
      row.comparison_ms = match.comparison->us / 1000 / out_.parts[1];
      row.comparison_calls = match.comparison->calls / out_.parts[1];
      out_.comparison_ms += *row.comparison_ms;
    }
    if (!match.comparison) {
      row.verdict = CompareVerdict::kOnlyInPrimary;
      row.unexpected_ms = row.primary_ms;
      out_.only_primary_ms += *row.primary_ms;
      ++out_.only_primary_rows;
    } else if (!match.primary) {
      row.verdict = CompareVerdict::kOnlyInComparison;
      row.unexpected_ms = 0 - *row.comparison_ms;
      out_.only_comparison_ms += *row.comparison_ms;
      ++out_.only_comparison_rows;
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
      row->communication = true;
      return;
    }
    // The work of a kernel is not known, only that of the op that launched it.
    if (by_ != GroupBy::kKernel) Expect(primary, comparison, row);
    if (out_.same_device) row->expected = row->expected_with_fixed_cost = 1.0;
    if (!row->expected || row->arguments_differ) return;
    const auto [low, high] = std::minmax(*row->expected, *row->expected_with_fixed_cost);
    const double nearest = std::clamp(row->ratio.value_or(*row->expected), low, high);
    row->unexpected_ms = *row->primary_ms - nearest * *row->comparison_ms;
    out_.expected_known_ms += *row->primary_ms;
    out_.expected_known_comparison_ms += *row->comparison_ms;
    expected_us_[0] += *row->expected * *row->comparison_ms;
    expected_us_[1] += *row->comparison_ms;
    if (!row->ratio) return;
    const double excess = *row->ratio / nearest;
    row->verdict = excess > kTolerance       ? CompareVerdict::kSlower
                   : excess < 1 / kTolerance ? CompareVerdict::kFaster
                                             : CompareVerdict::kAsExpected;
  }

  // By the work of both sides, where most of it is known, so that the sides may be exchanged.
  void Expect(const CompareGroup& primary, const CompareGroup& comparison, CompareRow* row) {
    const CompareGroup* groups[2] = {&primary, &comparison};
    std::optional<double>* roofs_ms[2] = {&row->primary_roof_ms, &row->comparison_roof_ms};
    Roofs::Sum both;
    for (int i = 0; i < 2; ++i) {
      const Roofs::Sum sum = roofs_[i].Of(groups[i]->launchers);
      if (!(sum.known_us > 0) || sum.known_us < kMost * groups[i]->us) continue;
      *roofs_ms[i] = sum.us[i] / 1000 / out_.parts[i];
      both += sum;
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
    case CompareVerdict::kOnlyInPrimary: return "only in primary";
    case CompareVerdict::kOnlyInComparison: return "only in comparison";
  }
  return "";
}

Result<TraceComparison> CompareTraces(const CompareSide& primary, const CompareSide& comparison,
                                      analysis::GroupBy by, Job& job) {
  job.Report(0, 1, "comparing");
  return Comparer(primary, comparison, by).Run(job);
}

}  // namespace jarvis::findings
