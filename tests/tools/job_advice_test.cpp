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
  CHECK(b(AdvisedJob(kExchange, kDeepEp, "")).find("balancing of experts: ") != std::string::npos);
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

TEST_CASE("switches are those of the engine that is recorded") {
  const auto b = [](const char* framework) {
    AdvisedJob job(kExchange, kDeepEp, "mixture-of-experts transformer");
    job.workload.framework = framework;
    return job.balance().b + TransferPaths(job.view()).paths.b;
  };
  CHECK(b("vLLM").find("--enable-eplb") != std::string::npos);
  CHECK(b("vLLM").find("--enable-dbo") != std::string::npos);
  CHECK(b("vLLM").find("two-batch") == std::string::npos);
  CHECK(b("SGLang").find("--enable-two-batch-overlap") != std::string::npos);
  CHECK(b("LightLLM").find("--enable_decode_microbatch_overlap") != std::string::npos);
  CHECK(b("").find("--") == std::string::npos);
}

// Ranks that wait `exposed` ms for communication and compute `compute` ms.
AdvisedJob WithLedgers(AdvisedJob job, double exposed, double compute) {
  const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * 1e6); };
  for (analysis::RankDigest& digest : job.set.ranks) {
    analysis::RankLedger& ledger = digest.ledger.emplace();
    ledger.base_ns = ns(exposed + compute);
    ledger.compute_ns = ns(compute);
    ledger.exposed = {{0, ns(exposed)}};
  }
  return job;
}

TEST_CASE("two batches hide what computes beside them, less the weights that are read twice") {
  const auto bound = [](const char* kernel, bool training, double exposed, double products) {
    AdvisedJob job =
        WithLedgers(AdvisedJob(kExchange, kernel, "mixture-of-experts", training), exposed, 46);
    job.workload.products_ms = products;
    return TransferPaths(job.view()).bounds.b;
  };
  // 103 ms in a row become the longer of 82 and 57.
  REQUIRE(bound(kDeepEp, false, 57, 36).has_value());
  CHECK(*bound(kDeepEp, false, 57, 36) == doctest::Approx(21));
  CHECK(*bound(kDeepEp, false, 30, 36) == 0);
  CHECK_FALSE(bound(kDeepEp, false, 57, 0).has_value());
  // Many rows a batch: no weights to read twice, and no more than is computed.
  const char* const many = "void deep_ep::intranode::combine<3>(void*)";
  CHECK(*bound(many, true, 57, 36) == doctest::Approx(46));
  CHECK(*bound(many, true, 20, 36) == doctest::Approx(20));
}

TEST_CASE("what annotations show to be on is no advice, and what is not sized has no figure") {
  AdvisedJob job(kExchange, kSendRecv, "dlrm", true);
  CHECK(TransferPaths(job.view()).paths.b.find("TrainPipelineSparseDist:") != std::string::npos);
  CHECK(TransferPaths(job.view()).paths.a.find("qcomms") != std::string::npos);
  CHECK(TransferPaths(job.view()).bounds.a.has_value());
  job.workload.marks = {"## decoder fp16 None ##", "## wait_sparse_data_dist ##"};
  CHECK(TransferPaths(job.view()).paths.b.find("TrainPipelineSemiSync") != std::string::npos);
  CHECK(TransferPaths(job.view()).paths.a.find("qcomms") == std::string::npos);
  CHECK_FALSE(TransferPaths(job.view()).bounds.a.has_value());
  // An annotation of something else changes nothing.
  job.workload.marks = {"## forward ##"};
  CHECK(TransferPaths(job.view()).paths.a.find("qcomms") != std::string::npos);
}

}  // namespace
}  // namespace jarvis::tools
