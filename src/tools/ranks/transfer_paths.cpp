#include "tools/ranks/transfer_paths.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace jarvis::tools {

namespace {

constexpr double kHalfTheBytes = 0.5;

// What overlaps in Megatron is Transformer Engine's.
std::string MegatronFlags(bool megatron, bool transformer_engine) {
  if (!megatron) return "";
  return transformer_engine ? " (`--sequence-parallel --tp-comm-overlap`)"
                            : " (`--sequence-parallel`; its overlap needs Transformer Engine)";
}

}  // namespace

std::optional<analysis::CommFamily> BusiestFamily(const JobView& job) {
  const analysis::FamilyTime* most = nullptr;
  for (const analysis::FamilyTime& family : job.joint.families) {
    // A barrier moves nothing.
    if (family.family == analysis::CommFamily::kBarrier) continue;
    if (most == nullptr || family.shortest_ns > most->shortest_ns) most = &family;
  }
  return most == nullptr ? std::nullopt : std::optional(most->family);
}

TransferWays TransferPaths(const JobView& job, const RankWorkload* workload) {
  using analysis::CommFamily;
  const CommFamily family = BusiestFamily(job).value_or(CommFamily::kOther);
  const auto has = [&](std::string_view part) {
    return workload != nullptr &&
           (ContainsNoCase(workload->line, part) || ContainsNoCase(workload->framework, part));
  };
  const bool training = workload != nullptr && workload->training;
  switch (family) {
    case CommFamily::kExchange:
      if (has("torchrec") || has("dlrm") || has("embedding")) {
        return {
            {"TorchRec's TrainPipelineSparseDist: the next batch's input distribution beside "
             "this batch's dense part",
             "send embeddings in fp16 or bf16 (TorchRec qcomms): half the bytes, with an eye on "
             "accuracy"},
            kHalfTheBytes};
      }
      if (has("expert") || has("moe")) {
        return {{"two half batches, so that one's exchange runs beside the other's experts",
                 "send activations in a narrower format, or only to ranks that have tokens"}};
      }
      return {{"issue the all_to_all asynchronously and compute what does not need it meanwhile",
               "fewer or narrower bytes"}};
    case CommFamily::kAllReduce:
      if (has("tensor parallel") || !training) {
        return {
            {"sequence parallelism (ReduceScatter and AllGather instead) that overlaps with the "
             "products" +
                 MegatronFlags(has("megatron"), has("transformer engine")),
             "split the product before each AllReduce and reduce the finished part while the "
             "rest computes"}};
      }
      return {{"DistributedDataParallel: smaller first buckets (`bucket_cap_mb`), "
               "`gradient_as_bucket_view=True`, `static_graph=True`",
               "reduce gradients in bf16 (a communication hook): half the bytes"},
              kHalfTheBytes};
    case CommFamily::kReduceScatter:
    case CommFamily::kAllGather:
      return {
          {"prefetch shards (FSDP: `backward_prefetch`, `forward_prefetch`), wrap layers so "
           "that each has enough to compute",
           "gather in a narrower format"}};
    case CommFamily::kPointToPoint:
      return {{"send and receive beside the computing of another microbatch" +
                   std::string(has("megatron") ? " (`--overlap-p2p-communication`)" : ""),
               "batched, asynchronous sends and receives (`batch_isend_irecv`), waited for where "
               "the data is used; activations in a narrower format"}};
    default: break;
  }
  return {
      {"issue it earlier, beside work that does not need its result", "fewer or narrower bytes"}};
}

}  // namespace jarvis::tools
