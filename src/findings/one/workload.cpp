#include "findings/one/workload.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace jarvis::findings {
namespace {

struct PartText {
  std::string_view key, title;
};
// By WorkloadPart.
constexpr PartText kPartTexts[] = {
    {"model", "Model"},
    {"family", "Family"},
    {"parameters", "Parameters"},
    {"components", "Further components"},
    {"framework", "Framework"},
    {"phase", "Phase"},
    {"batch", "Batch and tokens"},
    {"input", "Input"},
    {"layers", "Layers"},
    {"hidden", "Hidden size"},
    {"heads", "Attention heads"},
    {"experts", "Experts"},
    {"vocabulary", "Vocabulary"},
    {"precision", "Precision"},
    {"execution", "Execution"},
    {"device", "Device"},
    {"parallelism", "Parallelism"},
    {"steps", "Recorded"},
};
static_assert(std::size(kPartTexts) == kWorkloadParts);

// How a part reads in the line, with {} for its value.
std::string InLine(WorkloadPart part, const std::string& value) {
  switch (part) {
    case WorkloadPart::kLayers: return value + (value == "1" ? " layer" : " layers");
    case WorkloadPart::kHidden: return "hidden " + value;
    case WorkloadPart::kHeads: return "heads " + value;
    case WorkloadPart::kExperts: return "experts " + value;
    case WorkloadPart::kVocabulary: return "vocabulary " + value;
    case WorkloadPart::kParameters: return "about " + value + " parameters";
    case WorkloadPart::kComponents: {
      // "T5EncoderModel 12% of compute time, Decoder 3%": the first share says of what.
      const std::size_t share = std::min(value.find('%'), value.size() - 1) + 1;
      const bool shares = value[share - 1] == '%';
      return "with " + value.substr(0, share) + (shares ? " of compute time" : "") +
             value.substr(share);
    }
    default: return value;
  }
}

}  // namespace

std::string_view CertaintyText(Certainty certainty) {
  switch (certainty) {
    case Certainty::kRecorded: return "recorded";
    case Certainty::kInferred: return "inferred";
    case Certainty::kGiven: return "given";
  }
  return "";
}

std::string_view WorkloadKey(WorkloadPart part) {
  return kPartTexts[static_cast<std::size_t>(part)].key;
}
std::string_view WorkloadTitle(WorkloadPart part) {
  return kPartTexts[static_cast<std::size_t>(part)].title;
}
std::optional<WorkloadPart> WorkloadPartOf(std::string_view key) {
  for (std::size_t i = 0; i < kWorkloadParts; ++i) {
    if (kPartTexts[i].key == key) return static_cast<WorkloadPart>(i);
  }
  return std::nullopt;
}

void Workload::Set(WorkloadPart part, std::string value, Certainty certainty,
                   std::string evidence) {
  WorkloadField& field = (*this)[part];
  if (field.known() || value.empty()) return;
  field.value = std::move(value);
  field.certainty = certainty;
  if (!evidence.empty()) field.evidence.push_back(std::move(evidence));
}

std::string WorkloadName(const Workload& workload) {
  for (const WorkloadPart part : {WorkloadPart::kModel, WorkloadPart::kFamily}) {
    if (workload[part].known()) return workload[part].value;
  }
  const std::string& frameworks = workload[WorkloadPart::kFramework].value;
  return frameworks.empty() ? "GPU program"
                            : frameworks.substr(0, frameworks.find(',')) + " program";
}

std::string WorkloadLine(const Workload& workload) {
  std::string recorded, inferred;
  const auto add = [](const std::string& text, std::string* line) {
    *line += (line->empty() ? "" : ", ") + text;
  };
  for (std::size_t i = 0; i < kWorkloadParts; ++i) {
    const auto part = static_cast<WorkloadPart>(i);
    const WorkloadField& field = workload[part];
    if (!field.known()) continue;
    add(InLine(part, field.value), field.certainty == Certainty::kInferred ? &inferred : &recorded);
  }
  if (inferred.empty()) return recorded;
  return recorded + (recorded.empty() ? "inferred: " : "; inferred: ") + inferred;
}

}  // namespace jarvis::findings
