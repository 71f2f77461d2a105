#include "session/trace_capture.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "analysis/align/graph_capture.h"
#include "io/file_policy.h"
#include "session/capture_files.h"
#include "session/loaded_trace.h"
#include "trace/graft.h"

namespace jarvis::session {
namespace {

using analysis::CapturedGraph;
using analysis::ReplayedGraph;
using trace::EventIndex;

constexpr std::uint64_t kCaptureBytes = std::uint64_t{1} << 30;  // of files
// Beyond this, further replays stay as they are.
constexpr std::size_t kAddedEvents = 4'000'000;

struct CaptureFile {
  std::shared_ptr<const LoadedTrace> trace;
  std::vector<CapturedGraph> graphs;
  std::string misfit;  // why the last replay that was held against it does not fit
};

// A capture that fits a replay.
struct CaptureFit {
  std::size_t file = 0;
  std::size_t graph = 0;
  std::vector<std::uint32_t> launches;  // by GPU event of the replay
};

// Why a capture cannot be that of a replay; the two are known not to agree.
std::string MisfitOf(const ReplayedGraph& replay, const CapturedGraph& graph) {
  if (replay.batch && graph.batch && *graph.batch < *replay.batch) {
    return fmt::format("was made for {} rows, and the replay runs {}", *graph.batch, *replay.batch);
  }
  if (replay.gpu.size() != graph.launches.size()) {
    return fmt::format("launches {} kernels and copies, and the replay runs {}",
                       graph.launches.size(), replay.gpu.size());
  }
  return "launches other kernels than the replay runs";
}

class CaptureJoiner {
 public:
  CaptureJoiner(const LoadedTrace& trace, std::vector<ReplayedGraph> replays, CaptureUse* use)
      : trace_(trace), replays_(std::move(replays)), use_(*use) {
    for (const ReplayedGraph& replay : replays_) {
      ++use_.replays;
      use_.kernels += replay.gpu.size();
      use_.gpu_us += UsOf(replay);
    }
  }

  Status Read(const io::FilePolicy& files, const std::string& named,
              const trace::ReadOptions& options, Job& job) {
    std::vector<std::int64_t> rows;
    for (const ReplayedGraph& replay : replays_) {
      if (replay.batch) rows.push_back(*replay.batch);
    }
    std::vector<CaptureSource> sources = FindCaptureSources(files, trace_.path(), named);
    if (sources.empty() && !named.empty()) Pass(named, "holds no trace");
    if (rows.size() == replays_.size()) sources = SourcesForRows(std::move(sources), rows);
    std::uint64_t bytes = 0;
    for (const CaptureSource& source : sources) {
      JV_TRY(ReadOne(files, source, options, job, &bytes));
      if (bytes > kCaptureBytes) break;
    }
    return {};
  }

  // The joined events; absent: nothing fits.
  std::optional<trace::EventStore> Join() {
    std::unique_ptr<trace::Graft> graft;
    std::size_t added = 0;
    std::set<std::string> used;
    for (const ReplayedGraph& replay : replays_) {
      const std::optional<CaptureFit> fit = Fit(replay);
      if (!fit) continue;
      const CaptureFile& file = files_[fit->file];
      added += file.graphs[fit->graph].events.size();
      if (added > kAddedEvents) break;
      if (graft == nullptr) {
        graft = std::make_unique<trace::Graft>(trace_.events());
        next_ns_ = graft->end_ns() + kApartNs;
      }
      Add(replay, file, *fit, graft.get());
      used.insert(file.trace->path());
      ++use_.aligned;
      use_.aligned_kernels += replay.gpu.size();
      use_.aligned_us += UsOf(replay);
    }
    use_.files.assign(used.begin(), used.end());
    for (const CaptureFile& file : files_) {
      if (!used.contains(file.trace->path())) Pass(file.trace->path(), file.misfit);
    }
    if (graft == nullptr) return std::nullopt;
    return std::move(*graft).Take();
  }

 private:
  static constexpr std::int64_t kApartNs = 1'000'000;

  void Pass(const std::string& path, std::string why) {
    use_.unused.push_back({path, std::move(why)});
  }

  Status ReadOne(const io::FilePolicy& files, const CaptureSource& source,
                 const trace::ReadOptions& options, Job& job, std::uint64_t* bytes) {
    auto input = files.OpenInput(source.path);
    if (!input) return {};  // gone, or out of reach, since its folder was listed
    if (input->path == trace_.path()) {
      Pass(source.path, "is the trace itself");
      return {};
    }
    *bytes += input->size;
    if (*bytes > kCaptureBytes) {
      Pass(source.path, "is more than is read of captures");
      return {};
    }
    auto loaded = LoadTrace(std::move(*input), options, job);
    JV_TRY(job.Check());
    if (!loaded) {
      Pass(source.path, "is no trace that can be read");
      return {};
    }
    if (const std::string why = OtherRank(source, **loaded); !why.empty()) {
      Pass(source.path, why);
      return {};
    }
    CaptureFile file{std::move(*loaded), {}, {}};
    file.graphs = analysis::FindCapturedGraphs(file.trace->events(), file.trace->tree());
    if (!file.graphs.empty()) {
      TakeRows(source, &file.graphs);
      files_.push_back(std::move(file));
    } else {
      Pass(source.path, file.trace->trace().partial ? "is cut off before the end of a capture"
                                                    : "has no captured graph");
    }
    return {};
  }

  // What a server says of its file counts more than what shapes suggest, unless the file holds
  // graphs for several numbers of rows.
  static void TakeRows(const CaptureSource& source, std::vector<CapturedGraph>* graphs) {
    const bool alike = std::all_of(graphs->begin(), graphs->end(), [&](const CapturedGraph& one) {
      return one.batch == graphs->front().batch;
    });
    if (!source.batch || !alike) return;
    for (CapturedGraph& graph : *graphs)
      graph.batch = source.batch;
  }

  // Where both ranks are known and are not one.
  std::string OtherRank(const CaptureSource& source, const LoadedTrace& capture) const {
    const auto& own = trace_.trace().metadata.rank;
    const auto& recorded = capture.trace().metadata.rank;
    if (!own || (!recorded && !source.rank)) return {};
    const std::int64_t other = recorded ? *recorded : *source.rank;
    if (other == *own) return {};
    return fmt::format("is of rank {}, and the trace of rank {}", other, *own);
  }

  double UsOf(const ReplayedGraph& replay) const {
    double us = 0;
    for (const EventIndex gpu : replay.gpu)
      us += trace::MicrosOf(trace_.events()[gpu].dur_ns);
    return us;
  }

  const CapturedGraph& GraphOf(const CaptureFit& fit) const {
    return files_[fit.file].graphs[fit.graph];
  }

  std::optional<CaptureFit> Fit(const ReplayedGraph& replay) {
    std::optional<CaptureFit> best;
    std::set<std::int64_t> rows;
    for (std::size_t f = 0; f < files_.size(); ++f) {
      for (std::size_t g = 0; g < files_[f].graphs.size(); ++g) {
        const CapturedGraph& graph = files_[f].graphs[g];
        const std::int64_t batch = graph.batch.value_or(0);
        if (replay.batch && graph.batch && batch < *replay.batch) {
          files_[f].misfit = MisfitOf(replay, graph);
          continue;
        }
        if (best && batch > GraphOf(*best).batch.value_or(0) && replay.batch) continue;
        std::vector<std::uint32_t> launches =
            AlignReplay(trace_.events(), replay, files_[f].trace->events(), graph);
        if (launches.empty()) {
          files_[f].misfit = MisfitOf(replay, graph);
          continue;
        }
        rows.insert(batch);
        const bool fewer = best && batch < GraphOf(*best).batch.value_or(0);
        if (!best || fewer) best = CaptureFit{f, g, std::move(launches)};
      }
    }
    if (!replay.batch && rows.size() > 1) {
      files_[best->file].misfit = "is one of several that fit, and nothing tells the replay's rows";
      return std::nullopt;
    }
    return best;
  }

  // The capture's events come one after the other, as they were recorded, so that they nest as they
  // did. The engine step around the replay is put around them: sizes are told by its name.
  void Add(const ReplayedGraph& replay, const CaptureFile& file, const CaptureFit& fit,
           trace::Graft* graft) {
    const CapturedGraph& graph = file.graphs[fit.graph];
    const trace::EventStore& captured = file.trace->events();
    const std::int64_t shift = next_ns_ - graph.begin_ns;
    const std::int64_t span = graph.end_ns - graph.begin_ns;
    if (!use_.rows && replay.batch && graph.batch && *graph.batch > *replay.batch) {
      use_.rows = replay.batch;
      use_.captured_rows = graph.batch;
    }
    if (replay.iteration != trace::kNoEvent) {
      constexpr std::int64_t kAroundNs = 100'000;
      graft->Add(trace_.events(), replay.iteration, next_ns_ - kAroundNs, span + 2 * kAroundNs,
                 trace::kAbsent);
    }
    std::map<EventIndex, std::int64_t> correlations;  // by launch call
    for (const EventIndex launch : graph.launches)
      correlations.emplace(launch, graft->NewCorrelation());
    for (const EventIndex e : graph.events) {
      const auto found = correlations.find(e);
      graft->Add(captured, e, captured[e].ts_ns + shift, captured[e].dur_ns,
                 found == correlations.end() ? trace::kAbsent : found->second);
    }
    for (std::size_t i = 0; i < replay.gpu.size(); ++i) {
      const EventIndex launch = graph.launches[fit.launches[i]];
      graft->Link(replay.gpu[i], correlations.at(launch),
                  captured.text(captured.args_of(launch).other));
    }
    next_ns_ += span + kApartNs;
  }

  const LoadedTrace& trace_;
  const std::vector<ReplayedGraph> replays_;
  CaptureUse& use_;
  std::vector<CaptureFile> files_;
  std::int64_t next_ns_ = 0;
};

}  // namespace

Status AddCapture(const io::FilePolicy& files, const std::string& named,
                  const trace::ReadOptions& options, Job& job, LoadedTrace* trace) {
  trace->capture_.named = named;
  std::vector<ReplayedGraph> replays = analysis::FindReplayedGraphs(trace->events(), trace->tree());
  if (replays.empty()) return {};
  CaptureJoiner joiner(*trace, std::move(replays), &trace->capture_);
  JV_TRY(joiner.Read(files, named, options, job));
  std::optional<trace::EventStore> events = joiner.Join();
  if (!events) return {};
  auto joined = std::make_shared<LoadedTrace>();
  joined->id_ = trace->id_;
  joined->path_ = trace->path_;
  joined->file_bytes_ = trace->file_bytes_;
  joined->trace_.metadata = trace->trace_.metadata;
  joined->trace_.damage = trace->trace_.damage;
  joined->trace_.partial = trace->trace_.partial;
  joined->trace_.events = std::move(*events);
  joined->trace_.track_names = trace::ReadTrackNames(joined->trace_.events);
  JV_TRY(joined->Derive(options.threads, job));
  joined->recorded_end_ = trace->events().size();
  joined->capture_ = trace->capture_;
  trace->joined_ = std::move(joined);
  return {};
}

}  // namespace jarvis::session
