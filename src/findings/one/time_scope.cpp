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
  const bool apart = frames.steady_steps > 0 && frames.steady_steps < frames.steps.size();
  for (const analysis::StepFrame& step : frames.steps) {
    if (apart && step.steady) spans_.push_back(step.host);
  }
  if (!apart) spans_.push_back({-kEver, kEver});
  spans_ = Union(std::move(spans_));
}

bool TimeScope::Has(std::int64_t host_ns) const {
  const auto after =
      std::upper_bound(spans_.begin(), spans_.end(), host_ns,
                       [](std::int64_t at, const auto& span) { return at < span.start; });
  return after != spans_.begin() && host_ns < std::prev(after)->end;
}

bool TimeScope::IsForeign(trace::EventIndex gpu) const {
  return std::binary_search(foreign_.begin(), foreign_.end(), gpu);
}

IntervalSet<std::int64_t> TimeScope::Of(const IntervalSet<std::int64_t>& set) const {
  return Subtract(set, Subtract(set, spans_));
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
    } else {
      out.push_back(change);  // made of the scope's own spans and calls
    }
  }
  return out;
}

}  // namespace jarvis::findings
