// One trace in memory with all that was derived from it. Const after loading, but for what is made
// once, when first asked for; any number of threads may use it, and whoever holds a shared_ptr
// keeps it alive.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/gpu_timeline.h"
#include "analysis/attribution/steps.h"
#include "analysis/attribution/work_calls.h"
#include "analysis/tables/callers.h"
#include "analysis/tables/summary.h"
#include "base/job.h"
#include "io/cache_folder.h"
#include "io/file_policy.h"
#include "session/derived_cache.h"
#include "session/part_request.h"
#include "session/trace_capture.h"
#include "session/trace_work.h"
#include "trace/reader.h"
#include "trace/window.h"
#include "tree/call_tree.h"

namespace jarvis::trace {
struct ImportedTrace;
}

namespace jarvis::session {

struct SurveyedFile;

// What was recorded, as far as answers depend on it.
struct Recorded {
  bool gpu_work = false;
  bool cpu_ops = false;
  bool shapes = false;  // Input Dims on ops
  bool python_frames = false;
  bool call_stacks = false;  // Python frames as text of ops
  bool modules = false;      // nn.Module frames
  bool steps = false;        // ProfilerStep marks
  bool graph_launches = false;
};

class LoadedTrace {
 public:
  const std::string& id() const { return id_; }      // "t_" and hex digits of the content's hash
  const std::string& path() const { return path_; }  // absolute
  std::uint64_t file_bytes() const { return file_bytes_; }
  std::uint64_t content_hash() const { return content_hash_; }
  // Whether content_hash() tells all that the trace was made of: then it may be kept between runs.
  bool may_be_kept() const { return may_be_kept_; }
  const trace::Trace& trace() const { return trace_; }
  const trace::EventStore& events() const { return trace_.events; }
  const std::vector<trace::TrackNames>& track_names() const { return trace_.track_names; }
  const tree::CallTree& tree() const { return tree_; }
  const analysis::Attribution& attribution() const { return attribution_; }
  const analysis::Coverage& coverage() const { return coverage_; }
  const std::optional<analysis::GpuTimeline>& timeline() const { return timeline_; }
  const std::vector<analysis::Step>& steps() const { return steps_; }
  const Recorded& recorded() const { return recorded_; }
  // Of a trace that is one rank of a file with several (LoadRank).
  const std::optional<RankPart>& rank_part() const { return rank_part_; }
  // The same trace with the kernels of its graph replays below the ops, shapes and callers that
  // were recorded while the graphs were captured; itself where no capture was found. Events of the
  // trace keep their indices; those of the capture come after them, on a track of their own, at
  // times that mean nothing: whose time it is must be asked of the trace itself.
  const LoadedTrace& WithCapture() const { return joined_ == nullptr ? *this : *joined_; }
  // Of WithCapture(): whether an event comes from a capture.
  bool OfCapture(trace::EventIndex e) const { return e >= recorded_end_; }
  // Whether a piece of GPU work comes from the replay of a graph.
  bool IsReplayed(trace::EventIndex gpu) const;
  const CaptureUse& capture() const { return capture_; }
  // The captures that were read, in the order of their files.
  const std::vector<CaptureRecording>& captures() const { return captures_; }
  // What summaries, callers and subtrees are made from.
  analysis::SummaryInput Input() const {
    return {events(), tree_, track_names(), attribution_, steps_};
  }
  const analysis::Summary& SummaryBy(analysis::GroupBy by) const;
  // The row with an id such as "op3", whatever table it is of; null: there is none.
  const analysis::SummaryRow* FindRow(const std::string& id) const;
  // Where the row's work is called from; see analysis::FindCallers. The row must be one of this
  // trace's summaries.
  const std::vector<analysis::Caller>& CallersOf(const analysis::SummaryRow& row) const;
  // The work of every launcher of the attribution, by our models. Made when first asked for.
  const std::vector<analysis::LauncherWork>& Works() const;
  // What other layers derive from the trace and keep with it; see WorkOf and findings::AnalysisOf.
  DerivedCache& derived() const { return derived_; }
  // Of the events and of everything that was derived from them so far.
  std::size_t MemoryBytes() const;

 private:
  friend Result<std::shared_ptr<LoadedTrace>> LoadTrace(
      io::InputFile file, const trace::ReadOptions& options, Job& job,
      const std::function<std::string(std::uint64_t)>& id_of);
  friend Result<std::shared_ptr<LoadedTrace>> LoadRead(
      trace::ImportedTrace read, int threads, Job& job,
      const std::function<std::string(std::uint64_t)>& id_of);
  friend Result<std::shared_ptr<LoadedTrace>> LoadWindow(
      const io::InputFile& file, const SurveyedFile& surveyed, const trace::WindowRequest& request,
      const trace::ReadOptions& options, Job& job,
      const std::function<std::string(std::uint64_t)>& id_of);
  friend Result<std::shared_ptr<LoadedTrace>> LoadRank(
      const LoadedTrace& file, std::int64_t rank, int threads, Job& job,
      const std::function<std::string(std::uint64_t)>& id_of);
  friend Status AddCapture(const io::FilePolicy& files, const std::string& named,
                           const trace::ReadOptions& options, Job& job, LoadedTrace* trace);
  friend class TraceImage;
  // All that follows from the events.
  Status Derive(int threads, Job& job);
  io::CachedBytes image_;  // what follows may lie in it; see TraceImage
  std::string id_;
  std::string path_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t content_hash_ = 0;
  bool may_be_kept_ = true;
  trace::Trace trace_;
  tree::CallTree tree_;
  analysis::Attribution attribution_;
  analysis::Coverage coverage_;
  std::optional<analysis::GpuTimeline> timeline_;
  std::vector<analysis::Step> steps_;
  Recorded recorded_;
  std::optional<RankPart> rank_part_;
  trace::EventIndex recorded_end_ = 0;  // events from here on are of a capture
  CaptureUse capture_;
  std::vector<CaptureRecording> captures_;
  std::shared_ptr<const LoadedTrace> joined_;  // null: no capture
  mutable std::mutex summaries_mutex_;
  mutable std::array<std::unique_ptr<const analysis::Summary>, 6> summaries_;  // by GroupBy
  analysis::ChainTree& Chains() const;  // REQUIRES: chains_mutex_ is held
  mutable std::mutex chains_mutex_;     // taken after summaries_mutex_, where both are
  mutable std::unique_ptr<analysis::ChainTree> chains_;
  mutable std::map<std::string, std::vector<analysis::Caller>> callers_;  // by row id
  mutable std::mutex works_mutex_;
  mutable std::shared_ptr<const TraceWork> work_;  // owns what works_ points to
  mutable std::vector<analysis::LauncherWork> works_;
  // Of summaries, callers, chains and works: apart, so that whoever adds up the memory of all
  // traces never waits for one of them to be made.
  mutable std::atomic<std::size_t> lazy_bytes_{0};
  mutable std::atomic<std::size_t> chains_bytes_{0};
  mutable DerivedCache derived_;  // goes first, as it points into all above
};

// An id of the content's hash: half of it, which is enough to tell traces apart that nobody made to
// be confused, or all of it.
std::string ShortId(std::uint64_t content_hash);
std::string LongId(std::uint64_t content_hash);
// What went wrong with a file that was to be loaded, by the name that the caller gave it.
Error LoadError(Error error, const std::string& given);
// Chooses one of them.
using IdChoice = std::function<std::string(std::uint64_t content_hash)>;

// The pipeline, top to bottom.
Result<std::shared_ptr<LoadedTrace>> LoadTrace(io::InputFile file,
                                               const trace::ReadOptions& options, Job& job,
                                               const IdChoice& id_of = ShortId);
// The same of what was read already: no path is known, nor how many bytes it had.
Result<std::shared_ptr<LoadedTrace>> LoadRead(trace::ImportedTrace read, int threads, Job& job,
                                              const IdChoice& id_of = ShortId);
// The same for a part of a recording, which has an id of its own. `surveyed`: of the same file.
Result<std::shared_ptr<LoadedTrace>> LoadWindow(const io::InputFile& file,
                                                const SurveyedFile& surveyed,
                                                const trace::WindowRequest& request,
                                                const trace::ReadOptions& options, Job& job,
                                                const IdChoice& id_of);
// From any path. threads: 0 means one per core.
Result<std::shared_ptr<const LoadedTrace>> LoadTrace(const std::string& path, int threads,
                                                     Job& job);

}  // namespace jarvis::session
