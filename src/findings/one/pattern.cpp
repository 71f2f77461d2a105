#include "findings/one/pattern.h"

namespace jarvis::findings {
namespace {

using P = Pattern;

constexpr PatternInfo kPatterns[] = {
    {P::kTinyBatchedGemm, "tiny_batched_gemm", "many products of tiny matrices", true},
    {P::kComputeBoundGemm, "compute_bound_gemm", "bound by the matrix units", false},
    {P::kMemoryBoundGemm, "memory_bound_gemm", "bound by memory traffic", false},
    {P::kFewTiles, "few_tiles", "fewer output tiles than compute units", true},
    {P::kMisaligned, "misaligned", "a size that the tiles do not divide", true},
    {P::kSkinnyGemm, "skinny_gemm", "one large and two small sizes", false},
    {P::kDecodeGemm, "decode_gemm", "few rows against a large weight", false},
    {P::kQuantisedGemm, "quantised_gemm", "operands of eight bits or less", false},
    {P::kTransposedOperandCopy, "transposed_operand_copy",
     "layout copies of an operand inside the op", true},
    {P::kBelowBaseline, "below_baseline", "slower than simple elementwise ops of the same trace",
     true},
    {P::kStridedOperand, "strided_operand", "an operand that is not contiguous", false},
    {P::kBroadcastOperand, "broadcast_operand", "an operand that is broadcast", false},
    {P::kManySmallCalls, "many_small_calls", "many calls of short kernels", true},
    {P::kBatchNorm, "batch_norm", "batch normalisation", true},
    {P::kUnfusedNorm, "unfused_norm", "a normalisation written out in elementwise ops", true},
    {P::kSoftmaxOfAttention, "softmax_of_attention", "softmax between two products", true},
    {P::kDtypeCast, "dtype_cast", "copies between number formats", false},
    {P::kShortSequence, "short_sequence",
     "attention over a short sequence, where a low efficiency is usual", false},
    {P::kUnfusedAttention, "unfused_attention", "attention as separate kernels", true},
    {P::kPagedAttention, "paged_attention", "attention over a paged cache", false},
    {P::kPrefillHeavy, "prefill_heavy", "mostly prompt tokens", false},
    {P::kDecodeHeavy, "decode_heavy", "mostly generated tokens", false},
    {P::kCacheWrites, "cache_writes", "writes to the key-value cache", false},
    {P::kGroupedQueries, "grouped_queries", "several query heads a key-value head", false},
    {P::kLayoutTransposes, "layout_transposes", "layout conversions around convolutions", true},
    {P::kDepthwise, "depthwise", "depthwise convolution", false},
    {P::kPointwise, "pointwise", "1x1 convolution", false},
    {P::kTransposedConvolution, "transposed_convolution", "transposed convolution", false},
    {P::kRoutingAssumed, "routing_assumed", "expert routing is assumed to be uniform", false},
    {P::kUnderFused, "under_fused", "many small generated kernels", true},
    {P::kUncategorised, "uncategorised", "ops of no known category", true},
    {P::kMissingModel, "missing_model", "no performance model", false},
    {P::kUnlinked, "unlinked", "work whose launch the trace does not have", false},
    {P::kGraphLaunch, "graph_launch", "kernels of a replayed GPU graph, whose ops are not known",
     true},
    {P::kHostBound, "host_bound", "the host launches too late", true},
    {P::kSynchronisation, "synchronisation", "the host waits for the GPU", true},
    {P::kDataLoading, "data_loading", "the host waits for data", true},
    {P::kCommunicationWait, "communication_wait", "waits for other ranks around collectives", true},
    {P::kStartUp, "start_up", "set-up inside the recorded window", false},
    {P::kHostSection, "host_section", "the host works while the GPU has nothing to do", true},
    {P::kLaunchBound, "launch_bound", "launching takes longer than the work that is launched",
     true},
    {P::kProfilerCost, "profiler_cost", "the profiler holds the host up", false},
    {P::kFirstCalls, "first_calls", "code is loaded by what runs for the first time", false},
    {P::kDescheduled, "descheduled", "the host has no CPU to run on", true},
    {P::kExposedCommunication, "nccl_blocking_compute", "communication that nothing hides", true},
    {P::kPoorOverlap, "poor_comm_compute_overlap", "little computing during communication", true},
    {P::kCopiesToHost, "high_d2h_memcpy", "copies to the host", true},
    {P::kCopiesToDevice, "high_h2d_memcpy", "copies from the host", true},
    {P::kHighVariation, "high_variation", "calls that differ widely in time", false},
    {P::kTf32Off, "tf32_off", "fp32 products without TF32", true},
    {P::kAccidentalDouble, "accidental_fp64", "fp64 in a model of lower precision", true},
    {P::kOldKernel, "unaligned_kernel", "sizes that no fast kernel takes", true},
    {P::kSlowAttentionKernel, "slow_attention_kernel",
     "an attention kernel below what others reach", true},
    {P::kFewQueries, "few_queries", "attention of few queries against many keys", true},
    {P::kSlowerThanSiblings, "slower_than_siblings",
     "products below the rate of others in the trace", true},
    {P::kWeightBound, "weight_bound", "weights read below the bandwidth", true},
    {P::kParameterCast, "parameter_cast", "a parameter cast again in each call", true},
    {P::kSumOfOne, "sum_of_one", "a reduction over a dimension of size one", true},
    {P::kFewRowsNorm, "few_rows_norm", "a normalisation of few rows", true},
    {P::kSlowDownProjection, "slow_down_projection",
     "a down projection that is slow beside gate and up", true},
    {P::kTableCast, "table_cast", "a table cast again in each layer", true},
    {P::kShortKernelChain, "short_kernel_chain", "chains of short kernels", true},
    {P::kSlowDecodeAttention, "slow_decode_attention", "keys and values read below the bandwidth",
     true},
    {P::kGraphInputCopies, "graph_input_copies", "tensors copied for a GPU graph", true},
};
static_assert(std::size(kPatterns) == static_cast<std::size_t>(P::kCount));

using A = Advice;

constexpr AdviceInfo kAdvices[] = {
    {A::kBatchGemms, "batch_gemms", "batch the products (torch.bmm, grouped GEMM)"},
    {A::kPadDimensions, "pad_dimensions", "pad the sizes to multiples that tiles divide"},
    {A::kQuantise, "quantise", "store the weights in fewer bits"},
    {A::kLargerBatch, "larger_batch", "raise the batch so that more rows share one weight"},
    {A::kPackSequences, "pack_sequences", "put more or longer sequences into one call"},
    {A::kFuseNeighbours, "fuse_neighbours", "fuse the op with its neighbours"},
    {A::kFuseEpilogue, "fuse_epilogue", "fuse what follows the product into its epilogue"},
    {A::kCompile, "compile", "let torch.compile fuse the ops"},
    {A::kFlashAttention, "flash_attention", "use scaled_dot_product_attention or flash attention"},
    {A::kChannelsLast, "channels_last",
     "keep activations in NHWC: model.to(memory_format=torch.channels_last)"},
    {A::kFusedNorm, "fused_norm", "use a fused normalisation"},
    {A::kFusedOptimizer, "fused_optimizer",
     "use a foreach or fused optimizer, and zero_grad(set_to_none=True)"},
    {A::kChunkedPrefill, "chunked_prefill", "use chunked prefill"},
    {A::kPreTransposeWeight, "pre_transpose_weight",
     "store the operand in the layout that the kernel wants"},
    {A::kAvoidCasts, "avoid_casts", "keep one number format across the ops"},
    {A::kContiguousInputs, "contiguous_inputs", "hand over contiguous tensors"},
    {A::kGpuGraphs, "gpu_graphs",
     "capture the step as a GPU graph (torch.cuda.graph; for compiled code "
     "mode=\"reduce-overhead\")"},
    {A::kAvoidSyncs, "avoid_syncs", "remove .item(), nonzero and blocking copies from the step"},
    {A::kPrefetchData, "prefetch_data", "prefetch batches with more workers and pinned memory"},
    {A::kOverlapCommunication, "overlap_communication",
     "start collectives earlier, in buckets, on a stream of their own"},
    {A::kPinnedCopies, "pinned_copies", "copy from pinned memory with non_blocking=True"},
    {A::kKeepOnDevice, "keep_on_device", "keep the data on the device"},
    {A::kWarmUpFirst, "warm_up_first", "record after the warm-up (profiler schedule)"},
    {A::kOverlapHostWork, "overlap_host_work",
     "vectorise this host work, move it to the GPU, or do it in another process beside the GPU's"},
    {A::kRecordWithoutStacks, "record_without_stacks", "record again with with_stack=False"},
    {A::kGiveCores, "give_cores",
     "give each process CPU cores of its own (affinity, quota, fewer processes)"},
    {A::kGatherInstead, "gather_instead",
     "read by index instead of writing by index: index_select with the inverse permutation, or "
     "index_copy_ where indices occur once"},
    {A::kPreallocate, "preallocate",
     "write the parts into one buffer instead of concatenating them"},
    {A::kSplitBatch, "split_batch",
     "overlap it with the computation of another half of the batch, or fuse the all-reduce with "
     "the "
     "normalisation behind it"},
    {A::kReplay, "replay", "hand a reproducer to those who write the kernel"},
    {A::kTuneGemm, "tune_gemm", "tune the GEMM library for these sizes"},
    {A::kSplitK, "split_k", "use a kernel that splits K"},
    {A::kKernelSelection, "kernel_selection", "look at which kernel the library selects"},
    {A::kBandwidthTuning, "bandwidth_tuning", "tune the kernel's memory traffic"},
    {A::kTuneCommunication, "tune_communication",
     "look at topology, channels and algorithm of the collective library"},
    {A::kAddModel, "add_model", "add a performance model, to see how far the op is from its limit"},
    {A::kProfileCounters, "profile_counters",
     "profile the reproducer with a counter tool (rocprof, Nsight Compute)"},
    {A::kRule, "rule", "see the finding's rule"},
    {A::kNoneKnown, "none_known", "none known from the trace"},
};
static_assert(std::size(kAdvices) == static_cast<std::size_t>(A::kCount));

}  // namespace

const PatternInfo& Info(Pattern pattern) {
  return kPatterns[static_cast<std::size_t>(pattern)];
}
std::span<const PatternInfo> Patterns() {
  return kPatterns;
}
const AdviceInfo& Info(Advice advice) {
  return kAdvices[static_cast<std::size_t>(advice)];
}
std::span<const AdviceInfo> Advices() {
  return kAdvices;
}

}  // namespace jarvis::findings
