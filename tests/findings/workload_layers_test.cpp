// How many layers a model has, where nothing but kernels tells.
#include <string>

#include <doctest/doctest.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
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

// Two layers a pass; each token's keys are one more.
Analyzed Generated(int tokens) {
  TraceText text;
  double host = 10, gpu = 20;
  int id = 0;
  const auto op = [&](const char* name, const char* kernel, double us, const std::string& dims) {
    text.OpWithKernel(name, host, 8, kernel, gpu, us, ++id,
                      testing::Shapes(dims, "c10::BFloat16", name[6] == 's' ? 1 : 2));
    host += 10;
    gpu += us + 1;
  };
  for (int token = 0; token < tokens; ++token) {
    const std::string keys = std::to_string(64 + token);
    op("aten::embedding", "gather", 2, "[[32000,256],[1,1]]");
    for (const char* once :
         {"aten::cos", "aten::sin", "aten::arange", "aten::full", "aten::triu", "aten::where"})
      op(once, "pointwise", 1, "[[1,32],[1,32]]");
    for (int layer = 0; layer < 2; ++layer) {
      op("aten::mm", "gemm_qkv", 6, "[[1,256],[256,768]]");
      op("aten::bmm", "gemv_qk", 4, "[[8,1,32],[8,32," + keys + "]]");
      op("aten::_softmax", "softmax_warp_forward", 3, "[[8,1," + keys + "]]");
      op("aten::bmm", "gemv_pv", 4, "[[8,1," + keys + "],[8," + keys + ",32]]");
      op("aten::mm", "gemm_up", 6, "[[1,256],[256,1024]]");
      op("aten::mm", "gemm_down", 6, "[[1,1024],[1024,256]]");
    }
    op("aten::mm", "gemm_head", 9, "[[1,256],[256,32000]]");
  }
  return Analyze(text, "H100");
}

TEST_CASE("attention over keys that grow token by token is one attention") {
  const Analyzed one = Generated(48);  // more lengths than attentions are taken apart
  const Workload& workload = one.analysis.workload;
  CHECK(workload[WorkloadPart::kPhase].value == "decode");
  CHECK(workload[WorkloadPart::kLayers].value == "2");
}

}  // namespace
}  // namespace jarvis::findings
