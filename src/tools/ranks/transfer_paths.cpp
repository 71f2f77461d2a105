#include "tools/ranks/transfer_paths.h"

#include <algorithm>
#include <string>

#include "tools/ranks/job_kind.h"
#include "tools/ranks/rank_workload.h"

namespace jarvis::tools {

namespace {

constexpr double kHalfTheBytes = 0.5;

// What overlaps in Megatron is Transformer Engine's.
std::string MegatronFlags(bool megatron, bool transformer_engine) {
  if (!megatron) return "";
  return transformer_engine ? " (`--sequence-parallel --tp-comm-overlap`)"
                            : " (`--sequence-parallel`; its overlap needs Transformer Engine)";
}

// DeepEP's kernels, by the part of the library that their names have, send to ranks that have
// tokens alone, and its dispatch may send fp8: what is left is the way, and what runs beside it.
TransferWays ExpertPaths(const JobView& job) {
  const std::string overlap =
      "two micro-batches, so that one's dispatch and combine run beside the other's experts (vLLM "
      "`--enable-dbo`, SGLang `--enable-two-batch-overlap`)";
  if (HasCommKernel(job, "internode_ll")) {
    return {
        {overlap,
         "look which way the tokens go: `internode_ll` sends over RDMA, and between GPUs of one "
         "node over NVLink only where DeepEP's Buffer has "
         "`allow_nvlink_for_low_latency_mode=True`"}};
  }
  if (HasCommKernel(job, "internode") || HasCommKernel(job, "intranode") ||
      HasCommKernel(job, "deep_ep")) {
    return {{overlap,
             "look which way the tokens go (`intranode`: NVLink; `internode`: RDMA between nodes) "
             "and place experts so that most stay within the node"}};
  }
  return {{overlap,
           "an exchange that sends to ranks with tokens alone and in fp8 (DeepEP, or the "
           "like), over NVLink within a node"}};
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

TransferWays TransferPaths(const JobView& job) {
  using analysis::CommFamily;
  const CommFamily family = BusiestFamily(job).value_or(CommFamily::kOther);
  const auto has = [&](std::string_view part) { return SpeaksOf(job, part); };
  const bool training = job.workload != nullptr && job.workload->training;
  switch (family) {
    case CommFamily::kExchange:
      if (JobKindOf(job) == JobKind::kEmbeddings) {
        return {
            {"TorchRec's TrainPipelineSparseDist: the next batch's input distribution beside "
             "this batch's dense part",
             "send embeddings in fp16 or bf16 (TorchRec qcomms): half the bytes, with an eye on "
             "accuracy"},
            kHalfTheBytes};
      }
      if (JobKindOf(job) == JobKind::kExperts) return ExpertPaths(job);
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
      // Shards of parameters are gathered ahead in training alone.
      if (training || has("fsdp")) {
        return {
            {"prefetch shards (FSDP: `backward_prefetch`, `forward_prefetch`), wrap layers so "
             "that each has enough to compute",
             "gather in a narrower format"}};
      }
      return {
          {"issue it asynchronously (`async_op=True`), beside work that does not need its "
           "result",
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
