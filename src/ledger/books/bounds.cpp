#include "ledger/books/bounds.h"

#include <algorithm>

#include <fmt/format.h>

namespace jarvis::ledger {
namespace {

constexpr double kMostAssessed = 0.5;  // of a kind's time has a floor

bool ComputesNothing(WorkKind kind) {
  return kind == WorkKind::kCast || kind == WorkKind::kLayout || kind == WorkKind::kCopy ||
         kind == WorkKind::kHostCopy;
}

Bound OfWork(WorkKind kind, std::int64_t wall_ns, const KnownFloor& floor, std::int64_t line_ns) {
  if (kind == WorkKind::kCommTransfer || kind == WorkKind::kCommWait)
    return {wall_ns, "exposed communication: all of its wall time"};
  if (ComputesNothing(kind)) return {wall_ns, "computes nothing: all of its wall time"};
  if (floor.assessed_ns > 0 && line_ns > 0 &&
      static_cast<double>(floor.assessed_ns) >= kMostAssessed * static_cast<double>(line_ns)) {
    const double over = std::max(
        0.0, 1 - static_cast<double>(floor.floor_ns) / static_cast<double>(floor.assessed_ns));
    const double assessed =
        std::min(1.0, static_cast<double>(floor.assessed_ns) / static_cast<double>(line_ns));
    return {static_cast<std::int64_t>(static_cast<double>(wall_ns) * assessed * over),
            fmt::format("{}, known for {:.0f} % of its time", floor.basis, assessed * 100)};
  }
  return {std::nullopt, "not assessed"};
}

}  // namespace

Bounds BoundsOf(const analysis::BaseOfTime& base, const Books& books, const KnownFloors& floors) {
  Bounds out;
  for (std::size_t kind = 0; kind < kWorkKinds; ++kind) {
    const std::int64_t wall_ns = books.wall.work_ns[kind];
    if (wall_ns <= 0) continue;
    out.work[kind] =
        OfWork(static_cast<WorkKind>(kind), wall_ns, floors[kind], books.gpu.kinds[kind].ns);
  }
  const std::int64_t kept = std::max(books.gpu.busy_ns, books.host.alone_ns);
  const std::int64_t room = std::max<std::int64_t>(0, base.ns() - kept);
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    const std::int64_t ns = books.wall.idle_ns[cause];
    if (ns <= 0) continue;
    out.idle[cause] = ns <= room ? Bound{ns, "idle: all of it"}
                                 : Bound{room, books.host.alone_ns > books.gpu.busy_ns
                                                   ? "idle: down to the host's own work"
                                                   : "idle: down to the GPU's work"};
  }
  return out;
}

}  // namespace jarvis::ledger
