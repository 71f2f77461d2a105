#include "session/trace_capture.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "analysis/align/graph_capture.h"
#include "io/file_policy.h"
#include "perf/iteration_annotation.h"
#include "session/capture_files.h"
#include "session/loaded_trace.h"
#include "session/rank_digests.h"
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
  CaptureSource source;
  std::shared_ptr<const LoadedTrace> trace;
  std::vector<CapturedGraph> graphs;
  std::string misfit;  // why the last replay that was held against it does not fit
};

// Which graph the replay before was of.
struct LastFit {
  std::size_t file = 0;
  std::size_t graph = 0;
  EventIndex iteration = trace::kNoEvent;
  std::optional<std::int64_t> batch;
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
    for (const CaptureSource& source : sources) {
      if (source.missing) Keep(source, nullptr);
    }
    std::erase_if(sources, [](const CaptureSource& source) { return source.missing; });
    for (const CaptureSource& source : sources)
      ++named_times_[source.path];
    if (sources.empty() && !named.empty()) Pass(named, "holds no trace");
    if (rows.size() == replays_.size()) sources = SourcesForRows(std::move(sources), rows);
    PassOtherRanks(&sources);
    std::uint64_t bytes = 0;
    for (const CaptureSource& source : sources) {
      JV_TRY(ReadOne(files, source, options, job, &bytes));
      if (bytes > kCaptureBytes) break;
    }
    return {};
  }

  // What serves no replay is among them: the reference judges captures by their folder's list.
  std::vector<CaptureRecording> TakeRecordings() { return std::move(recordings_); }

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
    LeaveModules(0, graft.get());
    return std::move(*graft).Take();
  }

 private:
  static constexpr std::int64_t kApartNs = 1'000'000;

  void Pass(const std::string& path, std::string why) {
    use_.unused.push_back({path, std::move(why)});
  }

  void Keep(const CaptureSource& source, std::shared_ptr<const LoadedTrace> trace) {
    recordings_.push_back({std::move(trace), source.batch, source.mode, source.listed});
  }

  Status ReadOne(const io::FilePolicy& files, const CaptureSource& source,
                 const trace::ReadOptions& options, Job& job, std::uint64_t* bytes) {
    auto input = files.OpenInput(source.path);
    if (!input) return {};  // gone, or out of reach, since its folder was listed
    if (input->path == trace_.path()) {
      Pass(source.path, "is the trace itself");
      return {};
    }
    if (const CaptureFile* known = FileAt(source.path)) {
      Keep(source, known->trace);
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
    const auto& recorded = (*loaded)->trace().metadata.rank;
    if (const std::string why = OtherRank(recorded ? recorded : source.rank); !why.empty()) {
      Pass(source.path, why);
      Keep(source, std::move(*loaded));
      return {};
    }
    CaptureFile file{source, std::move(*loaded), {}, {}};
    file.graphs = analysis::FindCapturedGraphs(file.trace->events(), file.trace->tree());
    if (!file.graphs.empty()) {
      // What a list says twice of one file is true of some of its graphs.
      if (named_times_[source.path] == 1) TakeRows(source, &file.graphs);
      Keep(source, file.trace);
      files_.push_back(std::move(file));
    } else {
      if (source.listed) Keep(source, nullptr);
      Pass(source.path, file.trace->trace().partial ? "is cut off before the end of a capture"
                                                    : "has no captured graph");
    }
    return {};
  }

  const CaptureFile* FileAt(const std::string& path) const {
    const auto known = std::find_if(files_.begin(), files_.end(), [&](const CaptureFile& file) {
      return file.source.path == path;
    });
    return known == files_.end() ? nullptr : &*known;
  }

  // What a server says of its file counts more than what shapes suggest, unless the file holds
  // graphs for several numbers of rows. Shapes of one piece of a model suggest little.
  static void TakeRows(const CaptureSource& source, std::vector<CapturedGraph>* graphs) {
    const bool alike = std::all_of(graphs->begin(), graphs->end(), [&](const CapturedGraph& one) {
      return one.batch == graphs->front().batch;
    });
    const bool told = std::any_of(graphs->begin(), graphs->end(),
                                  [](const CapturedGraph& one) { return one.batch_told; });
    const bool pieces = source.mode == "PIECEWISE" && !told;
    if (!source.batch || !(alike || pieces)) return;
    for (CapturedGraph& graph : *graphs)
      graph.batch = source.batch;
  }

  // As recorded, else as the file's path says.
  std::optional<std::int64_t> OwnRank() const {
    const auto& recorded = trace_.trace().metadata.rank;
    return recorded ? recorded : RankInPath(trace_.path());
  }

  // Where both ranks are known and are not one.
  std::string OtherRank(const std::optional<std::int64_t>& other) const {
    const std::optional<std::int64_t> own = OwnRank();
    if (!own || !other || *other == *own) return {};
    return fmt::format("is of rank {}, and the trace of rank {}", *other, *own);
  }

  // Of a job's captures those that are named after other ranks are not even read, as long as some
  // are named after the trace's own.
  void PassOtherRanks(std::vector<CaptureSource>* sources) {
    const std::optional<std::int64_t> own = OwnRank();
    const auto is_own = [&](const CaptureSource& source) { return source.rank == own; };
    if (!own || std::none_of(sources->begin(), sources->end(), is_own)) return;
    std::erase_if(*sources, [&](const CaptureSource& source) {
      const std::string why = OtherRank(source.rank);
      if (!why.empty()) Pass(source.path, why);
      return !why.empty();
    });
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
    std::optional<CaptureFit> fit = NextPiece(replay);
    if (!fit) fit = BestFit(replay);
    if (fit) last_ = LastFit{fit->file, fit->graph, replay.iteration, replay.batch};
    return fit;
  }

  // The pieces of a model are replayed in the order in which they were captured: of pieces that
  // launch the same kernels, as those of its layers do, the next is meant, and with a new step the
  // first.
  std::optional<CaptureFit> NextPiece(const ReplayedGraph& replay) const {
    if (!last_ || last_->batch != replay.batch) return std::nullopt;
    const CaptureFile& file = files_[last_->file];
    const std::size_t count = file.graphs.size();
    const bool goes_on = replay.iteration == last_->iteration;
    std::size_t graph = goes_on ? (last_->graph + 1) % count : 0;
    for (std::size_t tried = 0; tried < count; ++tried, graph = (graph + 1) % count) {
      if (file.graphs[graph].batch == file.graphs[last_->graph].batch) break;
    }
    std::vector<std::uint32_t> launches =
        AlignReplay(trace_.events(), replay, file.trace->events(), file.graphs[graph]);
    if (launches.empty()) return std::nullopt;
    return CaptureFit{last_->file, graph, std::move(launches)};
  }

  std::optional<CaptureFit> BestFit(const ReplayedGraph& replay) {
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
    EnterModules(replay, file, graph, graft);
    const std::int64_t shift = next_ns_ - graph.begin_ns;
    const std::int64_t span = graph.end_ns - graph.begin_ns;
    const bool fewer = replay.batch && graph.batch && *graph.batch > *replay.batch;
    if (!use_.rows && fewer && CountsRows(replay)) {
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

  // Whoever makes images counts those, and may run several rows of the model for each.
  bool CountsRows(const ReplayedGraph& replay) const {
    const auto sums = perf::ParseIteration(trace_.events().name(replay.iteration));
    return sums && !sums->format.starts_with("diffusion");
  }

  // What a piece is part of was called before its capture began. One call is put around all pieces
  // of it that one step replays: from the first of them to the last.
  void EnterModules(const ReplayedGraph& replay, const CaptureFile& file,
                    const CapturedGraph& graph, trace::Graft* graft) {
    const bool same = open_of_ == &file && open_step_ == replay.iteration;
    std::size_t kept = 0;
    while (same && kept < std::min(open_.size(), graph.modules.size()) &&
           open_[kept].event == graph.modules[kept] && graph.begin_ns > open_begin_ns_) {
      ++kept;
    }
    LeaveModules(kept, graft);
    open_of_ = &file;
    open_step_ = replay.iteration;
    open_begin_ns_ = graph.begin_ns;
    for (std::size_t i = kept; i < std::min(graph.modules.size(), kModulesMax); ++i)
      open_.push_back({graph.modules[i], next_ns_ - OutsideNs(i)});
  }

  void LeaveModules(std::size_t kept, trace::Graft* graft) {
    for (std::size_t i = kept; i < open_.size(); ++i) {
      const std::int64_t end_ns = next_ns_ - kApartNs + OutsideNs(i);
      graft->Add(open_of_->trace->events(), open_[i].event, open_[i].begin_ns,
                 end_ns - open_[i].begin_ns, trace::kAbsent);
    }
    open_.resize(std::min(kept, open_.size()));
  }

  struct OpenModule {
    EventIndex event = trace::kNoEvent;
    std::int64_t begin_ns = 0;
  };
  static constexpr std::size_t kModulesMax = 64;
  // How far one stands out around what is in it, the engine step among that.
  static std::int64_t OutsideNs(std::size_t depth) {
    return 200'000 + 100 * static_cast<std::int64_t>(kModulesMax - depth);
  }

  const LoadedTrace& trace_;
  const std::vector<ReplayedGraph> replays_;
  CaptureUse& use_;
  std::vector<CaptureFile> files_;
  std::map<std::string, std::size_t> named_times_;  // by path
  std::vector<CaptureRecording> recordings_;
  std::optional<LastFit> last_;
  std::vector<OpenModule> open_;  // around what is added now, the outermost first
  const CaptureFile* open_of_ = nullptr;
  EventIndex open_step_ = trace::kNoEvent;
  std::int64_t open_begin_ns_ = 0;  // of the graph that was added last
  std::int64_t next_ns_ = 0;
};

}  // namespace

Status AddCapture(const io::FilePolicy& files, const std::string& named,
                  const trace::ReadOptions& options, Job& job, LoadedTrace* trace) {
  trace->capture_.named = named;
  if (!trace->recorded().graph_launches) return {};
  std::vector<ReplayedGraph> replays = analysis::FindReplayedGraphs(trace->events(), trace->tree());
  if (replays.empty()) return {};
  CaptureJoiner joiner(*trace, std::move(replays), &trace->capture_);
  JV_TRY(joiner.Read(files, named, options, job));
  trace->captures_ = joiner.TakeRecordings();
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
