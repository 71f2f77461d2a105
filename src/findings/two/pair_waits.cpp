#include "findings/two/pair_waits.h"

#include <algorithm>

#include "analysis/host/runtime_calls.h"
#include "session/trace_frames.h"
#include "session/trace_host.h"

namespace jarvis::findings {
namespace {

using analysis::RuntimeKind;
using analysis::WaitCause;
using trace::EventIndex;

// A copy's own synchronization begins within this.
constexpr std::int64_t kOwnSyncNs = 30'000;

bool IsOwn(WaitCause cause) {
  return cause == WaitCause::kGpuWork || cause == WaitCause::kOwnCopy ||
         cause == WaitCause::kNothing;
}

// Whether a wait goes on with that of the copy before it.
bool GoesOn(const session::LoadedTrace& trace, EventIndex copy, EventIndex sync) {
  const trace::EventStore& events = trace.events();
  const std::int64_t gap = events[sync].ts_ns - events[copy].end_ns();
  return analysis::RuntimeKindOf(events.name(copy)) == RuntimeKind::kCopy &&
         analysis::RuntimeKindOf(events.name(sync)) == RuntimeKind::kStreamSync && gap >= 0 &&
         gap <= kOwnSyncNs && trace.tree().parent(copy) == trace.tree().parent(sync);
}

}  // namespace

Result<SideWaits> SideWaits::Of(const AnalysedSide& side, const Job& job) {
  const session::LoadedTrace& trace = side.side.trace;
  JV_ASSIGN(const auto host, session::HostOf(trace, job));
  const analysis::TimeSet& base = side.analysis.frames->frames.base.host_base;
  const analysis::TimeMeter in_base(base);
  SideWaits out;
  std::vector<std::int64_t> at(trace.tree().preorder().size());
  std::vector<EventIndex> own;
  for (const analysis::WaitGroup& group : host->waits) {
    for (const EventIndex e : group.calls) {
      const trace::Event& event = trace.events()[e];
      at[trace.tree().position(e)] = event.dur_ns;
      const bool counts = base.empty() || in_base.In({event.ts_ns, event.ts_ns + 1}) > 0;
      if (IsOwn(group.cause) && counts) own.push_back(e);
    }
  }
  std::sort(own.begin(), own.end(), [&](EventIndex a, EventIndex b) {
    return trace.tree().position(a) < trace.tree().position(b);
  });
  for (std::size_t i = 0; i < own.size(); ++i)
    out.calls_ += i > 0 && GoesOn(trace, own[i - 1], own[i]) ? 0 : 1;
  out.until_.reserve(at.size() + 1);
  out.until_.push_back(0);
  for (const std::int64_t ns : at)
    out.until_.push_back(out.until_.back() + ns);
  return out;
}

}  // namespace jarvis::findings
