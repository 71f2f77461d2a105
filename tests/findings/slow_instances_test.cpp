// Like modules of which one takes longer than the others.
#include "findings/one/slow_instances.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

struct Odd {
  double host_us = 0;          // more, of layer 1
  double gpu_us = 0;           // likewise
  bool other_kernels = false;  // it does other work
  double spread_us = 0;        // more from one layer to the next
};

Analyzed Layers(int layers, const Odd& odd) {
  TraceText text;
  double at = 10, gpu = 60;
  int correlation = 0;
  for (int step = 0; step < 3; ++step) {
    const double begin = at;
    double layer_at = at + 5;
    std::vector<std::pair<double, double>> spans;
    for (int layer = 0; layer < layers; ++layer) {
      const double host = 100 + layer * odd.spread_us + (layer == 1 ? odd.host_us : 0);
      spans.push_back({layer_at, host});
      layer_at += host + 5;
    }
    text.Annotation(fmt::format("ProfilerStep#{}", step), begin, layer_at - begin + 1000);
    text.Module("Model_0", begin + 1, layer_at - begin);
    for (int layer = 0; layer < layers; ++layer) {
      const auto [start, host] = spans[static_cast<std::size_t>(layer)];
      text.Module(fmt::format("Layer_{}", layer), start, host);
      const bool other = odd.other_kernels && layer == 1;
      gpu = std::max(gpu, start + 30);
      const double us = 20 + (layer == 1 ? odd.gpu_us : 0);
      text.OpWithKernel("aten::relu", start + 10, 20, other ? "tanh_kernel" : "relu_kernel", gpu,
                        us, ++correlation);
      gpu += us + 1;
    }
    at = std::max(layer_at, gpu) + 1100;
  }
  return Analyze(text, "H100");
}

TEST_CASE("a layer whose host or GPU time is far above its siblings' is told") {
  const Analyzed host = Layers(6, {.host_us = 400});
  REQUIRE(host.analysis.slow_instance.has_value());
  const SlowInstance& one = *host.analysis.slow_instance;
  CHECK(one.module == "Layer_1");
  CHECK(one.siblings == 5);
  CHECK_FALSE(one.of_gpu);
  CHECK(one.ms == doctest::Approx(0.5));
  CHECK(one.usual_ms == doctest::Approx(0.1));
  const Analyzed gpu = Layers(6, {.gpu_us = 400});
  REQUIRE(gpu.analysis.slow_instance.has_value());
  CHECK(gpu.analysis.slow_instance->of_gpu);
  CHECK(gpu.analysis.slow_instance->ms == doctest::Approx(0.42));
}

TEST_CASE("layers of unlike work, too few, or that all differ have none") {
  CHECK_FALSE(
      Layers(6, {.host_us = 400, .other_kernels = true}).analysis.slow_instance.has_value());
  CHECK_FALSE(Layers(3, {.host_us = 400}).analysis.slow_instance.has_value());
  CHECK_FALSE(Layers(6, {.host_us = 25}).analysis.slow_instance.has_value());  // a little
  CHECK_FALSE(Layers(6, {.spread_us = 100}).analysis.slow_instance.has_value());
}

}  // namespace
}  // namespace jarvis::findings
