#include "analysis/ranks/late_kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/ranks/rank_causes.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::TraceText;

constexpr int kReplayRanks = 4;
constexpr int kReplayRounds = 16;
constexpr const char* kGrouped =
    "void deep_gemm::fp8_gemm_kernel<4096u, 7168u>(__nv_bfloat16*, float*)";
constexpr const char* kDispatch = "void deep_ep::internode_ll::dispatch<true, 3>(void*, float*)";
constexpr const char* kCombine = "void deep_ep::internode_ll::combine<3, 10>(void*, void*)";

// What a rank does in a round before its second exchange, microseconds.
struct Round {
  double product = 400;
  double pause = 0;       // of its GPU, before the exchange
  double first_ends = 0;  // how much later the exchange before ends than where it could
  double transfer = 300;  // of its exchange, once all have come: of the rank with most
};

// Ranks that replay one graph: an exchange, a product, an exchange, for which all wait for the
// last. `launches`: a launch of each kernel instead of the graph's, all of them ahead of the GPU.
std::vector<RankDigest> Replays(const std::function<Round(int rank, int round)>& of,
                                bool launches = false) {
  std::vector<TraceText> texts(kReplayRanks);
  std::vector<int> ids(kReplayRanks, 0);
  const auto kernel = [&](int rank, const char* name, double ts, double dur) {
    TraceText& text = texts[static_cast<std::size_t>(rank)];
    int& id = ids[static_cast<std::size_t>(rank)];
    if (id == 0 || launches) {
      ++id;
      text.Runtime(launches ? "cudaLaunchKernel" : "cudaGraphLaunch", 10.0 * id, 5, id);
    }
    text.Kernel(name, ts, dur, id, 7);
  };
  double at = 2000;
  for (int round = 0; round < kReplayRounds; ++round) {
    double last = 0;
    double transfer = 0;
    for (int rank = 0; rank < kReplayRanks; ++rank) {
      const Round one = of(rank, round);
      last = std::max(last, at + 100 + one.first_ends + one.product + one.pause);
      transfer = std::max(transfer, one.transfer);
    }
    for (int rank = 0; rank < kReplayRanks; ++rank) {
      const Round one = of(rank, round);
      const double begin = at + 100 + one.first_ends;
      const double start = begin + one.product + one.pause;
      kernel(rank, kDispatch, at, 100 + one.first_ends);
      kernel(rank, kGrouped, begin, one.product);
      kernel(rank, kCombine, start, last - start + transfer);
    }
    at = last + transfer;
  }
  std::vector<RankDigest> digests;
  for (int rank = 0; rank < kReplayRanks; ++rank) {
    Job job;
    const testing::Loaded loaded = testing::Load(texts[static_cast<std::size_t>(rank)]);
    auto made = DigestTrace(loaded.trace, loaded.tree, job);
    REQUIRE(made.has_value());
    REQUIRE(made->size() == 1);
    made->front().rank = rank;
    digests.push_back(std::move(made->front()));
  }
  return digests;
}

struct Told {
  RankSet set;
  JointTimeline joint;
  JobStory story;
  std::int64_t Lost(LateCause cause) const {
    return std::accumulate(story.ranks.begin(), story.ranks.end(), std::int64_t{0},
                           [&](std::int64_t sum, const RankStory& of) {
                             return sum + of.lost_by[static_cast<std::size_t>(cause)];
                           });
  }
};

doctest::Approx About(std::int64_t ns) {
  return doctest::Approx(static_cast<double>(ns)).epsilon(0.1);
}

Told Tell(std::vector<RankDigest> digests) {
  Told told;
  told.set = ResolveRanks(std::move(digests));
  told.joint = JoinCollectives(told.set);
  told.story = TellJob(told.set, told.joint);
  REQUIRE(told.joint.collectives.size() == 2 * kReplayRounds);
  return told;
}

// Some rank has much, another each round.
double Uneven(int rank, int round) {
  return 400 + ((rank * 7 + round * 5) % kReplayRanks == 0 ? 300 : 20.0 * rank);
}

TEST_CASE("within a replay the kernel is named that the last rank has most of, and no host cause") {
  const Told told = Tell(Replays([](int rank, int round) {
    return Round{Uneven(rank, round), 0, 0};
  }));
  REQUIRE(told.story.late_kernels.size() == 1);
  const LateKernel& kernel = told.story.late_kernels.front();
  CHECK(kernel.kernel.find("fp8_gemm_kernel") != std::string::npos);
  CHECK(kernel.collective.find("combine") != std::string::npos);
  CHECK(kernel.between_exchanges);
  CHECK(kernel.times == kReplayRounds);
  CHECK(kernel.of == kReplayRounds);
  CHECK(kernel.ratio > 1.3);
  for (const LateCause cause : {LateCause::kHost, LateCause::kStall, LateCause::kLongOp,
                                LateCause::kMemory, LateCause::kStarved, LateCause::kUnknown})
    CHECK(told.Lost(cause) == 0);
  CHECK(told.Lost(LateCause::kCompute) == told.story.lost_ns);
  REQUIRE(told.story.levers.size() == 1);
  const JobLever& lever = told.story.levers.front();
  CHECK(lever.kind == LeverKind::kBalance);
  CHECK(lever.ranks.size() == kReplayRanks);
  REQUIRE(lever.kernel.has_value());
  // Work is moved, not dropped: what is saved is the most less the mean, of each round.
  CHECK(lever.saved_ns == About(kernel.spread_ns));
}

TEST_CASE("a kernel that differs, but not with who is last, is not named") {
  // Rank 0 pauses by far more than what products differ by: nothing recorded explains it.
  const Told told = Tell(Replays([](int rank, int round) {
    return Round{Uneven(rank, round), rank == 0 ? 900.0 : 0.0, 0};
  }));
  CHECK(told.story.late_kernels.empty());
  CHECK(told.Lost(LateCause::kUnknown) > told.story.lost_ns / 2);
  CHECK(told.Lost(LateCause::kHost) == 0);
}

TEST_CASE("an exchange that takes longer behind a longer kernel follows the load") {
  const auto follows = [](const std::function<double(int round)>& transfer) {
    const Told told = Tell(Replays([&](int rank, int round) {
      Round one;
      // Another rank has most of it each round, and another amount.
      if (rank == round % kReplayRanks) one.product += 100 + 50 * ((round * 3) % 7);
      one.transfer = transfer(round);
      return one;
    }));
    REQUIRE_FALSE(told.story.late_kernels.empty());
    return told.story.late_kernels.front().transfer_follows;
  };
  CHECK(follows([](int round) { return 300.0 + 50 * ((round * 3) % 7); }) > 0.95);
  CHECK(std::abs(follows([](int round) { return 300.0 + 50 * ((round * 5) % 4); })) < 0.7);
  CHECK(std::abs(follows([](int /*round*/) { return 300.0; })) < 0.7);
}

TEST_CASE("equal ranks have no such kernel") {
  const Told told = Tell(Replays([](int, int) { return Round{}; }));
  CHECK(told.story.late_kernels.empty());
  CHECK(told.story.levers.empty());
}

TEST_CASE("within a replay a rank is late by the end of the collective before") {
  // Rarely: where many ends differ, clocks may be wrong by as much.
  const Told told = Tell(Replays([](int rank, int round) {
    return Round{400, 0, round % 5 == 1 && rank == round / 5 ? 800.0 : 0.0};
  }));
  CHECK(told.story.late_kernels.empty());
  CHECK(told.story.lost_ns > 0);
  CHECK(told.Lost(LateCause::kBefore) == told.story.lost_ns);
}

TEST_CASE("what is launched kernel by kernel, and long before, is no fault of the host either") {
  const Told told = Tell(Replays(
      [](int rank, int round) {
        return Round{400, rank == round % kReplayRanks ? 900.0 : 0.0, 0};
      },
      true));
  CHECK(told.story.lost_ns > 0);
  CHECK(told.story.late_kernels.empty());
  CHECK(told.Lost(LateCause::kUnknown) == told.story.lost_ns);
}

// The ledger's base of a rank: from a round on.
void SetBase(RankDigest* digest, int first_round) {
  const auto place = static_cast<std::size_t>(2 * first_round);
  RankLedger ledger;
  ledger.unit = "recording";
  const std::int64_t begin = digest->calls[place].ts_ns;
  ledger.base.push_back({begin, *digest->facts->gpu_end_ns});
  ledger.base_ns = Length(ledger.base);
  digest->ledger = ledger;
}

TEST_CASE("figures are of the base that the ranks' ledgers have") {
  const auto uneven = [](int rank, int round) { return Round{Uneven(rank, round), 0, 0}; };
  const Told whole = Tell(Replays(uneven));
  CHECK(whole.story.base_ns == whole.story.wall_ns);
  CHECK(whole.story.base_count == 0);
  std::vector<RankDigest> digests = Replays(uneven);
  for (RankDigest& digest : digests)
    SetBase(&digest, kReplayRounds / 2);
  const Told half = Tell(digests);
  CHECK(half.story.base_ns == half.set.ranks[half.story.base_rank].ledger->base_ns);
  CHECK(half.story.base_count == 1);
  CHECK(half.story.wall_ns == whole.story.wall_ns);
  // Half of the rounds, but the first collective of the recording.
  CHECK(half.story.lost_ns == About(whole.story.lost_ns / 2));
  REQUIRE(half.story.levers.size() == 1);
  CHECK(half.story.levers[0].saved_ns == About(whole.story.levers.at(0).saved_ns / 2));
  CHECK(half.story.replay_error_ns == 0);
  // One rank without a base: all that was recorded.
  digests.front().ledger.reset();
  CHECK(Tell(std::move(digests)).story.base_ns == whole.story.wall_ns);
}

}  // namespace
}  // namespace jarvis::analysis
