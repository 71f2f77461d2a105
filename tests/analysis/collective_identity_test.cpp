#include "analysis/ranks/collective_identity.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/ranks/joint_collectives.h"

namespace jarvis::analysis {
namespace {

// One rank's calls, times in microseconds.
class CallsOfRank {
 public:
  explicit CallsOfRank(std::int64_t rank, std::int64_t world) {
    digest_.rank = rank;
    digest_.world_size = world;
    digest_.trace_id = fmt::format("t_{}", rank);
    digest_.source = fmt::format("rank{}.json", rank);
  }
  // `group`: "": not recorded.
  std::size_t Kind(const std::string& name, const std::string& group, std::int64_t elements,
                   std::int64_t stream = 7) {
    CollectiveKind kind;
    kind.known[kCollective] = name;
    if (!group.empty()) kind.known[kGroup] = group;
    if (elements > 0) kind.known[kIn] = elements;
    kind.known[kStream] = stream;
    digest_.kinds.push_back(kind);
    return digest_.kinds.size() - 1;
  }
  std::size_t Hand(const std::string& name, std::int64_t source, std::int64_t target) {
    const std::size_t kind = Kind(name, "pp", 8);
    digest_.kinds[kind].source = source;
    digest_.kinds[kind].target = target;
    return kind;
  }
  CallsOfRank& Call(std::size_t kind, std::int64_t ts, std::int64_t dur,
                    std::optional<std::int64_t> sequence = {}) {
    CollectiveCall call;
    call.kind = kind;
    call.ts_ns = ts * 1000;
    call.dur_ns = dur * 1000;
    call.sequence = sequence;
    digest_.calls.push_back(call);
    return *this;
  }
  CallsOfRank& Later(std::int64_t us) {
    for (CollectiveCall& call : digest_.calls)
      call.ts_ns += us * 1000;
    return *this;
  }
  const RankDigest& digest() const { return digest_; }

 private:
  RankDigest digest_;
};

JointTimeline JoinRanks(const std::vector<CallsOfRank>& ranks) {
  std::vector<RankDigest> digests;
  for (const CallsOfRank& rank : ranks)
    digests.push_back(rank.digest());
  return JoinCollectives(ResolveRanks(std::move(digests)));
}

// "0:2 1:1" for rank and call of each whole collective.
std::vector<std::string> WholeOnes(const JointTimeline& joint) {
  std::vector<std::string> texts;
  for (const OneCollective& one : joint.identity.collectives) {
    if (!one.whole) continue;
    std::string text;
    for (const CollectivePart& part : one.parts)
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", part.rank, part.call);
    texts.push_back(text);
  }
  return texts;
}

bool Warned(const JointTimeline& joint, std::string_view code) {
  return std::any_of(joint.identity.warnings.begin(), joint.identity.warnings.end(),
                     [&](const RankWarning& one) { return one.code == code; });
}

// Equal calls at uneven times, of which the first `skipped` are missing; rank r comes 10 r late.
CallsOfRank EqualCalls(std::int64_t rank, std::int64_t world, std::size_t skipped = 0,
                       bool even = false) {
  CallsOfRank made(rank, world);
  const std::size_t kind = made.Kind("allreduce", "0", 1024);
  constexpr std::int64_t kGaps[] = {1000, 1700, 900, 2400, 1300, 3100, 1900, 1100};
  std::int64_t at = 0;
  for (std::size_t i = 0; i < std::size(kGaps); ++i) {
    if (i >= skipped) made.Call(kind, at + 10 * rank, 100 - 10 * rank);
    at += even ? 1000 : kGaps[i];
  }
  return made;
}

TEST_CASE("equal calls in a row are told apart by their order, also where one rank begins later") {
  const JointTimeline joint = JoinRanks({EqualCalls(0, 3), EqualCalls(1, 3, 2), EqualCalls(2, 3)});
  CHECK(WholeOnes(joint) == std::vector<std::string>{"0:2 1:0 2:2", "0:3 1:1 2:3", "0:4 1:2 2:4",
                                                     "0:5 1:3 2:5", "0:6 1:4 2:6", "0:7 1:5 2:7"});
  CHECK(joint.identity.collectives.size() == 8);
  CHECK(Warned(joint, "RANKS_SHIFTED"));
  CHECK(joint.ranks[0].unmatched == 2);
}

TEST_CASE("a rank's clock may be off by any constant") {
  const std::vector<CallsOfRank> ranks = {EqualCalls(0, 4), EqualCalls(1, 4, 2), EqualCalls(2, 4),
                                          EqualCalls(3, 4)};
  const JointTimeline plain = JoinRanks(ranks);
  constexpr std::int64_t kApart[] = {1, -7, 2600, -900, 1'000'000, -86'400'000'000};
  for (std::size_t moved = 0; moved < ranks.size(); ++moved) {
    for (const std::int64_t us : kApart) {
      std::vector<CallsOfRank> shifted = ranks;
      shifted[moved].Later(us);
      const JointTimeline joint = JoinRanks(shifted);
      CHECK(WholeOnes(joint) == WholeOnes(plain));
      CHECK(joint.clock_error_ns == plain.clock_error_ns);
      REQUIRE(joint.collectives.size() == plain.collectives.size());
      for (std::size_t i = 0; i < joint.collectives.size(); ++i) {
        CHECK(joint.collectives[i].last == plain.collectives[i].last);
        CHECK(joint.collectives[i].skew_ns == plain.collectives[i].skew_ns);
        for (std::size_t part = 0; part < joint.collectives[i].parts.size(); ++part) {
          CHECK(joint.collectives[i].parts[part].start_ns ==
                plain.collectives[i].parts[part].start_ns);
        }
      }
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        CHECK(joint.ranks[rank].wait_ns == plain.ranks[rank].wait_ns);
        CHECK(joint.ranks[rank].transfer_ns == plain.ranks[rank].transfer_ns);
        CHECK(joint.ranks[rank].came_last == plain.ranks[rank].came_last);
      }
    }
  }
}

TEST_CASE("the order in which ranks are given changes nothing") {
  const JointTimeline plain = JoinRanks({EqualCalls(0, 3), EqualCalls(1, 3, 1), EqualCalls(2, 3)});
  const JointTimeline turned = JoinRanks({EqualCalls(2, 3), EqualCalls(0, 3), EqualCalls(1, 3, 1)});
  CHECK(WholeOnes(plain) == WholeOnes(turned));
  for (std::size_t rank = 0; rank < 3; ++rank)
    CHECK(plain.ranks[rank].wait_ns == turned.ranks[rank].wait_ns);
}

TEST_CASE("a rank without a trace leaves the others as they are") {
  const JointTimeline joint = JoinRanks({EqualCalls(0, 4), EqualCalls(1, 4), EqualCalls(3, 4)});
  CHECK(WholeOnes(joint).size() == 8);
  CHECK(WholeOnes(joint).front() == "0:0 1:0 2:0");
}

TEST_CASE("a rank that was cut short holds nobody up") {
  const JointTimeline joint = JoinRanks({EqualCalls(0, 3), EqualCalls(1, 3), EqualCalls(2, 3, 6)});
  CHECK(WholeOnes(joint).size() == 8);
  CHECK(joint.ranks[2].matched == 0);
  CHECK(joint.ranks[2].unmatched == 2);
}

TEST_CASE("sizes tell which call is missing") {
  // Equal distances, so ends tell nothing; the first of rank 1 is not there.
  std::vector<CallsOfRank> ranks;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    CallsOfRank made(rank, 2);
    for (std::int64_t i = rank; i < 6; ++i)
      made.Call(made.Kind("allreduce", "0", 100 + i), 1000 * i + 777'000 * rank, 50);
    ranks.push_back(made);
  }
  CHECK(WholeOnes(JoinRanks(ranks)) ==
        std::vector<std::string>{"0:1 1:0", "0:2 1:1", "0:3 1:2", "0:4 1:3", "0:5 1:4"});
}

TEST_CASE("running numbers come before order") {
  std::vector<CallsOfRank> ranks;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    CallsOfRank made(rank, 2);
    const std::size_t kind = made.Kind("allreduce", "0", 100);
    for (std::int64_t i = 0; i < 6; ++i) {
      if (i != 2 || rank == 0) made.Call(kind, 1000 * i, 50, 40 + i);
    }
    ranks.push_back(made);
  }
  const JointTimeline joint = JoinRanks(ranks);
  CHECK(WholeOnes(joint) ==
        std::vector<std::string>{"0:0 1:0", "0:1 1:1", "0:3 1:2", "0:4 1:3", "0:5 1:4"});
  CHECK(joint.identity.IdOf(joint.identity.collectives[2]) == "0_42");
  CHECK_FALSE(joint.identity.collectives[2].whole);
}

TEST_CASE("calls that name no group keep the order of their stream, whoever is ahead") {
  // Both streams are used alike, and which of them comes first changes.
  CallsOfRank one(0, 2);
  const std::size_t a = one.Kind("allreduce", "", 0, 7);
  const std::size_t b = one.Kind("allreduce", "", 0, 9);
  one.Call(a, 0, 50).Call(b, 20, 50).Call(a, 1000, 50).Call(b, 1020, 50);
  CallsOfRank other(1, 2);
  CHECK(other.Kind("allreduce", "", 0, 7) == a);
  CHECK(other.Kind("allreduce", "", 0, 9) == b);
  other.Call(b, 0, 70).Call(a, 10, 40).Call(b, 1000, 70).Call(a, 1010, 40);
  CHECK(WholeOnes(JoinRanks({one, other})) ==
        std::vector<std::string>{"0:0 1:1", "0:2 1:3", "0:1 1:0", "0:3 1:2"});
  // Streams that only one rank has are no groups.
  CallsOfRank alone(1, 2);
  const std::size_t c = alone.Kind("allreduce", "", 0, 13);
  alone.Call(c, 0, 50).Call(c, 20, 50).Call(c, 1000, 50).Call(c, 1020, 50);
  CHECK(WholeOnes(JoinRanks({one, alone})) ==
        std::vector<std::string>{"0:0 1:0", "0:1 1:1", "0:2 1:2", "0:3 1:3"});
}

TEST_CASE("sends and receives are paired by their link") {
  std::vector<CallsOfRank> ranks;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    CallsOfRank made(rank, 3);
    for (std::int64_t i = 0; i < 2; ++i) {
      if (rank > 0) made.Call(made.Hand("recv", rank - 1, rank), 1000 * i + 100 * rank - 60, 60);
      if (rank < 2) made.Call(made.Hand("send", rank, rank + 1), 1000 * i + 100 * rank + 90, 10);
    }
    ranks.push_back(made);
  }
  const JointTimeline joint = JoinRanks(ranks);
  CHECK(WholeOnes(joint) == std::vector<std::string>{"0:0 1:0", "0:1 1:2", "1:1 2:0", "1:3 2:1"});
  for (const RankCommTime& of : joint.ranks)
    CHECK(of.came_last == 0);
}

TEST_CASE("one more rank that does as another does changes the others' figures in nothing") {
  const JointTimeline plain = JoinRanks({EqualCalls(0, 3), EqualCalls(1, 3), EqualCalls(2, 3)});
  std::vector<CallsOfRank> more = {EqualCalls(0, 4), EqualCalls(1, 4), EqualCalls(2, 4),
                                   CallsOfRank(3, 4)};
  const std::size_t kind = more[3].Kind("allreduce", "0", 1024);
  const CallsOfRank copied = EqualCalls(1, 4);
  for (const CollectiveCall& call : copied.digest().calls)
    more[3].Call(kind, call.ts_ns / 1000, call.dur_ns / 1000);
  const JointTimeline joint = JoinRanks(more);
  CHECK(joint.collectives.size() == plain.collectives.size());
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(joint.ranks[rank].wait_ns == plain.ranks[rank].wait_ns);
    CHECK(joint.ranks[rank].transfer_ns == plain.ranks[rank].transfer_ns);
    CHECK(joint.ranks[rank].came_last == plain.ranks[rank].came_last);
  }
  CHECK(joint.ranks[3].wait_ns == joint.ranks[1].wait_ns);
}

}  // namespace
}  // namespace jarvis::analysis
