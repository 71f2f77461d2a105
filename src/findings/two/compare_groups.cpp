#include "findings/two/compare_groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/attribution/arg_text.h"
#include "analysis/tables/ops_tables.h"

namespace jarvis::findings {
namespace {

using analysis::GroupBy;

// How analysis::LauncherName begins for work without a launch call.
constexpr std::string_view kUnlinked = "(unlinked) ";
// FLOPs of calls that do the same differ by little: a bias, an activation.
constexpr double kSameWork = 0.02;

// Is a launcher's work communication? By its first kernel.
class Collectives {
 public:
  explicit Collectives(const session::LoadedTrace& trace) : trace_(trace) {}

  bool Has(const analysis::Launcher& launcher) {
    if (launcher.count == 0) return false;
    const auto kernel = trace_.attribution().KernelsOf(launcher).front();
    const StringId name = trace_.events()[kernel].name;
    const auto [found, added] = known_.try_emplace(name, false);
    if (added) found->second = analysis::IsCollectiveName(trace_.events().strings[name]);
    return found->second;
  }

 private:
  const session::LoadedTrace& trace_;
  std::unordered_map<StringId, bool> known_;
};

CompareGroups OpGroups(const session::LoadedTrace& trace, const OwnWork& own) {
  const auto& events = trace.events();
  const auto& launchers = trace.attribution().launchers;
  CompareGroups groups;
  Collectives collectives(trace);
  std::map<std::array<StringId, 3>, CompareGroup*> known;
  for (std::uint32_t i = 0; i < launchers.size(); ++i) {
    const analysis::Launcher& launcher = launchers[i];
    if (!own.Has(launcher)) continue;
    const auto name = [&] { return analysis::LauncherName(events, trace.attribution(), launcher); };
    CompareGroup* group = nullptr;
    if (launcher.op == trace::kNoEvent) {
      group = &groups[{name(), ""}];
    } else {
      const trace::Args& args = events.args_of(launcher.op);
      CompareGroup*& of_ids = known[{events[launcher.op].name, args.dims, args.types}];
      if (of_ids == nullptr) {
        const auto text = [&](StringId id) {
          return id == kNoString ? std::string() : analysis::TupleText(events.strings[id]);
        };
        const std::string shape = text(args.dims);
        of_ids = &groups[{name(), shape + '\n' + text(args.types)}];
        of_ids->shape = shape;
      }
      group = of_ids;
    }
    group->us += launcher.direct_us;
    group->kernels += launcher.count;
    if (collectives.Has(launcher)) group->communication_us += launcher.direct_us;
    group->calls += 1;
    group->launchers.push_back(i);
  }
  return groups;
}

// Kernels of work that does not count.
void DropForeignKernels(const session::LoadedTrace& trace, const OwnWork& own,
                        CompareGroups* groups) {
  for (const analysis::Launcher& launcher : trace.attribution().launchers) {
    if (own.Has(launcher)) continue;
    for (const auto kernel : trace.attribution().KernelsOf(launcher)) {
      const auto& event = trace.events()[kernel];
      const auto found =
          groups->find({std::string(trace.events().strings[event.name]), std::string()});
      if (found == groups->end()) continue;
      found->second.us -= static_cast<double>(event.dur_ns) / 1000;
      found->second.calls -= 1;
    }
  }
}

// What an op does, whatever it is called; absent: not known.
struct Role {
  std::string_view category;
  double flops = 0;  // per call
};
std::optional<Role> RoleOf(const session::LoadedTrace& trace, const CompareGroup& group) {
  if (group.launchers.empty()) return std::nullopt;
  const std::uint32_t first = group.launchers.front();
  const analysis::LauncherWork& work = trace.Works()[first];
  if (work.work == nullptr || !(work.work->flops.value_or(0) > 0)) return std::nullopt;
  return Role{trace.attribution().CategoryOf(trace.attribution().launchers[first]),
              *work.work->flops};
}

class Matcher {
 public:
  Matcher(const CompareInput& primary, const CompareInput& comparison, GroupBy by)
      : traces_{&primary.trace, &comparison.trace}, own_{&primary.own, &comparison.own}, by_(by) {}

  Result<std::vector<CompareMatch>> Run(Job& job) {
    for (std::size_t side = 0; side < 2; ++side) {
      groups_[side] = GroupsOf(*traces_[side], *own_[side], by_);
      JV_TRY(job.Check());
    }
    Equal();
    if (by_ == GroupBy::kKernel) {
      ByName([](const std::string& name) { return analysis::ShortKernelName(name); });
    } else if (by_ == GroupBy::kOp) {
      ByName([](const std::string& name) { return name; });
      ByRole();
      Unlinked();
    }
    for (std::size_t side = 0; side < 2; ++side) {
      for (auto& [key, group] : groups_[side])
        Single(side, key.first, std::move(group));
    }
    return std::move(matches_);
  }

 private:
  void Equal() {
    for (auto it = groups_[0].begin(); it != groups_[0].end();) {
      const auto other = groups_[1].find(it->first);
      if (other == groups_[1].end()) {
        ++it;
        continue;
      }
      CompareMatch match{it->first.first, it->second.shape, false, std::move(it->second),
                         std::move(other->second)};
      matches_.push_back(std::move(match));
      groups_[1].erase(other);
      it = groups_[0].erase(it);
    }
  }

  // What is left, by a name that both have.
  template <typename NameOf>
  void ByName(const NameOf& name_of) {
    std::map<std::string, std::array<std::vector<CompareGroups::iterator>, 2>> names;
    for (std::size_t side = 0; side < 2; ++side) {
      for (auto it = groups_[side].begin(); it != groups_[side].end(); ++it) {
        const bool apart = by_ == GroupBy::kOp && it->first.first.starts_with(kUnlinked);
        if (!apart) names[name_of(it->first.first)][side].push_back(it);
      }
    }
    for (const auto& [name, sides] : names) {
      if (!sides[0].empty() && !sides[1].empty()) Together(name, sides);
    }
  }

  void Together(const std::string& name,
                const std::array<std::vector<CompareGroups::iterator>, 2>& sides) {
    CompareMatch match{name, "", true, std::nullopt, std::nullopt};
    std::optional<CompareGroup>* sums[2] = {&match.primary, &match.comparison};
    for (std::size_t side = 0; side < 2; ++side) {
      for (const CompareGroups::iterator it : sides[side]) {
        if (!*sums[side]) sums[side]->emplace();
        (*sums[side])->Add(it->second);
        groups_[side].erase(it);
      }
    }
    matches_.push_back(std::move(match));
  }

  struct Candidate {
    CompareGroups::iterator group;
    Role role;
  };
  struct Pair {
    std::size_t a, b;  // candidates of both sides
    double us;
    std::string name;
  };

  // Two names for one role: the pairs with the most time first.
  void ByRole() {
    std::vector<Candidate> candidates[2];
    for (std::size_t side = 0; side < 2; ++side) {
      if (groups_[side].empty()) return;
      for (auto it = groups_[side].begin(); it != groups_[side].end(); ++it) {
        const auto role = RoleOf(*traces_[side], it->second);
        if (role) candidates[side].push_back({it, *role});
      }
    }
    std::vector<Pair> pairs;
    // The longest are few; a limit keeps two foreign traces from becoming a square.
    constexpr std::size_t kCandidatesMax = 300;
    for (auto& side : candidates) {
      std::stable_sort(side.begin(), side.end(), [](const Candidate& a, const Candidate& b) {
        return a.group->second.us > b.group->second.us;
      });
      if (side.size() > kCandidatesMax) side.resize(kCandidatesMax);
    }
    for (std::size_t a = 0; a < candidates[0].size(); ++a) {
      for (std::size_t b = 0; b < candidates[1].size(); ++b) {
        const Role& x = candidates[0][a].role;
        const Role& y = candidates[1][b].role;
        if (x.category != y.category) continue;
        if (std::abs(x.flops - y.flops) > kSameWork * std::max(x.flops, y.flops)) continue;
        const auto& one = *candidates[0][a].group;
        const auto& other = *candidates[1][b].group;
        const auto [first, second] = std::minmax(one.first.first, other.first.first);
        pairs.push_back({a, b, one.second.us + other.second.us, first + " ~ " + second});
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
      return a.us != b.us ? a.us > b.us : a.name < b.name;
    });
    std::vector<bool> taken[2] = {std::vector<bool>(candidates[0].size()),
                                  std::vector<bool>(candidates[1].size())};
    for (const Pair& pair : pairs) {
      if (taken[0][pair.a] || taken[1][pair.b]) continue;
      taken[0][pair.a] = taken[1][pair.b] = true;
      const CompareGroups::iterator one = candidates[0][pair.a].group;
      const CompareGroups::iterator other = candidates[1][pair.b].group;
      matches_.push_back(
          {pair.name, "(same work)", false, std::move(one->second), std::move(other->second)});
      groups_[0].erase(one);
      groups_[1].erase(other);
    }
  }

  // Unlinked kernels have the devices' own names: what the other trace lacks is one row.
  void Unlinked() {
    std::array<std::vector<CompareGroups::iterator>, 2> sides;
    for (std::size_t side = 0; side < 2; ++side) {
      for (auto it = groups_[side].begin(); it != groups_[side].end(); ++it) {
        if (it->first.first.starts_with(kUnlinked)) sides[side].push_back(it);
      }
    }
    if (sides[0].empty() && sides[1].empty()) return;
    Together(std::string(kUnlinked) + "kernels of other names", sides);
  }

  void Single(std::size_t side, const std::string& name, CompareGroup group) {
    CompareMatch match{name, group.shape, false, std::nullopt, std::nullopt};
    (side == 0 ? match.primary : match.comparison) = std::move(group);
    matches_.push_back(std::move(match));
  }

  const session::LoadedTrace* traces_[2];
  const OwnWork* own_[2];
  GroupBy by_;
  CompareGroups groups_[2];  // not matched yet
  std::vector<CompareMatch> matches_;
};

}  // namespace

void CompareGroup::Add(const CompareGroup& other) {
  us += other.us;
  communication_us += other.communication_us;
  kernels += other.kernels;
  calls += other.calls;
  launchers.insert(launchers.end(), other.launchers.begin(), other.launchers.end());
}

CompareGroups GroupsOf(const session::LoadedTrace& trace, const OwnWork& own, GroupBy by) {
  if (by == GroupBy::kOp) return OpGroups(trace, own);
  CompareGroups groups;
  Collectives collectives(trace);
  for (const analysis::SummaryRow& row : trace.SummaryBy(by).rows) {
    CompareGroup& group = groups[{row.name, ""}];
    group.us = row.gpu_us;
    group.calls = static_cast<double>(row.count);
    if (by == GroupBy::kKernel) {
      if (analysis::IsCollectiveName(row.name)) group.communication_us = row.gpu_us;
      continue;
    }
    for (const std::uint32_t i : row.launchers) {
      const analysis::Launcher& launcher = trace.attribution().launchers[i];
      if (!own.Has(launcher)) {
        group.us -= launcher.direct_us;
        group.calls -= 1;
        continue;
      }
      group.launchers.push_back(i);
      group.kernels += launcher.count;
      if (collectives.Has(launcher)) group.communication_us += launcher.direct_us;
    }
  }
  if (by == GroupBy::kKernel) DropForeignKernels(trace, own, &groups);
  // Sums and differences of times leave dust.
  std::erase_if(groups, [](const auto& group) { return group.second.calls < 0.5; });
  return groups;
}

Result<std::vector<CompareMatch>> MatchGroups(const CompareInput& primary,
                                              const CompareInput& comparison, GroupBy by,
                                              Job& job) {
  return Matcher(primary, comparison, by).Run(job);
}

}  // namespace jarvis::findings
