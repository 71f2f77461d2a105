// What follows a convolution that adds its bias in a kernel of its own.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/merge_findings.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

struct BiasedLayers {
  std::string convolution = "aten::convolution";
  bool bias = true;  // in a kernel of its own
  std::string activated = "[64,64,112,112]";
  std::string kernel = "vectorized_elementwise_kernel<clamp>";
  bool apart = false;  // another kernel runs before the activation
};

// Ten layers of a convolution of 1 ms, its bias of 180 us and an activation of 140 us.
Analyzed NetOfLayers(const BiasedLayers& net) {
  TraceText text;
  double at = 10, gpu = 10;
  int id = 0;
  const auto kernel = [&](const std::string& name, double launch, double us) {
    text.Runtime("cudaLaunchKernel", launch, 2, ++id);
    gpu = std::max(gpu, launch + 4);
    text.Kernel(name, gpu, us, id);
    gpu += us + 1;
  };
  const std::string sizes =
      Shapes("[[64,64,112,112],[64,64,3,3],[64],[],[],[],[],[],[]]", "float", 9) +
      R"(,"Concrete Inputs":["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])";
  const double begin = at;
  for (int layer = 0; layer < 10; ++layer) {
    text.Module(fmt::format("Conv2d_{}", layer), at, 40);
    text.Op(net.convolution, at + 1, 38, sizes);
    kernel("sm90_xmma_fprop_implicit_gemm_tf32f32_nhwckrsc_nhwc", at + 4, 1000);
    if (net.bias) {
      text.Op("aten::add_", at + 20, 10, Shapes("[[64,64,112,112],[1,64,1,1],[]]", "float", 2));
      kernel("elementwise_kernel<CUDAFunctor_add>", at + 22, 180);
    }
    at += 50;
    if (net.apart) {
      text.OpWithKernel("aten::sort", at, 8, "sort", gpu, 50, ++id);
      gpu += 51;
      at += 10;
    }
    text.Module(fmt::format("ReLU_{}", layer), at, 20);
    text.Op("aten::relu_", at + 1, 18, Shapes(fmt::format("[{}]", net.activated), "float", 1));
    kernel(net.kernel, at + 4, 140);
    at += 30;
  }
  text.Module("VGG_0", begin - 5, at - begin + 6);
  return Analyze(text.Annotation("ProfilerStep#1", 0, gpu + 10), "H100");
}

TEST_CASE("an activation behind a convolution's bias is a pass that a compiler spares") {
  const Analyzed one = NetOfLayers({});
  REQUIRE(one.analysis.fusion.candidates.size() == 1);
  const FusionCandidate& chain = one.analysis.fusion.candidates.front();
  CHECK(chain.after_bias);
  CHECK(chain.instances == 10);
  REQUIRE(chain.savings_ms.has_value());
  CHECK(chain.savings_ms->high == doctest::Approx(1.4));  // the kernel of the bias stays
  const Finding* finding = one.FindRule(Pattern::kEagerChains);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_b.has_value());
}

TEST_CASE("near: a bias inside, another tensor, work between, compiled kernels, a backward pass") {
  const auto none = [](const BiasedLayers& net) {
    return NetOfLayers(net).analysis.fusion.candidates.empty();
  };
  BiasedLayers inside, other, apart, compiled, backward;
  inside.bias = false;
  CHECK(none(inside));
  other.activated = "[64,32,56,56]";
  CHECK(none(other));
  apart.apart = true;
  CHECK(none(apart));
  compiled.kernel = "triton_poi_fused_relu_0";
  CHECK(none(compiled));
  backward.convolution = "aten::convolution_backward";
  CHECK(none(backward));
}

Finding OfCompiling(std::string subject, double ms) {
  Finding finding;
  finding.subject = std::move(subject);
  finding.tier = Tier::kCompute;
  finding.time_ms = 2 * ms;
  finding.savings_ms = Range{ms, ms, ms};
  finding.path_b = {{Advice::kCompile, {}, {}}};
  return finding;
}

TEST_CASE("what a compiler makes faster beside its chains stays where it is more than they are") {
  Finding chains = OfCompiling("chains", 10);
  chains.tier = Tier::kFusion;
  chains.rule = Pattern::kEagerChains;
  chains.action_b = "compile_model";
  std::vector<Finding> more = {chains, OfCompiling("pooling", 30)};
  MergeByAction(&more);
  REQUIRE(more.size() == 2);
  CHECK(more[1].path_b.front().advice == Advice::kCompileWhole);  // one action with the chains
  std::vector<Finding> less = {chains, OfCompiling("pooling", 5)};
  MergeByAction(&less);
  CHECK(less.size() == 1);
}

}  // namespace
}  // namespace jarvis::findings
