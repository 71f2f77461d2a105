#include "session/name_floors.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "session/grid_floors.h"
#include "trace/json_text.h"

namespace jarvis::session {
namespace {

using trace::EventIndex;

// The product of the sizes of a launch; 0: not recorded.
double ProductOf(std::string_view members, std::string_view key) {
  const std::vector<std::string_view> sizes = trace::ElementsOf(trace::MemberOf(members, key));
  double product = sizes.empty() ? 0 : 1;
  for (const std::string_view size : sizes)
    product *= static_cast<double>(std::max<std::int64_t>(0, trace::IntegerOf(size).value_or(0)));
  return product;
}

class FloorMaker {
 public:
  FloorMaker(const trace::EventStore& events, const tree::CallTree& tree,
             const ledger::KindsOfWork& kinds, const perf::Platform& platform)
      : events_(events),
        kinds_(kinds),
        bytes_per_ns_(*platform.mem_bw_gbps),
        by_grid_(GridFloorsOf(events, tree, kinds, platform)) {
    for (EventIndex e = 0; e < events.size(); ++e) {
      if (events[e].kind != trace::EventKind::kKernel || events[e].dur_ns <= 0) continue;
      const ledger::KernelSizes& sizes = kinds.Of(e).sizes;
      if (sizes.group_bytes > 0 || sizes.thread_bytes > 0 || by_grid_.contains(e))
        names_[events[e].name].push_back(e);
    }
  }

  void Run(std::unordered_map<EventIndex, NameFloor>* out) {
    for (const auto& [name, calls] : names_) {
      double fastest_ns = static_cast<double>(events_[calls.front()].dur_ns);
      for (const EventIndex e : calls)
        fastest_ns = std::min(fastest_ns, static_cast<double>(events_[e].dur_ns));
      std::vector<NameFloor> floors;
      double ns = 0, floor_ns = 0;
      for (const EventIndex e : calls) {
        floors.push_back(Floor(e, fastest_ns));
        floor_ns += static_cast<double>(floors.back().ns);
        ns += static_cast<double>(events_[e].dur_ns);
      }
      if (floor_ns < kLeastShare * ns) continue;
      for (std::size_t i = 0; i < calls.size(); ++i)
        out->emplace(calls[i], floors[i]);
    }
  }

 private:
  // Groups without rows are not read, and no name says how many those are: a call that is faster
  // than all groups allow shows that some had none, in other calls perhaps as well.
  NameFloor Floor(EventIndex e, double fastest_ns) {
    const auto ns = static_cast<double>(events_[e].dur_ns);
    if (const auto grid = by_grid_.find(e); grid != by_grid_.end()) {
      return {static_cast<std::int64_t>(std::min(ns, grid->second.ns)),
              static_cast<std::int64_t>(std::min(ns, grid->second.most_ns)), true,
              grid->second.assumption};
    }
    const ledger::KernelSizes& sizes = kinds_.Of(e).sizes;
    double bytes = static_cast<double>(sizes.group_bytes) * static_cast<double>(sizes.groups);
    if (sizes.thread_bytes > 0)
      bytes = ThreadsOfFullBlocks(e) * static_cast<double>(sizes.thread_bytes);
    const bool groups = sizes.groups > 1;
    const double floor_ns = std::min(groups ? fastest_ns : ns, bytes / bytes_per_ns_);
    return {static_cast<std::int64_t>(floor_ns), 0, false, groups ? "uniform_routing" : ""};
  }

  double ThreadsOfFullBlocks(EventIndex e) {
    const StringId launch = events_.args_of(e).other;
    const auto [known, added] = threads_.try_emplace(launch);
    if (added) {
      const std::string_view members = events_.text(launch);
      known->second = std::max(0.0, ProductOf(members, "grid") - 1) * ProductOf(members, "block");
    }
    return known->second;
  }

  const trace::EventStore& events_;
  const ledger::KindsOfWork& kinds_;
  const double bytes_per_ns_;
  const std::unordered_map<EventIndex, GridFloor> by_grid_;
  std::unordered_map<StringId, std::vector<EventIndex>> names_;
  std::unordered_map<StringId, double> threads_;  // by what was recorded of a launch
};

}  // namespace

NameFloors::NameFloors(const trace::EventStore& events, const tree::CallTree& tree,
                       const ledger::KindsOfWork& kinds, const perf::Platform& platform) {
  if (platform.mem_bw_gbps.value_or(0) > 0) FloorMaker(events, tree, kinds, platform).Run(&floors_);
}

const NameFloor* NameFloors::Of(EventIndex gpu_event) const {
  const auto found = floors_.find(gpu_event);
  return found == floors_.end() ? nullptr : &found->second;
}

}  // namespace jarvis::session
