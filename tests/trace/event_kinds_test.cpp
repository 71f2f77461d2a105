// Events of XLA's profiler that say the same, told by their bytes.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/messages.h"
#include "trace/import/xplane/event_facts.h"

namespace jarvis::trace::xplane {
namespace {

using testing::Bytes;
using testing::Number;

constexpr std::int64_t kCorrelation = 1, kOp = 2, kDropped = 3;

Plane MadePlane() {
  Plane plane;
  plane.stat_names = {{kCorrelation, "correlation_id"}, {kOp, "hlo_op"}, {kDropped, "_c"}};
  plane.event_names[7] = {"MemoryAllocation", "", {}};
  return plane;
}

std::string StatOf(std::int64_t id, std::uint64_t value) {
  return Bytes(kStatField, Number(1, static_cast<std::uint64_t>(id)) + Number(3, value));
}

struct Told {
  std::uint32_t kind;
  std::int64_t correlation;
  bool operator==(const Told&) const = default;
};

class Kinds {
 public:
  Told Of(std::int64_t name, const std::string& stats) {
    kept_.push_back(std::make_unique<std::string>(stats));
    Event event;
    event.name_id = name;
    event.stats = *kept_.back();
    Told told{};
    told.kind = kinds_.Of(event, &told.correlation);
    return told;
  }

 private:
  Plane plane_ = MadePlane();
  EventKinds kinds_{plane_, [](std::string_view name) { return name == "MemoryAllocation"; }};
  std::vector<std::unique_ptr<std::string>> kept_;  // as a file keeps them
};

TEST_CASE("events of a kind differ in their correlation and in what nothing is made of") {
  Kinds kinds;
  for (const std::uint64_t id : {1000u, 1001u, 5u, 70000u, 1002u}) {
    const auto correlation = static_cast<std::int64_t>(id);
    CHECK(kinds.Of(1, StatOf(kCorrelation, id) + StatOf(kOp, 4)) == Told{0, correlation});
    CHECK(kinds.Of(1, StatOf(kDropped, id) + StatOf(kCorrelation, id) + StatOf(kOp, 4)) ==
          Told{0, correlation});
    CHECK(kinds.Of(1, StatOf(kOp, 4)) == Told{1, kAbsent});
    CHECK(kinds.Of(2, StatOf(kCorrelation, id) + StatOf(kOp, 4)) == Told{2, correlation});
    CHECK(kinds.Of(1, StatOf(kCorrelation, id) + StatOf(kOp, 5)) == Told{3, correlation});
    CHECK(kinds.Of(1, StatOf(kOp, 5) + StatOf(kCorrelation, id)) == Told{3, correlation});
    CHECK(kinds.Of(7, StatOf(kCorrelation, id) + StatOf(kOp, 5)) == Told{4, kAbsent});
  }
}

TEST_CASE("bytes that look like a correlation's are none") {
  Kinds kinds;
  // Of as many bytes, with other stats at its place.
  CHECK(kinds.Of(1, StatOf(kCorrelation, 300) + StatOf(kOp, 4)) == Told{0, 300});
  CHECK(kinds.Of(1, StatOf(kOp, 300) + StatOf(kOp, 4)) == Told{1, kAbsent});
  // The last id of a stat is its own.
  const std::string twice =
      Bytes(kStatField, Number(1, kCorrelation) + Number(3, 300) + Number(1, kOp));
  CHECK(kinds.Of(1, twice) == Told{2, kAbsent});
  CHECK(kinds.Of(1, Bytes(kStatField, Number(1, kCorrelation) + Number(3, 300) + Number(1, 9))) ==
        Told{3, kAbsent});
  // Two of them, and one as text: both are read, not compared.
  for (const std::uint64_t id : {300u, 301u, 302u}) {
    const auto correlation = static_cast<std::int64_t>(id);
    CHECK(kinds.Of(4, StatOf(kCorrelation, 1) + StatOf(kCorrelation, id)) == Told{4, correlation});
    CHECK(kinds.Of(5, Bytes(kStatField, Number(1, kCorrelation) + Bytes(5, std::to_string(id)))) ==
          Told{5, correlation});
  }
  // As if it were not there.
  const auto none = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min());
  CHECK(kinds.Of(6, StatOf(kCorrelation, none + 1)).correlation == kAbsent + 1);
  CHECK(kinds.Of(6, StatOf(kCorrelation, none)).correlation == kAbsent);
  CHECK(kinds.Of(6, StatOf(kCorrelation, none)).kind !=
        kinds.Of(6, StatOf(kCorrelation, none + 1)).kind);
}

}  // namespace
}  // namespace jarvis::trace::xplane
