#include "analysis/host/first_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/host/allocator_calls.h"
#include "analysis/host/runtime_calls.h"
#include "trace/step_mark.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

constexpr double kOverUsual = 10;            // a first call is that many times the usual one
constexpr std::int64_t kOpMinNs = 300'000;   // ops: their own time varies more than that of calls
constexpr std::uint64_t kComparableMin = 3;  // of a name, to know what is usual
constexpr double kQueueFull = 250;           // launches under way: the next one has to wait

// Frames below which code is made, not run.
bool IsCompiling(std::string_view name) {
  for (const std::string_view part :
       {"triton/compiler/compiler.py", "torch/_inductor/compile_fx.py", "importlib._bootstrap",
        "torch/_dynamo/convert_frame.py", "torch/utils/cpp_extension.py", "do_bench",
        "torch/_inductor/codecache.py"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// Calls of one op with the same operands.
struct CallKey {
  StringId name;
  StringId dims;
  StringId concrete;
  bool works;  // on the GPU
  bool operator==(const CallKey&) const = default;
};
struct CallKeyHash {
  std::size_t operator()(const CallKey& key) const {
    std::uint64_t hash = key.name;
    hash = hash * 0x9E3779B97F4A7C15u + key.dims;
    hash = hash * 0x9E3779B97F4A7C15u + key.concrete * 2 + (key.works ? 1 : 0);
    return static_cast<std::size_t>(hash ^ (hash >> 29));
  }
};

class FirstCallFinder {
 public:
  FirstCallFinder(const trace::EventStore& events, const tree::CallTree& tree,
                  const HostPieces& pieces, std::span<const EventIndex> gpu_work)
      : events_(events), tree_(tree), pieces_(pieces) {
    std::vector<Interval<std::int64_t>> busy;
    for (const EventIndex e : gpu_work)
      busy.push_back({events_[e].ts_ns, events_[e].end_ns()});
    busy_ = Union(std::move(busy));
    FindFirstLaunches(gpu_work);
  }

  FirstCalls Run() {
    FindUsualOp();
    allocator_ = Allocator();
    CollectSlowOps();
    CollectAllocations();
    for (const SilentPiece& piece : pieces_.pieces)
      Judge(piece);
    Compiling();
    Loading();
    out_.AddUp();
    return std::move(out_);
  }

 private:
  AllocatorCalls Allocator() const {
    std::vector<EventIndex> calls;
    for (const EventIndex e : tree_.preorder()) {
      if (trace::IsLaunchCall(events_[e].kind)) calls.push_back(e);
    }
    return FindAllocatorCalls(events_, calls);
  }

  // Of each kernel name the launch that came first; and when launched work began, for the length
  // of the queue.
  void FindFirstLaunches(std::span<const EventIndex> gpu_work) {
    std::unordered_map<StringId, EventIndex> first;
    for (const EventIndex e : gpu_work) {
      const EventIndex launch = tree_.parent(e);
      if (launch == kNoEvent || !trace::IsLaunchCall(events_[launch].kind)) continue;
      launched_.push_back(events_[launch].ts_ns);
      started_.push_back(events_[e].ts_ns);
      if (events_[e].kind != EventKind::kKernel) continue;
      const auto [place, added] = first.try_emplace(events_[e].name, e);
      if (!added && Earlier(launch, tree_.parent(place->second))) place->second = e;
    }
    std::sort(launched_.begin(), launched_.end());
    std::sort(started_.begin(), started_.end());
    for (const auto& [name, kernel] : first) {
      const EventIndex launch = tree_.parent(kernel);
      const auto [place, added] = first_launches_.try_emplace(launch, kernel);
      if (!added) place->second = std::min(place->second, kernel);
    }
  }

  bool Earlier(EventIndex a, EventIndex b) const {
    return std::tuple(events_[a].ts_ns, a) < std::tuple(events_[b].ts_ns, b);
  }

  bool QueueIsFull(std::int64_t at) const {
    const auto before = [at](const std::vector<std::int64_t>& times) {
      return std::lower_bound(times.begin(), times.end(), at) - times.begin();
    };
    return static_cast<double>(before(launched_) - before(started_)) >= kQueueFull;
  }

  // The first call of its kind, and whether a later one shows what it costs normally.
  struct Instances {
    EventIndex first = kNoEvent;
    std::uint64_t count = 0;
    std::int64_t later_max = 0;  // longest silent piece in later calls
  };

  // A call that only finds nothing to do is none of one that has GPU work.
  CallKey KeyOf(EventIndex e) const {
    const trace::Args& args = events_.args_of(e);
    return {events_[e].name, args.dims, args.concrete, !tree_.GpuBelow(e).empty()};
  }

  // Memory that a later step takes at the same place is taken again and again.
  struct Place {
    StringId call, op, dims;
    auto operator<=>(const Place&) const = default;
  };
  Place PlaceOf(EventIndex call) const {
    const EventIndex op = tree_.Enclosing(events_, call, EventKind::kCpuOp);
    if (op == kNoEvent) return {events_[call].name, kNoString, kNoString};
    return {events_[call].name, events_[op].name, events_.args_of(op).dims};
  }
  void CollectAllocations() {
    std::vector<std::int64_t> marks;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind == EventKind::kUserAnnotation && trace::StepNumberOf(events_.name(e)))
        marks.push_back(events_[e].ts_ns);
    }
    if (marks.empty()) return;
    std::sort(marks.begin(), marks.end());
    std::map<Place, std::ptrdiff_t> first;
    for (const SilentPiece& piece : pieces_.pieces) {
      if (piece.owner == kNoEvent || !IsMemoryCall(events_.name(piece.owner))) continue;
      const auto step =
          std::upper_bound(marks.begin(), marks.end(), piece.begin_ns) - marks.begin();
      const Place place = PlaceOf(piece.owner);
      const auto [seen, added] = first.try_emplace(place, step);
      if (!added && seen->second != step) again_.insert(place);
    }
  }

  // Only ops that have a long piece somewhere need their instances known.
  void CollectSlowOps() {
    std::unordered_set<StringId> names;
    for (const SilentPiece& piece : pieces_.pieces) {
      if (IsSlowOp(piece)) names.insert(events_[piece.owner].name);
    }
    if (names.empty()) return;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != EventKind::kCpuOp || !names.contains(events_[e].name)) continue;
      Instances& of = instances_[KeyOf(e)];
      ++of.count;
      if (of.first == kNoEvent || Earlier(e, of.first)) of.first = e;
    }
    for (const SilentPiece& piece : pieces_.pieces) {
      if (!IsSlowOp(piece)) continue;
      Instances& of = instances_[KeyOf(piece.owner)];
      if (piece.owner == of.first) continue;
      of.later_max = std::max(of.later_max, piece.ns());
      std::int64_t& of_name = repeated_[events_[piece.owner].name];
      of_name = std::max(of_name, piece.ns());
    }
  }

  bool IsSlowOp(const SilentPiece& piece) const {
    if (piece.owner == kNoEvent || events_[piece.owner].kind != EventKind::kCpuOp) return false;
    const double usual_ns = UsualOfOp(piece.owner);
    return piece.ns() >= kOpMinNs && static_cast<double>(piece.ns()) > kOverUsual * usual_ns;
  }

  // Of an op that has few calls: what is usual for all ops.
  double UsualOfOp(EventIndex op) const {
    const UsualCall usual = pieces_.UsualOf(events_[op].name);
    return usual.count < kComparableMin ? usual_op_ns_ : usual.self_ns;
  }

  // Median over names, each counted as often as it is called.
  void FindUsualOp() {
    std::map<StringId, UsualCall> ops;
    std::uint64_t calls = 0;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != EventKind::kCpuOp) continue;
      first_ops_.try_emplace(events_[e].track, e);
      ops.try_emplace(events_[e].name, pieces_.UsualOf(events_[e].name));
      ++calls;
    }
    std::vector<UsualCall> order;
    for (const auto& [name, usual] : ops)
      order.push_back(usual);
    std::stable_sort(order.begin(), order.end(),
                     [](const UsualCall& a, const UsualCall& b) { return a.self_ns < b.self_ns; });
    std::uint64_t seen = 0;
    for (const UsualCall& usual : order) {
      usual_op_ns_ = usual.self_ns;
      seen += usual.count;
      if (seen * 2 >= calls) break;
    }
  }

  void Judge(const SilentPiece& piece) {
    if (piece.owner == kNoEvent) return;
    const trace::Event& owner = events_[piece.owner];
    if (owner.kind == EventKind::kCpuOp) {
      JudgeOp(piece);
    } else if (trace::IsLaunchCall(owner.kind)) {
      JudgeCall(piece, RuntimeKindOf(events_.name(piece.owner)));
    }
  }

  void JudgeCall(const SilentPiece& piece, RuntimeKind kind) {
    const UsualCall usual = pieces_.UsualOf(events_[piece.owner].name);
    switch (kind) {
      case RuntimeKind::kSetUp: Add(FirstCallKind::kSetUp, piece, 0); return;
      case RuntimeKind::kAllocate:
      case RuntimeKind::kFree: Allocation(piece); return;
      case RuntimeKind::kLaunch: break;
      default: return;  // launching a graph takes long every time
    }
    const auto first = first_launches_.find(piece.owner);
    if (first == first_launches_.end() || QueueIsFull(piece.begin_ns)) return;
    // Beside a GPU at work a launch waits for room, whoever fills the queue.
    if (2 * MsInside(busy_, piece.begin_ns, piece.end_ns) * 1e6 > static_cast<double>(piece.ns()))
      return;
    if (usual.count < kComparableMin ||
        static_cast<double>(piece.ns()) <= kOverUsual * usual.self_ns)
      return;
    Add(FirstCallKind::kLaunch, piece, usual.self_ns).kernel = first->second;
  }

  // What of it passed while the GPU worked is a wait: freeing waits for the device.
  void Allocation(const SilentPiece& piece) {
    if (allocator_.churns() || again_.contains(PlaceOf(piece.owner))) return;  // it comes again
    const double busy_ms = MsInside(busy_, piece.begin_ns, piece.end_ns);
    const auto idle = piece.ns() - static_cast<std::int64_t>(busy_ms * 1e6);
    if (idle < kFirstCallMinNs) return;
    SilentPiece rest = piece;
    // Waiting comes first in a call that waits.
    rest.begin_ns = piece.end_ns - idle;
    Add(FirstCallKind::kAllocation, rest, 0);
  }

  void JudgeOp(const SilentPiece& piece) {
    if (!IsSlowOp(piece)) return;
    const auto found = instances_.find(KeyOf(piece.owner));
    if (found == instances_.end() || found->second.first != piece.owner) return;
    const Instances& of = found->second;
    const StringId name = events_[piece.owner].name;
    const auto repeated = repeated_.find(name);
    const std::int64_t again =
        repeated == repeated_.end() ? of.later_max : std::max(of.later_max, repeated->second);
    if (again * 2 > piece.ns()) return;
    // Without a later call like it, it must be an op (old traces list steps as ops, too) that
    // launches a new kernel itself: host work that was done once may just be long. In the first op
    // of a thread the profiler begins to watch that thread.
    if ((of.count < 2 || OpensThread(piece.owner)) && !LaunchesNewKernel(piece.owner)) return;
    Add(FirstCallKind::kOp, piece, of.count < 2 ? 0 : UsualOfOp(piece.owner));
  }

  bool OpensThread(EventIndex op) const {
    constexpr std::int64_t kSoonNs = 100'000;
    const auto first = first_ops_.find(events_[op].track);
    return first != first_ops_.end() &&
           events_[op].ts_ns < events_[first->second].end_ns() + kSoonNs;
  }

  bool LaunchesNewKernel(EventIndex op) const {
    constexpr std::size_t kLookAt = 16;
    if (events_.name(op).find("::") == std::string_view::npos) return false;
    const auto gpu = tree_.GpuBelow(op);
    for (std::size_t i = 0; i < std::min(kLookAt, gpu.size()); ++i) {
      const EventIndex launch = tree_.parent(gpu[i]);
      if (first_launches_.contains(launch) &&
          tree_.Enclosing(events_, launch, EventKind::kCpuOp) == op)
        return true;
    }
    return false;
  }

  void Compiling() {
    const auto order = tree_.preorder();
    for (std::uint32_t at = 0; at < order.size();) {
      const trace::Event& event = events_[order[at]];
      const bool found = event.kind == EventKind::kPythonFunction &&
                         event.dur_ns >= kFirstCallMinNs && Compiles(event.name);
      if (found) {
        Add(FirstCallKind::kCompile, {order[at], event.track, event.ts_ns, event.end_ns()}, 0);
      }
      at = found ? tree_.subtree_end(order[at]) : at + 1;
    }
  }

  bool Compiles(StringId name) {
    const auto [known, added] = compiles_.try_emplace(name, false);
    if (added) known->second = IsCompiling(events_.strings[name]);
    return known->second;
  }

  // What the profiler itself reports about loading and compiling.
  void Loading() {
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const trace::Event& event = events_[e];
      if (event.kind != EventKind::kOverhead || (event.flags & trace::kLeftOut) != 0) continue;
      const std::string_view name = events_.name(e);
      if (name.find("Loading") == std::string_view::npos &&
          name.find("Compiler") == std::string_view::npos)
        continue;
      FirstCall call;
      call.kind = FirstCallKind::kSetUp;
      call.call = e;
      call.begin_ns = event.ts_ns;
      call.end_ns = event.end_ns();
      out_.calls.push_back(call);
    }
  }

  FirstCall& Add(FirstCallKind kind, const SilentPiece& piece, double usual_ns) {
    FirstCall call;
    call.kind = kind;
    call.call = piece.owner;
    call.op = events_[piece.owner].kind == EventKind::kCpuOp
                  ? piece.owner
                  : tree_.Enclosing(events_, piece.owner, EventKind::kCpuOp);
    call.begin_ns = piece.begin_ns;
    call.end_ns = piece.end_ns;
    call.usual_us = usual_ns / 1000;
    return out_.calls.emplace_back(call);
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const HostPieces& pieces_;
  IntervalSet<std::int64_t> busy_;
  std::unordered_map<EventIndex, EventIndex> first_launches_;  // launch to its new kernel
  std::vector<std::int64_t> launched_;
  std::vector<std::int64_t> started_;
  std::unordered_map<CallKey, Instances, CallKeyHash> instances_;
  std::unordered_map<StringId, std::int64_t> repeated_;  // longest piece in calls not the first
  std::unordered_map<StringId, bool> compiles_;
  double usual_op_ns_ = 0;
  std::unordered_map<std::uint32_t, EventIndex> first_ops_;  // by track
  AllocatorCalls allocator_;
  std::set<Place> again_;
  FirstCalls out_;
};

}  // namespace

double MsInside(const IntervalSet<std::int64_t>& set, std::int64_t begin, std::int64_t end) {
  auto piece = std::lower_bound(
      set.begin(), set.end(), begin,
      [](const Interval<std::int64_t>& a, std::int64_t at) { return a.end <= at; });
  std::int64_t inside = 0;
  for (; piece != set.end() && piece->start < end; ++piece)
    inside += std::min(end, piece->end) - std::max(begin, piece->start);
  return static_cast<double>(inside) / 1e6;
}

void FirstCalls::AddUp() {
  std::stable_sort(calls.begin(), calls.end(),
                   [](const FirstCall& a, const FirstCall& b) { return a.ms() > b.ms(); });
  std::vector<Interval<std::int64_t>> all;
  for (const FirstCall& call : calls)
    all.push_back({call.begin_ns, call.end_ns});
  intervals = Union(std::move(all));
  total_ms = static_cast<double>(Length(intervals)) / 1e6;
}

double FirstCalls::MsWithin(std::int64_t begin_ns, std::int64_t end_ns) const {
  return MsInside(intervals, begin_ns, end_ns);
}

FirstCalls FindFirstCalls(const trace::EventStore& events, const tree::CallTree& tree,
                          const HostPieces& pieces, std::span<const EventIndex> gpu_work) {
  return FirstCallFinder(events, tree, pieces, gpu_work).Run();
}

}  // namespace jarvis::analysis
