// Attention of a few queries, whose kernels are shorter than their launches.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

struct DecodeShape {
  int queries = 1, keys = 300;
  double kernel_us = 2;
  bool repeats = false;  // keys and values, for 4 heads each
  bool between = false;  // something that is no part of it
  bool training = false;
};

// Ops of 40 us every 50 us, each with a kernel.
class DecodeScript {
 public:
  explicit DecodeScript(const DecodeShape& shape) : shape_(shape) {}

  void Layer() {
    const auto [q, k] = std::pair(shape_.queries, shape_.keys);
    const std::string scores = fmt::format("[1,16,{},{}]", q, k);
    if (shape_.repeats) {
      Repeat();
      Repeat();
    }
    Op("aten::bmm", fmt::format("[[16,{},64],[16,64,{}]]", q, k));
    Op("aten::div", fmt::format("[{},[]]", scores));
    if (shape_.between) Op("aten::mm", "[[1,1024],[1024,1024]]");
    Op("aten::_softmax", fmt::format("[{},[],[]]", scores));
    Op("aten::bmm", fmt::format("[[16,{0},{1}],[16,{1},64]]", q, k));
    Op("aten::mm", "[[1,1024],[1024,1024]]");
  }
  void EndStep() {
    if (shape_.training) text_.Annotation("Optimizer.step#SGD.step", at_, 20);
    text_.Annotation(fmt::format("ProfilerStep#{}", step_++), begin_, at_ + 30 - begin_);
    at_ += 40;
    begin_ = at_;
  }
  Analyzed Run() const { return Analyze(text_, "H100"); }

 private:
  void Op(const std::string& name, const std::string& dims) {
    gpu_ = std::max(gpu_, at_ + 30);
    text_.OpWithKernel(name, at_, 40, name.ends_with("mm") ? "gemm" : "pointwise", gpu_,
                       shape_.kernel_us, ++id_, Shapes(dims, "c10::BFloat16", 3));
    gpu_ += shape_.kernel_us;
    at_ += 50;
  }
  void Repeat() {
    const double from = at_;
    at_ += 5;
    Op("aten::copy_", fmt::format("[[1,4,4,{0},64],[1,4,4,{0},64],[]]", shape_.keys));
    text_.Op("aten::repeat_interleave", from, 50);
    at_ += 5;
  }

  DecodeShape shape_;
  TraceText text_;
  double begin_ = 5, at_ = 10, gpu_ = 0;
  int step_ = 0;
  std::int64_t id_ = 0;
};

Analyzed Decoded(const DecodeShape& shape, int layers = 6) {
  DecodeScript script(shape);
  for (int step = 0; step < 4; ++step) {
    for (int i = 0; i < layers; ++i)
      script.Layer();
    script.EndStep();
  }
  return script.Run();
}

const Finding* FewQueriesOf(const Analyzed& one) {
  return one.FindRule(Pattern::kFewQueryAttention);
}

bool NamesGroups(const Finding& finding) {
  return std::ranges::any_of(finding.patterns.front().facts,
                             [](const Fact& fact) { return fact.key == "gqa"; });
}

TEST_CASE("a token's attention in several ops is one call, without the launches between") {
  const Analyzed one = Decoded({});
  const Finding* finding = FewQueriesOf(one);
  REQUIRE(finding != nullptr);
  CHECK_FALSE(NamesGroups(*finding));
  REQUIRE(finding->wall_a.has_value());
  // From the end of one product to the begin of the next 110 us, in 6 layers of 4 steps.
  const double between_ms = 4 * 6 * 0.110;
  CHECK(finding->wall_a->ms.mid <= 1.05 * between_ms);
  CHECK(finding->wall_a->ms.high >= 0.6 * between_ms);
}

TEST_CASE("keys and values that are repeated for groups of heads go with it") {
  DecodeShape grouped;
  grouped.repeats = true;
  const Analyzed one = Decoded(grouped), plain = Decoded({});
  const Finding* finding = FewQueriesOf(one);
  REQUIRE(finding != nullptr);
  REQUIRE(FewQueriesOf(plain) != nullptr);
  CHECK(NamesGroups(*finding));
  CHECK(finding->wall_a->ms.mid > 1.5 * FewQueriesOf(plain)->wall_a->ms.mid);
}

TEST_CASE("long kernels, many queries, other work between and training are none of it") {
  const std::pair<const char*, std::function<void(DecodeShape&)>> others[] = {
      {"kernels that a fused one may not beat", [](DecodeShape& s) { s.kernel_us = 40; }},
      {"many queries", [](DecodeShape& s) { s.queries = 64; }},
      {"few keys", [](DecodeShape& s) { s.keys = 16; }},
      {"other work between", [](DecodeShape& s) { s.between = true; }},
      {"training", [](DecodeShape& s) { s.training = true; }},
  };
  for (const auto& [name, change] : others) {
    CAPTURE(name);
    DecodeShape shape;
    change(shape);
    CHECK(FewQueriesOf(Decoded(shape)) == nullptr);
  }
}

}  // namespace
}  // namespace jarvis::findings
