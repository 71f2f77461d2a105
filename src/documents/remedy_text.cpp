#include "documents/remedy_text.h"

#include <algorithm>

#include "base/text.h"

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
    {findings::Advice::kPackSequences, "attention over few tokens is mostly overhead"},
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
    {findings::Advice::kAvoidSyncs, "the host can launch ahead instead of waiting"},
    {findings::Advice::kPrefetchData, "data is there when the step begins"},
    {findings::Advice::kOverlapCommunication,
     "time that computing covers no longer lengthens the step"},
    {findings::Advice::kPinnedCopies, "copies from pinned memory need not stop the host"},
    {findings::Advice::kKeepOnDevice, "what is never copied costs nothing"},
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
    {findings::Advice::kSplitBatch, "in inference nothing else is left to hide it behind"},
    {findings::Advice::kWriteInPlace, "copies into static buffers fall away"},
    {findings::Advice::kReplay,
     "a reproducer lets the kernel team measure and tune outside the model"},
    {findings::Advice::kTuneGemm,
     "libraries choose by heuristics; a search over their solutions for these "
     "sizes may find a faster one"},
    {findings::Advice::kSplitK,
     "dividing the long dimension gives more of the GPU something to do"},
    {findings::Advice::kKernelSelection,
     "another kernel of the same library may serve these sizes better"},
    {findings::Advice::kBandwidthTuning,
     "simple ops of this trace show what bandwidth is within reach"},
    {findings::Advice::kTuneCommunication,
     "channels, algorithm and topology settings change the time on "
     "the wire"},
    {findings::Advice::kAddModel, "with a model, the gap to the roof can be told"},
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

std::string WarningText(std::string_view code) {
  const auto* found = std::find_if(std::begin(kWarnings), std::end(kWarnings),
                                   [&](const Warning& warning) { return warning.code == code; });
  if (found != std::end(kWarnings)) return std::string(found->text);
  std::string words = Words(code);
  if (!words.empty() && words[0] >= 'a' && words[0] <= 'z')
    words[0] = static_cast<char>(words[0] - 32);
  return words + ".";
}

std::string Words(std::string_view key) {
  std::string words = OneLine(ValidUtf8(key));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace jarvis::documents
