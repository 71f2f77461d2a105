#include "findings/one/host_only_work.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "analysis/host/host_names.h"
#include "base/median.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::EventKind;

constexpr std::int64_t kHostOnlyLeastNs = 100'000;

class HostOnlyFinder {
 public:
  explicit HostOnlyFinder(const session::LoadedTrace& trace)
      : events_(trace.events()),
        tree_(trace.tree()),
        attribution_(trace.attribution()),
        names_(events_) {}

  std::vector<HostOnlyWork> Run() {
    FindLaunches();
    const std::vector<bool> calls = EventsHolding(tree_, [&](EventIndex e) {
      return trace::IsLaunchCall(events_[e].kind) || !tree_.GpuOf(e).empty();
    });
    std::map<std::string, HostOnlyWork> works;
    std::unordered_map<const HostOnlyWork*, SelfTimes> self;
    for (const EventIndex e : tree_.preorder()) {
      if (calls[tree_.position(e)] || events_[e].dur_ns < kHostOnlyLeastNs) continue;
      const EventIndex parent = tree_.parent(e);
      const bool outermost = parent == trace::kNoEvent || calls[tree_.position(parent)];
      if (!outermost || !launches_[events_[e].track] || IsWait(e)) continue;
      const EventIndex named = Named(e);
      HostOnlyWork& work = works[analysis::ShownHostName(events_[named].kind, events_.name(named))];
      work.named = SaysWork(named);
      work.loading = work.loading || names_.Of(e).loader;
      work.spans.push_back({events_[e].ts_ns, events_[e].end_ns()});
      ++work.count;
      AddSelfTimes(e, &self[&work]);
    }
    IntervalSet<std::int64_t> busy;
    for (const EventIndex e : attribution_.timeline)
      busy.push_back({events_[e].ts_ns, events_[e].end_ns()});
    busy = Union(std::move(busy));
    std::vector<HostOnlyWork> out;
    for (auto& [name, work] : works) {
      work.inside = InsideOf(self[&work], work.count);
      work.name = name;
      work.spans = Union(std::move(work.spans));
      work.beside_gpu_ns = Length(Intersect(work.spans, busy));
      out.push_back(std::move(work));
    }
    std::stable_sort(out.begin(), out.end(), [](const HostOnlyWork& a, const HostOnlyWork& b) {
      return Length(a.spans) > Length(b.spans);
    });
    return out;
  }

 private:
  void FindLaunches() {
    launches_.assign(events_.tracks.size(), false);
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (!trace::IsLaunchCall(events_[e].kind) || tree_.GpuOf(e).empty()) continue;
      launches_[events_[e].track] = true;
      starts_.push_back(events_[e].ts_ns);
    }
    std::sort(starts_.begin(), starts_.end());
  }

  // Nanoseconds by name.
  using SelfTimes = std::unordered_map<StringId, std::int64_t>;
  void AddSelfTimes(EventIndex outermost, SelfTimes* self) const {
    for (const EventIndex e : tree_.Subtree(outermost)) {
      (*self)[events_[e].name] += events_[e].dur_ns;
      if (e != outermost) (*self)[events_[tree_.parent(e)].name] -= events_[e].dur_ns;
    }
  }
  // One function may have several names, each with an address.
  std::vector<SectionWork> InsideOf(const SelfTimes& self, std::uint64_t count) const {
    std::map<std::string, std::int64_t> sums;
    for (const auto& [name, ns] : self)
      sums[WithoutAddress(events_.strings[name])] += ns;
    std::vector<SectionWork> inside;
    for (const auto& [name, ns] : sums)
      inside.push_back({name, count, static_cast<double>(ns) / 1e6});
    std::stable_sort(inside.begin(), inside.end(),
                     [](const SectionWork& a, const SectionWork& b) { return a.ms > b.ms; });
    if (inside.size() > kSectionWorkMax) inside.resize(kSectionWorkMax);
    return inside;
  }

  bool SaysWork(EventIndex e) {
    return events_[e].kind != EventKind::kPythonFunction || names_.Of(e).user_frame ||
           names_.Of(e).loader;
  }

  // The outermost that says what it is and takes nearly all of it.
  EventIndex Named(EventIndex outermost) {
    constexpr std::int64_t kNearly = 5;  // all but one part in so many
    const std::int64_t least = events_[outermost].dur_ns / kNearly * (kNearly - 1);
    for (const EventIndex e : tree_.Subtree(outermost))
      if (events_[e].dur_ns >= least && SaysWork(e)) return e;
    return outermost;
  }

  // For another thread that launches, or for something that most of its time is a wait for.
  bool IsWait(EventIndex e) {
    const trace::Event& event = events_[e];
    const auto launch = std::lower_bound(starts_.begin(), starts_.end(), event.ts_ns);
    if (launch != starts_.end() && *launch < event.end_ns()) return true;
    if (names_.Of(e).loader) return false;
    std::int64_t waiting = 0;
    for (const EventIndex inside : tree_.Subtree(e)) {
      const auto& meaning = names_.Of(inside);
      const EventIndex up = tree_.parent(inside);
      const bool waits = meaning.waiting_frame || meaning.gpu_wait_frame || meaning.profiler;
      const bool counted = inside != e && (names_.Of(up).waiting_frame ||
                                           names_.Of(up).gpu_wait_frame || names_.Of(up).profiler);
      if (waits && !counted) waiting += events_[inside].dur_ns;
    }
    return 2 * waiting > event.dur_ns;
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const analysis::Attribution& attribution_;
  analysis::HostNames names_;
  std::vector<bool> launches_;        // by track
  std::vector<std::int64_t> starts_;  // of all launches
};

}  // namespace

std::vector<HostOnlyWork> FindHostOnlyWork(const session::LoadedTrace& trace) {
  return HostOnlyFinder(trace).Run();
}

HostCause CauseOfLate(const HostOnlyWork& work, const IntervalSet<std::int64_t>& spans) {
  HostCause cause;
  cause.late = true;
  cause.loading = work.loading;
  cause.count = spans.size();
  cause.total_ms = cause.moved_ms = static_cast<double>(Length(spans)) / 1e6;
  std::vector<double> lengths;
  std::vector<analysis::HostStretch> stretches;
  for (const auto& span : spans) {
    lengths.push_back(static_cast<double>(span.end - span.start) / 1e6);
    stretches.push_back({analysis::kAllTracks, span.start, span.end});
  }
  if (!lengths.empty()) {
    const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
    cause.shortest_ms = *shortest;
    cause.longest_ms = *longest;
    cause.each_ms = UpperMedian(std::move(lengths));
  }
  cause.changes = {analysis::ScaleHost{std::move(stretches), 0}};
  if (work.loading) return cause;
  cause.work = work.name;
  for (const SectionWork& inside : work.inside)
    cause.places.push_back({inside.name, "", "", inside.count, inside.ms});
  return cause;
}

std::vector<bool> EventsHolding(const tree::CallTree& tree,
                                const std::function<bool(trace::EventIndex)>& is_such) {
  const std::span<const EventIndex> order = tree.preorder();
  std::vector<bool> holds(order.size(), false);
  // From the last to the first: what is inside an event comes after it.
  for (std::size_t i = order.size(); i-- > 0;) {
    if (!holds[i]) holds[i] = is_such(order[i]);
    const EventIndex parent = tree.parent(order[i]);
    if (holds[i] && parent != trace::kNoEvent) holds[tree.position(parent)] = true;
  }
  return holds;
}

}  // namespace jarvis::findings
