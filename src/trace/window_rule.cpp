#include "trace/window_rule.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "trace/step_mark.h"

namespace jarvis::trace {
namespace {

bool IsOnHost(EventKind kind) {
  return kind == EventKind::kCpuOp || kind == EventKind::kUserAnnotation ||
         kind == EventKind::kPythonFunction || IsLaunchCall(kind);
}

std::int64_t CorrelationOf(const Event& event, const Column<Args>& args) {
  return event.args == kNoArgs ? kAbsent : args[event.args].correlation;
}

// Sorted, each once.
void Unite(std::vector<std::int64_t>* values) {
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

// Keeps the args of the events that are left, in their order.
void DropOrphanedArgs(DecodedSlice* slice) {
  Column<Args> kept;
  const auto take = [&](Event& event) {
    if (event.args == kNoArgs) return;
    kept.push_back(slice->args[event.args]);
    event.args = static_cast<std::uint32_t>(kept.size() - 1);
  };
  for (Event& event : slice->events)
    take(event);
  for (DecodedSlice::BeginEnd& mark : slice->begin_ends) {
    if (mark.phase == 'B') take(mark.event);
  }
  slice->args = std::move(kept);
}

}  // namespace

void WindowLinks::NoteInside(const DecodedSlice& slice) {
  for (const Event& event : slice.events) {
    const bool launch = IsLaunchCall(event.kind);
    if (!launch && !IsGpuWork(event.kind)) continue;
    const std::int64_t id = CorrelationOf(event, slice.args);
    if (id == kAbsent || !window_.Overlaps(event.ts_ns, event.end_ns())) continue;
    ids_.push_back(id);
    if (!launch) works_.push_back({id, event.ts_ns});
  }
}

void WindowLinks::EndInside() {
  Unite(&ids_);
}

void WindowLinks::NoteLaunches(const DecodedSlice& slice) {
  for (const Event& event : slice.events) {
    if (!IsLaunchCall(event.kind)) continue;
    const std::int64_t id = CorrelationOf(event, slice.args);
    if (id == kAbsent || !Matters(id)) continue;
    const std::string_view key = slice.track_keys[event.track];
    launches_.push_back({id, event.ts_ns, event.end_ns(), track_keys_.Intern(key),
                         pids_.Intern(key.substr(0, key.find('\0')))});
  }
}

void WindowLinks::EndLaunches() {
  std::stable_sort(launches_.begin(), launches_.end(), [](const Launch& a, const Launch& b) {
    return std::tie(a.id, a.process, a.ts_ns) < std::tie(b.id, b.process, b.ts_ns);
  });
  hull_.Add(window_.begin_ns);
  hull_.Add(window_.end_ns);
  outer_.resize(track_keys_.size());
  for (const Work& work : works_) {
    EachLaunchOf(work.id, work.ts_ns, [&](const Launch& launch) {
      if (window_.Overlaps(launch.ts_ns, launch.end_ns)) return;
      outer_[launch.track].push_back(launch.ts_ns);
      hull_.Add(launch.ts_ns);
      hull_.Add(launch.end_ns);
    });
  }
  std::vector<Work>().swap(works_);
  for (std::vector<std::int64_t>& starts : outer_)
    Unite(&starts);
}

// As trees link work to calls (tree::CorrelationIndex): the last call that is not later, else the
// first. Whose work it is, where processes share ids, is known when the part is read.
template <typename Use>
void WindowLinks::EachLaunchOf(std::int64_t id, std::int64_t ts_ns, const Use& use) const {
  auto first = std::partition_point(launches_.begin(), launches_.end(),
                                    [&](const Launch& launch) { return launch.id < id; });
  while (first != launches_.end() && first->id == id) {
    const std::uint32_t process = first->process;
    const auto later = std::partition_point(first + 1, launches_.end(), [&](const Launch& launch) {
      return std::tie(launch.id, launch.process, launch.ts_ns) <= std::tie(id, process, ts_ns);
    });
    use(*std::prev(later));
    first = std::partition_point(later, launches_.end(), [&](const Launch& launch) {
      return std::tie(launch.id, launch.process) <= std::tie(id, process);
    });
  }
}

bool WindowLinks::AnyOf(const Range& range) const {
  if (range.empty()) return false;
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), range.least);
  return at != ids_.end() && *at <= range.most;
}

bool WindowLinks::Matters(std::int64_t correlation) const {
  return std::binary_search(ids_.begin(), ids_.end(), correlation);
}

bool WindowLinks::LaunchedInside(std::int64_t correlation, std::int64_t ts_ns) const {
  bool inside = false;
  EachLaunchOf(correlation, ts_ns, [&](const Launch& launch) {
    inside = inside || window_.Overlaps(launch.ts_ns, launch.end_ns);
  });
  return inside;
}

const std::vector<std::int64_t>* WindowLinks::OuterLaunchesOf(std::string_view track_key) const {
  const StringId track = track_keys_.Find(track_key);
  return track == kNoString || outer_[track].empty() ? nullptr : &outer_[track];
}

bool WindowRule::Keeps(const Event& event, std::int64_t correlation, std::string_view name,
                       const std::vector<std::int64_t>* outer) const {
  if (IsOnHost(event.kind)) return KeepsHost(event, name, outer);
  if (window_.Overlaps(event.ts_ns, event.end_ns())) return true;
  return IsGpuWork(event.kind) && correlation != kAbsent &&
         links_.LaunchedInside(correlation, event.ts_ns);
}

bool WindowRule::KeepsHost(const Event& event, std::string_view name,
                           const std::vector<std::int64_t>* outer) const {
  const bool mark = (event.kind == EventKind::kUserAnnotation || event.kind == EventKind::kCpuOp) &&
                    StepNumberOf(name);
  if (mark) return event.ts_ns >= window_.begin_ns && event.end_ns() <= window_.end_ns;
  if (window_.Overlaps(event.ts_ns, event.end_ns())) return true;
  if (outer == nullptr) return false;
  const auto launch = std::lower_bound(outer->begin(), outer->end(), event.ts_ns);
  return launch != outer->end() && (*launch < event.end_ns() || *launch == event.ts_ns);
}

void WindowRule::Select(DecodedSlice* slice) const {
  std::vector<const std::vector<std::int64_t>*> outer;
  for (StringId track = 0; track < slice->tracks.size(); ++track)
    outer.push_back(links_.OuterLaunchesOf(slice->track_keys[track]));
  std::vector<std::uint32_t> places(slice->inexact.empty() ? 0 : slice->events.size(), kNoEvent);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < slice->events.size(); ++i) {
    const Event event = slice->events[i];
    if (!Keeps(event, CorrelationOf(event, slice->args), slice->names[event.name],
               outer[event.track]))
      continue;
    if (!places.empty()) places[i] = kept;
    slice->events[kept++] = event;
  }
  slice->events.resize(kept, Event{});
  std::erase_if(slice->inexact, [&](DecodedSlice::Inexact& time) {
    time.event = places[time.event];
    return time.event == kNoEvent;
  });
  std::erase_if(slice->flows, [&](const Flow& flow) { return !links_.Matters(flow.id); });
  if (slice->events.empty() && slice->flows.empty() && slice->begin_ends.empty()) {
    slice->Clear();
    return;
  }
  DropOrphanedArgs(slice);
  for (DecodedSlice::LocalCategory& category : slice->categories)
    category.events = 0;
  slice->meta_events.clear();
  slice->oddities = {};
  slice->dialect = {};
  slice->ignored_events = 0;
}

void WindowRule::Select(EventStore* store) const {
  std::vector<const std::vector<std::int64_t>*> outer;
  for (const Track& track : store->tracks)
    outer.push_back(links_.OuterLaunchesOf(std::string(track.pid) + '\0' + std::string(track.tid)));
  std::size_t kept = 0;
  for (EventIndex e = 0; e < store->size(); ++e) {
    const Event event = (*store)[e];
    if (Keeps(event, store->args_of(e).correlation, store->name(e), outer[event.track]))
      store->events[kept++] = event;
  }
  store->events.resize(kept, {});
  store->events.shrink_to_fit();
}

void WindowRule::Cut(EventStore* store) const {
  const Range& hull = links_.hull();
  for (Event& event : store->events) {
    if (IsGpuWork(event.kind)) continue;
    const std::int64_t begin = std::max(event.ts_ns, hull.least);
    const std::int64_t end = std::min(event.end_ns(), hull.most);
    if (begin == event.ts_ns && end == event.end_ns()) continue;
    store->oddities.Count(Oddity::kCutByWindow, event.uid);
    event.ts_ns = begin;
    event.dur_ns = std::max<std::int64_t>(end - begin, 0);
    if ((event.flags & kInexact) == 0) continue;
    event.flags &= static_cast<std::uint8_t>(~kInexact);
    store->exact_times.erase(event.uid);
  }
}

}  // namespace jarvis::trace
