#include "tree/correlation_index.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/run_sort.h"

namespace jarvis::tree {

using trace::EventIndex;

CorrelationIndex::CorrelationIndex(const trace::EventStore& events, Key key) {
  for (EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    const bool wanted = key == Key::kExternalIdOfOps ? event.kind == trace::EventKind::kCpuOp
                                                     : trace::IsLaunchCall(event.kind);
    if (!wanted || (event.flags & trace::kLeftOut) != 0) continue;
    const trace::Args& args = events.args_of(e);
    const std::int64_t id = key == Key::kCorrelation ? args.correlation : args.external_id;
    if (id != trace::kAbsent) entries_.push_back({id, event.ts_ns, e});
  }
  RunSort(entries_, [](const Entry& a, const Entry& b) {
    return std::tie(a.id, a.ts_ns) < std::tie(b.id, b.ts_ns);
  });
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

EventIndex CorrelationIndex::Find(std::int64_t id, std::int64_t before_ns) const {
  if (id == trace::kAbsent || entries_.empty() || id < id_min_ || id > entries_.back().id) {
    return trace::kNoEvent;
  }
  std::size_t at = 0;
  if (!first_.empty()) {
    at = first_[static_cast<std::size_t>(id - id_min_)];
  } else {
    at = static_cast<std::size_t>(std::lower_bound(entries_.begin(), entries_.end(), id,
                                                   [](const Entry& entry, std::int64_t wanted) {
                                                     return entry.id < wanted;
                                                   }) -
                                  entries_.begin());
  }
  if (at == entries_.size() || entries_[at].id != id) return trace::kNoEvent;
  // The last that is not later; else the first. There may be as many of one id as there are events.
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(at);
  const auto later = std::partition_point(first + 1, entries_.end(), [&](const Entry& entry) {
    return std::tie(entry.id, entry.ts_ns) <= std::tie(id, before_ns);
  });
  return std::prev(later)->event;
}

}  // namespace jarvis::tree
