#include "session/loaded_trace.h"

#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/module_paths.h"
#include "analysis/host/runtime_calls.h"
#include "base/memory_size.h"
#include "base/parallel.h"
#include "base/text.h"
#include "session/survey_shelf.h"
#include "trace/by_name.h"
#include "trace/import/trace_file.h"
#include "trace/json_text.h"
#include "tree/build.h"

namespace jarvis::session {
namespace {

Recorded WhatWasRecorded(const trace::EventStore& events) {
  constexpr std::size_t kOpsAsked = 1000;
  std::size_t asked = 0;
  Recorded recorded;
  trace::ByName<bool> is_graph_launch(events, &analysis::IsGraphLaunch);
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if (event.kind == trace::EventKind::kCpuOp) {
      const trace::Args& args = events.args_of(e);
      recorded.shapes = recorded.shapes || args.dims != kNoString;
      if (recorded.call_stacks || args.other == kNoString || asked == kOpsAsked) continue;
      ++asked;
      recorded.call_stacks =
          !trace::MemberOf(events.text(args.other), analysis::kCallStackArg).empty();
    } else if (event.kind == trace::EventKind::kPythonFunction) {
      recorded.python_frames = true;
      recorded.modules = recorded.modules || events.name(e).starts_with("nn.Module:");
    } else if (trace::IsLaunchCall(event.kind)) {
      recorded.graph_launches = recorded.graph_launches || is_graph_launch.Of(e);
    }
  }
  return recorded;
}

std::size_t BytesOf(const analysis::Summary& summary) {
  std::size_t bytes = HeapBytes(summary.rows);
  for (const analysis::SummaryRow& row : summary.rows) {
    bytes += HeapBytes(row.name) + HeapBytes(row.category) + HeapBytes(row.shape) +
             HeapBytes(row.launchers) + HeapBytes(row.gpu);
  }
  return bytes;
}

std::size_t BytesOf(const std::vector<analysis::Caller>& callers) {
  std::size_t bytes = HeapBytes(callers);
  for (const analysis::Caller& caller : callers)
    bytes += HeapBytes(caller.frames);
  return bytes;
}

}  // namespace

std::size_t LoadedTrace::MemoryBytes() const {
  std::size_t captures = 0;
  for (const CaptureRecording& one : captures_)
    captures += one.trace == nullptr ? 0 : one.trace->MemoryBytes();
  return captures + trace_.events.MemoryBytes() + tree_.MemoryBytes() + lazy_bytes_ +
         chains_bytes_ + derived_.MemoryBytes() +
         (joined_ == nullptr ? 0 : joined_->MemoryBytes()) +
         attribution_.timeline.size() * sizeof(trace::EventIndex) +
         attribution_.kernels.size() * sizeof(trace::EventIndex) +
         attribution_.launchers.size() * sizeof(analysis::Launcher) +
         attribution_.places.size() * sizeof(analysis::KernelPlace);
}

const analysis::Summary& LoadedTrace::SummaryBy(analysis::GroupBy by) const {
  const std::lock_guard lock(summaries_mutex_);
  std::unique_ptr<const analysis::Summary>& summary = summaries_[static_cast<std::size_t>(by)];
  if (summary == nullptr) {
    const std::lock_guard chains_lock(chains_mutex_);
    analysis::ChainTree* chains = by == analysis::GroupBy::kModule ? &Chains() : nullptr;
    analysis::SummaryInput input = Input();
    input.chains = chains;
    summary = std::make_unique<const analysis::Summary>(analysis::Summarize(input, by));
    lazy_bytes_ += BytesOf(*summary);
    if (chains != nullptr) chains_bytes_ = chains->MemoryBytes();
  }
  return *summary;
}

analysis::ChainTree& LoadedTrace::Chains() const {
  if (chains_ == nullptr) chains_ = std::make_unique<analysis::ChainTree>(events(), tree_);
  return *chains_;
}

const std::vector<analysis::Caller>& LoadedTrace::CallersOf(const analysis::SummaryRow& row) const {
  const std::lock_guard lock(chains_mutex_);
  const auto [callers, added] = callers_.try_emplace(row.id);
  if (added) {
    const auto by = row.id.starts_with(analysis::IdPrefix(analysis::GroupBy::kKernel))
                        ? analysis::GroupBy::kKernel
                        : analysis::GroupBy::kOp;
    callers->second = analysis::FindCallers(Input(), row, by, &Chains());
    lazy_bytes_ += BytesOf(callers->second);
    chains_bytes_ = chains_->MemoryBytes();
  }
  return callers->second;
}

const std::vector<analysis::LauncherWork>& LoadedTrace::Works() const {
  const std::lock_guard lock(works_mutex_);
  if (work_ == nullptr) {
    // Nobody can stop this one, so that it cannot fail.
    work_ = WorkOf(*this, nullptr, Job()).value();
    works_ = analysis::WorkOfLaunchers(events(), attribution_, work_->calls);
    lazy_bytes_ += works_.capacity() * sizeof(analysis::LauncherWork);
  }
  return works_;
}

const analysis::SummaryRow* LoadedTrace::FindRow(const std::string& id) const {
  using analysis::GroupBy;
  for (const GroupBy by : {GroupBy::kOp, GroupBy::kCategory, GroupBy::kKernel, GroupBy::kModule,
                           GroupBy::kStream, GroupBy::kStep}) {
    const std::string_view prefix = analysis::IdPrefix(by);
    if (!id.starts_with(prefix)) continue;
    const auto rank = ParseInt(std::string_view(id).substr(prefix.size()));
    if (!rank || *rank < 1) continue;
    const std::vector<analysis::SummaryRow>& rows = SummaryBy(by).rows;
    const auto at = static_cast<std::size_t>(*rank - 1);
    return at < rows.size() && rows[at].id == id ? &rows[at] : nullptr;
  }
  return nullptr;
}

bool LoadedTrace::IsReplayed(trace::EventIndex gpu) const {
  const trace::EventIndex launch = tree_.parent(gpu);
  return launch != trace::kNoEvent &&
         (OfCapture(launch) || analysis::IsGraphLaunch(events().name(launch)));
}

Status LoadedTrace::Derive(int threads, Job& job) {
  const trace::EventStore& events = trace_.events;
  recorded_end_ = events.size();
  JV_ASSIGN(tree_, tree::BuildTree(events, threads, job));
  // Beyond this point no link changes.
  job.Report(0, 1, "attributing");
  ParallelFor(2, threads, [&](std::size_t part) {
    if (part == 0) {
      attribution_ = analysis::Attribute(events, tree_);
      timeline_ =
          analysis::ComputeGpuTimeline(events, attribution_.timeline, analysis::Clock::kNanoseconds,
                                       {}, analysis::Communicators::kAll);
    } else {
      coverage_ = analysis::ComputeCoverage(events, tree_);
      steps_ = analysis::FindSteps(events, tree_);
      recorded_ = WhatWasRecorded(events);
    }
  });
  JV_TRY(job.Check());
  recorded_.gpu_work = coverage_.all.count > 0;
  recorded_.cpu_ops = attribution_.cpu_ops;
  recorded_.steps = !steps_.empty();
  return {};
}

std::string ShortId(std::uint64_t content_hash) {
  return fmt::format("t_{:08x}", content_hash >> 32);
}

std::string LongId(std::uint64_t content_hash) {
  return fmt::format("t_{:016x}", content_hash);
}

Result<std::shared_ptr<const LoadedTrace>> LoadTrace(const std::string& path, int threads,
                                                     Job& job) {
  JV_ASSIGN(io::InputFile file, io::FilePolicy().OpenInput(path));
  return LoadTrace(std::move(file), {.threads = threads}, job);
}

Error LoadError(Error error, const std::string& given) {
  if (error.message.starts_with(fmt::format("\"{}\"", given))) return error;
  if (error.code != ErrorCode::kCancelled)
    error.message = fmt::format("\"{}\": {}", given, error.message);
  if (error.code == ErrorCode::kNotATrace && error.hint.empty())
    error.hint = "give the path of a trace (.json or .json.gz) that torch.profiler exported";
  return error;
}

Result<std::shared_ptr<LoadedTrace>> LoadTrace(io::InputFile file,
                                               const trace::ReadOptions& options, Job& job,
                                               const IdChoice& id_of) {
  const std::string given = file.given;
  const std::string path = file.path;
  const std::uint64_t bytes = file.size;
  bool one_file = true;
  auto read = [&]() -> Result<trace::ImportedTrace> {
    JV_ASSIGN(const trace::TraceFile opened, trace::TraceFile::Open(std::move(file), job));
    one_file = opened.importer().one_file;
    return opened.Read(options, job);
  }();
  if (!read) return tl::make_unexpected(LoadError(std::move(read.error()), given));
  JV_ASSIGN(auto loaded, LoadRead(std::move(*read), options.threads, job, id_of));
  loaded->path_ = path;
  loaded->file_bytes_ = bytes;
  loaded->may_be_kept_ = one_file;
  return loaded;
}

Result<std::shared_ptr<LoadedTrace>> LoadRead(trace::ImportedTrace read, int threads, Job& job,
                                              const IdChoice& id_of) {
  auto loaded = std::make_shared<LoadedTrace>();
  loaded->trace_ = std::move(read.trace);
  // Beyond this point no event changes.
  loaded->content_hash_ = read.content_hash;
  loaded->id_ = id_of(loaded->content_hash_);
  JV_TRY(loaded->Derive(threads, job));
  return loaded;
}

Result<std::shared_ptr<LoadedTrace>> LoadWindow(const io::InputFile& file,
                                                const SurveyedFile& surveyed,
                                                const trace::WindowRequest& request,
                                                const trace::ReadOptions& options, Job& job,
                                                const IdChoice& id_of) {
  const trace::Survey& survey = surveyed.survey;
  auto loaded = std::make_shared<LoadedTrace>();
  loaded->path_ = file.path;
  const auto read = [&]() -> Result<trace::Trace> {
    JV_ASSIGN(const trace::TraceWindow window, trace::ResolveWindow(request, survey));
    return surveyed.importer->read_window(file, survey, window, options, job);
  };
  auto part = read();
  if (!part) return tl::make_unexpected(LoadError(std::move(part.error()), file.given));
  loaded->trace_ = std::move(*part);
  const trace::TraceWindow& window = *loaded->trace_.window;
  loaded->id_ = id_of(HashText(fmt::format("{:016x} {} {} {}", survey.content_hash, window.begin_ns,
                                           window.end_ns, window.steps)));
  loaded->file_bytes_ = file.size;
  JV_TRY(loaded->Derive(options.threads, job));
  return loaded;
}

}  // namespace jarvis::session
