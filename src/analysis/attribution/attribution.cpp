#include "analysis/attribution/attribution.h"

#include <algorithm>
#include <unordered_map>

#include "base/run_sort.h"
#include "base/text.h"
#include "perf/op_category.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

// The op that a launch call works for, or kNoEvent.
EventIndex OpOf(const EventStore& events, const tree::CallTree& tree, const PseudoOps& pseudo,
                EventIndex launch) {
  for (EventIndex up = launch; up != kNoEvent; up = tree.parent(up)) {
    if (events[up].kind == EventKind::kCpuOp && events.name(up) != "execute") return up;
    if (pseudo.AtFrame(up) != nullptr) return up;
  }
  return kNoEvent;
}

class Attributor {
 public:
  Attributor(const EventStore& events, const tree::CallTree& tree, PseudoOps pseudo,
             const perf::ModelRows& models)
      : events_(events), tree_(tree), models_(models) {
    result_.pseudo = std::move(pseudo);
  }

  Attribution Run() {
    result_.cpu_ops = false;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const trace::Event& event = events_[e];
      result_.cpu_ops = result_.cpu_ops || event.kind == EventKind::kCpuOp;
      if (!trace::IsGpuWork(event.kind) || (event.flags & trace::kLeftOut) != 0) continue;
      result_.timeline.push_back(e);
      const EventIndex launch = tree_.parent(e);
      result_.places.push_back(
          {e, launch,
           launch == kNoEvent ? kNoEvent : OpOf(events_, tree_, result_.pseudo, launch)});
    }
    MakeLaunchers();
    return std::move(result_);
  }

 private:
  void MakeLaunchers() {
    struct Entry {
      EventIndex owner;  // the launcher's event; the kernel itself if it is unlinked
      EventIndex kernel;
    };
    std::vector<Entry> entries;
    entries.reserve(result_.places.size());
    for (const KernelPlace& place : result_.places) {
      const EventIndex owner = place.op != kNoEvent       ? place.op
                               : place.launch != kNoEvent ? place.launch
                                                          : place.kernel;
      entries.push_back({owner, place.kernel});
    }
    const auto start = [&](EventIndex e) {
      return std::tuple(events_[e].ts_ns, events_[e].track, events_[e].uid);
    };
    RunSort(entries, [&](const Entry& a, const Entry& b) {
      if (a.owner != b.owner) return start(a.owner) < start(b.owner);
      return start(a.kernel) < start(b.kernel);
    });
    result_.kernels.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size();) {
      Launcher launcher;
      launcher.first = static_cast<std::uint32_t>(i);
      const EventIndex owner = entries[i].owner;
      for (; i < entries.size() && entries[i].owner == owner; ++i) {
        result_.kernels.push_back(entries[i].kernel);
      }
      launcher.count = static_cast<std::uint32_t>(i) - launcher.first;
      if (!trace::IsGpuWork(events_[owner].kind)) launcher.op = owner;
      Measure(&launcher);
      result_.launchers.push_back(launcher);
    }
  }

  void Measure(Launcher* launcher) {
    const auto own = result_.KernelsOf(*launcher);
    launcher->direct_us = BusyUs(events_, own, Clock::kNanoseconds);
    if (launcher->op == kNoEvent) {
      launcher->subtree_us = launcher->direct_us;
      launcher->category = result_.PlaceOfCategory("unlinked");
      return;
    }
    const auto below = tree_.GpuBelow(launcher->op);
    launcher->subtree_us = below.size() == own.size() ? launcher->direct_us
                                                      : BusyUs(events_, below, Clock::kNanoseconds);
    launcher->category =
        result_.pseudo.empty()
            ? CategoryOf(events_.KnownAs(launcher->op), events_[own[0]].name)
            : result_.PlaceOfCategory(perf::CategoryOfOp(
                  models_, result_.pseudo.NameOf(events_, launcher->op), events_.name(own[0])));
  }

  std::uint32_t CategoryOf(StringId op, StringId kernel) {
    const std::uint64_t key = (std::uint64_t{op} << 32) | kernel;
    const auto [known, added] = categories_.try_emplace(key);
    if (added) {
      known->second = result_.PlaceOfCategory(
          perf::CategoryOfOp(models_, events_.strings[op], events_.strings[kernel]));
    }
    return known->second;
  }

  const EventStore& events_;
  const tree::CallTree& tree_;
  const perf::ModelRows& models_;
  Attribution result_;
  std::unordered_map<std::uint64_t, std::uint32_t> categories_;
};

}  // namespace

std::uint32_t Attribution::PlaceOfCategory(std::string_view category) {
  const auto known = std::find(categories.begin(), categories.end(), category);
  if (known == categories.end()) {
    categories.push_back(category);
    return static_cast<std::uint32_t>(categories.size() - 1);
  }
  return static_cast<std::uint32_t>(known - categories.begin());
}

bool IsCollectiveName(std::string_view name) {
  return ContainsNoCase(name, "nccl") || ContainsNoCase(name, "rccl") ||
         ContainsNoCase(name, "cross_device_reduce");
}

Attribution Attribute(const EventStore& events, const tree::CallTree& tree, PseudoOps pseudo,
                      const perf::ModelRows& models) {
  return Attributor(events, tree, std::move(pseudo), models).Run();
}

PseudoOps FindPseudoOps(const EventStore& events, const tree::CallTree& tree) {
  PseudoTree walked{events, {}, {}, [&](EventIndex e) { return tree.parent(e); }};
  walked.hosts.assign(tree.preorder().begin(), tree.preorder().end());
  std::stable_sort(walked.hosts.begin(), walked.hosts.end(),
                   [&](EventIndex a, EventIndex b) { return events[a].ts_ns < events[b].ts_ns; });
  for (const EventIndex call : tree.preorder()) {
    for (const EventIndex gpu : tree.GpuOf(call))
      walked.links.emplace_back(call, gpu);
  }
  return FindPseudoOps(walked, {});
}

Coverage ComputeCoverage(const EventStore& events, const tree::CallTree& tree) {
  Coverage coverage;
  const PseudoOps none;
  const auto add = [](Coverage::Part& part, std::int64_t ns) {
    ++part.count;
    part.time_us += trace::MicrosOf(ns);
  };
  for (EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if (!trace::IsGpuWork(event.kind)) continue;
    if ((event.flags & trace::kLeftOut) != 0) {
      add(coverage.left_out, event.dur_ns);
      continue;
    }
    if ((event.flags & trace::kClipped) != 0) {
      add(coverage.clipped, events.recorded_duration_ns(e) - event.dur_ns);
    }
    add(coverage.all, event.dur_ns);
    const EventIndex launch = tree.parent(e);
    add(launch == kNoEvent ? coverage.unlinked : coverage.linked, event.dur_ns);
    if (launch != kNoEvent && OpOf(events, tree, none, launch) != kNoEvent) {
      add(coverage.with_op, event.dur_ns);
    }
  }
  return coverage;
}

}  // namespace jarvis::analysis
