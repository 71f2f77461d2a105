#include "findings/one/idle_sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/host/host_names.h"
#include "analysis/host/host_walk.h"
#include "base/median.h"
#include "base/text.h"
#include "findings/one/advice_rules.h"
#include "findings/one/multi_kernel.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using Stretch = Interval<std::int64_t>;

constexpr std::int64_t kSectionMinNs = 500'000;
constexpr std::int64_t kSectionsPerSpan = 500;  // at most about so many: 0.2 % each
constexpr std::int64_t kPartOfGap = 10;         // one in so many: less is no part of its own

// "a/b.py(12): items": the function and the line that it was entered at.
struct EnteredFrame {
  std::string file, function;
  std::int64_t line = 0;
};
std::optional<EnteredFrame> EnteredFrameOf(std::string_view frame) {
  const std::size_t end = frame.rfind("): ");
  const std::size_t begin = frame.rfind('(', end);
  if (end == std::string_view::npos || begin == std::string_view::npos) return std::nullopt;
  const auto line = ParseInt(frame.substr(begin + 1, end - begin - 1));
  if (!line) return std::nullopt;
  return EnteredFrame{std::string(frame.substr(0, begin)), std::string(frame.substr(end + 3)),
                      *line};
}

struct Section {
  Stretch time;
  std::string before;
  std::string after;
  bool tokenizes = false;  // in Python, wherever it is called from
};

class SectionFinder {
 public:
  SectionFinder(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                const IntervalSet<std::int64_t>& not_idle)
      : trace_(trace),
        events_(trace.events()),
        tree_(trace.tree()),
        host_(host),
        names_(events_),
        tokenizes_(events_, TokenizesInPython),
        not_idle_(not_idle) {
    work_.assign(trace.attribution().timeline.begin(), trace.attribution().timeline.end());
    std::sort(work_.begin(), work_.end(), [&](EventIndex a, EventIndex b) {
      return events_[a].ts_ns != events_[b].ts_ns ? events_[a].ts_ns < events_[b].ts_ns : a < b;
    });
    for (const EventIndex e : work_)
      busy_.push_back({events_[e].ts_ns, events_[e].end_ns()});
    for (const auto& piece : busy_)
      last_ns_ = std::max(last_ns_, piece.end);
    busy_.insert(busy_.end(), not_idle.begin(), not_idle.end());
    busy_ = Union(std::move(busy_));
  }

  IdleSections Run() {
    IdleSections out;
    if (work_.empty() || !host_.has_host_events) return out;
    Stretch span = host_.threads.span;
    span.start = std::min(span.start, busy_.front().start);
    span.end = std::max(span.end, busy_.back().end);
    out.span_ms = Ms(span.end - span.start);
    out.not_idle = not_idle_;
    FindSections(span);
    MeasureWork();
    out.groups = Groups();
    for (const SectionGroup& group : out.groups)
      out.total_ms += group.total_ms;
    return out;
  }

 private:
  // What one section's host did: self time by name of event.
  using SelfTimes = std::unordered_map<StringId, std::pair<std::int64_t, std::uint64_t>>;

  static double Ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

  void FindSections(Stretch span) {
    least_ms_ = Ms(std::max(kSectionMinNs, (span.end - span.start) / kSectionsPerSpan));
    FindOwnTimes();
    std::int64_t from = span.start;
    for (std::size_t i = 0; i <= busy_.size(); ++i) {
      const std::int64_t to = i < busy_.size() ? busy_[i].start : span.end;
      if (to - from >= kSectionMinNs) AddSections({from, to});
      if (i < busy_.size()) from = std::max(from, busy_[i].end);
    }
    self_.resize(sections_.size());
    recorded_.resize(sections_.size());
    profiler_.resize(sections_.size());
    dispatch_.resize(sections_.size());
    waiting_.resize(sections_.size());
    loading_.resize(sections_.size());
    within_.resize(sections_.size());
    nexts_.resize(sections_.size());
  }

  // A loader's time, or a tokenizer's, and a good part of a gap beside it are two works, each as
  // long as it is.
  void AddSections(const Stretch& gap) {
    const std::int64_t least = std::max(kSectionMinNs, (gap.end - gap.start) / kPartOfGap);
    std::int64_t from = gap.start;
    const auto add = [&](std::int64_t to) {
      const std::int64_t tokenizing = Length(Intersect({{from, to}}, tokenizers_));
      sections_.push_back(
          {{from, to}, Before(gap.start), After(gap.end), 2 * tokenizing > to - from});
      from = to;
    };
    const auto cut = [&](std::int64_t at) {
      if (at - from >= least && gap.end - at >= least) add(at);
    };
    std::vector<std::int64_t> cuts;
    for (const auto* own : {&loaders_, &tokenizers_}) {
      for (const Stretch& one : Intersect({gap}, *own)) {
        if (one.end - one.start >= least) cuts.insert(cuts.end(), {one.start, one.end});
      }
    }
    std::sort(cuts.begin(), cuts.end());
    for (const std::int64_t at : cuts)
      cut(at);
    add(gap.end);
  }

  // Of the threads that are looked at: what has a remedy of its own, whatever calls it.
  void FindOwnTimes() {
    for (const auto& thread : Threads()) {
      for (const EventIndex e : thread) {
        const Stretch time{events_[e].ts_ns, events_[e].end_ns()};
        if (names_.Of(e).loader) loaders_.push_back(time);
        if (tokenizes_.Of(e)) tokenizers_.push_back(time);
      }
    }
    loaders_ = Union(std::move(loaders_));
    tokenizers_ = Union(std::move(tokenizers_));
  }
  std::int64_t LoadingNs(std::size_t section) const {
    return sections_[section].tokenizes ? 0 : loading_[section];
  }

  std::string OpOf(EventIndex gpu) const {
    for (EventIndex e = tree_.parent(gpu); e != trace::kNoEvent; e = tree_.parent(e)) {
      if (events_[e].kind == trace::EventKind::kCpuOp) return std::string(events_.name(e));
    }
    return std::string(events_.name(gpu));
  }
  // Of the GPU work that had started last before, and of the first to start from then on.
  std::string Before(std::int64_t at) const {
    const auto next = FirstFrom(at);
    return next == work_.begin() ? std::string() : OpOf(*std::prev(next));
  }
  std::string After(std::int64_t at) const {
    const auto next = FirstFrom(at);
    return next == work_.end() ? std::string() : OpOf(*next);
  }
  std::vector<EventIndex>::const_iterator FirstFrom(std::int64_t at) const {
    return std::lower_bound(work_.begin(), work_.end(), at,
                            [&](EventIndex e, std::int64_t t) { return events_[e].ts_ns < t; });
  }

  // Adds each piece of a thread's time to the section that it lies in.
  struct PieceAdder {
    SectionFinder& finder;
    std::size_t next = 0;  // the first section that may still be met
    // Of what is open, or of something around it.
    struct Inside {
      bool loading = false;
      bool profiler = false;
      bool dispatch = false;
    };
    Inside inside_of = {};
    std::vector<Inside> around = {};
    std::vector<std::size_t> counted =
        {};  // of what is open: the last section it counts in, plus 1
    void Open(EventIndex e, std::int64_t) {
      around.push_back(inside_of);
      counted.push_back(0);
      inside_of.loading = inside_of.loading || finder.names_.Of(e).loader;
      inside_of.profiler = inside_of.profiler || finder.names_.Of(e).profiler;
      inside_of.dispatch = inside_of.dispatch || finder.IsDispatching(e);
    }
    void Close(EventIndex e, std::int64_t) {
      finder.Hold(e);
      inside_of = around.back();
      around.pop_back();
      counted.pop_back();
    }
    void Piece(EventIndex innermost, std::int64_t start, std::int64_t end) {
      const auto& sections = finder.sections_;
      while (next < sections.size() && sections[next].time.end <= start)
        ++next;
      for (std::size_t i = next; i < sections.size() && sections[i].time.start < end; ++i) {
        const std::int64_t inside =
            std::min(end, sections[i].time.end) - std::max(start, sections[i].time.start);
        finder.recorded_[i] += inside;
        if (inside_of.loading) finder.loading_[i] += inside;
        if (inside_of.dispatch) finder.dispatch_[i] += inside;
        if (finder.names_.Of(innermost).sync_call || finder.names_.Of(innermost).gpu_wait_frame) {
          finder.waiting_[i] += inside;
          continue;
        }
        if (inside_of.profiler) {
          finder.profiler_[i] += inside;
          continue;
        }
        // What lies in a mark and in nothing else is not work that was recorded.
        const trace::EventKind kind = finder.events_[innermost].kind;
        if (kind == trace::EventKind::kUserAnnotation || finder.names_.Of(innermost).range) {
          if (!inside_of.loading) finder.recorded_[i] -= inside;
          continue;
        }
        auto& [ns, count] = finder.self_[i][finder.events_[innermost].name];
        ns += inside;
        if (counted.back() != i + 1) ++count;
        counted.back() = i + 1;
      }
    }
  };

  // The first to close of those that hold nearly all of a section, and little else, is the
  // innermost.
  void Hold(EventIndex e) {
    const trace::Event& event = events_[e];
    if (event.kind != trace::EventKind::kPythonFunction || IsWrapper(events_.name(e))) return;
    auto at = std::partition_point(sections_.begin(), sections_.end(),
                                   [&](const Section& one) { return one.time.end <= event.ts_ns; });
    for (; at != sections_.end() && at->time.start < event.end_ns(); ++at) {
      const std::int64_t length = at->time.end - at->time.start;
      const std::int64_t inside =
          std::min(event.end_ns(), at->time.end) - std::max(event.ts_ns, at->time.start);
      if (10 * inside < 9 * length || event.dur_ns > 2 * length) continue;
      const auto section = static_cast<std::size_t>(at - sections_.begin());
      if (within_[section].empty()) within_[section] = events_.name(e);
      if (nexts_[section].empty() && IsCalledByNext(e)) nexts_[section] = events_.name(e);
    }
  }

  // A generator is entered by `next` itself, as is an iterator's own method.
  bool IsCalledByNext(EventIndex e) const {
    const EventIndex caller = tree_.parent(e);
    return caller != trace::kNoEvent && events_.name(caller) == "<built-in function next>" &&
           !events_.name(e).ends_with(": __next__");
  }

  // A function that is entered at its first line once, and at a later one from then on, is a
  // generator that is resumed. One that is called again begins at its first line each time.
  bool AreGenerated(const std::vector<std::size_t>& sections) const {
    std::optional<EnteredFrame> first;
    for (const std::size_t i : sections) {
      const std::optional<EnteredFrame> frame = EnteredFrameOf(nexts_[i]);
      if (!frame) return false;
      if (!first) {
        first = frame;
      } else if (frame->file != first->file || frame->function != first->function ||
                 frame->line <= first->line) {
        return false;
      }
    }
    return sections.size() > 1;
  }

  // On the way to a launch: a module's call, or an op with GPU work of its own. Behind the last
  // that was recorded, an op that has had some.
  bool IsDispatching(EventIndex e) {
    if (events_[e].kind == trace::EventKind::kPythonFunction)
      return events_.name(e).starts_with("nn.Module: ");
    if (!names_.IsOp(e)) return false;
    if (!tree_.GpuBelow(e).empty()) {
      dispatching_.insert(events_[e].name);
      return true;
    }
    return events_[e].ts_ns > last_ns_ && dispatching_.contains(events_[e].name);
  }

  // What says nothing of the work that it calls.
  static bool IsWrapper(std::string_view name) {
    constexpr std::string_view kWrappers[] = {"<module>", "_call_impl", "decorate_context",
                                              "wrapper",  "<lambda>",   "<built-in"};
    return name.find(".py(") == std::string_view::npos ||
           std::any_of(std::begin(kWrappers), std::end(kWrappers), [&](std::string_view one) {
             return name.find(one) != std::string_view::npos;
           });
  }

  // Those that launch, and loaders.
  std::vector<std::span<const EventIndex>> Threads() const {
    std::vector<bool> looked_at(events_.tracks.size(), false);
    for (const analysis::WorkingThread& thread : host_.threads.threads) {
      const bool waits = thread.role == analysis::ThreadRole::kMonitor ||
                         thread.role == analysis::ThreadRole::kWorker;
      if (!waits && thread.track < looked_at.size()) looked_at[thread.track] = true;
    }
    std::vector<std::span<const EventIndex>> threads = analysis::ThreadsOf(events_, tree_);
    std::erase_if(threads, [&](const auto& thread) {
      return thread.empty() || !looked_at[events_[thread.front()].track];
    });
    return threads;
  }

  void MeasureWork() {
    for (const auto& thread : Threads()) {
      PieceAdder adder{*this};
      analysis::WalkThread(events_, tree_, thread, &adder);
    }
  }

  std::vector<SectionGroup> Groups() {
    // Stretches of the same work are one, wherever they are; without such work those between the
    // same neighbours in which the same little is recorded.
    constexpr std::int64_t kLeads = 4, kMarks = 10;  // one part in so many of a stretch
    std::map<std::array<std::string, 4>, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Stretch& time = sections_[i].time;
      const bool loading = 2 * LoadingNs(i) > time.end - time.start;
      const std::string leading = loading ? "data loading" : Leading(i, kLeads);
      if (leading.empty()) {
        groups[{"", sections_[i].before, sections_[i].after, Leading(i, kMarks)}].push_back(i);
      } else {
        groups[{leading, "", "", ""}].push_back(i);
      }
    }
    std::vector<SectionGroup> out;
    for (const auto& [key, sections] : groups) {
      const Section& first = sections_[sections[sections.size() / 2]];
      out.push_back(GroupOf(first.before, first.after, sections));
      if (out.back().longest_ms < least_ms_) out.pop_back();
    }
    std::stable_sort(out.begin(), out.end(), [](const SectionGroup& a, const SectionGroup& b) {
      return a.total_ms > b.total_ms;
    });
    return out;
  }

  bool IsCopy(EventIndex e, CopyDirection direction) const {
    return events_[e].kind == trace::EventKind::kMemcpy &&
           DirectionOf(events_.name(e)) == direction;
  }

  // What takes at least one part in so many of a section; empty: nothing does.
  std::string Leading(std::size_t section, std::int64_t parts) const {
    const Stretch& time = sections_[section].time;
    std::pair<std::int64_t, std::string> most{0, ""};
    for (const auto& [name, self] : self_[section])
      most = std::max(most, {self.first, WithoutAddress(events_.strings[name])});
    return parts * most.first >= time.end - time.start ? most.second : std::string();
  }

  // Nothing recorded, several times, equally long within one percent, and of a round length: what a
  // program computes varies more, and keeps to no round figure.
  static bool IsSleep(const SectionGroup& group) {
    constexpr std::size_t kFewest = 3;
    constexpr double kLeastMs = 5, kAlike = 1.01, kOver = 1.02;
    if (group.loading || group.stretches.size() < kFewest || group.shortest_ms < kLeastMs)
      return false;
    if (10 * group.nothing_ms < 9 * group.total_ms || group.longest_ms > kAlike * group.shortest_ms)
      return false;
    const double ten = std::pow(10, std::floor(std::log10(group.median_ms)));
    const double digit = std::floor(group.median_ms / ten + 1e-9);
    return group.median_ms <= kOver * digit * ten;
  }

  SectionGroup GroupOf(const std::string& before, const std::string& after,
                       const std::vector<std::size_t>& sections) const {
    SectionGroup group;
    group.before = before;
    group.after = after;
    std::vector<double> lengths;
    std::vector<double> periods;
    std::map<std::string, std::pair<std::int64_t, std::uint64_t>> work;
    std::int64_t loading = 0;
    group.within = within_[sections.front()];
    std::size_t back = 0, in = 0;
    for (const std::size_t i : sections) {
      group.scattered =
          group.scattered || sections_[i].before != before || sections_[i].after != after;
      group.at_end = group.at_end || sections_[i].after.empty();
      if (within_[i] != group.within) group.within.clear();
      const auto next = FirstFrom(sections_[i].time.end);
      if (next != work_.end() && IsCopy(*next, CopyDirection::kToDevice)) ++in;
      const auto first = FirstFrom(sections_[i].time.start);
      if (first != work_.begin() && IsCopy(*std::prev(first), CopyDirection::kToHost)) ++back;
      const Stretch& time = sections_[i].time;
      if (!group.stretches.empty())
        periods.push_back(Ms(time.start - group.stretches.back().start));
      group.stretches.push_back(time);
      lengths.push_back(Ms(time.end - time.start));
      group.total_ms += lengths.back();
      group.nothing_ms += std::max(0.0, lengths.back() - Ms(recorded_[i]));
      loading += LoadingNs(i);
      group.profiler_ms += Ms(profiler_[i]);
      group.dispatch_ms += Ms(dispatch_[i]);
      group.waiting_ms += Ms(waiting_[i]);
      for (const auto& [name, self] : self_[i]) {
        auto& sum = work[WithoutAddress(events_.strings[name])];
        sum.first += self.first;
        sum.second += self.second;
      }
    }
    group.growth = FindGrowth(events_, group.stretches);
    group.after_copy_back = 2 * back > sections.size();
    group.before_copy_in = 2 * in > sections.size();
    group.loading = 2 * Ms(loading) > group.total_ms;
    group.shortest_ms = *std::min_element(lengths.begin(), lengths.end());
    group.longest_ms = *std::max_element(lengths.begin(), lengths.end());
    group.median_ms = UpperMedian(std::move(lengths));
    // Distances that differ are between other places, or of another rhythm.
    constexpr std::size_t kPeriodsMin = 2;
    constexpr double kEven = 1.25;
    const bool even = periods.size() >= kPeriodsMin &&
                      *std::max_element(periods.begin(), periods.end()) <=
                          kEven * *std::min_element(periods.begin(), periods.end());
    if (even) group.period_ms = UpperMedian(std::move(periods));
    for (const auto& [name, self] : work) {
      if (self.first > 0) group.work.push_back({name, self.second, Ms(self.first)});
    }
    std::stable_sort(group.work.begin(), group.work.end(),
                     [](const SectionWork& a, const SectionWork& b) { return a.ms > b.ms; });
    if (group.work.size() > kSectionWorkMax) group.work.resize(kSectionWorkMax);
    group.sleeps = IsSleep(group);
    group.generated = AreGenerated(sections);
    return group;
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const analysis::HostSummary& host_;
  analysis::HostNames names_;
  trace::ByName<bool> tokenizes_;
  IntervalSet<std::int64_t> loaders_, tokenizers_;
  const IntervalSet<std::int64_t>& not_idle_;
  std::vector<EventIndex> work_;  // by start
  IntervalSet<std::int64_t> busy_;
  std::int64_t last_ns_ = trace::kAbsent;     // the end of the last work
  std::unordered_set<StringId> dispatching_;  // names of ops with GPU work
  double least_ms_ = 0;                       // the longest of a group is at least so long
  std::vector<Section> sections_;             // by time
  std::vector<SelfTimes> self_;               // by section
  std::vector<std::int64_t> recorded_;        // by section: inside events, threads added up
  std::vector<std::int64_t> loading_;
  std::vector<std::int64_t> profiler_;
  std::vector<std::int64_t> dispatch_;
  std::vector<std::int64_t> waiting_;
  std::vector<std::string> within_;
  std::vector<std::string> nexts_;  // by section: what `next` called that holds it
};

}  // namespace

std::string WithoutAddress(std::string_view name) {
  constexpr std::string_view kAt = " at 0x";
  const std::size_t at = name.find(kAt);
  if (at == std::string_view::npos) return std::string(name);
  const std::size_t end = name.find_first_not_of("0123456789abcdefABCDEF", at + kAt.size());
  return std::string(name.substr(0, at)) +
         std::string(end == std::string_view::npos ? std::string_view() : name.substr(end));
}

IdleSections FindIdleSections(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                              const IntervalSet<std::int64_t>& not_idle) {
  return SectionFinder(trace, host, not_idle).Run();
}

}  // namespace jarvis::findings
