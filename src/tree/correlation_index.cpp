#include "tree/correlation_index.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/run_sort.h"

namespace jarvis::tree {

using trace::EventIndex;

CorrelationIndex::CorrelationIndex(const trace::EventStore& events, Key key)
    : events_(events), key_(key) {
  for (EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if (!IsKeyed(event) || (event.flags & trace::kLeftOut) != 0) continue;
    if (const std::int64_t id = IdOf(e); id != trace::kAbsent)
      entries_.push_back({id, event.ts_ns, e, 0});
  }
  FindProcesses();
  if (!processes_.several()) RunSort(entries_, ById);
  if (entries_.empty()) return;
  id_min_ = entries_.front().id;
  const auto range =
      static_cast<std::uint64_t>(entries_.back().id) - static_cast<std::uint64_t>(id_min_);
  if (range > 8 * entries_.size()) return;
  first_.assign(range + 2, static_cast<std::uint32_t>(entries_.size()));
  for (std::size_t i = entries_.size(); i-- > 0;) {
    first_[static_cast<std::size_t>(entries_[i].id - id_min_)] = static_cast<std::uint32_t>(i);
  }
}

std::int64_t CorrelationIndex::IdOf(EventIndex e) const {
  const trace::Args& args = events_.args_of(e);
  return key_ == Key::kCorrelation ? args.correlation : args.external_id;
}

bool CorrelationIndex::IsKeyed(const trace::Event& event) const {
  return key_ == Key::kExternalIdOfOps ? event.kind == trace::EventKind::kCpuOp
                                       : trace::IsLaunchCall(event.kind);
}

void CorrelationIndex::FindProcesses() {
  if (entries_.empty()) return;
  std::vector<std::uint32_t> of_track = ProcessesOfTracks(events_);
  const auto process_of = [&](const IdentifiedEvent& entry) {
    return of_track[events_[entry.event].track];
  };
  if (std::all_of(entries_.begin(), entries_.end(), [&](const IdentifiedEvent& entry) {
        return process_of(entry) == process_of(entries_.front());
      }))
    return;
  for (IdentifiedEvent& entry : entries_)
    entry.process = process_of(entry);
  RunSort(entries_, ById);
  std::vector<IdentifiedEvent> works;
  for (EventIndex e = 0; e < events_.size(); ++e) {
    const trace::Event& event = events_[e];
    if (!trace::IsGpuWork(event.kind) || (event.flags & trace::kLeftOut) != 0) continue;
    if (const std::int64_t id = IdOf(e); id != trace::kAbsent)
      works.push_back({id, event.ts_ns, e, of_track[event.track]});
  }
  processes_ = FindLaunchProcesses(events_, std::move(of_track), entries_, std::move(works));
}

std::span<const IdentifiedEvent> CorrelationIndex::WithId(std::int64_t id) const {
  if (id == trace::kAbsent || entries_.empty() || id < id_min_ || id > entries_.back().id)
    return {};
  const auto before = [](const IdentifiedEvent& entry, std::int64_t wanted) {
    return entry.id < wanted;
  };
  const auto first = first_.empty()
                         ? std::lower_bound(entries_.begin(), entries_.end(), id, before)
                         : entries_.begin() + first_[static_cast<std::size_t>(id - id_min_)];
  // There may be as many of one id as there are events.
  const auto last = std::partition_point(
      first, entries_.end(), [&](const IdentifiedEvent& entry) { return entry.id <= id; });
  return {first, last};
}

EventIndex CorrelationIndex::Find(EventIndex work) const {
  std::span<const IdentifiedEvent> found = WithId(IdOf(work));
  if (found.empty()) return trace::kNoEvent;
  if (processes_.several()) {
    const std::uint32_t launcher = processes_.launcher[processes_.of_track[events_[work].track]];
    if (launcher == kNoProcess) {
      if (!OfOne(found)) return trace::kNoEvent;
    } else {
      const auto process = &IdentifiedEvent::process;
      const auto begin = std::ranges::lower_bound(found, launcher, {}, process);
      const auto end = std::ranges::upper_bound(found, launcher, {}, process);
      if (begin == end) return trace::kNoEvent;
      found = {begin, end};
    }
  }
  const auto later = std::partition_point(
      found.begin() + 1, found.end(),
      [&](const IdentifiedEvent& entry) { return entry.ts_ns <= events_[work].ts_ns; });
  return std::prev(later)->event;
}

bool CorrelationIndex::IsAmbiguous(EventIndex work) const {
  if (!processes_.several() ||
      processes_.launcher[processes_.of_track[events_[work].track]] != kNoProcess)
    return false;
  const std::span<const IdentifiedEvent> found = WithId(IdOf(work));
  return !found.empty() && !OfOne(found);
}

}  // namespace jarvis::tree
