#include "analysis/host/host_time.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;

constexpr std::uint32_t kNoRow = 0xFFFFFFFFu;

struct RowBuild {
  HostTimeRow row;
  std::uint32_t open = 0;                              // events of the row around this moment
  std::int64_t open_since = 0;                         // begin of the outermost
  std::unordered_map<StringId, std::int64_t> by_code;  // self time by user frame
  std::int64_t thread_ns = 0;                          // self time on the thread being walked
  std::int64_t most_ns = -1;                           // on the thread with most of it so far
  bool touched = false;                                // on the thread being walked
};

// Gathers rows from the walks over all threads.
class TimeGatherer {
 public:
  TimeGatherer(const HostInput& input, const Waits& waits, HostNames* names,
               Interval<std::int64_t> base)
      : events_(input.events),
        waits_(waits),
        names_(*names),
        base_(base),
        row_of_name_(input.events.strings.size(), kNoRow) {}

  void StartThread(std::uint32_t thread) { thread_ = thread; }
  void EndThread() {
    for (const std::uint32_t row : touched_) {
      RowBuild& build = rows_[row];
      if (build.thread_ns > build.most_ns) {
        build.most_ns = build.thread_ns;
        build.row.thread = thread_;
      }
      build.row.self_ns += build.thread_ns;
      build.thread_ns = 0;
      build.touched = false;
    }
    touched_.clear();
  }

  void Open(EventIndex e, std::int64_t start) {
    const std::uint32_t row = RowOf(e);
    RowBuild& build = rows_[row];
    const bool same_above = !open_.empty() && open_.back().row == row;
    if (!same_above && InBase(e)) ++build.row.count;
    if (build.open++ == 0) build.open_since = start;
    StringId code = open_.empty() ? kNoString : open_.back().code;
    if (events_[e].kind == EventKind::kPythonFunction && names_.Of(e).user_frame)
      code = events_[e].name;
    open_.push_back({row, code, 0});
  }

  void Piece(EventIndex, std::int64_t start, std::int64_t end) {
    const std::int64_t ns = std::min(end, base_.end) - std::max(start, base_.start);
    if (ns <= 0) return;
    open_.back().self_ns += ns;
  }

  void Close(EventIndex e, std::int64_t end) {
    const Level level = open_.back();
    open_.pop_back();
    RowBuild& build = rows_[level.row];
    build.thread_ns += level.self_ns;
    if (!build.touched) touched_.push_back(level.row);
    build.touched = true;
    if (level.code != kNoString && level.self_ns > 0) build.by_code[level.code] += level.self_ns;
    if (--build.open == 0) {
      build.row.total_ns += std::max<std::int64_t>(
          0, std::min(end, base_.end) - std::max(build.open_since, base_.start));
    }
    if (InBase(e)) selves_.push_back({level.row, level.self_ns});
  }

  std::vector<HostTimeRow> Take() {
    Medians();
    std::vector<HostTimeRow> rows;
    for (RowBuild& build : rows_) {
      if (build.row.count == 0) continue;
      const StringId code = MostOf(build.by_code);
      build.row.code = code == kNoString ? std::string_view() : events_.strings[code];
      if (build.row.code == build.row.name) build.row.code.clear();
      rows.push_back(std::move(build.row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const HostTimeRow& a, const HostTimeRow& b) {
      if (a.self_ns != b.self_ns) return a.self_ns > b.self_ns;
      return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
    });
    return rows;
  }

 private:
  struct Level {
    std::uint32_t row;
    StringId code;  // the nearest user frame around it, itself included
    std::int64_t self_ns;
  };
  struct Self {
    std::uint32_t row;
    std::int64_t ns;
  };

  bool InBase(EventIndex e) const {
    return events_[e].ts_ns < base_.end && events_[e].end_ns() >= base_.start;
  }

  HostRowKind KindOf(EventIndex e) const {
    switch (events_[e].kind) {
      case EventKind::kCpuOp: return names_.Of(e).range ? HostRowKind::kRange : HostRowKind::kOp;
      case EventKind::kPythonFunction: return HostRowKind::kFrame;
      case EventKind::kUserAnnotation: return HostRowKind::kRange;
      default: return HostRowKind::kCall;
    }
  }

  // Names of different kinds rarely agree; a name remembers the row of its last kind.
  std::uint32_t RowOf(EventIndex e) {
    const HostRowKind kind = KindOf(e);
    const bool waits = waits_.Is(e);
    std::uint32_t& known = row_of_name_[events_[e].name];
    if (known != kNoRow && rows_[known].row.kind == kind &&
        rows_[known].row.waits == (waits || names_.Of(e).waiting_frame)) {
      return known;
    }
    std::string key = ShownHostName(events_[e].kind, events_.name(e));
    const bool waiting = waits || (kind == HostRowKind::kFrame && names_.Of(e).waiting_frame);
    const std::string name = key;
    key.push_back(static_cast<char>('0' + static_cast<int>(kind)));
    key.push_back(waiting ? 'w' : '-');
    const auto [found, added] = by_key_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (added) {
      rows_.emplace_back();
      rows_.back().row.kind = kind;
      rows_.back().row.name = name;
      rows_.back().row.waits = waiting;
    }
    return known = found->second;
  }

  // Puts the self times in place by row, then takes each row's middle.
  void Medians() {
    std::vector<std::size_t> begin(rows_.size() + 1, 0);
    for (const Self& self : selves_)
      ++begin[self.row + 1];
    for (std::size_t r = 0; r < rows_.size(); ++r)
      begin[r + 1] += begin[r];
    std::vector<std::int64_t> by_row(selves_.size());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (const Self& self : selves_)
      by_row[next[self.row]++] = self.ns;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (begin[r] == begin[r + 1]) continue;
      const auto at = [&](std::size_t i) {
        return by_row.begin() + static_cast<std::ptrdiff_t>(i);
      };
      const auto middle = at((begin[r] + begin[r + 1]) / 2);
      std::nth_element(at(begin[r]), middle, at(begin[r + 1]));
      rows_[r].row.median_self_ns = *middle;
    }
  }

  // The smallest id of those with equal time, so that the order in the table does not matter.
  static StringId MostOf(const std::unordered_map<StringId, std::int64_t>& sums) {
    StringId best = kNoString;
    std::int64_t most = -1;
    for (const auto& [id, ns] : sums) {
      if (ns < most || (ns == most && id > best)) continue;
      best = id;
      most = ns;
    }
    return best;
  }

  const trace::EventStore& events_;
  const Waits& waits_;
  HostNames& names_;
  Interval<std::int64_t> base_;
  std::uint32_t thread_ = 0;
  std::vector<std::uint32_t> row_of_name_;  // by StringId
  std::unordered_map<std::string, std::uint32_t> by_key_;
  std::vector<RowBuild> rows_;
  std::vector<std::uint32_t> touched_;  // rows with events on the thread being walked
  std::vector<Level> open_;
  std::vector<Self> selves_;
};

}  // namespace

HostTime MeasureHostTime(const HostInput& input, const ThreadTimes& threads, const Waits& waits,
                         HostNames* names) {
  HostTime out;
  out.base = threads.span;
  if (!input.steps.empty()) {
    out.base = input.steps.front();
    for (const Interval<std::int64_t>& step : input.steps)
      out.base.end = std::max(out.base.end, step.end);
  }
  TimeGatherer gatherer(input, waits, names, out.base);
  const auto slices = ThreadsOf(input.events, input.tree);
  for (std::uint32_t t = 0; t < slices.size(); ++t) {
    if (threads.threads[t].role == ThreadRole::kMonitor) continue;
    gatherer.StartThread(t);
    WalkThread(input.events, input.tree, slices[t], &gatherer);
    gatherer.EndThread();
  }
  out.rows = gatherer.Take();
  return out;
}

}  // namespace jarvis::analysis
