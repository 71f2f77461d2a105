#include "tools/ranks/rank_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/markdown_text.h"

namespace jarvis::tools {
namespace {

using analysis::RankRole;
using analysis::RankStory;

// With more ranks those that are nothing special are folded into ranges.
constexpr std::size_t kRankRowsMax = 16;

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

// The rows of a table of ranks, before they are shown; milliseconds. What the books of no rank say
// is absent.
struct RankRow {
  std::string_view role;
  std::string base;  // "2 steps"; empty: not known, or not the same of folded ranks
  std::array<std::optional<double>, 10> ms{};  // base .. idle, lost
  std::int64_t last = 0;
};

// Places of RankRow::ms; transfer lies between the last two.
constexpr std::size_t kWait = 4;
constexpr std::size_t kBubble = 5;
constexpr std::size_t kUnmatched = 7;

Cell MsCell(const std::optional<double>& ms) {
  return ms ? Cell(*ms) : Cell();
}

std::string BaseText(const analysis::RankLedger& ledger) {
  if (ledger.count == 1) return ledger.unit;
  return fmt::format("{} {}{}", ledger.count, ledger.unit, ledger.unit.ends_with('s') ? "es" : "s");
}

// Whether a place of RankRow::ms is known only where calls of several ranks were matched.
bool IsOfOthers(std::size_t place) {
  return place >= kWait && place <= kUnmatched;
}

RankRow RowOf(const JobView& job, std::size_t rank) {
  const RankStory& story = job.story.ranks[rank];
  RankRow row;
  row.role = RoleWord(job, rank);
  row.last = story.came_last;
  row.ms.back() = MillisOf(story.lost_ns);
  const auto& ledger = job.set.ranks[rank].ledger;
  if (!ledger) return row;
  row.base = BaseText(*ledger);
  row.ms[0] = MillisOf(ledger->base_ns);
  row.ms[1] = MillisOf(ledger->busy_ns);
  row.ms[2] = MillisOf(ledger->compute_ns);
  row.ms[3] = MillisOf(ledger->exposed_ns());
  if (const auto split = analysis::SplitExposed(job.set, job.joint, rank)) {
    row.ms[kWait] = MillisOf(split->wait_ns);
    row.ms[kBubble] = MillisOf(split->bubble_ns);
    row.ms[kBubble + 1] = MillisOf(split->transfer_ns);
    row.ms[kUnmatched] = MillisOf(split->unmatched_ns);
  }
  row.ms[kUnmatched + 1] = MillisOf(ledger->idle_ns());
  return row;
}

// Of ranks that are folded into one row.
RankRow MeanOf(const JobView& job, const std::vector<std::size_t>& ranks) {
  RankRow mean;
  std::array<double, std::tuple_size_v<decltype(mean.ms)>> known{};
  for (const std::size_t rank : ranks) {
    const RankRow row = RowOf(job, rank);
    mean.base = rank == ranks.front() || mean.base == row.base ? row.base : "";
    mean.role = row.role;
    mean.last += row.last;
    for (std::size_t i = 0; i < row.ms.size(); ++i) {
      if (!row.ms[i]) continue;
      mean.ms[i] = mean.ms[i].value_or(0) + *row.ms[i];
      ++known[i];
    }
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (mean.ms[i]) *mean.ms[i] /= known[i];
  }
  return mean;
}

}  // namespace

void AddRankRows(const JobView& job, Answer* answer) {
  const bool matched = !job.joint.collectives.empty();
  // Of jobs that are no pipeline there is none.
  const bool bubbles =
      std::any_of(job.joint.ranks.begin(), job.joint.ranks.end(),
                  [](const analysis::RankCommTime& of) { return of.bubble_ns > 0; });
  if (matched) {
    answer->columns = {"rank",
                       "role",
                       "base",
                       "base_ms",
                       "busy_ms",
                       "compute_ms",
                       "exposed_comm_ms",
                       "wait_ms",
                       "transfer_ms",
                       "unmatched_ms",
                       "idle_ms",
                       "last",
                       "lost_ms"};
    if (bubbles) answer->columns.insert(answer->columns.begin() + 8, "bubble_ms");
  } else {
    answer->columns = {"rank",   "base", "base_ms", "busy_ms", "compute_ms", "exposed_comm_ms",
                       "idle_ms"};
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
    const RankRow mean = MeanOf(job, ranks);
    std::vector<std::int64_t> numbers;
    for (const std::size_t rank : ranks)
      numbers.push_back(*job.set.ranks[rank].rank);
    std::vector<Cell> cells = {numbers.size() == 1 ? Cell(numbers.front())
                                                   : Cell(analysis::RankList(numbers) + " (mean)")};
    if (matched) cells.emplace_back(std::string(mean.role));
    cells.push_back(mean.base.empty() ? Cell() : Cell(mean.base));
    for (std::size_t i = 0; i + 1 < mean.ms.size(); ++i) {
      if (i == kBubble && !bubbles) continue;
      if (matched || !IsOfOthers(i)) cells.push_back(MsCell(mean.ms[i]));
    }
    if (matched) cells.insert(cells.end(), {mean.last, MsCell(mean.ms.back())});
    answer->rows.push_back(std::move(cells));
  }
  answer->total = answer->rows.size();
}

std::string LedgersText(const JobView& job) {
  if (job.set.ranks.size() > kRankRowsMax) return {};
  documents::MarkdownTable table({"rank", "of", "unit", "idle by the host", "host not scheduled",
                                  "idle otherwise", "exposed copies", "host alone", "one-time work",
                                  "left out", "bound"});
  for (const analysis::RankDigest& digest : job.set.ranks) {
    if (!digest.ledger) continue;
    const analysis::RankLedger& of = *digest.ledger;
    table.Row({fmt::format("{}", *digest.rank), BaseText(of), MsText(of.unit_ns()),
               MsText(of.idle_host_ns), MsText(of.not_scheduled_ns), MsText(of.idle_other_ns),
               MsText(of.copy_ns), MsText(of.host_alone_ns), MsText(of.one_time_ns),
               MsText(of.left_out_ns), of.bound});
  }
  return table.empty() ? std::string() : table.text() + "\n";
}

}  // namespace jarvis::tools
