// What another library's kernels reach: published rates of attention, and tuned tables of GEMMs.
#include <string>

#include <doctest/doctest.h>

#include "findings/one/published_rates.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

TEST_CASE("a fused attention kernel is held against published rates of others") {
  const auto trace = [](double us, const char* kernel) {
    TraceText text;
    text.OpWithKernel("aten::_scaled_dot_product_flash_attention", 0, 10, kernel, 20, us, 1,
                      Shapes("[[2,32,4096,64],[2,32,4096,64],[2,32,4096,64]]", "c10::BFloat16", 3) +
                          R"(,"Concrete Inputs":["","","","0.","False","False",""])");
    return text;
  };
  // 275 GFLOP.
  const Analyzed one = Analyze(trace(1000, "attn_fwd"), "MI300X");
  const Finding* finding = one.FindRule(Pattern::kSlowAttentionKernel);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_b->savings_ms.high == doctest::Approx(1 - 0.55).epsilon(0.01));
  CHECK(Analyze(trace(600, "attn_fwd"), "MI300X").FindRule(Pattern::kSlowAttentionKernel) ==
        nullptr);
  CHECK(Analyze(trace(1000, "ck_tile::FmhaFwdKernel"), "MI300X")
            .FindRule(Pattern::kSlowAttentionKernel) == nullptr);
  // Both ways lead to one library's kernels, which a build may lack: one range.
  CHECK(finding->change_a->savings_ms == finding->change_b->savings_ms);
  CHECK(finding->change_a->savings_ms.low == 0);
}

TEST_CASE("a published rate far above the trace's is sure only where it was measured so") {
  const auto reach = [](const char* platform, double head, double now) {
    const PublishedAttention* rate = PublishedAttentionFor(*perf::FindPlatform(platform), head);
    REQUIRE(rate != nullptr);
    return SavedAtPublished(*rate, head, now, rate->tflops, {});
  };
  // Of 400 TFLOPS/s at this head size; a row of a larger one.
  CHECK(reach("H100", 64, 200).low == doctest::Approx(1 - 200 / 300.0));
  CHECK(reach("H100", 40, 200).low == 0);
  CHECK(reach("H100", 40, 200).high == doctest::Approx(0.5));
  CHECK(reach("H100", 40, 270).low == doctest::Approx(1 - 270 / 300.0));
}

// GEMMs below the roof of an aiter op, called by `frame`.
std::string AiterTuning(const char* frame) {
  TraceText text;
  for (int i = 0; i < 3; ++i) {
    text.Python(frame, 100.0 * i, 50);
    text.OpWithKernel("aiter::gemm_a16w16", 100.0 * i + 5, 10, "Cijk_Alik_Bljk_BBS_BH_MT256x256x64",
                      5000.0 * i + 1000, 4000, i + 1,
                      Shapes("[[8192,8192],[8192,8192]]", "c10::BFloat16"));
  }
  const Analyzed one = Analyze(text, "MI300X");
  for (const Finding& finding : one.analysis.findings) {
    for (const PatternHit& hit : finding.patterns) {
      for (const Fact& fact : hit.facts) {
        const auto* words = std::get_if<std::string>(&fact.value);
        if (words != nullptr && words->find("aiter's table") != words->npos) return *words;
      }
    }
  }
  return "";
}

TEST_CASE("only the frame of aiter's fallback tells that its table has no entry") {
  CHECK(AiterTuning("aiter/tuned_gemm.py(395): torch_gemm")
            .find("has no entry for them, as aiter calls its fallback `torch_gemm`") !=
        std::string::npos);
  CHECK(AiterTuning("aiter/tuned_gemm.py(250): hipb_gemm").find("may have no entry") !=
        std::string::npos);
}

}  // namespace
}  // namespace jarvis::findings
