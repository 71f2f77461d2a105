#include "session/file_ranks.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/attribution.h"
#include "analysis/host/copy_direction.h"
#include "analysis/ranks/rank_digest.h"
#include "analysis/ranks/rank_set.h"
#include "base/text.h"
#include "trace/by_name.h"
#include "trace/json_text.h"
#include "trace/store_part.h"

namespace jarvis::session {
namespace {

Error NoSuchRank(const FileRanks& found, std::int64_t rank) {
  if (!found.several()) {
    return {ErrorCode::kBadValue,
            fmt::format("there is no rank {} to choose: the file is not several ranks that can be "
                        "told apart",
                        rank),
            "leave rank out"};
  }
  return {
      ErrorCode::kBadValue,
      fmt::format("the file has no rank {}; its ranks: {}", rank, analysis::RankList(found.ranks)),
      fmt::format("give one of them, such as rank {}", found.ranks.front())};
}

// Of the processes that a recorder tells of, those of the trace; whether one of the others has work
// on a GPU of theirs.
bool KeepProcesses(const trace::EventStore& events, trace::Metadata* metadata) {
  if (!metadata->recording) return false;
  std::vector<trace::Recording::Process>& all = metadata->recording->processes;
  const auto others =
      std::stable_partition(all.begin(), all.end(), [&](const trace::Recording::Process& process) {
        return std::any_of(events.tracks.begin(), events.tracks.end(),
                           [&](const trace::Track& track) { return track.pid == process.pid; });
      });
  std::set<std::int64_t> own;
  for (auto process = all.begin(); process != others; ++process)
    own.insert(process->gpus.begin(), process->gpus.end());
  const bool shared = std::any_of(others, all.end(), [&](const auto& process) {
    return std::any_of(process.gpus.begin(), process.gpus.end(),
                       [&](std::int64_t gpu) { return own.contains(gpu); });
  });
  all.erase(others, all.end());
  return shared;
}

// Of all ranks of a file: see RankPart::equal_uploads. A batch is a few buffers, and parts of
// weights that ranks share are gathered by collectives.
bool UploadsAreEqual(const LoadedTrace& file, const FileRanks& ranks) {
  constexpr std::size_t kBuffersLeast = 16;
  constexpr double kLargeBytes = 1e6;
  const trace::EventStore& events = file.events();
  const auto bytes_of = [&](trace::EventIndex e) {
    const std::string_view args = events.text(events.args_of(e).other);
    return ParseDouble(trace::Unquoted(trace::MemberOf(args, "bytes"))).value_or(0);
  };
  trace::ByName<bool> uploads(events, [](std::string_view name) {
    return analysis::DirectionOf(name) == analysis::CopyDirection::kToDevice;
  });
  trace::ByName<bool> collectives(events, &analysis::IsCollectiveName);
  std::vector<std::vector<double>> sizes(ranks.ranks.size());
  for (const trace::EventIndex e : file.attribution().timeline) {
    if (events[e].kind == trace::EventKind::kKernel && collectives.Of(e)) return false;
    if (events[e].kind != trace::EventKind::kMemcpy || !uploads.Of(e)) continue;
    const double bytes = bytes_of(e);
    if (bytes < kLargeBytes) continue;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (ranks.tracks[i][events[e].track]) sizes[i].push_back(bytes);
    }
  }
  if (sizes.size() < 2 || sizes.front().size() < kBuffersLeast) return false;
  // One may be recorded a little longer than another.
  const std::size_t least = std::ranges::min_element(sizes, {}, &std::vector<double>::size)->size();
  const std::size_t most = std::ranges::max_element(sizes, {}, &std::vector<double>::size)->size();
  constexpr std::size_t kTenths = 9;
  if (10 * least < kTenths * most) return false;
  return std::ranges::all_of(sizes, [&](const std::vector<double>& one) {
    return std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(least),
                      sizes.front().begin());
  });
}

}  // namespace

FileRanks RanksOf(const LoadedTrace& trace) {
  const analysis::MergedRanks merged = analysis::FindMergedRanks(
      trace.events(), trace.trace().metadata, trace.track_names(), trace.tree().launch_processes());
  FileRanks found{merged.Ranks(),
                  {},
                  merged.assumed,
                  merged.devices,
                  std::ranges::count(merged.of_track, analysis::MergedRanks::kLeftOut) > 0};
  // Of one process that drives several devices the host is every rank's.
  const bool one_host = !trace.tree().launch_processes().several();
  for (const std::int64_t rank : found.ranks) {
    std::vector<bool>& of = found.tracks.emplace_back(merged.of_track.size());
    for (std::size_t track = 0; track < of.size(); ++track)
      of[track] = merged.of_track[track] == rank ||
                  (one_host && merged.of_track[track] == analysis::MergedRanks::kNone);
  }
  return found;
}

std::vector<RankWork> WorkOfRanks(const LoadedTrace& trace, const FileRanks& ranks) {
  std::vector<RankWork> work;
  for (std::size_t i = 0; i < ranks.ranks.size(); ++i) {
    std::vector<trace::EventIndex> own;
    for (const trace::EventIndex e : trace.attribution().timeline) {
      if (ranks.tracks[i][trace.events()[e].track]) own.push_back(e);
    }
    const auto timeline = analysis::ComputeGpuTimeline(
        trace.events(), own, analysis::Clock::kNanoseconds, {}, analysis::Communicators::kAll);
    RankWork& one = work.emplace_back();
    one.rank = ranks.ranks[i];
    if (!timeline) continue;
    one.busy_ms = timeline->busy / 1000;
    one.own_ms = (timeline->busy - timeline->exposed_comm) / 1000;
  }
  return work;
}

std::optional<std::int64_t> RankThatBounds(const std::vector<RankWork>& work) {
  if (work.empty()) return std::nullopt;
  double most = 0;
  for (const RankWork& one : work)
    most = std::max(most, one.own_ms);
  return std::find_if(work.begin(), work.end(),
                      [&](const RankWork& one) { return one.own_ms >= (1 - kRanksAlike) * most; })
      ->rank;
}

Result<std::shared_ptr<LoadedTrace>> LoadRank(const LoadedTrace& file, std::int64_t rank,
                                              int threads, Job& job, const IdChoice& id_of) {
  const FileRanks found = RanksOf(file);
  const auto at = std::find(found.ranks.begin(), found.ranks.end(), rank);
  if (!found.several() || at == found.ranks.end())
    return tl::make_unexpected(LoadError(NoSuchRank(found, rank), file.path()));
  const std::vector<bool>& tracks =
      found.tracks[static_cast<std::size_t>(at - found.ranks.begin())];
  auto loaded = std::make_shared<LoadedTrace>();
  loaded->path_ = file.path_;
  loaded->file_bytes_ = file.file_bytes_;
  RankPart& part = loaded->rank_part_.emplace();
  part.rank = rank;
  part.ranks = WorkOfRanks(file, found);
  part.assumed = found.assumed;
  part.devices = found.devices;
  part.equal_uploads = UploadsAreEqual(file, found);
  if (const auto& recording = file.trace().metadata.recording; recording && recording->runs)
    part.gpus_run = recording->runs->gpus;
  for (const trace::Event& event : file.events().events) {
    if (tracks[event.track]) continue;
    ++(trace::IsGpuWork(event.kind) ? part.gpu_left_out : part.host_left_out);
  }
  trace::Trace& trace = loaded->trace_;
  trace.events = trace::CopyOf(file.events(), tracks);
  trace.metadata = file.trace().metadata;
  // What the file says of itself is of one of its ranks.
  trace.metadata.rank = rank;
  if (found.assumed) trace.metadata.rank.reset();
  part.gpu_shared = KeepProcesses(trace.events, &trace.metadata);
  trace.track_names = trace::ReadTrackNames(trace.events);
  trace.damage = file.trace().damage;
  trace.partial = file.trace().partial;
  trace.window = file.trace().window;
  loaded->id_ = id_of(HashText(fmt::format("{} rank {}", file.id(), rank)));
  JV_TRY(loaded->Derive(threads, job));
  return loaded;
}

}  // namespace jarvis::session
