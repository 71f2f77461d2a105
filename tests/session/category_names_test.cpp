#include "session/category_names.h"

#include <string>

#include <doctest/doctest.h>

namespace jarvis::session {
namespace {

TEST_CASE("keys") {
  CHECK(session::CategoryKey("CONV_fwd") == "conv_fwd");
  CHECK(session::CategoryKey("  GEMM ") == "gemm");
  CHECK(session::CategoryKey("a b/c") == "a_b_c");
  CHECK(session::CategoryKey("") == "other");
}

// Which of the categories a name means.
std::string Meant(std::string_view wanted) {
  std::string meant;
  for (const char* category : {"GEMM",
                               "CONV_fwd",
                               "CONV_bwd",
                               "SDPA_fwd",
                               "SDPA_bwd",
                               "InferenceAttention",
                               "NORM_fwd",
                               "NORM_bwd",
                               "RMSNorm",
                               "MoE_fused",
                               "MoE_unfused",
                               "MoE_comm_fwd",
                               "RoPE_fwd",
                               "FusedRoPE",
                               "GroupedGEMM_fwd",
                               "elementwise",
                               "reduce",
                               "triton",
                               "record_param_comms",
                               "CustomCollective",
                               "other"}) {
    if (session::CategoryMatches(wanted, category))
      meant += (meant.empty() ? "" : " ") + std::string(category);
  }
  return meant;
}

TEST_CASE("aliases") {
  CHECK(Meant("gemm") == "GEMM");
  CHECK(Meant("conv_FWD") == "CONV_fwd");
  CHECK(Meant("convolution") == "CONV_fwd CONV_bwd");
  CHECK(Meant("norm") == "NORM_fwd NORM_bwd RMSNorm");
  CHECK(Meant("attention") == "SDPA_fwd SDPA_bwd InferenceAttention");
  CHECK(Meant("SDPA") == "SDPA_fwd SDPA_bwd InferenceAttention");
  CHECK(Meant("moe") == "MoE_fused MoE_unfused MoE_comm_fwd");
  CHECK(Meant("rope") == "RoPE_fwd FusedRoPE");
  CHECK(Meant("communication") == "record_param_comms CustomCollective");
  CHECK(Meant("generic") == "other");
  CHECK(Meant("") == "other");
  CHECK(Meant("no such category") == "");
}

}  // namespace
}  // namespace jarvis::session
