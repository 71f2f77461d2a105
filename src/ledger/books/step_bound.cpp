#include "ledger/books/step_bound.h"

#include <algorithm>

#include <fmt/format.h>

namespace jarvis::ledger {
namespace {

// Percent of the base.
constexpr double kBoundMuchCommunication = 40;
constexpr double kBoundNearlyAll = 85;
constexpr double kBoundHalf = 50;
constexpr double kBoundMostly = 80;
constexpr double kBoundLittle = 10;
constexpr double kBoundArtefact = 10;  // less of it changes no verdict
constexpr double kBoundNotScheduled = 20;

BoundKind KindOfShares(const StepBound& shares, bool communication_largest, bool mostly_copies) {
  if (shares.communication >= kBoundMuchCommunication && communication_largest)
    return BoundKind::kCommunication;
  if (mostly_copies) return BoundKind::kCopies;
  if (shares.gpu >= kBoundNearlyAll && shares.host >= kBoundNearlyAll) return BoundKind::kBalanced;
  const bool idle = shares.idle_host >= kBoundHalf && shares.host_work >= shares.gpu;
  if (shares.host >= kBoundNearlyAll || idle) return BoundKind::kHost;
  if (shares.gpu >= kBoundMostly || shares.idle_host < kBoundLittle) return BoundKind::kGpu;
  return BoundKind::kInTurns;
}

// Beyond calls of the runtime.
bool RecordsHost(const HostBook& book) {
  return std::ranges::any_of(book.threads, [](const HostThreadBook& thread) {
    const auto ns = [&](HostLine line) { return thread.ns[static_cast<std::size_t>(line)]; };
    return ns(HostLine::kOwnOps) > 0 || ns(HostLine::kOwnPython) > 0;
  });
}

}  // namespace

std::string_view BoundKindText(BoundKind kind) {
  switch (kind) {
    case BoundKind::kCommunication: return "bound by communication";
    case BoundKind::kCopies: return "bound by copies between host and device";
    case BoundKind::kBalanced: return "balanced";
    case BoundKind::kHost: return "host-bound";
    case BoundKind::kGpu: return "GPU-bound";
    case BoundKind::kInTurns: return "in turns";
    case BoundKind::kUnknown: break;
  }
  return "unknown";
}

StepBound BoundOf(const analysis::BaseOfTime& base, const Books& books, std::int64_t profiler_ns) {
  StepBound out;
  const std::int64_t all = base.ns();
  if (all <= 0 || books.gpu.busy_ns <= 0) return out;
  std::int64_t idle = 0;
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    if (IsHosts(static_cast<IdleCause>(cause))) idle += books.wall.idle_ns[cause];
  }
  const std::int64_t communication = books.wall.communication_ns();
  const std::int64_t copies = books.wall.Of(WorkKind::kHostCopy);
  const std::int64_t computing = books.computing_ns();
  const bool largest = communication >= computing && communication >= idle;
  std::int64_t host = std::min(books.host.alone_ns, all);
  const auto percent = [&](std::int64_t ns) {
    return std::clamp(static_cast<double>(ns) / static_cast<double>(all) * 100, 0.0, 100.0);
  };
  if (percent(profiler_ns) > kBoundArtefact) {
    idle = std::max<std::int64_t>(0, idle - profiler_ns);
    host = std::max<std::int64_t>(0, host - profiler_ns);
  }
  out.communication = percent(communication);
  out.gpu = percent(books.gpu.busy_ns);
  out.host = percent(host);
  out.idle_host = percent(idle);
  out.host_work = out.host;
  if (RecordsHost(books.host)) {
    const double returning = percent(books.wall.Of(IdleCause::kRoundTrip));
    out.host_work = std::max(out.host, out.idle_host - returning);
  }
  out.not_scheduled = percent(books.wall.Of(IdleCause::kNotScheduled));
  const bool mostly_copies = percent(copies) >= kBoundMuchCommunication &&
                             copies >= std::max({computing, idle, communication});
  out.kind = KindOfShares(out, largest, mostly_copies);
  out.because = fmt::format("the GPU works for {:.0f} % of the time", out.gpu);
  if (out.communication >= kBoundLittle)
    out.because += fmt::format(", {:.0f} % in communication that nothing hides", out.communication);
  out.because += fmt::format(", the host for {:.0f} %", out.host);
  if (out.not_scheduled > kBoundNotScheduled) {
    out.because +=
        fmt::format("; for {:.0f} % the host was not running or blocked", out.not_scheduled);
  }
  return out;
}

}  // namespace jarvis::ledger
