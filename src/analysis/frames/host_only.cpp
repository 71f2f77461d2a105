#include "analysis/frames/host_only.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "trace/step_mark.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

// Shorter stretches are the spaces between ops. A five-hundredth of the frame, within reason.
std::int64_t LeastOf(TimeSpan span) {
  constexpr std::int64_t kLeastNs = 50'000;
  constexpr std::int64_t kMostNs = 1'000'000;
  return std::clamp((span.end - span.start) / 500, kLeastNs, kMostNs);
}

class HostOnlyFinder {
 public:
  HostOnlyFinder(const FrameFacts& facts, TimeSpan span, const TimeSet& unrecorded)
      : facts_(facts) {
    out_.least_ns = LeastOf(span);
    const TimeSet free = Subtract(Subtract(Subtract({span}, facts.busy), facts.in_ops), unrecorded);
    out_.all_ns = Length(free);
    for (const TimeSpan& piece : free) {
      if (piece.end - piece.start >= out_.least_ns) stretches_.push_back(piece);
    }
  }

  HostOnlyTime Run() {
    out_.count = stretches_.size();
    if (stretches_.empty()) return std::move(out_);
    out_.total_ns = Length(stretches_);
    FindNeighbours();
    FindFrames();
    MakeGroups();
    return std::move(out_);
  }

 private:
  const trace::Event& At(EventIndex e) const { return facts_.events[e]; }

  bool IsOp(EventIndex e) const {
    return trace::IsLaunchCall(At(e).kind) ||
           (At(e).kind == EventKind::kCpuOp && !IsScopeName(facts_.events.name(e)));
  }

  // The op that ended last before each stretch and the one that begins first after it, on the
  // thread of the frames; the outermost ones, whose names say most.
  void FindNeighbours() {
    std::vector<EventIndex> ops;  // outermost
    std::int64_t end = trace::kAbsent;
    for (const EventIndex e : facts_.on_thread) {
      if (!IsOp(e) || At(e).ts_ns < end) continue;
      end = At(e).end_ns();
      ops.push_back(e);
    }
    std::size_t next = 0;
    for (const TimeSpan& stretch : stretches_) {
      while (next < ops.size() && At(ops[next]).ts_ns < stretch.end)
        ++next;
      before_.push_back(next == 0 ? kNoString : At(ops[next - 1]).name);
      after_.push_back(next == ops.size() ? kNoString : At(ops[next]).name);
    }
  }

  // The Python frame that was innermost for most of each stretch, and the annotation.
  void FindFrames() {
    where_ = InnermostOf([&](EventIndex e) { return At(e).kind == EventKind::kPythonFunction; });
    within_ = InnermostOf([&](EventIndex e) {
      return At(e).kind == EventKind::kUserAnnotation &&
             !trace::StepNumberOf(facts_.events.name(e));
    });
  }

  // By stretch: the name of the event of that sort that was the innermost open one for most of it.
  template <typename Sort>
  std::vector<StringId> InnermostOf(const Sort& sort) const {
    std::vector<StringId> names(stretches_.size(), kNoString);
    std::vector<EventIndex> open;
    std::unordered_map<StringId, std::int64_t> time;  // of the current stretch
    std::size_t stretch = 0;
    std::int64_t at = trace::kAbsent;
    // The time since `at` was the innermost open one's.
    const auto spend = [&](std::int64_t until) {
      while (stretch < stretches_.size() && at < until) {
        const TimeSpan& now = stretches_[stretch];
        const std::int64_t from = std::max(at, now.start);
        const std::int64_t to = std::min(until, now.end);
        if (to > from && !open.empty()) time[At(open.back()).name] += to - from;
        if (until < now.end) break;
        names[stretch++] = MostOf(&time);
      }
      at = std::max(at, until);
    };
    for (const EventIndex e : facts_.on_thread) {
      if (!sort(e)) continue;
      while (!open.empty() && At(open.back()).end_ns() <= At(e).ts_ns) {
        spend(At(open.back()).end_ns());
        open.pop_back();
      }
      spend(At(e).ts_ns);
      open.push_back(e);
    }
    while (!open.empty()) {
      spend(At(open.back()).end_ns());
      open.pop_back();
    }
    if (stretch < stretches_.size()) names[stretch] = MostOf(&time);
    return names;
  }

  static StringId MostOf(std::unordered_map<StringId, std::int64_t>* time) {
    StringId name = kNoString;
    std::int64_t most = 0;
    for (const auto& [id, ns] : *time) {
      if (ns < most || (ns == most && id >= name)) continue;
      most = ns;
      name = id;
    }
    time->clear();
    return name;
  }

  std::string TextOf(StringId name) const { return std::string(facts_.events.text(name)); }

  void MakeGroups() {
    std::map<std::tuple<StringId, StringId, StringId>, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      // With frames, the frame is the better name: what comes before and after may vary.
      const bool framed = where_[i] != kNoString;
      groups[{where_[i], framed ? kNoString : before_[i], framed ? kNoString : after_[i]}]
          .push_back(i);
    }
    for (const auto& [key, members] : groups) {
      HostOnlyGroup group;
      std::vector<std::int64_t> lengths;
      std::vector<std::int64_t> periods;
      for (std::size_t m = 0; m < members.size(); ++m) {
        const TimeSpan& one = stretches_[members[m]];
        lengths.push_back(one.end - one.start);
        group.total_ns += lengths.back();
        group.max_ns = std::max(group.max_ns, lengths.back());
        if (m > 0) periods.push_back(one.start - stretches_[members[m - 1]].start);
      }
      group.where = TextOf(std::get<0>(key));
      group.within = TextOf(within_[members.front()]);
      group.before = TextOf(before_[members.front()]);
      group.after = TextOf(after_[members.front()]);
      group.thread = facts_.host_events() ? std::string(facts_.events.tracks[facts_.track].tid)
                                          : std::string();
      group.count = members.size();
      group.median_ns = MedianOf(std::move(lengths)).value_or(0);
      if (members.size() >= 3) group.period_ns = MedianOf(std::move(periods));
      group.first_ns = stretches_[members.front()].start;
      out_.groups.push_back(std::move(group));
    }
    std::stable_sort(
        out_.groups.begin(), out_.groups.end(), [](const HostOnlyGroup& a, const HostOnlyGroup& b) {
          return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.first_ns < b.first_ns;
        });
  }

  const FrameFacts& facts_;
  TimeSet stretches_;
  std::vector<StringId> before_;
  std::vector<StringId> after_;
  std::vector<StringId> where_;
  std::vector<StringId> within_;
  HostOnlyTime out_;
};

}  // namespace

HostOnlyTime FindHostOnly(const FrameFacts& facts, TimeSpan span, const TimeSet& unrecorded) {
  return HostOnlyFinder(facts, span, unrecorded).Run();
}

}  // namespace jarvis::analysis
