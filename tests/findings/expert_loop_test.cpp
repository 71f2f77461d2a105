// Loops over experts, and loops that are none.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

// Ops of 20 us every 30 us, each with a kernel of 5 us that runs as soon as it is launched.
class ExpertScript {
 public:
  ExpertScript& Op(const std::string& name, const std::string& dims = {}) {
    text_.OpWithKernel(name, at_, 20, name.find("mm") == std::string::npos ? "pointwise" : "gemm",
                       at_ + 15, 5, ++id_,
                       dims.empty() ? std::string() : testing::Shapes(dims, "c10::BFloat16"));
    at_ += 30;
    return *this;
  }
  ExpertScript& Product(int m, int n, int k) {
    const auto text = [](int a, int b) {
      return "[" + std::to_string(a) + "," + std::to_string(b) + "]";
    };
    return Op("aten::mm", "[" + text(m, k) + "," + text(k, n) + "]");
  }
  // Which rows are an expert's own, which the host waits to know.
  ExpertScript& Choose() {
    text_.Op("aten::nonzero", at_, 60);
    ++id_;
    text_.Runtime("cudaLaunchKernel", at_ + 5, 5, id_).Kernel("flag", at_ + 15, 5, id_);
    text_.Runtime("cudaStreamSynchronize", at_ + 20, 35, ++id_);
    at_ += 70;
    return *this;
  }
  ExpertScript& Experts(const std::vector<int>& rows, int width = 512, int hidden = 256) {
    for (const int m : rows)
      Choose().Product(m, width, hidden).Op("aten::silu").Product(m, hidden, width);
    return *this;
  }
  Analyzed Run() const {
    TraceText text = text_;
    return Analyze(text.Annotation("ProfilerStep#1", 0, at_), "H100");
  }

 private:
  TraceText text_;
  double at_ = 10;
  std::int64_t id_ = 0;
};

const Finding* LoopOf(const Analyzed& one) {
  return one.FindRule(Pattern::kExpertLoop);
}

TEST_CASE("rounds over each expert's own rows are one grouped GEMM") {
  ExpertScript script;
  for (int layer = 0; layer < 3; ++layer) {
    script.Product(1024, 768, 256).Product(1024, 8, 256).Op("aten::topk");
    script.Experts({120, 140, 90, 160, 130, 128, 100, 156});
  }
  const Analyzed one = script.Run();
  const Finding* finding = LoopOf(one);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->wall_a.has_value());
  // 3 loops of 8 rounds of 160 us, of which the work of two is left.
  const double loops_ms = 3 * 8 * 0.160;
  CHECK(finding->wall_a->ms.high <= loops_ms);
  CHECK(finding->wall_a->ms.high >= 0.5 * loops_ms);
  CHECK(&one.analysis.findings.front() == finding);
  const Workload& workload = one.analysis.workload;
  CHECK(workload[WorkloadPart::kFamily].value.starts_with("mixture-of-experts"));
  CHECK(workload[WorkloadPart::kExperts].value == "8");
}

TEST_CASE("layers, equal rows and loops without a gate are no loops over experts") {
  // Layers: every round has all rows.
  ExpertScript layers;
  layers.Op("aten::topk").Experts(std::vector<int>(16, 1024));
  const Analyzed dense = layers.Run();
  CHECK(LoopOf(dense) == nullptr);
  CHECK_FALSE(dense.analysis.workload[WorkloadPart::kFamily].value.starts_with("mixture"));
  // Inputs of several lengths, one after the other: nothing was routed.
  ExpertScript inputs;
  for (const int m : {120, 140, 90, 160, 130, 128})
    inputs.Product(m, 512, 256).Op("aten::silu").Product(m, 256, 512);
  CHECK(LoopOf(inputs.Run()) == nullptr);
  // A network that does not come back to its width: the rounds are no experts.
  ExpertScript heads;
  heads.Op("aten::topk");
  for (const int m : {120, 140, 90, 160, 130, 128})
    heads.Choose().Product(m, 512, 256).Product(m, 10, 512);
  CHECK(LoopOf(heads.Run()) == nullptr);
  // Three rounds are too few.
  ExpertScript few;
  few.Op("aten::topk").Experts({120, 140, 90});
  CHECK(LoopOf(few.Run()) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
