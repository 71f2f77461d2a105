// The texts of the workflow's enumerations, and the judgements that are nothing but thresholds.
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"
#include "findings/one/fusion.h"
#include "findings/one/idle.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/operation.h"
#include "findings/one/thresholds.h"
#include "findings/one/trace_quality.h"

namespace jarvis::findings {
namespace {

template <typename Enum, std::size_t N>
std::string_view At(const std::string_view (&texts)[N], Enum value) {
  return texts[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view BoundText(Bound bound) {
  return At({"compute", "memory", "unknown", "unmodeled"}, bound);
}
std::string_view BandText(Band band) {
  return At({"excellent", "good", "acceptable", "needs investigation", "unknown", "anomaly"}, band);
}
std::string_view BoundSourceText(BoundSource source) {
  return At({"ridge", "intensity_bands", "none"}, source);
}
std::string_view TierText(Tier tier) {
  return At({"compute_kernel", "fusion", "system"}, tier);
}
std::string_view MethodText(EstimateMethod method) {
  return At({"quantified", "measured", "traffic", "heuristic", "none"}, method);
}
std::string_view StatusText(Status status) {
  return At({"OK", "NO_DATA"}, status);
}
std::string_view KindText(Kind kind) {
  return At({"gemm", "elementwise", "sdpa", "reduce", "norm", "convolution", "moe", "triton",
             "communication", "other"},
            kind);
}
std::string_view GapText(GapClass kind) {
  return At({"host_bound", "synchronisation", "data_loading", "communication_wait", "start_up",
             "launch_delay", "unknown"},
            kind);
}
std::string_view DirectionText(CopyDirection direction) {
  return At({"D2H", "H2D", "D2D", "P2P", "other"}, direction);
}
std::string_view FusionText(FusionKind kind) {
  return At({"attention", "norm", "activation", "rotary", "epilogue", "optimizer", "chain"}, kind);
}
std::string_view DependencyText(Dependency dependency) {
  return At({"proven", "plausible", "unknown"}, dependency);
}
std::string_view SeverityText(Severity severity) {
  return At({"hard", "warning", "note"}, severity);
}
std::string_view PriorityText(PriorityClass priority) {
  return At({"", "Critical", "High", "Medium", "Low"}, priority);
}

Band BandOf(std::optional<double> efficiency) {
  if (!efficiency) return Band::kUnknown;
  if (*efficiency > limits::kAtRoof) return Band::kAnomaly;
  if (*efficiency > limits::kExcellent) return Band::kExcellent;
  if (*efficiency >= limits::kGood) return Band::kGood;
  if (*efficiency >= limits::kAcceptable) return Band::kAcceptable;
  return Band::kInvestigate;
}

PriorityClass PriorityOf(double share, std::optional<double> efficiency, bool notable_pattern) {
  if (share > limits::kCriticalShare && efficiency && *efficiency < limits::kCriticalEfficiency) {
    return PriorityClass::kCritical;
  }
  const bool slow =
      efficiency && *efficiency < limits::kHighEfficiency && share >= limits::kHighEfficiencyShare;
  if (share > limits::kHighShare || slow) return PriorityClass::kHigh;
  if (share > limits::kMediumShare || notable_pattern) return PriorityClass::kMedium;
  return PriorityClass::kLow;
}

Kind KindOf(std::string_view key) {
  if (key == "gemm" || key.starts_with("groupedgemm")) return Kind::kGemm;
  if (key == "elementwise") return Kind::kElementwise;
  if (key.starts_with("sdpa") || key == "inferenceattention") return Kind::kSdpa;
  if (key == "reduce" || key == "softmax" || key == "pooling") return Kind::kReduce;
  if (key.starts_with("norm") || key == "rmsnorm" || key == "batchnorm") return Kind::kNorm;
  if (key.starts_with("conv")) return Kind::kConvolution;
  if (key.starts_with("moe_comm")) return Kind::kCommunication;
  if (key == "moe_fused" || key == "moe_unfused") return Kind::kMoe;
  if (key == "triton") return Kind::kTriton;
  if (key == "record_param_comms" || key == "customcollective") return Kind::kCommunication;
  return Kind::kOther;
}

}  // namespace jarvis::findings
