// What a workload is called by names, weights and sizes of published models, and when it is not;
// which attention is told; recordings of training without any pass.
#include "findings/one/model_families.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/workload_script.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;

std::string NameOf(const ModelSizes& sizes) {
  const auto told = ModelBySizes(sizes);
  return told ? told->name : "";
}

TEST_CASE("networks by convolutions, vision transformers by width and heads, classes by parts") {
  CHECK(ResNetOf(53) == "ResNet-50");
  CHECK(ResNetOf(21).empty());
  CHECK(VggOf(13) == "VGG-16");
  CHECK(VggOf(20).empty());
  CHECK(VitOf(1280, 16) == "ViT-H");
  CHECK(VitOf(1280, 20).empty());
  CHECK(PublishedName("xFuserFlux1Transformer2DWrapper") == "FLUX.1");
  CHECK(PublishedName("Sam2VisionEncoder") == "SAM 2");
  CHECK(PublishedName("SampleNet").empty());
}

TEST_CASE("a configuration names a model where three figures agree and none is another") {
  using Known = std::map<std::string, std::int64_t>;
  const Known llama = {
      {"hidden", 4096}, {"heads", 32}, {"kv_heads", 8}, {"ffn", 14336}, {"vocabulary", 128256}};
  CHECK(NameOf({.known = llama, .causal = true}) == "Llama 3 8B-like");
  CHECK(NameOf({.known = llama, .causal = false}).empty());
  CHECK(NameOf({.known = llama, .image = true}).empty());
  Known other = llama;
  other["ffn"] = 12800;
  CHECK(NameOf({.known = other}).empty());
  other = llama;
  other["experts"] = 16;  // no dense model
  CHECK(NameOf({.known = other}).empty());
  // Of a rank of eight.
  CHECK(NameOf({.known = {{"hidden", 8192},
                          {"heads", 8},
                          {"kv_heads", 1},
                          {"ffn", 3584},
                          {"vocabulary", 16032},
                          {"layers", 80}},
                .ranks = 8}) == "Llama 3 70B-like");
  // Two figures are not enough; models of two families have these.
  CHECK(NameOf({.known = {{"hidden", 8192}, {"layers", 80}}}).empty());
  CHECK(NameOf({.known = {{"hidden", 4096}, {"heads", 32}, {"kv_heads", 8}, {"ffn", 14336}}})
            .empty());
  // What most models of a width have tells nothing: there are encoders for speech, proteins,
  // images.
  CHECK(NameOf({.known = {{"hidden", 1280}, {"heads", 20}, {"kv_heads", 20}, {"ffn", 5120}},
                .causal = false})
            .empty());
  CHECK(NameOf({.known = {{"hidden", 1600}, {"heads", 25}, {"ffn", 6400}}}).empty());
  CHECK(NameOf({.known = {{"hidden", 1600}, {"layers", 48}, {"vocabulary", 50257}}}) ==
        "GPT-2 XL-like");
  // Both of one family; encoders of three families.
  CHECK(NameOf({.known = {{"hidden", 8192}, {"heads", 64}, {"kv_heads", 8}, {"ffn", 28672}}}) ==
        "Llama-like");
  CHECK(
      NameOf({.known = {{"hidden", 1024}, {"heads", 16}, {"ffn", 4096}, {"layers", 24}}}).empty());
  CHECK(NameOf({.known = {{"hidden", 1024},
                          {"heads", 16},
                          {"ffn", 4096},
                          {"vocabulary", 30522},
                          {"layers", 24}}}) == "BERT-Large-like");
}

Script Encoder(std::int64_t ffn) {
  Script script;
  for (int layer = 0; layer < 24; ++layer) {
    script.Op("aten::addmm", "gemm_qkv", 90, "[[3072],[4096,1024],[1024,3072]]", kBf16, 3);
    script.Op("aten::_scaled_dot_product_flash_attention", "flash_fwd", 50,
              "[[8,16,512,64],[8,16,512,64],[8,16,512,64]]", kBf16, 3,
              R"(,"Concrete Inputs":["","","","0.","False","False",""])");
    script.Op("aten::addmm", "gemm_up", 90, fmt::format("[[{0}],[4096,1024],[1024,{0}]]", ffn),
              kBf16, 3);
    script.Op("aten::addmm", "gemm_down", 90, fmt::format("[[1024],[4096,{0}],[{0},1024]]", ffn),
              kBf16, 3);
  }
  script.Op("aten::mm", "gemm_head", 90, "[[4096,1024],[1024,30522]]");
  script.Op("aten::argmax", "reduce_kernel", 5, "[[4096,30522],[],[]]", kBf16, 1);
  return script;
}

TEST_CASE("an encoder of published sizes is told with its certainty, one with another MLP is not") {
  Script published = Encoder(4096);
  const Analyzed one = Analyze(published.text());
  CHECK(Of(one, WorkloadPart::kModel) == "BERT-Large-like");
  CHECK(one.analysis.workload[WorkloadPart::kModel].certainty == Certainty::kInferred);
  Script other = Encoder(3584);
  CHECK(Of(Analyze(other.text()), WorkloadPart::kModel).empty());
}

// The image encoder of SAM 2 with its neck, whose lateral convolutions have `widths` channels.
Script Hiera(const std::vector<int>& widths, bool nms) {
  Script script;
  script.Op("aten::conv2d", "conv", 60, fmt::format("[[1,3,1024,1024],[{},3,7,7]]", widths.front()),
            "float", 2);
  for (const int width : widths)
    script.Op("aten::conv2d", "conv", 60, fmt::format("[[1,{0},64,64],[256,{0},1,1]]", width),
              "float", 2);
  if (nms) script.Op("torchvision::nms", "nms_kernel", 5, "[[64,4],[64]]", "float", 2);
  return script;
}

TEST_CASE("weights of an encoder and its neck name a model; one of them less does not") {
  CHECK(Of(Analyze(Hiera({144, 288, 576, 1152}, true).text()), WorkloadPart::kModel) ==
        "SAM 2 (Hiera-L), automatic mask generation");
  CHECK(Of(Analyze(Hiera({144, 288, 576, 1152}, false).text()), WorkloadPart::kModel) ==
        "SAM 2 (Hiera-L)");
  CHECK(Of(Analyze(Hiera({144, 288, 576}, true).text()), WorkloadPart::kModel).empty());
  CHECK(Of(Analyze(Hiera({64, 128, 256, 512}, true).text()), WorkloadPart::kModel).empty());
}

// One op a weight, the activations of it beside.
std::string WithWeights(const std::vector<std::string>& weights, std::string_view op = "") {
  Script script;
  for (const std::string& weight : weights)
    script.Op(weight.find(",3,") == std::string::npos ? "aten::linear" : "aten::conv2d", "kernel",
              50, fmt::format("[[7,7],[{}]]", weight), "float", 2);
  if (!op.empty()) script.Op(op, "other_kernel", 5, "[[64,4],[64,4]]", "float", 2);
  return Of(Analyze(script.text()), WorkloadPart::kModel);
}

TEST_CASE("weights name models of images, and parts of them in others do not") {
  const std::vector<std::string> swin = {"96,3,4,4", "169,3", "169,6", "169,12", "169,24"};
  CHECK(WithWeights(swin) == "Swin-T or S");
  CHECK(WithWeights(swin, "torchvision::roi_align").empty());     // of a detector
  CHECK(WithWeights({"96,3,4,4", "384,96", "768,192"}).empty());  // ConvNeXt

  const std::vector<std::string> clip = {"1024,3,14,14", "257,1024", "49408,768"};
  CHECK(WithWeights(clip) == "CLIP (ViT-L/14)");
  CHECK(WithWeights({"1024,3,14,14", "257,1024"}).empty());  // a vision tower
  std::vector<std::string> pipeline = clip;  // an image pipeline with its text encoder and checker
  for (const char* weight : {"320,4,3,3", "640,320,3,3", "4,320,3,3", "320,768"})
    pipeline.emplace_back(weight);
  CHECK(WithWeights(pipeline) == "Stable Diffusion 1 UNet");
  CHECK(WithWeights({"320,4,3,3", "640,320,3,3", "4,320,3,3", "2816,1280"}) ==
        "Stable Diffusion XL UNet");

  const std::vector<std::string> pyramid = {"256,512,1,1", "256,1024,1,1", "256,2048,1,1",
                                            "1024,12544"};
  std::vector<std::string> masks = pyramid;
  masks.emplace_back("256,256,2,2");
  CHECK(WithWeights(pyramid, "torchvision::roi_align") == "Faster R-CNN (FPN)");
  CHECK(WithWeights(masks, "torchvision::roi_align") == "Mask R-CNN (FPN)");
  CHECK(WithWeights(masks).empty());
  CHECK(WithWeights({"3072,64", "3072,4096", "3072,15360", "18432,3072"}) == "FLUX.1");
  CHECK(WithWeights({"3072,64", "3072,4096", "18432,3072"}).empty());
}

TEST_CASE("dense layers and embedding bags name a recommender; either alone does not") {
  const std::vector<std::string> dense = {"512,13", "256,512", "128,256"};
  CHECK(WithWeights(dense, "aten::embedding_bag") == "DLRM (Criteo)");
  CHECK(WithWeights(dense).empty());
  CHECK(WithWeights({"64,512"}, "aten::embedding_bag").empty());
}

TEST_CASE("kernels with their sizes name a class of models and its transport") {
  const auto decode = [](int hidden, bool latent) {
    Script script;
    script.Graph();
    for (int layer = 0; layer < 4; ++layer) {
      script.Replayed(latent ? "flashinfer::mla::BatchMLAPageAttentionKernel" : "flash_fwd", 50);
      script.Replayed(fmt::format("deep_gemm::fp8_gemm_kernel<1536u, {}u, 128u>", hidden), 20);
      script.Replayed("grouped_topk_kernel", 5);
      script.Replayed(fmt::format("deep_ep::internode_ll::dispatch<true, 3, 10, {}>", hidden), 90);
      script.Replayed(fmt::format("deep_gemm::fp8_gemm_kernel<4096u, {}u, 64u>", hidden), 90);
      script.Replayed(fmt::format("deep_ep::internode_ll::combine<3, 10, {}, 9>", hidden), 90);
    }
    return Analyze(script.text());
  };
  const Analyzed one = decode(7168, true);
  CHECK(Of(one, WorkloadPart::kModel) == "DeepSeek-V3-class (MLA, MoE, DeepEP)");
  CHECK(Of(one, WorkloadPart::kFramework).find("DeepEP") != std::string::npos);
  CHECK(Of(decode(5120, true), WorkloadPart::kModel).empty());
  CHECK(Of(decode(7168, false), WorkloadPart::kModel).empty());
}

TEST_CASE("the attention with the most time is told, and a small one not at all") {
  const auto parts = [](double decoder_us, double gemm_us) {
    constexpr const char* kValues = R"(,"Concrete Inputs":["","","","0.","False","False",""])";
    Script script;
    script.Op("aten::mm", "gemm", gemm_us, "[[4096,256],[256,1024]]");
    script.Op("aten::mm", "gemm", 10, "[[4096,1024],[1024,256]]");
    script.Op("aten::_scaled_dot_product_flash_attention", "fmha_a", decoder_us,
              "[[64,8,8,32],[64,8,8,32],[64,8,8,32]]", kBf16, 3, kValues);
    script.Op("aten::_scaled_dot_product_flash_attention", "fmha_b", 100,
              "[[1,8,4096,72],[1,8,4096,72],[1,8,4096,72]]", kBf16, 3, kValues);
    return Analyze(script.text());
  };
  CHECK(Of(parts(5, 300), WorkloadPart::kHeads) == "8 x 72");
  CHECK(Of(parts(80, 300), WorkloadPart::kHeads) == "8 x 32");  // of the model's own width
  CHECK(Of(parts(30, 3000), WorkloadPart::kHeads).empty());
}

TEST_CASE("what a mask decoder does with its prompts is not told as the model's attention") {
  const auto parts = [](bool both_ways) {
    constexpr const char* kValues = R"(,"Concrete Inputs":["","","","0.","False","False",""])";
    constexpr const char* kName = "aten::_scaled_dot_product_flash_attention";
    Script script;
    script.Op("aten::mm", "gemm", 300, "[[4096,1280],[1280,5120]]");
    script.Op("aten::mm", "gemm", 300, "[[4096,5120],[5120,1280]]");
    script.Op(kName, "fmha_a", 900, "[[64,8,8,16],[64,8,4096,16],[64,8,4096,16]]", kBf16, 3,
              kValues);
    if (both_ways)
      script.Op(kName, "fmha_b", 900, "[[64,8,4096,16],[64,8,8,16],[64,8,8,16]]", kBf16, 3,
                kValues);
    script.Op(kName, "fmha_c", 100, "[[1,16,4096,80],[1,16,4096,80],[1,16,4096,80]]", kBf16, 3,
              kValues);
    return Analyze(script.text());
  };
  CHECK(Of(parts(true), WorkloadPart::kHeads) == "16 x 80");
  CHECK(Of(parts(false), WorkloadPart::kHeads) == "8 x 16");  // a few new tokens over their cache
}

TEST_CASE(
    "training of which no pass was recorded says so; work without marks of training does not") {
  constexpr const char* kMask = "void at::native::fused_dropout_kernel_vec<float, 1>(int)";
  constexpr const char* kCast =
      "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
      "TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(float)#1}>(int)";
  constexpr const char* kAdd =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)";
  const auto recording = [&](bool masks, bool product) {
    Script script;
    for (int i = 0; i < 4; ++i) {
      if (masks) script.Op("aten::native_dropout", kMask, 50, "[[8,512,1024]]", "float", 1);
      script.Op("aten::copy_", kCast, 20, "[[1024,1024],[1024,1024]]", "float", 2);
      script.Op("aten::add", kAdd, 10, "[[1024,1024],[1024,1024]]", "float", 2);
      if (product) script.Op("aten::mm", "ampere_sgemm_128x64_nn", 50, "[[512,512],[512,512]]");
    }
    return Analyze(script.text());
  };
  const Analyzed one = recording(true, false);
  CHECK(Of(one, WorkloadPart::kPhase).starts_with(kNoPassRecorded));
  CHECK(Of(one, WorkloadPart::kPhase).find("dropout masks (6") != std::string::npos);
  REQUIRE(one.Quality("no_pass") != nullptr);
  for (const auto& [masks, product] : {std::pair{true, true}, std::pair{false, false}}) {
    const Analyzed other = recording(masks, product);
    CHECK(Of(other, WorkloadPart::kPhase).find(kNoPassRecorded) == std::string::npos);
    CHECK(other.Quality("no_pass") == nullptr);
  }
  // Random numbers are masks where their ops say so.
  const auto drawn = [&](const char* op) {
    Script script;
    for (int i = 0; i < 4; ++i) {
      script.Op(op,
                "void at::native::distribution_elementwise_grid_stride_kernel<float, 4>(long, "
                "at::PhiloxCudaState)",
                50, "[[8,512,1024]]", "float", 1);
      script.Op("aten::add", kAdd, 10, "[[1024,1024],[1024,1024]]", "float", 2);
    }
    return Analyze(script.text());
  };
  CHECK(Of(drawn("layer_1/dropout/uniform_"), WorkloadPart::kPhase).starts_with(kNoPassRecorded));
  CHECK(Of(drawn("sampler/uniform_"), WorkloadPart::kPhase).find(kNoPassRecorded) ==
        std::string::npos);
}

}  // namespace
}  // namespace jarvis::findings
