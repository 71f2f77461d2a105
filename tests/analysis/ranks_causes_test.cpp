#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/ranks/lone_rank.h"
#include "analysis/ranks/rank_causes.h"
#include "analysis/ranks/rank_replay.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::TraceText;

constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_f16_RING_LL";

// One rank's trace: ops with kernels, times in microseconds.
class RankTrace {
 public:
  // An op of 20 us whose launch is 5 us in; the kernel starts `lag` after the launch.
  RankTrace& Work(std::string_view op, double ts, std::string_view kernel, double lag, double dur,
                  std::string_view args = {}, int stream = 7) {
    ++id_;
    text_.Op(op, ts, 20).Runtime("cudaLaunchKernel", ts + 5, 5, id_);
    text_.Kernel(kernel, ts + 5 + lag, dur, id_, stream, args);
    return *this;
  }
  // An op whose launch takes `call` from `ts` on; the kernel starts at `start`.
  RankTrace& Launch(std::string_view op, double ts, double call, std::string_view kernel,
                    double start, double dur) {
    ++id_;
    text_.Op(op, ts - 5, call + 10).Runtime("cudaLaunchKernel", ts, call, id_);
    text_.Kernel(kernel, start, dur, id_, 7);
    return *this;
  }
  RankTrace& Annotation(std::string_view name, double ts, double dur) {
    text_.Annotation(name, ts, dur);
    return *this;
  }
  RankTrace& Op(std::string_view name, double ts, double dur) {
    text_.Op(name, ts, dur);
    return *this;
  }

  RankDigest Digest(std::int64_t rank) const {
    Job job;
    const testing::Loaded loaded = testing::Load(text_);
    auto made = DigestTrace(loaded.trace, loaded.tree, job);
    REQUIRE(made.has_value());
    REQUIRE(made->size() == 1);
    made->front().rank = rank;
    made->front().source = fmt::format("rank{}.json", rank);
    return made->front();
  }

 private:
  TraceText text_;
  int id_ = 0;
};

struct Judged {
  RankSet set;
  JointTimeline joint;
  JobStory story;
};

Judged Judge(std::vector<RankDigest> digests) {
  Judged judged;
  judged.set = ResolveRanks(std::move(digests));
  judged.joint = JoinCollectives(judged.set);
  judged.story = TellJob(judged.set, judged.joint);
  // Whatever the ranks, the parts make up the whole, and nothing changed replays as recorded.
  for (const RankCommTime& of : judged.joint.ranks)
    CHECK(of.wait_ns + of.transfer_ns + of.unmatched_ns == of.comm_ns);
  if (judged.story.replayed) CHECK(judged.story.replay_error_ns == 0);
  return judged;
}

std::int64_t Lost(const Judged& judged, std::size_t rank, LateCause cause) {
  return judged.story.ranks[rank].lost_by[static_cast<std::size_t>(cause)];
}

// Five rounds: a product, then an AllReduce whose transfer takes 100 us. From round 2 on the rank
// launches it late by `late`, and the last of all ranks starts late by `latest`.
RankTrace Rounds(double late, double latest, double product = 300) {
  RankTrace trace;
  double at = 0;
  for (int round = 0; round < 5; ++round) {
    const double own = round < 2 ? 0 : late;
    const double last = round < 2 ? 0 : latest;
    trace.Work("aten::mm", at, "gemm", 10, product);
    trace.Work("c10d::allreduce_", at + 400 + own, kReduce, 10, last - own + 100);
    at += 1000 + (round < 2 ? 0 : 5000);
  }
  return trace;
}

TEST_CASE("a rank whose host stands at one place is the cause, the busy ones are victims") {
  const Judged judged =
      Judge({Rounds(4000, 4000).Digest(0), Rounds(0, 4000).Digest(1), Rounds(0, 4000).Digest(2)});
  REQUIRE(judged.joint.collectives.size() == 5);
  CHECK(judged.story.ranks[0].role == RankRole::kCause);
  CHECK(judged.story.ranks[1].role == RankRole::kVictim);
  CHECK(judged.story.ranks[0].came_last == 3);
  CHECK(judged.story.lost_ns == 12'000'000);
  CHECK(judged.joint.ranks[1].wait_ns == 12'000'000);
  CHECK(judged.joint.ranks[1].transfer_ns == 500'000);
  CHECK(judged.joint.ranks[0].wait_ns == 0);
  CHECK(Lost(judged, 0, LateCause::kStall) == 12'000'000);
  REQUIRE(judged.story.stalls.size() == 1);
  const HostStall& stall = judged.story.stalls[0];
  CHECK(stall.before == "aten::mm");
  CHECK(stall.after == "c10d::allreduce_");
  CHECK(stall.place == HostPlace::kEmpty);
  CHECK(stall.times == 3);
  CHECK(stall.typical_ns == 4'380'000);
  CHECK(stall.next == CommFamily::kAllReduce);
  REQUIRE(!judged.story.levers.empty());
  CHECK(judged.story.levers[0].kind == LeverKind::kStall);
  // The rounds of the others are 6 ms apart whatever rank 0 does: the last round alone is shorter.
  CHECK(judged.story.levers[0].saved_ns >= 3'900'000);
  CHECK(judged.story.levers[0].saved_ns <= 4'400'000);
}

// The annotation of the only long stop, from 0.1 to 30.1 ms, of a trace with two of them.
std::string AnnotationOfStop(double inner_begin) {
  RankTrace trace;
  trace.Annotation("step", 0, 40'000).Annotation("sparse", inner_begin, 35'000);
  trace.Work("aten::mm", 80, "gemm", 10, 20).Work("c10d::allreduce_", 30'100, kReduce, 10, 100);
  const RankDigest digest = trace.Digest(0);
  REQUIRE(digest.facts);
  // Beside the stop there are the pieces before and after the work.
  const auto& pieces = digest.facts->pieces;
  const auto stop =
      std::max_element(pieces.begin(), pieces.end(),
                       [](const auto& a, const auto& b) { return a.dur_ns < b.dur_ns; });
  REQUIRE(stop != pieces.end());
  return digest.facts->names[stop->annotation];
}

TEST_CASE("a long stop has the innermost annotation around it") {
  CHECK(AnnotationOfStop(50) == "sparse");
  CHECK(AnnotationOfStop(31'000) == "step");
}

// What an AllReduce hung on whose product's launch took `call`: the product starts 3 ms after that
// launch began, and the AllReduce lies in the queue behind it.
std::optional<std::int64_t> AnchorBehindLaunchOf(double call) {
  RankTrace trace;
  trace.Launch("c10d::allreduce_", 10, 5, kReduce, 20, 100);
  trace.Launch("aten::mm", 400, call, "gemm", 3400, 500);
  trace.Launch("c10d::allreduce_", 3450, 5, kReduce, 3901, 100);
  const RankDigest digest = trace.Digest(0);
  REQUIRE(digest.facts);
  REQUIRE(digest.facts->arrivals.size() == 2);
  return digest.facts->arrivals[1].anchor_ns;
}

TEST_CASE("a launch that takes long is waited for, one that is done long before is in a queue") {
  const auto long_call = AnchorBehindLaunchOf(2990);
  REQUIRE(long_call);
  CHECK(*long_call == 400'000);
  CHECK_FALSE(AnchorBehindLaunchOf(5));
}

TEST_CASE("a rank that has more to compute is late by that") {
  // Its collective is launched in time and starts when the longer product is done.
  RankTrace heavy;
  double at = 0;
  for (int round = 0; round < 5; ++round) {
    const double own = round < 2 ? 0 : 2000;
    heavy.Work("aten::mm", at, "gemm", 10, 390 + own);
    heavy.Work("c10d::allreduce_", at + 400, kReduce, 10 + own, 100);
    at += 1000 + (round < 2 ? 0 : 5000);
  }
  const Judged judged =
      Judge({heavy.Digest(0), Rounds(0, 2000, 390).Digest(1), Rounds(0, 2000, 390).Digest(2)});
  CHECK(judged.story.ranks[0].role == RankRole::kCause);
  CHECK(Lost(judged, 0, LateCause::kCompute) == 6'000'000);
  CHECK(judged.story.stalls.empty());
  REQUIRE(!judged.story.levers.empty());
  CHECK(judged.story.levers[0].kind == LeverKind::kBalance);
}

// Twelve rounds of some ranks, whose hosts have launched all before: a product of so many
// microseconds, then an AllReduce of 100 us, for which all wait for the last.
template <typename Product>
Judged JudgeProducts(int ranks, const Product& product) {
  constexpr int kRounds = 12;
  std::vector<RankDigest> digests;
  for (int rank = 0; rank < ranks; ++rank) {
    RankTrace trace;
    double gpu = 2000;  // the host has launched all by then
    for (int round = 0; round < kRounds; ++round) {
      double longest = 0;
      for (int other = 0; other < ranks; ++other)
        longest = std::max(longest, product(other, round));
      const double own = product(rank, round);
      const double host = 100 * round;
      trace.Work("aten::mm", host, "gemm", gpu - host - 5, own);
      trace.Work("c10d::allreduce_", host + 50, kReduce, gpu + own - host - 55,
                 longest - own + 100);
      gpu += longest + 100;
    }
    digests.push_back(trace.Digest(rank));
  }
  return Judge(std::move(digests));
}

// Four ranks, whose product takes 2 ms and up to `noise` of it more, whoever it is; `slow` more on
// rank 3.
Judged JudgeRounds(double noise, double slow) {
  return JudgeProducts(4, [&](int rank, int round) {
    const double part = (rank * 37 + round * 23 + rank * round * 11) % 100 / 100.0;
    return 2000 * (1 + noise * part + (rank == 3 ? slow : 0));
  });
}

TEST_CASE("a rank is named where it stands out, and never all of them") {
  const auto balance = [](const Judged& judged) {
    const auto& levers = judged.story.levers;
    const auto found = std::find_if(levers.begin(), levers.end(), [](const JobLever& lever) {
      return lever.kind == LeverKind::kBalance;
    });
    return found == levers.end() ? std::vector<std::size_t>() : found->ranks;
  };
  const auto causes = [](const Judged& judged) {
    return std::count_if(judged.story.ranks.begin(), judged.story.ranks.end(),
                         [](const RankStory& of) { return of.role == RankRole::kCause; });
  };
  const Judged equal = JudgeRounds(0, 0);
  CHECK(balance(equal).empty());
  CHECK(causes(equal) == 0);
  CHECK(equal.story.lost_ns == 0);
  // The last one changes: the lever is of all, and no rank is named.
  const Judged noisy = JudgeRounds(0.2, 0);
  CHECK(balance(noisy) == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(causes(noisy) == 0);
  // A hundredth more is lost in that noise.
  const Judged within = JudgeRounds(0.2, 0.01);
  CHECK(balance(within) == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(causes(within) == 0);
  const Judged slow = JudgeRounds(0.2, 0.5);
  CHECK(balance(slow) == std::vector<std::size_t>{3});
  CHECK(causes(slow) == 1);
  CHECK(slow.story.ranks[3].role == RankRole::kCause);
}

TEST_CASE("what others compute beside their wait is no less work than the late rank's") {
  // All compute the same beside the call: the late rank after it, as its call is short, the others
  // while they wait in it.
  const auto rank = [](bool late) {
    RankTrace trace;
    double at = 0;
    for (int round = 0; round < 5; ++round) {
      const double stop = late ? 3000 : 0;
      trace.Op(fmt::format("aten::before{}", round), at, 20);
      trace.Work("c10d::allreduce_", at + 30 + stop, kReduce, 10, late ? 100 : 3100);
      trace.Work("aten::mm", at + 60 + stop, "gemm", 100, 500, {}, 8);
      at += 5000;
    }
    return trace;
  };
  const Judged judged = Judge({rank(true).Digest(0), rank(false).Digest(1), rank(false).Digest(2)});
  CHECK(judged.story.ranks[0].role == RankRole::kCause);
  CHECK(Lost(judged, 0, LateCause::kCompute) == 0);
}

// Rounds of three collectives on one stream. Rank 0 stops before the first; the others compute
// beside their wait for it what rank 0 computes only before the third. `beside`: or they do not,
// and have less of that work.
Judged JudgeBuckets(bool beside) {
  const auto rank = [&](bool late) {
    RankTrace trace;
    double at = 0;
    for (int round = 0; round < 5; ++round) {
      const double stop = 3000;
      trace.Op(fmt::format("aten::before{}", round), at, 20);
      trace.Work("c10d::first", at + 30 + (late ? stop : 0), kReduce, 10, late ? 100 : stop + 100);
      if (late || beside)
        trace.Work("aten::mm", at + 60 + (late ? stop + 90 : 0), "gemm", 10, 1500, {}, 8);
      trace.Work("c10d::second", at + 180 + stop, kReduce, 10, 20);
      // The host launches it early; the GPU comes to it when the product is done.
      trace.Work("c10d::third", at + 220 + stop, kReduce, late ? 1510 : 10, late ? 100 : 1600);
      at += 8000;
    }
    return trace;
  };
  return Judge({rank(true).Digest(0), rank(false).Digest(1), rank(false).Digest(2)});
}

TEST_CASE("what others computed beside an earlier call is no more work of the late rank") {
  const Judged ahead = JudgeBuckets(true);
  REQUIRE(ahead.story.ranks[0].role == RankRole::kCause);
  CHECK(Lost(ahead, 0, LateCause::kCompute) == 0);
  CHECK(Lost(ahead, 0, LateCause::kAhead) > 0);
  const Judged more = JudgeBuckets(false);
  CHECK(Lost(more, 0, LateCause::kCompute) > 5'000'000);
  CHECK(Lost(more, 0, LateCause::kAhead) == 0);
}

TEST_CASE(
    "a rank that computes more before one collective and less before another has more there") {
  // All compute as much in all; nothing runs beside a call, so that no work has moved.
  const Judged judged = JudgeProducts(4, [](int rank, int round) {
    const bool own = rank == 0 && round % 3 == 1;
    const bool others = rank != 0 && round % 3 == 2;
    return 2000.0 + (own || others ? 1000 : 0);
  });
  CHECK(Lost(judged, 0, LateCause::kCompute) == 4'000'000);
  CHECK(Lost(judged, 0, LateCause::kAhead) == 0);
}

// Ops of 30 us at 59 places; every fortieth takes `missing` microseconds more. `ends`: of the
// collectives, one for each hundred ops.
RankTrace Scattered(double missing, int seed, const std::vector<double>& ends,
                    std::vector<double>* starts) {
  RankTrace trace;
  double at = 0;
  for (int i = 0; i < 1200; ++i) {
    const bool lost = (i * 7 + seed) % 40 == 0;
    const double dur = 30 + (lost ? missing : 0);
    trace.Op(fmt::format("aten::op{}", i % 59), at, dur);
    at += dur + 2;
    if (i % 100 != 99) continue;
    const double start = at + 15;
    const std::size_t which = starts->size();
    starts->push_back(start);
    trace.Work("c10d::allreduce_", at, kReduce, 10, which < ends.size() ? ends[which] - start : 0);
    at += 30;
  }
  return trace;
}

TEST_CASE("pieces missing all over are a processor that is not there") {
  std::vector<double> ends(12);  // 50 us after the last start
  for (int rank = 0; rank < 3; ++rank) {
    std::vector<double> starts;
    Scattered(3000, rank * 11, {}, &starts);
    for (std::size_t i = 0; i < ends.size(); ++i)
      ends[i] = std::max(ends[i], starts[i] + 50);
  }
  std::vector<RankDigest> digests;
  for (int rank = 0; rank < 3; ++rank) {
    std::vector<double> starts;
    digests.push_back(Scattered(3000, rank * 11, ends, &starts).Digest(rank));
  }
  const Judged judged = Judge(std::move(digests));
  CHECK(judged.story.starved_ranks == 3);
  // 30 pieces of 3 ms beyond the usual of such a stretch; what follows the last collective counts
  // for nothing.
  CHECK(judged.story.ranks[0].starved_times == 30);
  CHECK(judged.story.ranks[0].starved_ns == 30 * 3'000'000);
  REQUIRE(!judged.story.levers.empty());
  CHECK(judged.story.levers[0].kind == LeverKind::kStarvedAll);
  CHECK(judged.story.levers[0].ranks.size() == 3);
  // The hosts need 1,200 x 32 us and 12 x 30; with the processor that is what the job takes.
  CHECK(judged.story.wall_ns - judged.story.levers[0].saved_ns < 45'000'000);
  CHECK(judged.story.wall_ns - judged.story.levers[0].saved_ns > 38'000'000);
}

// Calls alone, without a host: kernels by name and time in microseconds.
struct KernelCall {
  const char* kernel;
  double ts;
  double dur;
};
RankDigest CallsOf(std::int64_t rank, const std::vector<KernelCall>& calls) {
  TraceText text;
  int id = 0;
  for (const KernelCall& call : calls)
    text.Kernel(call.kernel, call.ts, call.dur, ++id);
  Job job;
  const testing::Loaded loaded = testing::Load(text);
  auto made = DigestTrace(loaded.trace, loaded.tree, job);
  REQUIRE(made.has_value());
  made->front().rank = rank;
  return made->front();
}

constexpr const char* kSend = "ncclDevKernel_SendRecv(ncclDevComm*, unsigned long, ncclWork*)";

TEST_CASE("what was recorded by one rank alone is unmatched, at either end") {
  const Judged judged = Judge(
      {CallsOf(0, {{kSend, 0, 10}, {kReduce, 100, 10}, {kSend, 250, 60}, {kReduce, 400, 20}}),
       CallsOf(1, {{kReduce, 90, 20}, {kSend, 200, 110}, {kReduce, 405, 15}, {kSend, 900, 7}})});
  REQUIRE(judged.joint.collectives.size() == 3);
  CHECK(judged.joint.ranks[0].unmatched == 1);
  CHECK(judged.joint.ranks[0].unmatched_ns == 10'000);
  CHECK(judged.joint.ranks[1].unmatched == 1);
  CHECK(judged.joint.ranks[1].unmatched_ns == 7'000);
  CHECK(judged.joint.ranks[1].wait_ns == 60'000);
  CHECK(judged.joint.ranks[0].wait_ns == 5'000);
}

TEST_CASE("calls are matched by when they end, whatever the clocks count from") {
  std::vector<KernelCall> calls;
  std::vector<KernelCall> later;
  for (int i = 0; i < 40; ++i) {
    const double at = i * 1000 + (i * i) % 37 * 10;
    calls.push_back({kReduce, at, 100});
    // 5 ms behind, and without the first two and one in the middle.
    if (i > 1 && i != 20) later.push_back({kReduce, at + 5000 + 30, 70});
  }
  const Judged judged = Judge({CallsOf(0, calls), CallsOf(1, later)});
  CHECK(judged.joint.collectives.size() == 37);
  CHECK(judged.joint.ranks[0].unmatched == 3);
  CHECK(judged.joint.ranks[0].wait_ns == 37 * 30'000);
  CHECK(judged.joint.ranks[1].wait_ns == 0);
}

TEST_CASE("one rank: a few bytes that take long look like waiting") {
  TraceText text;
  const std::string tiny =
      R"("Collective name":"_allgather_base","In msg nelems":8,"Out msg nelems":16,)"
      R"("Group size":2,"dtype":"Long","Process Group Name":"0","Process Group Ranks":"[0, 1]")";
  for (int i = 0; i < 4; ++i)
    text.Kernel("ncclDevKernel_AllGather_RING_LL", i * 1000, 400, i + 1, 7, tiny);
  Job job;
  const testing::Loaded loaded = testing::Load(text);
  const auto made = DigestTrace(loaded.trace, loaded.tree, job);
  REQUIRE(made.has_value());
  const std::vector<LoneKind> kinds = LookAtLoneRank(made->front());
  REQUIRE(kinds.size() == 1);
  CHECK(kinds[0].sign == WaitSign::kTiny);
  CHECK(kinds[0].bytes == 128);
  CHECK(kinds[0].excess_ns == 4 * (400'000 - 30'000));
  const Judged judged = Judge({made->front()});
  CHECK(judged.joint.collectives.empty());
  CHECK(judged.story.levers.empty());
}

TEST_CASE("communication is known by its kernels, whatever library they are of") {
  CHECK(CommFamilyOfKernel(kSend) == CommFamily::kExchange);
  CHECK(CommFamilyOfKernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)") ==
        CommFamily::kOther);
  CHECK(
      CommFamilyOfKernel("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16>") ==
      CommFamily::kAllReduce);
  CHECK(CommFamilyOfKernel("void vllm::cross_device_reduce_2stage<__half, 8>") ==
        CommFamily::kAllReduce);
  CHECK(CommFamilyOfKernel("void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel") ==
        CommFamily::kAllReduce);
  CHECK(CommFamilyOfKernel("_mxfp8_all_to_all_expert_major_kernel") == CommFamily::kExchange);
  CHECK(CommFamilyOfKernel("_combine_all_to_all_kernel") == CommFamily::kExchange);
  CHECK(CommFamilyOfKernel("void deep_ep::intranode::dispatch<4, 768>") == CommFamily::kExchange);
  for (const char* local :
       {"void cub::DeviceReduceByKeyKernel<cub::DispatchReduceByKey<long*>>", "gemm",
        "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits>",
        "groupnorm_kernel_dispatch_up", "_combined_routing_compute",
        "_precompute_combine_offsets_kernel", "void at::native::reduce_kernel<512, 1>"})
    CHECK_MESSAGE(!CommFamilyOfKernel(local), local);
}

}  // namespace
}  // namespace jarvis::analysis
