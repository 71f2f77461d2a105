#include "findings/one/host_findings.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "analysis/align/graph_capture.h"
#include "base/number_text.h"
#include "findings/one/advice_rules.h"
#include "findings/one/batch_uploads.h"
#include "findings/one/graph_capture.h"
#include "findings/one/host_only_work.h"
#include "findings/one/idle_ledger.h"
#include "findings/one/idle_python.h"
#include "findings/one/late_gaps.h"
#include "findings/one/launch_fit.h"
#include "findings/one/section_remedies.h"
#include "findings/one/section_waits.h"
#include "findings/one/stop_findings.h"
#include "findings/one/system_findings.h"
#include "findings/one/thresholds.h"
#include "findings/one/wait_causes.h"
#include "findings/one/wait_places.h"

namespace jarvis::findings {
namespace {

constexpr std::size_t kHostPlacesMax = 5;
constexpr double kGraphsEnd = 4;        // waits a step inside the model: no graph holds it
constexpr double kIdlePythonShare = 3;  // percent of the steps: one function that launches nothing
// Of the host's time for transforms of images that the GPU takes for them, launches included.
constexpr double kTransformsLeft = 0.03;
// Of torch ops that go from the host to the GPU: their launches, and reading their result.
constexpr double kOnDeviceLeft = 0.15;
// Of loading, what the main process keeps: taking a batch over from the worker that made it.
constexpr double kHandOverLeft = 0.03;
// Of a section: less in one work leaves room for others.
constexpr double kNearlyAllOfIt = 0.9;
// Of what host time per parameter leaves when all parameters are updated together.
constexpr double kTogetherPart = 0.1;

bool IsOptimizer(const IdlePhase& phase) {
  return phase.kind == analysis::PhaseKind::kOptimizer ||
         phase.kind == analysis::PhaseKind::kZeroGrad;
}

class HostFindingMaker {
 public:
  explicit HostFindingMaker(const HostEvidence& evidence) : e_(evidence) {}

  std::vector<Finding> Run() {
    if (!e_.host.has_host_events || !e_.host.has_gpu_work) return {};
    stops_ = FindStops(e_);
    MakeLedger();
    works_ = FindHostOnlyWork(e_.trace);
    Sections();
    LateWork();
    Descheduled();
    FirstCalls();
    Waits();
    Optimizer();
    LaunchBound();
    std::move(stops_.findings.begin(), stops_.findings.end(), std::back_inserter(out_));
    return std::move(out_);
  }

 private:
  bool Matters(double ms) const {
    return e_.base_ms > 0 && ms >= limits::kHostShareMin / 100 * e_.base_ms;
  }

  void MakeLedger() {
    for (const SectionGroup& group : e_.sections.groups) {
      if (Matters(group.total_ms) && !IsExplained(group) && !FollowsForeign(group) &&
          !IsDispatch(group))
        sections_.push_back(&group);
    }
    IntervalSet<std::int64_t> excused = e_.profiling.artefact;
    using Set = IntervalSet<std::int64_t>;
    for (const Set* more : std::initializer_list<const Set*>{
             &e_.first_calls.intervals, &e_.descheduled.intervals, &stops_.intervals})
      excused.insert(excused.end(), more->begin(), more->end());
    excused_ = Union(std::move(excused));
    stopped_ = e_.descheduled.intervals;
    stopped_.insert(stopped_.end(), stops_.intervals.begin(), stops_.intervals.end());
    stopped_ = Union(std::move(stopped_));
    ledger_ = MakeIdleLedger(
        {e_.trace, e_.host, e_.frames, e_.scope, sections_, e_.sections.not_idle, excused_});
  }

  void Add(const char* subject, Pattern pattern, std::vector<Advice> advice, HostCause cause) {
    Finding f = SystemFinding("cpu_idle", "CPU/Idle Analysis", subject);
    f.members = {subject};
    f.count = cause.count;
    f.time_ms = cause.total_ms;
    f.exclusive_ms = cause.total_ms;
    f.upper_bound_ms = cause.total_ms;
    f.savings_ms = Range{0, cause.idle_ms, cause.idle_ms};
    f.patterns.push_back({pattern, {NumberFact("host_ms", cause.total_ms, "ms")}});
    for (const Advice one : advice)
      (PathOf(one) == Path::kA ? f.path_a : f.path_b).push_back({one, {}, {}});
    f.host = std::make_shared<const HostCause>(std::move(cause));
    out_.push_back(std::move(f));
  }

  void AddSection(std::vector<Advice> advice, HostCause cause) {
    const bool loading = cause.loading;
    Add(loading ? "data_loading" : "host_section",
        loading ? Pattern::kDataLoading : Pattern::kHostSection, std::move(advice),
        std::move(cause));
    if (loading) SayWorkers(e_, &out_.back());
  }

  // Most of it is explained otherwise.
  bool IsExplained(const SectionGroup& group) const {
    double profiler = 0, first = 0, stopped = 0;
    for (const Interval<std::int64_t>& one : group.stretches) {
      profiler += analysis::MsInside(e_.profiling.artefact, one.start, one.end);
      first += e_.first_calls.MsWithin(one.start, one.end);
      stopped += analysis::MsInside(e_.descheduled.intervals, one.start, one.end) +
                 analysis::MsInside(stops_.intervals, one.start, one.end);
    }
    const double waits = group.waiting_ms;
    return 2 * (profiler + group.profiler_ms + first + stopped + waits) > group.total_ms;
  }

  // The model's own code on its way to a launch, which comes late: launches that come late have
  // findings of their own. What has an advice of its own is work that need not be there.
  bool IsDispatch(const SectionGroup& group) const {
    if (group.loading || 2 * group.dispatch_ms <= group.total_ms) return false;
    HostSectionNames section{{}, false, 2 * group.nothing_ms > group.total_ms};
    for (const SectionWork& work : group.work)
      section.names.push_back(work.name);
    const std::vector<Advice> advice = AdviceForHostSection(e_.context, section);
    return std::all_of(advice.begin(), advice.end(), [](const Advice one) {
      return one == Advice::kOverlapHostWork || one == Advice::kFindHostWork ||
             one == Advice::kHostOpsToDevice || one == Advice::kConvertBeforeLoop;
    });
  }

  // Between the work of an unrecorded step and the first of a recorded one, and nothing says what
  // the host did: it may be the profiler's start.
  bool FollowsForeign(const SectionGroup& group) const {
    if (2 * group.nothing_ms <= group.total_ms) return false;
    const auto& foreign = e_.frames.frames.foreign_busy;
    return group.stretches.size() == 1 &&
           std::any_of(foreign.begin(), foreign.end(), [&](const auto& work) {
             const std::int64_t start = group.stretches.front().start;
             return work.end == start ||
                    (start == e_.frames.frames.frame.start && work.end < start);
           });
  }

  // Before the first GPU work of a training loop whose steps nothing marks: the step before, which
  // is not recorded, would hide it, unless it is long.
  bool IsEdge(const SectionGroup& group) const {
    constexpr double kShort = 0.05;  // of the base
    return e_.context.training && !group.loading && e_.frames.frames.steps.empty() &&
           group.stretches.size() == 1 && group.before.empty() &&
           group.total_ms < kShort * e_.base_ms;
  }

  // Nothing is launched meanwhile after the last GPU work of a recording that is no loop of steps.
  bool IsEndOfRun(const SectionGroup& group) const {
    return group.after.empty() && group.stretches.size() == 1 &&
           e_.frames.frames.base.unit == analysis::TimeUnit::kRecording;
  }

  void Sections() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const SectionGroup& group = *sections_[i];
      HostCause cause;
      cause.kind = HostCauseKind::kSection;
      cause.count = group.stretches.size();
      cause.total_ms = group.total_ms;
      cause.each_ms = group.median_ms;
      cause.shortest_ms = group.shortest_ms;
      cause.longest_ms = group.longest_ms;
      cause.period_ms = group.period_ms;
      cause.before = group.before;
      cause.after = group.after;
      cause.scattered = group.scattered;
      cause.at_end = group.at_end;
      cause.loading = group.loading;
      cause.generated = group.generated;
      cause.nothing_ms = group.nothing_ms;
      cause.within = group.within;
      const bool unrecorded = 2 * group.nothing_ms > group.total_ms;
      cause.after_copy_back = unrecorded && group.after_copy_back;
      cause.before_copy_in = unrecorded && group.before_copy_in;
      cause.idle_ms = ledger_.section_ms[i];
      for (const SectionWork& work : group.work)
        cause.places.push_back({work.name, "", "", work.count, work.ms});
      cause.changes = {analysis::ScaleHost{StretchesOf(group.stretches), 0}};
      if (!Matters(cause.idle_ms) || IsEdge(group)) continue;
      cause.recorder_ms = std::min(std::max(0.0, group.total_ms - group.nothing_ms),
                                   analysis::ExpectedMsInside(e_.profiling, group.stretches));
      if (group.loading) {
        Loading(group, &cause);
      } else {
        TakeAlong(group, &cause);
        cause.most = WorkWithItsWaits(e_, group.stretches);
      }
      HostSectionNames section{
          {}, group.loading, 2 * group.nothing_ms > group.total_ms, group.after_copy_back};
      for (const SectionWork& work : group.work)
        section.names.push_back(work.name);
      std::vector<Advice> advice = AdviceForHostSection(e_.context, section);
      if (group.growth && !group.loading) advice = AdviceForGrowth(group, &cause);
      if (group.sleeps) advice = {Advice::kEndSleep, Advice::kFindHostWork};
      if (IsEndOfRun(group))
        std::replace(advice.begin(), advice.end(), Advice::kOverlapHostWork,
                     Advice::kShortenLastWork);
      // Faster transforms leave the decoding as it is.
      const bool transforms =
          std::find(advice.begin(), advice.end(), Advice::kPreprocessOnGpu) != advice.end();
      for (const SectionWork& work : group.work)
        cause.left_ms += transforms && IsDecoding(work.name) ? work.ms : 0;
      // Nor are the transforms free on the GPU.
      if (transforms)
        cause.left_ms += kTransformsLeft * std::max(0.0, cause.idle_ms - cause.left_ms);
      const bool to_device =
          std::find(advice.begin(), advice.end(), Advice::kHostOpsToDevice) != advice.end();
      if (to_device) cause.left_ms += kOnDeviceLeft * cause.idle_ms;
      // What nobody can act on is told of only where it is much of the step.
      const bool much = cause.idle_ms >= limits::kSectionAlone / 100 * e_.base_ms;
      if ((advice.empty() && !much) || IsFirstOfMany(e_.trace.events(), group)) continue;
      AddSection(std::move(advice), std::move(cause));
      SayWhatAndWhen(&group, &out_.back());
      if (group.loading) SayTransforms(&out_.back());
    }
  }

  // Workers take all of the loader's time away, that which the GPU's queue covers, too: a host that
  // is ahead of the GPU is not late later.
  void Loading(const SectionGroup& group, HostCause* cause) const {
    IntervalSet<std::int64_t> all;
    for (const IdlePhase& phase : ledger_.phases) {
      if (phase.kind == analysis::PhaseKind::kLoader)
        all.insert(all.end(), phase.spans.begin(), phase.spans.end());
    }
    all = Subtract(Union(std::move(all)), OthersThan(group));
    if (MoveAll(all, cause)) {
      cause->left_ms = kHandOverLeft * cause->moved_ms;
    } else if (const auto own = Intersect(all, group.stretches); !own.empty()) {
      // What the host does beside the loader may stay.
      cause->least = {analysis::ScaleHost{StretchesOf(own), 0}};
    }
  }

  // Work that goes elsewhere goes with what of it the GPU's queue covers.
  bool MoveAll(IntervalSet<std::int64_t> all, HostCause* cause) const {
    if (MillisOf(Length(all)) < cause->idle_ms) return false;
    cause->least = std::move(cause->changes);
    cause->changes = {analysis::ScaleHost{StretchesOf(all), 0}};
    cause->moved_ms = MillisOf(Length(all));
    const double most_ms = std::min(cause->moved_ms, ledger_.total_ms);
    cause->behind_work_ms = std::max(0.0, most_ms - cause->idle_ms);
    return true;
  }

  IntervalSet<std::int64_t> SteadySpans(const HostOnlyWork& work) const {
    return Subtract(e_.scope.Of(work.spans), excused_);
  }

  // What a function calls may be a section of its own.
  IntervalSet<std::int64_t> OthersThan(const SectionGroup& group) const {
    IntervalSet<std::int64_t> others;
    for (const SectionGroup* one : sections_) {
      if (one != &group) others.insert(others.end(), one->stretches.begin(), one->stretches.end());
    }
    return Union(std::move(others));
  }

  // The work that most of a section is.
  void TakeAlong(const SectionGroup& group, HostCause* cause) {
    for (HostOnlyWork& work : works_) {
      const auto shared = Intersect(work.spans, group.stretches);
      if (2 * MillisOf(Length(shared)) < group.total_ms) continue;
      IntervalSet<std::int64_t> all = SteadySpans(work);
      const auto own = e_.scope.Of(group.stretches);
      all.insert(all.end(), own.begin(), own.end());
      if (!MoveAll(Subtract(Union(std::move(all)), OthersThan(group)), cause)) return;
      cause->work = work.name;
      cause->work_ms = MillisOf(Length(shared));
      // What the host does beside it may stay.
      if (cause->work_ms < kNearlyAllOfIt * group.total_ms)
        cause->least = {analysis::ScaleHost{StretchesOf(shared), 0}};
      work.spans.clear();
      return;
    }
  }

  // What most of it is, a section is about as well: one action, wherever it is called.
  bool IsTold(const HostOnlyWork& work) const {
    return !work.inside.empty() &&
           std::any_of(out_.begin(), out_.end(), [&](const Finding& finding) {
             const std::vector<HostPlace>& places = finding.host->places;
             return finding.host->kind == HostCauseKind::kSection && !places.empty() &&
                    places.front().name == work.inside.front().name;
           });
  }

  // Work that the GPU's queue hides while it lasts: the host has lost its lead, and launches come
  // late after it.
  void LateWork() {
    const bool loading_told = std::any_of(
        out_.begin(), out_.end(), [](const Finding& finding) { return finding.host->loading; });
    for (const HostOnlyWork& work : works_) {
      const IntervalSet<std::int64_t> spans = SteadySpans(work);
      const double least_ms = limits::kSectionAlone / 100 * e_.base_ms;
      if (!work.named || MillisOf(Length(spans)) < least_ms) continue;
      // Where the GPU is idle meanwhile it is not late: sections tell of that.
      if (2 * work.beside_gpu_ns < Length(work.spans)) continue;
      if (IsTold(work) || (work.loading && loading_told)) continue;
      HostCause cause = CauseOfLate(work, spans);
      cause.idle_ms = std::min(cause.total_ms, ledger_.total_ms);
      if (work.loading) cause.left_ms = kHandOverLeft * cause.moved_ms;
      if (!Matters(cause.idle_ms)) continue;
      HostSectionNames section{{}, work.loading, false};
      for (const SectionWork& inside : work.inside)
        section.names.push_back(inside.name);
      AddSection(AdviceForHostSection(e_.context, section), std::move(cause));
      SayWhatAndWhen(nullptr, &out_.back());
    }
  }

  void Descheduled() {
    const analysis::Descheduled& d = e_.descheduled;
    if (!Matters(d.total_ms)) return;
    HostCause cause;
    cause.kind = HostCauseKind::kDescheduled;
    cause.count = d.pieces.size();
    cause.total_ms = d.total_ms;
    cause.each_ms = d.longest_ms;
    cause.idle_ms = d.total_ms;
    cause.once = 2 * Length(e_.scope.Of(d.intervals)) < Length(d.intervals);
    cause.changes = {analysis::ScaleHost{StretchesOf(d.intervals), 0}};
    if (!d.unsure.empty()) {
      IntervalSet<std::int64_t> all = d.intervals;
      all.insert(all.end(), d.unsure.begin(), d.unsure.end());
      cause.most = {analysis::ScaleHost{StretchesOf(Union(std::move(all))), 0}};
    }
    Add("descheduled_host", Pattern::kDescheduled, {Advice::kGiveCores}, std::move(cause));
  }

  // Of a step that has first calls in it, all that they take, as is told of its length.
  std::int64_t OneTimeNs() const {
    const analysis::BaseOfTime& base = e_.frames.frames.base;
    return base.one_time_in_base ? Length(e_.scope.Of(Union(e_.first_calls.intervals)))
                                 : base.one_time_ns;
  }

  void FirstCalls() {
    const analysis::FirstCalls& calls = e_.first_calls;
    // What stopped the host outside of the steady steps is told by a rule of its own.
    const std::int64_t stopped_ns =
        Length(stops_.intervals) - Length(e_.scope.Of(stops_.intervals));
    const double once_ms = std::max(0.0, MillisOf(OneTimeNs() - stopped_ns));
    if (once_ms < limits::kHostShareMin / 100 * e_.sections.span_ms) return;
    HostCause cause;
    cause.kind = HostCauseKind::kFirstCalls;
    cause.once = true;
    cause.count = calls.calls.size();
    cause.total_ms = once_ms;
    cause.idle_ms = once_ms;
    for (const analysis::FirstCall& call : calls.calls) {
      if (cause.places.size() == kHostPlacesMax) break;
      const auto& flushes = stops_.flushes;  // told by a rule of their own
      if (std::binary_search(flushes.begin(), flushes.end(), call.call)) continue;
      const double own_ms = analysis::MsInside(e_.profiling.artefact, call.begin_ns, call.end_ns);
      if (2 * own_ms > call.ms()) continue;  // the profiler's
      HostPlace place;
      place.name = e_.trace.events().name(call.call);
      if (call.op != trace::kNoEvent) place.code = e_.trace.events().name(call.op);
      place.count = 1;
      place.ms = call.ms();
      cause.places.push_back(std::move(place));
    }
    if (cause.places.empty()) return;
    cause.changes = {analysis::ScaleHost{StretchesOf(calls.intervals), 0}};
    Add("first_calls", Pattern::kFirstCalls, {Advice::kWarmUpFirst}, std::move(cause));
  }

  // Waits behind which nothing is queued.
  void Waits() {
    FoundWaits found = FindWaitPlaces(e_, ledger_);
    const IntervalSet<std::int64_t> checked = HostTimeOf(found.checks);
    std::optional<HostCause> checks = CauseOfChecks(e_, ledger_, &found.checks);
    IntervalSet<std::int64_t> told = checks ? checked : IntervalSet<std::int64_t>{};
    IntervalSet<std::int64_t> broken = found.breaks.between_parts;
    std::optional<HostCause> breaks = CauseOfBreaks(e_, ledger_, &found.breaks);
    if (breaks) told.insert(told.end(), broken.begin(), broken.end());
    std::optional<HostCause> others =
        CauseOfWaits(e_, ledger_, &found.others, Union(std::move(told)));
    std::optional<HostCause> batch = CauseOfBatch(e_, &found.batch);
    lead_told_ = (checks && TellsLead(found.checks)) || (breaks && TellsLead(found.breaks)) ||
                 (others && TellsLead(found.others));
    if (breaks) AddWaits("graph_breaks", std::move(found.breaks), *std::move(breaks));
    if (checks) AddWaits("value_checks", std::move(found.checks), *std::move(checks));
    if (others) AddWaits("synchronisation", std::move(found.others), *std::move(others));
    if (!batch) return;
    batch->places = std::move(found.batch.places);
    if (batch->places.size() > kHostPlacesMax) batch->places.resize(kHostPlacesMax);
    Add("batch_uploads", Pattern::kSynchronisation, {Advice::kPinBatch}, *std::move(batch));
  }

  void AddWaits(const char* member, WaitPlaces found, HostCause cause) {
    cause.total_ms = std::max(cause.total_ms, found.total_ms);
    cause.places = std::move(found.places);
    cause.rounds = found.rounds;
    cause.waits_a_round = found.waits_a_round;
    std::vector<Remedy> ways = WaysForWaits(cause.places);
    if (found.rounds > 0 && found.computes)
      ways.insert(ways.begin(), {Advice::kLoopAtOnce, {}, {}});
    HoldToWays(ways, found, &cause);
    if (cause.places.size() > kHostPlacesMax) cause.places.resize(kHostPlacesMax);
    Add(member, Pattern::kSynchronisation, {}, std::move(cause));
    out_.back().path_a = std::move(ways);
  }

  // Many tiny kernels, one or a few a parameter: they go together, or not at all.
  void Optimizer() {
    if (e_.context.foreach_optimizer) return;
    HostCause cause;
    cause.kind = HostCauseKind::kOptimizer;
    IntervalSet<std::int64_t> spans;
    double idle = 0;
    for (const IdlePhase& phase : ledger_.phases) {
      if (!IsOptimizer(phase)) continue;
      idle += phase.launch_ms + phase.sync_ms;
      cause.count += phase.launches;
      cause.total_ms += phase.host_ms();
      spans.insert(spans.end(), phase.spans.begin(), phase.spans.end());
      cause.places.push_back(PlaceOf(phase));
    }
    if (!Matters(idle)) return;
    // The host is late here for all that it did before: what it saves is not bound by this idle.
    cause.idle_ms = std::min(cause.total_ms, ledger_.total_ms);
    cause.changes = {analysis::ScaleHost{StretchesOf(Subtract(Union(std::move(spans)), stopped_)),
                                         kTogetherPart}};
    Add("optimizer_launches", Pattern::kLaunchBound,
        {e_.context.before_torch2 ? Advice::kLegacyOptimizer : Advice::kFusedOptimizer},
        std::move(cause));
  }

  // Of the steps without their first calls it is a good part, and it has too few waits to be told
  // of for them.
  bool FillsRest(const IdlePhase& phase) const {
    constexpr double kGoodPart = 0.33;
    const double rest = e_.base_ms - MillisOf(Length(e_.scope.Of(e_.first_calls.intervals)));
    const bool first_calls = rest < kGoodPart * e_.base_ms;
    return first_calls && phase.launch_ms >= kGoodPart * rest &&
           static_cast<double>(phase.waits) < limits::kWaitsMin;
  }

  // Where launches come late although nothing is waited for: by phase, as a median over all of them
  // is of none.
  void LaunchBound() {
    if (e_.host.launching.graph_percent > limits::kGraphShareMax) return ReplayGap();
    HostCause cause;
    cause.kind = HostCauseKind::kLaunchBound;
    std::uint64_t idle_launches = 0;
    IntervalSet<std::int64_t> spans, gaps;
    const IdlePhase* most = nullptr;
    for (const IdlePhase& phase : ledger_.phases) {
      const bool named = phase.waits_often() || phase.mostly_excused();
      const bool others = (named && !FillsRest(phase)) ||
                          phase.kind == analysis::PhaseKind::kLoader ||
                          (IsOptimizer(phase) && !e_.context.foreach_optimizer);
      if (others || phase.launch_ms <= 0) continue;
      const double launch_ms = phase.launch_ms - (lead_told_ ? phase.lead_ms : 0);
      cause.idle_ms += launch_ms;
      cause.early_ms += phase.early_ms;
      cause.until_ms = std::max(cause.until_ms, phase.early_until_ms);
      cause.count += phase.launches;
      idle_launches += phase.idle_launches;
      cause.total_ms += launch_ms;
      spans.insert(spans.end(), phase.spans.begin(), phase.spans.end());
      gaps.insert(gaps.end(), phase.gaps.begin(), phase.gaps.end());
      if (most == nullptr || phase.launch_ms > most->launch_ms) most = &phase;
      // A single launch has no pace.
      if (!phase.name.empty() && phase.launch_us > 0) cause.places.push_back(PlaceOf(phase));
    }
    if (most == nullptr || !Matters(cause.total_ms)) return;
    std::stable_sort(cause.places.begin(), cause.places.end(),
                     [](const HostPlace& a, const HostPlace& b) { return a.idle_ms > b.idle_ms; });
    std::erase_if(cause.places,
                  [&](const HostPlace& place) { return 10 * place.idle_ms < cause.total_ms; });
    if (cause.places.size() > kHostPlacesMax) cause.places.resize(kHostPlacesMax);
    cause.launch_us = most->launch_us;
    cause.kernel_us = most->kernel_us;
    cause.idle_percent =
        100 * static_cast<double>(idle_launches) / static_cast<double>(cause.count);
    cause.ramp = 100 * cause.early_ms >= limits::kRampShare * cause.total_ms;
    cause.ahead = !cause.ramp && IsHostAhead(e_.frames, cause);
    if (cause.ahead)
      LocateGaps(e_.trace, e_.frames, Union(std::move(gaps)), e_.context.training, &cause);
    spans = Union(std::move(spans));
    cause.python = FindIdlePython(e_.trace, spans, kIdlePythonShare / 100 * e_.base_ms);
    // No graph ends what stops the host from outside: it has a finding of its own.
    cause.changes = LaunchedAsGraphs(Subtract(spans, stopped_));
    const LaunchFit fit = LaunchFitOf(e_.trace, e_.host, e_.frames);
    const CaptureText capture =
        CaptureWords(e_.trace, e_.host, e_.frames, e_.scope, spans, e_.context, fit.sizes);
    // Sizes that differ, or reads that end graph after graph, have to go first.
    const bool differ = !fit.sizes.empty() && !e_.context.generates;
    cause.unsure = !e_.context.IsServer() && (differ || capture.waits >= kGraphsEnd);
    const bool made = !e_.context.IsServer() && capture.sizes_made >= kGraphsEnd;
    Add("launch_bound", Pattern::kLaunchBound, {}, std::move(cause));
    // Phases that wait for the GPU again and again are none of these.
    const bool optimizer_told = std::any_of(out_.begin(), out_.end(), [](const Finding& finding) {
      return finding.host->kind == HostCauseKind::kOptimizer;
    });
    out_.back().path_b = WaysToLaunchFaster(e_.context, false, optimizer_told);
    SayCapture(fit, capture, e_.context.generates, &out_.back().path_b);
    if (made) FitToMadeSizes(capture, &out_.back());
  }

  struct ReplaysInScope {
    IntervalSet<std::int64_t> spans;  // of GPU time, from first kernels to last ends
    HostPlace place;                  // the calls that launch them
  };

  ReplaysInScope FindReplays() const {
    const trace::EventStore& events = e_.trace.events();
    ReplaysInScope found;
    for (const auto& replay : analysis::FindReplayedGraphs(events, e_.trace.tree())) {
      const trace::Event& launch = events[replay.launch];
      if (replay.gpu.empty() || !e_.scope.Has(launch.ts_ns)) continue;
      Interval<std::int64_t> span{events[replay.gpu.front()].ts_ns, 0};
      for (const trace::EventIndex gpu : replay.gpu)
        span.end = std::max(span.end, events[gpu].end_ns());
      found.spans.push_back(span);
      found.place.name = events.name(replay.launch);
      ++found.place.count;
      found.place.ms += MillisOf(launch.dur_ns);
    }
    found.spans = Union(std::move(found.spans));
    return found;
  }

  // An engine that replays a graph a step: what is idle is the preparation of the next one, and
  // what the replay itself waits for, while it is handed over. Where the host is ahead of the GPU
  // neither shows.
  void ReplayGap() {
    if (!e_.context.IsServer()) return;
    HostCause cause;
    cause.kind = HostCauseKind::kReplayGap;
    ReplaysInScope replays = FindReplays();
    IntervalSet<std::int64_t> gaps;
    for (const IdlePhase& phase : ledger_.phases) {
      const auto idle = Union(phase.gaps);
      const std::int64_t before_ns = Length(Subtract(idle, replays.spans));
      const double before_ms = MillisOf(before_ns);
      cause.idle_ms += phase.launch_ms + phase.sync_ms;
      cause.inside_ms += MillisOf(Length(idle) - before_ns);
      cause.count += phase.launches;
      gaps.insert(gaps.end(), phase.gaps.begin(), phase.gaps.end());
      if (phase.name.empty() || before_ms <= 0) continue;
      cause.places.push_back(PlaceOf(phase));
      cause.places.back().idle_ms = before_ms;
    }
    replays.place.idle_ms = cause.inside_ms;
    if (cause.inside_ms > 0) cause.places.push_back(std::move(replays.place));
    const bool told = std::any_of(out_.begin(), out_.end(), [](const Finding& finding) {
      return finding.host->kind == HostCauseKind::kWaits;
    });
    if (told || e_.base_ms <= 0 || cause.idle_ms < limits::kReplayIdle / 100 * e_.base_ms) return;
    std::stable_sort(cause.places.begin(), cause.places.end(),
                     [](const HostPlace& a, const HostPlace& b) { return a.idle_ms > b.idle_ms; });
    if (cause.places.size() > kHostPlacesMax) cause.places.resize(kHostPlacesMax);
    cause.total_ms = cause.idle_ms;
    cause.changes = {analysis::ScaleHost{StretchesOf(Union(std::move(gaps))), 0}};
    const bool vllm = e_.context.engine == Engine::kVllm;
    std::vector<Advice> advice = {Advice::kHostLengths};
    // Where the host is ahead already the setting is on.
    if (vllm && e_.frames.frames.foreign_busy.empty()) advice = {Advice::kPrepareSteps};
    Add("replay_gap", Pattern::kReplayGap, std::move(advice), std::move(cause));
  }

  const HostEvidence& e_;
  StopFindings stops_;
  std::vector<const SectionGroup*> sections_;  // that matter, and that nothing else explains
  IntervalSet<std::int64_t> excused_;          // profiler, first calls, stops, no CPU: host time
  IntervalSet<std::int64_t> stopped_;          // of these, the stops and those without CPU
  IdleLedger ledger_;
  std::vector<HostOnlyWork> works_;  // less those that a finding takes along
  bool lead_told_ = false;           // with the waits that cost it
  std::vector<Finding> out_;
};

}  // namespace

std::vector<Finding> HostFindings(const HostEvidence& evidence) {
  return HostFindingMaker(evidence).Run();
}

}  // namespace jarvis::findings
