#include "analysis/frames/step_bound.h"

#include <algorithm>

#include <fmt/format.h>

namespace jarvis::analysis {
namespace {

// Percent of the base.
constexpr double kBoundMuchCommunication = 40;
constexpr double kBoundNearlyAll = 85;
constexpr double kBoundHalf = 50;
constexpr double kBoundMostly = 80;
constexpr double kBoundLittle = 10;
constexpr double kBoundArtefact = 10;  // less of it changes no verdict

BoundKind KindOfShares(const StepBound& shares) {
  const double computing = shares.gpu - shares.communication;
  if (shares.communication >= kBoundMuchCommunication && shares.communication >= computing &&
      shares.communication >= shares.idle_host) {
    return BoundKind::kCommunication;
  }
  if (shares.gpu >= kBoundNearlyAll && shares.host >= kBoundNearlyAll) return BoundKind::kBalanced;
  if (shares.gpu < kBoundNearlyAll && shares.host >= kBoundNearlyAll) return BoundKind::kHost;
  if (shares.idle_host >= kBoundHalf) return BoundKind::kHost;
  if (shares.gpu >= kBoundMostly || shares.idle_host < kBoundLittle) return BoundKind::kGpu;
  return BoundKind::kInTurns;
}

}  // namespace

std::string_view BoundKindText(BoundKind kind) {
  switch (kind) {
    case BoundKind::kCommunication: return "bound by communication";
    case BoundKind::kBalanced: return "balanced";
    case BoundKind::kHost: return "host-bound";
    case BoundKind::kGpu: return "GPU-bound";
    case BoundKind::kInTurns: return "in turns";
    case BoundKind::kUnknown: break;
  }
  return "unknown";
}

bool InBase(const TimeFrames& frames, std::int64_t host_ns) {
  if (!frames.apart()) return host_ns >= frames.frame.start && host_ns < frames.frame.end;
  const auto after =
      std::partition_point(frames.steps.begin(), frames.steps.end(),
                           [&](const StepFrame& step) { return step.host.start <= host_ns; });
  if (after == frames.steps.begin()) return false;
  const StepFrame& step = *std::prev(after);
  return step.steady && host_ns < step.host.end;
}

StepBound BoundOf(const TimeFrames& frames, std::int64_t profiler_ns) {
  StepBound out;
  const Balance& base = frames.steady;
  const std::int64_t own = base.own_ns();
  if (!frames.window || own <= 0 || base.busy_ns() <= 0) return out;
  std::int64_t idle = base.host_before_ns + base.idle_ns() + base.after_ns;
  std::int64_t host = std::min(frames.host_own_ns, own);
  std::int64_t all = own;
  if (static_cast<double>(profiler_ns) * 100 > kBoundArtefact * static_cast<double>(own)) {
    idle = std::max<std::int64_t>(0, idle - profiler_ns);
    host = std::max<std::int64_t>(0, host - profiler_ns);
    all = std::max(base.busy_ns(), own - profiler_ns);
  }
  const auto share = [&](std::int64_t ns) {
    return std::min(100.0, static_cast<double>(ns) / static_cast<double>(all) * 100);
  };
  out.communication = share(base.exposed_comm_ns);
  out.gpu = share(base.busy_ns());
  out.host = share(host);
  out.idle_host = share(idle);
  out.kind = KindOfShares(out);
  out.because = fmt::format("the GPU works for {:.0f} % of the time", out.gpu);
  if (out.communication >= kBoundLittle)
    out.because += fmt::format(", {:.0f} % in communication that nothing hides", out.communication);
  out.because += fmt::format(", the host for {:.0f} %", out.host);
  return out;
}

}  // namespace jarvis::analysis
