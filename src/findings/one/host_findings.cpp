#include "findings/one/host_findings.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "findings/one/advice_rules.h"
#include "findings/one/system_findings.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

constexpr std::size_t kHostPlacesMax = 5;

double MsOf(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

std::vector<analysis::HostStretch> StretchesOf(const IntervalSet<std::int64_t>& intervals) {
  std::vector<analysis::HostStretch> stretches;
  for (const Interval<std::int64_t>& interval : intervals)
    stretches.push_back({analysis::kAllTracks, interval.start, interval.end});
  return stretches;
}

class HostFindingMaker {
 public:
  explicit HostFindingMaker(const HostEvidence& evidence) : e_(evidence) {}

  std::vector<Finding> Run() {
    if (!e_.host.has_host_events || !e_.host.has_gpu_work) return {};
    Sections();
    Descheduled();
    FirstCalls();
    Waits();
    LaunchBound();
    return std::move(out_);
  }

 private:
  bool Matters(double ms) const {
    return e_.sections.span_ms > 0 && ms >= limits::kHostShareMin / 100 * e_.sections.span_ms;
  }

  void Add(const char* subject, Pattern pattern, std::vector<Advice> advice, HostCause cause) {
    Finding f = SystemFinding("cpu_idle", "CPU/Idle Analysis", subject);
    f.members = {subject};
    f.count = cause.count;
    f.time_ms = cause.total_ms;
    f.exclusive_ms = cause.total_ms;
    f.upper_bound_ms = cause.total_ms;
    f.savings_ms = Range{0, cause.total_ms, cause.total_ms};
    f.patterns.push_back({pattern, {NumberFact("host_ms", cause.total_ms, "ms")}});
    for (const Advice one : advice)
      f.path_a.push_back({one, {}, {}});
    f.host = std::make_shared<const HostCause>(std::move(cause));
    out_.push_back(std::move(f));
  }

  // Most of it is explained otherwise.
  bool IsExplained(const SectionGroup& group) const {
    double profiler = 0, first = 0, stopped = 0;
    for (const Interval<std::int64_t>& one : group.stretches) {
      profiler += analysis::MsInside(e_.profiling.artefact, one.start, one.end);
      first += e_.first_calls.MsWithin(one.start, one.end);
      stopped += analysis::MsInside(e_.descheduled.intervals, one.start, one.end);
    }
    return 2 * (profiler + first + stopped) > group.total_ms;
  }

  void Sections() {
    for (const SectionGroup& group : e_.sections.groups) {
      if (!Matters(group.total_ms) || IsExplained(group)) continue;
      HostCause cause;
      cause.kind = HostCauseKind::kSection;
      cause.count = group.stretches.size();
      cause.total_ms = group.total_ms;
      cause.each_ms = group.median_ms;
      cause.period_ms = group.period_ms;
      cause.before = group.before;
      cause.after = group.after;
      cause.loading = group.loading;
      cause.nothing_ms = group.nothing_ms;
      for (const SectionWork& work : group.work)
        cause.places.push_back({work.name, "", "", work.count, work.ms});
      cause.changes = {analysis::ScaleHost{StretchesOf(group.stretches), 0}};
      HostSectionNames section{{}, group.loading, 2 * group.nothing_ms > group.total_ms};
      for (const SectionWork& work : group.work)
        section.names.push_back(work.name);
      Add(group.loading ? "data_loading" : "host_section",
          group.loading ? Pattern::kDataLoading : Pattern::kHostSection,
          AdviceForHostSection(e_.context, section), std::move(cause));
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
    cause.changes = {analysis::ScaleHost{StretchesOf(d.intervals), 0}};
    Add("descheduled_host", Pattern::kDescheduled, {Advice::kGiveCores}, std::move(cause));
  }

  void FirstCalls() {
    const analysis::FirstCalls& calls = e_.first_calls;
    if (!Matters(calls.total_ms)) return;
    HostCause cause;
    cause.kind = HostCauseKind::kFirstCalls;
    cause.count = calls.calls.size();
    cause.total_ms = calls.total_ms;
    for (const analysis::FirstCall& call : calls.calls) {
      if (cause.places.size() == kHostPlacesMax) break;
      HostPlace place;
      place.name = e_.events.name(call.call);
      if (call.op != trace::kNoEvent) place.code = e_.events.name(call.op);
      place.count = 1;
      place.ms = call.ms();
      cause.places.push_back(std::move(place));
    }
    cause.changes = {analysis::ScaleHost{StretchesOf(calls.intervals), 0}};
    Add("first_calls", Pattern::kFirstCalls, {Advice::kWarmUpFirst}, std::move(cause));
  }

  void Waits() {
    HostCause cause;
    cause.kind = HostCauseKind::kWaits;
    for (const analysis::WaitGroup& group : e_.host.waits) {
      if (group.cause != analysis::WaitCause::kGpuWork &&
          group.cause != analysis::WaitCause::kOwnCopy &&
          group.cause != analysis::WaitCause::kNothing)
        continue;
      cause.count += group.count;
      cause.total_ms += MsOf(group.total_ns);
      if (cause.places.size() == kHostPlacesMax) continue;
      HostPlace place;
      place.name = group.op.empty() ? group.call : group.op + " (" + group.call + ")";
      place.code = group.code;
      place.waits_for = group.waits_for;
      place.count = group.count;
      place.ms = MsOf(group.total_ns);
      cause.places.push_back(std::move(place));
    }
    // One wait at the end of a run is how anybody gets a result.
    if (static_cast<double>(cause.count) < limits::kWaitsMin) return;
    analysis::RemoveWaits change;
    change.all = true;
    cause.changes = {std::move(change)};
    std::vector<std::string> names;
    for (const HostPlace& place : cause.places)
      names.push_back(place.name);
    Add("synchronisation", Pattern::kSynchronisation, AdviceForWaits(names), std::move(cause));
  }

  void LaunchBound() {
    const analysis::LaunchFigures& figures = e_.host.launching;
    if (figures.graph_percent > limits::kGraphShareMax || !figures.to_next_median_us ||
        !figures.work_median_us || figures.idle_percent.value_or(0) < limits::kIdleLaunchShare) {
      return;
    }
    HostCause cause;
    cause.kind = HostCauseKind::kLaunchBound;
    cause.count = figures.launches;
    cause.launch_us = *figures.to_next_median_us;
    cause.kernel_us = *figures.work_median_us;
    cause.idle_percent = *figures.idle_percent;
    cause.total_ms =
        std::min(e_.sections.span_ms, static_cast<double>(figures.launches) *
                                          figures.to_next_mean_us.value_or(cause.launch_us) / 1000);
    cause.changes = {analysis::GraphLaunches{std::numeric_limits<std::int64_t>::min() / 4,
                                             std::numeric_limits<std::int64_t>::max() / 4}};
    std::uint64_t waits = 0;
    for (const analysis::WaitGroup& group : e_.host.waits)
      waits += group.count;
    Add("launch_bound", Pattern::kLaunchBound, {}, std::move(cause));
    const double many = std::max(
        limits::kWaitsMin, limits::kWaitingLaunches / 100 * static_cast<double>(figures.launches));
    Ways ways = WaysToLaunchFaster(e_.context, static_cast<double>(waits) >= many);
    out_.back().path_a = std::move(ways.a);
    out_.back().path_b = std::move(ways.b);
  }

  const HostEvidence& e_;
  std::vector<Finding> out_;
};

}  // namespace

std::vector<Finding> HostFindings(const HostEvidence& evidence) {
  return HostFindingMaker(evidence).Run();
}

}  // namespace jarvis::findings
