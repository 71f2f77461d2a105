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

// Gathers what figures are made of.
class FigureBuilder {
 public:
  void Add(const Launch& launch) {
    ++out_.launches;
    if (launch.pieces > 1) {
      ++out_.graph_launches;
      graph_ns_ += launch.work_ns;
    }
    all_ns_ += launch.work_ns;
    if (launch.kernel) AddKernel(launch);
    if (launch.stream_idle) ++found_idle_;
    const std::int64_t lead = launch.start_ns - launch.call_ns;
    lead_.push_back(lead);
    if (launch.device_idle) latency_.push_back(lead);
    if (lead >= 0) return;
    ++out_.before_call;
    before_.push_back(-lead);
  }

  LaunchFigures Finish() {
    if (out_.launches == 0) return out_;
    const std::size_t tenth = std::max<std::size_t>(1, lead_.size() / 10);
    const auto end = static_cast<std::ptrdiff_t>(tenth);
    std::vector<std::int64_t> begin_part(lead_.begin(), lead_.begin() + end);
    std::vector<std::int64_t> end_part(lead_.end() - end, lead_.end());
    out_.lead_first_us = MedianMicros(&begin_part);
    out_.lead_last_us = MedianMicros(&end_part);
    out_.lead_median_us = MedianMicros(&lead_);
    out_.clocks_off_us = MedianMicros(&before_);
    out_.to_next_mean_us = MeanMicros(to_next_);
    out_.work_mean_us = MeanMicros(work_);
    out_.to_next_median_us = MedianMicros(&to_next_);
    out_.work_median_us = MedianMicros(&work_);
    constexpr std::size_t kLatenciesLeast = 3;
    if (latency_.size() >= kLatenciesLeast) out_.latency_median_us = MedianMicros(&latency_);
    if (out_.latency_median_us && *out_.latency_median_us < 0) out_.latency_median_us.reset();
    const auto launches = static_cast<double>(out_.launches);
    out_.idle_percent = 100.0 * static_cast<double>(found_idle_) / launches;
    if (all_ns_ > 0) {
      out_.graph_percent = 100.0 * static_cast<double>(graph_ns_) / static_cast<double>(all_ns_);
    }
    constexpr double kMost = 50;
    constexpr std::uint64_t kLaunchesLeast = 32;  // fewer say nothing about how a program runs
    out_.launch_bound = out_.launches >= kLaunchesLeast && *out_.idle_percent >= kMost &&
                        out_.graph_percent < kMost && out_.to_next_median_us &&
                        *out_.to_next_median_us > *out_.work_median_us;
    return out_;
  }

 private:
  void AddKernel(const Launch& launch) {
    const auto [last, first] = last_call_.try_emplace(launch.thread, launch.call_ns);
    if (!first) to_next_.push_back(launch.call_ns - last->second);
    last->second = launch.call_ns;
    work_.push_back(launch.work_ns);
  }

  LaunchFigures out_;
  std::map<std::uint32_t, std::int64_t> last_call_;  // by thread
  std::vector<std::int64_t> to_next_;
  std::vector<std::int64_t> work_;
  std::vector<std::int64_t> latency_;
  std::vector<std::int64_t> lead_;    // by begin of the call
  std::vector<std::int64_t> before_;  // by how much work starts before its call
  std::uint64_t found_idle_ = 0;
  std::int64_t graph_ns_ = 0;
  std::int64_t all_ns_ = 0;
};

template <typename Take>
LaunchFigures FiguresOf(std::span<const Launch> launches, const Take& take) {
  FigureBuilder figures;
  for (const Launch& launch : launches) {
    if (take(launch)) figures.Add(launch);
  }
  return figures.Finish();
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
        all_.push_back({.call = call,
                        .work = e,
                        .thread = at.track,
                        .stream = work.track,
                        .call_ns = at.ts_ns,
                        .start_ns = work.ts_ns,
                        .work_ns = 0,
                        .pieces = 0,
                        .kernel = work.kind == trace::EventKind::kKernel,
                        .stream_idle = queue.StreamEnd(work.track) <= at.ts_ns,
                        .device_idle = queue.DeviceEnd() <= at.ts_ns});
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
