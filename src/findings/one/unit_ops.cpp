#include "findings/one/unit_ops.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "analysis/host/copy_direction.h"
#include "analysis/host/synchronisations.h"
#include "base/interval.h"
#include "findings/one/batch_uploads.h"
#include "findings/one/host_units.h"
#include "findings/one/multi_kernel.h"

namespace jarvis::findings {

using trace::EventIndex;
using trace::kNoEvent;

std::size_t PlaceOfUnit(std::span<const analysis::FoundStep> units, std::int64_t host_ns) {
  const analysis::FoundStep* unit = UnitAt(units, host_ns);
  return unit == nullptr ? units.size() : static_cast<std::size_t>(unit - units.data());
}

std::vector<EventIndex> WaitsInside(const session::LoadedTrace& trace,
                                    std::span<const analysis::HostStretch> stretches,
                                    analysis::HostNames* names) {
  const trace::EventStore& events = trace.events();
  std::map<std::uint32_t, IntervalSet<std::int64_t>> by_track;
  for (const analysis::HostStretch& one : stretches)
    by_track[one.track].push_back({one.begin_ns, one.end_ns});
  for (auto& [track, intervals] : by_track)
    intervals = Union(std::move(intervals));
  std::vector<EventIndex> waits;
  for (const EventIndex e : trace.tree().preorder()) {
    if (!trace::IsLaunchCall(events[e].kind) || !names->Of(e).sync_call) continue;
    const auto track = by_track.find(events[e].track);
    if (track != by_track.end() && Contains(track->second, events[e].ts_ns)) waits.push_back(e);
  }
  std::ranges::stable_sort(waits, {}, [&](EventIndex e) { return events[e].ts_ns; });
  return waits;
}

OpsOfUnits LaunchingOps(const session::LoadedTrace& trace,
                        std::span<const analysis::FoundStep> units, analysis::HostNames* names) {
  const trace::EventStore& events = trace.events();
  OpsOfUnits all;
  for (const EventIndex gpu : trace.attribution().timeline) {
    const EventIndex launch = trace.tree().parent(gpu);
    if (launch == kNoEvent) continue;
    const std::size_t unit = PlaceOfUnit(units, events[launch].ts_ns);
    if (unit == units.size()) continue;
    const EventIndex op = analysis::CallingOp(events, trace.tree(), launch, names);
    if (op == kNoEvent) continue;
    UnitOp one{{events[op].name, events.args_of(op).dims}, op};
    if (events[gpu].kind == trace::EventKind::kMemcpy) {
      const CopyDirection direction = DirectionOf(trace, gpu);
      const std::int64_t bytes = CopiedBytes(events, gpu);
      if (direction == CopyDirection::kToHost) one.read_bytes = bytes;
      if (direction == CopyDirection::kToDevice) one.uploaded_bytes = bytes;
    }
    all[{unit, events[launch].track}].push_back(one);
  }
  for (auto& [place, ops] : all) {
    std::stable_sort(ops.begin(), ops.end(), [&](const UnitOp& a, const UnitOp& b) {
      return events[a.event].ts_ns < events[b.event].ts_ns;
    });
    // An op may launch several times.
    std::size_t kept = 0;
    for (const UnitOp& one : ops) {
      if (kept > 0 && ops[kept - 1].event == one.event) {
        UnitOp& same = ops[kept - 1];
        same.uploaded_bytes = std::max(same.uploaded_bytes, one.uploaded_bytes);
        same.read_bytes = std::max(same.read_bytes, one.read_bytes);
      } else {
        ops[kept++] = one;
      }
    }
    ops.resize(kept);
  }
  return all;
}

}  // namespace jarvis::findings
