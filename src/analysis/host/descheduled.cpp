#include "analysis/host/descheduled.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/host/host_names.h"
#include "analysis/host/runtime_calls.h"
#include "analysis/host/silent_places.h"
#include "base/median.h"
#include "base/run_sort.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

constexpr std::size_t kPiecesMin = 8;
constexpr std::size_t kNamesMin = 5;
constexpr double kOverUsualSelf = 30;           // a piece is that many times the usual call
constexpr double kLongShareMax = 0.1;           // of the calls of a name
constexpr std::uint64_t kCallsMin = 4;          // of a name, to know what is usual
constexpr std::size_t kPlaceVisitsMin = 10;     // of a place: one long visit in so many is seldom
constexpr double kOfOneNameMax = 0.4;           // of the pieces: else it is that call which is slow
constexpr std::int64_t kTickWidthNs = 100'000;  // instants so close are at one tick
constexpr double kSharePercentMin = 2;          // of the host's time: less is noise of any machine
constexpr std::int64_t kBetweenLeastNs = 1'000'000;  // or as long as those inside calls
constexpr double kBetweenCalls = 1.5;                // times the longest piece inside a call
constexpr std::int64_t kActiveMin = 3;               // events of other threads

class FreezeFinder {
 public:
  FreezeFinder(const trace::EventStore& events, const tree::CallTree& tree,
               const HostPieces& pieces, FirstCalls* first_calls)
      : events_(events), tree_(tree), pieces_(pieces), first_calls_(*first_calls) {}

  Descheduled Run() {
    Starts();
    std::vector<SilentPiece> inside = InsideCalls();
    std::unordered_map<StringId, std::size_t> names;
    std::size_t most = 0;
    std::int64_t longest = 0;
    std::size_t evidence = 0;
    for (const SilentPiece& piece : inside) {
      longest = std::max(longest, piece.ns());
      if (IsOfPython(piece)) continue;
      ++evidence;
      most = std::max(most, ++names[events_[piece.owner].name]);
    }
    if (evidence < kPiecesMin || names.size() < kNamesMin ||
        static_cast<double>(most) > kOfOneNameMax * static_cast<double>(evidence))
      return {};
    out_.names = names.size();
    out_.pieces = std::move(inside);
    AtPlaces(longest);
    BetweenCalls(longest);
    Sum();
    if (out_.share_percent < kSharePercentMin) return {};
    out_.unsure = InComputingOps(longest);
    TakeFromFirstCalls();
    out_.tick = Tick();
    return std::move(out_);
  }

 private:
  // When host events begin, by process.
  void Starts() {
    for (const EventIndex e : tree_.preorder()) {
      starts_[ProcessOf(events_[e].track)].push_back(events_[e].ts_ns);
      const EventIndex op = tree_.parent(e);
      if (trace::IsLaunchCall(events_[e].kind) && op != kNoEvent && !tree_.GpuOf(e).empty())
        launching_.insert(events_[op].name);
    }
    for (auto& [process, starts] : starts_)
      RunSort(starts, std::less<>());
  }
  std::string_view ProcessOf(std::uint32_t track) const { return events_.tracks[track].pid; }

  // Its own thread is silent: what begins inside is of other threads.
  bool OthersRun(const SilentPiece& piece) const {
    const std::vector<std::int64_t>& starts = starts_.at(ProcessOf(piece.track));
    const auto from = std::upper_bound(starts.begin(), starts.end(), piece.begin_ns);
    const auto to = std::lower_bound(from, starts.end(), piece.end_ns);
    return to - from >= kActiveMin;
  }

  bool IsFirstCall(const SilentPiece& piece) const {
    return first_calls_.MsWithin(piece.begin_ns, piece.end_ns) * 1e6 >
           static_cast<double>(piece.ns()) / 2;
  }

  // An op that launches kernels elsewhere and here none, or one of a loader, computes on the
  // CPU: it takes as long as its data are large, and no other call of its name says how long that
  // is.
  bool ComputesHere(EventIndex op) const {
    if (events_[op].kind != EventKind::kCpuOp || !tree_.GpuBelow(op).empty()) return false;
    if (launching_.contains(events_[op].name)) return true;
    for (EventIndex e = tree_.parent(op); e != kNoEvent; e = tree_.parent(e)) {
      if (IsLoaderName(events_.name(e))) return true;
    }
    return false;
  }

  // The call may wait for the GPU, or for room in its queue.
  static bool MayWait(std::string_view name) {
    switch (RuntimeKindOf(name)) {
      case RuntimeKind::kDeviceSync:
      case RuntimeKind::kStreamSync:
      case RuntimeKind::kEventSync:
      case RuntimeKind::kCopy:
      case RuntimeKind::kFree:
      case RuntimeKind::kAllocate:
      case RuntimeKind::kSetUp:
      case RuntimeKind::kGraphLaunch: return name.find("Memset") == std::string_view::npos;
      default: return false;
    }
  }

  bool IsUnusual(const SilentPiece& piece) const { return IsLong(piece) && !IsOtherwise(piece); }
  // For a call of that name.
  bool IsLong(const SilentPiece& piece) const {
    if (!IsInCall(piece)) return false;
    const UsualCall usual = pieces_.UsualOf(events_[piece.owner].name);
    if (usual.count < kCallsMin) return false;
    return static_cast<double>(piece.ns()) >= kOverUsualSelf * usual.self_ns;
  }
  bool IsInCall(const SilentPiece& piece) const {
    return piece.ns() >= kDescheduledMinNs && piece.owner != kNoEvent &&
           events_[piece.owner].kind != EventKind::kUserAnnotation;
  }
  bool IsOtherwise(const SilentPiece& piece) const {
    const bool call = trace::IsLaunchCall(events_[piece.owner].kind);
    if (call && MayWait(events_.name(piece.owner))) return true;
    return ComputesHere(piece.owner) || IsFirstCall(piece) || OthersRun(piece);
  }

  // Python alone may stand for other reasons (host_stops.h): it is no evidence, and counts where
  // there is some.
  bool IsOfPython(const SilentPiece& piece) const {
    return events_[piece.owner].kind == EventKind::kPythonFunction;
  }

  std::vector<SilentPiece> InsideCalls() const {
    return SeldomOnes([&](const SilentPiece& piece) { return IsUnusual(piece); });
  }
  // Those of ops that compute here, no longer than those that are known.
  IntervalSet<std::int64_t> InComputingOps(std::int64_t longest) const {
    const double most = kBetweenCalls * static_cast<double>(longest);
    const std::vector<SilentPiece> seldom = SeldomOnes([&](const SilentPiece& piece) {
      return IsLong(piece) && static_cast<double>(piece.ns()) <= most &&
             ComputesHere(piece.owner) && !IsFirstCall(piece) && !OthersRun(piece);
    });
    IntervalSet<std::int64_t> intervals;
    for (const SilentPiece& piece : seldom)
      intervals.push_back({piece.begin_ns, piece.end_ns});
    return Subtract(Union(std::move(intervals)), out_.intervals);
  }

  // Pieces of calls of whose names few are that long.
  template <typename Fits>
  std::vector<SilentPiece> SeldomOnes(const Fits& fits) const {
    std::vector<SilentPiece> unusual;
    std::unordered_map<StringId, std::uint64_t> long_calls;
    for (const SilentPiece& piece : pieces_.pieces) {
      if (!fits(piece)) continue;
      unusual.push_back(piece);
      ++long_calls[events_[piece.owner].name];
    }
    std::erase_if(unusual, [&](const SilentPiece& piece) {
      const StringId name = events_[piece.owner].name;
      return static_cast<double>(long_calls[name]) >
             kLongShareMax * static_cast<double>(pieces_.UsualOf(name).count);
    });
    return unusual;
  }

  // Where there is evidence, what is long for its place counts as well: a call that does much by
  // itself is no thirtieth of a piece, but what it does between two others is.
  void AtPlaces(std::int64_t longest) {
    std::set<std::pair<std::int64_t, std::uint32_t>> known;
    for (const SilentPiece& piece : out_.pieces)
      known.emplace(piece.begin_ns, piece.track);
    std::unordered_set<StringId> asked;
    for (const SilentPiece& piece : pieces_.pieces) {
      if (IsInCall(piece) && !known.contains({piece.begin_ns, piece.track}))
        asked.insert(events_[piece.owner].name);
    }
    if (asked.empty()) return;
    struct Visits {
      std::vector<std::int64_t> lengths;
      std::vector<SilentPiece> long_ones;
    };
    std::map<SilentPlace, Visits> places;
    const auto fits = [&](EventIndex e, StringId) { return asked.contains(events_[e].name); };
    SilentPlaceWalk walk(events_, fits, [&](const SilentPiece& piece, const SilentPlace& place) {
      Visits& visits = places[place];
      visits.lengths.push_back(piece.ns());
      if (IsInCall(piece)) visits.long_ones.push_back(piece);
    });
    for (const auto& thread : ThreadsOf(events_, tree_))
      WalkThread(events_, tree_, thread, &walk);
    const double most = kBetweenCalls * static_cast<double>(longest);
    for (auto& [place, visits] : places) {
      const auto count = static_cast<double>(visits.lengths.size());
      if (visits.long_ones.empty() || visits.lengths.size() < kPlaceVisitsMin) continue;
      const double least = kOverUsualSelf * static_cast<double>(LowerMedian(visits.lengths));
      std::erase_if(visits.long_ones, [&](const SilentPiece& piece) {
        return static_cast<double>(piece.ns()) < least;
      });
      if (static_cast<double>(visits.long_ones.size()) > kLongShareMax * count) continue;
      for (const SilentPiece& piece : visits.long_ones) {
        const bool told = known.contains({piece.begin_ns, piece.track});
        if (!told && static_cast<double>(piece.ns()) <= most && !IsOtherwise(piece))
          out_.pieces.push_back(piece);
      }
    }
  }

  // Of those as long as the ones inside calls are: what begins between calls is known to be no work
  // by nothing else.
  void BetweenCalls(std::int64_t longest) {
    std::vector<std::int64_t> inside;
    for (const SilentPiece& piece : out_.pieces)
      inside.push_back(piece.ns());
    const std::int64_t total = std::accumulate(inside.begin(), inside.end(), std::int64_t{0});
    const std::int64_t least = std::min(LowerMedian(std::move(inside)), kBetweenLeastNs);
    std::vector<SilentPiece> between;
    std::int64_t between_total = 0;
    const double most = kBetweenCalls * static_cast<double>(longest);
    for (const SilentPiece& piece : pieces_.pieces) {
      const bool outside =
          piece.owner == kNoEvent || events_[piece.owner].kind == EventKind::kUserAnnotation;
      if (!outside || piece.ns() < least || static_cast<double>(piece.ns()) > most) continue;
      if (IsFirstCall(piece) || OthersRun(piece)) continue;
      between.push_back(piece);
      between_total += piece.ns();
    }
    // More than inside is work that nobody recorded.
    if (between_total <= total)
      out_.pieces.insert(out_.pieces.end(), between.begin(), between.end());
  }

  void TakeFromFirstCalls() {
    const auto by_chance = [](const FirstCall& call) {
      return (call.kind == FirstCallKind::kLaunch || call.kind == FirstCallKind::kOp) &&
             call.end_ns - call.begin_ns >= kDescheduledMinNs;
    };
    std::vector<FirstCall>& calls = first_calls_.calls;
    const auto taken = std::count_if(calls.begin(), calls.end(), by_chance);
    if (taken == 0 || static_cast<std::size_t>(taken) * 2 > out_.pieces.size()) return;
    for (const FirstCall& call : calls) {
      if (by_chance(call))
        out_.pieces.push_back({call.call, events_[call.call].track, call.begin_ns, call.end_ns});
    }
    std::erase_if(calls, by_chance);
    first_calls_.AddUp();
    Sum();
  }

  void Sum() {
    std::sort(out_.pieces.begin(), out_.pieces.end(),
              [](const SilentPiece& a, const SilentPiece& b) {
                return std::tuple(a.begin_ns, a.track) < std::tuple(b.begin_ns, b.track);
              });
    std::vector<Interval<std::int64_t>> intervals;
    std::int64_t shortest = out_.pieces.front().ns();
    std::int64_t longest = 0;
    for (const SilentPiece& piece : out_.pieces) {
      intervals.push_back({piece.begin_ns, piece.end_ns});
      shortest = std::min(shortest, piece.ns());
      longest = std::max(longest, piece.ns());
    }
    out_.intervals = Union(std::move(intervals));
    out_.total_ms = static_cast<double>(Length(out_.intervals)) / 1e6;
    out_.shortest_ms = static_cast<double>(shortest) / 1e6;
    out_.longest_ms = static_cast<double>(longest) / 1e6;
    std::int64_t begin = out_.intervals.front().start;
    std::int64_t end = out_.intervals.back().end;
    for (const EventIndex e : tree_.preorder()) {
      if (tree_.parent(e) != kNoEvent) continue;
      begin = std::min(begin, events_[e].ts_ns);
      end = std::max(end, events_[e].end_ns());
    }
    out_.share_percent = out_.total_ms / (static_cast<double>(end - begin) / 1e6) * 100;
  }

  // Begins and ends of pieces. One that follows another at once, as a piece that begins where one
  // ended does, is no evidence of its own.
  std::vector<std::int64_t> Instants() const {
    std::vector<std::int64_t> all, apart;
    for (const SilentPiece& piece : out_.pieces)
      all.insert(all.end(), {piece.begin_ns, piece.end_ns});
    std::sort(all.begin(), all.end());
    for (const std::int64_t at : all)
      if (apart.empty() || at - apart.back() > kTickWidthNs) apart.push_back(at);
    return apart;
  }

  // Most instants that lie within kTickWidthNs of each other modulo a period of the usual kernel
  // clocks (1000, 250, 100 Hz). The logarithm of the chance for so many is that of a Poisson tail;
  // it has to be below one in a thousand for any of the windows looked at.
  std::optional<SchedulerTick> Tick() const {
    const std::vector<std::int64_t> instants = Instants();
    std::optional<SchedulerTick> best;
    double best_surprise = std::log(1000.0);
    for (const std::int64_t period : {1'000'000, 4'000'000, 10'000'000}) {
      std::vector<std::int64_t> phases;
      for (const std::int64_t at : instants)
        phases.push_back(((at % period) + period) % period);
      std::sort(phases.begin(), phases.end());
      const std::size_t n = phases.size();
      for (std::size_t i = 0; i < n; ++i)  // windows may reach over the end of the period
        phases.push_back(phases[i] + period);
      const auto all = static_cast<double>(n);
      const double expected = all * static_cast<double>(kTickWidthNs) / static_cast<double>(period);
      std::size_t end = 0;
      for (std::size_t i = 0; i < n; ++i) {
        while (end < phases.size() && phases[end] <= phases[i] + kTickWidthNs)
          ++end;
        const auto count = static_cast<double>(std::min(end - i, n));
        if (count <= expected) continue;
        const double surprise =
            count * std::log(count / expected) - (count - expected) - std::log(3 * all);
        if (surprise <= best_surprise) continue;
        best_surprise = surprise;
        const std::int64_t middle = phases[i + (end - i) / 2] % period;
        best = {static_cast<double>(period) / 1e6, static_cast<double>(middle) / 1e6,
                static_cast<std::uint64_t>(count), n, expected};
      }
    }
    return best;
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const HostPieces& pieces_;
  FirstCalls& first_calls_;
  std::map<std::string_view, std::vector<std::int64_t>> starts_;
  std::unordered_set<StringId> launching_;  // names of ops with launches of their own
  Descheduled out_;
};

}  // namespace

Descheduled FindDescheduled(const trace::EventStore& events, const tree::CallTree& tree,
                            const HostPieces& pieces, FirstCalls* first_calls) {
  return FreezeFinder(events, tree, pieces, first_calls).Run();
}

}  // namespace jarvis::analysis
