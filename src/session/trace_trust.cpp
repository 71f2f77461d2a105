#include "session/trace_trust.h"

#include <utility>

#include "session/loaded_trace.h"

namespace jarvis::session {
namespace {

struct ProfilingCostKey {
  using Value = analysis::ProfilingCost;
  bool operator==(const ProfilingCostKey&) const = default;
};

// Answers of one search: each has what the others have not.
struct HostTrouble {
  analysis::FirstCalls first_calls;
  analysis::Descheduled descheduled;
  std::vector<analysis::HostStop> stops;
};

struct HostTroubleKey {
  using Value = HostTrouble;
  bool operator==(const HostTroubleKey&) const = default;
};

std::size_t BytesOf(const analysis::ProfilingCost& cost) {
  return sizeof(cost) + cost.frames.capacity() * sizeof(analysis::FrameCost) +
         cost.overheads.capacity() * sizeof(analysis::OverheadCost) +
         cost.stretches.capacity() * sizeof(analysis::HostCost) +
         cost.artefact.capacity() * sizeof(Interval<std::int64_t>);
}

std::size_t BytesOf(const HostTrouble& trouble) {
  return sizeof(trouble) + trouble.first_calls.calls.capacity() * sizeof(analysis::FirstCall) +
         trouble.stops.capacity() * sizeof(analysis::HostStop) +
         trouble.descheduled.pieces.capacity() * sizeof(analysis::SilentPiece) +
         (trouble.first_calls.intervals.capacity() + trouble.descheduled.intervals.capacity()) *
             sizeof(Interval<std::int64_t>);
}

// Keeps what `make` returns with the trace.
template <typename Key, typename Make>
Result<std::shared_ptr<const typename Key::Value>> Keep(const LoadedTrace& trace, const Job& job,
                                                        const Make& make) {
  using Made = DerivedCache::Made<typename Key::Value>;
  return trace.derived().Get(Key(), job, [&]() -> Result<Made> {
    Result<typename Key::Value> value = make();
    if (!value) return tl::make_unexpected(std::move(value.error()));
    JV_TRY(job.Check());
    const std::size_t bytes = BytesOf(*value);
    return Made{std::make_shared<const typename Key::Value>(std::move(*value)), bytes};
  });
}

Result<std::shared_ptr<const HostTrouble>> HostTroubleOf(const LoadedTrace& trace, const Job& job) {
  return Keep<HostTroubleKey>(trace, job, [&]() -> Result<HostTrouble> {
    const analysis::HostPieces pieces =
        analysis::FindHostPieces(trace.events(), trace.tree(), analysis::kFirstCallMinNs);
    JV_TRY(job.Check());
    HostTrouble found;
    found.first_calls = analysis::FindFirstCalls(trace.events(), trace.tree(), pieces,
                                                 trace.attribution().timeline);
    found.descheduled =
        analysis::FindDescheduled(trace.events(), trace.tree(), pieces, &found.first_calls);
    JV_TRY(job.Check());
    found.stops = analysis::FindHostStops(trace.events(), trace.tree());
    return found;
  });
}

}  // namespace

Result<std::shared_ptr<const analysis::ProfilingCost>> ProfilingCostOf(const LoadedTrace& trace,
                                                                       const Job& job) {
  return Keep<ProfilingCostKey>(trace, job, [&]() -> Result<analysis::ProfilingCost> {
    return analysis::MeasureProfilingCost(trace.events(), trace.tree(),
                                          trace.attribution().timeline);
  });
}

Result<std::shared_ptr<const analysis::FirstCalls>> FirstCallsOf(const LoadedTrace& trace,
                                                                 const Job& job) {
  JV_ASSIGN(const auto found, HostTroubleOf(trace, job));
  return std::shared_ptr<const analysis::FirstCalls>(found, &found->first_calls);
}

Result<std::shared_ptr<const analysis::Descheduled>> DescheduledOf(const LoadedTrace& trace,
                                                                   const Job& job) {
  JV_ASSIGN(const auto found, HostTroubleOf(trace, job));
  return std::shared_ptr<const analysis::Descheduled>(found, &found->descheduled);
}

Result<std::shared_ptr<const std::vector<analysis::HostStop>>> HostStopsOf(const LoadedTrace& trace,
                                                                           const Job& job) {
  JV_ASSIGN(const auto found, HostTroubleOf(trace, job));
  return std::shared_ptr<const std::vector<analysis::HostStop>>(found, &found->stops);
}

}  // namespace jarvis::session
