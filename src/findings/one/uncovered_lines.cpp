#include "findings/one/uncovered_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "analysis/simulation/change.h"
#include "base/number_text.h"
#include "findings/one/analysis.h"
#include "findings/one/thresholds.h"
#include "findings/one/wall_classes.h"
#include "session/name_floors.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using ledger::IdleCause;
using ledger::WorkKind;

// Of which the host is the cause.
constexpr IdleCause kOfHost[] = {IdleCause::kHostIssues,      IdleCause::kGraphLaunch,
                                 IdleCause::kBetweenLaunches, IdleCause::kPython,
                                 IdleCause::kOutsideOps,      IdleCause::kInput,
                                 IdleCause::kAllocator,       IdleCause::kNotScheduled,
                                 IdleCause::kRoundTrip,       IdleCause::kLaunchLatency};

bool IsSized(const Finding& finding) {
  return BestWall(finding) != nullptr || finding.bound_ms;
}

bool HasWay(const Finding& finding) {
  return IsSized(finding) || HasAction(finding.path_a) || HasAction(finding.path_b);
}

// Of the peak: what copies of large tensors reach on the devices of docs/platforms.md.
constexpr double kReachableBandwidth = 0.9;
constexpr double kTakes = 0.1;  // of a line: where a finding takes less, the line is not its

// What stretches without a cause of their own are named by.
constexpr IdleCause kLate[] = {IdleCause::kHostIssues, IdleCause::kGraphLaunch,
                               IdleCause::kBetweenLaunches, IdleCause::kLaunchLatency};
constexpr IdleCause kStretches[] = {IdleCause::kPython, IdleCause::kOutsideOps,
                                    IdleCause::kBetweenLaunches};
constexpr IdleCause kLoading[] = {IdleCause::kInput, IdleCause::kPython, IdleCause::kOutsideOps,
                                  IdleCause::kBetweenLaunches};
constexpr IdleCause kSyncs[] = {IdleCause::kRoundTrip, IdleCause::kHostIssues,
                                IdleCause::kBetweenLaunches, IdleCause::kLaunchLatency};
constexpr IdleCause kOnce[] = {IdleCause::kFirstCall, IdleCause::kAllocator};
constexpr IdleCause kBlocked[] = {IdleCause::kNotScheduled};
constexpr IdleCause kStops[] = {IdleCause::kAllocator, IdleCause::kPython, IdleCause::kOutsideOps,
                                IdleCause::kNotScheduled};

std::span<const IdleCause> IdleOf(HostCauseKind kind, bool loading = false) {
  switch (kind) {
    case HostCauseKind::kSection:
      return loading ? std::span<const IdleCause>(kLoading) : kStretches;
    case HostCauseKind::kWaits: return kSyncs;
    case HostCauseKind::kFirstCalls: return kOnce;
    case HostCauseKind::kDescheduled: return kBlocked;
    case HostCauseKind::kStop: return kStops;
    case HostCauseKind::kLaunchBound:
    case HostCauseKind::kReplayGap:
    case HostCauseKind::kOptimizer: break;
  }
  return kLate;
}

class LineFiller {
 public:
  LineFiller(const trace::EventStore& events, Analysis* analysis)
      : events_(events), analysis_(*analysis), seen_(events.size()) {}

  void Run(const session::NameFloors* floors) {
    for (Finding& finding : analysis_.findings)
      if (IsSized(finding)) Fill(&finding);
    FillCovered();
    const auto& work = analysis_.line_bounds.work;
    if (floors != nullptr &&
        std::any_of(work.begin(), work.end(), [](const auto& bound) { return bound.least_ns; })) {
      FillLeast(*floors);
    }
    NameOps();
    // What one more way out is about without a size stays as unknown as before.
    for (Finding& finding : analysis_.findings)
      if (!IsSized(finding) && HasWay(finding)) Fill(&finding);
  }

 private:
  void Fill(Finding* finding) {
    if (finding->host != nullptr) {
      const auto idle = IdleOf(finding->host->kind, finding->host->loading);
      finding->lines.idle.assign(idle.begin(), idle.end());
      const HostCause& cause = *finding->host;
      const bool at_end =
          cause.kind == HostCauseKind::kSection && (cause.at_end || cause.after.empty());
      if (at_end) finding->lines.idle.push_back(IdleCause::kTail);
    } else if (SparesHost(*finding)) {
      const auto idle = IdleOf(HostCauseKind::kLaunchBound);
      finding->lines.idle.assign(idle.begin(), idle.end());
    }
    if (finding->category == "multi_kernel") Moves(finding);
    Work(finding);
  }

  void FillCovered() const {
    const auto& gpu = analysis_.frames->books.gpu.kinds;
    for (std::size_t i = 0; i < covered_ns_.size(); ++i) {
      analysis_.covered[i] =
          gpu[i].ns > 0 ? static_cast<double>(covered_ns_[i]) / static_cast<double>(gpu[i].ns) : 0;
    }
  }

  // What it is about, and what goes with host work that nobody needs.
  std::vector<trace::EventIndex> GpuOf(const Finding& finding) const {
    if (finding.host == nullptr || finding.host->gpu_ms <= 0) return analysis_.WorkOf(finding);
    for (const analysis::Change& change : finding.host->changes) {
      if (const auto* gone = std::get_if<analysis::RemoveGpu>(&change)) return gone->events;
    }
    return {};
  }

  void Work(Finding* finding) {
    const ledger::KindsOfWork& kinds = *analysis_.frames->kinds;
    std::array<std::int64_t, ledger::kWorkKinds> own{};
    for (const trace::EventIndex e : GpuOf(*finding)) {
      const auto at = static_cast<std::size_t>(kinds.Of(e).kind);
      own[at] += events_[e].dur_ns;
      if (!seen_[e]) covered_ns_[at] += events_[e].dur_ns;
      seen_[e] = true;
    }
    const std::int64_t most = *std::max_element(own.begin(), own.end());
    for (std::size_t i = 0; i < own.size(); ++i) {
      const double least = kTakes * static_cast<double>(analysis_.frames->books.gpu.kinds[i].ns);
      const bool takes = own[i] == most || static_cast<double>(own[i]) >= least;
      if (own[i] > 0 && takes) finding->lines.work.push_back(static_cast<WorkKind>(i));
    }
  }

  // The op with most of the time of each kind that no fix is about.
  void NameOps() const {
    const ledger::KindsOfWork& kinds = *analysis_.frames->kinds;
    std::array<std::int64_t, ledger::kWorkKinds> most{}, all{};
    for (const CategoryAnalysis& category : analysis_.categories) {
      for (const Operation& operation : category.operations) {
        std::array<std::int64_t, ledger::kWorkKinds> own{};
        for (const trace::EventIndex e : operation.gpu) {
          const auto kind = static_cast<std::size_t>(kinds.Of(e).kind);
          if (!seen_[e]) own[kind] += events_[e].dur_ns;
        }
        for (std::size_t kind = 0; kind < own.size(); ++kind) {
          all[kind] += own[kind];
          if (own[kind] <= most[kind]) continue;
          most[kind] = own[kind];
          analysis_.uncovered_op[kind] = operation.name;
        }
      }
    }
    for (std::size_t kind = 0; kind < all.size(); ++kind)
      if (2 * most[kind] < all[kind]) analysis_.uncovered_op[kind].clear();
  }

  void FillLeast(const session::NameFloors& floors) const {
    const ledger::KindsOfWork& kinds = *analysis_.frames->kinds;
    const ledger::Books& books = analysis_.frames->books;
    const analysis::TimeMeter in_base(analysis_.frames->frames.base.base);
    std::array<bool, ledger::kWorkKinds> endless{};
    for (trace::EventIndex e = 0; e < events_.size(); ++e) {
      if (!trace::IsGpuWork(events_[e].kind) || seen_[e]) continue;
      const auto kind = static_cast<std::size_t>(kinds.Of(e).kind);
      // Of several kernels at a time the wall has a part each.
      const double part = static_cast<double>(books.wall.work_ns[kind]) /
                          static_cast<double>(std::max<std::int64_t>(1, books.gpu.kinds[kind].ns));
      const std::int64_t inside = in_base.In({events_[e].ts_ns, events_[e].end_ns()});
      const session::NameFloor* floor = floors.Of(e);
      if (floor == nullptr) {  // it may need all of its time
        analysis_.uncovered_most_ms[kind] += part * MillisOf(inside);
        continue;
      }
      const auto reachable = [&](std::int64_t ns) {
        const auto at_best =
            static_cast<std::int64_t>(static_cast<double>(ns) / kReachableBandwidth);
        return part * MillisOf(std::min(at_best, inside));
      };
      analysis_.uncovered_least_ms[kind] += reachable(floor->ns);
      analysis_.uncovered_most_ms[kind] += reachable(floor->most_ns);
      endless[kind] = endless[kind] || floor->most_ns <= 0;
    }
    for (std::size_t kind = 0; kind < endless.size(); ++kind)
      if (endless[kind]) analysis_.uncovered_most_ms[kind] = 0;
  }

  // Its way out is about all of the kind.
  void Moves(Finding* finding) {
    const auto all = [&](WorkKind kind) {
      const auto at = static_cast<std::size_t>(kind);
      finding->lines.work.push_back(kind);
      covered_ns_[at] = std::max(covered_ns_[at], analysis_.frames->books.gpu.kinds[at].ns);
    };
    if (finding->subject != "communication") return all(WorkKind::kHostCopy);
    all(WorkKind::kCommTransfer);
    all(WorkKind::kCommWait);
  }

  const trace::EventStore& events_;
  Analysis& analysis_;
  std::vector<bool> seen_;
  std::array<std::int64_t, ledger::kWorkKinds> covered_ns_{};
};

}  // namespace

void FillLines(const trace::EventStore& events, const session::NameFloors* floors,
               Analysis* analysis) {
  if (!analysis->cpu) LineFiller(events, analysis).Run(floors);
}

std::vector<UncoveredLine> FindUncoveredLines(const Analysis& analysis) {
  std::vector<UncoveredLine> out;
  if (analysis.cpu) return out;
  const auto add = [&](const UncoveredLine& line) {
    if (analysis.base.Percent(line.bound_ms.value_or(line.ms)) >= limits::kUncoveredShare)
      out.push_back(line);
  };
  const ledger::WallBook& wall = analysis.frames->books.wall;
  for (int kind = 0; kind < ledger::kWorkKinds; ++kind) {
    const auto work = static_cast<WorkKind>(kind);
    const auto at = static_cast<std::size_t>(kind);
    if (analysis.IsCovered(work)) continue;
    const ledger::Bound& bound = analysis.line_bounds.work[at];
    UncoveredLine line{work, analysis.UncoveredMs(work), std::nullopt};
    line.op = analysis.uncovered_op[at];
    if (bound.ns) line.bound_ms = MillisOf(*bound.ns);
    if (bound.least_ns) {
      line.by_grids = bound.by_grids;
      line.least_ms = std::min(line.ms, analysis.uncovered_least_ms[at]);
      line.bound_ms = line.ms - *line.least_ms;
      const double most_ms = std::min(line.ms, analysis.uncovered_most_ms[at]);
      if (most_ms > *line.least_ms) line.most_ms = most_ms;
    }
    add(line);
  }
  std::int64_t idle = 0, untold = 0;  // untold: of lines that no recommendation is about
  for (const IdleCause cause : kOfHost) {
    const bool told = std::any_of(
        analysis.findings.begin(), analysis.findings.end(), [&](const Finding& finding) {
          const auto& of = finding.lines.idle;
          return !finding.minor && std::find(of.begin(), of.end(), cause) != of.end();
        });
    idle += wall.Of(cause);
    untold += told ? 0 : wall.Of(cause);
  }
  double covered_ms = 0;
  for (const Finding& finding : analysis.findings) {
    if (finding.host != nullptr && !finding.one_off && HasWay(finding))
      covered_ms += finding.host->idle_ms;
  }
  // What the profiler's pauses take is gone without them, and no line to shorten.
  const double ms = std::max(0.0, MillisOf(idle) - analysis.wall.profiler_ms);
  const double untold_ms = std::min(ms, MillisOf(untold));
  if (covered_ms < kCoveredMost * ms) add({std::nullopt, untold_ms, untold_ms});
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.bound_ms.value_or(a.ms) > b.bound_ms.value_or(b.ms);
  });
  return out;
}

std::vector<ledger::WorkKind> Analysis::UnassessedKinds() const {
  std::vector<ledger::WorkKind> kinds =
      ledger::UnassessedKinds(frames->frames.base, frames->books, line_bounds);
  std::erase_if(kinds, [&](ledger::WorkKind kind) { return IsCovered(kind); });
  return kinds;
}

double Analysis::UnassessedMs() const {
  double ms = 0;
  for (const ledger::WorkKind kind : UnassessedKinds())
    ms += UncoveredMs(kind);
  return ms;
}

bool Analysis::NothingToSave() const {
  return ledger::NothingToSave(frames->frames.base, frames->books, line_bounds);
}

}  // namespace jarvis::findings
