#include "analysis/simulation/host_points.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/run_sort.h"

namespace jarvis::analysis {
namespace {

// A call of no length has its begin before its end; else ends come first: where one call ends and
// the next begins at the same time.
std::tuple<double, int, std::uint32_t, int> OrderOf(const RecordedWork& recorded,
                                                    const HostPoint& point) {
  const bool of_call = point.call != kNoPlace;
  const bool empty = of_call && recorded.calls[point.call].duration() <= 0;
  switch (point.kind) {
    case HostPointKind::kFirst: return {point.time, 0, 0, 0};
    case HostPointKind::kCallEnd:
      return empty ? std::tuple(point.time, 2, point.call, 1)
                   : std::tuple(point.time, 1, point.call, 0);
    case HostPointKind::kCallBegin: return {point.time, 2, point.call, 0};
    case HostPointKind::kWake:
    case HostPointKind::kLast:
    case HostPointKind::kCause: break;
  }
  return {point.time, 3, 0, 0};
}

// Threads beyond these launch next to nothing, and every pair of threads is looked at.
constexpr std::size_t kLaunchingThreadsMax = 32;

std::vector<std::uint32_t> LaunchingThreads(const RecordedWork& recorded) {
  std::vector<std::uint32_t> threads;
  for (std::uint32_t t = 0; t < recorded.threads.size(); ++t) {
    if (recorded.threads[t].launches > 0) threads.push_back(t);
  }
  std::stable_sort(threads.begin(), threads.end(), [&](std::uint32_t a, std::uint32_t b) {
    return recorded.threads[a].launches > recorded.threads[b].launches;
  });
  if (threads.size() > kLaunchingThreadsMax) threads.resize(kLaunchingThreadsMax);
  return threads;
}

bool IsInsideCall(const HostThread& thread, double from, double to) {
  const auto after =
      std::upper_bound(thread.in_calls.begin(), thread.in_calls.end(), from + 1e-6,
                       [](double time, const Interval<double>& call) { return time < call.start; });
  return after != thread.in_calls.begin() && std::prev(after)->end >= to - 1e-6;
}

// Silences of `to` during which `from` was at work and had just done something when they ended.
void FindHandOversBetween(const RecordedWork& recorded, std::uint32_t from, std::uint32_t to,
                          bool to_autograd, std::vector<HandOver>* found) {
  constexpr double kShortest = 100;
  constexpr double kLagMax = 5000;
  const std::ptrdiff_t needed = to_autograd ? 3 : 4;
  const std::vector<double>& worked = recorded.threads[from].activity;
  const std::vector<double>& waited = recorded.threads[to].activity;
  constexpr double kNever = std::numeric_limits<double>::lowest();
  // An autograd thread begins because it was handed something; the other one does not.
  for (std::size_t i = to_autograd ? 0 : 1; i < waited.size(); ++i) {
    const Silence silence{to, i == 0 ? kNever : waited[i - 1], waited[i]};
    if (silence.length() < kShortest) continue;
    const auto first = std::upper_bound(worked.begin(), worked.end(), silence.from);
    const auto end = std::lower_bound(first, worked.end(), silence.to);
    if (end - first < needed || silence.to - *std::prev(end) > kLagMax) continue;
    if (i > 0 && IsInsideCall(recorded.threads[to], silence.from, silence.to)) continue;
    found->push_back({from, *std::prev(end), silence});
  }
}

}  // namespace

HostPoints CallPoints(const RecordedWork& recorded) {
  HostPoints points(recorded.threads.size());
  for (std::size_t t = 0; t < recorded.threads.size(); ++t) {
    const HostThread& thread = recorded.threads[t];
    auto& mine = points[t];
    double last = 0;
    for (const std::uint32_t c : thread.calls) {
      mine.push_back({recorded.calls[c].begin, HostPointKind::kCallBegin, c});
      mine.push_back({recorded.calls[c].end, HostPointKind::kCallEnd, c});
      last = std::max(last, recorded.calls[c].end);
    }
    const double first_call = recorded.calls[thread.calls.front()].begin;
    if (thread.activity.front() < first_call) {
      mine.push_back({thread.activity.front(), HostPointKind::kFirst, kNoPlace});
    }
    const double end = std::max(thread.last_end, thread.activity.back());
    if (end > last) mine.push_back({end, HostPointKind::kLast, kNoPlace});
    RunSort(mine, [&](const HostPoint& a, const HostPoint& b) {
      return OrderOf(recorded, a) < OrderOf(recorded, b);
    });
  }
  return points;
}

void AddPoints(std::vector<ExtraPoint> extra, HostPoints* points) {
  std::sort(extra.begin(), extra.end());
  extra.erase(std::unique(extra.begin(), extra.end()), extra.end());
  std::size_t next = 0;
  for (std::uint32_t t = 0; t < points->size(); ++t) {
    std::vector<HostPoint> merged;
    const auto add_until = [&](double time, HostPointKind kind, bool inclusive) {
      for (; next < extra.size() && extra[next].thread == t; ++next) {
        const ExtraPoint& one = extra[next];
        if (one.time > time || (one.time == time && !(inclusive && one.kind == kind))) break;
        const bool known = !merged.empty() && merged.back().time == one.time &&
                           merged.back().kind != HostPointKind::kWake;
        if (one.kind == HostPointKind::kCause && known) continue;
        merged.push_back({one.time, one.kind, kNoPlace});
      }
    };
    const auto& mine = (*points)[t];
    for (const HostPoint& point : mine) {
      // Wakes come before all else of their time, causes after it.
      add_until(point.time, HostPointKind::kWake, true);
      merged.push_back(point);
    }
    add_until(std::numeric_limits<double>::max(), HostPointKind::kWake, false);
    (*points)[t] = std::move(merged);
  }
}

std::vector<Silence> FindSilences(const RecordedWork& recorded, const HostPoints& points,
                                  double shortest) {
  std::vector<Silence> silences;
  for (std::uint32_t t = 0; t < points.size(); ++t) {
    const std::vector<double>& activity = recorded.threads[t].activity;
    for (std::size_t p = 1; p < points[t].size(); ++p) {
      const HostPoint& point = points[t][p];
      double from = points[t][p - 1].time;
      if (point.kind == HostPointKind::kCallEnd || point.time - from < shortest) continue;
      auto next = std::upper_bound(activity.begin(), activity.end(), from + 1e-9);
      for (; next != activity.end() && *next < point.time - 1e-9; ++next) {
        if (*next - from >= shortest) silences.push_back({t, from, *next});
        from = *next;
      }
      if (point.time - from >= shortest) silences.push_back({t, from, point.time});
    }
  }
  return silences;
}

std::vector<HandOver> FindHandOvers(const RecordedWork& recorded) {
  constexpr std::uint32_t kNodesMin = 5;
  const std::vector<std::uint32_t> launching = LaunchingThreads(recorded);
  std::uint32_t most = 0;
  for (const std::uint32_t t : launching)
    most = std::max(most, recorded.threads[t].autograd_nodes);
  std::vector<HandOver> found;
  if (launching.size() < 2 || most < kNodesMin) return found;
  for (const std::uint32_t backward : launching) {
    if (recorded.threads[backward].autograd_nodes < most) continue;
    for (const std::uint32_t forward : launching) {
      if (forward == backward) continue;
      FindHandOversBetween(recorded, forward, backward, true, &found);
      FindHandOversBetween(recorded, backward, forward, false, &found);
    }
  }
  return found;
}

}  // namespace jarvis::analysis
