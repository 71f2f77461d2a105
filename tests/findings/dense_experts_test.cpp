// Experts that are computed for every token, and experts that are not.
#include "findings/one/dense_experts.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

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
// `routing`: an op of the gate and its arguments.
struct Routing {
  std::string op, args;
};
TraceText Layers(const std::string& module, const std::array<int, 4>& rows, int gate_rows = 1024,
                 const std::vector<Routing>& routing = {}) {
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
    for (const Routing& one : routing) {
      text.Op(one.op, at, 5, one.args);
      at += 10;
    }
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

constexpr std::array<int, 4> kDenseRows = {1024, 1024, 1024, 1024};

std::string TopK(int k, int of = 4) {
  return fmt::format(
      R"("Input Dims":[[1024,{}],[],[],[],[]],"Concrete Inputs":["","{}","-1","",""])", of, k);
}

// Of 7.2 ms, with up to a tile of 128 rows more for each of four experts of 1024 rows.
Range SavedWith(const std::vector<Routing>& routing) {
  const Analyzed one = Analyze(Layers("SwitchMoE", kDenseRows, 1024, routing), "A100");
  const Finding* finding = Dense(one);
  REQUIRE((finding != nullptr && finding->change_a.has_value()));
  return finding->change_a->savings_ms;
}

TEST_CASE("routing ops tell to how many experts a token goes") {
  const Range one = SavedWith({{"aten::topk", TopK(1)}});
  CHECK(one.high == doctest::Approx(7.2 * 0.75));
  CHECK(one.low == doctest::Approx(7.2 * 0.625));
  CHECK(SavedWith({{"aten::topk", TopK(2)}}).high == doctest::Approx(7.2 * 0.5));
  const std::string scattered = R"("Input Dims":[[1024,4],[],[1024,1],[]])";
  CHECK(SavedWith({{"aten::scatter_", scattered}}).low == doctest::Approx(7.2 * 0.625));
  const std::string largest =
      R"("Input Dims":[[1024,4],[],[]],"Concrete Inputs":["","-1","False"])";
  CHECK(SavedWith({{"aten::argmax", largest}}).low == doctest::Approx(7.2 * 0.625));
}

TEST_CASE("near: routing ops that tell nothing of the experts leave one or two") {
  const std::string largest =
      R"("Input Dims":[[1024,4],[],[]],"Concrete Inputs":["","-1","False"])";
  const std::vector<std::vector<Routing>> untold = {
      {{"aten::topk", TopK(1, 16)}},                                       // over something else
      {{"aten::topk", R"("Input Dims":[[1024,4],[],[],[],[]])"}},          // without its k
      {{"aten::topk", TopK(1)}, {"aten::topk", TopK(2)}},                  // which of them?
      {{"aten::argmax", largest}, {"aten::argmax", largest}},              // a first and a second
      {{"aten::scatter_", R"("Input Dims":[[1024,4],[],[1024,4],[]])"}}};  // into all
  for (const std::vector<Routing>& routing : untold)
    CHECK(SavedWith(routing).low == doctest::Approx(7.2 * 0.5));
}

TEST_CASE("routed rows, a gate of other rows and modules of other names are none") {
  CHECK(Dense(Analyze(Layers("SwitchMoE", {200, 300, 424, 100}), "A100")) == nullptr);
  CHECK(Dense(Analyze(Layers("SwitchMoE", {256, 256, 256, 256}), "A100")) == nullptr);
  CHECK(Dense(Analyze(Layers("Branches", {1024, 1024, 1024, 1024}), "A100")) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
