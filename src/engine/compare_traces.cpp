#include "engine/compare_traces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/arg_text.h"
#include "analysis/ops_tables.h"
#include "engine/comparability.h"

namespace jarvis::engine {
namespace {

using analysis::GroupBy;

// How analysis::LauncherName begins for work without a launch call.
constexpr std::string_view kUnlinked = "(unlinked) ";

// A ratio within this factor of the expected one is as expected.
constexpr double kTolerance = 1.15;
// What a kernel may cost whatever its work is, about what the shortest kernels take: no ratio of
// the devices explains it.
constexpr double kFixedUs = 3;
// The expected ratio is known if at least this share of a row's time has a roof.
constexpr double kMost = 0.9;

struct Group {
  std::string shape;
  double us = 0;
  double calls = 0;
  std::vector<std::uint32_t> launchers;

  void Add(const Group& other) {
    us += other.us;
    calls += other.calls;
    launchers.insert(launchers.end(), other.launchers.begin(), other.launchers.end());
  }
};
// By name and arguments' signature; the latter is empty but for ops.
using Groups = std::map<std::pair<std::string, std::string>, Group>;

Groups OpGroups(const LoadedTrace& trace) {
  const auto& events = trace.events();
  const auto& launchers = trace.attribution().launchers;
  Groups groups;
  std::map<std::array<StringId, 3>, Group*> known;
  for (std::uint32_t i = 0; i < launchers.size(); ++i) {
    const analysis::Launcher& launcher = launchers[i];
    const std::string name = analysis::LauncherName(events, trace.attribution(), launcher);
    Group* group = nullptr;
    if (launcher.op == trace::kNoEvent) {
      group = &groups[{name, ""}];
    } else {
      const trace::Args& args = events.args_of(launcher.op);
      Group*& of_ids = known[{events[launcher.op].name, args.dims, args.types}];
      if (of_ids == nullptr) {
        const auto text = [&](StringId id) {
          return id == kNoString ? std::string() : analysis::TupleText(events.strings[id]);
        };
        const std::string shape = text(args.dims);
        of_ids = &groups[{name, shape + '\n' + text(args.types)}];
        of_ids->shape = shape;
      }
      group = of_ids;
    }
    group->us += launcher.direct_us;
    group->calls += 1;
    group->launchers.push_back(i);
  }
  return groups;
}

Groups GroupsOf(const LoadedTrace& trace, GroupBy by) {
  if (by == GroupBy::kOp) return OpGroups(trace);
  Groups groups;
  for (const analysis::SummaryRow& row : trace.SummaryBy(by).rows) {
    Group& group = groups[{row.name, ""}];
    group.us = row.gpu_us;
    group.calls = static_cast<double>(row.count);
    group.launchers = row.launchers;
  }
  return groups;
}

// The roofs of one trace's work on both platforms.
class Roofs {
 public:
  Roofs(const LoadedTrace& trace, const perf::Platform* primary, const perf::Platform* comparison)
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

  const LoadedTrace& trace_;
  const perf::Platform* platforms_[2];
  std::unordered_map<const perf::OpWork*, Roof> roofs_;
};

class Comparer {
 public:
  Comparer(const CompareSide& primary, const CompareSide& comparison, GroupBy by)
      : by_(by),
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

  Result<TraceComparison> Run(Groups primary, Groups comparison, Job& job) {
    std::map<std::string, std::pair<Groups, Groups>> rest;  // by name
    for (auto& [key, group] : primary) {
      JV_TRY(job.Check());
      const auto other = comparison.find(key);
      if (other == comparison.end()) {
        rest[key.first].first.emplace(key, std::move(group));
        continue;
      }
      Add(key.first, group.shape, false, &group, &other->second);
      comparison.erase(other);
    }
    for (auto& [key, group] : comparison)
      rest[key.first].second.emplace(key, std::move(group));
    std::pair<Groups, Groups> unlinked;
    for (auto& [name, sides] : rest) {
      if (by_ == GroupBy::kOp && name.starts_with(kUnlinked)) {
        unlinked.first.merge(sides.first);
        unlinked.second.merge(sides.second);
      } else {
        AddRest(name, sides.first, sides.second);
      }
    }
    if (!unlinked.first.empty() || !unlinked.second.empty()) {
      AddUnlinked(unlinked.first, unlinked.second);
    }
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

  // Unlinked kernels have the devices' own names: what the other trace lacks is one row.
  void AddUnlinked(const Groups& primary, const Groups& comparison) {
    Group sums[2];
    for (const auto& [key, group] : primary)
      sums[0].Add(group);
    for (const auto& [key, group] : comparison)
      sums[1].Add(group);
    Add(std::string(kUnlinked) + "kernels of other names", "", true,
        primary.empty() ? nullptr : &sums[0], comparison.empty() ? nullptr : &sums[1]);
  }

  // Calls whose arguments the other trace does not have.
  void AddRest(const std::string& name, const Groups& primary, const Groups& comparison) {
    if (primary.empty() || comparison.empty()) {
      for (const auto& [key, group] : primary)
        Add(name, group.shape, false, &group, nullptr);
      for (const auto& [key, group] : comparison)
        Add(name, group.shape, false, nullptr, &group);
      return;
    }
    Group sums[2];
    for (const auto& [key, group] : primary)
      sums[0].Add(group);
    for (const auto& [key, group] : comparison)
      sums[1].Add(group);
    Add(name, "", true, &sums[0], &sums[1]);
  }

  void Add(const std::string& name, const std::string& shape, bool arguments_differ,
           const Group* primary, const Group* comparison) {
    CompareRow row;
    row.name = name;
    row.shape = shape;
    row.arguments_differ = arguments_differ;
    if (primary != nullptr) {
      row.primary_ms = primary->us / 1000 / out_.parts[0];
      row.primary_calls = primary->calls / out_.parts[0];
      row.primary_launchers = primary->launchers;
      out_.primary_ms += *row.primary_ms;
    }
    if (comparison != nullptr) {
      row.comparison_ms = comparison->us / 1000 / out_.parts[1];
      row.comparison_calls = comparison->calls / out_.parts[1];
      row.comparison_launchers = comparison->launchers;
      out_.comparison_ms += *row.comparison_ms;
    }
    if (comparison == nullptr) {
      row.verdict = CompareVerdict::kOnlyInPrimary;
      row.unexpected_ms = row.primary_ms;
      out_.only_primary_ms += *row.primary_ms;
      ++out_.only_primary_rows;
    } else if (primary == nullptr) {
      row.verdict = CompareVerdict::kOnlyInComparison;
      row.unexpected_ms = 0 - *row.comparison_ms;
      out_.only_comparison_ms += *row.comparison_ms;
      ++out_.only_comparison_rows;
    } else {
      Judge(*primary, *comparison, &row);
    }
    out_.rows.push_back(std::move(row));
  }

  void Judge(const Group& primary, const Group& comparison, CompareRow* row) {
    if (*row->comparison_ms > 0) row->ratio = *row->primary_ms / *row->comparison_ms;
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
  void Expect(const Group& primary, const Group& comparison, CompareRow* row) {
    const Group* groups[2] = {&primary, &comparison};
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
  Groups groups[2] = {GroupsOf(primary.trace, by), GroupsOf(comparison.trace, by)};
  JV_TRY(job.Check());
  return Comparer(primary, comparison, by).Run(std::move(groups[0]), std::move(groups[1]), job);
}

}  // namespace jarvis::engine
