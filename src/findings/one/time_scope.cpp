#include "findings/one/time_scope.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

namespace jarvis::findings {
namespace {

// Far from every time of a trace, and safe to subtract.
constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max() / 4;

}  // namespace

TimeScope::TimeScope(const analysis::TimeFrames& frames) : foreign_(frames.foreign) {
  std::sort(foreign_.begin(), foreign_.end());
  for (const analysis::StepFrame& step : frames.steps) {
    if (frames.apart() && step.steady) spans_.push_back(step.host);
  }
  if (!frames.apart()) spans_.push_back({-kEver, kEver});
  IntervalSet<std::int64_t> holes;
  for (const analysis::StepHole& hole : frames.base.holes)
    holes.push_back(hole.span);
  spans_ = Subtract(Union(std::move(spans_)), holes);
  // A warm pass has no first calls: they are in no step.
  if (frames.base.warm_estimated) spans_ = Subtract(spans_, frames.base.one_time);
}

bool TimeScope::Has(std::int64_t host_ns) const {
  return Contains(spans_, host_ns);
}

bool TimeScope::IsForeign(trace::EventIndex gpu) const {
  return std::binary_search(foreign_.begin(), foreign_.end(), gpu);
}

IntervalSet<std::int64_t> TimeScope::Of(const IntervalSet<std::int64_t>& set) const {
  return Intersect(set, spans_);
}

bool TimeScope::HasWork(const analysis::RecordedWork& recorded, trace::EventIndex gpu) const {
  if (IsForeign(gpu)) return false;
  const std::uint32_t work = recorded.WorkAt(gpu);
  if (work == analysis::kNoPlace) return false;
  const std::uint32_t call = recorded.works[work].call;
  if (call == analysis::kNoPlace) return spans_.front().start == -kEver;
  return Has(recorded.base_ns + static_cast<std::int64_t>(recorded.calls[call].begin * 1000));
}

analysis::ScaleGpu TimeScope::Part(const analysis::RecordedWork& recorded,
                                   const analysis::ScaleGpu& change) const {
  analysis::ScaleGpu part;
  if (change.factors.empty()) return part;
  for (std::size_t i = 0; i < change.events.size(); ++i) {
    if (!HasWork(recorded, change.events[i])) continue;
    part.events.push_back(change.events[i]);
    part.factors.push_back(change.factors[std::min(i, change.factors.size() - 1)]);
  }
  return part;
}

analysis::SetGpuTime TimeScope::Part(const analysis::RecordedWork& recorded,
                                     const analysis::SetGpuTime& change) const {
  analysis::SetGpuTime part;
  if (change.us.empty()) return part;
  for (std::size_t i = 0; i < change.events.size(); ++i) {
    if (!HasWork(recorded, change.events[i])) continue;
    part.events.push_back(change.events[i]);
    part.us.push_back(change.us[std::min(i, change.us.size() - 1)]);
  }
  return part;
}

analysis::RemoveGpu TimeScope::Part(const analysis::RecordedWork& recorded,
                                    const analysis::RemoveGpu& change) const {
  analysis::RemoveGpu part;
  for (const trace::EventIndex gpu : change.events) {
    if (HasWork(recorded, gpu)) part.events.push_back(gpu);
  }
  return part;
}

analysis::ScaleHost TimeScope::Part(const analysis::ScaleHost& change) const {
  analysis::ScaleHost part = change;
  part.stretches.clear();
  for (const analysis::HostStretch& stretch : change.stretches) {
    for (const Interval<std::int64_t>& piece : Of({{stretch.begin_ns, stretch.end_ns}}))
      part.stretches.push_back({stretch.track, piece.start, piece.end});
  }
  return part;
}

analysis::PinCopies TimeScope::Part(const analysis::RecordedWork& recorded,
                                    const analysis::PinCopies& change) const {
  analysis::PinCopies part;
  for (const trace::EventIndex copy : change.copies) {
    if (HasWork(recorded, copy)) part.copies.push_back(copy);
  }
  return part;
}

// All waits of a part of the recording are those of its calls.
analysis::RemoveWaits TimeScope::Part(const analysis::RecordedWork& recorded,
                                      const analysis::RemoveWaits& change) const {
  if (spans_.size() == 1 && spans_.front().start == -kEver) return change;
  analysis::RemoveWaits part;
  const auto add = [&](const analysis::HostCall& call) {
    if (Has(recorded.base_ns + static_cast<std::int64_t>(call.begin * 1000)))
      part.calls.push_back(call.event);
  };
  if (change.all) {
    for (const analysis::HostCall& call : recorded.calls)
      add(call);
    return part;
  }
  for (const trace::EventIndex event : change.calls) {
    const std::uint32_t call = recorded.CallAt(event);
    if (call != analysis::kNoPlace) add(recorded.calls[call]);
  }
  return part;
}

analysis::RemoveProfilerCost TimeScope::Part(const analysis::RemoveProfilerCost& change) const {
  analysis::RemoveProfilerCost part;
  for (const analysis::HostCost& cost : change.costs) {
    if (Has(cost.begin_ns)) part.costs.push_back(cost);
  }
  return part;
}

std::vector<analysis::Change> TimeScope::Of(const analysis::RecordedWork& recorded,
                                            std::span<const analysis::Change> changes) const {
  std::vector<analysis::Change> out;
  for (const analysis::Change& change : changes) {
    if (const auto* scale = std::get_if<analysis::ScaleGpu>(&change)) {
      out.emplace_back(Part(recorded, *scale));
    } else if (const auto* set = std::get_if<analysis::SetGpuTime>(&change)) {
      out.emplace_back(Part(recorded, *set));
    } else if (const auto* removed = std::get_if<analysis::RemoveGpu>(&change)) {
      out.emplace_back(Part(recorded, *removed));
    } else if (const auto* host = std::get_if<analysis::ScaleHost>(&change)) {
      out.emplace_back(Part(*host));
    } else if (const auto* cost = std::get_if<analysis::RemoveProfilerCost>(&change)) {
      out.emplace_back(Part(*cost));
    } else if (const auto* pin = std::get_if<analysis::PinCopies>(&change)) {
      out.emplace_back(Part(recorded, *pin));
    } else if (const auto* waits = std::get_if<analysis::RemoveWaits>(&change)) {
      out.emplace_back(Part(recorded, *waits));
    } else if (const auto* graph = std::get_if<analysis::GraphLaunches>(&change)) {
      for (const Interval<std::int64_t>& piece : Of({{graph->begin_ns, graph->end_ns}}))
        out.emplace_back(analysis::GraphLaunches{piece.start, piece.end});
    }
  }
  return out;
}

}  // namespace jarvis::findings
