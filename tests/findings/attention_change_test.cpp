// Attention written out: what one call for it spares the host.
#include <algorithm>
#include <cstdint>
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

constexpr int kAttentions = 12;  // of a step

// Ops of 40 us every 50 us, each with a kernel that runs as soon as it is launched.
class AttentionScript {
 public:
  explicit AttentionScript(double kernel_us) : kernel_us_(kernel_us) {}

  AttentionScript& Op(const std::string& name, const std::string& args, double us = 0) {
    const bool product = name.find("mm") != std::string::npos;
    text_.OpWithKernel(name, at_, 40, product ? "gemm" : "pointwise", std::max(at_ + 30, gpu_),
                       us > 0 ? us : kernel_us_, ++id_, args);
    gpu_ = std::max(at_ + 30, gpu_) + (us > 0 ? us : kernel_us_);
    at_ += 50;
    return *this;
  }
  // Scores of `queries` by `keys` in 8 heads of 64.
  AttentionScript& Attention(int queries, int keys, bool projects_between = false) {
    const auto scores = fmt::format("[8,{},{}]", queries, keys);
    Op("aten::bmm", Shapes(fmt::format("[[8,{},64],[8,64,{}]]", queries, keys), "float"));
    Op("aten::mul", Shapes(fmt::format("[{},[]]", scores), "float"));
    if (projects_between) Op("aten::mm", Shapes("[[77,512],[512,768]]", "float"));
    Op("aten::_softmax", Shapes(fmt::format("[{},[],[]]", scores), "float", 3));
    return Op("aten::bmm", Shapes(fmt::format("[{},[8,{},64]]", scores, keys), "float"));
  }
  Analyzed Run() {
    for (int step = 0; step < 3; ++step) {
      const double begin = step * length();
      text_.Annotation(fmt::format("ProfilerStep#{}", step), begin, length() - 1);
    }
    return Analyze(text_, "H100");
  }
  void EndStep() {
    steps_ += 1;
    length_ = std::max(at_, gpu_) / steps_ + 10;
    at_ = steps_ * length_;
  }
  double length() const { return length_; }

 private:
  TraceText text_;
  double kernel_us_, at_ = 0, gpu_ = 0, length_ = 0;
  int steps_ = 0;
  std::int64_t id_ = 0;
};

// 3 steps of attentions; each kernel takes so long.
Analyzed Attentions(double kernel_us, bool sizes_differ = false, bool projects_between = false,
                    int queries = 64) {
  AttentionScript script(kernel_us);
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < kAttentions; ++i) {
      const int keys = sizes_differ ? 64 + 8 * (i % 6) : 64;
      script.Attention(queries, keys, projects_between);
      script.Op("aten::mm", Shapes("[[64,512],[512,512]]", "float"));
    }
    script.EndStep();
  }
  return script.Run();
}

const Finding* WrittenOut(const Analyzed& one) {
  return one.FindRule(Pattern::kUnfusedAttention);
}

TEST_CASE("one call for attention spares the host what lies between its products") {
  const Analyzed one = Attentions(2);
  const Finding* finding = WrittenOut(one);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->wall_a.has_value());
  // From the end of the first product to the begin of the second: 110 us.
  const double between_ms = 3 * kAttentions * 0.110;
  CHECK(finding->wall_a->ms.mid <= 1.05 * between_ms);
  CHECK(finding->wall_a->ms.high >= 0.6 * between_ms);
}

TEST_CASE("attention of several sizes is one finding, which names none of them") {
  const Analyzed one = Attentions(2, true);
  const Finding* finding = WrittenOut(one);
  REQUIRE(finding != nullptr);
  CHECK(finding->members.size() == 6);
  const auto of_rule = [](const Finding& f) { return f.rule == Pattern::kUnfusedAttention; };
  CHECK(std::ranges::count_if(one.analysis.findings, of_rule) == 1);
  CHECK(std::ranges::none_of(finding->patterns.front().facts,
                             [](const Fact& fact) { return fact.key == "score_shape"; }));
}

TEST_CASE("what is launched between and is none of attention stays") {
  const Analyzed one = Attentions(2, false, true);
  const Finding* finding = WrittenOut(one);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->wall_a.has_value());
  // The two ops alone, 80 us of 160.
  CHECK(finding->wall_a->ms.mid <= 1.05 * 3 * kAttentions * 0.080);
}

TEST_CASE("where the GPU binds, a host that launches less saves nothing by it") {
  // Products and softmax of 300 us each: the host is far ahead.
  const Analyzed one = Attentions(300);
  const Finding* finding = WrittenOut(one);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->wall_a.has_value());
  CHECK(finding->wall_a->ms.mid <= finding->time_ms);
  // Too few queries for a fused kernel to take them together.
  CHECK(WrittenOut(Attentions(2, false, false, 8)) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
