#include "findings/one/attention_change.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include "analysis/host/host_names.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

// One instance: its kernels by the ops around them.
struct AttentionOps {
  EventIndex first = kNoEvent, last = kNoEvent;  // those of the products that stay
  std::set<EventIndex> between;                  // those of what goes
  std::size_t launches = 0;                      // of these
};

class AttentionCalls {
 public:
  AttentionCalls(const trace::EventStore& events, const tree::CallTree& tree,
                 const LaunchTimes& launches)
      : events_(events), tree_(tree), launches_(launches) {}

  void Add(const FusionCandidate& candidate) {
    const double left =
        candidate.total_us > 0
            ? 1 - std::clamp(candidate.savings_ms->mid * 1000 / candidate.total_us, 0.0, 1.0)
            : 1;
    std::size_t from = 0;
    for (const std::size_t end : candidate.ends) {
      Add(std::span(candidate.gpu).subspan(from, end - from), left);
      from = end;
    }
  }

  std::vector<analysis::Change> Changes() && { return {std::move(gpu_), std::move(host_)}; }

 private:
  EventIndex OpOf(EventIndex kernel) const {
    const EventIndex launch = tree_.parent(kernel);
    return launch == kNoEvent ? kNoEvent : OutermostOp(events_, tree_, launch);
  }

  void Add(std::span<const EventIndex> kernels, double left) {
    if (kernels.empty()) return;
    AttentionOps ops;
    ops.first = OpOf(kernels.front());
    ops.last = OpOf(kernels.back());
    for (const EventIndex kernel : kernels) {
      gpu_.events.push_back(kernel);
      gpu_.factors.push_back(left);
    }
    // Kernels of one op, or without one, only get shorter.
    const bool apart = ops.first != kNoEvent && ops.last != kNoEvent && ops.first != ops.last &&
                       events_[ops.first].track == events_[ops.last].track;
    if (!apart) return;
    for (const EventIndex kernel : kernels) {
      const EventIndex op = OpOf(kernel);
      if (op == ops.first || op == ops.last || op == kNoEvent) continue;
      ops.between.insert(op);
      ++ops.launches;
    }
    AddHost(ops);
  }

  // All between the two products, where nothing else is launched there; else the ops that go.
  void AddHost(const AttentionOps& ops) {
    const std::uint32_t track = events_[ops.first].track;
    const std::int64_t begin = events_[ops.first].end_ns(), end = events_[ops.last].ts_ns;
    if (end <= begin) return;
    const std::vector<std::int64_t>& times = launches_[track];
    const auto first = std::lower_bound(times.begin(), times.end(), begin);
    const auto past = std::lower_bound(first, times.end(), end);
    if (static_cast<std::size_t>(past - first) <= ops.launches) {
      host_.stretches.push_back({track, begin, end});
      return;
    }
    for (const EventIndex op : ops.between) {
      if (events_[op].track == track && events_[op].ts_ns >= begin && events_[op].end_ns() <= end)
        host_.stretches.push_back({track, events_[op].ts_ns, events_[op].end_ns()});
    }
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const LaunchTimes& launches_;
  analysis::ScaleGpu gpu_;
  analysis::ScaleHost host_{{}, 0};
};

}  // namespace

EventIndex OutermostOp(const trace::EventStore& events, const tree::CallTree& tree,
                       EventIndex host) {
  EventIndex op = kNoEvent;
  for (EventIndex up = host; up != kNoEvent; up = tree.parent(up)) {
    if (events[up].kind == trace::EventKind::kCpuOp) {
      if (analysis::IsRangeName(events.name(up))) break;
      op = up;
    } else if (op != kNoEvent) {
      break;
    }
  }
  return op;
}

std::vector<analysis::Change> OneAttentionEach(const trace::EventStore& events,
                                               const tree::CallTree& tree,
                                               const LaunchTimes& launches,
                                               std::span<const FusionCandidate* const> candidates) {
  AttentionCalls calls(events, tree, launches);
  for (const FusionCandidate* one : candidates)
    calls.Add(*one);
  return std::move(calls).Changes();
}

double HostMsOfAttention(std::span<const analysis::Change> changes) {
  std::int64_t ns = 0;
  for (const analysis::Change& change : changes) {
    const auto* host = std::get_if<analysis::ScaleHost>(&change);
    if (host == nullptr) continue;
    for (const analysis::HostStretch& stretch : host->stretches)
      ns += stretch.end_ns - stretch.begin_ns;
  }
  return static_cast<double>(ns) / 1e6;
}

}  // namespace jarvis::findings
