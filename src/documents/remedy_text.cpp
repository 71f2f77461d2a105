#include "documents/remedy_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/markdown_text.h"

namespace jarvis::documents {
namespace {

struct Why {
  findings::Advice advice;
  std::string_view text;
};
constexpr Why kWhys[] = {
    {findings::Advice::kBatchGemms, "one launch then carries the work of many"},
    {findings::Advice::kPadDimensions,
     "sizes that divide evenly let the library take its regular kernels"},
    {findings::Advice::kQuantise,
     "fewer bytes for each weight, and a higher rate where the GPU has one"},
    {findings::Advice::kLargerBatch, "weights are read once for more rows"},
    {findings::Advice::kFuseNeighbours, "intermediate results need not go through memory"},
    {findings::Advice::kFuseEpilogue, "the output is written once, not read and written again"},
    {findings::Advice::kCompile, "the compiler merges neighbouring ops into fewer kernels"},
    {findings::Advice::kFlashAttention, "the score matrix need not be written and read"},
    {findings::Advice::kChannelsLast, "layout changes before and after each convolution fall away"},
    {findings::Advice::kFusedNorm, "the input is read once instead of once for each step"},
    {findings::Advice::kFusedOptimizer, "parameters are updated in few launches"},
    {findings::Advice::kChunkedPrefill, "long prompts no longer hold up the decoding of others"},
    {findings::Advice::kPreTransposeWeight, "the copy happens once, not in each call"},
    {findings::Advice::kAvoidCasts, "casts only move data"},
    {findings::Advice::kContiguousInputs, "the same bytes are moved in one run"},
    {findings::Advice::kGpuGraphs,
     "a whole step is launched at once, so the host's pace matters less"},
    {findings::Advice::kCompileRest, "many short kernels become few, launched together"},
    {findings::Advice::kCompileParts, "many short kernels become few, launched together"},
    {findings::Advice::kLegacyOptimizer, "parameters are updated in few launches"},
    {findings::Advice::kAvoidSyncs, "the host can launch ahead instead of waiting"},
    {findings::Advice::kAvoidScalars, "the host can launch ahead instead of waiting"},
    {findings::Advice::kFixedShapes,
     "the host need not learn how many elements are left before it goes on"},
    {findings::Advice::kBuildOnDevice, "such a copy waits for all work that is queued"},
    {findings::Advice::kReadBackOnce, "such a copy waits for all work that is queued"},
    {findings::Advice::kPrefetchData, "data is there when the step begins"},
    {findings::Advice::kLoaderWorkers, "batches are made while the GPU computes"},
    {findings::Advice::kPreprocessOnGpu,
     "the GPU does in one pass what the host does image by image, and uint8 is a quarter of fp32 "
     "to "
     "copy"},
    {findings::Advice::kPrepareAhead, "the next input is there when the GPU is done with this one"},
    {findings::Advice::kPrepareSteps, "the next graph is there when the last one is done"},
    {findings::Advice::kOnceOutside, "what stays the same need not be looked up in each step"},
    {findings::Advice::kActivationAiter, "the activation only moves data"},
    {findings::Advice::kActivationFlashInfer, "the activation only moves data"},
    {findings::Advice::kCompileGraphs,
     "the compiler leaves fewer kernels, and one launch starts all of them"},
    {findings::Advice::kHostLengths, "the host need not wait for the step before"},
    {findings::Advice::kDecodeElsewhere, "frames are there when the step begins"},
    {findings::Advice::kHostOpsToDevice, "only the reduced result is copied"},
    {findings::Advice::kGraphParts, "each part is launched at once"},
    {findings::Advice::kFindHostWork, "what nothing records cannot be named from this trace"},
    {findings::Advice::kOverlapAllToAll, "half the bytes take half the time"},
    {findings::Advice::kBalanceExchange,
     "an exchange takes as long as its slowest pair of ranks, and nothing can be issued beside it"},
    {findings::Advice::kPrefetchToDevice, "the copy runs beside work that does not need it"},
    {findings::Advice::kProductAndShuffle, "a product needs no layout changes around it"},
    {findings::Advice::kTuneBuckets, "what is left exposed has no computing left beside it"},
    {findings::Advice::kExposedBuckets, "more computing stands beside each reduction"},
    {findings::Advice::kCompressGradients, "half of the bytes"},
    {findings::Advice::kFuseAllReduce, "the reduced tensor is not written and read again"},
    {findings::Advice::kFuseAllReduceVllm, "the reduced tensor is not written and read again"},
    {findings::Advice::kFuseAllReduceSglang, "the reduced tensor is not written and read again"},
    {findings::Advice::kFuseIntoProduct, "the product's output is not written and read again"},
    {findings::Advice::kFuseRotary, "the halves are not copied, negated and joined on their own"},
    {findings::Advice::kGraphsVllm, "a whole step is launched at once"},
    {findings::Advice::kGraphsSglang, "a whole step is launched at once"},
    {findings::Advice::kGraphsTensorRt, "a whole step is launched at once"},
    {findings::Advice::kTuneHipblaslt,
     "libraries choose by heuristics; a search over their solutions may find a faster one"},
    {findings::Advice::kTuneMissing, "a size that is not in the file takes the library's default"},
    {findings::Advice::kMaxAutotune,
     "libraries choose by heuristics; a search over kernels may find a faster one"},
    {findings::Advice::kAttentionCk, "Composable Kernel's attention is faster on this device"},
    {findings::Advice::kAttentionCudnn, "newer kernels use this device's asynchronous units"},
    {findings::Advice::kRecordRanks, "what is waiting cannot be cured on this rank"},
    {findings::Advice::kOverlapCommunication,
     "time that computing covers no longer lengthens the step"},
    {findings::Advice::kPinnedCopies, "copies from pinned memory need not stop the host"},
    {findings::Advice::kPinLoader,
     "batches then come in pinned memory, and their copies need not stop the host"},
    {findings::Advice::kCopyBackAside, "the copy runs beside work that does not need it"},
    {findings::Advice::kWarmUpFirst, "set-up is paid once, before what is measured"},
    {findings::Advice::kOverlapHostWork,
     "the GPU then has work while the host prepares what comes next"},
    {findings::Advice::kRecordWithoutStacks,
     "the step is that much shorter when nobody records it; nothing needs to be changed"},
    {findings::Advice::kGiveCores,
     "the host then launches ahead, and other ranks no longer wait for it"},
    {findings::Advice::kGatherInstead,
     "scattered writes with accumulation are serialised, scattered reads are not"},
    {findings::Advice::kPreallocate, "the copy of each part falls away"},
    {findings::Advice::kWriteInPlace, "copies into static buffers fall away"},
    {findings::Advice::kReplay,
     "a reproducer lets the kernel team measure and tune outside the model"},
    {findings::Advice::kSplitK,
     "dividing the long dimension gives more of the GPU something to do"},
    {findings::Advice::kTuneCommunication,
     "channels, algorithm and topology settings change the time on "
     "the wire"},
    {findings::Advice::kProfileCounters,
     "a counter tool on the reproducer shows what a trace cannot"},
    {findings::Advice::kRecordRanks,
     "one rank cannot tell waiting for others from slow transfer; changing code before that is "
     "known is guessing"},
};

struct Warning {
  std::string_view code;
  std::string_view text;
};
constexpr Warning kWarnings[] = {
    {"graph_replay", "Launches come from a GPU graph, so ops and gaps are known only in part."},
    {"starved",
     "The GPU often ran dry after this work: faster kernels alone may only lengthen the wait for "
     "the host."},
    {"routing_assumed", "The routing of tokens is not recorded; an even one is assumed."},
    {"no_platform", "No platform is known, so there is no roof to measure against; name one."},
    {"no_shapes", "No shapes were recorded; profile with `record_shapes=True`."},
    {"no_model", "No performance model covers the work, so its efficiency is not known."},
    {"near_roof", "Its efficiency is good or better, so there is little to gain."},
    {"above_roof", "Rows above their roof are listed as anomalies and claim nothing."},
    {"see_multi_kernel", "It is judged with communication and copies."},
    {"see_fusion", "It is judged with the chain of ops that it is part of."},
    {"busy", "The GPU is busy all the time."},
    {"below_threshold", "What could be saved is below the threshold for a finding."},
    {"no_gpu_work", "The trace has no GPU work."},
    {"no_ops", "The trace has no ops, so kernels cannot be put into chains."},
    {"no_launches", "Launches are not recorded, so gaps cannot be explained."},
    {"several_devices", "The trace has several devices; gaps are of all together."},
};

}  // namespace

std::string_view WhyItHelps(findings::Advice advice) {
  const auto* found = std::find_if(std::begin(kWhys), std::end(kWhys),
                                   [&](const Why& why) { return why.advice == advice; });
  return found == std::end(kWhys) ? std::string_view() : found->text;
}

std::string NoWayText(const std::vector<findings::Remedy>& path) {
  for (const findings::Remedy& remedy : path) {
    if (remedy.advice != findings::Advice::kNoneKnown) continue;
    for (const findings::Fact& fact : remedy.facts) {
      const auto* reason = std::get_if<std::string>(&fact.value);
      if (fact.key == "reason" && reason != nullptr) return "None: " + *reason + ".";
    }
  }
  return std::string(kNoPath);
}

std::string WhyTheyHelp(const std::vector<findings::Remedy>& path_a,
                        const std::vector<findings::Remedy>& path_b) {
  std::string text;
  for (const auto& [letter, path] : {std::pair{'A', &path_a}, {'B', &path_b}}) {
    std::string whys;
    for (const findings::Remedy& remedy : *path) {
      const std::string_view why = WhyItHelps(remedy.advice);
      if (!why.empty()) whys += (whys.empty() ? "" : "; ") + std::string(why);
    }
    if (whys.empty()) continue;
    text += fmt::format("{}Why Path {} helps: {}.", text.empty() ? "" : " ", letter, whys);
  }
  return text.empty() ? "The recommendation says what each path rests on." : text;
}

std::string WarningText(std::string_view code) {
  const auto* found = std::find_if(std::begin(kWarnings), std::end(kWarnings),
                                   [&](const Warning& warning) { return warning.code == code; });
  if (found != std::end(kWarnings)) return std::string(found->text);
  return Capitalised(Words(code)) + ".";
}

std::string Words(std::string_view key) {
  std::string words = OneLine(ValidUtf8(key));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace jarvis::documents
