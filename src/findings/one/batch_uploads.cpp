#include "findings/one/batch_uploads.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "findings/one/host_units.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"
#include "findings/one/wall_classes.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::int64_t kFewBytes = 4096;  // scalars, sizes, a row of settings

// Of a call that stages pageable memory, what one that copies from pinned memory takes.
constexpr double kPinnedCall = 0.3;

EventIndex OutermostAten(const session::LoadedTrace& trace, EventIndex op) {
  const trace::EventStore& events = trace.events();
  for (EventIndex up = trace.tree().parent(op); up != kNoEvent; up = trace.tree().parent(up)) {
    if (events[up].kind != trace::EventKind::kCpuOp || !events.name(up).starts_with("aten::"))
      break;
    op = up;
  }
  return op;
}

// When each unit launches its first kernel, by begin of the units.
std::vector<std::int64_t> FirstKernels(const HostEvidence& e) {
  const auto& units = e.frames.frames.base.host_units;
  std::vector<std::int64_t> first(units.size(), std::numeric_limits<std::int64_t>::max());
  for (const analysis::Launch& launch : e.host.launches.all()) {
    if (!launch.kernel) continue;
    const analysis::FoundStep* unit = UnitBegunBy(units, launch.call_ns);
    if (unit == nullptr) continue;
    auto& at = first[static_cast<std::size_t>(unit - units.data())];
    at = std::min(at, launch.call_ns);
  }
  return first;
}

}  // namespace

std::int64_t CopiedBytes(const trace::EventStore& events, EventIndex copy) {
  const std::string_view more = events.text(events.args_of(copy).other);
  return ParseInt(trace::Unquoted(trace::MemberOf(more, "bytes"))).value_or(0);
}

bool IsJustMade(const session::LoadedTrace& trace, EventIndex op) {
  static constexpr std::string_view kMakers[] = {
      "aten::empty", "aten::empty_strided", "aten::zeros", "aten::ones",         "aten::full",
      "aten::eye",   "aten::arange",        "aten::tril",  "aten::scalar_tensor"};
  constexpr std::uint32_t kLookedAt = 12;
  if (op == kNoEvent) return false;
  const trace::EventStore& events = trace.events();
  op = OutermostAten(trace, op);
  const std::uint32_t position = trace.tree().position(op);
  for (std::uint32_t back = 1; back <= std::min(kLookedAt, position); ++back) {
    const EventIndex e = trace.tree().preorder()[position - back];
    if (events[e].track != events[op].track) return false;
    if (events[e].kind != trace::EventKind::kCpuOp || events[e].end_ns() > events[op].ts_ns)
      continue;
    const std::string_view maker = events.name(OutermostAten(trace, e));
    return std::find(std::begin(kMakers), std::end(kMakers), maker) != std::end(kMakers);
  }
  return false;
}

struct BatchUploads::Upload {
  std::int64_t rows = 0;  // the first dimension; 0: not recorded
  bool begins = false;    // before the first computation of its unit
};

std::optional<BatchUploads::Upload> BatchUploads::UploadOf(const HostEvidence& e,
                                                           EventIndex wait) const {
  const trace::EventStore& events = e.trace.events();
  const EventIndex op = e.trace.tree().parent(wait);
  if (op == kNoEvent || events[op].kind != trace::EventKind::kCpuOp) return std::nullopt;
  std::int64_t bytes = 0;
  for (const EventIndex work : e.trace.tree().GpuBelow(op)) {
    if (events[work].kind != trace::EventKind::kMemcpy ||
        DirectionOf(e.trace, work) != CopyDirection::kToDevice) {
      return std::nullopt;
    }
    bytes = std::max(bytes, CopiedBytes(events, work));
  }
  if (bytes <= kFewBytes || IsJustMade(e.trace, op)) return std::nullopt;
  Upload upload;
  const std::vector<Shape> shapes = ParseShapes(events.text(events.args_of(op).dims));
  if (!shapes.empty() && !shapes.front().empty()) upload.rows = shapes.front().front();
  return upload;
}

BatchUploads::BatchUploads(const HostEvidence& e) {
  const auto& units = e.frames.frames.base.host_units;
  const std::vector<std::int64_t> first = FirstKernels(e);
  std::set<std::int64_t> rows;
  std::vector<std::pair<EventIndex, std::int64_t>> later;
  for (const analysis::WaitGroup& group : e.host.waits) {
    for (const EventIndex call : group.calls) {
      const auto upload = UploadOf(e, call);
      if (!upload) continue;
      const std::int64_t at = e.trace.events()[call].ts_ns;
      const analysis::FoundStep* unit = UnitBegunBy(units, at);
      if (unit == nullptr) continue;
      const bool begins = at < first[static_cast<std::size_t>(unit - units.data())];
      if (begins) {
        waits_.insert(call);
        rows.insert(upload->rows);
      } else {
        later.emplace_back(call, upload->rows);
      }
    }
  }
  rows.erase(0);
  for (const auto& [call, length] : later) {
    if (rows.contains(length)) waits_.insert(call);
  }
}

std::optional<HostCause> CauseOfBatch(const HostEvidence& e, WaitPlaces* found) {
  const trace::EventStore& events = e.trace.events();
  HostCause cause;
  cause.kind = HostCauseKind::kWaits;
  cause.count = found->count;
  cause.behind_ms = found->behind_ms;
  cause.total_ms = found->total_ms;
  analysis::PinCopies pin;
  analysis::ScaleHost calls;
  calls.factor = kPinnedCall;
  double held_ms = found->total_ms;
  for (const EventIndex wait : found->waits.calls) {
    for (const EventIndex copy : e.trace.tree().GpuBelow(e.trace.tree().parent(wait))) {
      const EventIndex call = e.trace.tree().parent(copy);
      pin.copies.push_back(copy);
      if (call == kNoEvent || call == wait || !trace::IsLaunchCall(events[call].kind)) continue;
      held_ms += (1 - kPinnedCall) * static_cast<double>(events[call].dur_ns) / 1e6;
      calls.stretches.push_back({analysis::kAllTracks, events[call].ts_ns, events[call].end_ns()});
    }
  }
  // What the host does in these calls is all that can go: the copies stay, and so do their ops.
  cause.idle_ms = std::min(held_ms, found->behind_ms + found->lead_ms);
  if (e.base_ms <= 0 || cause.idle_ms < limits::kHostShareMin / 100 * e.base_ms)
    return std::nullopt;
  cause.changes = {std::move(pin), std::move(calls)};
  return cause;
}

void DropToldUploads(const std::vector<Finding>& copies, std::vector<Finding>* host) {
  const bool told = std::any_of(copies.begin(), copies.end(), [](const Finding& finding) {
    return finding.subject.starts_with(DirectionText(CopyDirection::kToDevice)) &&
           Advises(finding.path_b, Advice::kPinnedCopies);
  });
  if (told)
    std::erase_if(*host, [](const Finding& finding) { return finding.subject == "batch_uploads"; });
}

}  // namespace jarvis::findings
