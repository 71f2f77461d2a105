// The patterns that an analysis looks for, and the ways out that it may name. Both are keys: what
// is said about them is the business of whoever writes reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/fact.h"

namespace jarvis::findings {

enum class Pattern : std::uint8_t {
  // GEMM
  kTinyBatchedGemm,
  kComputeBoundGemm,
  kMemoryBoundGemm,
  kFewTiles,
  kMisaligned,
  kSkinnyGemm,
  kDecodeGemm,
  kQuantisedGemm,
  kTransposedOperandCopy,
  // Elementwise, reductions, norms
  kBelowBaseline,
  kStridedOperand,
  kBroadcastOperand,
  kManySmallCalls,
  kBatchNorm,
  kUnfusedNorm,
  kUnfusedRotary,
  kUnfusedActivation,
  kSoftmaxOfAttention,
  kDtypeCast,
  // Attention
  kShortSequence,
  kUnfusedAttention,
  kPagedAttention,
  kPrefillHeavy,
  kDecodeHeavy,
  kCacheWrites,
  kGroupedQueries,
  // Convolution
  kLayoutTransposes,
  kDepthwise,
  kPointwise,
  kTransposedConvolution,
  // MoE, Triton, other
  kRoutingAssumed,
  kUnderFused,
  kUncategorised,
  kMissingModel,
  kUnlinked,
  kGraphLaunch,
  // System
  kHostBound,
  kSynchronisation,
  kDataLoading,
  kCommunicationWait,
  kStartUp,
  kHostSection,
  kLaunchBound,
  kProfilerCost,
  kFirstCalls,
  kDescheduled,
  kUnfusedChains,
  kExposedCommunication,
  kPoorOverlap,
  kCopiesToHost,
  kCopiesToDevice,
  kCopiesOnDevice,
  kHighVariation,
  // Causes: rules over operations, see rule_rows.h
  kTf32Off,
  kAccidentalDouble,
  kOldKernel,
  kSlowAttentionKernel,
  kFewQueries,
  kSlowerThanSiblings,
  kWeightBound,
  kParameterCast,
  kParameterQuantised,
  kSumOfOne,
  kFewRowsNorm,
  kSlowDownProjection,
  kTableCast,
  kShortKernelChain,
  kSlowDecodeAttention,
  kBelowLargeProducts,
  kNarrowNorm,
  kEagerChains,
  // Rules over a trace as a whole, see structure_findings.h
  kHalfPrecisionOff,
  kGraphInputCopies,
  kCollectiveCopies,
  kRecompute,
  kRepeatedPass,
  kEqualCopies,
  kEpilogueLeft,
  kEmbeddingBackward,
  kCutExperts,
  kReplayGap,
  kSharedInput,
  // A host that stands still, see stop_findings.h
  kAllocatorChurn,
  kInterpreterLock,
  kPythonStops,
  // The same work against itself, see same_work.h
  kClockDrop,
  kSlowCalls,
  kNarrowerPrecision,  // see precision_findings.h
  // Rules over a recording without GPU work, see cpu_findings.h
  kCpuCollectives,
  kCpuLoading,
  kCpuOptimizer,
  // Rules over a recording without ops, see kernel_findings.h
  kLayoutKernels,
  kPlanarBatchNorm,
  kCount,
};

// Where the way out lies, in the users' words. A: fusion, algorithm, API (the model may be
// changed); B: what is set or wrapped around it while its code stays: settings, environment, launch
// flags, the compiler, other kernels, or a reproducer for those who write them.
enum class Path : std::uint8_t { kA, kB };

struct PatternInfo {
  Pattern pattern;
  std::string_view key;   // "tiny_batched_gemm": stable, in files
  std::string_view what;  // half a sentence without numbers
  bool notable;           // makes an op of any share Medium
};
const PatternInfo& Info(Pattern pattern);
std::span<const PatternInfo> Patterns();

// What can be done. Keys in files; see Advices().
enum class Advice : std::uint8_t {
  // A
  kBatchGemms,
  kPadDimensions,
  kQuantise,
  kLargerBatch,
  kFuseNeighbours,
  kFuseEpilogue,
  kCompile,
  kCompileGraphs,
  kFlashAttention,
  kChannelsLast,
  kFusedNorm,
  kFusedOptimizer,
  kChunkedPrefill,
  kPreTransposeWeight,
  kAvoidCasts,
  kContiguousInputs,
  kGpuGraphs,
  kCompileParts,
  kCompileRest,
  kGraphParts,
  kUpgradeTorch,
  kLegacyOptimizer,
  kAvoidSyncs,
  kAvoidScalars,
  kFixedShapes,
  kBuildOnDevice,
  kReadBackOnce,
  kPrefetchData,
  kLoaderWorkers,
  kPreprocessOnGpu,
  kDecodeElsewhere,
  kPrepareAhead,
  kOnceOutside,
  kPrepareSteps,
  kHostLengths,
  kHostOpsToDevice,
  kFindHostWork,
  kOverlapCommunication,
  kTuneBuckets,
  kExposedBuckets,
  kCompressGradients,
  kOverlapAllToAll,
  kBalanceExchange,
  kPrefetchToDevice,
  kProductAndShuffle,
  kPinnedCopies,
  kPinLoader,
  kCopyBackAside,
  kWarmUpFirst,
  kOverlapHostWork,
  kRecordWithoutStacks,
  kGiveCores,
  kGatherInstead,
  kPreallocate,
  kWriteInPlace,
  kFuseAllReduce,
  kFuseIntoProduct,
  kFuseRotary,
  kActivationAiter,
  kActivationFlashInfer,
  // B
  kReplay,
  kTuneHipblaslt,
  kTuneMissing,
  kMaxAutotune,
  kSplitK,
  kAttentionCk,
  kAttentionCudnn,
  kTuneCommunication,
  kRecordRanks,
  kGraphsVllm,
  kGraphsSglang,
  kGraphsTensorRt,
  kFuseAllReduceVllm,
  kFuseAllReduceSglang,
  kProfileCounters,
  // What the row of a finding's rule says.
  kRule,
  // Either: nothing helps, for the reason in its fact "reason". A path that no rule assessed is
  // empty instead.
  kNoneKnown,
  kCount,
};
struct AdviceInfo {
  Advice advice;
  std::string_view key;   // "channels_last"
  std::string_view what;  // an imperative, its short form first
};
// What the short form of an action may take at most, in bytes.
inline constexpr std::size_t kShortAction = 110;
const AdviceInfo& Info(Advice advice);
Path PathOf(Advice advice);
std::span<const AdviceInfo> Advices();

// One way out of one finding, with what it may save if that can be told apart from the finding's
// own estimate (such as the time of layout transposes).
struct Remedy {
  Advice advice = Advice::kNoneKnown;
  std::optional<Range> savings_ms;
  std::vector<Fact> facts;
};

// Whether one of them is something that the reader can do: to hand over a reproducer saves nothing
// by itself.
bool HasAction(std::span<const Remedy> path);

// Why a path has no way out.
Remedy NoWay(std::string reason);

struct PatternHit {
  Pattern pattern;
  std::vector<Fact> facts;  // the numbers that make it one
};

}  // namespace jarvis::findings
