#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tools/ranks/balance_words.h"
#include "tools/ranks/job_kind.h"
#include "tools/ranks/rank_workload.h"
#include "tools/ranks/transfer_paths.h"

namespace jarvis::tools {
namespace {

// Two ranks that know one communication kernel each, and what is known of the workload.
struct AdvisedJob {
  AdvisedJob(analysis::CommFamily family, const std::string& kernel, const std::string& line,
             bool training = false) {
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      analysis::RankDigest digest;
      digest.rank = rank;
      digest.kinds.emplace_back().kernel = kernel;
      set.ranks.push_back(std::move(digest));
    }
    joint.families.push_back({family, 1, 1'000'000, {1'000'000, 1'000'000}});
    story.ranks.resize(2);
    workload.line = line;
    workload.training = training;
  }
  JobView view() const { return {set, joint, story, &workload}; }
  JobKind kind() const { return JobKindOf(view()); }
  PathTexts balance() const {
    return BalancePaths(view(), {analysis::LeverKind::kBalance, 0, {0, 1}, 2'000'000, {}});
  }

  analysis::RankSet set;
  analysis::JointTimeline joint;
  analysis::JobStory story;
  RankWorkload workload;
};

constexpr auto kExchange = analysis::CommFamily::kExchange;
constexpr auto kReduce = analysis::CommFamily::kAllReduce;
constexpr const char* kDeepEp = "void deep_ep::internode_ll::combine<3, 10>(void*)";
constexpr const char* kSendRecv = "ncclDevKernel_SendRecv(ncclDevComm*)";

TEST_CASE("what ranks divide is told by their kernels, then by the workload") {
  CHECK(AdvisedJob(kExchange, kDeepEp, "").kind() == JobKind::kExperts);
  CHECK(AdvisedJob(kExchange, kSendRecv, "mixture-of-experts transformer").kind() ==
        JobKind::kExperts);
  CHECK(AdvisedJob(kExchange, kSendRecv, "recommendation model (DLRM-like)").kind() ==
        JobKind::kEmbeddings);
  CHECK(AdvisedJob(kReduce, "ncclDevKernel_AllReduce", "tensor parallel 8").kind() ==
        JobKind::kTensor);
  // Experts that every rank has a part of exchange no tokens.
  CHECK(AdvisedJob(kReduce, "ncclDevKernel_AllReduce", "mixture-of-experts transformer", true)
            .kind() == JobKind::kData);
  CHECK(AdvisedJob(kReduce, "ncclDevKernel_AllReduce", "transformer").kind() == JobKind::kUnknown);
}

TEST_CASE("advice to balance is of what the job divides, never a list of all") {
  const auto b = [](const AdvisedJob& job) { return job.balance().b; };
  CHECK(b(AdvisedJob(kExchange, kDeepEp, "")).find("--enable-eplb") != std::string::npos);
  CHECK(b(AdvisedJob(kExchange, kSendRecv, "dlrm")).find("tables") != std::string::npos);
  CHECK(b(AdvisedJob(kReduce, "AllReduce", "", true)).find("equal batches") != std::string::npos);
  CHECK(b(AdvisedJob(kReduce, "AllReduce", "tensor parallel 8")).find("equal shards") !=
        std::string::npos);
  const std::string unknown = b(AdvisedJob(kReduce, "AllReduce", ""));
  for (const char* word : {"tables", "experts", "batch", "length"})
    CHECK(unknown.find(word) == std::string::npos);
}

TEST_CASE("an exchange that sends to ranks with tokens alone is not told to do so") {
  const auto a = [](const AdvisedJob& job) { return TransferPaths(job.view()).paths.a; };
  const std::string low_latency = a(AdvisedJob(kExchange, kDeepEp, ""));
  CHECK(low_latency.find("allow_nvlink_for_low_latency_mode") != std::string::npos);
  CHECK(low_latency.find("tokens alone") == std::string::npos);
  const std::string within =
      a(AdvisedJob(kExchange, "void deep_ep::intranode::dispatch<8>(int4*)", ""));
  CHECK(within.find("`intranode`: NVLink") != std::string::npos);
  CHECK(within.find("allow_nvlink") == std::string::npos);
  CHECK(
      a(AdvisedJob(kExchange, kSendRecv, "mixture-of-experts transformer")).find("tokens alone") !=
      std::string::npos);
}

}  // namespace
}  // namespace jarvis::tools
