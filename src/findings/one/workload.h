// What a trace is of: model, phase, sizes, precision, machine. Every statement has its evidence and
// says whether the trace records it or whether it is inferred; what cannot be said is absent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::findings {

enum class Certainty : std::uint8_t {
  kRecorded,  // stands in the trace: a name, a shape, a member of its metadata
  kInferred,  // follows from what stands there by a rule that may be wrong
  kGiven,     // somebody who knows said so
};
std::string_view CertaintyText(Certainty certainty);  // "recorded", "inferred", "given"

struct WorkloadField {
  std::string value;  // empty: not known
  std::vector<std::string> evidence;
  Certainty certainty = Certainty::kInferred;

  bool known() const { return !value.empty(); }
};

// In the order in which they are told.
enum class WorkloadPart : std::uint8_t {
  kModel,        // "Owlv2ForObjectDetection", "ResNet-50"
  kFamily,       // "mixture-of-experts decoder", "CNN"
  kParameters,   // "8B"
  kComponents,   // further parts with their share of GPU time: "T5EncoderModel 3 %"
  kFramework,    // "vLLM, FlashInfer"
  kPhase,        // "prefill", "training: forward, backward, optimizer"
  kBatch,        // "16 x 559 tokens", "32 requests"
  kInput,        // "128 frames of 224 x 224"
  kLayers,       // "36"
  kHidden,       // "2880"
  kHeads,        // "64 x 64 (8 KV heads)"
  kExperts,      // "128, top 4"
  kVocabulary,   // "201088"
  kPrecision,    // "bf16 92 %, fp32 8 %"
  kExecution,    // "eager", "graph replay"
  kDevice,       // "MI300X"
  kParallelism,  // "tensor parallel 8, rank 0 of 8"
  kSteps,        // "3 steps"
};
inline constexpr std::size_t kWorkloadParts = 18;

// The phase of a forward pass that is recorded with autograd on and without its backward pass.
inline constexpr std::string_view kForwardWithAutograd = "forward only, autograd on";

// How the phase of a training step begins of which no pass is recorded; what is follows.
inline constexpr std::string_view kNoPassRecorded =
    "training, but no forward or backward pass was recorded";

// The name of a part in files and arguments ("model"), and for people ("Model").
std::string_view WorkloadKey(WorkloadPart part);
std::string_view WorkloadTitle(WorkloadPart part);
std::optional<WorkloadPart> WorkloadPartOf(std::string_view key);

struct Workload {
  std::array<WorkloadField, kWorkloadParts> fields;
  std::vector<std::string> module_classes;  // all of the trace, sorted
  std::size_t repeats = 1;                  // how often the work of the only step runs

  const WorkloadField& operator[](WorkloadPart part) const {
    return fields[static_cast<std::size_t>(part)];
  }
  WorkloadField& operator[](WorkloadPart part) { return fields[static_cast<std::size_t>(part)]; }
  // Sets a part if it is not known yet.
  void Set(WorkloadPart part, std::string value, Certainty certainty, std::string evidence);
};

// What the workload is called in a title: the model, else the family, else by its framework
// ("PyTorch program"), else "GPU program".
std::string WorkloadName(const Workload& workload);
// All that is known in one line, for the top of reports and answers, of the model, the run and the
// GPU, each with what is inferred last: "Model: GptOssForCausalLM; inferred: experts 128. Run:
// vLLM, prefill, 1 request of 888 tokens. GPU: B200. Parallelism: 1 rank." Empty: nothing is known.
// `below_title`: without the recorded model and GPU, which the title above names.
std::string WorkloadLine(const Workload& workload, bool below_title = false);
// Of it what runs, and how: "vLLM, prefill, 1 request of 888 tokens, tensor parallel 8".
std::string RunLine(const Workload& workload);
// The rest of it, below a title that has the recorded model: "36 layers; inferred: experts 128".
std::string ModelLine(const Workload& workload);

}  // namespace jarvis::findings
