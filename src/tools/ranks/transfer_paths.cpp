#include "tools/ranks/transfer_paths.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/number_text.h"
#include "tools/ranks/job_figures.h"
#include "tools/ranks/job_kind.h"
#include "tools/ranks/later_levers.h"
#include "tools/ranks/rank_workload.h"

namespace jarvis::tools {

namespace {

using analysis::CommFamily;

constexpr double kHalf = 0.5;

// What overlaps in Megatron is Transformer Engine's.
std::string MegatronFlags(bool megatron, bool transformer_engine) {
  if (!megatron) return "";
  return transformer_engine ? " (`--sequence-parallel --tp-comm-overlap`)"
                            : " (`--sequence-parallel`; its overlap needs Transformer Engine)";
}

class WaysFinder {
 public:
  explicit WaysFinder(const JobView& job)
      : job_(job),
        room_(RoomToOverlap(job)),
        transfer_ms_(MillisOf(ExposedTransfer(job))),
        family_ms_(transfer_ms_ * ShareOfBusiest(job)) {}

  TransferWays Run() const {
    switch (BusiestFamily(job_).value_or(CommFamily::kOther)) {
      case CommFamily::kExchange: return Exchange();
      case CommFamily::kAllReduce: return AllReduce();
      case CommFamily::kReduceScatter:
      case CommFamily::kAllGather: return Shards();
      case CommFamily::kPointToPoint:
        return {{"send and receive beside the computing of another microbatch" +
                     std::string(Has("megatron") ? " (`--overlap-p2p-communication`)" : ""),
                 "batched, asynchronous sends and receives (`batch_isend_irecv`), waited for where "
                 "the data is used"},
                {.b = Beside(family_ms_), .a = {}}};
      default: break;
    }
    return {
        {"issue it earlier, beside work that does not need its result", "fewer or narrower bytes"},
        {}};
  }

 private:
  bool Has(std::string_view part) const { return SpeaksOf(job_, part); }

  static double ShareOfBusiest(const JobView& job) {
    double all = 0;
    double most = 0;
    for (const analysis::FamilyTime& family : job.joint.families) {
      if (family.family == CommFamily::kBarrier) continue;
      all += static_cast<double>(family.shortest_ns);
      most = std::max(most, static_cast<double>(family.shortest_ns));
    }
    return all > 0 ? most / all : 0;
  }

  // At most what is computed at all can run beside it. Absent: no ledgers.
  std::optional<double> Beside(double ms) const {
    return room_.compute_ms > 0 ? std::optional(std::min(ms, room_.compute_ms)) : std::nullopt;
  }

  TransferWays Exchange() const {
    if (JobKindOf(job_) == JobKind::kEmbeddings) return Embeddings();
    if (JobKindOf(job_) == JobKind::kExperts) return Experts();
    return {{"issue the all_to_all asynchronously and compute what does not need it meanwhile",
             "fewer or narrower bytes"},
            {.b = Beside(family_ms_), .a = {}}};
  }

  // What the annotations of TorchRec show to be on is no advice.
  TransferWays Embeddings() const {
    TransferWays ways;
    ways.paths.b =
        HasMark(job_, "sparse_data_dist")
            ? "TorchRec's TrainPipelineSemiSync: the next batch's embeddings are looked up and "
              "exchanged beside this batch's dense part, one update late (TrainPipelineSparseDist "
              "is on)"
            : "TorchRec's TrainPipelineSparseDist: the next batch's input distribution beside "
              "this batch's dense part";
    ways.bounds.b = Beside(family_ms_);
    if (HasMark(job_, "coder fp16") || HasMark(job_, "coder bf16")) {
      ways.paths.a =
          "embeddings are sent in 16 bits already: shard the tables so that fewer rows cross ranks";
      return ways;
    }
    ways.paths.a =
        "send embeddings in fp16 or bf16 (TorchRec qcomms): half the bytes, less a cast before and "
        "after each exchange, which nothing recorded sizes";
    ways.bounds.a = kHalf * family_ms_;
    return ways;
  }

  // DeepEP's kernels, by the part of the library that their names have, send to ranks that have
  // tokens alone, and its dispatch may send fp8: what is left is the way, and what runs beside it.
  TransferWays Experts() const {
    TransferWays ways;
    ways.paths.b = fmt::format(
        "two micro-batches, so that one's dispatch and combine run beside the other's experts{}",
        EngineSwitch(job_, EngineFeature::kTwoBatches));
    ways.bounds.b = TwoBatches(&ways.paths.b);
    if (HasCommKernel(job_, "internode_ll")) {
      ways.paths.a =
          "send over NVLink within a node: `internode_ll` sends over RDMA, and between GPUs of one "
          "node over NVLink only where DeepEP's Buffer has "
          "`allow_nvlink_for_low_latency_mode=True`";
    } else if (HasCommKernel(job_, "internode") || HasCommKernel(job_, "intranode") ||
               HasCommKernel(job_, "deep_ep")) {
      ways.paths.a =
          "look which way the tokens go (`intranode`: NVLink; `internode`: RDMA between nodes) "
          "and place experts so that most stay within the node";
    } else {
      ways.paths.a =
          "an exchange that sends to ranks with tokens alone and in fp8 (DeepEP, or the "
          "like), over NVLink within a node";
    }
    // A link without any time leaves what is no matter of the link.
    if (LoadOfTransfers(job_) != nullptr)
      ways.bounds.a = std::max(0.0, family_ms_ - SpreadTransfer(job_));
    return ways;
  }

  // Communication beside the other batch's computation leaves the longer of the two. Both batches
  // read all weights where few rows make products bound by them, so computation grows by these.
  std::optional<double> TwoBatches(std::string* words) const {
    const std::optional<double> hidden = Beside(room_.exposed_ms);
    if (!hidden || job_.workload == nullptr) return std::nullopt;
    const bool few_rows = !job_.workload->training && (HasCommKernel(job_, "_ll") || Has("decode"));
    if (!few_rows) return hidden;
    const double again = job_.workload->products_ms;
    if (!(again > 0)) return std::nullopt;
    *words += fmt::format(
        "; each reads all weights, so {} ms of GEMMs run twice [inferred: few tokens a batch]",
        MsDigits(again));
    return std::max(0.0, std::min(room_.exposed_ms - again, room_.compute_ms));
  }

  TransferWays AllReduce() const {
    const bool training = job_.workload != nullptr && job_.workload->training;
    if (Has("tensor parallel") || !training) {
      return {{"sequence parallelism (ReduceScatter and AllGather instead) that overlaps with the "
               "products" +
                   MegatronFlags(Has("megatron"), Has("transformer engine")),
               "split the product before each AllReduce in two and reduce the first half while the "
               "second computes"},
              {.b = Beside(family_ms_), .a = kHalf * Beside(family_ms_).value_or(family_ms_)}};
    }
    return {{"DistributedDataParallel: smaller first buckets (`bucket_cap_mb`), "
             "`gradient_as_bucket_view=True`, `static_graph=True`",
             "reduce gradients in bf16 (a communication hook): half the bytes"},
            {.b = {}, .a = kHalf * family_ms_}};
  }

  TransferWays Shards() const {
    // Shards of parameters are gathered ahead in training alone.
    if ((job_.workload != nullptr && job_.workload->training) || Has("fsdp")) {
      return {{"prefetch shards (FSDP: `backward_prefetch`, `forward_prefetch`), wrap layers so "
               "that each has enough to compute",
               "gather in a narrower format"},
              {.b = Beside(family_ms_), .a = {}}};
    }
    return {{"issue it asynchronously (`async_op=True`), beside work that does not need its result",
             "gather in a narrower format"},
            {.b = Beside(family_ms_), .a = {}}};
  }

  const JobView& job_;
  OverlapRoom room_;
  double transfer_ms_;
  double family_ms_;  // of the busiest family
};

}  // namespace

std::optional<CommFamily> BusiestFamily(const JobView& job) {
  const analysis::FamilyTime* most = nullptr;
  for (const analysis::FamilyTime& family : job.joint.families) {
    // A barrier moves nothing.
    if (family.family == CommFamily::kBarrier) continue;
    if (most == nullptr || family.shortest_ns > most->shortest_ns) most = &family;
  }
  return most == nullptr ? std::nullopt : std::optional(most->family);
}

const analysis::LateKernel* LoadOfTransfers(const JobView& job) {
  constexpr double kFollows = 0.7;
  const auto& kernels = job.story.late_kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& kernel) {
    return kernel.family == BusiestFamily(job) && kernel.transfer_follows >= kFollows;
  });
  return found == kernels.end() ? nullptr : &*found;
}

TransferWays TransferPaths(const JobView& job) {
  return WaysFinder(job).Run();
}

}  // namespace jarvis::tools
