// What of a line of the books could be saved at most, and what that rests on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/books/books.h"

namespace jarvis::ledger {

// A kernel of a few elements takes about this long on the GPUs of 2017 to 2025, launched or
// replayed: no roof lets it take less.
inline constexpr std::int64_t kKernelFloorNs = 2'000;

struct Bound {
  std::optional<std::int64_t> ns;  // of the base's wall time; absent: not assessed
  std::string basis;               // a phrase
  // Of the base's wall time, what the sizes that kernel names and grids give need at the least;
  // absent: models know of the line, or nothing does.
  std::optional<std::int64_t> least_ns = {};
  bool by_grids = false;  // grids give some of them, else names alone, which tell of memory only
};

// Of a kind of work: for how much of its GPU time a floor is known, and that floor.
struct KnownFloor {
  std::int64_t assessed_ns = 0;
  std::int64_t floor_ns = 0;
  std::string basis;  // "roofs of the models at the device's peak"
  // Where nothing but sizes in kernel names tells of some of the time: what has no floor may go
  // wholly.
  bool by_names = false;
  bool by_models = false;  // of some
  bool by_grids = false;   // of some, by names and grids together
};
using KnownFloors = std::array<KnownFloor, kWorkKinds>;

struct Bounds {
  std::array<Bound, kWorkKinds> work;  // of what the wall files under the kind
  std::array<Bound, kIdleCauses> idle;
};

// Kinds that compute nothing could go wholly, but for what libraries do within their calls
// (IsLibraryHelper), and so could idle time. Other kinds have a bound
// where most of their time has a known floor.
Bounds BoundsOf(const Books& books, const KnownFloors& floors = {});

// Kinds of GPU work that hold at least 3 percent of the base's wall time and have no bound, the
// longest first.
std::vector<WorkKind> UnassessedKinds(const analysis::BaseOfTime& base, const Books& books,
                                      const Bounds& bounds);
// Nothing is worth anybody's time: all lines of 3 percent have a bound, and all bounds together are
// less than 5 percent of the base.
bool NothingToSave(const analysis::BaseOfTime& base, const Books& books, const Bounds& bounds);

}  // namespace jarvis::ledger
