#include "findings/one/finding_spans.h"

#include <utility>
#include <variant>
#include <vector>

namespace jarvis::findings {
namespace {

using EventSpan = Interval<std::int64_t>;

// Pieces that are nearer than this are one.
constexpr std::int64_t kNearNs = 20'000;

class SpanGatherer {
 public:
  explicit SpanGatherer(const trace::EventStore& events) : events_(events) {}

  void Events(const std::vector<trace::EventIndex>& all) {
    for (const trace::EventIndex e : all)
      Add(events_[e].ts_ns, events_[e].end_ns());
  }
  void operator()(const analysis::ScaleGpu& change) { Events(change.events); }
  void operator()(const analysis::SetGpuTime& change) { Events(change.events); }
  void operator()(const analysis::RemoveGpu& change) { Events(change.events); }
  void operator()(const analysis::ScaleHost& change) {
    for (const analysis::HostStretch& stretch : change.stretches)
      Add(stretch.begin_ns, stretch.end_ns);
  }
  void operator()(const analysis::GraphLaunches& change) { Add(change.begin_ns, change.end_ns); }
  void operator()(const analysis::PinCopies& change) { Events(change.copies); }
  void operator()(const analysis::RemoveWaits& change) { Events(change.calls); }
  void operator()(const analysis::RemoveProfilerCost& change) {
    for (const analysis::HostCost& cost : change.costs)
      Add(cost.begin_ns, cost.end_ns);
  }

  IntervalSet<std::int64_t> Take() {
    IntervalSet<std::int64_t> merged = Union(std::move(spans_));
    for (EventSpan& span : merged)
      span.end -= kNearNs;
    return merged;
  }

 private:
  void Add(std::int64_t begin, std::int64_t end) {
    if (end > begin) spans_.push_back({begin, end + kNearNs});
  }

  const trace::EventStore& events_;
  std::vector<EventSpan> spans_;
};

}  // namespace

IntervalSet<std::int64_t> FindingSpans(const trace::EventStore& events, const Analysis& analysis,
                                       const Finding& finding) {
  SpanGatherer gatherer(events);
  for (const std::string& member : finding.members) {
    if (const Operation* operation = analysis.FindOperation(member))
      gatherer.Events(operation->gpu);
    for (const FusionCandidate& candidate : analysis.fusion.candidates) {
      if (candidate.id == member) gatherer.Events(candidate.gpu);
    }
  }
  if (finding.host != nullptr) {
    for (const analysis::Change& change : finding.host->changes)
      std::visit(gatherer, change);
  }
  return gatherer.Take();
}

}  // namespace jarvis::findings
