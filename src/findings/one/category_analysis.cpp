#include "findings/one/category_analysis.h"

#include "findings/one/enum_text.h"

namespace jarvis::findings {

std::string_view StatusText(Status status) {
  return EnumText({"OK", "NO_DATA"}, status);
}

std::string_view KindText(Kind kind) {
  return EnumText({"gemm", "elementwise", "sdpa", "reduce", "norm", "convolution", "moe", "triton",
                   "communication", "other"},
                  kind);
}

Kind KindOf(std::string_view key) {
  if (key == "gemm" || key.starts_with("groupedgemm")) return Kind::kGemm;
  if (key == "elementwise") return Kind::kElementwise;
  if (key.starts_with("sdpa") || key == "inferenceattention") return Kind::kSdpa;
  if (key == "reduce" || key == "softmax" || key == "pooling") return Kind::kReduce;
  if (key.starts_with("norm") || key == "rmsnorm" || key.starts_with("batch")) return Kind::kNorm;
  if (key.starts_with("conv")) return Kind::kConvolution;
  if (key.starts_with("moe_comm")) return Kind::kCommunication;
  if (key == "moe_fused" || key == "moe_unfused" || key == "moe_aux") return Kind::kMoe;
  if (key == "quantize" || key == "groupquant") return Kind::kElementwise;
  if (key == "triton") return Kind::kTriton;
  if (key == "record_param_comms" || key == "customcollective") return Kind::kCommunication;
  return Kind::kOther;
}

}  // namespace jarvis::findings
