// How many layers a model has, where nothing but kernels tells.
#include <doctest/doctest.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::TraceText;

TEST_CASE("a pass in micro-batches has the layers of one") {
  // A replay of 24 layers: an embedding and a head for each part.
  const auto layers = [](int embeddings, int heads) {
    TraceText text;
    text.Runtime("cudaGraphLaunch", 0, 50, 1);
    double at = 100;
    const auto kernel = [&](const char* name, double us) {
      text.Kernel(name, at, us, 1);
      at += us + 1;
    };
    for (int i = 0; i < embeddings; ++i)
      kernel("embedding_kernel", 5);
    for (int i = 0; i < 24; ++i) {
      kernel("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", 20);
      kernel("void flashinfer::BatchDecodeWithPagedKVCacheKernel<true>", 30);
    }
    for (int i = 0; i < heads; ++i)
      kernel("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x256x64", 40);
    return Analyze(text).analysis.workload[WorkloadPart::kLayers].value;
  };
  CHECK(layers(1, 1) == "24");
  CHECK(layers(2, 2) == "12");
  // Tokens and positions are two embeddings of one pass, with one head.
  CHECK(layers(2, 1) == "24");
}

}  // namespace
}  // namespace jarvis::findings
