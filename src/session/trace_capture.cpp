#include "session/trace_capture.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "analysis/align/graph_capture.h"
#include "io/file_policy.h"
#include "session/loaded_trace.h"
#include "trace/graft.h"

namespace jarvis::session {
namespace {

using analysis::CapturedGraph;
using analysis::ReplayedGraph;
using trace::EventIndex;

constexpr std::size_t kCaptureFiles = 32;
constexpr std::uint64_t kCaptureBytes = std::uint64_t{1} << 30;  // of files
// Beyond this, further replays stay as they are.
constexpr std::size_t kAddedEvents = 4'000'000;

struct CaptureFile {
  std::shared_ptr<const LoadedTrace> trace;
  std::vector<CapturedGraph> graphs;
};

// A capture that fits a replay.
struct CaptureFit {
  std::size_t file = 0;
  std::size_t graph = 0;
  std::vector<std::uint32_t> launches;  // by GPU event of the replay
};

std::vector<std::string> FilesBeside(const io::FilePolicy& files, const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  std::vector<std::string> out;
  for (const char* name : {"capture", "graph_capture"}) {
    const auto found = files.ListFolder(folder + name, {".json", ".json.gz"}, 1, kCaptureFiles);
    if (found) out.insert(out.end(), found->begin(), found->end());
  }
  return out;
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

  Status Read(const io::FilePolicy& files, const trace::ReadOptions& options, Job& job) {
    std::uint64_t bytes = 0;
    for (const std::string& path : FilesBeside(files, trace_.path())) {
      auto input = files.OpenInput(path);
      if (!input || input->path == trace_.path()) continue;
      bytes += input->size;
      if (bytes > kCaptureBytes) break;
      auto loaded = LoadTrace(std::move(*input), options, job);
      JV_TRY(job.Check());
      if (!loaded) continue;
      CaptureFile file{std::move(*loaded), {}};
      file.graphs = analysis::FindCapturedGraphs(file.trace->events(), file.trace->tree());
      if (!file.graphs.empty()) files_.push_back(std::move(file));
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
    if (graft == nullptr) return std::nullopt;
    return std::move(*graft).Take();
  }

 private:
  static constexpr std::int64_t kApartNs = 1'000'000;

  double UsOf(const ReplayedGraph& replay) const {
    double us = 0;
    for (const EventIndex gpu : replay.gpu)
      us += trace::MicrosOf(trace_.events()[gpu].dur_ns);
    return us;
  }

  const CapturedGraph& GraphOf(const CaptureFit& fit) const {
    return files_[fit.file].graphs[fit.graph];
  }

  std::optional<CaptureFit> Fit(const ReplayedGraph& replay) const {
    std::optional<CaptureFit> best;
    std::set<std::int64_t> rows;
    for (std::size_t f = 0; f < files_.size(); ++f) {
      for (std::size_t g = 0; g < files_[f].graphs.size(); ++g) {
        const CapturedGraph& graph = files_[f].graphs[g];
        const std::int64_t batch = graph.batch.value_or(0);
        if (replay.batch && graph.batch && batch < *replay.batch) continue;
        if (best && batch > GraphOf(*best).batch.value_or(0) && replay.batch) continue;
        std::vector<std::uint32_t> launches =
            AlignReplay(trace_.events(), replay, files_[f].trace->events(), graph);
        if (launches.empty()) continue;
        rows.insert(batch);
        const bool fewer = best && batch < GraphOf(*best).batch.value_or(0);
        if (!best || fewer) best = CaptureFit{f, g, std::move(launches)};
      }
    }
    if (!replay.batch && rows.size() > 1) return std::nullopt;
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

Status AddCapture(const io::FilePolicy& files, const trace::ReadOptions& options, Job& job,
                  LoadedTrace* trace) {
  std::vector<ReplayedGraph> replays = analysis::FindReplayedGraphs(trace->events(), trace->tree());
  if (replays.empty()) return {};
  CaptureJoiner joiner(*trace, std::move(replays), &trace->capture_);
  JV_TRY(joiner.Read(files, options, job));
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
