#include "analysis/host/host_pieces.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

class PieceScan {
 public:
  PieceScan(const trace::EventStore& events, const tree::CallTree& tree, std::int64_t min_ns)
      : events_(events), tree_(tree), min_ns_(min_ns) {}

  HostPieces Run() {
    const auto order = tree_.preorder();
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      while (!open_.empty() && at >= open_.back().subtree_end)
        Close();
      Enter(order[at]);
    }
    while (!open_.empty())
      Close();
    Usual();
    return std::move(out_);
  }

 private:
  struct Open {
    EventIndex event;
    std::uint32_t subtree_end;
    std::int64_t cursor;  // up to here its time is accounted for
    std::int64_t end;
    std::int64_t self = 0;
  };

  // The time of `owner` from its cursor to `until` is silent.
  void Emit(EventIndex owner, std::uint32_t track, std::int64_t from, std::int64_t until) {
    if (until - from >= min_ns_) out_.pieces.push_back({owner, track, from, until});
  }

  void Enter(EventIndex e) {
    const trace::Event& event = events_[e];
    std::int64_t end = event.end_ns();
    if (!open_.empty()) {
      Open& up = open_.back();
      Emit(up.event, event.track, up.cursor, event.ts_ns);
      up.self += std::max<std::int64_t>(0, event.ts_ns - up.cursor);
      end = std::min(end, up.end);
      up.cursor = std::max(up.cursor, end);
    } else {
      if (rooted_ && root_track_ == event.track)
        Emit(kNoEvent, event.track, root_cursor_, event.ts_ns);
      root_cursor_ = rooted_ && root_track_ == event.track ? std::max(root_cursor_, end) : end;
      root_track_ = event.track;
      rooted_ = true;
    }
    open_.push_back({e, tree_.subtree_end(e), event.ts_ns, end});
  }

  void Close() {
    const Open& top = open_.back();
    Emit(top.event, events_[top.event].track, top.cursor, top.end);
    const std::int64_t self = top.self + std::max<std::int64_t>(0, top.end - top.cursor);
    self_.emplace_back(events_[top.event].name, self);
    open_.pop_back();
  }

  // Names are dealt out, not sorted, and of each only the middle is looked for: there are many
  // events of few names.
  void Usual() {
    std::vector<std::size_t> begin(events_.strings.size() + 1, 0);
    for (const auto& [name, self] : self_)
      ++begin[name + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    std::vector<std::int64_t> selves(self_.size());
    for (const auto& [name, self] : self_)
      selves[next[name]++] = self;
    for (StringId name = 0; name + 1 < begin.size(); ++name) {
      if (begin[name] == begin[name + 1]) continue;
      const auto first = selves.begin() + static_cast<std::ptrdiff_t>(begin[name]);
      const auto last = selves.begin() + static_cast<std::ptrdiff_t>(begin[name + 1]);
      const auto middle = first + (last - first) / 2;
      std::nth_element(first, middle, last);
      out_.usual[name] = {begin[name + 1] - begin[name], static_cast<double>(*middle)};
    }
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const std::int64_t min_ns_;
  std::vector<Open> open_;
  bool rooted_ = false;  // an outermost event was seen
  std::uint32_t root_track_ = 0;
  std::int64_t root_cursor_ = 0;
  std::vector<std::pair<StringId, std::int64_t>> self_;
  HostPieces out_;
};

}  // namespace

HostPieces FindHostPieces(const trace::EventStore& events, const tree::CallTree& tree,
                          std::int64_t min_ns) {
  return PieceScan(events, tree, min_ns).Run();
}

}  // namespace jarvis::analysis
