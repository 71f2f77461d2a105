#include "tree/build.h"

#include <algorithm>

#include "base/parallel.h"
#include "tree/correlation_index.h"
#include "tree/grad_links.h"
#include "tree/nest.h"

namespace jarvis::tree {

using trace::Event;
using trace::EventKind;
using trace::EventStore;

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
    std::vector<EventIndex> orphans;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const Event& event = events_[e];
      if (!trace::IsGpuWork(event.kind) || (event.flags & trace::kLeftOut) != 0) continue;
      const EventIndex call = launches.Find(events_.args_of(e).correlation, event.ts_ns);
      tree_.parent_[e] = call;
      (call == kNoEvent ? orphans : linked_).push_back(e);
    }
    if (!orphans.empty()) LinkByExternalId(orphans);
    OrderGpuWork();
  }

  void LinkGradients() { GradLinks(events_, tree_, &tree_.forward_of_, &tree_.backward_of_); }

  CallTree Take() { return std::move(tree_); }

 private:
  void LinkByExternalId(const std::vector<EventIndex>& orphans) {
    const CorrelationIndex ops(events_, CorrelationIndex::Key::kExternalIdOfOps);
    const CorrelationIndex calls(events_, CorrelationIndex::Key::kExternalIdOfCalls);
    for (const EventIndex e : orphans) {
      const std::int64_t id = events_.args_of(e).external_id;
      EventIndex op = ops.Find(id, events_[e].ts_ns);
      // Where ops have none, the launch calls may.
      if (op == kNoEvent) op = calls.Find(id, events_[e].ts_ns);
      tree_.parent_[e] = op;
      if (op == kNoEvent) {
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
  return builder.Take();
}

}  // namespace jarvis::tree
