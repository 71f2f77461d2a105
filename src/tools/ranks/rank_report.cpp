#include "tools/ranks/rank_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/markdown_text.h"
#include "output/number_format.h"
#include "tools/ranks/job_figures.h"
#include "tools/ranks/later_levers.h"
#include "tools/ranks/rank_rows.h"

namespace jarvis::tools {
namespace {

using analysis::JobLever;
using analysis::LateCause;
using analysis::RankStory;
using documents::CellOfText;
using documents::MarkdownTable;

constexpr std::size_t kListedMax = 6;
constexpr std::size_t kLeversMax = 5;

// Why a rank was late, as a sentence has it.
constexpr std::pair<LateCause, const char*> kCauseWords[] = {
    {LateCause::kStall, "its host stood still"},
    {LateCause::kStarved, "its host was not given a processor"},
    {LateCause::kMemory, "its host took or gave back memory"},
    {LateCause::kLongOp, "a long op or call of its host"},
    {LateCause::kCompute, "more GPU work than the others"},
    {LateCause::kBefore, "its collective before ended later than the others'"},
    {LateCause::kAhead, "work that the others had done while they waited for it before"},
    {LateCause::kHost, "its host was later without a single long stop"},
    {LateCause::kUnknown, "of no cause that is recorded"},
};

class ReportWriter {
 public:
  ReportWriter(const JobView& job, const std::vector<analysis::LoneKind>& lone,
               const RankWorkload* workload)
      : job_(job), lone_(lone), workload_(workload) {}

  std::string Write(const std::string& verdict, const std::string& fleet) {
    Line("# What the ranks wait for");
    Line("");
    Line("**{}**", CellOfText(documents::Capitalised(verdict)));
    Line("");
    Job();
    Ranks();
    out_ += fleet;
    if (lone_.empty()) {
      Causes();
      Levers();
    } else {
      LoneKinds();
    }
    Computation();
    Collectives();
    Trust();
    Limits();
    return std::move(out_);
  }

 private:
  template <typename... T>
  void Line(fmt::format_string<T...> format, T&&... values) {
    out_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  void Job() {
    if (workload_ != nullptr && !workload_->line.empty())
      Line("What it is, by rank {}: {}\n", workload_->rank, CellOfText(workload_->line));
    const auto& ranks = job_.set.ranks;
    std::string text = job_.set.world_size
                           ? fmt::format("{} of {} ranks", ranks.size(), *job_.set.world_size)
                           : fmt::format("{} ranks", ranks.size());
    if (!ranks.front().device.empty()) text += ", " + documents::Code(ranks.front().device, 60);
    if (job_.story.steps > 0) {
      text += job_.story.steps == 1 ? std::string("; 1 recorded step")
                                    : fmt::format("; {} recorded steps ({} ms on the slowest rank)",
                                                  job_.story.steps, MsText(job_.story.step_ns));
    }
    Line("{}. Figures are of the {}, {} ms{}.", text, BaseWords(job_), MsText(BaseOf(job_)),
         job_.story.base_count > 0 ? fmt::format(" on rank {}, as its own analysis has it",
                                                 *job_.set.ranks[job_.story.base_rank].rank)
                                   : "");
    if (const std::string comm = CommText(job_); !comm.empty())
      Line("{}.", documents::Capitalised(comm));
    Line("");
  }

  void Ranks() {
    Line("## Where each rank's time goes (ms)");
    Line("");
    Answer rows;
    AddRankRows(job_, &rows);
    const std::vector<bool> shown = ShownColumns(rows);
    std::vector<std::string> header;
    for (std::size_t i = 0; i < rows.columns.size(); ++i) {
      if (shown[i]) header.push_back(rows.columns[i]);
    }
    MarkdownTable table(header);
    for (const auto& row : rows.rows) {
      std::vector<std::string> cells;
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (!shown[i]) continue;
        const auto* number = std::get_if<double>(&row[i]);
        cells.push_back(number == nullptr ? CellOfText(output::CellText(row[i]))
                                          : MsDigits(*number));
      }
      table.Row(std::move(cells));
    }
    out_ += table.text() + "\n" + LedgersText(job_);
    if (job_.joint.collectives.empty()) return;
    Line(
        "base: what figures are of, by the rank's ledger (table `ledger`, with idle time by "
        "cause). wait + {}transfer + unmatched = exposed_comm, which nothing hides. `last` and "
        "`lost` are of the base: arrivals later than the clocks may be wrong ({} ms); how "
        "much later than the others' median, the first collective apart.",
        HasBubble() ? "bubble (waiting for another stage of the pipeline, the doing of no rank) + "
                    : "",
        MsText(job_.joint.clock_error_ns));
    Line("");
  }

  bool HasBubble() const {
    return std::any_of(job_.joint.ranks.begin(), job_.joint.ranks.end(),
                       [](const analysis::RankCommTime& of) { return of.bubble_ns > 0; });
  }

  // All but columns of times that round to nothing on every rank.
  static std::vector<bool> ShownColumns(const Answer& rows) {
    constexpr double kNothingMs = 0.005;
    std::vector<bool> shown;
    for (std::size_t i = 0; i < rows.columns.size(); ++i) {
      shown.push_back(rows.columns[i] != "unmatched_ms" ||
                      std::any_of(rows.rows.begin(), rows.rows.end(), [&](const auto& row) {
                        const auto* ms = std::get_if<double>(&row[i]);
                        return ms == nullptr || *ms >= kNothingMs;
                      }));
    }
    return shown;
  }

  void Causes() {
    std::vector<std::size_t> order;
    for (std::size_t rank = 0; rank < job_.story.ranks.size(); ++rank) {
      if (job_.story.ranks[rank].lost_ns > job_.joint.clock_error_ns) order.push_back(rank);
    }
    if (order.empty()) return;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return job_.story.ranks[a].lost_ns > job_.story.ranks[b].lost_ns;
    });
    if (order.size() > kListedMax) order.resize(kListedMax);
    Line("## Who comes last, and why");
    Line("");
    for (const std::size_t rank : order)
      Line("- rank {}: {}", *job_.set.ranks[rank].rank, WhyText(job_.story.ranks[rank]));
    if (job_.story.start_ns > job_.joint.clock_error_ns) {
      Line(
          "- the first collective is not counted: rank {} comes {} ms after the first of them (its "
          "recording, or its work, began later)",
          *job_.set.ranks[job_.story.start_rank].rank, MsText(job_.story.start_ns));
    }
    Victims();
    Line("");
    Stalls();
    Hosts();
  }

  std::string WhyText(const RankStory& of) const {
    std::string text = fmt::format("last {} times, {} ms", of.came_last, MsText(of.lost_ns));
    std::vector<std::pair<std::int64_t, const char*>> parts;
    for (const auto& [cause, words] : kCauseWords) {
      const std::int64_t ns = of.lost_by[static_cast<std::size_t>(cause)];
      if (ns > 0 && ns >= of.lost_ns / 50) parts.emplace_back(-ns, words);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < parts.size(); ++i)
      text +=
          fmt::format("{}{} {}", i == 0 ? ": " : ", ", MsText(-parts[i].first), parts[i].second);
    return text;
  }

  // Where the rank that waits most spends it on its host: calls that look like costs.
  void Victims() {
    constexpr std::size_t kMost = 3;
    std::optional<std::size_t> victim;
    for (std::size_t rank = 0; rank < job_.set.ranks.size(); ++rank) {
      if (job_.story.ranks[rank].role == analysis::RankRole::kVictim &&
          (!victim || job_.joint.ranks[rank].wait_ns > job_.joint.ranks[*victim].wait_ns))
        victim = rank;
    }
    if (!victim || !job_.set.ranks[*victim].facts) return;
    const analysis::RankFacts& facts = *job_.set.ranks[*victim].facts;
    std::map<std::string, std::int64_t> calls;
    for (const analysis::RankHostWait& wait : facts.waits)
      calls[facts.names[wait.call]] += wait.dur_ns;
    std::vector<std::pair<std::int64_t, std::string>> longest;
    for (const auto& [name, ns] : calls) {
      if (ns >= job_.story.base_ns / 20) longest.emplace_back(-ns, documents::Code(name, 60));
    }
    if (longest.empty()) return;
    std::sort(longest.begin(), longest.end());
    std::string text;
    for (std::size_t i = 0; i < longest.size() && i < kMost; ++i)
      text += fmt::format("{}{} ({} ms)", i == 0 ? "" : ", ", longest[i].second,
                          MsText(-longest[i].first));
    Line(
        "- on rank {}, which waits most, it shows on the host as {}: these calls wait for queued "
        "GPU work, no cost of their own{}",
        *job_.set.ranks[*victim].rank, text,
        HasMemoryLever() ? ", and are not those that the change below is about" : "");
  }

  bool HasMemoryLever() const {
    return std::any_of(
        job_.story.levers.begin(), job_.story.levers.end(),
        [](const JobLever& lever) { return lever.kind == analysis::LeverKind::kMemory; });
  }

  void Stalls() {
    if (job_.story.stalls.empty()) return;
    MarkdownTable table({"rank", "where its host stood", "times", "each", "cost", "before"});
    for (const analysis::HostStall& stall : job_.story.stalls) {
      if (stall.late_ns < job_.story.lost_ns / 100) continue;
      table.Row({fmt::format("{}", *job_.set.ranks[stall.rank].rank), CellOfText(StallPlace(stall)),
                 fmt::format("{}", stall.times), MsText(stall.typical_ns), MsText(stall.late_ns),
                 std::string(analysis::CommFamilyName(stall.next))});
    }
    if (table.empty()) return;
    out_ += table.text();
    Line("");
  }

  // Where processors are short: what each host had of the time.
  void Hosts() {
    if (job_.story.starved_ranks == 0) return;
    std::int64_t least = 0;
    std::int64_t most = 0;
    bool first = true;
    for (std::size_t rank = 0; rank < job_.story.ranks.size(); ++rank) {
      const RankStory& of = job_.story.ranks[rank];
      if (!of.starved) continue;
      const std::int64_t on = of.host_ns - of.starved_ns - job_.set.ranks[rank].facts->wait_ns;
      least = first ? on : std::min(least, on);
      most = first ? on : std::max(most, on);
      first = false;
    }
    Line(
        "{} of {} ranks lose pieces of their host's time at places all over; what is left for work "
        "is at most {} to {} ms (losses below 0.5 ms are not listed). A rank whose GPU has work "
        "queued hides its losses, one that has none "
        "comes last: median lead of its launches {}.",
        job_.story.starved_ranks, job_.story.ranks.size(), MsText(least), MsText(most), Leads());
    GpuFloor();
    Line("");
  }

  // What would set the pace if the hosts did not.
  void GpuFloor() {
    std::int64_t compute = 0;
    std::int64_t transfer = 0;
    for (std::size_t rank = 0; rank < job_.set.ranks.size(); ++rank) {
      const auto& ledger = job_.set.ranks[rank].ledger;
      if (!ledger || ledger->compute_ns + job_.joint.ranks[rank].transfer_ns <= compute + transfer)
        continue;
      compute = ledger->compute_ns;
      transfer = job_.joint.ranks[rank].transfer_ns;
    }
    Line(
        "The GPU's work, which would set the pace then: {} ms of computation and {} of transfer on "
        "the rank that has most.",
        MsText(compute), MsText(transfer));
  }

  std::string Leads() const {
    std::vector<std::int64_t> causes;
    std::vector<std::int64_t> others;
    for (const RankStory& of : job_.story.ranks)
      (of.role == analysis::RankRole::kCause ? causes : others).push_back(of.lead_ns);
    const auto middle = [](std::vector<std::int64_t> of) {
      std::sort(of.begin(), of.end());
      return MsText(of[of.size() / 2]) + " ms";
    };
    if (causes.empty() || others.empty()) return middle(causes.empty() ? others : causes);
    return fmt::format("{} against {} on the others", middle(causes), middle(others));
  }

  static std::string OfRestText(const JobChange& change) {
    return change.of_rest
               ? fmt::format("; {} of what number 1 leaves", PartText(*change.of_rest, 1))
               : std::string();
  }

  void Levers() {
    const std::vector<JobChange> changes = ChangesOf(job_);
    if (changes.empty()) return;
    Line("## What to change, by wall time saved");
    Line("");
    MarkdownTable table(
        {"#", "change", "saves (ms)", "share", "Path A: the code changes", "Path B: it stays"});
    std::size_t row = 0;
    for (const JobChange& change : changes) {
      if (row == kLeversMax) break;
      const bool later = change.later && row > 0;
      const auto path = [&](const std::string& words, const std::optional<double>& bound) {
        if (words.empty()) return std::string("none known");
        if (!change.at_most) return CellOfText(words);
        return CellOfText(words) +
               (bound ? fmt::format(": at most {} ms", MsDigits(*bound)) : ": not sized");
      };
      const bool sized = change.ms > 0;
      table.Row({fmt::format("{}", ++row), CellOfText(change.change),
                 (!sized           ? "not sized"
                  : change.at_most ? "at most " + MsDigits(change.ms)
                                   : MsDigits(change.ms)) +
                     (later ? ", shows after number 1" : ""),
                 sized ? PartText(change.ms, MillisOf(BaseOf(job_))) + OfRestText(change)
                       : std::string(documents::kAbsentText),
                 path(change.paths.a, change.bounds.a), path(change.paths.b, change.bounds.b)});
    }
    out_ += table.text();
    Line("");
    Line(
        "Each saving is of the {} ms that figures are of: where no \"at most\" stands, by "
        "replaying "
        "the collectives with that change alone; they do not add up.",
        MsText(BaseOf(job_)));
    Line("");
  }

  // What the ranks compute, by the trace of one.
  void Computation() {
    if (workload_ == nullptr || workload_->categories.empty()) return;
    Line("## What the ranks compute, by rank {}", workload_->rank);
    Line("");
    MarkdownTable table({"category", "ms", "of the computation", "of its roof", "ops"});
    for (const RankWorkload::Category& category : workload_->categories) {
      table.Row({CellOfText(category.name), MsDigits(category.ms),
                 PartText(category.ms, workload_->computation_ms),
                 category.efficiency ? fmt::format("{:.0f} %", *category.efficiency)
                                     : std::string(documents::kAbsentText),
                 CellOfText(category.ops)});
    }
    out_ += table.text();
    Line("");
    if (workload_->unlinked_ms >= workload_->computation_ms / 100) {
      Line("{} ms of its GPU work have no launch in the trace and are in none of these rows.",
           MsDigits(workload_->unlinked_ms));
      Line("");
    }
  }

  void LoneKinds() {
    Line("## Its collectives");
    Line("");
    MarkdownTable table({"collective", "size", "calls", "shortest", "median", "longest", "total",
                         "best bus GB/s", "looks like waiting"});
    for (const analysis::LoneKind& kind : lone_) {
      if (table.rows() == kListedMax) break;
      table.Row({std::string(analysis::CommFamilyName(kind.family)),
                 kind.bytes ? BytesText(static_cast<double>(*kind.bytes))
                            : std::string(documents::kAbsentText),
                 fmt::format("{}", kind.calls), MsText(kind.shortest_ns), MsText(kind.median_ns),
                 MsText(kind.longest_ns), MsText(kind.total_ns), BusText(kind.bus_gb_s),
                 kind.sign ? fmt::format("{} of it", MsText(kind.excess_ns)) : "no sign"});
    }
    out_ += table.text();
    Line("");
    for (const analysis::LoneKind& kind : lone_) {
      if (const std::string text = LoneText(kind); !text.empty()) Line("- {}", text);
    }
    const auto& ledger = job_.set.ranks.front().ledger;
    if (ledger) {
      Line(
          "- Of the {} ms that figures are of, {} are communication that nothing hides: that, and "
          "not more, can be won on this rank",
          MsText(ledger->base_ns), MsText(ledger->exposed_ns()));
    }
    Line("");
  }

  static std::string BusText(const std::optional<double>& bus) {
    return bus ? ThreeDigits(*bus) : std::string(documents::kAbsentText);
  }

  // The best rate of each size, of whichever rank waited least for it.
  void Rates() {
    std::map<std::pair<std::string_view, std::int64_t>, analysis::LoneKind> best;
    for (const analysis::RankDigest& digest : job_.set.ranks) {
      for (const analysis::LoneKind& kind : analysis::LookAtLoneRank(digest)) {
        if (!kind.bus_gb_s) continue;
        const auto [found, added] =
            best.try_emplace({analysis::CommFamilyName(kind.family), *kind.bytes}, kind);
        if (added) continue;
        found->second.calls = std::max(found->second.calls, kind.calls);
        if (kind.bus_gb_s <= found->second.bus_gb_s) continue;
        found->second.bus_gb_s = kind.bus_gb_s;
        found->second.shortest_ns = kind.shortest_ns;
      }
    }
    std::vector<analysis::LoneKind> kinds;
    for (const auto& [key, kind] : best)
      kinds.push_back(kind);
    std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
      return static_cast<double>(*a.bytes) * static_cast<double>(a.calls) >
             static_cast<double>(*b.bytes) * static_cast<double>(b.calls);
    });
    if (kinds.size() > kListedMax) kinds.resize(kListedMax);
    const auto moved = [](const analysis::LoneKind& kind) {
      return static_cast<double>(*kind.bytes) * static_cast<double>(kind.calls);
    };
    for (const analysis::LoneKind& kind : kinds) {
      // Next to the largest these say nothing of the link.
      if (moved(kind) < moved(kinds.front()) / 100) break;
      Line("- {} of {}, {} calls a rank: {} ms at best, {} GB/s on the bus",
           analysis::CommFamilyName(kind.family), BytesText(static_cast<double>(*kind.bytes)),
           kind.calls, MsText(kind.shortest_ns), BusText(kind.bus_gb_s));
    }
    if (!kinds.empty()) Line("");
  }

  void Collectives() {
    if (job_.joint.collectives.empty()) return;
    Line("## What the collectives cost by themselves");
    Line("");
    MarkdownTable table({"collective", "matched", "shortest call of each, summed",
                         "a rank spent at least", "at most"});
    for (const analysis::FamilyTime& family : job_.joint.families) {
      const auto [least, most] =
          std::minmax_element(family.by_rank_ns.begin(), family.by_rank_ns.end());
      table.Row({std::string(analysis::CommFamilyName(family.family)),
                 fmt::format("{}", family.matched), MsText(family.shortest_ns), MsText(*least),
                 MsText(*most)});
    }
    out_ += table.text();
    Line("");
    Rates();
  }

  void Trust() {
    Line("## How far to trust it");
    Line("");
    if (!job_.joint.collectives.empty()) {
      Line(
          "- Clocks: ends of matched collectives agree within {} ms after shifting ranks by at "
          "most {} ms{}.",
          MsText(job_.joint.clock_error_ns), MsText(LargestShift()),
          job_.joint.impossible == 0
              ? ""
              : fmt::format("; in {} of {} a rank still ends before another begins",
                            job_.joint.impossible, job_.joint.collectives.size()));
    }
    std::int64_t unmatched = 0;
    std::int64_t calls = 0;
    for (const analysis::RankCommTime& of : job_.joint.ranks) {
      unmatched += of.unmatched;
      calls += of.unmatched + of.matched;
    }
    if (lone_.empty() && unmatched > 0) {
      Line(
          "- {} of {} calls have no partner on all ranks (recordings begin or end apart, or "
          "groups are not named); their time is in `unmatched`.",
          unmatched, calls);
    }
    Unlinked();
    if (lone_.empty() && !job_.story.replayed) {
      Line(
          "- No savings: a digest of an older version says nothing of its host; make it again "
          "with `jarvis digest`.");
    } else {
      Inferred();
    }
    if (!job_.set.missing.empty() && lone_.empty()) {
      Line("- No trace of rank {}: waits are lower bounds, and the cause may be there.",
           analysis::RankList(job_.set.missing));
    }
    Line("");
  }

  // What the first changes rest on and no event says.
  void Inferred() {
    const auto& levers = job_.story.levers;
    const auto has = [&](analysis::LeverKind kind) {
      return std::any_of(levers.begin(), levers.end(),
                         [&](const JobLever& lever) { return lever.kind == kind; });
    };
    if (has(analysis::LeverKind::kStarvedAll)) {
      Line(
          "- That hosts lose the processor is inferred from pauses inside arbitrary short calls: "
          "no scheduler is in the traces, and how many cores the ranks may use is {}. What is left "
          "of the hosts' time is an upper bound of their work.",
          job_.story.standing ? "told by how many stand still at once alone" : "unknown");
    }
    if (has(analysis::LeverKind::kStall)) {
      Line(
          "- Nothing is recorded inside the stop: that it is a sleep, a time-out or another "
          "process "
          "is inferred from its length.");
    }
    if (job_.story.steps == 1 && !levers.empty()) {
      const bool forward = workload_ != nullptr && !workload_->training;
      Line("- One step is recorded{}: whether each one loses as much cannot be told.",
           forward ? ", forward only" : "");
    }
  }

  std::int64_t LargestShift() const {
    std::int64_t most = 0;
    for (const analysis::RankClock& clock : job_.joint.clocks)
      most = std::max(most, std::abs(clock.offset_ns));
    return most;
  }

  // Calls whose launch was not recorded cannot be blamed on the host.
  void Unlinked() {
    std::int64_t unlinked = 0;
    for (const analysis::RankDigest& digest : job_.set.ranks) {
      if (!digest.facts) continue;
      unlinked += std::count_if(digest.facts->arrivals.begin(), digest.facts->arrivals.end(),
                                [](const auto& how) { return !how.launch_ns; });
    }
    if (unlinked > 0) {
      Line(
          "- {} communication kernels were launched before the recording began: what the host did "
          "before them is not there.",
          unlinked);
    }
  }

  void Limits() {
    Line("## What to record next");
    Line("");
    if (!lone_.empty() || !job_.set.missing.empty()) {
      Line(
          "- The same step on every rank (one trace a rank, same schedule), then `jarvis "
          "collectives DIRECTORY`.");
    }
    if (std::any_of(job_.story.stalls.begin(), job_.story.stalls.end(),
                    [](const auto& stall) { return stall.place == analysis::HostPlace::kEmpty; })) {
      Line(
          "- One step with `with_stack=True` on rank {}: the stretch has no op, only Python can "
          "name it.",
          *job_.set.ranks[job_.story.stalls.front().rank].rank);
    }
    if (job_.story.starved_ranks > 0) {
      Line(
          "- `nproc` and `taskset -p` inside each rank's container, and `pidstat -wt 1` or `perf "
          "sched record` beside the job: the cores there are, and involuntary context switches.");
    }
    for (const std::string& line : NotTold(job_))
      Line("- {}", CellOfText(line));
    if (!SizesKnown(job_) && NotTold(job_).empty()) {
      Line(
          "- Sizes of messages are not recorded, so there is no bandwidth: PyTorch 2.2 or newer, "
          "or `record_shapes=True`.");
    }
  }

  const JobView& job_;
  const std::vector<analysis::LoneKind>& lone_;
  const RankWorkload* workload_;
  std::string out_;
};

}  // namespace

std::string RanksReport(const JobView& job, const std::string& verdict,
                        const std::vector<analysis::LoneKind>& lone, const RankWorkload* workload,
                        const std::string& fleet) {
  return ReportWriter(job, lone, workload).Write(verdict, fleet);
}

}  // namespace jarvis::tools
