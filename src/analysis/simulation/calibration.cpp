#include "analysis/simulation/calibration.h"

#include <algorithm>
#include <set>

namespace jarvis::analysis {
namespace {

constexpr double kLongCallFactor = 3;
constexpr double kLongCallExtra = 20;
constexpr double kWaitingFactor = 3;

}  // namespace

Calibration::Calibration(const RecordedWork& recorded) : recorded_(recorded) {
  ordered_calls_.assign(recorded.calls.size(), false);
  for (const HostThread& thread : recorded.threads) {
    bool told = false;
    for (const std::uint32_t c : thread.calls) {
      const HostCall& call = recorded.calls[c];
      if (call.role == CallRole::kStreamOrder) {
        told = true;
      } else if (call.works > 0) {
        ordered_calls_[c] = told;
        told = false;
      }
    }
  }
  MeasureCalls();
  MeasureDelays();
  MeasureGaps();
  MeasureCopies();
}

void Calibration::MeasureCalls() {
  SampleTable durations;
  for (const HostCall& call : recorded_.calls)
    durations.Add(call.name, call.duration());
  durations.Seal();
  for (const HostCall& call : recorded_.calls) {
    const auto [usual, added] = usual_call_.try_emplace(call.name, 0);
    if (!added) continue;
    const auto sorted = durations.Of(call.name);
    usual->second = MedianOr(sorted, 0);
    // Where many calls wait for something, what one costs shows in the shortest.
    const double shortest = Quantile(sorted, 0.1);
    if (shortest > 0 && usual->second > kWaitingFactor * shortest) usual->second = shortest;
  }
}

double Calibration::UsualCall(StringId name) const {
  const auto found = usual_call_.find(name);
  return found == usual_call_.end() ? 0 : found->second;
}

std::uint64_t Calibration::LaunchKey(const GpuWork& work) const {
  return PairKey(recorded_.calls[work.call].name, static_cast<std::uint32_t>(work.kind));
}

Calibration::Delays Calibration::MakeDelays(std::span<const double> from_begin,
                                            std::span<const double> from_end) {
  return {ClippedMean(from_begin, 8), ClippedMean(from_end, 2),
          MedianDeviation(from_begin) > MedianDeviation(from_end)};
}

// Launches that found their stream empty.
void Calibration::MeasureDelays() {
  constexpr double kDelayMax = 200;
  SampleTable from_begin;
  SampleTable from_end;
  std::set<std::uint64_t> keys;
  for (std::uint32_t w = 0; w < recorded_.works.size(); ++w) {
    const GpuWork& work = recorded_.works[w];
    if (work.call == kNoPlace || work.previous == kNoPlace || !recorded_.IsFirstOfCall(w)) continue;
    const HostCall& call = recorded_.calls[work.call];
    if (ordered_calls_[work.call] || recorded_.works[work.previous].end >= call.begin - 1) continue;
    if (call.duration() >= kLongCallFactor * UsualCall(call.name) + kLongCallExtra) continue;
    if (work.start - call.begin >= kDelayMax) continue;
    from_begin.Add(LaunchKey(work), work.start - call.begin);
    from_end.Add(LaunchKey(work), work.start - call.end);
    keys.insert(LaunchKey(work));
  }
  from_begin.Seal();
  from_end.Seal();
  for (const std::uint64_t key : keys) {
    if (from_begin.Of(key).size() < 3) continue;
    delays_[key] = MakeDelays(from_begin.Of(key), from_end.Of(key));
  }
  all_delays_ = MakeDelays(from_begin.All(), from_end.All());
  if (from_begin.size() == 0) all_delays_.at_end = false;
}

// Works that were launched well before the one ahead of them ended.
void Calibration::MeasureGaps() {
  constexpr double kGapMax = 60;
  constexpr double kLead = 20;
  constexpr std::size_t kSamplesMin = 5;
  SampleTable by_name;
  SampleTable by_kinds;
  for (std::uint32_t w = 0; w < recorded_.works.size(); ++w) {
    const GpuWork& work = recorded_.works[w];
    if (work.call == kNoPlace || work.previous == kNoPlace || ordered_calls_[work.call]) continue;
    const GpuWork& previous = recorded_.works[work.previous];
    const bool queued = recorded_.calls[work.call].end + kLead < previous.end;
    if (recorded_.IsFirstOfCall(w) && !queued) continue;
    const double gap = work.start - previous.end;
    if (gap >= kGapMax) continue;
    by_name.Add(work.name, gap);
    by_kinds.Add(
        PairKey(static_cast<std::uint32_t>(previous.kind), static_cast<std::uint32_t>(work.kind)),
        gap);
  }
  by_name.Seal();
  by_kinds.Seal();
  gap_ = std::max(0.0, ClippedMean(by_name.All(), 1));
  for (const GpuWork& work : recorded_.works) {
    if (gap_by_name_.contains(work.name) || by_name.Of(work.name).size() < kSamplesMin) continue;
    gap_by_name_[work.name] = by_name.ClippedMeanOf(work.name, 0);
  }
  for (std::uint32_t a = 0; a < 16; ++a) {
    for (std::uint32_t b = 0; b < 16; ++b) {
      if (by_kinds.Of(PairKey(a, b)).size() < kSamplesMin) continue;
      has_gap_[a][b] = true;
      gap_by_kinds_[a][b] = std::max(0.0, by_kinds.ClippedMeanOf(PairKey(a, b), 0));
    }
  }
}

void Calibration::MeasureCopies() {
  constexpr double kDelayMax = 300;
  for (const GpuWork& work : recorded_.works) {
    if (work.call == kNoPlace) continue;
    const HostCall& call = recorded_.calls[work.call];
    if (call.role != CallRole::kCopy || work.start - call.begin >= kDelayMax) continue;
    if (work.previous != kNoPlace && recorded_.works[work.previous].end >= call.begin - 1) continue;
    copies_.Add(PairKey(call.name, work.name), work.start - call.begin);
  }
  copies_.Seal();
}

double Calibration::GapBefore(std::uint32_t work) const {
  const GpuWork& one = recorded_.works[work];
  const auto found = gap_by_name_.find(one.name);
  if (found != gap_by_name_.end()) return found->second;
  const auto before = static_cast<std::size_t>(recorded_.works[one.previous].kind);
  const auto kind = static_cast<std::size_t>(one.kind);
  return has_gap_[before][kind] ? gap_by_kinds_[before][kind] : gap_;
}

const Calibration::Delays& Calibration::DelaysOf(const GpuWork& work) const {
  const auto found = delays_.find(LaunchKey(work));
  return found == delays_.end() ? all_delays_ : found->second;
}

LaunchAnchor Calibration::AnchorOf(std::uint32_t work, bool waits) const {
  const GpuWork& one = recorded_.works[work];
  const HostCall& call = recorded_.calls[one.call];
  if (call.graph || call.works > 1) {
    // How long a graph takes to start depends on its size: what was seen, within limits.
    const double seen = std::max(0.0, one.start - call.begin);
    return {false, std::min(seen, all_delays_.from_begin * 2 + 10)};
  }
  const Delays& delays = DelaysOf(one);
  if (waits)
    return delays.at_end ? LaunchAnchor{false, DelayOfWaiting(work)}
                         : LaunchAnchor{false, delays.from_begin};
  if (call.duration() > kLongCallFactor * UsualCall(call.name) + kLongCallExtra) {
    // Was the work submitted early, and the thread interrupted after that, or late, after the
    // loading of code? The start tells.
    if (one.start < call.end - 3) return {false, delays.from_begin};
    return {true, delays.from_end};
  }
  return {delays.at_end, delays.at_end ? delays.from_end : delays.from_begin};
}

double Calibration::DelayOfWaiting(std::uint32_t work) const {
  const GpuWork& one = recorded_.works[work];
  const auto seen = copies_.Of(PairKey(recorded_.calls[one.call].name, one.name));
  if (!seen.empty()) return MedianOr(seen, 0);
  return all_delays_.at_end ? 10 : all_delays_.from_begin;
}

}  // namespace jarvis::analysis
