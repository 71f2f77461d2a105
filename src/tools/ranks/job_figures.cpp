#include "tools/ranks/job_figures.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/number_text.h"
#include "tools/ranks/later_levers.h"

namespace jarvis::tools {
namespace {

// Calls of one kernel that move the same, as far as that is known.
using CallKind = std::pair<std::string, std::pair<Cell, Cell>>;

CallKind KindOf(const JobView& job, const analysis::JointPart& part) {
  const analysis::RankDigest& digest = job.set.ranks[part.rank];
  const analysis::CollectiveKind& kind = digest.kinds[digest.calls[part.call].kind];
  return {kind.kernel, {kind.known[analysis::kIn], kind.known[analysis::kOut]}};
}

// How long it takes once all have come: until the last is done.
std::int64_t TransferOf(const analysis::JointCollective& one) {
  std::int64_t end = one.parts.front().end_ns;
  for (const analysis::JointPart& part : one.parts)
    end = std::max(end, part.end_ns);
  return std::max<std::int64_t>(0, end - one.parts[one.last].start_ns);
}

}  // namespace

CommSums CommSumsOf(const JobView& job) {
  CommSums sums;
  sums.of_base = true;
  for (std::size_t rank = 0; rank < job.set.ranks.size(); ++rank) {
    const auto split = analysis::SplitExposed(job.set, job.joint, rank);
    if (!split) {
      sums = {};
      break;
    }
    sums.base += MillisOf(job.set.ranks[rank].ledger->base_ns);
    sums.comm += MillisOf(job.set.ranks[rank].ledger->exposed_ns());
    sums.wait += MillisOf(split->wait_ns);
    sums.bubble += MillisOf(split->bubble_ns);
    sums.transfer += MillisOf(split->transfer_ns);
    sums.unmatched += MillisOf(split->unmatched_ns);
  }
  if (sums.of_base) return sums;
  for (const analysis::RankCommTime& of : job.joint.ranks) {
    sums.comm += MillisOf(of.comm_ns);
    sums.wait += MillisOf(of.wait_ns);
    sums.bubble += MillisOf(of.bubble_ns);
    sums.transfer += MillisOf(of.transfer_ns);
    sums.unmatched += MillisOf(of.unmatched_ns);
  }
  return sums;
}

std::string BaseWords(const JobView& job) {
  const analysis::JobStory& story = job.story;
  if (story.base_count == 0) return story.steps == 1 ? "recorded step" : "recording";
  if (story.base_count > 1) {
    return fmt::format("{} {}{}", story.base_count, story.base_unit,
                       story.base_unit.ends_with('s') ? "es" : "s");
  }
  return story.base_unit == analysis::kMarkedStep ? "recorded step" : story.base_unit;
}

std::string ExposedText(const JobView& job) {
  if (job.set.ranks.size() < 2) return {};
  const CommSums sums = CommSumsOf(job);
  if (!sums.of_base || !(sums.comm > 0)) return {};
  const auto ranks = static_cast<double>(job.set.ranks.size());
  const auto mean = [&](double sum) { return MsDigits(sum / ranks) + " ms"; };
  std::string parts = "waiting " + mean(sums.wait);
  if (sums.bubble > 0) parts += ", pipeline bubble " + mean(sums.bubble);
  parts += fmt::format(", transfer{} {}",
                       UnseenWait(job) > 0 ? " or waiting for ranks without a trace" : "",
                       mean(sums.transfer));
  if (sums.unmatched >= sums.comm / 1000) parts += ", without a partner " + mean(sums.unmatched);
  return fmt::format("{} of the {} is exposed communication (mean of the ranks: {})",
                     PartText(sums.comm, sums.base), BaseWords(job), parts);
}

OverlapRoom RoomToOverlap(const JobView& job) {
  OverlapRoom room;
  bool first = true;
  for (const analysis::RankDigest& digest : job.set.ranks) {
    if (!digest.ledger) return {};
    const double exposed = MillisOf(digest.ledger->exposed_ns());
    const double compute = MillisOf(digest.ledger->compute_ns);
    room.exposed_ms = first ? exposed : std::min(room.exposed_ms, exposed);
    room.compute_ms = first ? compute : std::min(room.compute_ms, compute);
    first = false;
  }
  return room;
}

double SpreadTransfer(const JobView& job, std::string_view kernel) {
  constexpr std::size_t kCallsMin = 4;
  // Where the fastest is so much faster than the middle one they hardly move the same.
  constexpr std::int64_t kAlikeTimes = 3;
  const CommSums sums = CommSumsOf(job);
  if (!sums.of_base) return 0;
  std::map<CallKind, std::vector<const analysis::JointCollective*>> kinds;
  for (const analysis::JointCollective& one : job.joint.collectives) {
    if (one.family != analysis::CommFamily::kBarrier)
      kinds[KindOf(job, one.parts.front())].push_back(&one);
  }
  double all = 0;
  double beyond = 0;
  for (const auto& [kind, calls] : kinds) {
    std::vector<std::int64_t> times;
    for (const analysis::JointCollective* one : calls)
      times.push_back(TransferOf(*one));
    std::sort(times.begin(), times.end());
    const bool alike =
        times.size() >= kCallsMin && times.front() * kAlikeTimes >= times[times.size() / 2];
    for (const std::int64_t own : times) {
      all += MillisOf(own);
      if (alike && (kernel.empty() || analysis::ShortKernelName(kind.first) == kernel))
        beyond += MillisOf(own - times.front());
    }
  }
  if (!(all > 0)) return 0;
  return beyond / all * sums.transfer / static_cast<double>(job.set.ranks.size());
}

bool SizesKnown(const JobView& job) {
  for (const analysis::RankDigest& digest : job.set.ranks) {
    for (const analysis::CollectiveKind& kind : digest.kinds) {
      if (kind.known[analysis::kIn] != Cell()) return true;
    }
  }
  return false;
}

}  // namespace jarvis::tools
