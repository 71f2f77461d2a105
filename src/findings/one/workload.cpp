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

// The line tells them in this order.
struct LineGroup {
  std::string_view title;
  std::vector<WorkloadPart> parts;
};
const std::vector<LineGroup> kLineGroups = {
    {"Model",
     {WorkloadPart::kModel, WorkloadPart::kFamily, WorkloadPart::kParameters, WorkloadPart::kLayers,
      WorkloadPart::kHidden, WorkloadPart::kHeads, WorkloadPart::kExperts,
      WorkloadPart::kVocabulary, WorkloadPart::kComponents}},
    {"Run",
     {WorkloadPart::kFramework, WorkloadPart::kPhase, WorkloadPart::kBatch, WorkloadPart::kInput,
      WorkloadPart::kPrecision, WorkloadPart::kExecution, WorkloadPart::kSteps}},
    {"GPU", {WorkloadPart::kDevice}},
    {"Parallelism", {WorkloadPart::kParallelism}},
};

// How a part reads in the line, with {} for its value.
std::string InLine(WorkloadPart part, const std::string& value) {
  switch (part) {
    case WorkloadPart::kLayers: return value + (value == "1" ? " layer" : " layers");
    case WorkloadPart::kHidden: return "hidden " + value;
    case WorkloadPart::kHeads: {
      // "64 x 128 (8 on this rank)": so many of so much each.
      constexpr std::string_view kOf = " x ";
      const std::size_t of = value.find(kOf);
      if (of == std::string::npos) return "heads " + value;
      return value.substr(0, of) + " heads of " + value.substr(of + kOf.size());
    }
    case WorkloadPart::kPrecision: {
      // "fp32 93%, tf32 7%": the first share says of what.
      const std::size_t share = value.find('%');
      if (share == std::string::npos) return value;
      return value.substr(0, share + 1) + " of matrix time" + value.substr(share + 1);
    }
    case WorkloadPart::kExperts: return "experts " + value;
    case WorkloadPart::kVocabulary: return "vocabulary " + value;
    case WorkloadPart::kParameters: return "about " + value + " parameters";
    case WorkloadPart::kComponents: {
      // "T5EncoderModel 12% of compute time, Decoder 3%": the first share says of what.
      const std::size_t share = std::min(value.find('%'), value.size() - 1) + 1;
      const bool shares = value[share - 1] == '%';
      return "further parts " + value.substr(0, share) + (shares ? " of compute time" : "") +
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

namespace {

struct PartsTold {
  std::string recorded, inferred;
};
PartsTold TellParts(const Workload& workload, const std::vector<WorkloadPart>& parts,
                    bool below_title) {
  PartsTold out;
  for (const WorkloadPart part : parts) {
    const WorkloadField& field = workload[part];
    const bool sure = field.certainty != Certainty::kInferred;
    const bool in_title = part == WorkloadPart::kModel || part == WorkloadPart::kDevice;
    if (!field.known() || (below_title && in_title && sure)) continue;
    std::string& told = sure ? out.recorded : out.inferred;
    told += (told.empty() ? "" : ", ") + InLine(part, field.value);
  }
  return out;
}

std::string Line(const PartsTold& told) {
  if (told.inferred.empty()) return told.recorded;
  return told.recorded + (told.recorded.empty() ? "inferred: " : "; inferred: ") + told.inferred;
}

}  // namespace

std::string WorkloadLine(const Workload& workload, bool below_title) {
  std::string line;
  for (const LineGroup& group : kLineGroups) {
    const PartsTold told = TellParts(workload, group.parts, below_title);
    if (told.recorded.empty() && told.inferred.empty()) continue;
    line += (line.empty() ? "" : " ") + std::string(group.title);
    if (!told.recorded.empty()) line += ": " + told.recorded;
    if (!told.inferred.empty())
      line += (told.recorded.empty() ? " (inferred): " : "; inferred: ") + told.inferred;
    line += '.';
  }
  return line;
}

std::string RunLine(const Workload& workload) {
  PartsTold told = TellParts(
      workload,
      {WorkloadPart::kFramework, WorkloadPart::kPhase, WorkloadPart::kBatch, WorkloadPart::kInput,
       WorkloadPart::kPrecision, WorkloadPart::kExecution, WorkloadPart::kParallelism},
      false);
  return Line(told);
}

std::string ModelLine(const Workload& workload) {
  std::vector<WorkloadPart> parts = kLineGroups.front().parts;
  parts.push_back(WorkloadPart::kSteps);
  return Line(TellParts(workload, parts, true));
}

}  // namespace jarvis::findings
