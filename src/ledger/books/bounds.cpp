#include "ledger/books/bounds.h"

#include <algorithm>

#include <fmt/format.h>

namespace jarvis::ledger {
namespace {

constexpr double kMostAssessed = 0.5;  // of a kind's time has a floor
constexpr double kLargeLine = 0.03;    // of the base: from here on a line needs a bound
constexpr double kWorthSaving = 0.05;  // of the base: all bounds together

// Of a kind that computes nothing all could go, but for what a library's call does for itself.
Bound OfMoves(std::int64_t wall_ns, std::int64_t line_ns, std::int64_t helpers_ns) {
  if (helpers_ns <= 0 || line_ns <= 0) return {wall_ns, "computes nothing: all of its wall time"};
  const double part = 1 - static_cast<double>(helpers_ns) / static_cast<double>(line_ns);
  return {static_cast<std::int64_t>(static_cast<double>(wall_ns) * std::max(0.0, part)),
          "computes nothing: its wall time without the helpers of library calls"};
}

Bound OfWork(WorkKind kind, std::int64_t wall_ns, const KnownFloor& floor, std::int64_t line_ns) {
  if (IsCommunication(kind)) return {wall_ns, "exposed communication: all of its wall time"};
  if (floor.assessed_ns > 0 && line_ns > 0 &&
      static_cast<double>(floor.assessed_ns) >= kMostAssessed * static_cast<double>(line_ns)) {
    const double over = std::max(
        0.0, 1 - static_cast<double>(floor.floor_ns) / static_cast<double>(floor.assessed_ns));
    const double assessed =
        std::min(1.0, static_cast<double>(floor.assessed_ns) / static_cast<double>(line_ns));
    const auto wall = static_cast<double>(wall_ns);
    const double rest = floor.by_names ? 1 - assessed : 0;
    Bound bound{static_cast<std::int64_t>(wall * (assessed * over + rest)),
                fmt::format("{}, known for {:.0f} % of its time{}", floor.basis, assessed * 100,
                            rest > 0 ? "; the rest could go wholly" : "")};
    if (floor.by_names && !floor.by_models)
      bound.least_ns = static_cast<std::int64_t>(wall * assessed * (1 - over));
    bound.by_grids = floor.by_grids;
    return bound;
  }
  return {.ns = std::nullopt, .basis = "not assessed"};
}

}  // namespace

Bounds BoundsOf(const Books& books, const KnownFloors& floors) {
  Bounds out;
  std::array<std::int64_t, kWorkKinds> helpers_ns{};
  for (const KernelLine& kernel : books.gpu.kernels) {
    if (IsLibraryHelper(kernel.kind))
      helpers_ns[static_cast<std::size_t>(kernel.kind.kind)] += kernel.line.ns;
  }
  for (std::size_t i = 0; i < kWorkKinds; ++i) {
    const std::int64_t wall_ns = books.wall.work_ns[i];
    if (wall_ns <= 0) continue;
    const auto kind = static_cast<WorkKind>(i);
    const std::int64_t line_ns = books.gpu.kinds[i].ns;
    out.work[i] = ComputesNothing(kind) ? OfMoves(wall_ns, line_ns, helpers_ns[i])
                                        : OfWork(kind, wall_ns, floors[i], line_ns);
  }
  // All idle time could go until only the GPU's own work is left, which it is beside: a graph
  // spares what the host does between two launches and the latencies behind it alike.
  for (std::size_t i = 0; i < kIdleCauses; ++i) {
    const std::int64_t ns = books.wall.idle_ns[i];
    if (ns > 0) out.idle[i] = Bound{ns, "idle: its own time"};
  }
  return out;
}

std::vector<WorkKind> UnassessedKinds(const analysis::BaseOfTime& base, const Books& books,
                                      const Bounds& bounds) {
  const auto& work_ns = books.wall.work_ns;
  std::vector<WorkKind> kinds;
  for (std::size_t kind = 0; kind < kWorkKinds; ++kind) {
    const bool large =
        static_cast<double>(work_ns[kind]) >= kLargeLine * static_cast<double>(base.ns());
    if (large && work_ns[kind] > 0 && !bounds.work[kind].ns)
      kinds.push_back(static_cast<WorkKind>(kind));
  }
  std::stable_sort(kinds.begin(), kinds.end(), [&](WorkKind a, WorkKind b) {
    return work_ns[static_cast<std::size_t>(a)] > work_ns[static_cast<std::size_t>(b)];
  });
  return kinds;
}

bool NothingToSave(const analysis::BaseOfTime& base, const Books& books, const Bounds& bounds) {
  if (!UnassessedKinds(base, books, bounds).empty()) return false;
  std::int64_t sum = 0;
  for (const Bound& bound : bounds.work)
    sum += bound.ns.value_or(0);
  for (const Bound& bound : bounds.idle)
    sum += bound.ns.value_or(0);
  return static_cast<double>(sum) < kWorthSaving * static_cast<double>(base.ns());
}

}  // namespace jarvis::ledger
