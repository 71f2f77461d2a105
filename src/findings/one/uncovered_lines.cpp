#include "findings/one/uncovered_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/number_text.h"
#include "findings/one/analysis.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using ledger::IdleCause;
using ledger::WorkKind;

// Of which the host is the cause.
constexpr IdleCause kOfHost[] = {
    IdleCause::kHostIssues,   IdleCause::kBetweenLaunches, IdleCause::kPython,
    IdleCause::kOutsideOps,   IdleCause::kInput,           IdleCause::kAllocator,
    IdleCause::kNotScheduled, IdleCause::kRoundTrip,       IdleCause::kLaunchLatency};

bool HasWay(const Finding& finding) {
  return BestWall(finding) != nullptr || finding.bound_ms || HasAction(finding.path_a) ||
         HasAction(finding.path_b);
}

class LineFinder {
 public:
  LineFinder(const trace::EventStore& events, const Analysis& analysis)
      : events_(events), analysis_(analysis) {}

  std::vector<UncoveredLine> Run() {
    AddFindings();
    const ledger::WallBook& wall = analysis_.frames->books.wall;
    for (int kind = 0; kind < ledger::kWorkKinds; ++kind) {
      const auto work = static_cast<WorkKind>(kind);
      const auto at = static_cast<std::size_t>(kind);
      const double all = static_cast<double>(analysis_.frames->books.gpu.kinds[at].ns);
      if (static_cast<double>(covered_ns_[at]) >= kCovered * all) continue;
      const auto& bound = analysis_.line_bounds.work[at].ns;
      Add({work, MillisOf(wall.work_ns[at]),
           bound ? std::optional(MillisOf(*bound)) : std::nullopt});
    }
    std::int64_t idle = 0;
    for (const IdleCause cause : kOfHost)
      idle += wall.Of(cause);
    // What the profiler's pauses take is gone without them, and no line to shorten.
    const double ms = std::max(0.0, MillisOf(idle) - analysis_.wall.profiler_ms);
    if (idle_ms_ < kCovered * ms) Add({std::nullopt, ms, ms});
    std::stable_sort(out_.begin(), out_.end(), [](const auto& a, const auto& b) {
      return a.bound_ms.value_or(a.ms) > b.bound_ms.value_or(b.ms);
    });
    return std::move(out_);
  }

 private:
  static constexpr double kCovered = 0.5;

  void Add(UncoveredLine line) {
    if (analysis_.base.Percent(line.bound_ms.value_or(line.ms)) >= limits::kUncoveredShare)
      out_.push_back(line);
  }

  void AddFindings() {
    std::vector<bool> seen(events_.size());
    const ledger::KindsOfWork& kinds = *analysis_.frames->kinds;
    for (const Finding& finding : analysis_.findings) {
      if (!HasWay(finding)) continue;
      if (finding.host != nullptr) idle_ms_ += finding.one_off ? 0 : finding.host->idle_ms;
      if (finding.category == "multi_kernel") Moves(finding.subject == "communication");
      for (const trace::EventIndex e : analysis_.WorkOf(finding)) {
        if (seen[e]) continue;
        seen[e] = true;
        covered_ns_[static_cast<std::size_t>(kinds.Of(e).kind)] += events_[e].dur_ns;
      }
    }
  }

  // Its way out is about all of the kind.
  void Moves(bool communication) {
    const auto all = [&](WorkKind kind) {
      const auto at = static_cast<std::size_t>(kind);
      covered_ns_[at] = std::max(covered_ns_[at], analysis_.frames->books.gpu.kinds[at].ns);
    };
    if (!communication) return all(WorkKind::kHostCopy);
    all(WorkKind::kCommTransfer);
    all(WorkKind::kCommWait);
  }

  const trace::EventStore& events_;
  const Analysis& analysis_;
  std::array<std::int64_t, ledger::kWorkKinds> covered_ns_{};
  double idle_ms_ = 0;
  std::vector<UncoveredLine> out_;
};

}  // namespace

std::vector<UncoveredLine> FindUncoveredLines(const trace::EventStore& events,
                                              const Analysis& analysis) {
  return analysis.cpu ? std::vector<UncoveredLine>() : LineFinder(events, analysis).Run();
}

}  // namespace jarvis::findings
