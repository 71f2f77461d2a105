#include "compat/tracelens_tree.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace jarvis::compat {
namespace {

using trace::Event;
using trace::EventKind;
using trace::EventStore;

// A quirk is named where it is reproduced; the ids are those of docs/differences.md.
class Builder {
 public:
  Builder(const EventStore& events, bool python_frames)
      : events_(events), python_frames_(python_frames) {
    tree_.parent.assign(events.size(), kNoEvent);
    tree_.in_tree.assign(events.size(), 0);
    tree_.discarded.assign(events.size(), 0);
    tree_.ts.resize(events.size());
    tree_.end.resize(events.size());
    for (EventIndex e = 0; e < events.size(); ++e) {
      tree_.ts[e] = events.ts_us(e);
      tree_.end[e] = tree_.ts[e] + events.dur_us(e);
    }
  }

  TraceLensTree Run() {
    Nest();
    Link();
    return std::move(tree_);
  }

 private:
  EventKind Kind(EventIndex e) const { return TraceLensKind(events_, e); }

  bool Considered(EventKind kind) const {
    return kind == EventKind::kCpuOp || kind == EventKind::kRuntime || kind == EventKind::kDriver ||
           (python_frames_ && kind == EventKind::kPythonFunction);
  }

  void Nest() {
    std::vector<EventIndex> hosts;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (Considered(Kind(e))) hosts.push_back(e);
    }
    // T2: by start alone, so a parent that stands after its child in the file is not its parent.
    std::stable_sort(hosts.begin(), hosts.end(),
                     [&](EventIndex a, EventIndex b) { return tree_.ts[a] < tree_.ts[b]; });
    std::vector<std::vector<EventIndex>> stacks(events_.tracks.size());
    for (const EventIndex e : hosts)
      NestOne(e, &stacks[events_[e].track]);
    tree_.hosts = std::move(hosts);
  }

  void NestOne(EventIndex e, std::vector<EventIndex>* stack) {
    tree_.in_tree[e] = 1;
    while (!stack->empty() && tree_.ts[e] >= tree_.end[stack->back()])
      stack->pop_back();
    if (!stack->empty() && tree_.end[e] > tree_.end[stack->back()]) {
      const double overlap = tree_.end[stack->back()] - tree_.ts[e];
      // T3, T5: an event that sticks out is dropped, unless by less than 1 us with something above.
      if (!(overlap < 1.0) || stack->size() < 2) {
        tree_.discarded[e] = 1;
        return;
      }
      stack->pop_back();  // T4: the next one is not looked at again
    }
    if (!stack->empty()) tree_.parent[e] = stack->back();
    stack->push_back(e);
  }

  // Correlation, if the first launch call in the file has one; else External id.
  bool LinkByCorrelation() const {
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const EventKind kind = Kind(e);
      if (!trace::IsLaunchCall(kind) || !ContainsNoCase(events_.name(e), "launch")) continue;
      return events_.args_of(e).correlation != trace::kAbsent;
    }
    return false;
  }

  void Link() {
    const bool by_correlation = LinkByCorrelation();
    const auto link_id = [&](EventIndex e) {
      const trace::Args& args = events_.args_of(e);
      return by_correlation ? args.correlation : args.external_id;
    };
    std::unordered_map<std::int64_t, std::uint32_t> arrow_end;  // id -> track; the last one wins
    std::unordered_map<std::int64_t, char> arrow_start;
    for (const trace::Flow& flow : events_.flows) {
      if (!flow.ac2g) continue;
      if (flow.phase == 'f') {
        arrow_end[flow.id] = flow.track;
      } else {
        arrow_start[flow.id] = 1;
      }
    }
    // A recorder of its own kind draws no arrows: as torch.profiler would, from each call to its
    // work.
    for (EventIndex e = 0; e < events_.size() && events_.dialect.recorder[0] != '\0'; ++e) {
      const std::int64_t id = link_id(e);
      if (id == trace::kAbsent) continue;
      if (trace::IsLaunchCall(Kind(e))) arrow_start[id] = 1;
      if (trace::IsGpuWork(Kind(e))) arrow_end[id] = events_[e].track;
    }
    std::unordered_map<std::int64_t, std::vector<EventIndex>> gpu_by_id;
    std::unordered_map<std::int64_t, std::vector<std::pair<std::uint32_t, EventIndex>>> by_track;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const std::int64_t id = link_id(e);
      if (id == trace::kAbsent) continue;
      if (trace::IsGpuWork(Kind(e))) gpu_by_id[id].push_back(e);
      if (arrow_end.contains(id)) by_track[id].emplace_back(events_[e].track, e);
    }
    for (EventIndex r = 0; r < events_.size(); ++r) {
      if (!trace::IsLaunchCall(Kind(r))) continue;
      const std::int64_t id = link_id(r);
      const std::string_view name = events_.name(r);
      if (name == "cudaGraphLaunch" || name == "hipGraphLaunch") {
        const auto found = gpu_by_id.find(id);
        if (id == trace::kAbsent || found == gpu_by_id.end()) continue;
        for (const EventIndex g : found->second)
          Attach(r, g);
        continue;
      }
      if (id == trace::kAbsent || !arrow_start.contains(id) || !arrow_end.contains(id)) continue;
      // T6: of several GPU events with one id on one stream, the last in the file is taken.
      EventIndex target = kNoEvent;
      for (const auto& [track, e] : by_track[id]) {
        if (track == arrow_end[id]) target = e;
      }
      if (target != kNoEvent && trace::IsGpuWork(Kind(target))) Attach(r, target);
    }
  }

  void Attach(EventIndex launch, EventIndex gpu) {
    tree_.parent[gpu] = launch;  // T7: a later call with the same id overwrites
    tree_.in_tree[gpu] = 1;
    tree_.links.emplace_back(launch, gpu);
  }

  const EventStore& events_;
  bool python_frames_;
  TraceLensTree tree_;
};

}  // namespace

EventKind TraceLensKind(const EventStore& events, EventIndex e) {
  const Event& event = events[e];
  const std::string_view category = events.categories[event.category];
  switch (event.kind) {
    case EventKind::kCpuOp: return category == "cpu_op" ? event.kind : EventKind::kOther;
    case EventKind::kPythonFunction:
      return category == "python_function" ? event.kind : EventKind::kOther;
    case EventKind::kRuntime: return category == "cuda_runtime" ? event.kind : EventKind::kOther;
    case EventKind::kDriver: return category == "cuda_driver" ? event.kind : EventKind::kOther;
    case EventKind::kKernel: return category == "kernel" ? event.kind : EventKind::kOther;
    case EventKind::kMemcpy: return category == "gpu_memcpy" ? event.kind : EventKind::kOther;
    case EventKind::kMemset: return category == "gpu_memset" ? event.kind : EventKind::kOther;
    default: return event.kind;
  }
}

TraceLensTree BuildTraceLensTree(const EventStore& events, bool python_frames) {
  return Builder(events, python_frames).Run();
}

}  // namespace jarvis::compat
