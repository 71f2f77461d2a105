#include "analysis/ranks/rank_facts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/attribution/gpu_timeline.h"
#include "analysis/host/runtime_calls.h"
#include "base/interval.h"
#include "base/text.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::EventStore;
using trace::kNoEvent;

// Between works that are launched in time the GPU pauses for no longer than this.
constexpr std::int64_t kGpuPauseNs = 15'000;
// Work that starts so soon after its launch waited for the host, not in a queue.
constexpr std::int64_t kDirectStartNs = 100'000;
// A call that waited for the GPU returns so soon after the GPU's work, or within this part of its
// length: giving memory back takes a while by itself.
constexpr std::int64_t kReturnLagNs = 120'000;
constexpr std::int64_t kReturnLagPart = 100;
constexpr std::int64_t kClockLagNs = 5'000;

// One end of a host event.
struct Edge {
  std::int64_t at;
  StringId name;
  EventIndex event;
};

class FactFinder {
 public:
  FactFinder(const EventStore& events, const std::vector<EventIndex>& gpu,
             const std::vector<EventIndex>& comm, const std::vector<bool>& host,
             const tree::CorrelationIndex& launches)
      : events_(events), gpu_(gpu), comm_(comm), host_(host), launch_index_(launches) {}

  RankFacts Run() {
    facts_.names.emplace_back();
    FindGpuTimes();
    FindLaunches();
    FindArrivals();
    FindHostPieces();
    return std::move(facts_);
  }

 private:
  std::int64_t Start(EventIndex e) const { return events_[e].ts_ns; }
  std::int64_t End(EventIndex e) const { return events_[e].end_ns(); }

  void FindGpuTimes() {
    is_comm_.insert(comm_.begin(), comm_.end());
    std::vector<Interval<std::int64_t>> sets[3];
    for (const EventIndex e : gpu_) {
      const Interval<std::int64_t> at{Start(e), End(e)};
      const WorkClass work = is_comm_.contains(e) ? WorkClass::kCommunication
                                                  : ClassOf(events_[e].kind, events_.name(e));
      sets[static_cast<std::size_t>(work)].push_back(at);
      ends_.push_back(at.end);
    }
    std::sort(ends_.begin(), ends_.end());
    if (gpu_.empty()) return;
    const auto compute = Union(std::move(sets[0]));
    const auto communication = Union(std::move(sets[1]));
    const auto copies = Union(std::move(sets[2]));
    std::vector<Interval<std::int64_t>> own = compute;
    own.insert(own.end(), copies.begin(), copies.end());
    own_work_ = Union(std::move(own));
    std::vector<Interval<std::int64_t>> all = own_work_;
    all.insert(all.end(), communication.begin(), communication.end());
    const auto busy = Union(std::move(all));
    for (const auto& piece : busy) {
      if (!unpaused_.empty() && piece.start - unpaused_.back().end <= kGpuPauseNs) {
        unpaused_.back().end = piece.end;
      } else {
        unpaused_.push_back(piece);
      }
    }
    facts_.gpu_start_ns = busy.front().start;
    facts_.gpu_end_ns = busy.back().end;
    own_before_.reserve(own_work_.size() + 1);
    own_before_.push_back(0);
    for (const auto& piece : own_work_)
      own_before_.push_back(own_before_.back() + piece.end - piece.start);
  }

  // Of own_work_, before an instant.
  std::int64_t OwnWorkBefore(std::int64_t at) const {
    const auto next = std::partition_point(own_work_.begin(), own_work_.end(),
                                           [&](const auto& piece) { return piece.start < at; });
    if (next == own_work_.begin()) return 0;
    const auto last = static_cast<std::size_t>(next - own_work_.begin()) - 1;
    const auto& piece = own_work_[last];
    return own_before_[last] + std::min(piece.end, at) - piece.start;
  }
  std::int64_t OwnWork(std::int64_t from, std::int64_t to) const {
    return to > from ? OwnWorkBefore(to) - OwnWorkBefore(from) : 0;
  }

  void FindLaunches() {
    by_start_ = gpu_;
    std::stable_sort(by_start_.begin(), by_start_.end(),
                     [&](EventIndex a, EventIndex b) { return Start(a) < Start(b); });
    launch_of_.reserve(by_start_.size());
    for (const EventIndex e : by_start_) {
      EventIndex call = launch_index_.Find(e);
      if (call != kNoEvent && !host_[events_[call].track]) call = kNoEvent;
      launch_of_.push_back(call);
      if (call == kNoEvent) continue;
      ++facts_.launches;
      launching_[events_[call].track] = true;
    }
  }

  std::optional<std::int64_t> LaunchOf(std::size_t place) const {
    const EventIndex call = launch_of_[place];
    return call == kNoEvent ? std::nullopt : std::optional(Start(call));
  }

  // Whether the work lay in a queue when the GPU came to it. A launch may take long by itself, as
  // where its thread loses the processor within it: its work waited for that, not in a queue.
  bool WasQueued(std::size_t place) const {
    const EventIndex call = launch_of_[place];
    return call != kNoEvent && Start(by_start_[place]) - End(call) > kDirectStartNs;
  }

  // The place in by_start_ of what began the stretch of GPU work without a pause that `at` is in.
  std::size_t StretchBegin(std::int64_t at) const {
    const auto next = std::partition_point(unpaused_.begin(), unpaused_.end(),
                                           [&](const auto& one) { return one.start <= at; });
    const std::int64_t start = next == unpaused_.begin() ? at : std::prev(next)->start;
    const auto first = std::partition_point(by_start_.begin(), by_start_.end(),
                                            [&](EventIndex e) { return Start(e) < start; });
    return static_cast<std::size_t>(first - by_start_.begin());
  }

  void FindArrivals() {
    facts_.arrivals.resize(comm_.size());
    std::unordered_map<EventIndex, std::size_t> place_of;  // in by_start_
    for (std::size_t i = 0; i < by_start_.size(); ++i)
      place_of.emplace(by_start_[i], i);
    std::vector<std::size_t> order(comm_.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return Start(comm_[a]) < Start(comm_[b]);
    });
    std::map<std::int64_t, EventIndex> previous;  // by stream
    EventIndex last = kNoEvent;
    for (const std::size_t i : order) {
      const EventIndex e = comm_[i];
      CollectiveArrival& made = facts_.arrivals[i];
      const auto found = place_of.find(e);
      if (found == place_of.end()) continue;  // left out
      EventIndex& before = previous.try_emplace(events_.args_of(e).stream, kNoEvent).first->second;
      const std::int64_t began = before == kNoEvent ? *facts_.gpu_start_ns : Start(before);
      const std::int64_t ended = before == kNoEvent ? *facts_.gpu_start_ns : End(before);
      Arrive(found->second, Start(e), before != kNoEvent, began, ended, &made);
      made.work = WorkOf(found->second, ended);
      before = e;
      if (last == kNoEvent || End(e) > End(last)) last = e;
    }
    if (last == kNoEvent || End(last) >= *facts_.gpu_end_ns) return;
    // What ends later is other work; the last of it decides.
    std::size_t tail = by_start_.size() - 1;
    while (tail > 0 && End(by_start_[tail]) <= End(last))
      --tail;
    Arrive(tail, *facts_.gpu_end_ns, true, Start(last), End(last), &facts_.tail);
  }

  // What ran longest, by name, from an instant on until the work at a place started. Stretches of
  // many streams overlap: a trace in which that takes long says less of it.
  std::vector<WorkBefore> WorkOf(std::size_t place, std::int64_t from) {
    constexpr std::size_t kVisitsPerWork = 8;
    constexpr std::size_t kVisitsMin = 1'000'000;
    const std::int64_t to = Start(by_start_[place]);
    const auto first = std::partition_point(by_start_.begin(), by_start_.end(),
                                            [&](EventIndex e) { return Start(e) < from; });
    auto at = static_cast<std::size_t>(first - by_start_.begin());
    if (at >= place) return {};
    work_visits_ += place - at;
    if (work_visits_ > kVisitsPerWork * by_start_.size() + kVisitsMin) return {};
    std::map<StringId, std::int64_t> by_name;
    for (; at < place; ++at) {
      const EventIndex e = by_start_[at];
      if (!is_comm_.contains(e)) by_name[events_[e].name] += std::min(End(e), to) - Start(e);
    }
    std::vector<std::pair<std::int64_t, StringId>> longest;
    for (const auto& [name, ns] : by_name)
      longest.emplace_back(-ns, name);
    std::sort(longest.begin(), longest.end());
    std::vector<WorkBefore> work;
    for (const auto& [ns, name] : longest) {
      if (work.size() == kWorkBeforeMax || ns == 0) break;
      const bool known = name_index_.contains(name);
      if (!known && work_names_ == kWorkNamesMax) continue;
      if (!known) ++work_names_;
      work.push_back({NameIndex(name), std::min(-ns, kFactMaxNs)});
    }
    return work;
  }

  // `began`, `ended`: of the collective before, or the GPU's beginning.
  void Arrive(std::size_t place, std::int64_t at, bool has_before, std::int64_t began,
              std::int64_t ended, CollectiveArrival* made) const {
    made->busy_ns = std::min(OwnWork(ended, at), kFactMaxNs);
    made->compute_ns = std::min(OwnWork(began, at), kFactMaxNs);
    made->launch_ns = LaunchOf(place);
    const std::int64_t start = Start(by_start_[place]);
    if (made->launch_ns && start - *made->launch_ns <= kDirectStartNs) {
      made->anchor_ns = made->launch_ns;
      made->after_anchor_ns = std::clamp(at - *made->launch_ns, -kFactMaxNs, kFactMaxNs);
      return;
    }
    const std::size_t first = StretchBegin(start);
    if (has_before && Start(by_start_[first]) <= ended) return;  // the GPU had no pause
    const auto launch = LaunchOf(first);
    // What lay in the queue when the GPU came to it hung on the GPU, however short the pause.
    if (!launch || WasQueued(first)) return;
    made->anchor_ns = launch;
    made->after_anchor_ns = std::clamp(at - *launch, -kFactMaxNs, kFactMaxNs);
  }

  std::uint32_t NameIndex(StringId id) {
    const auto [found, added] =
        name_index_.try_emplace(id, static_cast<std::uint32_t>(facts_.names.size()));
    if (added) facts_.names.emplace_back(events_.strings[id]);
    return found->second;
  }

  bool EndsWithGpu(std::int64_t at, std::int64_t dur) const {
    const std::int64_t lag = std::max(kReturnLagNs, dur / kReturnLagPart);
    const auto found = std::lower_bound(ends_.begin(), ends_.end(), at - lag);
    return found != ends_.end() && *found <= at + kClockLagNs;
  }

  // Whether a call waits for the GPU if that is when it ends.
  static bool MayWait(std::string_view name, std::int64_t dur) {
    switch (RuntimeKindOf(name)) {
      case RuntimeKind::kDeviceSync:
      case RuntimeKind::kStreamSync:
      case RuntimeKind::kEventSync:
      case RuntimeKind::kFree:
      case RuntimeKind::kAllocate: return true;
      case RuntimeKind::kCopy: return IsSyncCall(name) || dur >= kWaitMinNs;
      default: return false;
    }
  }

  HostPlace PlaceOf(EventIndex e) const {
    if (e == kNoEvent) return HostPlace::kEmpty;
    if (events_[e].kind == EventKind::kCpuOp) return HostPlace::kOp;
    if (!trace::IsLaunchCall(events_[e].kind)) return HostPlace::kEmpty;
    const RuntimeKind kind = RuntimeKindOf(events_.name(e));
    return kind == RuntimeKind::kFree || kind == RuntimeKind::kAllocate ? HostPlace::kMemory
                                                                        : HostPlace::kCall;
  }

  void FindWaits(const std::vector<EventIndex>& host) {
    std::vector<EventIndex> found;
    for (const EventIndex e : host) {
      const trace::Event& event = events_[e];
      if (event.dur_ns < kWaitMinNs || !trace::IsLaunchCall(event.kind)) continue;
      if (MayWait(events_.name(e), event.dur_ns) && EndsWithGpu(event.end_ns(), event.dur_ns))
        found.push_back(e);
    }
    if (found.size() > kPiecesMax) {
      std::sort(found.begin(), found.end(), [&](EventIndex a, EventIndex b) {
        return std::pair(-events_[a].dur_ns, a) < std::pair(-events_[b].dur_ns, b);
      });
      facts_.left_out += found.size() - kPiecesMax;
      found.resize(kPiecesMax);
    }
    std::sort(found.begin(), found.end(), [&](EventIndex a, EventIndex b) {
      return std::pair(Start(a), a) < std::pair(Start(b), b);
    });
    std::vector<Interval<std::int64_t>> waiting;
    for (const EventIndex e : found) {
      facts_.waits.push_back(
          {Start(e), std::min(events_[e].dur_ns, kFactMaxNs), NameIndex(events_[e].name)});
      waiting.push_back({Start(e), End(e)});
    }
    waiting_ = Union(std::move(waiting));
    facts_.wait_ns = Length(waiting_);
  }

  // Whether some thread waited for the GPU at that instant.
  bool Waits(std::int64_t at) const { return Contains(waiting_, at); }

  // Which events have begun and not ended; each is met twice.
  class OpenCalls {
   public:
    explicit OpenCalls(std::size_t events) : met_(events, 0) {}
    // Whether this is the event's beginning.
    bool Begin(EventIndex e) { return ++met_[e] == 1; }
    // The latest that is open; what has ended leaves the stack.
    EventIndex Last(std::vector<EventIndex>* stack) const {
      while (!stack->empty() && met_[stack->back()] > 1)
        stack->pop_back();
      return stack->empty() ? kNoEvent : stack->back();
    }

   private:
    std::vector<std::uint8_t> met_;
  };

  // Every stretch between two edges of the threads that launch, with what is open on the thread
  // that acts next.
  struct Stretch {
    std::int64_t ts;
    std::int64_t dur;
    StringId before;
    StringId after;
    EventIndex inside;  // kNoEvent: nothing
  };

  std::vector<EventIndex> HostEvents() {
    std::vector<EventIndex> host;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const trace::Event& event = events_[e];
      if (!tree::IsHost(event.kind) || (event.flags & trace::kLeftOut) != 0) continue;
      if (!host_[event.track]) continue;
      const std::int64_t start = event.ts_ns;
      const std::int64_t end = event.end_ns();
      facts_.host_start_ns = std::min(facts_.host_start_ns.value_or(start), start);
      facts_.host_end_ns = std::max(facts_.host_end_ns.value_or(end), end);
      if (!launching_.contains(event.track)) continue;
      host.push_back(e);
      const bool names = event.kind == EventKind::kUserAnnotation &&
                         event.dur_ns >= kNamedPieceMinNs &&
                         !events_.name(e).starts_with("ProfilerStep#");
      if (names) annotations_.push_back(e);
    }
    return host;
  }

  std::vector<Edge> EdgesOf(const std::vector<EventIndex>& host) const {
    std::vector<Edge> edges;
    edges.reserve(2 * host.size());
    for (const EventIndex e : host) {
      edges.push_back({Start(e), events_[e].name, e});
      edges.push_back({End(e), events_[e].name, e});
    }
    // An event that ends at an instant lies before one that starts at it.
    std::stable_sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
      return a.at != b.at ? a.at < b.at : IsEnd(a) > IsEnd(b);
    });
    return edges;
  }
  bool IsEnd(const Edge& edge) const {
    return edge.at == End(edge.event) && edge.at != Start(edge.event);
  }

  std::vector<Stretch> FindStretches() {
    const std::vector<EventIndex> host = HostEvents();
    FindWaits(host);
    const std::vector<Edge> edges = EdgesOf(host);
    OpenCalls open(events_.size());
    std::unordered_map<std::uint32_t, std::vector<EventIndex>> by_track;  // ops and calls
    std::vector<Stretch> stretches;
    stretches.reserve(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = edges[i];
      const EventKind kind = events_[edge.event].kind;
      std::vector<EventIndex>& stack = by_track[events_[edge.event].track];
      if (i > 0 && edge.at > edges[i - 1].at) {
        stretches.push_back({edges[i - 1].at, edge.at - edges[i - 1].at, edges[i - 1].name,
                             edge.name, open.Last(&stack)});
      }
      if (kind == EventKind::kUserAnnotation || kind == EventKind::kPythonFunction) continue;
      if (open.Begin(edge.event)) stack.push_back(edge.event);
    }
    return stretches;
  }

  // A long stretch with the usual of its place and how often that was passed.
  struct Long {
    std::size_t stretch;
    std::int64_t usual;
    std::int64_t times;
  };

  // What a stretch is in, behind and before.
  struct Place {
    StringId inside;
    StringId before;
    StringId after;
    bool operator==(const Place&) const = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return (std::size_t{place.inside} * 0x9E3779B97F4A7C15u + place.before) *
                 0x9E3779B97F4A7C15u +
             place.after;
    }
  };

  StringId InsideOf(const Stretch& s) const {
    return s.inside == kNoEvent ? kNoString : events_[s.inside].name;
  }

  void FindHostPieces() {
    const std::vector<Stretch> stretches = FindStretches();
    // By place; then, over places of one op or call, its own usual.
    std::vector<Long> long_ones = LongOnes(stretches, [&](const Stretch& s) {
      return Place{InsideOf(s), s.before, s.after};
    });
    std::unordered_map<std::size_t, std::int64_t> usual_inside;
    for (const Long& one : LongOnes(stretches, [&](const Stretch& s) {
           return Place{InsideOf(s), kNoString, kNoString};
         }))
      usual_inside.emplace(one.stretch, one.usual);
    for (Long& one : long_ones) {
      if (one.times < kPlaceSeenMin) one.usual = usual_inside.at(one.stretch);
    }
    if (long_ones.size() > kPiecesMax) {
      std::sort(long_ones.begin(), long_ones.end(), [&](const Long& a, const Long& b) {
        return std::pair(-stretches[a.stretch].dur, a.stretch) <
               std::pair(-stretches[b.stretch].dur, b.stretch);
      });
      facts_.left_out += long_ones.size() - kPiecesMax;
      long_ones.resize(kPiecesMax);
    }
    std::sort(long_ones.begin(), long_ones.end(),
              [](const Long& a, const Long& b) { return a.stretch < b.stretch; });
    for (const Long& one : long_ones)
      AddPiece(stretches[one.stretch], one);
  }

  // Of the groups that have one, without sorting the others: most stretches are short.
  template <typename Key>
  std::vector<Long> LongOnes(const std::vector<Stretch>& stretches, const Key& key) const {
    struct Group {
      std::vector<std::size_t> long_ones;
      std::vector<std::int64_t> durations;
    };
    std::unordered_map<Place, Group, PlaceHash> groups;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      if (stretches[i].dur >= kPieceMinNs && !Waits(stretches[i].ts))
        groups[key(stretches[i])].long_ones.push_back(i);
    }
    for (const Stretch& stretch : stretches) {
      const auto group = groups.find(key(stretch));
      if (group != groups.end()) group->second.durations.push_back(stretch.dur);
    }
    std::vector<Long> found;
    for (auto& [place, group] : groups) {
      std::vector<std::int64_t>& durations = group.durations;
      const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
      std::nth_element(durations.begin(), middle, durations.end());
      for (const std::size_t one : group.long_ones)
        found.push_back({one, *middle, static_cast<std::int64_t>(durations.size())});
    }
    return found;
  }

  void AddPiece(const Stretch& stretch, const Long& found) {
    RankHostPiece piece;
    piece.ts_ns = stretch.ts;
    piece.dur_ns = std::min(stretch.dur, kFactMaxNs);
    piece.usual_ns = std::min(found.usual, piece.dur_ns);
    piece.times = found.times;
    piece.place = PlaceOf(stretch.inside);
    piece.inside = piece.place == HostPlace::kEmpty ? 0 : NameIndex(events_[stretch.inside].name);
    piece.before = NameIndex(stretch.before);
    piece.after = NameIndex(stretch.after);
    if (const EventIndex around = AnnotationAround(stretch); around != kNoEvent)
      piece.annotation = NameIndex(events_[around].name);
    facts_.pieces.push_back(piece);
  }

  // The innermost annotation of any launching thread that holds all of a long stretch.
  EventIndex AnnotationAround(const Stretch& stretch) const {
    EventIndex found = kNoEvent;
    if (stretch.dur < kNamedPieceMinNs) return found;
    for (const EventIndex e : annotations_) {
      if (Start(e) > stretch.ts || End(e) < stretch.ts + stretch.dur) continue;
      if (found == kNoEvent || events_[e].dur_ns < events_[found].dur_ns) found = e;
    }
    return found;
  }

  const EventStore& events_;
  const std::vector<EventIndex>& gpu_;
  const std::vector<EventIndex>& comm_;
  const std::vector<bool>& host_;
  const tree::CorrelationIndex& launch_index_;
  RankFacts facts_;
  IntervalSet<std::int64_t> own_work_;  // all but communication
  std::vector<std::int64_t> own_before_;
  IntervalSet<std::int64_t> unpaused_;  // all GPU work, without its short gaps
  IntervalSet<std::int64_t> waiting_;
  std::vector<std::int64_t> ends_;       // of GPU work, ascending
  std::vector<EventIndex> annotations_;  // long enough for a piece that is named by them
  std::unordered_set<EventIndex> is_comm_;
  std::size_t work_visits_ = 0;
  std::size_t work_names_ = 0;
  std::vector<EventIndex> by_start_;
  std::vector<EventIndex> launch_of_;                  // by place in by_start_
  std::unordered_map<std::uint32_t, bool> launching_;  // tracks
  std::unordered_map<StringId, std::uint32_t> name_index_;
};

}  // namespace

RankFacts FindRankFacts(const EventStore& events, const std::vector<EventIndex>& gpu,
                        const std::vector<EventIndex>& comm, const std::vector<bool>& host,
                        const tree::CorrelationIndex& launches) {
  return FactFinder(events, gpu, comm, host, launches).Run();
}

}  // namespace jarvis::analysis
