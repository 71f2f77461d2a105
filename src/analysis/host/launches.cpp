#include "analysis/host/launches.h"

#include <algorithm>
#include <map>

#include "base/run_sort.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;

double LaunchMicros(std::int64_t ns) {
  return trace::MicrosOf(ns);
}

// Upper one of the two middle values; `values` are reordered.
std::optional<double> MedianMicros(std::vector<std::int64_t>* values) {
  if (values->empty()) return {};
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return LaunchMicros(*middle);
}

std::optional<double> MeanMicros(const std::vector<std::int64_t>& values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const std::int64_t value : values)
    sum += LaunchMicros(value);
  return sum / static_cast<double>(values.size());
}

// Whether everything that started before ended before a moment, for each piece of GPU work.
class QueueState {
 public:
  // In the order of starts: what had ended last before this piece started.
  void Add(std::uint32_t stream, std::int64_t end_ns) {
    std::int64_t& last = last_end_.try_emplace(stream, trace::kAbsent).first->second;
    last = std::max(last, end_ns);
    device_end_ = std::max(device_end_, end_ns);
  }
  std::int64_t StreamEnd(std::uint32_t stream) const {
    const auto found = last_end_.find(stream);
    return found == last_end_.end() ? trace::kAbsent : found->second;
  }
  std::int64_t DeviceEnd() const { return device_end_; }

 private:
  std::map<std::uint32_t, std::int64_t> last_end_;  // by stream
  std::int64_t device_end_ = trace::kAbsent;
};

template <typename Take>
LaunchFigures FiguresOf(std::span<const Launch> launches, const Take& take) {
  LaunchFigures out;
  std::map<std::uint32_t, std::int64_t> last_call;  // by thread
  std::vector<std::int64_t> to_next;
  std::vector<std::int64_t> work;
  std::vector<std::int64_t> latency;
  std::vector<std::int64_t> lead;
  std::uint64_t found_idle = 0;
  for (const Launch& launch : launches) {
    if (!take(launch)) continue;
    ++out.launches;
    if (launch.pieces > 1) ++out.graph_launches;
    const auto [last, first] = last_call.try_emplace(launch.thread, launch.call_ns);
    if (!first) to_next.push_back(launch.call_ns - last->second);
    last->second = launch.call_ns;
    work.push_back(launch.work_ns);
    if (launch.stream_idle) ++found_idle;
    const std::int64_t wait = launch.start_ns - launch.call_ns;
    if (launch.device_idle) latency.push_back(wait);
    lead.push_back(wait);
  }
  if (out.launches == 0) return out;
  const std::size_t tenth = std::max<std::size_t>(1, lead.size() / 10);
  const auto end = static_cast<std::ptrdiff_t>(tenth);
  std::vector<std::int64_t> begin_part(lead.begin(), lead.begin() + end);
  std::vector<std::int64_t> end_part(lead.end() - end, lead.end());
  out.lead_first_us = MedianMicros(&begin_part);
  out.lead_last_us = MedianMicros(&end_part);
  out.to_next_mean_us = MeanMicros(to_next);
  out.work_mean_us = MeanMicros(work);
  out.to_next_median_us = MedianMicros(&to_next);
  out.work_median_us = MedianMicros(&work);
  out.latency_median_us = MedianMicros(&latency);
  out.lead_median_us = MedianMicros(&lead);
  out.idle_percent = 100.0 * static_cast<double>(found_idle) / static_cast<double>(out.launches);
  constexpr double kMostIdle = 50;
  out.launch_bound = *out.idle_percent >= kMostIdle && out.to_next_median_us &&
                     *out.to_next_median_us > *out.work_median_us;
  return out;
}

std::vector<std::uint32_t> MostFirst(const std::map<std::uint32_t, std::uint64_t>& counts) {
  std::vector<std::uint32_t> tracks;
  for (const auto& [track, count] : counts)
    tracks.push_back(track);
  std::stable_sort(tracks.begin(), tracks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts.at(a) > counts.at(b); });
  return tracks;
}

}  // namespace

Launches::Launches(const trace::EventStore& events, const tree::CallTree& tree,
                   const HostGpuWork& gpu) {
  QueueState queue;
  std::map<std::uint32_t, std::uint64_t> threads;
  std::map<std::uint32_t, std::uint64_t> streams;
  std::vector<std::size_t> launch_of(events.size(), 0);  // by call: its place in all_, plus one
  for (const EventIndex e : gpu.by_start()) {
    const trace::Event& work = events[e];
    const EventIndex call = tree.parent(e);
    if (call != trace::kNoEvent && trace::IsLaunchCall(events[call].kind)) {
      const trace::Event& at = events[call];
      starts_.push_back(work.ts_ns);
      calls_.push_back(at.ts_ns);
      if (launch_of[call] == 0) {
        all_.push_back({call, e, at.track, work.track, at.ts_ns, at.end_ns(), work.ts_ns, 0, 0,
                        queue.StreamEnd(work.track) <= at.ts_ns, queue.DeviceEnd() <= at.ts_ns});
        launch_of[call] = all_.size();
        ++threads[at.track];
        ++streams[work.track];
      }
      Launch& launch = all_[launch_of[call] - 1];
      ++launch.pieces;
      launch.work_ns += work.dur_ns;
    }
    queue.Add(work.track, work.end_ns());
  }
  RunSort(calls_, [](std::int64_t a, std::int64_t b) { return a < b; });
  RunSort(all_, [&](const Launch& a, const Launch& b) {
    if (a.call_ns != b.call_ns) return a.call_ns < b.call_ns;
    return events[a.call].uid < events[b.call].uid;
  });
  threads_ = MostFirst(threads);
  streams_ = MostFirst(streams);
}

LaunchFigures Launches::All() const {
  return FiguresOf(all_, [](const Launch&) { return true; });
}

LaunchFigures Launches::In(Interval<std::int64_t> window) const {
  const auto at = [&](std::int64_t ns) {
    return std::lower_bound(all_.begin(), all_.end(), ns,
                            [](const Launch& a, std::int64_t t) { return a.call_ns < t; });
  };
  const auto begin = at(window.start);
  const auto end = std::max(begin, at(window.end));
  return FiguresOf(std::span<const Launch>(begin, end), [](const Launch&) { return true; });
}

LaunchFigures Launches::OfThread(std::uint32_t track) const {
  return FiguresOf(all_, [track](const Launch& launch) { return launch.thread == track; });
}

LaunchFigures Launches::OfStream(std::uint32_t track) const {
  return FiguresOf(all_, [track](const Launch& launch) { return launch.stream == track; });
}

std::uint64_t Launches::PendingAt(std::int64_t at_ns) const {
  const auto launched = std::lower_bound(calls_.begin(), calls_.end(), at_ns) - calls_.begin();
  const auto started = std::upper_bound(starts_.begin(), starts_.end(), at_ns) - starts_.begin();
  return launched > started ? static_cast<std::uint64_t>(launched - started) : 0;
}

}  // namespace jarvis::analysis
