#include "analysis/host/profiling_cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/host/first_calls.h"
#include "base/correlation.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::EventStore;

constexpr std::size_t kGapsMin = 200;    // of a frame instance
constexpr std::size_t kEnvelope = 41;    // neighbours
constexpr std::size_t kSide = 8;         // neighbours on each side for the correlation
constexpr double kCostMinNs = 3000;      // median
constexpr double kCostOverUsual = 5;     // median, times the trace's median gap
constexpr double kCorrelationMin = 0.9;  // with the neighbours

// Between two direct children of a frame.
struct FrameGap {
  std::uint32_t track;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t ns() const { return end - begin; }
};

struct FrameInstance {
  EventIndex frame;
  std::vector<FrameGap> gaps;
};

template <typename T>
T Quantile(std::vector<T>* values, double share) {
  const auto at = std::min(values->size() - 1,
                           static_cast<std::size_t>(share * static_cast<double>(values->size())));
  const auto place = values->begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values->begin(), place, values->end());
  return *place;
}

// One pass over all host events: gaps in Python frames.
class FrameGapScan {
 public:
  FrameGapScan(const EventStore& events, const tree::CallTree& tree)
      : events_(events), tree_(tree) {}

  void Run() {
    const auto order = tree_.preorder();
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      while (!open_.empty() && at >= open_.back().subtree_end)
        Close();
      // Annotations are the program's own marks: what is inside belongs to the frame around.
      if (events_[order[at]].kind != EventKind::kUserAnnotation) Enter(order[at]);
    }
    while (!open_.empty())
      Close();
  }

  std::vector<std::int64_t> all_gaps;  // of Python frames
  std::vector<FrameInstance> frames;   // those with many gaps

 private:
  struct Open {
    EventIndex event;
    std::uint32_t subtree_end;
    EventIndex last = trace::kNoEvent;  // child
    std::vector<FrameGap> gaps;
  };

  void Enter(EventIndex e) {
    if (!open_.empty()) AddChild(e, &open_.back());
    open_.push_back({e, tree_.subtree_end(e), trace::kNoEvent, {}});
  }

  void AddChild(EventIndex child, Open* parent) {
    const trace::Event& event = events_[child];
    if (parent->last != trace::kNoEvent &&
        events_[parent->event].kind == EventKind::kPythonFunction) {
      const std::int64_t begin = std::min(events_[parent->last].end_ns(), event.ts_ns);
      parent->gaps.push_back({event.track, begin, event.ts_ns});
      all_gaps.push_back(event.ts_ns - begin);
    }
    parent->last = child;
  }

  void Close() {
    Open& top = open_.back();
    if (top.gaps.size() >= kGapsMin) frames.push_back({top.event, std::move(top.gaps)});
    open_.pop_back();
  }

  const EventStore& events_;
  const tree::CallTree& tree_;
  std::vector<Open> open_;
};

// Of each gap, in nanoseconds: what is above the usual gap and below the floor on which it and its
// neighbours lie.
std::vector<double> CostOfGaps(const std::vector<FrameGap>& gaps, double usual_ns) {
  std::vector<double> cost(gaps.size());
  std::vector<std::int64_t> window;  // sorted
  const auto put = [&](std::int64_t ns) {
    window.insert(std::upper_bound(window.begin(), window.end(), ns), ns);
  };
  const std::size_t side = kEnvelope / 2;
  for (std::size_t i = 0; i < std::min(side, gaps.size()); ++i)
    put(gaps[i].ns());
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (i + side < gaps.size()) put(gaps[i + side].ns());
    if (i > side)
      window.erase(std::lower_bound(window.begin(), window.end(), gaps[i - side - 1].ns()));
    const std::int64_t floor = window[window.size() / 10];
    cost[i] = std::max(0.0, static_cast<double>(std::min(gaps[i].ns(), floor)) - usual_ns);
  }
  return cost;
}

// Correlation of the logarithm of each gap with that of the median of its neighbours.
double CorrelationWithNeighbours(const std::vector<std::int64_t>& gaps) {
  constexpr std::size_t kPairsMin = 30;
  const auto log_of = [](double ns) { return std::log(1 + ns); };
  std::vector<double> own, near;
  std::vector<std::int64_t> around;
  for (std::size_t i = kSide; i + kSide < gaps.size(); ++i) {
    around.clear();
    for (std::size_t j = i - kSide; j <= i + kSide; ++j) {
      if (j != i) around.push_back(gaps[j]);
    }
    std::nth_element(around.begin(), around.begin() + kSide, around.end());
    const std::int64_t upper = around[kSide];
    const std::int64_t lower = *std::max_element(around.begin(), around.begin() + kSide);
    own.push_back(log_of(static_cast<double>(gaps[i])));
    near.push_back(log_of(static_cast<double>(lower + upper) / 2));
  }
  if (own.size() < kPairsMin) return 0;
  return Correlation(own, near);
}

class CostMeter {
 public:
  CostMeter(const EventStore& events, const tree::CallTree& tree,
            std::span<const EventIndex> gpu_work)
      : events_(events), tree_(tree), gpu_work_(gpu_work), scan_(events, tree) {}

  ProfilingCost Run() {
    scan_.Run();
    Frames();
    Events();
    Overheads();
    Totals();
    std::stable_sort(out_.stretches.begin(), out_.stretches.end(),
                     [](const HostCost& a, const HostCost& b) {
                       return std::pair(a.track, a.begin_ns) < std::pair(b.track, b.begin_ns);
                     });
    return std::move(out_);
  }

 private:
  void Frames() {
    if (scan_.all_gaps.empty()) return;
    const auto usual = static_cast<double>(Quantile(&scan_.all_gaps, 0.5));
    out_.usual_gap_us = usual / 1000;
    std::map<StringId, std::vector<const FrameInstance*>> by_name;
    for (const FrameInstance& frame : scan_.frames)
      by_name[events_[frame.frame].name].push_back(&frame);
    for (const auto& [name, instances] : by_name)
      JudgeFrame(name, instances, usual);
    std::stable_sort(out_.frames.begin(), out_.frames.end(),
                     [](const FrameCost& a, const FrameCost& b) { return a.ms > b.ms; });
    out_.artefact = Union(std::move(out_.artefact));
  }

  void JudgeFrame(StringId name, const std::vector<const FrameInstance*>& instances, double usual) {
    FrameCost frame;
    frame.name = name;
    frame.first = instances.front()->frame;
    frame.instances = instances.size();
    std::vector<double> costs;
    std::vector<std::int64_t> gaps;
    for (const FrameInstance* instance : instances) {
      const std::vector<double> cost = CostOfGaps(instance->gaps, usual);
      costs.insert(costs.end(), cost.begin(), cost.end());
      for (const FrameGap& gap : instance->gaps)
        gaps.push_back(gap.ns());
      frame.first = std::min(frame.first, instance->frame);
    }
    std::vector<double> scratch = costs;
    const double typical = Quantile(&scratch, 0.5);
    if (typical <= std::max(kCostMinNs, kCostOverUsual * usual)) return;
    frame.correlation = CorrelationWithNeighbours(gaps);
    if (frame.correlation <= kCorrelationMin) return;
    frame.gaps = gaps.size();
    frame.typical_cost_us = typical / 1000;
    std::size_t at = 0;
    for (const FrameInstance* instance : instances) {
      double lost = 0;
      for (const FrameGap& gap : instance->gaps) {
        const double cost = costs[at++];
        lost += cost / 1e6;
        if (cost <= 0) continue;
        out_.stretches.push_back({gap.track, gap.begin, gap.end, cost, cost});
        out_.artefact.push_back({gap.begin, gap.end});
      }
      frame.ms += lost;
      const trace::Event& whole = events_[instance->frame];
      lost_.push_back({{whole.ts_ns, whole.end_ns()}, lost});
    }
    frame.typical_gap_us = static_cast<double>(Quantile(&gaps, 0.5)) / 1000;
    out_.frames.push_back(frame);
  }

  void Events() {
    EventPrices prices = PriceEvents(events_, tree_);
    out_.python = prices.python;
    out_.ops = prices.ops;
    out_.runtime = prices.runtime;
    out_.stretches.insert(out_.stretches.end(), prices.stretches.begin(), prices.stretches.end());
  }

  // What CUPTI calls its own costs; it also reports loading and compiling of code, and waiting for
  // room in a command buffer, which happen without a profiler.
  static bool IsProfilers(std::string_view name) {
    for (const std::string_view own :
         {"Activity Buffer Request", "Buffer Flush", "Instrumentation", "Resource", "UVM"}) {
      if (name.find(own) != std::string_view::npos) return true;
    }
    return false;
  }

  void Overheads() {
    std::unordered_map<StringId, std::size_t> places;
    std::vector<EventIndex> own;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const trace::Event& event = events_[e];
      if (event.kind != EventKind::kOverhead || (event.flags & trace::kLeftOut) != 0) continue;
      const auto [place, added] = places.try_emplace(event.name, out_.overheads.size());
      if (added)
        out_.overheads.push_back({event.name, 0, 0, IsProfilers(events_.strings[event.name])});
      OverheadCost& cost = out_.overheads[place->second];
      ++cost.count;
      cost.ms += static_cast<double>(event.dur_ns) / 1e6;
      if (cost.profiler) own.push_back(e);
    }
    std::stable_sort(out_.overheads.begin(), out_.overheads.end(),
                     [](const OverheadCost& a, const OverheadCost& b) { return a.ms > b.ms; });
    std::sort(own.begin(), own.end(), [&](EventIndex a, EventIndex b) {
      return std::pair(events_[a].ts_ns, a) < std::pair(events_[b].ts_ns, b);
    });
    ChargeThreads(own);
  }

  // The profiler's events stand on no thread. Where a call was under way, its thread paid.
  void ChargeThreads(const std::vector<EventIndex>& own) {
    if (own.empty()) return;
    std::vector<EventIndex> calls;
    for (const EventIndex e : tree_.preorder()) {
      if (trace::IsLaunchCall(events_[e].kind)) calls.push_back(e);
    }
    std::sort(calls.begin(), calls.end(), [&](EventIndex a, EventIndex b) {
      return std::pair(events_[a].ts_ns, a) < std::pair(events_[b].ts_ns, b);
    });
    std::vector<EventIndex> under_way;
    std::size_t next = 0;
    for (const EventIndex e : own) {
      const trace::Event& cost = events_[e];
      for (; next < calls.size() && events_[calls[next]].ts_ns <= cost.ts_ns; ++next)
        under_way.push_back(calls[next]);
      while (!under_way.empty() && events_[under_way.back()].end_ns() <= cost.ts_ns)
        under_way.pop_back();
      if (under_way.empty()) continue;
      const auto ns = static_cast<double>(cost.dur_ns);
      out_.stretches.push_back(
          {events_[under_way.back()].track, cost.ts_ns, cost.end_ns(), ns, ns});
    }
  }

  void Totals() {
    for (const FrameCost& frame : out_.frames)
      out_.artefact_ms += frame.ms;
    for (const OverheadCost& cost : out_.overheads)
      out_.overhead_ms += cost.profiler ? cost.ms : 0;
    out_.low_ms = out_.high_ms = out_.artefact_ms + out_.overhead_ms;
    for (const std::optional<EventCost>* cost : {&out_.python, &out_.ops, &out_.runtime}) {
      if (!*cost) continue;
      out_.low_ms += (*cost)->low_ms();
      out_.high_ms += (*cost)->high_ms();
    }
    IdleOfFrames();
  }

  void IdleOfFrames() {
    if (lost_.empty() || gpu_work_.empty()) return;
    std::vector<Interval<std::int64_t>> busy;
    for (const EventIndex e : gpu_work_)
      busy.push_back({events_[e].ts_ns, events_[e].end_ns()});
    const IntervalSet<std::int64_t> work = Union(std::move(busy));
    std::sort(lost_.begin(), lost_.end(),
              [](const LostTime& a, const LostTime& b) { return a.frame.start < b.frame.start; });
    std::int64_t until = work.front().start;
    std::size_t piece = 0;
    for (const LostTime& lost : lost_) {
      // Frames on several threads, or one in another, share their idle time.
      const std::int64_t begin = std::max(lost.frame.start, until);
      const std::int64_t end = std::min(lost.frame.end, work.back().end);
      if (begin >= end) continue;
      until = end;
      std::int64_t idle = end - begin;
      while (piece < work.size() && work[piece].end <= begin)
        ++piece;
      for (std::size_t i = piece; i < work.size() && work[i].start < end; ++i)
        idle -= std::min(end, work[i].end) - std::max(begin, work[i].start);
      out_.idle_ms += std::min(lost.ms, static_cast<double>(idle) / 1e6);
    }
  }

  const EventStore& events_;
  const tree::CallTree& tree_;
  const std::span<const EventIndex> gpu_work_;
  struct LostTime {
    Interval<std::int64_t> frame;
    double ms;
  };

  FrameGapScan scan_;
  std::vector<LostTime> lost_;  // of each instance of an accepted frame
  ProfilingCost out_;
};

}  // namespace

double ExpectedMsInside(const ProfilingCost& cost, const IntervalSet<std::int64_t>& times) {
  if (times.empty()) return 0;
  std::map<std::uint32_t, double> by_track;
  for (const HostCost& one : cost.stretches) {
    const bool apart = one.end_ns <= times.front().start || one.begin_ns >= times.back().end;
    if (apart || one.end_ns <= one.begin_ns) continue;
    const auto length = static_cast<double>(one.end_ns - one.begin_ns);
    auto time = std::ranges::partition_point(
        times, [&](const Interval<std::int64_t>& t) { return t.end <= one.begin_ns; });
    for (; time != times.end() && time->start < one.end_ns; ++time) {
      const std::int64_t inside =
          std::min(time->end, one.end_ns) - std::max(time->start, one.begin_ns);
      by_track[one.track] += one.expected_ns() * static_cast<double>(inside) / length;
    }
  }
  double most_ns = 0;
  for (const auto& [track, ns] : by_track)
    most_ns = std::max(most_ns, ns);
  return most_ns / 1e6;
}

ProfilingCost MeasureProfilingCost(const EventStore& events, const tree::CallTree& tree,
                                   std::span<const EventIndex> gpu_work) {
  return CostMeter(events, tree, gpu_work).Run();
}

std::vector<HostCost> FramePauses(const ProfilingCost& cost) {
  std::vector<HostCost> pauses;
  for (HostCost one : cost.stretches) {
    if (MsInside(cost.artefact, one.begin_ns, one.end_ns) <= 0) continue;
    one.high_ns = one.likely_ns = one.low_ns;
    pauses.push_back(one);
  }
  return pauses;
}

}  // namespace jarvis::analysis
