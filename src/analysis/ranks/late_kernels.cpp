#include "analysis/ranks/late_kernels.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/ranks/stands_out.h"
#include "analysis/tables/summary.h"
#include "base/correlation.h"

namespace jarvis::analysis {
namespace {

// Of so few collectives, by so small a chance, and with so little more than the mean nothing is
// said.
constexpr std::size_t kCollectivesMin = 8;
constexpr double kChanceMax = 0.001;
constexpr double kRatioMin = 1.03;

class KernelFinder {
 public:
  KernelFinder(const RankSet& set, const JointTimeline& joint)
      : set_(set), joint_(joint), names_(set.ranks.size()), exchange_(set.ranks.size(), false) {}

  std::vector<LateKernel> Run(const std::vector<bool>& counts) {
    for (std::size_t i = 0; i < joint_.collectives.size(); ++i) {
      const JointCollective& one = joint_.collectives[i];
      if (counts[i] && one.family != CommFamily::kPointToPoint) LookAt(one);
      for (const JointPart& part : one.parts)
        exchange_[part.rank] = one.family == CommFamily::kExchange;
    }
    std::vector<LateKernel> found;
    for (auto& [key, group] : groups_) {
      LateKernel& of = group.found;
      of.transfer_follows = Correlation(group.most, group.transfers);
      std::sort(group.ratios.begin(), group.ratios.end());
      of.ratio = group.ratios[group.ratios.size() / 2];
      const double chance = ChanceOfLast(of.times, of.of, group.ranks);
      if (of.of < kCollectivesMin || chance > kChanceMax || of.ratio < kRatioMin) continue;
      std::tie(of.kernel, of.collective) = key;
      found.push_back(std::move(of));
    }
    std::stable_sort(found.begin(), found.end(), [](const LateKernel& a, const LateKernel& b) {
      return a.spread_ns > b.spread_ns;
    });
    return found;
  }

 private:
  struct Group {
    LateKernel found;
    std::vector<double> ratios;
    std::vector<double> most;       // of each collective, nanoseconds
    std::vector<double> transfers;  // ... from the last start to the last end
    std::size_t ranks = 0;
  };
  using Times = std::vector<std::pair<std::string_view, std::int64_t>>;  // by short name, few

  // Names are long, and the same again and again.
  std::string_view NameOf(std::size_t rank, std::uint32_t name) {
    const auto [found, added] = names_[rank].try_emplace(name);
    if (added) found->second = ShortKernelName(set_.ranks[rank].facts->names[name]);
    return found->second;
  }

  static Times::const_iterator Find(const Times& times, std::string_view name) {
    return std::find_if(times.begin(), times.end(),
                        [&](const auto& one) { return one.first == name; });
  }

  Times WorkOf(const JointPart& part) {
    Times times;
    for (const WorkBefore& one : set_.ranks[part.rank].facts->arrivals[part.call].work) {
      const std::string_view name = NameOf(part.rank, one.kernel);
      const auto found = Find(times, name);
      if (found == times.end()) {
        times.emplace_back(name, one.ns);
      } else {
        times[static_cast<std::size_t>(found - times.begin())].second += one.ns;
      }
    }
    return times;
  }

  static double Mean(const std::vector<std::int64_t>& of) {
    double sum = 0;
    for (const std::int64_t one : of)
      sum += static_cast<double>(one);
    return sum / static_cast<double>(of.size());
  }

  // The kernel that every rank ran before it and that differs most; whoever came last.
  void LookAt(const JointCollective& one) {
    std::vector<Times> works;
    for (const JointPart& part : one.parts) {
      if (!set_.ranks[part.rank].facts) return;
      works.push_back(WorkOf(part));
    }
    std::string_view widest;
    std::vector<std::int64_t> times;
    double spread = 0;
    for (const auto& [name, ns] : works.front()) {
      std::vector<std::int64_t> own;
      for (const Times& work : works) {
        const auto found = Find(work, name);
        if (found != work.end()) own.push_back(found->second);
      }
      if (own.size() < works.size()) continue;
      const double over =
          static_cast<double>(*std::max_element(own.begin(), own.end())) - Mean(own);
      if (over <= spread) continue;
      std::tie(widest, spread) = std::pair(name, over);
      times = std::move(own);
    }
    if (!times.empty()) Add(one, widest, times, spread);
  }

  void Add(const JointCollective& one, std::string_view kernel,
           const std::vector<std::int64_t>& times, double spread) {
    const JointPart& any = one.parts.front();
    const RankDigest& digest = set_.ranks[any.rank];
    const std::string collective =
        ShortKernelName(digest.kinds[digest.calls[any.call].kind].kernel);
    Group& group = groups_[{std::string(kernel), collective}];
    LateKernel& of = group.found;
    if (of.of == 0) of.between_exchanges = true;
    const auto most =
        static_cast<std::size_t>(std::max_element(times.begin(), times.end()) - times.begin());
    const double mean = Mean(times);
    of.family = one.family;
    of.between_exchanges =
        of.between_exchanges && one.family == CommFamily::kExchange && exchange_[any.rank];
    ++of.of;
    if (most == one.last) ++of.times;
    of.spread_ns += static_cast<std::int64_t>(spread);
    group.ranks = std::max(group.ranks, one.parts.size());
    group.ratios.push_back(static_cast<double>(times[most]) / mean);
    std::int64_t end = any.end_ns;
    for (const JointPart& part : one.parts)
      end = std::max(end, part.end_ns);
    group.most.push_back(static_cast<double>(times[most]));
    group.transfers.push_back(static_cast<double>(end - one.parts[one.last].start_ns));
    for (std::size_t i = 0; i < times.size(); ++i)
      of.more.push_back(
          {one.parts[i].rank, one.parts[i].call, times[i] - static_cast<std::int64_t>(mean)});
  }

  const RankSet& set_;
  const JointTimeline& joint_;
  std::vector<std::unordered_map<std::uint32_t, std::string>> names_;  // by rank
  std::vector<bool> exchange_;  // whether the rank's collective before was one
  std::map<std::pair<std::string, std::string>, Group> groups_;
};

}  // namespace

std::vector<LateKernel> FindLateKernels(const RankSet& set, const JointTimeline& joint,
                                        const std::vector<bool>& counts) {
  return KernelFinder(set, joint).Run(counts);
}

}  // namespace jarvis::analysis
