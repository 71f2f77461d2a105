// Every limit that a judgement about a trace depends on. Skills, docs and the validator cite this
// table (Thresholds()); nothing else in the program repeats one of its numbers.
//
// Sources: the users' own documents (priority classes, efficiency bands, pattern bands), where they
// name a number; else the reason stands beside it.
#pragma once

#include <span>
#include <string_view>

#include "ledger/books/bounds.h"

namespace jarvis::findings::limits {

// Efficiency bands, percent of the roof.
inline constexpr double kExcellent = 80;    // above: algorithmic work only
inline constexpr double kGood = 60;         // above: little to gain
inline constexpr double kAcceptable = 40;   // above: kernel work if the time is large
inline constexpr double kAtRoof = 100;      // above: listed as an anomaly, not explained away
inline constexpr double kImpossible = 110;  // above: no saving is claimed from it

// Priority classes: share of compute time, efficiency.
inline constexpr double kCriticalShare = 15;
inline constexpr double kCriticalEfficiency = 30;
inline constexpr double kHighShare = 10;
inline constexpr double kHighEfficiency = 40;
// Low efficiency alone makes an op High only if it has at least this share.
inline constexpr double kHighEfficiencyShare = 1;
inline constexpr double kMediumShare = 5;
inline constexpr double kCategoryWorthWork = 10;  // share of compute time
// A reproducer is recommended above this share and below this efficiency.
inline constexpr double kReplayShare = 10;
inline constexpr double kReplayEfficiency = 30;

// Impact: the gap to the roof is not closed whole.
inline constexpr double kImpactLow = 0.75;
inline constexpr double kImpactMid = 0.875;
inline constexpr double kImpactHigh = 1.0;
inline constexpr double kEstimateMin = 0.01;  // high impact, percent of the window
inline constexpr double kFindingMin = 0.5;    // mid impact, percent of the window
// Of what has no estimate; smaller ones are no finding.
inline constexpr double kUnsizedMin = 2;  // percent of the window
// Edges of the groups that findings are made of, percent of the roof.
inline constexpr double kBucketLow = 30;
inline constexpr double kBucketHigh = 60;

// The whole trace.
inline constexpr double kComputeShareGood = 95;  // below: look at idle, copies, communication first
inline constexpr double kIdleShare = 15;
inline constexpr double kGraphReplayWarn = 10;  // percent of kernel time
inline constexpr double kGraphReplayUnreliable = 50;
inline constexpr double kTimeMismatch = 10;     // percent
inline constexpr double kUnlinkedWarn = 5;      // percent of GPU time
inline constexpr double kOverlapNoted = 1.05;   // time of kernels over busy time of their devices
inline constexpr double kStepVariation = 0.25;  // coefficient of variation
inline constexpr double kRowVariation = 1.0;    // of a row with more than kRowVariationCalls
inline constexpr double kRowVariationCalls = 10;
inline constexpr double kRowVariationShare = 5;  // percent of the window
// Of two traces, as a fraction of the target's GPU time: what a row takes longer than expected is
// not worth a reader's time below the first, and has no section of its own below the second.
inline constexpr double kSlowerShareListed = 0.002;
inline constexpr double kSlowerShareOwnSection = 0.003;
// What a recording is trusted less for is told first from this share of a step on.
inline constexpr double kQualityLead = 2;
inline constexpr double kSignificantShare = 4;  // percent of GPU time: a row that matters

// Idle gaps.
inline constexpr double kGapUs = 5;         // shorter ones are summed as micro gaps
inline constexpr double kGraphGapUs = 1;    // ... at best: between kernels of a GPU graph
inline constexpr double kUntracedUs = 100;  // shorter late launches are the host's, traced or not
inline constexpr double kLaunchMinUs = 4;   // what stays of a gap when its cause is gone
inline constexpr double kLaunchLatencyUs = 10;  // launch to start of a kernel on an idle GPU
inline constexpr double kRuntimeShare = 0.25;   // of a gap under one class of runtime call
inline constexpr double kHostOpShare = 0.20;    // of a gap under ops

// The host, and savings of wall time.
inline constexpr double kStopShareMin = 2;     // percent of the steps: stops of the host
inline constexpr double kNoBound = 0.5;        // percent of the steps: less of a bound is nothing
inline constexpr double kHostShareMin = 1;     // percent of the steps: host time that matters
inline constexpr double kWaitWayShare = 10;    // percent of the idle time after waits: a way out
inline constexpr double kWaitingPart = 0.4;    // of exposed communication: it is its first lever
inline constexpr double kWaitsMin = 8;         // fewer waits are how a result is read
inline constexpr double kGraphShareMax = 50;   // percent of GPU time that graphs launch already
inline constexpr double kIdleLaunchShare = 2;  // percent of launches that find their stream idle
inline constexpr double kFindingsAsked = 40;   // findings that the simulation is asked about
inline constexpr double kProfilerShare = 2;    // percent of the wall that the profiler cost
inline constexpr double kShowsAfter = 2;       // times as much after others as alone
inline constexpr double kMinorShare = 0.5;     // percent of the steps: a smaller saving is no lever
// The class of what saves wall time, percent of the steps that it saves.
inline constexpr double kCriticalSaving = 10;
inline constexpr double kHighSaving = 3;
inline constexpr double kMediumSaving = 1;
inline constexpr double kLaunchesPerWait = 64;  // fewer between waits are no graph's work
inline constexpr double kRampPart = 0.2;        // of a step's GPU time: its start
inline constexpr double kHardlyBusy = 10;       // percent of the steps: the GPU is no bound below
inline constexpr double kRampShare = 80;        // percent of the late launches' idle time in it
inline constexpr double kShownPart = 0.95;  // of GPU time that goes: less, and the host hides some
// Exposed communication whose cause one rank cannot tell is ranked by its size from here.
inline constexpr double kExposedRanked = 8;  // percent of the steps
// How many times a saving what is only known to be long must be to stand before it.
inline constexpr double kSizeAgainstSaving = 1.25;
inline constexpr double kSmallSaving = 1;  // percent of the wall time: one-time work stands before
// Of a recording without GPU work, in percent of its steps: waits for collectives, loading, the
// optimizer's ops (of at least so many a step).
inline constexpr double kCpuWait = 5;
inline constexpr double kCpuLoading = 5;
inline constexpr double kCpuOptimizer = 2;
inline constexpr double kCpuUpdateOps = 20;

// Copies, communication.
inline constexpr double kCopyShare = 5;  // percent of the window, a direction
inline constexpr double kCopyCount = 10;
inline constexpr double kPageableShare = 1;    // percent of the window, exposed and not pinned
inline constexpr double kTinyMessage = 65536;  // bytes; what takes long with less is a wait
inline constexpr double kExposedComm = 5;      // percent of the window
inline constexpr double kOverlapRatio = 0.70;
inline constexpr double kCommMinUs = 100;  // below: too little to judge overlap

// GEMM patterns.
inline constexpr double kTinyBatch = 256;
inline constexpr double kTinyDimension = 64;
inline constexpr double kTinyKernelUs = 10;
inline constexpr double kTinyCalls = 1000;
inline constexpr double kTile = 256;          // edge of a large output tile
inline constexpr double kComputeUnits = 100;  // fewer tiles leave units of today's GPUs idle
inline constexpr double kDeepK = 2048;        // K from which splitting it pays
inline constexpr double kDecodeRows = 64;
inline constexpr double kDecodeWidth = 1024;
inline constexpr double kSkinnyRidgeShare = 0.25;  // intensity below this part of the ridge
// Intensity bands for traces without a known platform, FLOP/byte.
inline constexpr double kComputeIntensity = 200;
inline constexpr double kMemoryIntensity = 100;
inline constexpr double kElementwiseIntensity = 50;
inline constexpr double kFewFlops = 4;  // FLOP/byte: below the ridge of every unit of a GPU

// Elementwise baseline.
inline constexpr double kBaselineBytes = 16e6;  // per call
inline constexpr double kBaselinePercentile = 0.90;
inline constexpr double kBaselineGood = 70;   // percent of the peak bandwidth
inline constexpr double kBelowBaseline = 50;  // percent of the baseline: a slow simple op
inline constexpr double kFarBelowPeak = 20;   // percent of the peak, with a good baseline
inline constexpr double kManySmallCalls = 1000;
inline constexpr double kSmallKernelUs = 10;

// Attention, convolution.
inline constexpr double kShortSequence = 1024;
inline constexpr double kAttentionRamp = 768;  // tokens at which attention has half its rate
inline constexpr double kAttentionBlock =
    128;  // tokens; of a causal mask's diagonal, computed whole
inline constexpr double kCacheWriteShare = 10;  // percent of a paged attention op
inline constexpr double kPrefillRatio = 0.8;
inline constexpr double kDecodeRatio = 0.2;
inline constexpr double kTransposeHigh = 20;  // percent of a convolution op
inline constexpr double kTransposeModerate = 10;

// Fusion.
inline constexpr double kFusionImpactMin = 2;  // high impact, percent of the window
inline constexpr double kFusionGapUs = 100;    // GPU time between neighbours of a chain, at most
inline constexpr double kAttentionLow = 0.6;   // of the rate that fused attention reaches
inline constexpr double kAttentionMid = 0.8;
inline constexpr double kReached = 0.8;  // of what attention reaches at its sizes: nothing to say
inline constexpr double kReachLow = 0.75;
inline constexpr double kReachMid = 0.9;
inline constexpr double kFloorRoofUs = 1;  // at its roof: what the roof says is no target
inline constexpr double kLaunchFloorUs = ledger::kKernelFloorNs / 1e3;  // no kernel takes less
// A shorter kernel is mostly launch and dispatch: no rate of memory is told of it.
inline constexpr double kFloorKernelUs = 5;
// What has neither a saving nor a way out is told of from this share of the wall time on.
inline constexpr double kNoWayShare = 2;
inline constexpr double kSliceShare = 1;  // percent of the steps: a smaller elementwise saving

// Targets: shares of what the hardware could do that libraries are known to reach. 100 % of a roof
// is a bound and no target. Sources stand in levers/catalogue.
inline constexpr double kRoofLow = 0.6;             // of a roof, for the least saving
inline constexpr double kRoofMid = 0.75;            //
inline constexpr double kRoofHigh = 0.9;            //
inline constexpr double kTensorLow = 0.35;          // of the TF32 peak, for the least saving
inline constexpr double kTensorMid = 0.5;           //
inline constexpr double kTensorHigh = 0.6;          //
inline constexpr double kLargeGemmMeasured = 0.95;  // of a measured achievable rate
inline constexpr double kLargeGemmNvidia = 0.75;    // of the dense peak, where no rate is measured
inline constexpr double kLargeGemmAmd = 0.52;       //
inline constexpr double kFullTile = 64;  // edge of an output tile of products that are not large
inline constexpr double kFullWaves = 4;  // tiles a unit from which a product fills the device
inline constexpr double kAttentionOther = 0.4;   // of the dense peak, no published rate known
inline constexpr double kAttentionShort = 0.22;  // ... of sequences below kShortSequence
inline constexpr double kStreamShare = 0.8;      // of the bandwidth: large reads and writes
inline constexpr double kTargetSlack = 0.85;     // of a target, for the least saving

// Causes.
inline constexpr double kCauseShare = 0.5;   // percent of compute time: smaller ones are not named
inline constexpr double kSiblingFlops = 8;   // siblings differ at most by this factor in work
inline constexpr double kSiblingGain = 1.1;  // a better rate than this factor is one
// Of the longest kernel of a chain without shapes: what one kernel in place of all takes at most.
inline constexpr double kFusedTimeMost = 2;
// FLOPs a byte beyond which 16-bit products are bound by arithmetic on every device of
// platforms.json.
inline constexpr double kRidgeOfAll = 400;
inline constexpr double kSiblingUs = 20;  // shorter products are launch and tail
inline constexpr std::size_t kMakersMin =
    4;  // calls of one kind that a rule about neighbours needs
inline constexpr double kMostOfMakers = 0.9;    // of them it must hold for
inline constexpr double kFewQueries = 32;       // queries of a call, with
inline constexpr double kFewQueriesKeys = 16;   // ... this many times as many keys
inline constexpr double kFewBlocksUs = 10;      // a kernel of few blocks takes at least
inline constexpr double kUncoveredShare = 5;    // percent of the base: a line without a way out
inline constexpr double kLineShare = 3;         // percent of computing: worth a fix by kind of work
inline constexpr double kFewRowsShare = 0.25;   // of the compute units have a block
inline constexpr double kFewBlocksAnyUs = 10;   // any kernel of few blocks takes at least
inline constexpr double kFewBlocksShare = 0.5;  // of the compute units have a block, at most
inline constexpr double kFewBlocksTime = 0.8;   // of an op's time is in such kernels, at least
inline constexpr double kClockSpread = 1.08;    // longest against shortest call of one kernel
inline constexpr double kNarrowRow = 256;       // elements of a row that a block is too large for
inline constexpr double kManyRows = 10'000;     // of them
inline constexpr double kMergeShare = 1;        // percent of compute time that a merge is told from
inline constexpr double kWaitingLaunches = 1;   // percent of launches: with so many waits no graph
inline constexpr double kBesides = 8;           // copies beside a graph or collectives, at least
inline constexpr double kPassesMin = 3;         // equal passes of one step that are one call
inline constexpr double kRepeatedElements = 65536;  // of a tensor that is repeated over a batch
inline constexpr double kEasierWay =
    0.6;  // of the most saving: where the host binds its part goes first
inline constexpr double kReplayIdle = 2;         // percent of a step: idle time around replays
inline constexpr double kExpertShare = 10;       // percent of compute time in experts that are cut
inline constexpr double kAutocastProducts = 15;  // percent of compute time in GEMMs and the like
inline constexpr double kLossShare = 2;          // percent of compute time in passes over logits
inline constexpr double kSectionAlone = 5;       // percent of a step: host work without a way out
inline constexpr double kRepeats = 4;            // calls from which a parameter's cast is repeated

// One row per limit, for people: its key, value, unit and what depends on it.
struct Threshold {
  std::string_view key;
  double value;
  std::string_view unit;
  std::string_view use;
};
std::span<const Threshold> Thresholds();

}  // namespace jarvis::findings::limits
