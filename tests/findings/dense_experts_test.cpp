// Experts that are computed for every token, and experts that are not.
#include "findings/one/dense_experts.h"

#include <algorithm>
#include <array>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

// Six layers of a gate and four experts, whose products have so many rows.
TraceText Layers(const std::string& module, const std::array<int, 4>& rows, int gate_rows = 1024) {
  TraceText text;
  double at = 10, gpu = 10;
  int link = 0;
  const auto product = [&](int m, int n, double us) {
    gpu = std::max(gpu, at + 12);
    text.OpWithKernel("aten::mm", at, 10, "ampere_sgemm_128x64_tn", gpu, us, ++link,
                      Shapes(fmt::format("[[{},512],[512,{}]]", m, n), "float"));
    gpu += us + 1;
    at += 20;
  };
  for (int layer = 0; layer < 6; ++layer) {
    const double begin = at;
    at += 5;
    product(gate_rows, 4, 10);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double expert = at;
      at += 2;
      product(rows[i], 2048, 300);
      text.Module(fmt::format("FeedForward_{}", 4 * layer + static_cast<int>(i)), expert,
                  at - expert + 1);
      at += 5;
    }
    text.Module(fmt::format("{}_{}", module, layer), begin, at - begin);
    at += 10;
  }
  return text.Annotation("ProfilerStep#1", 0, gpu + 10);
}

const Finding* Dense(const Analyzed& one) {
  return one.FindRule(Pattern::kDenseExperts);
}

TEST_CASE("each token in every expert is work that the gate throws away") {
  const Analyzed one = Analyze(Layers("SwitchMoE", {1024, 1024, 1024, 1024}), "A100");
  const Finding* finding = Dense(one);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_a.has_value());
  // 6 x 4 x 0.3 ms; of four experts a token needs one or two.
  CHECK(finding->change_a->savings_ms.low == doctest::Approx(7.2 * 0.5));
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(7.2 * 0.75));
  CHECK(one.analysis.workload[WorkloadPart::kExperts].value.starts_with("4"));
}

TEST_CASE("routed rows, a gate of other rows and modules of other names are none") {
  CHECK(Dense(Analyze(Layers("SwitchMoE", {200, 300, 424, 100}), "A100")) == nullptr);
  CHECK(Dense(Analyze(Layers("SwitchMoE", {256, 256, 256, 256}), "A100")) == nullptr);
  CHECK(Dense(Analyze(Layers("Branches", {1024, 1024, 1024, 1024}), "A100")) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
