#include "session/name_floors.h"

#include <algorithm>
#include <string_view>
#include <vector>

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
  FloorMaker(const trace::EventStore& events, const ledger::KindsOfWork& kinds, double bytes_per_ns)
      : events_(events), kinds_(kinds), bytes_per_ns_(bytes_per_ns) {
    for (EventIndex e = 0; e < events.size(); ++e) {
      if (events[e].kind != trace::EventKind::kKernel || events[e].dur_ns <= 0) continue;
      const ledger::KernelSizes& sizes = kinds.Of(e).sizes;
      if (sizes.group_bytes > 0 || sizes.thread_bytes > 0) names_[events[e].name].push_back(e);
    }
  }

  void Run(std::unordered_map<EventIndex, std::int64_t>* out) {
    for (const auto& [name, calls] : names_) {
      double fastest_ns = static_cast<double>(events_[calls.front()].dur_ns);
      for (const EventIndex e : calls)
        fastest_ns = std::min(fastest_ns, static_cast<double>(events_[e].dur_ns));
      std::vector<double> floors_ns;
      double ns = 0, floor_ns = 0;
      for (const EventIndex e : calls) {
        floors_ns.push_back(Floor(e, fastest_ns));
        floor_ns += floors_ns.back();
        ns += static_cast<double>(events_[e].dur_ns);
      }
      if (floor_ns < kLeastShare * ns) continue;
      for (std::size_t i = 0; i < calls.size(); ++i)
        out->emplace(calls[i], static_cast<std::int64_t>(floors_ns[i]));
    }
  }

 private:
  // Groups without rows are not read, and no name says how many those are: a call that is faster
  // than all groups allow shows that some had none, in other calls perhaps as well.
  double Floor(EventIndex e, double fastest_ns) {
    const ledger::KernelSizes& sizes = kinds_.Of(e).sizes;
    double bytes = static_cast<double>(sizes.group_bytes) * static_cast<double>(sizes.groups);
    if (sizes.thread_bytes > 0)
      bytes = ThreadsOfFullBlocks(e) * static_cast<double>(sizes.thread_bytes);
    const auto ns = static_cast<double>(events_[e].dur_ns);
    return std::min(sizes.groups > 1 ? fastest_ns : ns, bytes / bytes_per_ns_);
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
  std::unordered_map<StringId, std::vector<EventIndex>> names_;
  std::unordered_map<StringId, double> threads_;  // by what was recorded of a launch
};

}  // namespace

NameFloors::NameFloors(const trace::EventStore& events, const ledger::KindsOfWork& kinds,
                       const perf::Platform& platform) {
  const double bytes_per_ns = platform.mem_bw_gbps.value_or(0);
  if (bytes_per_ns > 0) FloorMaker(events, kinds, bytes_per_ns).Run(&floors_ns_);
}

std::optional<std::int64_t> NameFloors::Of(EventIndex gpu_event) const {
  const auto found = floors_ns_.find(gpu_event);
  return found == floors_ns_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace jarvis::session
