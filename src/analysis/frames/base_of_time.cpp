#include "analysis/frames/base_of_time.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/frames/blocks.h"
#include "analysis/frames/unit_groups.h"
#include "analysis/host/host_walk.h"
#include "base/median.h"

namespace jarvis::analysis {
namespace {

constexpr double kHoldsNearlyAll = 0.9;  // of the GPU's work is launched in units
constexpr double kNextToNothing = 0.05;  // of the middle unit's work: no unit
constexpr double kEndsEarly = 0.7;       // of the middle unit: the last one's end was not recorded
// A boundary lags if the unit's first work on the main stream starts that much later, in units, and
// the GPU idles for less than that share of the time between.
constexpr double kLagLeast = 0.02;
constexpr double kLagIdleMost = 0.15;
constexpr double kColdExcess = 2;  // a unit this many times the kept ones is cold
// Of a single pass.
constexpr double kFilledByCalls = 0.8;  // of an idle gap: all of it is one-time
constexpr std::int64_t kOneTimeLeastNs = 1'000'000;
constexpr std::int64_t kColdProcessNs = 50'000'000;  // one-time calls that prove a cold process
constexpr std::int64_t kOpFreeLeastNs = 20'000'000;
constexpr double kIdleNearlyAll = 0.95;
constexpr double kWarmFrom = 0.2;        // of the pass is one-time: the warm pass is the base
constexpr double kFirstBlockIdle = 0.2;  // above the mean of the later ones

TimeSet Join(TimeSet a, const TimeSet& b) {
  a.insert(a.end(), b.begin(), b.end());
  return Union(std::move(a));
}

// A candidate with its boundaries drawn.
struct Units {
  FoundSteps found;
  std::vector<TimeSpan> units;
  std::vector<TimeSpan> host;
  std::vector<std::int64_t> work_ns;  // launched in each
  double inside = 0;                  // share of all work
  bool by_completion = false;
};

class BaseFinder {
 public:
  BaseFinder(const FrameFacts& facts, UnrecordedHead head, GroupUnits grouping)
      : facts_(facts),
        grouping_(grouping),
        busy_(facts.busy),
        calls_(FindOneTimeCalls(facts)),
        idle_calls_(Subtract(Union(calls_), facts.busy)),
        long_calls_(LongOf(calls_)),
        idle_calls_meter_(idle_calls_),
        long_calls_meter_(long_calls_) {
    out_.head = std::move(head);
    out_.recording = facts.recording;
    out_.first_calls = Union(std::move(calls_));
    FindMainStream();
  }

  BaseOfTime Run() {
    ChooseUnits();
    std::vector<std::size_t> whole = WholeUnits();
    std::erase_if(whole, [&](std::size_t i) { return out_.group.HeldIn(i) < out_.group.size; });
    if (whole.size() > 1) {
      KeepRegime(whole);
    } else {
      out_.regimes.kept = {whole.empty() ? 0 : whole.front()};
      SinglePass(out_.regimes.kept.front());
    }
    AddUp();
    return std::move(out_);
  }

 private:
  const trace::Event& At(EventIndex e) const { return facts_.events[e]; }
  std::int64_t DurationOf(std::size_t unit) const {
    return out_.units[unit].end - out_.units[unit].start;
  }
  std::int64_t head() const { return out_.head.end_ns; }

  // The stream with most of the time; the launches of its work with its starts, by launch.
  void FindMainStream() {
    std::map<std::uint32_t, std::int64_t> time;
    for (const LaunchedWork& work : facts_.launched)
      time[At(work.event).track] += At(work.event).dur_ns;
    std::uint32_t main = 0;
    std::int64_t most = -1;
    for (const auto& [stream, ns] : time) {
      if (ns > most) std::tie(main, most) = std::pair(stream, ns);
    }
    launching_.resize(facts_.events.tracks.size());
    for (const LaunchedWork& work : facts_.launched) {
      launching_[At(work.launch).track] = true;
      if (At(work.event).track == main) main_.push_back({work.launch_ns, At(work.event).ts_ns});
    }
  }

  void ChooseUnits() {
    if (OfferSteps(facts_, [&](FoundSteps found) { return Take(Draw(std::move(found))); })) return;
    const NoSteps none = WhyNoSteps(facts_);
    out_.reason = none.reason;
    out_.part_of_pass = none.part_of_pass;
    const auto [start, end] = facts_.without_steps();
    out_.units = {{std::min(end, std::max(start, head())), end}};
    out_.by_completion = true;
  }

  bool Take(Units drawn) {
    if (facts_.gpu_work() && drawn.inside < kHoldsNearlyAll) return false;
    if (drawn.found.inferred && (!AreAlike(drawn.work_ns) || NoneIsOver(drawn.work_ns)))
      return false;
    if (grouping_ == GroupUnits::kWhereTheyRecur) {
      std::vector<std::int64_t> lengths;
      for (const TimeSpan& unit : drawn.units)
        lengths.push_back(std::max<std::int64_t>(1, unit.end - unit.start));
      if (auto groups = GroupSteps(facts_, drawn.found, lengths)) {
        out_.host_parts = std::move(drawn.found.steps);
        drawn = Draw(std::move(*groups));
      }
    }
    out_.source = drawn.found.source;
    out_.group = std::move(drawn.found.group);
    out_.unit = drawn.found.unit;
    out_.name = std::move(drawn.found.name);
    out_.holes = std::move(drawn.found.holes);
    out_.host_units = std::move(drawn.found.steps);
    out_.units = std::move(drawn.units);
    host_ = std::move(drawn.host);
    out_.by_completion = drawn.by_completion;
    work_ns_ = std::move(drawn.work_ns);
    to_the_end_ = drawn.found.to_the_end;
    out_.open_end = drawn.found.open_end;
    return true;
  }

  // Scopes that nobody meant as units are units only if most of them do some of the work.
  static bool AreAlike(const std::vector<std::int64_t>& work_ns) {
    const std::int64_t most = *std::max_element(work_ns.begin(), work_ns.end());
    const auto some = std::count_if(work_ns.begin(), work_ns.end(), [&](std::int64_t ns) {
      return static_cast<double>(ns) > kNextToNothing * static_cast<double>(most);
    });
    return 2 * static_cast<std::size_t>(some) > work_ns.size();
  }

  // A recording that was cut off while the GPU was at work of its first unit.
  bool NoneIsOver(const std::vector<std::int64_t>& work_ns) const {
    return facts_.cut && LastAtWork(work_ns) == 0;
  }
  // The unit whose work the GPU was at when the recording was cut off.
  static std::size_t LastAtWork(const std::vector<std::int64_t>& work_ns) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < work_ns.size(); ++i) {
      if (work_ns[i] > 0) last = i;
    }
    return last;
  }

  // Places in `launched` and the latest completion of what was launched in the span.
  struct Launches {
    std::int64_t work_ns = 0;
    std::optional<std::int64_t> completion;
  };
  Launches LaunchesIn(TimeSpan span) const {
    Launches out;
    const auto [first, past] = facts_.LaunchedIn(span);
    out.work_ns = facts_.launched_before[past] - facts_.launched_before[first];
    for (std::size_t i = first; i < past; ++i) {
      const std::int64_t end = At(facts_.launched[i].event).end_ns();
      out.completion = std::max(out.completion.value_or(end), end);
    }
    return out;
  }

  bool Lags(const FoundSteps& found) const {
    const std::size_t n = found.steps.size();
    if (n == 1) return !WaitsForHost(found.steps.front().host);
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i + 1 < n; ++i)
      lengths.push_back(found.steps[i + 1].host.start - found.steps[i].host.start);
    const auto middle = static_cast<double>(LowerMedian(lengths));
    std::size_t lagging = 0;
    std::size_t all = 0;
    const auto place = [&](std::int64_t at) {
      return std::partition_point(main_.begin(), main_.end(),
                                  [&](const auto& one) { return one.first < at; });
    };
    for (std::size_t k = 1; k < n; ++k) {
      const std::int64_t begin = found.steps[k].host.start;
      const auto first = place(begin);
      const auto past = k + 1 < n ? place(found.steps[k + 1].host.start) : main_.end();
      if (first == past) continue;
      std::int64_t start = first->second;
      for (auto one = first; one != past; ++one)
        start = std::min(start, one->second);
      ++all;
      const auto late = static_cast<double>(start - begin);
      if (late > kLagLeast * middle &&
          late - static_cast<double>(busy_.In({begin, start})) < kLagIdleMost * late) {
        ++lagging;
      }
    }
    return 2 * lagging > all;
  }

  // Of a single unit: the GPU was done with recorded work of before long before the host had
  // launched more.
  bool WaitsForHost(TimeSpan unit) const {
    if (out_.head.foreign.empty() || out_.head.held_up || main_.empty()) return false;
    std::int64_t start = main_.front().second;
    for (const auto& [launch, begin] : main_)
      start = std::min(start, begin);
    const auto late = static_cast<double>(start - unit.start);
    return late > kLagLeast * static_cast<double>(unit.end - unit.start) &&
           late - static_cast<double>(busy_.In({unit.start, start})) >= kLagIdleMost * late;
  }

  // The end of the last host event of a launching thread that begins after `from`.
  std::optional<std::int64_t> LastHostEnd(std::int64_t from) const {
    std::optional<std::int64_t> last;
    const bool any = !facts_.launched.empty();
    for (const EventIndex e : facts_.tree.preorder()) {
      const trace::Event& event = At(e);
      if (event.ts_ns < from || !facts_.in_process[event.track]) continue;
      if (event.kind == trace::EventKind::kPythonFunction || (any && !launching_[event.track]))
        continue;
      last = std::max(last.value_or(event.end_ns()), event.end_ns());
    }
    return last;
  }

  const StepHole* HoleAfter(const FoundSteps& found, std::size_t k) const {
    const auto hole = std::partition_point(
        found.holes.begin(), found.holes.end(),
        [&](const StepHole& one) { return one.span.start < found.steps[k].host.start; });
    const bool between =
        hole != found.holes.end() && hole->span.end <= found.steps[k + 1].host.start;
    return between ? &*hole : nullptr;
  }

  Units Draw(FoundSteps found) const {
    constexpr std::size_t kSeveral = 3;
    Units out;
    const std::size_t n = found.steps.size();
    out.by_completion = Lags(found);
    const std::int64_t all = std::max<std::int64_t>(1, facts_.launched_before.back());
    std::int64_t inside = 0;
    const std::int64_t begin = found.steps.front().host.start;
    std::int64_t previous = out.by_completion ? std::max(begin, head()) : begin;
    for (std::size_t k = 0; k < n; ++k) {
      const bool last = k + 1 == n;
      const TimeSpan marked = found.steps[k].host;
      const std::int64_t next = last ? found.to_the_end ? facts_.recording.end + 1 : marked.end
                                     : found.steps[k + 1].host.start;
      const Launches launched =
          facts_.host_events() ? LaunchesIn({marked.start, next}) : Launches{};
      inside += launched.work_ns;
      out.work_ns.push_back(launched.work_ns);
      const StepHole* hole = last ? nullptr : HoleAfter(found, k);
      std::int64_t host_end = next;
      if (hole != nullptr) host_end = hole->span.start;
      if (last && found.to_the_end)
        host_end = std::min(facts_.recording.end, LastHostEnd(marked.start).value_or(marked.end));
      if (last && !found.to_the_end) host_end = marked.end;
      const std::int64_t completion = launched.completion.value_or(host_end);
      if (last && found.to_the_end && n >= kSeveral) host_end = completion;
      std::int64_t end = out.by_completion || last ? std::max(host_end, completion) : host_end;
      if (facts_.cut) end = std::min(end, std::max(previous, facts_.recording.end));
      end = std::max(end, previous);
      out.units.push_back({previous, end});
      previous = end;
      if (hole != nullptr) previous = std::max(previous, hole->span.end);
      out.host.push_back({marked.start, last && found.to_the_end ? std::max(host_end, end)
                                        : hole != nullptr        ? host_end
                                        : last ? std::max(marked.end, marked.start)
                                               : next});
    }
    out.inside = facts_.host_events() && !facts_.launched.empty()
                     ? static_cast<double>(inside) / static_cast<double>(all)
                     : 1;
    out.found = std::move(found);
    return out;
  }

  // Of the unit, in one-time calls with an idle GPU.
  std::int64_t OneTimeIn(std::size_t unit) const { return idle_calls_meter_.In(out_.units[unit]); }

  // Units that launch more than next to nothing, and whose end was recorded.
  std::vector<std::size_t> WholeUnits() const {
    std::vector<std::size_t> whole;
    std::vector<std::int64_t> some;
    for (const std::int64_t ns : work_ns_) {
      if (ns > 0) some.push_back(ns);
    }
    const auto least =
        some.empty() ? -1.0 : kNextToNothing * static_cast<double>(*MedianOf(std::move(some)));
    for (std::size_t i = 0; i < out_.units.size(); ++i) {
      if (i < work_ns_.size() && static_cast<double>(work_ns_[i]) <= least) continue;
      whole.push_back(i);
    }
    // The first ones may be mostly first calls, however long the others are.
    std::size_t cold = 0;
    while (cold + 1 < whole.size() &&
           static_cast<double>(OneTimeIn(whole[cold])) >
               kWarmFrom * static_cast<double>(DurationOf(whole[cold]))) {
      ++cold;
    }
    whole.erase(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cold));
    constexpr std::size_t kSeveral = 3;
    const std::size_t last = out_.units.size() - 1;
    if (whole.size() < 2 || whole.back() != last) return whole;
    if (facts_.cut && host_.back().end >= facts_.cut->at_ns) {
      whole.pop_back();
    } else if (to_the_end_ && whole.size() >= kSeveral) {
      std::vector<std::int64_t> others;
      for (std::size_t i = 0; i + 1 < whole.size(); ++i)
        others.push_back(DurationOf(whole[i]));
      if (static_cast<double>(DurationOf(last)) <
          kEndsEarly * static_cast<double>(LowerMedian(std::move(others)))) {
        whole.pop_back();
      }
    }
    return whole;
  }

  // What the GPU does in most of such a unit was launched before the recording.
  bool IsOfHead(std::size_t unit) const {
    const TimeSpan& span = out_.units[unit];
    return 2 * (std::min(span.end, head()) - span.start) > span.end - span.start;
  }

  void KeepRegime(std::vector<std::size_t> whole) {
    if (!out_.by_completion && out_.head.any) {
      const auto own = std::ranges::find_if(whole, [&](std::size_t i) { return !IsOfHead(i); });
      if (own != whole.end()) whole.erase(whole.begin(), own);
      EndWithHost(whole);
    }
    std::vector<std::int64_t> durations;
    for (const std::size_t i : whole)
      durations.push_back(std::max<std::int64_t>(1, DurationOf(i)));
    out_.regimes = FindRegimes(durations);
    // Of few groups none is odd: they are alike by what they do, and each is the mean of several.
    constexpr std::size_t kFewGroups = 4;
    if (out_.group.size > 1 && whole.size() <= kFewGroups) {
      out_.regimes = {};
      for (std::size_t i = 0; i < whole.size(); ++i)
        out_.regimes.kept.push_back(i);
    }
    for (std::size_t& i : out_.regimes.kept)
      i = whole[i];
    if (out_.regimes.change) out_.regimes.change->at = whole[out_.regimes.change->at];
    std::vector<std::size_t>& kept = out_.regimes.kept;
    // Units that begin while the GPU is at work of before, if others remain.
    constexpr std::size_t kOthers = 3;
    if (!out_.by_completion && out_.regimes.cycle == 1 && kept.size() >= kOthers) {
      std::vector<std::int64_t> of_kept;
      for (const std::size_t i : kept)
        of_kept.push_back(DurationOf(i));
      const auto slack =
          static_cast<std::int64_t>(kLagLeast * static_cast<double>(LowerMedian(of_kept)));
      std::vector<std::size_t> own;
      for (const std::size_t i : kept) {
        if (out_.units[i].start >= head() - slack) own.push_back(i);
      }
      if (!own.empty()) kept = std::move(own);
    }
    KeepPeriods();
    TimeSet base;
    TimeSet host;
    for (const std::size_t i : kept) {
      base.push_back(out_.units[i]);
      host.push_back(host_[i]);
    }
    out_.base = Union(std::move(base));
    out_.host_base = Union(std::move(host));
    out_.count = static_cast<std::int64_t>(kept.size());
    ColdUnits();
  }

  // Between boundaries of the host, each unit begins with what the GPU still does of the one
  // before. The base is whole periods: of a first unit that found the GPU done, the others are
  // kept; and the last one ends with the host, or what remains of a unit is in the base twice.
  void KeepPeriods() {
    constexpr std::size_t kOthers = 3;
    std::vector<std::size_t>& kept = out_.regimes.kept;
    const std::size_t last = out_.units.size() - 1;
    if (out_.by_completion || to_the_end_ || out_.regimes.cycle > 1 || kept.size() <= kOthers ||
        kept.back() != last || !CarriesOver(last)) {
      return;
    }
    const auto carrying = static_cast<std::size_t>(
        std::ranges::count_if(kept, [&](std::size_t i) { return CarriesOver(i); }));
    if (2 * carrying <= kept.size()) return;
    if (kept.front() == 0) kept.erase(kept.begin());
    EndLastWithHost();
  }
  void EndLastWithHost() {
    out_.units.back().end = std::max(out_.units.back().start, host_.back().end);
  }

  // Behind a unit that is left out and that the first one finds the GPU at work of, the last one
  // ends with the host, too.
  void EndWithHost(const std::vector<std::size_t>& whole) {
    const std::size_t last = out_.units.size() - 1;
    const bool carries = whole.front() > 0 && !to_the_end_ && whole.back() == last &&
                         CarriesOver(whole.front() - 1) && CarriesOver(last);
    if (carries) EndLastWithHost();
  }

  // The GPU is at work of the unit when the host is done with it.
  bool CarriesOver(std::size_t unit) const {
    const TimeSpan span = host_[unit];
    return static_cast<double>(LaunchesIn(span).completion.value_or(span.end) - span.end) >
           kLagLeast * static_cast<double>(span.end - span.start);
  }

  // What the units before the kept ones take above these.
  void ColdUnits() {
    const std::vector<std::size_t>& kept = out_.regimes.kept;
    const std::int64_t unit = std::max<std::int64_t>(1, Length(out_.base) / out_.count);
    const auto cold = [&](std::size_t i) {
      return static_cast<double>(DurationOf(i)) > kColdExcess * static_cast<double>(unit);
    };
    if (kept.front() > 0 && cold(0) && !out_.head.any)
      out_.one_time_ns += std::max<std::int64_t>(0, out_.units[0].start - facts_.recording.start);
    for (std::size_t i = 0; i < kept.front(); ++i) {
      if (cold(i) || long_calls_meter_.In(out_.units[i]) > 0)
        out_.one_time_ns += std::max({std::int64_t{0}, DurationOf(i) - unit, OneTimeIn(i)});
    }
  }

  void SinglePass(std::size_t unit) {
    const TimeSpan pass = out_.units[unit];
    const TimeSet calls = Within(out_.first_calls, pass);
    TimeSet cut = Subtract(calls, facts_.busy);
    // The whole of an idle gap that such calls fill.
    const TimeMeter filled(cut);
    TimeSet gaps;
    for (const TimeSpan& gap : Subtract(TimeSet{pass}, facts_.busy)) {
      const std::int64_t in = filled.In(gap);
      if (in > kOneTimeLeastNs &&
          static_cast<double>(in) > kFilledByCalls * static_cast<double>(gap.end - gap.start)) {
        gaps.push_back(gap);
      }
    }
    cut = Join(std::move(cut), gaps);
    if (Length(calls) > kColdProcessNs) cut = Join(std::move(cut), OpFreeGaps(pass));
    AddFirstBlock(pass, &cut);
    out_.one_time = cut;
    out_.one_time_ns = Length(cut);
    const auto length = static_cast<double>(pass.end - pass.start);
    out_.base = Union(TimeSet{pass});
    out_.host_base = host_.empty() ? Union(TimeSet{{facts_.without_steps().start, pass.end}})
                                   : Union(TimeSet{host_[unit]});
    out_.warm_estimated = static_cast<double>(out_.one_time_ns) > kWarmFrom * length;
    out_.one_time_in_base = !out_.warm_estimated && out_.one_time_ns > 0;
    if (!out_.warm_estimated) return;
    out_.base = Subtract(out_.base, cut);
    out_.host_base = Subtract(out_.host_base, cut);
  }

  // Of a cold process: long stretches in which its thread is in no call and no frame, and the GPU
  // idles.
  struct OpFree {
    const trace::EventStore& events;
    TimeSet found;
    std::int64_t now = trace::kAbsent;
    void Open(EventIndex, std::int64_t) {}
    void Close(EventIndex, std::int64_t) {}
    void Piece(EventIndex innermost, std::int64_t start, std::int64_t end) {
      if (now != trace::kAbsent && start - now > kOpFreeLeastNs) found.push_back({now, start});
      now = end;
      const trace::EventKind kind = events[innermost].kind;
      const bool scope =
          kind == trace::EventKind::kCpuOp || kind == trace::EventKind::kUserAnnotation;
      if (scope && end - start > kOpFreeLeastNs) found.push_back({start, end});
    }
  };
  TimeSet OpFreeGaps(TimeSpan pass) const {
    OpFree visitor{facts_.events, {}};
    WalkThread(facts_.events, facts_.tree, facts_.on_thread, &visitor);
    TimeSet out;
    for (const TimeSpan& gap : visitor.found) {
      const TimeSet idle = Subtract(Within(TimeSet{gap}, pass), facts_.busy);
      if (static_cast<double>(Length(idle)) >
          kIdleNearlyAll * static_cast<double>(gap.end - gap.start)) {
        out.insert(out.end(), idle.begin(), idle.end());
      }
    }
    return Union(std::move(out));
  }

  // The first block's idle time above the middle of the later ones is one-time.
  void AddFirstBlock(TimeSpan pass, TimeSet* cut) const {
    const std::vector<TimeSpan> blocks = FindBlocks(facts_);
    if (blocks.empty()) return;
    const auto idle = [&](TimeSpan span) { return span.end - span.start - busy_.In(span); };
    std::vector<std::int64_t> later;
    std::int64_t sum = 0;
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      later.push_back(idle(blocks[i]));
      sum += later.back();
    }
    const std::int64_t excess = idle(blocks.front()) - LowerMedian(later);
    if (excess <= kOneTimeLeastNs ||
        static_cast<double>(excess) <=
            kFirstBlockIdle * static_cast<double>(sum) / static_cast<double>(later.size())) {
      return;
    }
    const TimeSet gaps = Subtract(Within(TimeSet{pass}, blocks.front()), facts_.busy);
    std::int64_t wanted = excess - Length(Intersect(gaps, *cut));
    TimeSet rest = Subtract(gaps, *cut);
    std::stable_sort(rest.begin(), rest.end(), [](const TimeSpan& a, const TimeSpan& b) {
      return a.end - a.start > b.end - b.start;
    });
    TimeSet more;
    for (const TimeSpan& gap : rest) {
      if (wanted <= 0) break;
      const std::int64_t length = std::min(wanted, gap.end - gap.start);
      more.push_back({gap.start, gap.start + length});
      wanted -= length;
    }
    *cut = Join(std::move(*cut), more);
  }

  void AddUp() {
    const std::int64_t all = facts_.recording.end - facts_.recording.start;
    if (out_.head.any)
      out_.unrecorded_ns = std::clamp<std::int64_t>(head() - facts_.recording.start, 0, all);
    // Units that were not recorded.
    for (const StepHole& hole : out_.holes)
      out_.unrecorded_ns += hole.span.end - hole.span.start;
    const std::int64_t one_time = out_.one_time_in_base ? 0 : out_.one_time_ns;
    out_.left_out_ns =
        std::max<std::int64_t>(0, all - Length(out_.base) - one_time - out_.unrecorded_ns);
  }

  static TimeSet LongOf(TimeSet calls) {
    std::erase_if(calls,
                  [](const TimeSpan& one) { return one.end - one.start <= kOneTimeLeastNs; });
    return Union(std::move(calls));
  }

  const FrameFacts& facts_;
  const GroupUnits grouping_;
  TimeMeter busy_;
  std::vector<TimeSpan> calls_;  // one-time ones, until the constructor is done
  const TimeSet idle_calls_;     // their time with an idle GPU
  const TimeSet long_calls_;     // of those that take long
  TimeMeter idle_calls_meter_;
  TimeMeter long_calls_meter_;
  BaseOfTime out_;
  std::vector<std::int64_t> work_ns_;  // by unit
  std::vector<TimeSpan> host_;         // by unit: the host's time for it
  bool to_the_end_ = false;
  std::vector<std::pair<std::int64_t, std::int64_t>> main_;  // launch, start
  std::vector<bool> launching_;                              // by track
};

}  // namespace

std::uint64_t BaseOfTime::recorded_parts() const {
  return group.held.empty()
             ? host_units.size()
             : std::accumulate(group.held.begin(), group.held.end(), std::uint64_t{0});
}

double BaseOfTime::recorded_units() const {
  return static_cast<double>(recorded_parts()) / static_cast<double>(group.size);
}

BaseOfTime FindBaseOfTime(const FrameFacts& facts, UnrecordedHead head, GroupUnits grouping) {
  return BaseFinder(facts, std::move(head), grouping).Run();
}

}  // namespace jarvis::analysis
