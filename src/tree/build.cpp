#include "tree/build.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/parallel.h"
#include "tree/correlation_index.h"
#include "tree/grad_links.h"
#include "tree/nest.h"

namespace jarvis::tree {

using trace::Event;
using trace::EventKind;
using trace::EventStore;
using trace::IsLaunchCall;

// A launch call is so near to the op that made it, where clocks are wrong.
constexpr std::int64_t kBesideNs = 20'000;
// An id that so many ops have says nothing; merged ranks share theirs.
constexpr std::size_t kIdsMax = 256;

class TreeBuilder {
 public:
  TreeBuilder(const EventStore& events, int threads) : events_(events), threads_(threads) {}

  void Nest() {
    std::vector<std::vector<EventIndex>> by_track(events_.tracks.size());
    std::size_t hosts = 0;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const Event& event = events_[e];
      if (!IsHost(event.kind) || (event.flags & trace::kLeftOut) != 0) continue;
      by_track[event.track].push_back(e);
      ++hosts;
    }
    tree_.parent_.resize(events_.size(), kNoEvent);
    tree_.position_.resize(events_.size(), kNoPosition);
    tree_.order_.resize(hosts, kNoEvent);
    tree_.subtree_end_.resize(hosts, 0);
    std::vector<std::uint32_t> base(by_track.size() + 1, 0);
    for (std::size_t t = 0; t < by_track.size(); ++t) {
      base[t + 1] = base[t] + static_cast<std::uint32_t>(by_track[t].size());
    }
    ParallelFor(by_track.size(), threads_, [&](std::size_t t) {
      std::vector<EventIndex>& thread = by_track[t];
      SortForNesting(events_, &thread);
      NestThread(events_, thread, base[t], tree_.parent_.data(), tree_.subtree_end_.data());
      for (std::uint32_t i = 0; i < thread.size(); ++i) {
        tree_.order_[base[t] + i] = thread[i];
        tree_.position_[thread[i]] = base[t] + i;
      }
      std::vector<EventIndex>().swap(thread);
    });
  }

  void Link() {
    const CorrelationIndex launches(events_, CorrelationIndex::Key::kCorrelation);
    tree_.launch_processes_ = launches.processes();
    std::vector<EventIndex> orphans;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const Event& event = events_[e];
      if (!trace::IsGpuWork(event.kind) || (event.flags & trace::kLeftOut) != 0) continue;
      const EventIndex call = launches.Find(e);
      tree_.parent_[e] = call;
      (call == kNoEvent ? orphans : linked_).push_back(e);
      if (call == kNoEvent) continue;
      const EventIndex outer = OutermostCall(call);
      if (const std::int64_t id = ExternalIdOf(e, call); id > 0 && !IsBelowOp(outer, id))
        disputed_.push_back({outer, id});
    }
    if (!orphans.empty()) LinkByExternalId(orphans, launches);
  }

  // Host events of a moved call come to stand at another place, so that no other pass may read them
  // meanwhile.
  void Settle() {
    if (!disputed_.empty()) MoveCalls();
    OrderGpuWork();
  }

  void LinkGradients() { GradLinks(events_, tree_, &tree_.forward_of_, &tree_.backward_of_); }

  CallTree Take() { return std::move(tree_); }

 private:
  struct Disputed {
    EventIndex call;
    std::int64_t external_id;
  };

  EventIndex OutermostCall(EventIndex call) const {
    for (EventIndex up = tree_.parent_[call]; up != kNoEvent && IsLaunchCall(events_[up].kind);
         up = tree_.parent_[call])
      call = up;
    return call;
  }

  std::int64_t ExternalIdOf(EventIndex work, EventIndex call) const {
    const std::int64_t of_call = events_.args_of(call).external_id;
    return of_call != trace::kAbsent ? of_call : events_.args_of(work).external_id;
  }

  // Whether the op that the id names is around the call, as far as ids of ops say.
  bool IsBelowOp(EventIndex call, std::int64_t external_id) const {
    for (EventIndex up = tree_.parent_[call]; up != kNoEvent; up = tree_.parent_[up]) {
      if (events_[up].kind == EventKind::kCpuOp && events_.args_of(up).external_id == external_id)
        return true;
    }
    return false;
  }

  // The op of that id on the call's thread that is not further from it than clocks are wrong.
  EventIndex OpBeside(const Disputed& one, const CorrelationIndex& ops) const {
    const Event& call = events_[one.call];
    EventIndex found = kNoEvent;
    std::int64_t nearest = kBesideNs + 1;
    const auto of_id = ops.WithId(one.external_id);
    if (of_id.size() > kIdsMax) return found;
    for (const IdentifiedEvent& op : of_id) {
      const Event& event = events_[op.event];
      if (event.track != call.track) continue;
      const std::int64_t away = std::max(event.ts_ns - call.ts_ns, call.end_ns() - event.end_ns());
      if (away < nearest) std::tie(nearest, found) = std::tuple(away, op.event);
    }
    return found;
  }

  // Some producers place a launch call some microseconds beside the op that made it, so that it
  // lies in a neighbour of the op. The id that both share decides where ops are so near; where most
  // of such ids are of ops far away, they are left over from other uses, and one that is near is so
  // by chance.
  void MoveCalls() {
    const CorrelationIndex ops(events_, CorrelationIndex::Key::kExternalIdOfOps);
    std::map<EventIndex, EventIndex> op_of;  // by call
    std::size_t far = 0;
    std::set<EventIndex> seen;
    for (const Disputed& one : disputed_) {
      if (!seen.insert(one.call).second) continue;
      const EventIndex op = OpBeside(one, ops);
      if (op != kNoEvent) {
        op_of.emplace(one.call, op);
      } else if (!ops.WithId(one.external_id).empty()) {
        ++far;
      }
    }
    if (op_of.size() <= far) return;
    std::set<std::uint32_t> tracks;
    for (const auto& [call, op] : op_of) {
      tree_.parent_[call] = op;
      tracks.insert(events_[op].track);
    }
    tree_.moved_calls_ = op_of.size();
    for (const std::uint32_t track : tracks)
      Reorder(track);
  }

  // The thread's part of the preorder list anew, by its events' parents.
  void Reorder(std::uint32_t track) {
    const auto first = std::find_if(tree_.order_.begin(), tree_.order_.end(),
                                    [&](EventIndex e) { return events_[e].track == track; });
    const auto last = std::find_if(first, tree_.order_.end(),
                                   [&](EventIndex e) { return events_[e].track != track; });
    const auto base = static_cast<std::uint32_t>(first - tree_.order_.begin());
    std::vector<EventIndex> sorted(first, last);
    std::stable_sort(sorted.begin(), sorted.end(), [&](EventIndex a, EventIndex b) {
      return events_[a].ts_ns < events_[b].ts_ns;
    });
    // Children in order of time, those of one event after the other.
    std::unordered_map<EventIndex, std::vector<EventIndex>> children;
    for (const EventIndex e : sorted)
      children[tree_.parent_[e]].push_back(e);
    struct Open {
      EventIndex event;
      std::size_t next = 0;
    };
    std::vector<Open> open = {{kNoEvent, 0}};
    std::uint32_t at = base;
    while (!open.empty()) {
      const auto found = children.find(open.back().event);
      if (found != children.end() && open.back().next < found->second.size()) {
        const EventIndex e = found->second[open.back().next++];
        tree_.order_[at] = e;
        tree_.position_[e] = at++;
        open.push_back({e, 0});
        continue;
      }
      if (open.back().event != kNoEvent)
        tree_.subtree_end_[tree_.position_[open.back().event]] = at;
      open.pop_back();
    }
  }

  void LinkByExternalId(const std::vector<EventIndex>& orphans, const CorrelationIndex& launches) {
    const CorrelationIndex ops(events_, CorrelationIndex::Key::kExternalIdOfOps);
    const CorrelationIndex calls(events_, CorrelationIndex::Key::kExternalIdOfCalls);
    for (const EventIndex e : orphans) {
      EventIndex op = ops.Find(e);
      // Where ops have none, the launch calls may.
      if (op == kNoEvent) op = calls.Find(e);
      tree_.parent_[e] = op;
      if (op == kNoEvent) {
        if (launches.IsAmbiguous(e) || ops.IsAmbiguous(e)) ++tree_.ambiguous_;
        tree_.unlinked_.push_back(e);
      } else {
        linked_.push_back(e);
        ++tree_.linked_by_external_id_;
      }
    }
    std::stable_sort(tree_.unlinked_.begin(), tree_.unlinked_.end(),
                     [&](EventIndex a, EventIndex b) { return Key(a) < Key(b); });
  }

  // Start, then stream, then place in the file: the same for a file in any order, but for ties.
  std::tuple<std::int64_t, std::uint32_t, std::uint32_t> Key(EventIndex e) const {
    return {events_[e].ts_ns, events_[e].track, events_[e].uid};
  }

  // By launch, then by start: counted into place, as there are as many launches as work, and in
  // order of file neither is far from the other.
  void OrderGpuWork() {
    const auto launch_of = [&](EventIndex e) { return tree_.position_[tree_.parent_[e]]; };
    Column<std::uint32_t>& begin = tree_.gpu_begin_;
    begin.resize(tree_.order_.size() + 1, 0);
    for (const EventIndex e : linked_)
      ++begin[launch_of(e)];
    std::uint32_t sum = 0;
    for (std::uint32_t& count : begin)
      count = sum += count;
    tree_.gpu_order_.resize(linked_.size(), kNoEvent);
    // From behind, so that each place ends up at its beginning.
    for (std::size_t i = linked_.size(); i-- > 0;)
      tree_.gpu_order_[--begin[launch_of(linked_[i])]] = linked_[i];
    const auto earlier = [&](EventIndex a, EventIndex b) { return Key(a) < Key(b); };
    for (std::size_t at = 0; at + 1 < begin.size(); ++at) {
      EventIndex* const first = tree_.gpu_order_.begin() + begin[at];
      EventIndex* const last = tree_.gpu_order_.begin() + begin[at + 1];
      if (last - first > 1) std::sort(first, last, earlier);
    }
  }

  const EventStore& events_;
  int threads_;
  CallTree tree_;
  std::vector<EventIndex> linked_;
  std::vector<Disputed> disputed_;  // calls outside of the op that their External id names
};

Result<CallTree> BuildTree(const EventStore& events, int threads, Job& job) {
  TreeBuilder builder(events, threads);
  job.Report(0, 2, "nesting");
  builder.Nest();
  JV_TRY(job.Check());
  job.Report(1, 2, "linking");
  // Both read the nesting and write to lists of their own.
  ParallelFor(2, threads > 0 ? threads : DefaultThreads(),
              [&](std::size_t pass) { pass == 0 ? builder.Link() : builder.LinkGradients(); });
  JV_TRY(job.Check());
  builder.Settle();
  return builder.Take();
}

}  // namespace jarvis::tree
