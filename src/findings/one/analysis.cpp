#include "findings/one/analysis.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/parallel.h"
#include "base/text.h"
#include "findings/one/baseline.h"
#include "findings/one/batch_uploads.h"
#include "findings/one/calls.h"
#include "findings/one/causes.h"
#include "findings/one/cpu_findings.h"
#include "findings/one/dense_experts.h"
#include "findings/one/embedding_causes.h"
#include "findings/one/epilogue_causes.h"
#include "findings/one/estimates.h"
#include "findings/one/expert_loop.h"
#include "findings/one/finding_places.h"
#include "findings/one/framework_fit.h"
#include "findings/one/fusion_finder.h"
#include "findings/one/fusion_findings.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/host_findings.h"
#include "findings/one/idle_sections.h"
#include "findings/one/kernel_findings.h"
#include "findings/one/least_times.h"
#include "findings/one/line_findings.h"
#include "findings/one/merge_findings.h"
#include "findings/one/merged_products.h"
#include "findings/one/moe_weights.h"
#include "findings/one/planar_network.h"
#include "findings/one/precision_findings.h"
#include "findings/one/replay_causes.h"
#include "findings/one/rules.h"
#include "findings/one/same_work.h"
#include "findings/one/structure_findings.h"
#include "findings/one/system_findings.h"
#include "findings/one/thresholds.h"
#include "findings/one/wall_plan.h"
#include "findings/one/workload_finder.h"
#include "session/trace_bound.h"
#include "session/trace_bounds.h"
#include "session/trace_frames.h"
#include "session/trace_host.h"
#include "session/trace_simulation.h"
#include "session/trace_trust.h"

namespace jarvis::findings {
namespace {

constexpr std::uint64_t kCompiledCalls = 10;  // of generated kernels

class Analyzer {
 public:
  Analyzer(const session::LoadedTrace& trace, const perf::Platform* platform,
           const AnalysisOptions& options, Job& job)
      : trace_(trace), platform_(platform), models_(options.models), job_(job) {
    out_.fixes = options.fixes;
  }

  Result<Analysis> Run() {
    job_.Report(0, 3, "ops against their limits");
    JV_ASSIGN(Collected collected, Gather());
    out_.frames = frames_;
    Head();
    Calls& calls = collected.calls;
    out_.categories = std::move(collected.categories);
    ForgetWindowRates(calls, &out_.categories);
    RateMoeByWeights(calls, &out_.categories);
    if (platform_ != nullptr) {
      floors_.emplace(trace_.events(), trace_.tree(), *frames_->kinds, *platform_);
      FindLeastTimes(*floors_, &out_.categories);
    }
    out_.baseline = FindBaseline(calls, out_.categories);
    std::size_t first = 0;
    for (CategoryAnalysis& category : out_.categories) {
      JV_TRY(job_.Check());
      ApplyRules(calls, first, out_.baseline, &category);
      EstimateOperations(calls, &category);
      first += category.operations.size();
    }
    JV_TRY(job_.Check());
    job_.Report(1, 3, "idle time, communication, fusion");
    ParallelFor(4, 0, [&](std::size_t part) {
      switch (part) {
        case 0: out_.workload = FindWorkload(trace_, out_.categories, Units()); break;
        case 1: out_.fusion = FindFusions(calls, out_.categories, out_.baseline); break;
        case 2: out_.idle = AnalyzeIdle(trace_, {.job = &job_}); break;
        default:
          out_.multi_kernel = AnalyzeMultiKernel(trace_);
          out_.replay = FindReplayStructure(trace_, frames_->frames.unrecorded);
      }
    });
    JV_TRY(job_.Check());
    job_.Report(2, 3, "findings");
    Context(calls);
    MarkFusions();
    Structures(calls);
    FindReplayCauses(calls, out_.context, &out_.categories);
    FindEpilogues(calls, *frames_->kinds, out_.context, &out_.categories);
    FindEmbeddings(out_.peak_tb_per_s, &out_.categories);
    FindPlanarNetwork(calls, out_.context, &out_.categories);
    FindCauses(calls, out_.context, &out_.categories);
    Totals();
    out_.base = StepBaseOf(frames_->frames, out_.workload.repeats);
    MarkForeign();
    HostAlone();
    std::vector<Finding> merged = FindMergedProducts(calls, out_.context, out_.categories,
                                                     out_.base, TimeScope(frames_->frames));
    std::move(merged.begin(), merged.end(), std::back_inserter(structures_));
    fusions_ = FusionFindings(out_, trace_.events(), trace_.tree(), host_->launches);
    ClaimChains();
    JV_TRY(job_.Check());
    MakeCauseFindings(calls, out_.context, &out_.categories);
    for (CategoryAnalysis& category : out_.categories) {
      JV_TRY(job_.Check());
      MakeFindings(calls, out_.context, Estimated::kYes, &category);
    }
    FixLines(calls);
    Rank();
    JV_TRY(job_.Check());
    Overlaps();
    out_.priorities = CategoryPriorities(out_);
    out_.nothing_because = WhyNothing(out_);
    JV_ASSIGN(out_.quality, JudgeQuality(trace_, out_, job_));
    PlaceFindings(&out_);
    return std::move(out_);
  }

 private:
  // What no finding so far sizes; what is left then is told without an estimate.
  void FixLines(const Calls& calls) {
    JudgePrecision(calls, *frames_->kinds, out_.context, &out_.categories, &structures_);
    AddLineFixes(calls, fusions_, &out_, &structures_);
    for (CategoryAnalysis& category : out_.categories)
      MakeFindings(calls, out_.context, Estimated::kNo, &category);
  }

  // What no operation and no pair of neighbours shows.
  void Structures(const Calls& calls) {
    structures_ = FindStructures(calls, out_.context, &out_.categories, &out_.fusion);
    std::ranges::move(FindingsByKernel(calls), std::back_inserter(structures_));
    if (auto dense = FindDenseExperts(calls, out_.categories))
      structures_.push_back(std::move(*dense));
    for (Finding& finding : FindSameWork(calls, *frames_->kinds, out_.categories))
      structures_.push_back(std::move(finding));
    TellExpertLoops(structures_, &out_.workload);
  }

  // The operations, and beside them what the trace alone tells: neither needs the other.
  Result<Collected> Gather() {
    std::optional<Result<Collected>> collected;
    jarvis::Status told;
    ParallelFor(2, 0, [&](std::size_t part) {
      if (part == 0)
        collected.emplace(CollectOperations(trace_, platform_, models_, job_));
      else
        told = ReadTrace();
    });
    JV_TRY(told);
    return std::move(*collected);
  }

  jarvis::Status ReadTrace() {
    JV_ASSIGN(frames_, session::FramesOf(trace_, job_));
    JV_ASSIGN(simulation_, session::SimulationOf(trace_, job_));
    JV_ASSIGN(profiling_, session::ProfilingCostOf(trace_, job_));
    JV_ASSIGN(first_calls_, session::FirstCallsOf(trace_, job_));
    JV_ASSIGN(descheduled_, session::DescheduledOf(trace_, job_));
    JV_ASSIGN(stops_, session::HostStopsOf(trace_, job_));
    JV_ASSIGN(host_, session::HostOf(trace_, job_));
    JV_ASSIGN(ground_, WallGroundOf(trace_, job_));
    JV_ASSIGN(out_.bound, session::BoundOf(trace_, job_));
    JV_ASSIGN(out_.line_bounds, session::BoundsOf(trace_, platform_, models_, job_));
    return {};
  }

  void Head() {
    out_.trace_id = trace_.id();
    if (platform_ != nullptr) {
      out_.platform = platform_->name;
      if (platform_->mem_bw_gbps) out_.peak_tb_per_s = *platform_->mem_bw_gbps / 1000;
    }
    const auto& devices = trace_.trace().metadata.devices;
    if (!devices.empty()) out_.device = devices.front().name;
    if (!trace_.timeline()) return;
    const analysis::GpuTimeline& t = *trace_.timeline();
    findings::Totals& totals = out_.totals;
    totals.has_gpu_work = true;
    // While the GPU does what is not recorded it is neither idle nor doing this trace's work.
    const double unrecorded_ms = UnrecordedInWindowUs(trace_, frames_->frames.unrecorded) / 1000;
    totals.window_ms = t.total / 1000 - unrecorded_ms;
    totals.busy_ms = t.busy / 1000;
    totals.idle_ms = t.idle / 1000 - unrecorded_ms;
    totals.computation_ms = t.computation / 1000;
    totals.exposed_comm_ms = t.exposed_comm / 1000;
    totals.exposed_copy_ms = t.exposed_memcpy / 1000;
    totals.unlinked_ms = trace_.coverage().unlinked.time_us / 1000;
    totals.unlinked_count = trace_.coverage().unlinked.count;
  }

  void Context(const Calls& calls) {
    WorkContext& context = out_.context;
    for (const analysis::WorkCall& call : calls.calls)
      context.training = context.training || call.backward;
    for (const CategoryAnalysis& category : out_.categories) {
      context.sync_calls += category.sync_calls;
      context.foreach_optimizer = context.foreach_optimizer || category.key == "multi_tensor_apply";
      context.training = context.training || category.key.ends_with("_bwd") ||
                         category.key.find("_backward") != std::string::npos;
      context.compiled =
          context.compiled || (category.kind == Kind::kTriton && category.calls >= kCompiledCalls);
    }
    context.training = context.training || context.foreach_optimizer;
    AddSurroundings(trace_, platform_, out_.workload, &context);
    const trace::EventStore& events = trace_.events();
    for (trace::EventIndex e = 0; e < events.size(); ++e) {
      const std::string_view name = events.name(e);
      const bool named = events[e].kind == trace::EventKind::kUserAnnotation ||
                         events[e].kind == trace::EventKind::kCpuOp;
      if (!named) continue;
      context.optimizer = context.optimizer || name.starts_with("Optimizer.");
      context.compiled = context.compiled || name.starts_with("Torch-Compiled Region");
    }
    context.training = context.training || context.optimizer;
  }

  // All that the trace has, kept or not, those of groups one by one.
  std::size_t Units() const { return frames_->frames.base.recorded_parts(); }

  void MarkFusions() {
    std::map<std::string, std::string> taken;
    std::map<std::string, double> claimed_us;  // by operation, of attention
    for (const FusionCandidate& candidate : out_.fusion.candidates) {
      for (const std::string& operation : candidate.operations)
        taken.try_emplace(operation, candidate.id);
      if (candidate.kind != FusionKind::kAttention) continue;
      for (const FusionKernel& kernel : candidate.kernels)
        claimed_us[kernel.operation] += kernel.mean_us * static_cast<double>(candidate.instances);
    }
    for (CategoryAnalysis& category : out_.categories) {
      for (Operation& operation : category.operations) {
        const auto found = taken.find(operation.id);
        if (found != taken.end()) operation.fusion_candidate = found->second;
        if (found == taken.end() || !OfAttention(found->second)) continue;
        if (operation.classification == "softmax")
          operation.patterns.push_back({Pattern::kSoftmaxOfAttention, {}});
        operation.claimed = claimed_us[operation.id] >= operation.gpu_us / 2;
      }
    }
  }
  bool OfAttention(const std::string& id) const {
    return std::any_of(out_.fusion.candidates.begin(), out_.fusion.candidates.end(),
                       [&](const FusionCandidate& candidate) {
                         return candidate.id == id && candidate.kind == FusionKind::kAttention;
                       });
  }

  // What chains that are told of have most of has no finding of its own, unless a rule knows why.
  void ClaimChains() {
    std::map<std::string, double> claimed_us;  // by operation
    bool rotated = false;
    for (const Finding& finding : fusions_) {
      rotated = rotated || TakesRotation(finding);
      for (const FusionCandidate& candidate : out_.fusion.candidates) {
        if (std::find(finding.members.begin(), finding.members.end(), candidate.id) ==
            finding.members.end()) {
          continue;
        }
        for (const FusionKernel& kernel : candidate.kernels)
          claimed_us[kernel.operation] += kernel.mean_us * static_cast<double>(candidate.instances);
      }
    }
    for (CategoryAnalysis& category : out_.categories) {
      for (Operation& operation : category.operations) {
        const auto found = claimed_us.find(operation.id);
        if (rotated && !operation.cause && IsOfRotation(operation)) operation.claimed = true;
        if (found == claimed_us.end() || operation.cause) continue;
        operation.claimed = operation.claimed || found->second >= operation.gpu_us / 2;
      }
    }
  }

  void Totals() {
    for (const CategoryAnalysis& category : out_.categories) {
      out_.totals.category_sum_ms += category.gpu_us / 1000;
      out_.totals.unmodeled_ms += (category.gpu_us - category.modeled_us) / 1000;
    }
  }

  void Rank() {
    std::vector<Finding>& all = out_.findings;
    for (const CategoryAnalysis& category : out_.categories)
      all.insert(all.end(), category.findings.begin(), category.findings.end());
    // Without a link from launches to work nothing is known of what waits for what.
    const bool linked = host_->launching.launches > 0;
    const bool simulated =
        linked && !simulation_->empty() && simulation_->quality().refusal.empty();
    std::vector<Finding> host = simulated ? FindHost() : IdleFindings(out_);
    if (host.empty() && !out_.idle.reliable) host = IdleFindings(out_);
    LeaveCompilingToChains(&host);
    std::vector<Finding> multi = MultiKernelFindings(trace_, out_, frames_->frames.base_steps());
    if (out_.cpu) host = CpuFindings(*out_.cpu, out_.base, out_.context);
    DropToldCopies(&multi);
    DropToldUploads(multi, &host);
    AddStructures(std::move(structures_), out_.totals.window_ms, &multi);
    for (std::vector<Finding> some : {std::move(host), std::move(multi), std::move(fusions_)}) {
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    out_.too_little = FindTooLittle(trace_, *first_calls_);
    out_.costly_graph = FindCostlyGraph(trace_);
    out_.recorded_span = RecordedSpanOf(trace_);
    if (out_.too_little) LeaveUnranked();
    FitToFramework(&out_);
    MergeByAction(&all);
    // By what they may save; without an estimate by time, after all others.
    std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
      if (a.impact_percent.has_value() != b.impact_percent.has_value())
        return a.impact_percent.has_value();
      return a.impact_percent ? a.impact_percent->mid > b.impact_percent->mid
                              : a.time_ms > b.time_ms;
    });
    MarkOwnParts(&all);
    if (linked) {
      FillWallSavings(trace_.events(), *simulation_, TimeScope(frames_->frames), *ground_, &out_);
    } else {
      out_.wall.why_not =
          out_.cpu ? "there is none, and of the host's time bounds are told."
                   : "no launch is linked with its GPU work, so what waits for what is unknown.";
    }
    DropLeftOut();
    FillLines(trace_.events(), floors_ ? &*floors_ : nullptr, &out_);
    if (out_.wall.known) TellTogether(*simulation_, &out_);
    if (linked && !out_.too_little) out_.uncovered = FindUncoveredLines(out_);
    out_.slow_instance = FindSlowInstance(trace_, *frames_);
    out_.few_blocks_percent = FewBlocksPercent(trace_, frames_->frames.base.base);
    int host_rank = 0, place = 0;  // in their final order: some about the host may be gone
    for (Finding& finding : all) {
      if (finding.category == "cpu_idle") finding.rank = ++host_rank;
      if (out_.cpu && finding.category == "multi_kernel") finding.rank = 1;
      finding.global_rank = ++place;
      finding.id = fmt::format("f{}", place);
    }
  }

  void LeaveUnranked() {
    out_.findings.clear();
    for (CategoryAnalysis& category : out_.categories) {
      category.findings.clear();
      category.notes = {"too_little"};
    }
  }

  // Where chains are a finding, compiling is its way out; of late launches graphs are.
  void LeaveCompilingToChains(std::vector<Finding>* host) const {
    const bool chains = std::any_of(fusions_.begin(), fusions_.end(), [](const Finding& finding) {
      return finding.rule == Pattern::kEagerChains;
    });
    if (!chains) return;
    for (Finding& finding : *host) {
      for (Remedy& remedy : finding.path_b) {
        if (remedy.advice == Advice::kCompileGraphs) remedy.advice = Advice::kGpuGraphs;
      }
    }
  }

  // Copies on the device whose reason a rule knows are its finding's.
  void DropToldCopies(std::vector<Finding>* multi) const {
    double told_ms = 0;
    for (const Finding& finding : structures_) {
      const bool copies =
          finding.rule == Pattern::kGraphInputCopies || finding.rule == Pattern::kCollectiveCopies;
      told_ms += copies ? finding.time_ms : 0;
    }
    std::erase_if(*multi, [&](const Finding& finding) {
      return !finding.patterns.empty() &&
             finding.patterns.front().pattern == Pattern::kExposedD2dMemcpy &&
             2 * told_ms >= finding.time_ms;
    });
    int rank = 0;
    for (Finding& finding : *multi)
      finding.rank = ++rank;
  }

  // Findings of categories that are none once their saving is known; the others move up.
  void DropLeftOut() {
    for (CategoryAnalysis& category : out_.categories) {
      const auto same = [&](int rank) {
        return std::find_if(out_.findings.begin(), out_.findings.end(), [&](const Finding& one) {
          return one.category == category.key && one.rank == rank;
        });
      };
      std::erase_if(category.findings, [&](const Finding& finding) {
        return same(finding.rank) == out_.findings.end();
      });
      int rank = 0;
      for (Finding& finding : category.findings) {
        same(finding.rank)->rank = ++rank;
        finding.rank = rank;
      }
      if (rank == 0 && category.notes.empty()) category.notes.emplace_back("below_threshold");
    }
  }

  // Without GPU work the host's time is the subject.
  void HostAlone() {
    if (out_.totals.has_gpu_work || !trace_.recorded().cpu_ops) return;
    out_.cpu = MeasureCpuSteps(trace_, *frames_);
    TellCpuWorkload(*out_.cpu, ShowsGpu(trace_), &out_.workload);
  }

  void MarkForeign() {
    outside_.assign(trace_.events().size(), false);
    for (const trace::EventIndex gpu : frames_->frames.left_out)
      outside_[gpu] = true;
    for (CategoryAnalysis& category : out_.categories) {
      for (Operation& operation : category.operations) {
        std::size_t events = 0;
        for (const trace::EventIndex gpu : operation.gpu) {
          if (!outside_[gpu]) continue;
          operation.foreign_us += static_cast<double>(trace_.events()[gpu].dur_ns) / 1000;
          ++events;
        }
        if (events > 0) {
          operation.foreign_calls = static_cast<double>(operation.count * events) /
                                    static_cast<double>(operation.gpu.size());
        }
        category.foreign_us += operation.foreign_us;
        category.foreign_calls += operation.foreign_calls;
      }
    }
  }

  // Findings are of the whole recording; what a step has of them is of the steps alone.
  void MarkOwnParts(std::vector<Finding>* findings) const {
    for (Finding& finding : *findings) {
      if (finding.host != nullptr) continue;
      std::int64_t all = 0;
      std::int64_t own = 0;
      for (const trace::EventIndex gpu : out_.WorkOf(finding)) {
        const std::int64_t ns = trace_.events()[gpu].dur_ns;
        all += ns;
        own += outside_[gpu] ? 0 : ns;
      }
      if (all > 0) finding.own_part = static_cast<double>(own) / static_cast<double>(all);
    }
  }

  // When the GPU was busy with what is not recorded, and what lies before and after the steps.
  IntervalSet<std::int64_t> NoPartOfSteps() const {
    const analysis::TimeFrames& frames = frames_->frames;
    IntervalSet<std::int64_t> out = frames.unrecorded;
    const auto& span = host_->threads.span;
    if (span.start < frames.frame.start) out.push_back({span.start, frames.frame.start});
    // In runs of a program whose GPU work was not recorded the GPU may have been at work.
    std::int64_t end = frames.frame.end;
    for (auto step = frames.steps.rbegin();
         frames.base.open_end && step != frames.steps.rend() && !step->gpu; ++step)
      end = std::min(end, step->host.start);
    if (end < span.end) out.push_back({end, span.end});
    return Union(std::move(out));
  }

  std::vector<Finding> FindHost() {
    const IdleSections sections = FindIdleSections(trace_, *host_, NoPartOfSteps());
    const TimeScope scope(frames_->frames);
    std::vector<Finding> found =
        HostFindings({trace_, *host_, *frames_, scope, out_.base.total_ms, sections, *first_calls_,
                      *descheduled_, *stops_, *profiling_, out_.context});
    for (Finding& f : found) {
      f.percent_of_total = out_.totals.Share(f.time_ms);
      f.impact_percent = out_.totals.window_ms > 0
                             ? std::optional(Scaled(*f.savings_ms, 100 / out_.totals.window_ms))
                             : std::nullopt;
      f.priority = PriorityOf(out_.totals.Percent(f.time_ms).value_or(0), std::nullopt, true);
    }
    return found;
  }

  // Operations that a finding claims time of.
  std::set<std::string> OperationsOf(const Finding& finding) const {
    std::set<std::string> out;
    if (finding.tier == Tier::kCompute) out.insert(finding.members.begin(), finding.members.end());
    if (finding.tier != Tier::kFusion) return out;
    for (const FusionCandidate& candidate : out_.fusion.candidates) {
      if (std::find(finding.members.begin(), finding.members.end(), candidate.id) !=
          finding.members.end()) {
        out.insert(candidate.operations.begin(), candidate.operations.end());
      }
    }
    return out;
  }

  void Overlaps() {
    std::vector<std::set<std::string>> claims;
    for (const Finding& finding : out_.findings)
      claims.push_back(OperationsOf(finding));
    for (std::size_t i = 0; i < claims.size(); ++i) {
      for (std::size_t j = 0; j < claims.size(); ++j) {
        const bool meet =
            i != j && std::any_of(claims[i].begin(), claims[i].end(),
                                  [&](const auto& id) { return claims[j].contains(id); });
        if (meet) out_.findings[i].overlaps_with.push_back(out_.findings[j].id);
      }
    }
    // A category's own copies know their rank in the whole, too.
    for (CategoryAnalysis& category : out_.categories) {
      for (Finding& finding : category.findings) {
        const auto same =
            std::find_if(out_.findings.begin(), out_.findings.end(), [&](const Finding& other) {
              return other.category == finding.category && other.rank == finding.rank;
            });
        finding = *same;
      }
    }
    out_.combined = CombinedOf(out_);
  }

  const session::LoadedTrace& trace_;
  const perf::Platform* platform_;
  const std::shared_ptr<const perf::ModelRows>& models_;
  Job& job_;
  std::shared_ptr<const analysis::Simulation> simulation_;
  std::shared_ptr<const analysis::ProfilingCost> profiling_;
  std::shared_ptr<const analysis::FirstCalls> first_calls_;
  std::shared_ptr<const WallGround> ground_;  // of savings of wall time
  std::shared_ptr<const analysis::Descheduled> descheduled_;
  std::shared_ptr<const std::vector<analysis::HostStop>> stops_;
  std::shared_ptr<const analysis::HostSummary> host_;
  std::shared_ptr<const session::TraceFrames> frames_;
  std::vector<Finding> fusions_;
  std::vector<Finding> structures_;            // made while the calls are there
  std::optional<session::NameFloors> floors_;  // absent: no platform
  std::vector<bool> outside_;                  // by event: of no step that shares are of
  Analysis out_;
};

}  // namespace

const CategoryAnalysis* Analysis::FindCategory(std::string_view key) const {
  const auto found = std::ranges::find(categories, key, &CategoryAnalysis::key);
  return found == categories.end() ? nullptr : &*found;
}

const Operation* Analysis::FindOperation(std::string_view id) const {
  const CategoryAnalysis* category = FindCategory(id.substr(0, id.rfind('.')));
  if (category == nullptr) return nullptr;
  const auto number = ParseInt(id.substr(std::min(id.size(), id.rfind('.') + 1)));
  if (number && *number >= 1 && static_cast<std::size_t>(*number) <= category->operations.size()) {
    const Operation& there = category->operations[static_cast<std::size_t>(*number) - 1];
    if (there.id == id) return &there;  // they are numbered as they stand
  }
  const auto found = std::ranges::find(category->operations, id, &Operation::id);
  return found == category->operations.end() ? nullptr : &*found;
}

std::vector<trace::EventIndex> Analysis::WorkOf(const Finding& finding) const {
  std::vector<trace::EventIndex> work;
  const auto add = [&](const std::vector<trace::EventIndex>& some) {
    work.insert(work.end(), some.begin(), some.end());
  };
  for (const auto* change : {&finding.change_a, &finding.change_b}) {
    if (!*change) continue;
    for (const Change::Part& part : (*change)->parts)
      add(part.gpu);
  }
  const auto add_operation = [&](const std::string& id) {
    if (const Operation* operation = FindOperation(id)) add(operation->gpu);
  };
  for (const std::string& member : finding.members) {
    add_operation(member);
    for (const FusionCandidate& candidate : fusion.candidates) {
      if (candidate.id != member) continue;
      for (const std::string& id : candidate.operations)
        add_operation(id);
    }
  }
  std::sort(work.begin(), work.end());
  work.erase(std::unique(work.begin(), work.end()), work.end());
  return work;
}

const Finding* Analysis::FindFinding(std::string_view id) const {
  const auto found = std::ranges::find(findings, id, &Finding::id);
  return found == findings.end() ? nullptr : &*found;
}

Result<Analysis> Analyze(const session::LoadedTrace& trace, const perf::Platform* platform,
                         const AnalysisOptions& options, Job& job) {
  return Analyzer(trace, platform, options, job).Run();
}

}  // namespace jarvis::findings
