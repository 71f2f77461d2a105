#include "findings/one/small_for_gpu.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "findings/one/estimates.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr double kBusyMost = 0.1;     // of the time
constexpr double kSmallKernelUs = 5;  // of nine of ten
constexpr std::size_t kLaunchesLeast = 200;
constexpr double kCpuPart = 0.2;  // of the launching ops' host time
// What one core does, in FLOPs and bytes a microsecond: less than any server's of the last ten
// years in fp32 with vector units.
constexpr double kCoreFlops = 20e3;
constexpr double kCoreBytes = 10e3;
constexpr double kElementBytes = 8;  // of the widest types in use
// A GPU's bandwidth is at most so many times that of a core (8 TB/s).
constexpr double kGpuOfCore = 800;
// Of an op's host time on the GPU, what is left of it on the CPU, without what it computes: it is
// dispatched all the same, in 1 to 2 us, while a launch comes on top for a GPU (4 to 8 us in all).
constexpr double kLeftExpected = 0.3, kLeftLeast = 0.15;

struct SmallWork {
  std::vector<EventIndex> gpu;                   // kernels
  std::vector<analysis::HostStretch> launching;  // outermost ops that launch
  double host_ms = 0, runtime_ms = 0, cpu_ms = 0;
};

class SmallWorkReader {
 public:
  explicit SmallWorkReader(const Calls& calls)
      : calls_(calls), events_(calls.events()), tree_(calls.trace.tree()) {}

  SmallWork Read() {
    std::set<EventIndex> ops, launches;
    for (const EventIndex e : calls_.trace.attribution().timeline) {
      work_.gpu.push_back(e);
      const EventIndex launch = tree_.parent(e);
      if (launch == kNoEvent || !launches.insert(launch).second) continue;
      if (trace::IsLaunchCall(events_[launch].kind))
        work_.runtime_ms += static_cast<double>(events_[launch].dur_ns) / 1e6;
      if (const EventIndex op = OutermostOp(launch); op != kNoEvent) ops.insert(op);
    }
    for (const EventIndex op : ops) {
      work_.launching.push_back({events_[op].track, events_[op].ts_ns, events_[op].end_ns()});
      work_.host_ms += static_cast<double>(events_[op].dur_ns) / 1e6;
    }
    std::sort(work_.launching.begin(), work_.launching.end(),
              [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    for (const analysis::WorkCall& call : calls_.calls)
      work_.cpu_ms += CpuUs(call) / 1000;
    return std::move(work_);
  }

 private:
  EventIndex OutermostOp(EventIndex launch) const {
    EventIndex op = kNoEvent;
    for (EventIndex up = launch; up != kNoEvent; up = tree_.parent(up)) {
      if (events_[up].kind == trace::EventKind::kCpuOp) op = up;
    }
    return op;
  }

  // Of an op without a model what its inputs hold, twice; without shapes what its kernels could
  // have moved at most, beyond what any takes.
  double CpuUs(const analysis::WorkCall& call) const {
    const CallRoof roof = RoofOf(call, calls_.platform);
    if (roof.flops || roof.bytes)
      return roof.flops.value_or(0) / kCoreFlops + roof.bytes.value_or(0) / kCoreBytes;
    const StringId dims = call.recorded_arguments ? events_.args_of(call.op).dims : kNoString;
    if (dims != kNoString) {
      double elements = 0;
      for (const Shape& shape : ParseShapes(events_.text(dims)))
        elements += shape.empty() ? 0 : Elements(shape);
      return 2 * kElementBytes * elements / kCoreBytes;
    }
    const double floor_us = calls_.kernel_floor_us * static_cast<double>(call.kernels.size());
    return std::max(0.0, call.kernel_us - 2 * floor_us) * kGpuOfCore;
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  SmallWork work_;
};

// Sorted.
std::vector<double> KernelTimes(const Calls& calls) {
  const trace::EventStore& events = calls.events();
  std::vector<double> us;
  for (const EventIndex e : calls.trace.attribution().timeline) {
    if (events[e].kind == trace::EventKind::kKernel)
      us.push_back(trace::MicrosOf(events[e].dur_ns));
  }
  std::sort(us.begin(), us.end());
  return us;
}

}  // namespace

void FindSmallForGpu(const Calls& calls, const WorkContext& context, std::vector<Finding>* out) {
  if (context.IsServer() || context.compiled || context.replays || !context.framework.empty())
    return;
  if (calls.trace.trace().metadata.world_size.value_or(1) > 1 || !calls.trace.timeline()) return;
  const analysis::GpuTimeline& timeline = *calls.trace.timeline();
  if (timeline.busy > kBusyMost * timeline.total || timeline.total_comm > 0) return;
  const std::vector<double> kernels = KernelTimes(calls);
  if (kernels.size() < kLaunchesLeast || kernels[kernels.size() * 9 / 10] > kSmallKernelUs) return;
  SmallWork work = SmallWorkReader(calls).Read();
  if (work.host_ms <= 0 || work.cpu_ms > kCpuPart * work.host_ms) return;
  const std::size_t launches = kernels.size();
  std::vector<Fact> facts = {NumberFact("kernel_us", kernels[launches / 2], "us"),
                             NumberFact("cpu_ms", work.cpu_ms, "ms"),
                             NumberFact("host_ms", work.host_ms, "ms")};
  const double left = work.cpu_ms / work.host_ms;
  const double expected = 1 - kLeftExpected - left;
  const Range part{std::clamp(work.runtime_ms / work.host_ms - left, 0.0, expected), expected,
                   1 - kLeftLeast - left};
  Finding f =
      StructureFinding(calls, Pattern::kSmallForGpu, "Size", "tiny kernels", work.gpu, {0, 0, 0},
                       {{}, "nothing launched", "FLOPs and bytes of its ops"}, std::move(facts));
  f.change_a->savings_ms = Scaled(part, work.host_ms);
  f.change_a->exact = {analysis::ScaleHost{std::move(work.launching), kLeftExpected + left, true},
                       analysis::RemoveWaits{{}, true},
                       analysis::ScaleGpu{std::move(work.gpu), {0}}};
  // The model stays as it is.
  std::swap(f.path_a, f.path_b);
  std::swap(f.change_a, f.change_b);
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
