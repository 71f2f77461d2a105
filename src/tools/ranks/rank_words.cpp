#include "tools/ranks/rank_words.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "base/text.h"
#include "tools/ranks/balance_words.h"
#include "tools/ranks/job_figures.h"
#include "tools/ranks/later_levers.h"

namespace jarvis::tools {
namespace {

using analysis::HostPlace;
using analysis::HostStall;
using analysis::JobLever;
using analysis::JointCollective;
using analysis::LeverKind;
using analysis::RankRole;
using analysis::RankStory;

constexpr std::size_t kNameCharactersMax = 60;
constexpr std::size_t kLeversShown = 5;

// Names come from the trace: one line, not endless.
std::string Quoted(const std::string& name) {
  const std::string line = OneLine(name);
  const std::string_view shown = Utf8Characters(line, kNameCharactersMax);
  return std::string(shown) + (shown.size() < line.size() ? "..." : "");
}

// What a stretch lies between.
std::string Neighbours(const HostStall& stall) {
  if (stall.before == stall.after)
    return fmt::format("between two calls of {}", Quoted(stall.before));
  return fmt::format("between {} and {}", Quoted(stall.before), Quoted(stall.after));
}

// "435 to 467", or one number.
std::string Between(std::int64_t least, std::int64_t most) {
  const std::string low = MsText(least);
  const std::string high = MsText(most);
  return low == high ? low : low + " to " + high;
}

// What figures are of, as the subject of a sentence.
std::string RecordedText(const JobView& job) {
  return fmt::format("the {} take{}", BaseWords(job), job.story.base_count > 1 ? "" : "s");
}

std::string Without(const JobView& job, const JobLever& lever) {
  const std::int64_t base = BaseOf(job);
  std::string text =
      fmt::format("{} {} ms instead of {} ({} less)", RecordedText(job),
                  MsText(base - lever.saved_ns), MsText(base), ShareText(lever.saved_ns, base));
  if (const std::int64_t late = LateBegin(job); late > 0) {
    text += fmt::format("; rank {} starts {} ms late, times are from its start",
                        *job.set.ranks[job.story.late_begin_rank].rank, MsText(late));
  }
  return text;
}

// Stretches of one length are somebody's setting.
bool IsConstant(const HostStall& stall) {
  constexpr std::int64_t kWithin = 100;
  return stall.times > 1 && (stall.longest_ns - stall.shortest_ns) * kWithin <= stall.typical_ns;
}

std::string TimesText(std::int64_t times) {
  return times == 1 ? "once" : times == 2 ? "twice" : fmt::format("{} times", times);
}

// Stops after the end of the shortest recording delay nobody whose trace is there.
std::string EarlyEndText(const JobView& job) {
  const std::int64_t early = job.story.early_end_ns;
  if (early < job.story.base_ns / 20) return {};
  return fmt::format(
      " Rank {}'s recording ends {} ms before the last: what comes after that is in "
      "no saving.",
      *job.set.ranks[job.story.early_end_rank].rank, MsText(early));
}

std::string StallVerdict(const JobView& job, const JobLever& lever) {
  const HostStall& stall = job.story.stalls[lever.which];
  std::string text =
      fmt::format("rank {} stops for {} ms {} before its {} ({})", *job.set.ranks[stall.rank].rank,
                  MsText(stall.typical_ns), TimesText(stall.times),
                  analysis::CommFamilyName(stall.next), StallPlace(stall));
  text += "; without it " + Without(job, lever) + ".";
  if (IsConstant(stall)) {
    text += " It is of the same length each time, as a sleep or a time-out is.";
  }
  return text + EarlyEndText(job);
}

std::string StarvedVerdict(const JobView& job, const JobLever& lever) {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::vector<std::pair<std::int64_t, std::size_t>> last;
  for (const std::size_t rank : lever.ranks) {
    const RankStory& of = job.story.ranks[rank];
    least = rank == lever.ranks.front() ? of.starved_ns : std::min(least, of.starved_ns);
    most = std::max(most, of.starved_ns);
    if (of.role == RankRole::kCause) last.emplace_back(-of.lost_ns, rank);
  }
  std::sort(last.begin(), last.end());
  std::string text = fmt::format(
      "the hosts of {} do not get the processor for {} ms, by the pattern of what is missing; "
      "with enough cores {}.",
      RanksText(job, lever.ranks), Between(least, most), Without(job, lever));
  text += " The pieces lie inside arbitrary ops";
  if (job.story.tick_ns)
    text += fmt::format(", and many begin on a common {} ms tick", MsText(*job.story.tick_ns));
  if (const auto& standing = job.story.standing) {
    const std::size_t cores = standing->of - standing->still;
    text += fmt::format(
        "; for {:.0f} % of the time exactly {} of the {} processes stand still at once, as where "
        "{} core{} {} shared by {} processes",
        100 * standing->share, standing->still, standing->of, cores, cores == 1 ? "" : "s",
        cores == 1 ? "is" : "are", standing->of);
  }
  if (!last.empty()) {
    std::vector<std::string> who;
    for (const auto& [lost, rank] : last) {
      who.push_back(fmt::format("rank {} ({}x, {} ms)", *job.set.ranks[rank].rank,
                                job.story.ranks[rank].came_last, MsText(-lost)));
    }
    text += fmt::format(". Last to arrive is {}: {} less work queued ahead, not another cause",
                        fmt::join(who, ", "), who.size() == 1 ? "it has" : "they have");
    for (const JobLever& other : job.story.levers) {
      if (other.kind == LeverKind::kStarvedLate) {
        text += fmt::format("; curing {} alone saves {} ms", RanksText(job, other.ranks),
                            MsText(other.saved_ns));
      }
    }
  }
  return text + "." + EarlyEndText(job);
}

// Stages of a pipeline that wait for one another.
std::string BubbleVerdict(const JobView& job, const CommSums& sums) {
  std::int64_t fill = 0;
  for (const analysis::RankCommTime& of : job.joint.ranks)
    fill = std::max(fill, of.fill_ns);
  std::string text = fmt::format(
      "no rank keeps the others waiting: {} ms ({}) of the {} is the pipeline's "
      "bubble, in which a stage waits for the one before or after it; up to {} ms of it is the "
      "fill, until a stage's first input arrives",
      MsDigits(sums.bubble), PartText(sums.bubble, sums.comm), sums.name(), MsText(fill));
  if (job.story.early_end_ns >= job.story.base_ns / 20) {
    text +=
        fmt::format(", and rank {} is done {} ms before the last stage (the drain)",
                    *job.set.ranks[job.story.early_end_rank].rank, MsText(job.story.early_end_ns));
  }
  return text + ". More microbatches per step make its share smaller.";
}

// Nobody is named: how much waiting there is for whoever comes last.
std::string NobodyVerdict(const JobView& job) {
  constexpr double kLittle = 0.02;
  const CommSums sums = CommSumsOf(job);
  std::size_t late = 0;
  for (const RankStory& of : job.story.ranks)
    late += of.came_last > 0 ? 1 : 0;
  if (sums.wait < kLittle * sums.comm) {
    return fmt::format("no rank keeps the others waiting: {} of the {} is transfer.",
                       PartText(sums.transfer, sums.comm), sums.name());
  }
  if (late == 0) {
    return fmt::format(
        "no rank stands out, as none comes last by more than the clocks may be wrong ({} ms): {} "
        "of the {} of all ranks is waiting, {} is transfer.",
        MsText(job.joint.clock_error_ns), PartText(sums.wait, sums.comm), sums.name(),
        PartText(sums.transfer, sums.comm));
  }
  return fmt::format(
      "no rank stands out; the last one changes by collective: {} of the {} of all ranks is "
      "waiting for it, {} is transfer, and {} of {} ranks come last at times.",
      PartText(sums.wait, sums.comm), sums.name(), PartText(sums.transfer, sums.comm), late,
      job.set.ranks.size());
}

std::string PlainVerdict(const JobView& job) {
  const CommSums sums = CommSumsOf(job);
  std::vector<std::size_t> order;
  for (std::size_t rank = 0; rank < job.story.ranks.size(); ++rank) {
    if (job.story.ranks[rank].role == RankRole::kCause) order.push_back(rank);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-job.story.ranks[a].lost_ns, a) < std::pair(-job.story.ranks[b].lost_ns, b);
  });
  if (order.empty() && sums.bubble > sums.wait) return BubbleVerdict(job, sums);
  if (order.empty()) return NobodyVerdict(job);
  const RankStory& worst = job.story.ranks[order.front()];
  return fmt::format(
      "rank {} comes last {} times and keeps the others waiting {} ms in all; {} of the {} of "
      "the job is waiting, and no single stop or imbalance explains it.",
      *job.set.ranks[order.front()].rank, worst.came_last, MsText(worst.lost_ns),
      PartText(sums.wait, sums.comm), sums.name());
}

// Who keeps whom waiting, and what the job takes without that.
std::string CauseVerdict(const JobView& job) {
  if (job.joint.collectives.empty()) return {};
  if (std::string missing = MissingVerdict(job); !missing.empty()) return missing;
  if (job.story.levers.empty()) return PlainVerdict(job);
  const JobLever& best = job.story.levers.front();
  switch (best.kind) {
    case LeverKind::kStall: return StallVerdict(job, best);
    case LeverKind::kStarvedLate:
    case LeverKind::kStarvedAll: return StarvedVerdict(job, best);
    case LeverKind::kMemory:
      return fmt::format(
          "the hosts of {} take or give back memory in long calls, without which {}; no rank keeps "
          "the others waiting for longer than that.",
          RanksText(job, best.ranks), Without(job, best));
    case LeverKind::kBalance:
      return fmt::format("{}; balanced, {}.", BalanceCause(job, best), Without(job, best));
  }
  return {};
}

// Most of the time in calls that take or give back memory lies within the length of one step.
bool IsInOneStep(const std::vector<analysis::RankHostPiece>& pieces, std::int64_t step_ns) {
  constexpr double kMost = 0.8;
  std::vector<const analysis::RankHostPiece*> memory;
  std::int64_t all = 0;
  for (const analysis::RankHostPiece& piece : pieces) {
    if (piece.place != HostPlace::kMemory) continue;
    memory.push_back(&piece);
    all += piece.dur_ns;
  }
  std::int64_t within = 0;
  std::int64_t most = 0;
  for (std::size_t first = 0, next = 0; first < memory.size(); ++first) {
    while (next < memory.size() && memory[next]->ts_ns < memory[first]->ts_ns + step_ns)
      within += memory[next++]->dur_ns;
    most = std::max(most, within);
    within -= memory[first]->dur_ns;
  }
  return static_cast<double>(most) >= kMost * static_cast<double>(all);
}

// What costs time once is no saving of each step of a long job.
bool IsOneOff(const JobView& job, const JobLever& lever) {
  if (job.story.steps < 2 || job.story.step_ns <= 0) return false;
  return std::all_of(lever.ranks.begin(), lever.ranks.end(), [&](const std::size_t rank) {
    const auto& facts = job.set.ranks[rank].facts;
    return facts && IsInOneStep(facts->pieces, job.story.step_ns);
  });
}

// How long a step is without the stop.
std::int64_t RestOfStep(const JobView& job, const JobLever& lever) {
  return (job.story.base_ns - lever.saved_ns) / std::max<std::int64_t>(1, job.story.base_count > 0
                                                                              ? job.story.base_count
                                                                              : job.story.steps);
}

PathTexts StallPaths(const JobView& job, const JobLever& lever) {
  const HostStall& stall = job.story.stalls[lever.which];
  const std::int64_t rank = *job.set.ranks[stall.rank].rank;
  const std::string_view next = analysis::CommFamilyName(stall.next);
  const std::string saves = MsText(lever.saved_ns) + " ms";
  // A rank that stops longer than a step takes is late whatever is issued ahead of the stop.
  const bool hidden = stall.typical_ns < RestOfStep(job, lever);
  std::string b;
  if (stall.place != HostPlace::kEmpty) {
    if (hidden)
      b = fmt::format("issue the {} before {}, or from another thread: up to {}", next,
                      Quoted(stall.inside), saves);
    return {fmt::format("find why {} takes {} ms on rank {} and not on the others (its inputs, its "
                        "disk or network, what else runs on that node): {}",
                        Quoted(stall.inside), MsText(stall.typical_ns), rank, saves),
            std::move(b)};
  }
  if (hidden) {
    b = fmt::format(
        "issue the {} asynchronously ahead of that place (async_op=True, a prefetched "
        "batch), so that a late host costs the rest only: up to {}",
        next, saves);
  }
  const std::string around =
      stall.annotation.empty() ? "" : fmt::format(" inside '{}',", Quoted(stall.annotation));
  return {fmt::format("look at rank {}'s Python{} {} (py-spy dump --pid while it "
                      "stands, or one step with with_stack=True): {}: {}",
                      rank, around, Neighbours(stall),
                      IsConstant(stall) ? "a sleep, a time-out or a polling interval"
                                        : "a lock, a log or checkpoint write, data read by this "
                                          "rank alone",
                      saves),
          std::move(b)};
}

}  // namespace

std::int64_t LateBegin(const JobView& job) {
  return job.story.from_late ? job.story.late_begin_ns : 0;
}

std::int64_t BaseOf(const JobView& job) {
  return job.story.base_ns;
}

std::string MsText(std::int64_t ns) {
  return MsDigits(MillisOf(ns));
}

std::string MsDigits(double ms) {
  const double size = std::abs(ms);
  if (size < 9.995) return fmt::format("{:.2f}", ms);
  if (size < 99.95) return fmt::format("{:.1f}", ms);
  std::string digits = fmt::format("{:.0f}", size);
  for (std::size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return (ms < 0 ? "-" : "") + digits;
}

std::string ShareText(std::int64_t part, std::int64_t whole) {
  return PartText(static_cast<double>(part), static_cast<double>(whole));
}

std::string PartText(double part, double whole) {
  if (!(whole > 0)) return "0 %";
  const double share = 100 * part / whole;
  return share < 10 ? fmt::format("{:.1f} %", share) : fmt::format("{:.0f} %", share);
}

std::string RanksText(const JobView& job, const std::vector<std::size_t>& ranks) {
  if (ranks.size() > 1 && ranks.size() == job.set.ranks.size())
    return fmt::format("all {} ranks", ranks.size());
  std::vector<std::int64_t> numbers;
  for (const std::size_t rank : ranks)
    numbers.push_back(*job.set.ranks[rank].rank);
  return fmt::format("rank{} {}", numbers.size() == 1 ? "" : "s", analysis::RankList(numbers));
}

std::string StallPlace(const HostStall& stall) {
  const std::string neighbours = Neighbours(stall);
  switch (stall.place) {
    case HostPlace::kEmpty:
      if (!stall.annotation.empty())
        return fmt::format("host in Python or blocked inside '{}', in no op",
                           Quoted(stall.annotation));
      return "host in Python or blocked, no op recorded " + neighbours;
    case HostPlace::kOp: return fmt::format("in {}, {}", Quoted(stall.inside), neighbours);
    case HostPlace::kCall:
    case HostPlace::kMemory: return "in " + Quoted(stall.inside);
  }
  return neighbours;
}

std::string LeverText(const JobView& job, const JobLever& lever) {
  switch (lever.kind) {
    case LeverKind::kStall: {
      const HostStall& stall = job.story.stalls[lever.which];
      return fmt::format("remove the stop of rank {} before its {} ({} x {} ms, {})",
                         *job.set.ranks[stall.rank].rank, analysis::CommFamilyName(stall.next),
                         stall.times, MsText(stall.typical_ns), StallPlace(stall));
    }
    case LeverKind::kStarvedLate:
      return fmt::format("give the host of {}, which come last, CPU cores of {} own",
                         RanksText(job, lever.ranks), lever.ranks.size() == 1 ? "its" : "their");
    case LeverKind::kStarvedAll:
      return fmt::format("give the host of {} CPU cores of {} own", RanksText(job, lever.ranks),
                         lever.ranks.size() == 1 ? "its" : "their");
    case LeverKind::kMemory:
      return fmt::format("avoid cudaMalloc, cudaFree and their like while the GPU idles, on {}{}",
                         RanksText(job, lever.ranks),
                         IsOneOff(job, lever) ? ", nearly all of it within one step" : "");
    case LeverKind::kBalance: return BalanceText(job, lever);
  }
  return {};
}

std::string LoneText(const analysis::LoneKind& kind) {
  if (!kind.sign) return {};
  std::string text = fmt::format(
      "{}{} takes {} ms ({}, {} ms in all)", analysis::CommFamilyName(kind.family),
      kind.bytes ? " of " + BytesText(static_cast<double>(*kind.bytes)) : "",
      Between(kind.shortest_ns, kind.longest_ns),
      kind.calls == 1 ? "1 call" : fmt::format("{} calls", kind.calls), MsText(kind.total_ns));
  switch (*kind.sign) {
    case analysis::WaitSign::kTiny: return text + ": so few bytes need microseconds";
    case analysis::WaitSign::kSizeBlind:
      return text + fmt::format(": {} take no more than {} ms",
                                BytesText(static_cast<double>(*kind.twin_bytes)),
                                MsText(kind.twin_ns));
    case analysis::WaitSign::kFirst:
      return text + ": the first call, which sets up the connection or meets a late start";
    case analysis::WaitSign::kSpread: return text + ": the same size at very different times";
  }
  return text;
}

std::string LoneVerdict(const JobView& job, const std::vector<analysis::LoneKind>& kinds) {
  std::string text =
      fmt::format("one rank{} of a job: who comes late is not in it",
                  job.set.world_size ? fmt::format(" of the {}", *job.set.world_size) : "");
  constexpr std::size_t kShown = 2;
  std::size_t shown = 0;
  bool sized = false;
  for (const analysis::LoneKind& kind : kinds) {
    sized = sized || kind.bytes;
    if (!kind.sign || shown == kShown) continue;
    text += fmt::format("{}{}", shown == 0 ? ". What looks like waiting: " : "; ", LoneText(kind));
    ++shown;
  }
  if (shown > 0) {
    text += ". Late partners or a slow transport: the other ranks' traces tell";
  } else if (!sized) {
    text += ", and sizes were not recorded, so that waiting and transfer cannot be told apart";
  } else {
    text += ", and none of its collectives takes long for its size";
  }
  return text + ".";
}

std::string CommText(const JobView& job) {
  const CommSums sums = CommSumsOf(job);
  if (job.set.ranks.size() == 1) {
    const auto& ledger = job.set.ranks.front().ledger;
    if (!ledger || !(MillisOf(job.joint.ranks.front().comm_ns) > 0)) return {};
    return fmt::format("of the {} ms that figures are of, {} are communication that nothing hides",
                       MsText(ledger->base_ns), MsText(ledger->exposed_ns()));
  }
  if (!(sums.comm > 0)) return {};
  return fmt::format(
      "{} of all ranks {} ms = waiting {} ({}){} + transfer{} {} ({}) + unmatched {} ({})",
      sums.name(), MsDigits(sums.comm), MsDigits(sums.wait), PartText(sums.wait, sums.comm),
      sums.bubble > 0 ? fmt::format(" + pipeline bubble {} ({})", MsDigits(sums.bubble),
                                    PartText(sums.bubble, sums.comm))
                      : "",
      UnseenWait(job) > 0 ? ", or waiting for ranks without a trace," : "", MsDigits(sums.transfer),
      PartText(sums.transfer, sums.comm), MsDigits(sums.unmatched),
      PartText(sums.unmatched, sums.comm));
}

PathTexts PathsOf(const JobView& job, const JobLever& lever) {
  switch (lever.kind) {
    case LeverKind::kStall: return StallPaths(job, lever);
    case LeverKind::kStarvedLate: return {};
    case LeverKind::kStarvedAll:
      return {
          fmt::format("cores for {} processes: compare nproc and the container's CPU limit "
                      "with the ranks of a node, one core range a rank (numactl, taskset, "
                      "Slurm --cpus-per-task), OMP_NUM_THREADS=1, data workers elsewhere: {} ms",
                      lever.ranks.size(), MsText(lever.saved_ns)),
          fmt::format("replay the step as a CUDA or HIP graph (torch.cuda.graph), so that its "
                      "launches need the host once a step: at most {} ms",
                      MsText(lever.saved_ns))};
    case LeverKind::kMemory:
      return {fmt::format("keep memory: a warm-up with the largest batch, "
                          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (PyTorch 2.1 or "
                          "newer), no torch.cuda.empty_cache(): {} ms{}",
                          MsText(lever.saved_ns),
                          IsOneOff(job, lever) ? ", once, not in each step of a long job" : ""),
              fmt::format("preallocate the buffers whose sizes change between steps: up to {} ms",
                          MsText(lever.saved_ns))};
    case LeverKind::kBalance: return BalancePaths(job, lever);
  }
  return {};
}

std::string RanksVerdict(const JobView& job) {
  const std::string cause = CauseVerdict(job);
  const std::string exposed = ExposedText(job);
  if (cause.empty() || exposed.empty()) return cause;
  const auto& levers = job.story.levers;
  if (ExposedTransfer(job) > (levers.empty() ? 0 : levers.front().saved_ns))
    return exposed + "; " + cause;
  // Within the first sentence, which answers show by itself.
  const std::size_t end = std::min(cause.find(". "), cause.size() - 1);
  return cause.substr(0, end) + "; " + exposed + cause.substr(end);
}

Json VerdictJson(const JobView& job, const std::string& text) {
  const auto rounded = [](double ms) { return std::round(ms * 1000) / 1000; };
  Json verdict = Json::object();
  verdict["text"] = text;
  verdict["wall_ms"] = rounded(MillisOf(job.story.wall_ns));
  verdict["base"] = BaseWords(job);
  verdict["base_ms"] = rounded(MillisOf(BaseOf(job)));
  verdict["lost_ms"] = rounded(MillisOf(job.story.lost_ns));
  Json levers = Json::array();
  Json then = Json::array();
  std::size_t place = 0;
  for (const JobChange& change : ChangesOf(job)) {
    ++place;
    Json& list = change.at_most ? then : levers;
    if (list.size() == kLeversShown) continue;
    Json one = {{"change", change.change}, {"place", place}};
    if (change.ms > 0 || !change.at_most)
      one[change.at_most ? "at_most_ms" : "saved_ms"] = rounded(change.ms);
    for (const auto& [name, words, bound] :
         {std::tuple("path_a", &change.paths.a, &change.bounds.a),
          std::tuple("path_b", &change.paths.b, &change.bounds.b)}) {
      if (words->empty()) continue;
      one[name] = *words;
      if (change.at_most && *bound) one[std::string(name) + "_at_most_ms"] = rounded(**bound);
    }
    if (change.later) one["later"] = true;
    if (change.of_rest) one["percent_of_what_first_leaves"] = std::round(100 * *change.of_rest);
    list.push_back(std::move(one));
  }
  // A part of another change, which a reader of the table of ranks expects to help.
  for (const JobLever& lever : job.story.levers) {
    if (lever.kind == LeverKind::kStarvedLate)
      levers.push_back(
          {{"change", LeverText(job, lever)}, {"saved_ms", rounded(MillisOf(lever.saved_ns))}});
  }
  verdict["levers"] = std::move(levers);
  if (!then.empty()) verdict["then"] = std::move(then);
  if (auto lines = NotTold(job); !lines.empty()) verdict["not_told"] = std::move(lines);
  return verdict;
}

}  // namespace jarvis::tools
