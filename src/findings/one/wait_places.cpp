#include "findings/one/wait_places.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/host/first_calls.h"
#include "base/number_text.h"
#include "findings/one/advice_rules.h"
#include "findings/one/batch_uploads.h"
#include "findings/one/graph_breaks.h"
#include "findings/one/host_units.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

// Ops that ask whether values are as they should be.
bool IsCheck(std::string_view op) {
  static constexpr std::string_view kChecks[] = {"aten::isnan",    "aten::isinf",
                                                 "aten::isfinite", "aten::isclose",
                                                 "aten::allclose", "aten::_assert_async"};
  return std::find(std::begin(kChecks), std::end(kChecks), op) != std::end(kChecks);
}
// What makes one value of it.
bool IsOfCheck(std::string_view op) {
  return IsCheck(op) || op == "aten::any" || op == "aten::all";
}

// Of idle time for the lead that a wait cost: less may be due to anything.
constexpr double kLeadLeastMs = 0.05;

// A wait and its group.
struct Wait {
  EventIndex call = kNoEvent;
  std::size_t group = 0;
};
// From one wait of a group to the next of it: the groups of all waits on the way.
using Round = std::vector<std::size_t>;
struct Rounds {
  std::size_t count = 0, waits_each = 0;
  std::size_t group = 0;  // of the wait that begins a round
  std::size_t whole = 0;  // by the fewest of a round's waits: at least `count`
  std::size_t waits() const { return count * waits_each; }
};

// The round that holds the most of the waits, which are in the order of their calls.
Rounds MostOf(const std::vector<Wait>& waits, std::size_t groups) {
  constexpr std::size_t kLongest = 12;  // waits in a round
  std::map<Round, std::size_t> seen;
  std::vector<std::vector<std::size_t>> places(groups);
  for (std::size_t i = 0; i < waits.size(); ++i)
    places[waits[i].group].push_back(i);
  for (const std::vector<std::size_t>& at : places) {
    for (std::size_t i = 1; i < at.size(); ++i) {
      if (at[i] - at[i - 1] > kLongest) continue;
      Round round;
      for (std::size_t w = at[i - 1]; w < at[i]; ++w)
        round.push_back(waits[w].group);
      ++seen[std::move(round)];
    }
  }
  Rounds most;
  for (const auto& [round, times] : seen) {
    // Waits of one place alone need no more than its name.
    if (round.size() < 2 || times * round.size() <= most.waits()) continue;
    most = {times, round.size(), round.front()};
    // Beside other waits between two rounds a round is not seen, but its waits are there.
    std::size_t whole = waits.size();
    for (const std::size_t group : round) {
      const auto of_group = static_cast<std::size_t>(std::count(round.begin(), round.end(), group));
      whole = std::min(whole, places[group].size() / of_group);
    }
    most.whole = std::max(times, whole);
  }
  return most;
}

class PlaceFinder {
 public:
  explicit PlaceFinder(const HostEvidence& evidence)
      : e_(evidence),
        events_(evidence.trace.events()),
        tree_(evidence.trace.tree()),
        batch_(evidence),
        breaks_(events_, tree_, evidence.frames.frames.base.host_units) {
    for (const analysis::Launch& launch : e_.host.launches.all()) {
      launches_.push_back(launch.call_ns);
      if (launch.kernel) kernels_.push_back(launch.call_ns);
    }
    std::sort(launches_.begin(), launches_.end());
    std::sort(kernels_.begin(), kernels_.end());
  }

  FoundWaits Run(const IdleLedger& ledger) {
    FoundWaits found;
    FindBreaks();
    late_ = ledger.late();
    for (std::size_t g = 0; g < e_.host.waits.size(); ++g) {
      const analysis::WaitGroup& group = e_.host.waits[g];
      const bool idle = std::any_of(group.calls.begin(), group.calls.end(), [&](EventIndex call) {
        return ledger.waited.contains(call) || ledger.lead.contains(call) || IdleInside(call) > 0;
      });
      if (!idle) continue;
      // One op uploads here and reads back there: two places, each with a remedy of its own.
      WaitCalls others, uploads, batch, branches;
      for (const EventIndex call : group.calls) {
        if (broken_.contains(call)) {
          branches.calls.push_back(call);
          continue;
        }
        const auto [to_host, to_device] = CopiesOf(call);
        WaitCalls& of = batch_.Has(call) ? batch : to_device > to_host ? uploads : others;
        of.calls.push_back(call);
        of.to_host += to_host;
        of.to_device += to_device;
      }
      const bool both = !others.calls.empty() && !uploads.calls.empty();
      branches.branch = true;
      Add(g, branches, "", ledger, &found);
      Add(g, others, "", ledger, &found);
      Add(g, uploads, both ? ", uploads" : "", ledger, &found);
      Add(g, batch, others.calls.empty() && uploads.calls.empty() ? "" : ", uploads of the batch",
          ledger, &found);
    }
    FindRounds(&found.others);
    found.breaks.parts = breaks_.PartsIn(e_.scope.spans());
    for (WaitPlaces* waits : {&found.checks, &found.breaks, &found.batch, &found.others}) {
      std::stable_sort(
          waits->places.begin(), waits->places.end(),
          [](const HostPlace& a, const HostPlace& b) { return a.idle_ms > b.idle_ms; });
    }
    return found;
  }

 private:
  // Waits of one group, and the copies of their ops.
  struct WaitCalls {
    std::vector<EventIndex> calls;
    std::size_t to_host = 0, to_device = 0;
    bool branch = false;  // of compiled code
  };

  // One value at the end of a pass is a result, wherever it is read; a graph that breaks again and
  // again in a pass does so for values that it branches on.
  void FindBreaks() {
    constexpr std::int64_t kOfAUnit = 2;
    if (breaks_.empty()) return;
    for (const analysis::WaitGroup& group : e_.host.waits) {
      for (const EventIndex call : group.calls) {
        if (!e_.scope.Has(events_[call].ts_ns) || !ReadsScalar(call)) continue;
        if (const auto span = breaks_.At(call)) broken_.emplace(call, *span);
      }
    }
    const auto units = std::max<std::int64_t>(1, e_.frames.frames.base.count);
    const auto few = std::max(static_cast<std::int64_t>(limits::kWaitsMin), kOfAUnit * units);
    if (static_cast<std::int64_t>(broken_.size()) < few) broken_.clear();
  }
  bool ReadsScalar(EventIndex call) const {
    const EventIndex op = tree_.parent(call);
    return IsOp(op) && KindOfWait(std::string(events_.name(op)), false, false) == WaitKind::kScalar;
  }

  // All of them go, as idle time would move behind those that stay.
  void Add(std::size_t g, const WaitCalls& waits, std::string_view suffix, const IdleLedger& ledger,
           FoundWaits* found) {
    const analysis::WaitGroup& group = e_.host.waits[g];
    if (waits.calls.empty()) return;
    const WaitKind kind = KindOf(group, waits);
    const bool batch = batch_.Has(waits.calls.front());
    WaitPlaces* const out = kind == WaitKind::kCheck    ? &found->checks
                            : kind == WaitKind::kBranch ? &found->breaks
                            : batch                     ? &found->batch
                                                        : &found->others;
    HostPlace place;
    double lead_ms = 0, inside_ms = 0;
    for (const EventIndex call : waits.calls) {
      place.ms += MillisOf(events_[call].dur_ns);
      const auto waited = ledger.waited.find(call), lead = ledger.lead.find(call);
      const bool behind = waited != ledger.waited.end();
      const bool later = lead != ledger.lead.end() && lead->second >= kLeadLeastMs;
      const double own_ms = IdleInside(call);
      inside_ms += own_ms;
      if (!behind && !later && own_ms <= 0) continue;
      ++place.count;
      if (IsAmid(call)) ++out->amid;
      place.idle_ms += (behind ? waited->second : 0) + (later ? lead->second : 0);
      lead_ms += later ? lead->second : 0;
    }
    for (const EventIndex call : waits.calls) {
      if (!e_.scope.Has(events_[call].ts_ns)) continue;
      if (out == &found->others) waits_.push_back({call, g});
      if (waits.branch) out->between_parts.push_back(broken_.at(call));
      out->waits.calls.push_back(call);
      out->calls_of[kind].push_back(call);
      if (FetchesValue(kind)) AddRead(call, kind, out);
      if (const auto own = OwnTime(call)) out->read_host.push_back(*own);
    }
    out->total_ms += place.ms;
    place.idle_ms += inside_ms;
    if (place.idle_ms <= 0) return;
    place.name = group.op.empty() ? group.call : group.op + " (" + group.call + ")";
    place.name += suffix;
    place.code = group.code;
    place.waits_for = group.waits_for;
    place.wait = kind;
    if (kind == WaitKind::kCheck) place.check = CheckOfAll(waits);
    out->behind_ms += place.idle_ms - lead_ms - inside_ms;
    out->lead_ms += lead_ms;
    out->count += place.count;
    out->places.push_back(std::move(place));
  }

  // Of a call that only synchronizes, with no op around it: its host time, with the frames that do
  // no more. It goes with the call, whether there is something to wait for or not.
  std::optional<Interval<std::int64_t>> OwnTime(EventIndex call) const {
    EventIndex outer = call;
    for (EventIndex up = tree_.parent(call); up != kNoEvent; up = tree_.parent(up)) {
      const std::string_view name = events_.name(up);
      if (events_[up].kind == trace::EventKind::kCpuOp) return std::nullopt;
      const bool only = events_[up].kind == trace::EventKind::kPythonFunction &&
                        name.find("synchronize") != std::string_view::npos;
      if (!only) break;
      outer = up;
    }
    return Interval<std::int64_t>{events_[outer].ts_ns, events_[outer].end_ns()};
  }
  // Milliseconds in which the GPU has run out of work before such a call, and idles on inside it.
  double IdleInside(EventIndex call) const {
    const auto own = OwnTime(call);
    return own && e_.scope.Has(own->start) ? analysis::MsInside(late_, own->start, own->end) : 0;
  }

  // At least a tenth of what its unit launches is launched after it.
  bool IsAmid(EventIndex call) const {
    constexpr std::size_t kGoesOn = 10;
    const auto& units = e_.frames.frames.base.host_units;
    const analysis::FoundStep* unit = UnitBegunBy(units, events_[call].ts_ns);
    if (unit == nullptr) return false;
    const auto at = [&](std::int64_t ns) {
      return std::lower_bound(launches_.begin(), launches_.end(), ns);
    };
    const auto end = at(unit->host.end);
    const auto all = static_cast<std::size_t>(end - at(unit->host.start));
    const auto after = end - at(events_[call].end_ns());
    return after > 0 && kGoesOn * static_cast<std::size_t>(after) >= all;
  }

  // A round of every step, or of a few of them, is no loop of its own.
  void FindRounds(WaitPlaces* out) {
    constexpr std::size_t kFewest = 16, kOfAUnit = 4;
    std::sort(waits_.begin(), waits_.end(), [&](const Wait& a, const Wait& b) {
      const trace::Event &left = events_[a.call], &right = events_[b.call];
      return std::tie(left.track, left.ts_ns, a.call) < std::tie(right.track, right.ts_ns, b.call);
    });
    const Rounds most = MostOf(waits_, e_.host.waits.size());
    const auto units =
        static_cast<std::size_t>(std::max<std::int64_t>(1, e_.frames.frames.base.count));
    if (most.count < std::max(kFewest, kOfAUnit * units) || 2 * most.waits() < waits_.size())
      return;
    // Of the waits that are told of, and as often in each unit: else it is no loop of the unit's.
    const std::size_t told = (out->count + most.waits_each - 1) / most.waits_each;
    const std::size_t rounds = std::min(most.whole, told);
    if (rounds < most.count || rounds % units != 0) return;
    out->rounds = rounds;
    out->waits_a_round = most.waits_each;
    out->computes = Computes(most);
  }

  // Whether most rounds launch several kernels more than they wait: what they do can be done for
  // all at once.
  bool Computes(const Rounds& rounds) const {
    constexpr std::ptrdiff_t kSeveral = 3;
    const auto least = kSeveral + static_cast<std::ptrdiff_t>(rounds.waits_each);
    std::size_t computing = 0, all = 0;
    const Wait* last = nullptr;
    for (const Wait& wait : waits_) {
      if (wait.group != rounds.group) continue;
      if (last != nullptr && events_[last->call].track == events_[wait.call].track) {
        const auto at = [&](EventIndex call) {
          return std::lower_bound(kernels_.begin(), kernels_.end(), events_[call].ts_ns);
        };
        ++all;
        if (at(wait.call) - at(last->call) >= least) ++computing;
      }
      last = &wait;
    }
    return 2 * computing > all;
  }

  bool IsOp(EventIndex e) const {
    return e != kNoEvent && events_[e].kind == trace::EventKind::kCpuOp;
  }

  void AddRead(EventIndex call, WaitKind kind, WaitPlaces* out) const {
    EventIndex op = tree_.parent(call);
    if (!IsOp(op)) return;
    // `is_nonzero` of `item` of `_local_scalar_dense`: one value. A check holds what it computes.
    const std::size_t work = tree_.GpuBelow(op).size();
    for (EventIndex above = tree_.parent(op); kind != WaitKind::kShape && IsOp(above);
         above = tree_.parent(above)) {
      if (tree_.GpuBelow(above).size() == work || IsCheck(events_.name(above))) op = above;
    }
    AddOp(op, out);
    if (kind != WaitKind::kCheck) return;
    ForOpsBefore(call, [&](EventIndex before) {
      if (IsOfCheck(events_.name(before))) AddOp(before, out);
      return !IsCheck(events_.name(before));
    });
  }
  void AddOp(EventIndex op, WaitPlaces* out) const {
    out->read_host.push_back({events_[op].ts_ns - PauseBefore(op), events_[op].end_ns()});
    const auto gpu = tree_.GpuBelow(op);
    out->read_gpu.events.insert(out->read_gpu.events.end(), gpu.begin(), gpu.end());
  }

  // Between the op and what its thread did before: Python calls one op less. A long pause has
  // another cause.
  std::int64_t PauseBefore(EventIndex op) const {
    constexpr std::int64_t kLongestNs = 20'000;
    std::int64_t pause = kLongestNs;
    ForOpsBefore(op, [&](EventIndex before) {
      const std::int64_t gap = events_[op].ts_ns - events_[before].end_ns();
      if (gap >= 0) pause = std::min(pause, gap);
      return gap < 0;
    });
    return pause < kLongestNs ? pause : 0;
  }

  // The last few ops of its thread that began before a call, backward, as long as `use` asks for
  // more.
  template <typename Use>
  void ForOpsBefore(EventIndex call, const Use& use) const {
    constexpr std::size_t kOpsMost = 12, kEventsMost = 48;
    const std::uint32_t position = tree_.position(call);
    std::size_t ops = 0;
    for (std::uint32_t back = 1; back <= std::min<std::size_t>(kEventsMost, position); ++back) {
      const EventIndex e = tree_.preorder()[position - back];
      if (events_[e].track != events_[call].track) return;
      if (!IsOp(e)) continue;
      if (!use(e) || ++ops == kOpsMost) return;
    }
  }

  // To the host and to a device, of the op that waits: a wait of its own stands beside them.
  std::pair<std::size_t, std::size_t> CopiesOf(EventIndex call) const {
    std::pair<std::size_t, std::size_t> copies;
    const EventIndex op = tree_.parent(call);
    for (const EventIndex work : tree_.GpuBelow(op == kNoEvent ? call : op)) {
      if (events_[work].kind != trace::EventKind::kMemcpy) continue;
      const CopyDirection direction = DirectionOf(e_.trace, work);
      copies.first += direction == CopyDirection::kToHost ? 1 : 0;
      copies.second += direction == CopyDirection::kToDevice ? 1 : 0;
    }
    return copies;
  }
  WaitKind KindOf(const analysis::WaitGroup& group, const WaitCalls& waits) const {
    if (waits.branch) return WaitKind::kBranch;
    const auto checks = std::count_if(waits.calls.begin(), waits.calls.end(),
                                      [&](EventIndex call) { return IsOfACheck(call); });
    if (2 * static_cast<std::size_t>(checks) > waits.calls.size()) return WaitKind::kCheck;
    const auto sizes = std::count_if(waits.calls.begin(), waits.calls.end(),
                                     [&](EventIndex call) { return IsForExchange(call); });
    if (2 * static_cast<std::size_t>(sizes) > waits.calls.size()) return WaitKind::kExchange;
    return KindOfWait(group.op, waits.to_host > waits.to_device, waits.to_device > waits.to_host);
  }

  // Whether what a call reads back are sizes: a few numbers, and the next op that does anything is
  // an exchange with other ranks.
  bool IsForExchange(EventIndex call) const {
    if (CopiesOf(call).first == 0) return false;
    constexpr std::size_t kEventsMost = 16;
    const EventIndex op = tree_.parent(call);
    std::uint32_t next = tree_.subtree_end(op == kNoEvent ? call : op);
    const auto end = std::min<std::size_t>(next + kEventsMost, tree_.preorder().size());
    for (; next < end; ++next) {
      const EventIndex e = tree_.preorder()[next];
      if (events_[e].track != events_[call].track) return false;
      if (IsOp(e) && analysis::CommFamilyOfName(events_.name(e)) == analysis::CommFamily::kExchange)
        return true;
      if (trace::IsLaunchCall(events_[e].kind) && !tree_.GpuOf(e).empty()) return false;
    }
    return false;
  }

  // Whether the value that a call fetches says whether values are as they should be.
  bool IsOfACheck(EventIndex call) const { return CheckOf(call) != kNoEvent; }
  // The outermost op of that check; kNoEvent: it says nothing of the kind.
  EventIndex CheckOf(EventIndex call) const {
    const EventIndex op = tree_.parent(call);
    EventIndex found = kNoEvent;
    for (EventIndex above = op; IsOp(above); above = tree_.parent(above)) {
      if (IsCheck(events_.name(above))) found = above;
    }
    if (found != kNoEvent || !IsOp(op) ||
        KindOfWait(std::string(events_.name(op)), false, false) != WaitKind::kScalar)
      return found;
    ForOpsBefore(call, [&](EventIndex before) {
      if (IsCheck(events_.name(before))) found = before;
      return found == kNoEvent && !IsReadBefore(call, before);
    });
    return found;
  }
  // The op that all checks of a place are part of; empty: several.
  std::string CheckOfAll(const WaitCalls& waits) const {
    std::set<std::string_view> names;
    for (const EventIndex call : waits.calls) {
      const EventIndex check = CheckOf(call);
      if (check != kNoEvent) names.insert(events_.name(check));
    }
    return names.size() == 1 ? std::string(*names.begin()) : std::string();
  }
  // Another value that was fetched before: what was computed before that is not for this one.
  bool IsReadBefore(EventIndex call, EventIndex op) const {
    return events_[op].end_ns() <= events_[call].ts_ns &&
           KindOfWait(std::string(events_.name(op)), false, false) == WaitKind::kScalar;
  }

  const HostEvidence& e_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const BatchUploads batch_;
  std::vector<std::int64_t> launches_;  // sorted
  std::vector<std::int64_t> kernels_;   // of these, of kernels
  std::vector<Wait> waits_;
  IntervalSet<std::int64_t> late_;  // idle time before launches that come late
  const GraphBreaks breaks_;
  std::map<EventIndex, Interval<std::int64_t>> broken_;  // waits that break a compiled graph
};

}  // namespace

FoundWaits FindWaitPlaces(const HostEvidence& evidence, const IdleLedger& ledger) {
  return PlaceFinder(evidence).Run(ledger);
}

}  // namespace jarvis::findings
