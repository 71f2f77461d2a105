// Convolutional networks in NCHW on tensor cores, and those that only look so.
#include "findings/one/planar_network.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

constexpr std::string_view kTf32Forward =
    "sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x64x32_g1";
constexpr std::string_view kPlanarNorm =
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>()";

struct ConvNet {
  std::string_view kernel = kTf32Forward;
  std::string_view norm = kPlanarNorm;
  bool conversions = true;
  bool strides = true;
  bool last = false;  // channels_last
  int channels = 64;
  int groups = 1;
  double other_us = 0;  // of other work beside each layer
  bool rated = false;   // with all arguments, so that the rate is known; no strides then
};

std::string TensorArgs(const ConvNet& net, bool weight) {
  if (net.rated && weight) {
    return testing::Shapes("[[8,64,256,256],[64,64,3,3],[],[],[],[],[],[],[]]", "float", 9) +
           R"(,"Concrete Inputs":["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])";
  }
  const int c = net.channels;
  const std::string operand = weight ? fmt::format("[64,{},3,3]", c / net.groups) : "[64]";
  std::string args =
      fmt::format(R"("Input Dims":[[8,{},256,256],{}],"Input type":["float","float"])", c, operand);
  if (!net.strides) return args;
  const std::string strides = net.last ? fmt::format("[{},1,{},{}]", c * 65536, c * 256, c)
                                       : fmt::format("[{},65536,256,1]", c * 65536);
  return args + fmt::format(R"(,"Input Strides":[{},{}])", strides, weight ? "[576,9,3,1]" : "[1]");
}

// Layers of a convolution of 1 ms between conversions of 300 us each and a batch norm of 600 us.
Analyzed NetOf(const ConvNet& net, std::string_view platform = "H100-SXM") {
  TraceText text;
  double at = 10;
  int id = 0;
  const auto op = [&](std::string_view name, const std::string& args,
                      std::initializer_list<std::pair<std::string_view, double>> kernels) {
    double us = 5;
    for (const auto& kernel : kernels)
      us += kernel.second;
    text.Op(name, at, us, args);
    for (const auto& [kernel, took] : kernels) {
      text.Runtime("cudaLaunchKernel", at + 1, 3, ++id);
      text.Kernel(kernel, at + 4, took, id, 7, R"("grid":[64,1,1])");
      at += took;
    }
    at += 8;
  };
  constexpr std::string_view kIn = "void cudnn::engines_precompiled::nchwToNhwcKernel<float>()";
  constexpr std::string_view kOut = "void cudnn::engines_precompiled::nhwcToNchwKernel<float>()";
  for (int i = 0; i < 20; ++i) {
    const std::string args = TensorArgs(net, true);
    if (net.rated)
      op("aten::convolution", args, {{kIn, 300}, {net.kernel, 1000}, {kOut, 300}});
    else if (net.conversions)
      op("aten::cudnn_convolution", args, {{kIn, 300}, {net.kernel, 1000}, {kOut, 300}});
    else
      op("aten::cudnn_convolution", args, {{net.kernel, 1000}});
    op("aten::cudnn_batch_norm", TensorArgs(net, false), {{net.norm, 600}});
    if (net.other_us > 0) op("aten::mul", "", {{"vectorized_elementwise_kernel", net.other_us}});
  }
  text.Annotation("ProfilerStep#1", 0, at);
  return Analyze(text, platform);
}

const Finding* Planar(const Analyzed& one) {
  return one.FindRule(Pattern::kPlanarNetwork);
}

TEST_CASE("convolutions on tensor cores in NCHW, their conversions and batch norms are one fix") {
  const Analyzed one = NetOf(ConvNet{});
  const Finding* finding = Planar(one);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(20 * (1.6 + 0.6)).epsilon(0.01));
  REQUIRE(finding->change_a);
  CHECK_FALSE(finding->change_b);
  const Range& saved = finding->change_a->savings_ms;
  CHECK(saved.low >= 20 * 0.6 * 0.6 * 0.99);  // of the conversions
  CHECK(saved.mid >= 20 * 0.8 * 0.6 * 0.99);  //
  CHECK(saved.high >= 20 * (0.6 + 0.1));      // and of what is below its usual rate
  CHECK(saved.high <= 20 * (0.6 + 1.0 + 0.6));
  // Nobody else tells of the same kernels.
  for (const Finding& other : one.analysis.findings) {
    CHECK(other.rule != Pattern::kFewBlocksLibrary);
    CHECK((&other == finding || other.category.find("conv") == std::string::npos));
  }
}

TEST_CASE("kernels of NHWC stay as they are, others reach what those of the trace do") {
  const auto most = [](std::string_view kernel) {
    ConvNet net;
    net.kernel = kernel;
    net.rated = true;
    net.norm = "void at::native::batch_norm_collect_statistics_channels_last_kernel<float>()";
    const Analyzed one = NetOf(net);
    const Finding* finding = Planar(one);
    REQUIRE((finding != nullptr && finding->change_a.has_value()));
    return finding->change_a->savings_ms.high;
  };
  constexpr double kConversionsMs = 20 * 0.6;
  CHECK(most(kTf32Forward) == doctest::Approx(kConversionsMs).epsilon(0.01));
  // Those that write NCHW, or say nothing of their layout, may get faster.
  CHECK(most("sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x64") >
        1.05 * kConversionsMs);
  CHECK(most("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nchwkcrs_nchw_tilesize128x64") >
        1.05 * kConversionsMs);
}

TEST_CASE("without strides the library's own conversions tell the layout, else nothing does") {
  ConvNet net;
  net.strides = false;
  CHECK(Planar(NetOf(net)) != nullptr);
  net.conversions = false;
  CHECK(Planar(NetOf(net)) == nullptr);
}

TEST_CASE("autocast alone saves little of such convolutions, and says what goes with it") {
  const auto autocast = [](const Analyzed& one) -> const Finding* {
    for (const Finding& finding : one.analysis.findings) {
      if (finding.rule == Pattern::kNarrowerPrecision) return &finding;
    }
    return nullptr;
  };
  ConvNet last;
  last.last = true;
  last.conversions = false;
  const Analyzed planar = NetOf(ConvNet{}), other = NetOf(last);
  const Finding* before = autocast(planar);
  const Finding* after = autocast(other);
  REQUIRE((before != nullptr && after != nullptr));
  CHECK(before->change_a->savings_ms.low < 0.5 * after->change_a->savings_ms.low);
  const auto says = [](const Finding& finding) {
    const auto& facts = finding.patterns.front().facts;
    return std::any_of(facts.begin(), facts.end(),
                       [](const Fact& fact) { return fact.key == "planar"; });
  };
  CHECK(says(*before));
  CHECK_FALSE(says(*after));
}

TEST_CASE("near: channels_last, fp32 units, depthwise, images, a stem beside other work, AMD") {
  ConvNet last;
  last.last = true;
  CHECK(Planar(NetOf(last)) == nullptr);  // its conversions are of something else
  ConvNet fp32;
  fp32.kernel =
      "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize128x128x8_g1";
  CHECK(Planar(NetOf(fp32)) == nullptr);
  ConvNet depthwise;
  depthwise.groups = 64;
  CHECK(Planar(NetOf(depthwise)) == nullptr);
  ConvNet image;
  image.channels = 3;
  CHECK(Planar(NetOf(image)) == nullptr);
  ConvNet gray;
  gray.channels = 1;
  CHECK(Planar(NetOf(gray)) == nullptr);
  ConvNet stem;
  stem.other_us = 30'000;
  CHECK(Planar(NetOf(stem)) == nullptr);
  CHECK(Planar(NetOf(ConvNet{}, "MI300X")) == nullptr);
  ConvNet half;  // on a device that computes 16 bits on its vector unit
  half.kernel = "maxwell_fp16_scudnn_fp16_128x128_relu_small_nn_v0";
  CHECK(Planar(NetOf(half, "P100-PCIE-16GB")) == nullptr);
}

TEST_CASE("a batch norm in NHWC stays as it is") {
  ConvNet net;
  net.strides = false;
  net.norm = "void at::native::batch_norm_collect_statistics_channels_last_kernel<float>()";
  const Analyzed one = NetOf(net);
  const Finding* finding = Planar(one);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(20 * 1.6).epsilon(0.01));
}

}  // namespace
}  // namespace jarvis::findings
