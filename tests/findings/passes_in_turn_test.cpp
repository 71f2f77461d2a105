// A model that runs several times in a step on inputs of equal sizes, and what only looks like it.
#include <algorithm>
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

// Steps of one model: ops of 30 us every 40, each with a kernel of 3 us.
class PassScript {
 public:
  PassScript& Op(const std::string& name, const std::string& dims) {
    ++id_;
    text_.Op(name, at_, 30, Shapes(dims, "float"));
    text_.Runtime("cudaLaunchKernel", at_ + 15, 3, id_).Kernel("k", at_ + 20, 3, id_);
    at_ += 40;
    return *this;
  }
  // From a latent of 4 channels and back to it.
  PassScript& Pass(int layers, int batch = 1, int channels = 4) {
    Op("aten::conv2d", fmt::format("[[{0},{1},32,32],[64,{1},3,3]]", batch, channels));
    Layers(layers);
    return Op("aten::conv2d", fmt::format("[[{0},64,32,32],[4,64,3,3]]", batch));
  }
  PassScript& Layers(int layers) {
    for (int layer = 0; layer < layers; ++layer) {
      Op("aten::group_norm", "[[1,64,32,32],[64]]");
      Op("aten::conv2d", "[[1,64,32,32],[64,64,3,3]]");
      Op("aten::add", "[[1,64,32,32],[1,64,32,32]]");
    }
    return *this;
  }
  PassScript& EndStep() {
    text_.Annotation(fmt::format("ProfilerStep#{}", step_++), begin_, at_ - begin_);
    at_ += 10;
    begin_ = at_;
    return *this;
  }
  Analyzed Run() const {
    TraceText text = text_;
    return Analyze(text, "H100");
  }

 private:
  TraceText text_;
  double begin_ = 0, at_ = 10;
  int step_ = 0;
  std::int64_t id_ = 0;
};

const Finding* PassesOf(const Analyzed& one) {
  const auto& all = one.analysis.findings;
  const auto found = std::ranges::find_if(
      all, [](const Finding& finding) { return finding.rule == Pattern::kPassesInTurn; });
  return found == all.end() ? nullptr : &*found;
}

TEST_CASE("two passes of a step on equal sizes are one batch") {
  PassScript script;
  for (int step = 0; step < 4; ++step)
    script.Pass(20).Pass(20).Op("aten::mul", "[[1,4,32,32],[]]").EndStep();
  const Analyzed one = script.Run();
  const Finding* finding = PassesOf(one);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->wall_a.has_value());
  // The second of two passes: 62 ops of 40 us in each of 4 steps.
  const double passes_ms = 4 * 62 * 0.040;
  CHECK(finding->wall_a->ms.high <= 1.01 * passes_ms);
  CHECK(finding->wall_a->ms.mid >= 0.8 * passes_ms);
}

TEST_CASE("layers, other sizes, and many passes are no passes in turn") {
  // One pass a step: its layers repeat.
  PassScript layers;
  for (int step = 0; step < 4; ++step)
    layers.Pass(40).EndStep();
  CHECK(PassesOf(layers.Run()) == nullptr);
  // Two equal halves without an op that takes an input.
  PassScript halves;
  for (int step = 0; step < 4; ++step)
    halves.Layers(40).EndStep();
  CHECK(PassesOf(halves.Run()) == nullptr);
  // Passes on two sizes.
  PassScript sizes;
  for (int step = 0; step < 4; ++step)
    sizes.Pass(20, 1).Pass(20, 2).EndStep();
  CHECK(PassesOf(sizes.Run()) == nullptr);
  // Two models.
  PassScript models;
  for (int step = 0; step < 4; ++step)
    models.Pass(20).Pass(30).EndStep();
  CHECK(PassesOf(models.Run()) == nullptr);
  // As many as a sampler's steps: each needs the one before.
  PassScript sampler;
  for (int step = 0; step < 3; ++step) {
    for (int pass = 0; pass < 8; ++pass)
      sampler.Pass(20);
    sampler.EndStep();
  }
  CHECK(PassesOf(sampler.Run()) == nullptr);
}

TEST_CASE("passes of training are left alone") {
  PassScript script;
  for (int step = 0; step < 4; ++step)
    script.Pass(20)
        .Pass(20)
        .Op("aten::convolution_backward", "[[1,4,32,32],[1,64,32,32]]")
        .EndStep();
  CHECK(PassesOf(script.Run()) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
