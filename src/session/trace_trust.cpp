#include "session/trace_trust.h"

#include <utility>

#include "session/loaded_trace.h"

namespace jarvis::session {
namespace {

struct ProfilingCostKey {
  using Value = analysis::ProfilingCost;
  bool operator==(const ProfilingCostKey&) const = default;
};

struct FirstCallsKey {
  using Value = analysis::FirstCalls;
  bool operator==(const FirstCallsKey&) const = default;
};

struct DescheduledKey {
  using Value = analysis::Descheduled;
  bool operator==(const DescheduledKey&) const = default;
};

std::size_t BytesOf(const analysis::ProfilingCost& cost) {
  return sizeof(cost) + cost.frames.capacity() * sizeof(analysis::FrameCost) +
         cost.overheads.capacity() * sizeof(analysis::OverheadCost) +
         cost.stretches.capacity() * sizeof(analysis::HostCost) +
         cost.artefact.capacity() * sizeof(Interval<std::int64_t>);
}

std::size_t BytesOf(const analysis::FirstCalls& first) {
  return sizeof(first) + first.calls.capacity() * sizeof(analysis::FirstCall) +
         first.intervals.capacity() * sizeof(Interval<std::int64_t>);
}

std::size_t BytesOf(const analysis::Descheduled& descheduled) {
  return sizeof(descheduled) + descheduled.pieces.capacity() * sizeof(analysis::HostPiece) +
         descheduled.intervals.capacity() * sizeof(Interval<std::int64_t>);
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
  return Keep<FirstCallsKey>(trace, job, [&]() -> Result<analysis::FirstCalls> {
    const analysis::HostPieces pieces =
        analysis::FindHostPieces(trace.events(), trace.tree(), analysis::kFirstCallMinNs);
    return analysis::FindFirstCalls(trace.events(), trace.tree(), pieces,
                                    trace.attribution().timeline);
  });
}

Result<std::shared_ptr<const analysis::Descheduled>> DescheduledOf(const LoadedTrace& trace,
                                                                   const Job& job) {
  return Keep<DescheduledKey>(trace, job, [&]() -> Result<analysis::Descheduled> {
    JV_ASSIGN(const auto first_calls, FirstCallsOf(trace, job));
    const analysis::HostPieces pieces =
        analysis::FindHostPieces(trace.events(), trace.tree(), analysis::kDescheduledMinNs);
    return analysis::FindDescheduled(trace.events(), trace.tree(), pieces, *first_calls);
  });
}

}  // namespace jarvis::session
