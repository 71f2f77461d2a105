#include "tools/ranks/rank_rows.h"

#include <algorithm>
#include <array>

namespace jarvis::tools {
namespace {

using analysis::RankRole;
using analysis::RankStory;

// With more ranks those that are nothing special are folded into ranges.
constexpr std::size_t kRankRowsMax = 16;

double MsOfNs(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

// Where all hosts starve, those that come last are no other cause than the rest.
std::string_view RoleWord(const JobView& job, std::size_t rank) {
  const RankStory& of = job.story.ranks[rank];
  if (of.starved && job.story.starved_ranks == job.story.ranks.size() && job.story.ranks.size() > 1)
    return of.role == RankRole::kCause ? "starved, comes last" : "starved, waits";
  switch (of.role) {
    case RankRole::kCause: return "cause";
    case RankRole::kVictim: return "victim";
    case RankRole::kNeither: return "neither";
  }
  return "neither";
}

// The rows of a table of ranks, before they are shown.
struct RankRow {
  std::string_view role;
  std::array<double, 10> ms{};  // window .. idle, lost
  std::int64_t last = 0;
};

constexpr std::size_t kBubble = 5;  // a place of RankRow::ms

// Whether a place of RankRow::ms is known only where calls of several ranks were matched.
bool IsOfOthers(std::size_t place) {
  constexpr std::size_t kWait = 4;
  constexpr std::size_t kUnmatched = 7;
  return place >= kWait && place <= kUnmatched;
}

RankRow RowOf(const JobView& job, std::size_t rank) {
  const RankStory& story = job.story.ranks[rank];
  const analysis::RankCommTime& comm = job.joint.ranks[rank];
  const auto& facts = job.set.ranks[rank].facts;
  const auto& timeline = job.set.ranks[rank].timeline;
  RankRow row;
  row.role = RoleWord(job, rank);
  double busy = 0;
  double compute = 0;
  if (facts) {
    busy = MsOfNs(facts->busy_ns);
    compute = MsOfNs(facts->compute_ns);
  } else if (timeline) {
    busy = timeline->busy / 1000;
    compute = timeline->computation / 1000;
  }
  const double window = MsOfNs(story.window_ns);
  row.ms = {window,
            busy,
            compute,
            MsOfNs(comm.comm_ns),
            MsOfNs(comm.wait_ns),
            MsOfNs(comm.bubble_ns),
            MsOfNs(comm.transfer_ns),
            MsOfNs(comm.unmatched_ns),
            window - busy,
            MsOfNs(story.lost_ns)};
  row.last = story.came_last;
  return row;
}

}  // namespace

void AddRankRows(const JobView& job, Answer* answer) {
  const bool matched = !job.joint.collectives.empty();
  // Of jobs that are no pipeline there is none.
  const bool bubbles =
      std::any_of(job.joint.ranks.begin(), job.joint.ranks.end(),
                  [](const analysis::RankCommTime& of) { return of.bubble_ns > 0; });
  if (matched) {
    answer->columns = {"rank",         "role",    "window_ms", "busy_ms",
                       "compute_ms",   "comm_ms", "wait_ms",   "transfer_ms",
                       "unmatched_ms", "idle_ms", "last",      "lost_ms"};
    if (bubbles) answer->columns.insert(answer->columns.begin() + 7, "bubble_ms");
  } else {
    answer->columns = {"rank", "window_ms", "busy_ms", "compute_ms", "comm_ms", "idle_ms"};
  }
  std::vector<std::vector<std::size_t>> folds;  // ranks of one row
  std::vector<std::size_t> order(job.set.ranks.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  if (order.size() > kRankRowsMax) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return job.story.ranks[a].lost_ns > job.story.ranks[b].lost_ns;
    });
    std::vector<std::size_t> rest(order.begin() + kRankRowsMax / 2, order.end());
    order.resize(kRankRowsMax / 2);
    for (const RankRole role : {RankRole::kCause, RankRole::kVictim, RankRole::kNeither}) {
      std::vector<std::size_t> same;
      for (const std::size_t rank : rest) {
        if (job.story.ranks[rank].role == role) same.push_back(rank);
      }
      std::sort(same.begin(), same.end());
      if (!same.empty()) folds.push_back(std::move(same));
    }
  }
  for (std::size_t i = order.size(); i-- > 0;)
    folds.insert(folds.begin(), {order[i]});
  for (const auto& ranks : folds) {
    RankRow mean;
    for (const std::size_t rank : ranks) {
      const RankRow row = RowOf(job, rank);
      mean.role = row.role;
      mean.last += row.last;
      for (std::size_t i = 0; i < row.ms.size(); ++i)
        mean.ms[i] += row.ms[i] / static_cast<double>(ranks.size());
    }
    std::vector<std::int64_t> numbers;
    for (const std::size_t rank : ranks)
      numbers.push_back(*job.set.ranks[rank].rank);
    std::vector<Cell> cells = {numbers.size() == 1 ? Cell(numbers.front())
                                                   : Cell(analysis::RankList(numbers) + " (mean)")};
    if (matched) cells.emplace_back(std::string(mean.role));
    for (std::size_t i = 0; i + 1 < mean.ms.size(); ++i) {
      if (i == kBubble && !bubbles) continue;
      if (matched || !IsOfOthers(i)) cells.emplace_back(mean.ms[i]);
    }
    if (matched) cells.insert(cells.end(), {mean.last, mean.ms.back()});
    answer->rows.push_back(std::move(cells));
  }
  answer->total = answer->rows.size();
}

}  // namespace jarvis::tools
