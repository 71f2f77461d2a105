#include "analysis/ranks/shared_loss.h"

#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::analysis {
namespace {

constexpr std::int64_t kSlice = 4'000'000;

// Processes that share cores in turns of one slice: who stands still in which of them.
template <typename Runs>
std::vector<IntervalSet<std::int64_t>> Turns(int processes, int slices, const Runs& runs) {
  std::vector<IntervalSet<std::int64_t>> standing(static_cast<std::size_t>(processes));
  for (int process = 0; process < processes; ++process) {
    std::vector<Interval<std::int64_t>> pieces;
    for (int slice = 0; slice < slices; ++slice) {
      if (!runs(process, slice)) pieces.push_back({slice * kSlice, (slice + 1) * kSlice});
    }
    standing[static_cast<std::size_t>(process)] = Union(std::move(pieces));
  }
  return standing;
}

TEST_CASE("how many processes stand still at once tells how many cores they share") {
  constexpr int kSlices = 60;
  const Interval<std::int64_t> whole{0, kSlices * kSlice};
  // Two of eight run at any time.
  const auto two = CountStanding(
      Turns(8, kSlices, [](int p, int slice) { return (p + slice) % 4 == 0; }), whole);
  REQUIRE(two);
  CHECK(two->still == 6);
  CHECK(two->of == 8);
  CHECK(two->share == doctest::Approx(1.0));
  // Each stands still whatever the others do: the count varies.
  std::minstd_rand random(7);
  CHECK(!CountStanding(Turns(8, kSlices, [&](int, int) { return random() % 4 == 0; }), whole));
  // Seven wait for the eighth, which is another one each time, and all go on at once.
  std::vector<IntervalSet<std::int64_t>> waiting(8);
  for (int round = 0; round < kSlices; ++round) {
    for (int p = 0; p < 8; ++p) {
      if (round % 8 != p)
        waiting[static_cast<std::size_t>(p)].push_back(
            {round * kSlice + 100'000, (round + 1) * kSlice});
    }
  }
  CHECK(!CountStanding(waiting, whole));
  // All stand still at once, as under a limit of CPU time: that is no number of cores.
  CHECK(!CountStanding(Turns(8, kSlices, [](int, int slice) { return slice % 4 == 0; }), whole));
  // Nobody does, most of the time.
  CHECK(!CountStanding(Turns(8, kSlices, [](int p, int slice) { return (p + slice) % 40 != 0; }),
                       whole));
  CHECK(!CountStanding({}, whole));
  CHECK(!CountStanding(Turns(8, 4, [](int p, int) { return p < 2; }), {0, 0}));
}

// Four ranks whose hosts lose so much each, of which rank 0 idles much longer.
struct Lossy {
  RankSet set;
  JobStory story;
  FleetFindings fleet;
};

Lossy FourRanks(std::int64_t first_loss, FleetCause cause) {
  Lossy made;
  made.set.ranks.resize(4);
  made.story.ranks.resize(4);
  made.fleet.ranks.resize(4);
  made.story.starved_ranks = 4;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    made.story.ranks[rank].starved = true;
    made.story.ranks[rank].starved_ns = rank == 0 ? first_loss : 480'000'000;
    made.story.ranks[rank].host_ns = made.story.ranks[rank].starved_ns + 100'000'000;
    made.fleet.ranks[rank].own_ns = rank == 0 ? 360e6 : 150e6;
    made.fleet.ranks[rank].excess = rank == 0 ? 1.4 : 0.0;
  }
  made.fleet.ranks[0].cause = cause;
  made.fleet.ranks[0].slow = true;
  ForgiveSharedLoss(made.set, made.story, &made.fleet);
  return made;
}

TEST_CASE("a rank is not slow by what the hosts of all ranks lose") {
  const Lossy alike = FourRanks(450'000'000, FleetCause::kHost);
  CHECK(!alike.fleet.ranks[0].slow);
  CHECK(alike.fleet.ranks[0].shared_loss);
  // It loses far more than the others, or computes longer: that is its own.
  CHECK(FourRanks(900'000'000, FleetCause::kHost).fleet.ranks[0].slow);
  CHECK(FourRanks(450'000'000, FleetCause::kGpu).fleet.ranks[0].slow);
  // Its host has more to do, and the loss is not all.
  Lossy busy = FourRanks(450'000'000, FleetCause::kGpu);
  busy.fleet.ranks[0].cause = FleetCause::kHost;
  busy.story.ranks[0].host_ns += 200'000'000;
  ForgiveSharedLoss(busy.set, busy.story, &busy.fleet);
  CHECK(busy.fleet.ranks[0].slow);
  // Where a host has its processor, nothing is shared by all.
  Lossy some = FourRanks(450'000'000, FleetCause::kGpu);
  some.fleet.ranks[0].cause = FleetCause::kHost;
  some.story.starved_ranks = 3;
  ForgiveSharedLoss(some.set, some.story, &some.fleet);
  CHECK(some.fleet.ranks[0].slow);
}

}  // namespace
}  // namespace jarvis::analysis
