#include "findings/one/pattern.h"

#include <algorithm>
#include <utility>

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
    {P::kUnfusedRotary, "unfused_rotary",
     "rotary position embedding written out in elementwise ops", true},
    {P::kUnfusedActivation, "unfused_activation", "an activation and its gate as separate kernels",
     false},
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
    {P::kUnfusedChains, "unfused_chains", "pointwise and normalisation ops as separate kernels",
     true},
    {P::kExposedCommunication, "nccl_blocking_compute", "nothing hides it", true},
    {P::kPoorOverlap, "poor_comm_compute_overlap", "little computing during communication", true},
    {P::kCopiesToHost, "high_d2h_memcpy", "copies to the host", true},
    {P::kCopiesToDevice, "high_h2d_memcpy", "copies from the host", true},
    {P::kCopiesOnDevice, "exposed_d2d_memcpy", "copies on the device that nothing hides", true},
    {P::kHighVariation, "high_variation", "calls that differ widely in time", false},
    {P::kTf32Off, "tf32_off", "fp32 products without TF32", true},
    {P::kAccidentalDouble, "accidental_fp64", "fp64 in a model of lower precision", true},
    {P::kOldKernel, "unaligned_kernel", "sizes that no fast kernel takes", true},
    {P::kSlowAttentionKernel, "slow_attention_kernel",
     "an attention kernel below what others reach", true},
    {P::kFewQueries, "few_queries", "attention with few queries or few keys", true},
    {P::kSlowerThanSiblings, "slower_than_siblings",
     "products below the rate of others in the trace", true},
    {P::kWeightBound, "weight_bound", "weights read below the bandwidth", true},
    {P::kParameterCast, "parameter_cast", "a parameter cast again in each call", true},
    {P::kParameterQuantised, "parameter_quantised", "weights quantised again in each call", true},
    {P::kSumOfOne, "sum_of_one", "a reduction over a dimension of size one", true},
    {P::kFewRowsNorm, "few_rows_norm", "a normalisation in few blocks", true},
    {P::kSlowDownProjection, "slow_down_projection",
     "a down projection that is slow beside gate and up", true},
    {P::kTableCast, "table_cast", "a table cast again in each layer", true},
    {P::kShortKernelChain, "short_kernel_chain", "chains of kernels in a replayed graph", true},
    {P::kSlowDecodeAttention, "slow_decode_attention", "keys and values read below the bandwidth",
     true},
    {P::kBelowLargeProducts, "below_large_products",
     "below what large products reach on this device", true},
    {P::kNarrowNorm, "narrow_norm", "a normalisation of short rows", true},
    {P::kEagerChains, "eager_chains", "chains of ops that a compiler makes one kernel each", true},
    {P::kHalfPrecisionOff, "half_precision_off", "fp32 products beside idle tensor cores", true},
    {P::kGraphInputCopies, "graph_input_copies", "copies into and out of replayed graphs", true},
    {P::kCollectiveCopies, "collective_copies", "copies around collectives", true},
    {P::kRecompute, "recompute", "forward work done again by activation checkpointing", true},
    {P::kRepeatedPass, "repeated_pass", "the same pass again on equal shapes", true},
    {P::kEqualCopies, "equal_copies", "one tensor computed on copy by copy", true},
    {P::kEpilogueLeft, "epilogue_left", "an activation that its product could compute", true},
    {P::kEmbeddingBackward, "embedding_backward", "an embedding's backward pass in fp32", true},
    {P::kCutExperts, "cut_experts", "experts cut into slices", true},
    {P::kReplayGap, "replay_gap", "the GPU idles around the replay of its graph", true},
    {P::kSharedInput, "shared_input", "one input multiplied by several weights, one by one", true},
    {P::kAllocatorChurn, "allocator_churn",
     "memory given back to the driver and taken again all the time", true},
    {P::kInterpreterLock, "interpreter_lock",
     "the main thread stands still while another thread runs Python", true},
    {P::kPythonStops, "python_stops", "Python stands still between ops", true},
    {P::kClockDrop, "clock_drop", "all kernels take longer from one moment on", true},
    {P::kSlowCalls, "slow_calls", "calls far slower than others of equal sizes", true},
    {P::kNarrowerPrecision, "narrower_precision", "TF32 where 16 bits would do", true},
    {P::kCpuCollectives, "cpu_collectives", "the step waits for a collective of the CPU", true},
    {P::kCpuLoading, "cpu_loading", "the step waits for its data", true},
    {P::kCpuOptimizer, "cpu_optimizer", "parameters updated one by one on the CPU", true},
    {P::kLayoutKernels, "layout_kernels", "layouts changed around convolutions", true},
    {P::kPlanarBatchNorm, "planar_batch_norm", "batch norm on kernels for NCHW", true},
};
static_assert(std::size(kPatterns) == static_cast<std::size_t>(P::kCount));

using A = Advice;

// The first sentence, or what stands before a semicolon, is the short form: a verb, then the call
// or the setting, at most kShortAction bytes. Reasons and conditions come after it. Words in braces
// are facts of the remedy, those in double brackets are left out without them.
constexpr AdviceInfo kAdvices[] = {
    {A::kBatchGemms, "batch_gemms", "batch the products (torch.bmm, grouped GEMM)"},
    {A::kPadDimensions, "pad_dimensions", "pad the sizes to multiples that tiles divide"},
    {A::kQuantise, "quantise", "store the weights in fewer bits"},
    {A::kLargerBatch, "larger_batch", "raise the batch so that more rows share one weight"},
    {A::kFuseNeighbours, "fuse_neighbours", "fuse the op with its neighbours"},
    {A::kFuseEpilogue, "fuse_epilogue", "fuse what follows the product into its epilogue"},
    {A::kCompile, "compile",
     "wrap the module that holds these ops[[, {module},]] in `torch.compile`, which fuses them"},
    {A::kCompileGraphs, "compile_graphs",
     "compile the model and replay it as a GPU graph: `torch.compile(model, "
     "mode=\"reduce-overhead\")`[[; {compiled}]]"},
    {A::kFlashAttention, "flash_attention", "use scaled_dot_product_attention or flash attention"},
    {A::kChannelsLast, "channels_last",
     "keep activations in NHWC: `model.to(memory_format=torch.channels_last)`, inputs as well"},
    {A::kFusedNorm, "fused_norm",
     "call one fused kernel instead: torch.nn.functional.rms_norm or layer_norm, or Liger's"},
    {A::kFusedOptimizer, "fused_optimizer",
     "build the optimizer with foreach=True or fused=True, and call zero_grad(set_to_none=True)"},
    {A::kChunkedPrefill, "chunked_prefill", "use chunked prefill"},
    {A::kPreTransposeWeight, "pre_transpose_weight",
     "store the operand in the layout that the kernel wants"},
    {A::kAvoidCasts, "avoid_casts", "keep one number format across the ops"},
    {A::kContiguousInputs, "contiguous_inputs", "hand over contiguous tensors"},
    {A::kGpuGraphs, "gpu_graphs",
     "[[{before}]]capture the step as a GPU graph: `torch.cuda.graph` (of compiled code "
     "`mode=\"reduce-overhead\"`)[[; {capture}]]"},
    {A::kCompileParts, "compile_parts",
     "compile what is launched op by op: `torch.compile(pipe.text_encoder, "
     "mode=\"reduce-overhead\")`; and so pipe.transformer and pipe.vae.decode"},
    {A::kCompileRest, "compile_rest",
     "compile the text encoders, too: `torch.compile(pipe.text_encoder, "
     "mode=\"reduce-overhead\")`; each further one of the pipeline alike; encode prompts that come "
     "again once"},
    {A::kGraphParts, "graph_parts",
     "compile the parts between the waits: `torch.compile(part, mode=\"reduce-overhead\")`; no "
     "graph "
     "holds a step that waits"},
    {A::kUpgradeTorch, "upgrade_torch",
     "upgrade to PyTorch 2 for `torch.compile`, which the recorded version does not have; it fuses "
     "such ops and launches less"},
    {A::kLegacyOptimizer, "legacy_optimizer",
     "call zero_grad(set_to_none=True), and take torch.optim._multi_tensor (newer PyTorch: "
     "foreach=True)"},
    {A::kAvoidSyncs, "avoid_syncs", "do not wait inside the step: read results once, at its end"},
    {A::kAvoidScalars, "avoid_scalars",
     "read results back together, once: no `.item()`, `float()` or Python comparison in between[[; "
     "for {waits}]]"},
    {A::kFixedShapes, "fixed_shapes",
     "carry a mask (`torch.where`) instead of `nonzero` and boolean indexing; filter once, at the "
     "end[[ (for {waits})]]"},
    {A::kBuildOnDevice, "build_on_device",
     "build on the device, once, what is uploaded in each call (`torch.tensor(..., "
     "device=...)`)[[; "
     "for {waits}]]"},
    {A::kReadBackOnce, "read_back_once",
     "stack the results on the device and copy them back once: one `.cpu()`, not one a result[[; "
     "for "
     "{waits}]]"},
    {A::kPrefetchData, "prefetch_data",
     "give the DataLoader more workers (`num_workers`, up to the cores there are); cheaper samples "
     "help as well: decode on the GPU, smaller images on disk, a lighter transform. A longer "
     "`prefetch_factor` does not help workers that cannot keep up"},
    {A::kLoaderWorkers, "loader_workers",
     "load in other processes: `DataLoader(num_workers=8, pin_memory=True, "
     "persistent_workers=True)`; today the main process loads itself"},
    {A::kPreprocessOnGpu, "preprocess_on_gpu",
     "resize and normalise on the GPU, batches of uint8: torchvision.transforms.v2 (transformers: "
     "`use_fast=True`)"},
    {A::kDecodeElsewhere, "decode_elsewhere",
     "decode in a worker process ahead of the step, or on the GPU (torchcodec with NVDEC)"},
    {A::kPrepareAhead, "prepare_ahead",
     "prepare the next input in worker processes (`num_workers` of the pipeline call or "
     "DataLoader); "
     "the first input still waits for its own, and one worker hides no more of each than the rest "
     "of its time"},
    {A::kOnceOutside, "once_outside",
     "walk modules and parameters once and keep the result; they do not change from step to step"},
    {A::kPrepareSteps, "prepare_steps",
     "start vLLM with --async-scheduling, which prepares the next step while this one runs"},
    {A::kHostLengths, "host_lengths",
     "keep sequence lengths on the host, so that nothing is read back before the replay"},
    {A::kHostOpsToDevice, "host_ops_to_device",
     "run these torch ops on the GPU, before the result is copied to the CPU"},
    {A::kFindHostWork, "find_host_work",
     "record once with with_stack=True, which names the work; that alone saves nothing"},
    {A::kOverlapCommunication, "overlap_communication",
     "issue the collective with `async_op=True`, and compute what does not need it before its "
     "wait"},
    {A::kTuneBuckets, "tune_buckets",
     "compute longer beside the buckets: no_sync() over several micro-batches, or a larger batch; "
     "the gradients are bucketed and overlapped already"},
    {A::kExposedBuckets, "exposed_buckets",
     "reduce less often: no_sync() over several micro-batches, or a larger batch; most of it runs "
     "with no computing beside it (a smaller bucket_cap_mb starts it earlier)"},
    {A::kCompressGradients, "compress_gradients",
     "send the fp32 gradients in 16 bits: DDP's bf16_compress_hook"},
    {A::kOverlapAllToAll, "overlap_all_to_all",
     "send the all_to_all in 16 bits (TorchRec: quantized communication, `get_qcomm_codecs_registry`)"
     "[[; and the next batch's indices while this one computes (`{pipeline}`)]]"},
    {A::kBalanceExchange, "balance_exchange",
     "balance what the ranks send each other (experts: replicate busy ones); use low-latency "
     "transport"},
    {A::kPrefetchToDevice, "prefetch_to_device",
     "copy the next batch on a stream of its own while this one computes"},
    {A::kProductAndShuffle, "product_and_shuffle",
     "write the transposed convolution as one product and `pixel_shuffle`; that holds where its "
     "stride is its kernel size, else keep it in channels_last"},
    {A::kPinnedCopies, "pinned_copies",
     "use pinned memory on the host's side, with non_blocking=True"},
    {A::kPinLoader, "pin_loader",
     "set `pin_memory=True` on the DataLoader, and copy its batches with non_blocking=True"},
    {A::kCopyBackAside, "copy_back_aside",
     "copy results back on a stream of their own beside the next work; wait for its event where "
     "they "
     "are read"},
    {A::kWarmUpFirst, "warm_up_first",
     "run a warm-up iteration before what is timed, served or recorded"},
    {A::kOverlapHostWork, "overlap_host_work",
     "vectorise this host work, or do it in a worker while the GPU has the next batch[[; {what}]]"},
    {A::kRecordWithoutStacks, "record_without_stacks", "record again with with_stack=False"},
    {A::kGiveCores, "give_cores",
     "give each process CPU cores of its own (affinity, quota, fewer processes)"},
    {A::kGatherInstead, "gather_instead",
     "read by index instead of writing by it: `index_select` with the inverse permutation; "
     "`index_copy_` where indices occur once"},
    {A::kPreallocate, "preallocate",
     "write the parts into one buffer instead of concatenating them"},
    {A::kWriteInPlace, "write_in_place",
     "let the work before write straight into the buffers that graphs and collectives read"},
    {A::kFuseAllReduce, "fuse_all_reduce",
     "fuse the all-reduce with the residual add and norm behind it (FlashInfer's "
     "allreduce_fusion)"},
    {A::kFuseIntoProduct, "fuse_into_product",
     "compile with `mode=\"max-autotune\"`; of its products Triton's compute this in their "
     "epilogue"},
    {A::kFuseRotary, "fuse_rotary",
     "call one kernel for both rotations: Liger's `liger_rotary_pos_emb`; or flash-attn's "
     "`apply_rotary_emb`"},
    {A::kActivationAiter, "activation_aiter",
     "call aiter's `silu_and_mul` there; the kernel stands behind a library's product, so that no "
     "compiler fuses it"},
    {A::kActivationFlashInfer, "activation_flashinfer",
     "call FlashInfer's `silu_and_mul` there; the kernel stands behind a library's product, so "
     "that "
     "no compiler fuses it"},
    {A::kReplay, "replay", "hand a reproducer to those who write the kernel"},
    {A::kTuneHipblaslt, "tune_hipblaslt",
     "tune hipBLASLt for these sizes: one warm-up run with PYTORCH_TUNABLEOP_ENABLED=1; later runs "
     "read the file that it writes"},
    {A::kTuneMissing, "tune_missing",
     "run once with PYTORCH_TUNABLEOP_TUNING=1: TunableOp only read its file, which may lack these "
     "sizes"},
    {A::kMaxAutotune, "max_autotune",
     "compile with `mode=\"max-autotune\"`, which times Triton's and the library's kernels for "
     "these "
     "sizes"},
    {A::kSplitK, "split_k", "use a kernel that splits K"},
    {A::kAttentionCk, "attention_ck",
     "set TORCH_ROCM_FA_PREFER_CK=1 for Composable Kernel's attention; now it is AOTriton's"},
    {A::kAttentionCudnn, "attention_cudnn",
     "call attention under `torch.nn.attention.sdpa_kernel(SDPBackend.CUDNN_ATTENTION)`; or "
     "FlashAttention-3: the kernel is FlashAttention-2's, made for older GPUs"},
    {A::kTuneCommunication, "tune_communication",
     "hold the bus rate against nccl-tests or rccl-tests at these sizes; only if it is below, look "
     "at topology and algorithm (NCCL_ALGO, NCCL_PROTO)"},
    {A::kRecordRanks, "record_ranks",
     "record all ranks, and run nccl-tests or rccl-tests at these sizes; one rank cannot tell a "
     "late "
     "partner from a slow link"},
    {A::kGraphsVllm, "graphs_vllm",
     "start vLLM without --enforce-eager[[, with {tokens} in `cudagraph_capture_sizes`]]; sizes "
     "above "
     "the largest captured one run eagerly"},
    {A::kGraphsSglang, "graphs_sglang",
     "start SGLang without --disable-cuda-graph, with a --cuda-graph-max-bs that covers this "
     "batch"},
    {A::kGraphsTensorRt, "graphs_tensorrt", "switch on cuda_graph_config in TensorRT-LLM"},
    {A::kFuseAllReduceVllm, "fuse_all_reduce_vllm",
     "let vLLM fuse all-reduce and norm: `pass_config` with fuse_allreduce_rms; older versions: "
     "enable_fi_allreduce_fusion"},
    {A::kFuseAllReduceSglang, "fuse_all_reduce_sglang",
     "start SGLang with --enable-flashinfer-allreduce-fusion"},
    {A::kProfileCounters, "profile_counters",
     "profile the reproducer with a counter tool (rocprof, Nsight Compute)"},
    {A::kRule, "rule", "see the finding's rule"},
    {A::kNoneKnown, "none_known", "nothing helps, for a reason that is given"},
};
static_assert(std::size(kAdvices) == static_cast<std::size_t>(A::kCount));

// Rows are found by their number.
template <typename Row, std::size_t N, typename Key>
constexpr bool InOrder(const Row (&rows)[N], Key Row::*key) {
  for (std::size_t i = 0; i < N; ++i) {
    if (static_cast<std::size_t>(rows[i].*key) != i) return false;
  }
  return true;
}
static_assert(InOrder(kPatterns, &PatternInfo::pattern));
static_assert(InOrder(kAdvices, &AdviceInfo::advice));

}  // namespace

// What leaves the model's code and mathematics alone, be it a line of the script around it.
constexpr Advice kAround[] = {A::kCompile,
                              A::kCompileParts,
                              A::kCompileRest,
                              A::kGraphParts,
                              A::kGpuGraphs,
                              A::kUpgradeTorch,
                              A::kFusedOptimizer,
                              A::kLegacyOptimizer,
                              A::kPrefetchData,
                              A::kLoaderWorkers,
                              A::kPrepareAhead,
                              A::kDecodeElsewhere,
                              A::kPrefetchToDevice,
                              A::kPinnedCopies,
                              A::kPinLoader,
                              A::kWarmUpFirst,
                              A::kRecordWithoutStacks,
                              A::kGiveCores,
                              A::kPrepareSteps,
                              A::kFindHostWork,
                              A::kFuseIntoProduct,
                              A::kReplay,
                              A::kTuneHipblaslt,
                              A::kTuneMissing,
                              A::kMaxAutotune,
                              A::kSplitK,
                              A::kAttentionCk,
                              A::kAttentionCudnn,
                              A::kTuneCommunication,
                              A::kRecordRanks,
                              A::kGraphsVllm,
                              A::kGraphsSglang,
                              A::kGraphsTensorRt,
                              A::kFuseAllReduceVllm,
                              A::kFuseAllReduceSglang,
                              A::kProfileCounters,
                              A::kCompileGraphs,
                              A::kCopyBackAside,
                              A::kHostLengths};

bool HasAction(std::span<const Remedy> path) {
  return std::any_of(path.begin(), path.end(), [](const Remedy& remedy) {
    return remedy.advice != A::kReplay && remedy.advice != A::kProfileCounters &&
           remedy.advice != A::kFindHostWork && remedy.advice != A::kRecordRanks &&
           remedy.advice != A::kNoneKnown;
  });
}

Path PathOf(Advice advice) {
  return std::find(std::begin(kAround), std::end(kAround), advice) != std::end(kAround) ? Path::kB
                                                                                        : Path::kA;
}

Remedy NoWay(std::string reason) {
  return {Advice::kNoneKnown, {}, {{"reason", std::move(reason), "words"}}};
}

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
