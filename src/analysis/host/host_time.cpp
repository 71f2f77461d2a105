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
  std::unordered_map<std::uint32_t, std::int64_t> by_thread;
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
    Level& level = open_.back();
    level.self_ns += ns;
    RowBuild& build = rows_[level.row];
    build.row.self_ns += ns;
    build.by_thread[thread_] += ns;
    if (level.code != kNoString) build.by_code[level.code] += ns;
  }

  void Close(EventIndex e, std::int64_t end) {
    const Level level = open_.back();
    open_.pop_back();
    RowBuild& build = rows_[level.row];
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
      build.row.thread = MostOf(build.by_thread, std::uint32_t{0});
      const StringId code = MostOf(build.by_code, kNoString);
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

  void Medians() {
    std::stable_sort(selves_.begin(), selves_.end(), [](const Self& a, const Self& b) {
      return a.row != b.row ? a.row < b.row : a.ns < b.ns;
    });
    for (std::size_t begin = 0; begin < selves_.size();) {
      std::size_t end = begin;
      while (end < selves_.size() && selves_[end].row == selves_[begin].row)
        ++end;
      rows_[selves_[begin].row].row.median_self_ns = selves_[(begin + end) / 2].ns;
      begin = end;
    }
  }

  template <typename Key>
  static Key MostOf(const std::unordered_map<Key, std::int64_t>& sums, Key none) {
    Key best = none;
    std::int64_t most = -1;
    for (const auto& [key, ns] : sums) {
      if (ns < most || (ns == most && key > best)) continue;
      best = key;
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
  }
  out.rows = gatherer.Take();
  return out;
}

}  // namespace jarvis::analysis
