// What a trace is of: models by their modules, families by shapes, phases, sizes, machines; small
// traces by hand, then the facts of real ones.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/shape_story.h"
#include "findings/one/workload_machine.h"
#include "findings/workload_script.h"
#include "perf/device_match.h"
#include "perf/platform.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

Certainty SureOf(const Analyzed& one, WorkloadPart part) {
  return one.analysis.workload[part].certainty;
}

std::string JsonWith(const TraceText& text, const std::string& members) {
  std::string json = text.Json();
  return json.insert(json.find('{') + 1, members + ",");
}

Analyzed AnalyzeJson(const std::string& json, const perf::Platform* platform = nullptr) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("workload_test.{}.json", json.size());
  {
    std::FILE* file = std::fopen(path.c_str(), "w");
    REQUIRE(file != nullptr);
    std::fputs(json.c_str(), file);
    std::fclose(file);
  }
  Job job;
  auto trace = session::LoadTrace(path.string(), 1, job);
  std::filesystem::remove(path);
  REQUIRE(trace.has_value());
  auto analysis = findings::Analyze(**trace, platform, {}, job);
  REQUIRE(analysis.has_value());
  return {*trace, std::move(*analysis)};
}

// A layer of a decoder: projections, causal attention, and the two products of its MLP.
void AddLayer(Script* script, std::string_view name) {
  script->Module(name, 4);
  script->Op("aten::mm", "gemm_qkv", 100, "[[1024,512],[512,1536]]");
  script->Op("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel", 50,
             "[[2,8,512,64],[2,8,512,64],[2,8,512,64]]", kBf16, 3,
             R"(,"Concrete Inputs":["","","","0.0","True","False",""])");
  script->Op("aten::mm", "gemm_up", 120, "[[1024,512],[512,2048]]");
  script->Op("aten::mm", "gemm_down", 120, "[[1024,2048],[2048,512]]");
}

TEST_CASE("the model is the module that owns the GPU time, not the one with the most calls") {
  Script script;
  script.Module("TextEncoder_0", 1);
  script.Op("aten::mm", "small", 10, "[[8,512],[512,512]]");
  script.Module("OptimizedModule_0", 8).Module("BigForCausalLM_0", 8);
  AddLayer(&script, "BigLayer_0");
  AddLayer(&script, "BigLayer_1");
  const Analyzed one = Analyze(script.text());
  CHECK(Of(one, WorkloadPart::kModel) == "BigForCausalLM");
  CHECK(SureOf(one, WorkloadPart::kModel) == Certainty::kRecorded);
  CHECK(Of(one, WorkloadPart::kFamily) == "decoder-only transformer");
  CHECK(Of(one, WorkloadPart::kComponents) == "TextEncoder 1%");
  CHECK(Of(one, WorkloadPart::kLayers) == "2");
  CHECK(Of(one, WorkloadPart::kHeads) == "8 x 64");
  CHECK(Of(one, WorkloadPart::kHidden) == "512");
  CHECK(Of(one, WorkloadPart::kBatch) == "batch 2 x 512 tokens");
  CHECK(Of(one, WorkloadPart::kPhase) == "forward only (prefill)");
  CHECK(Of(one, WorkloadPart::kPrecision) == "bf16");
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kVocabulary].known());
  const std::string line = WorkloadLine(one.analysis.workload);
  CHECK(line.starts_with("Model: BigForCausalLM"));
  CHECK(line.find("further parts TextEncoder 1%") != std::string::npos);
  CHECK(WorkloadLine(one.analysis.workload, true).find("BigForCausalLM") == std::string::npos);
  CHECK(line.find("; inferred: decoder-only transformer") != std::string::npos);

  Job job;
  const auto story = TellShapes(*one.trace, one.analysis.categories, one.analysis.workload, job);
  REQUIRE(story.has_value());
  CHECK(story->block == "one BigLayer");
  CHECK(story->repeats == 2);
  REQUIRE(story->rows.size() == 4);
  CHECK(story->rows[0].op == "aten::mm");
  CHECK(story->rows[0].args == "(1024,512) bf16<br>(512,1536) bf16");
  CHECK(story->gpu_us == doctest::Approx(390));
}

TEST_CASE("without modules the same decoder is told by its shapes, and says that it is inferred") {
  Script script;
  for (int layer = 0; layer < 4; ++layer) {
    script.Op("aten::mm", "gemm_qkv", 100, "[[1024,512],[512,1536]]");
    script.Op("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel", 50,
              "[[2,8,512,64],[2,8,512,64],[2,8,512,64]]", kBf16, 3);
    script.Op("aten::mm", "gemm_down", 120, "[[1024,2048],[2048,512]]");
  }
  script.Op("aten::mm", "gemm_head", 300, "[[1024,512],[512,32000]]");
  script.Op("aten::argmax", "reduce_kernel", 5, "[[1024,32000],[],[]]", kBf16, 1);
  const Analyzed one = Analyze(script.text());
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kModel].known());
  CHECK(Of(one, WorkloadPart::kFamily) == "decoder-only transformer");
  CHECK(Of(one, WorkloadPart::kParameters) == "40M");  // its products and the vocabulary twice
  CHECK(Of(one, WorkloadPart::kLayers) == "4");
  CHECK(SureOf(one, WorkloadPart::kLayers) == Certainty::kInferred);
  CHECK(Of(one, WorkloadPart::kVocabulary) == "32000");
  CHECK(Of(one, WorkloadPart::kHidden) == "512");
  CHECK(WorkloadName(one.analysis.workload) == "decoder-only transformer");
  Job job;
  const auto story = TellShapes(*one.trace, one.analysis.categories, one.analysis.workload, job);
  REQUIRE(story.has_value());
  CHECK(story->rows.size() == 3);
  CHECK(story->repeats == 4);
}

TEST_CASE("a wide product is no vocabulary unless something is chosen among its columns") {
  Script script;
  for (int layer = 0; layer < 4; ++layer)
    script.Op("aten::mm", "gemm_down", 120, "[[512,4096],[4096,4096]]");
  script.Op("aten::mm", "gemm_classifier", 300, "[[512,4096],[4096,25088]]");
  CHECK_FALSE(Analyze(script.text()).analysis.workload[WorkloadPart::kVocabulary].known());
  // Keys of an attention are as many.
  script.Op("aten::_softmax", "softmax_warp", 5, "[[64,25088]]", kBf16, 1);
  script.Op("aten::_softmax", "softmax_warp", 5, "[[64,32768]]", kBf16, 1);
  CHECK(Of(Analyze(script.text()), WorkloadPart::kVocabulary) == "25088");
}

TEST_CASE("images and labels that are copied equally often tell the batch") {
  const auto batch = [](std::int64_t image_bytes, std::int64_t label_bytes, int labels) {
    Script script;
    script.Op("aten::cudnn_convolution", "volta_scudnn_128x64_relu_interior_nn_v1", 900, "");
    TraceText& text = script.text();
    const auto copy = [&](double at, std::int64_t bytes, std::int64_t id) {
      text.Runtime("cudaMemcpyAsync", at, 2, id);
      text.Memcpy("Memcpy HtoD (Pageable -> Device)", 5000 + at, 4, id, 7,
                  fmt::format(R"("bytes":{})", bytes));
    };
    for (int i = 0; i < 3; ++i)
      copy(100.0 + 10 * i, image_bytes, 500 + i);
    for (int i = 0; i < labels; ++i)
      copy(200.0 + 10 * i, label_bytes, 600 + i);
    const Analyzed one = Analyze(text);
    return Of(one, WorkloadPart::kBatch);
  };
  CHECK(batch(128 * 3 * 224 * 224 * 4, 128 * 8, 3) == "batch 128");
  CHECK(batch(64 * 3 * 96 * 96, 64 * 8, 3) == "batch 64");
  CHECK(batch(128 * 3 * 224 * 224 * 4, 128 * 8, 2) == "");  // not one of each
  CHECK(batch(128 * 3 * 224 * 220 * 4, 128 * 8, 3) == "");  // no square
  CHECK(batch(128 * 3 * 224 * 224 * 4, 100 * 8, 3) == "");  // of another number
}

TEST_CASE("shapes of a small part are not the model's") {
  const auto widths = [](double unshaped_us) {
    Script script;
    script.Module("SmallModel_0", 8);
    AddLayer(&script, "SmallLayer_0");
    AddLayer(&script, "SmallLayer_1");
    script.Graph().Replayed("sm90_xmma_gemm_bf16bf16", unshaped_us);
    const Analyzed one = Analyze(script.text());
    return Of(one, WorkloadPart::kHidden) + "|" + Of(one, WorkloadPart::kHeads);
  };
  CHECK(widths(100) == "512|8 x 64");
  CHECK(widths(10'000) == "|");
}

TEST_CASE("attention that is not causal makes no decoder") {
  Script script;
  script.Op("aten::_scaled_dot_product_flash_attention", "attn_fwd", 50,
            "[[2,8,512,64],[2,8,512,64],[2,8,512,64],[],[]]", kBf16, 5,
            R"(,"Concrete Inputs":["","","","0.","False","False",""])");
  script.Op("aten::mm", "gemm", 120, "[[1024,512],[512,2048]]");
  script.Op("aten::gelu", "gelu_kernel", 10, "[[1024,2048]]", kBf16, 1);
  const Analyzed one = Analyze(script.text());
  CHECK(Of(one, WorkloadPart::kFamily) == "transformer (attention not causal)");
  CHECK(Of(one, WorkloadPart::kPhase) == "forward only (inference)");
}

TEST_CASE("a rank's part of heads and vocabulary is not the model's") {
  Script script;
  for (int layer = 0; layer < 4; ++layer) {
    script.Op("LinearWithGradAccumulationAndAsyncCommunication", "", 0.0, "");
    script.Op("aten::mm", "gemm_qkv", 100, "[[1024,512],[512,384]]");
    script.Op("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel", 50,
              "[[2,2,512,64],[2,2,512,64],[2,2,512,64]]", kBf16, 3,
              R"(,"Concrete Inputs":["","","","0.0","True","False",""])");
    script.Op("_ReduceFromModelParallelRegion", "ncclDevKernel_AllReduce_Sum_f16", 30,
              "[[1024,512],[]]");
    script.Op("aten::mm", "gemm_down", 120, "[[1024,512],[512,512]]");
  }
  script.Op("aten::mm", "gemm_head", 300, "[[1024,512],[512,8000]]");
  script.Op("_VocabParallelCrossEntropy", "exp_kernel", 5, "[[1024,8000],[1024]]", kBf16, 2);
  const Analyzed one =
      AnalyzeJson(JsonWith(script.text(), R"("distributedInfo":{"rank":1,"world_size":4})"));
  CHECK(Of(one, WorkloadPart::kHeads) == "8 x 64 (2 on this rank)");
  CHECK(Of(one, WorkloadPart::kVocabulary) == "32000 (8000 on this rank)");
  CHECK(Of(one, WorkloadPart::kParallelism) == "tensor parallel 4, rank 1 of 4");
  CHECK(Of(one, WorkloadPart::kFramework) == "Megatron");
}

TEST_CASE("products and a softmax are an attention; patches make a vision transformer") {
  Script script;
  script.Op("aten::convolution", "conv", 60, "[[2,3,224,224],[768,3,16,16]]", "float", 2);
  for (int layer = 0; layer < 2; ++layer) {
    script.Op("aten::addmm", "gemm_qkv", 90, "[[2304],[394,768],[768,2304]]", "float", 3);
    script.Op("aten::view", "copy", 1, "[[2,12,197,64]]", "float", 1);
    script.Op("aten::bmm", "bmm", 20, "[[24,197,64],[24,64,197]]", "float");
    script.Op("aten::_softmax", "softmax", 15, "[[24,197,197],[],[]]", "float", 1);
    script.Op("aten::bmm", "bmm", 20, "[[24,197,197],[24,197,64]]", "float");
  }
  const Analyzed one = Analyze(script.text());
  CHECK(Of(one, WorkloadPart::kFamily) == "ViT-B (vision transformer)");
  CHECK(Of(one, WorkloadPart::kHeads) == "12 x 64");
  CHECK(Of(one, WorkloadPart::kInput) == "224 x 224 pixels, patches of 16 x 16");
  CHECK(Of(one, WorkloadPart::kBatch) == "batch 2, attention over 197 tokens");
  CHECK(Of(one, WorkloadPart::kPrecision) == "fp32");
}

TEST_CASE("a server's annotation tells phase and requests; a graph's kernels tell the layers") {
  Script script;
  script.Note("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
              3);
  script.Graph();
  for (int layer = 0; layer < 6; ++layer) {
    script.Replayed("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", 100);
    script.Replayed("kernel_unified_attention_3d", 20);
    script.Replayed("vllm::reshape_and_cache_flash_kernel", 5);
  }
  const Analyzed one = AnalyzeJson(JsonWith(
      script.text(),
      R"("deviceProperties":[{"id":0,"name":"","totalGlobalMem":206141652992,"computeMajor":9,)"
      R"("computeMinor":4,"numSms":304}])"));
  CHECK(Of(one, WorkloadPart::kPhase) == "decode");
  CHECK(Of(one, WorkloadPart::kBatch) == "32 requests over 55086 cached tokens");
  CHECK(Of(one, WorkloadPart::kLayers) == "6");
  CHECK(Of(one, WorkloadPart::kFamily) == "mixture-of-experts decoder");
  CHECK(Of(one, WorkloadPart::kFramework) == "vLLM");
  CHECK(Of(one, WorkloadPart::kExecution) == "CUDA graph replay");
  CHECK(Of(one, WorkloadPart::kPrecision) == "mxfp4 x bf16");
  CHECK(Of(one, WorkloadPart::kDevice) == "MI300X");
  CHECK(SureOf(one, WorkloadPart::kDevice) == Certainty::kInferred);
}

TEST_CASE("a device with far less memory than the platform is another one, and says so") {
  TraceText text;
  text.OpWithKernel("aten::relu", 0, 10, "relu_kernel", 20, 100, 1);
  const auto of = [&](std::string_view name, std::string_view bytes) {
    return AnalyzeJson(
        JsonWith(text,
                 fmt::format(R"("deviceProperties":[{{"id":0,"name":"{}","totalGlobalMem":{}}}])",
                             name, bytes)),
        perf::FindPlatform("MI300X"));
  };
  CHECK(of("AMD Radeon Graphics", "68702699520").Quality("other_device") != nullptr);
  CHECK(of("AMD Radeon Graphics", "206141652992").Quality("other_device") == nullptr);
  // The name says that it is one, whatever its memory.
  CHECK(of("AMD Instinct MI300X VF", "68702699520").Quality("other_device") == nullptr);
}

TEST_CASE("a shortened annotation of a server is read; a label of a diffusion is no decode") {
  Script server;
  server.Note("execute_context_1(888_788544)_generation_0(0)", 2);
  server.Op("vllm::unified_attention_with_output", "fmhaSm100aKernel_QkvE4m3", 50,
            "[[888,8,64],[888,1,64],[888,1,64],[888,8,64]]", kBf16, 4);
  const Analyzed prefill = Analyze(server.text());
  CHECK(Of(prefill, WorkloadPart::kPhase) == "prefill");
  CHECK(Of(prefill, WorkloadPart::kBatch) == "1 request of 888 tokens");
  CHECK(Of(prefill, WorkloadPart::kHeads) == "8 x 64 (1 KV head)");

  Script diffusion;
  diffusion.Note("execute_diffusion_1_256x256", 4);
  for (int step = 0; step < 4; ++step) {
    diffusion.Module("SomeTransformer2DModel_0", 1);
    diffusion.Op("aten::mm", "gemm", 100, "[[8192,2432],[2432,2432]]");
  }
  const Analyzed image = Analyze(diffusion.text());
  CHECK(Of(image, WorkloadPart::kPhase) == "image generation, 4 denoising steps");
  CHECK_FALSE(WorkloadLine(image.analysis.workload).find("256") != std::string::npos);
}

TEST_CASE("decode steps of unlike batches are told as a range") {
  const auto batch = [](int first, int second) {
    Script server;
    for (const int requests : {first, second}) {
      server.Note(fmt::format("execute_context_0(0)_generation_{0}({0})", requests), 1);
      server.Op("vllm::unified_attention_with_output", "paged_attention", 50,
                "[[32,8,64],[32,1,64],[32,1,64],[32,8,64]]", kBf16, 4);
    }
    return Of(Analyze(server.text()), WorkloadPart::kBatch);
  };
  CHECK(batch(12, 30) == "12 to 30 requests");
  CHECK(batch(30, 30) == "30 requests");
}

TEST_CASE("graphs are HIP's where the calls are, whatever the producer says of itself") {
  const auto execution = [](const char* call) {
    TraceText text;
    text.Runtime(call, 0, 5, 1).Kernel("k", 10, 50, 1);
    return Of(Analyze(text), WorkloadPart::kExecution);
  };
  CHECK(execution("hipGraphLaunch") == "HIP graph replay");
  CHECK(execution("cudaGraphLaunch") == "CUDA graph replay");
}

TEST_CASE("a server's experts that are cut over ranks are told of, and claim nothing") {
  Script server;
  server.Note("execute_context_1(888_788544)_generation_0(0)", 3);
  server.Op("vllm::moe_forward", "bmm_MxE4m3_MxE2m1MxE4m3", 500, "[[888,3072],[888,128]]");
  server.Op("vllm::all_reduce", "multimem_all_reduce_kernel", 20, "[[888,2880]]", kBf16, 1);
  const auto cut = [](const Analyzed& one) {
    const auto& all = one.analysis.findings;
    const auto found = std::find_if(all.begin(), all.end(), [](const Finding& finding) {
      return finding.rule == Pattern::kCutExperts;
    });
    return found == all.end() ? nullptr : &*found;
  };
  const Analyzed two =
      AnalyzeJson(JsonWith(server.text(), R"("distributedInfo":{"rank":0,"world_size":2})"));
  const Finding* finding = cut(two);
  REQUIRE(finding != nullptr);
  CHECK_FALSE(finding->savings_ms.has_value());
  CHECK(BestWall(*finding) == nullptr);
  CHECK(cut(Analyze(server.text())) == nullptr);  // one rank has whole experts
}

// Six layers of a server, with the two products of their experts.
TraceText CutExperts(const char* weights) {
  TraceText text;
  text.Annotation("execute_context_1(888_788544)_generation_0(0)", 0, 6000);
  std::int64_t link = 1;
  for (double at = 10; at < 3000; at += 500) {
    text.Op("vllm::moe_forward", at, 40, Shapes("[[888,3072],[888,128]]", kBf16));
    for (const bool gated : {true, false}) {
      text.Runtime("cudaLaunchKernel", at + (gated ? 1 : 5), 1, link)
          .Kernel(fmt::format("bmm_Bfloat16_{}MxE4m3_Fp32_t128x16x256_s3_transOut_{}_dynBatch_",
                              weights, gated ? "swiGlu" : "tma"),
                  at + (gated ? 50 : 150), gated ? 90 : 60, link, 7,
                  fmt::format("\"grid\":[{},342,1]", gated ? 8 : 24));
      ++link;
    }
    text.OpWithKernel("vllm::all_reduce", at + 60, 20, "multimem_all_reduce_kernel", at + 220, 30,
                      link++, Shapes("[[888,2880]]", kBf16, 1));
  }
  return text;
}

TEST_CASE("of cut experts whose weights alone are known the rate is told, and no saving") {
  const auto told = [](const char* weights) {
    const Analyzed one =
        AnalyzeJson(JsonWith(CutExperts(weights), R"("distributedInfo":{"rank":0,"world_size":8})"),
                    perf::FindPlatform("B200"));
    std::string text;
    for (const Finding& finding : one.analysis.findings) {
      if (finding.subject.find("moe_forward") != std::string::npos) text += "op ";
      if (finding.rule != Pattern::kCutExperts) continue;
      text += "cut ";
      for (const Fact& fact : finding.patterns.front().facts)
        text += fact.key == "tb_s_achieved" ? "rate " : "";
    }
    return text;
  };
  CHECK(told("MxE2m1").find("cut rate") != std::string::npos);
  CHECK(told("MxE2m1").find("op") == std::string::npos);
  CHECK(told("Int4").find("cut") != std::string::npos);
  CHECK(told("Int4").find("rate") == std::string::npos);
}

TEST_CASE("before PyTorch 2 a function of the compiler's name is a program's own") {
  const auto trace = [](std::string more) {
    TraceText text;
    text.Op("CompiledFunction", 0, 100, Shapes("[[512,512]]", kBf16, 1) + more);
    text.OpWithKernel("aten::mm", 10, 10, "gemm", 120, 100, 1,
                      Shapes("[[512,512],[512,512]]", kBf16) + more);
    return text;
  };
  CHECK(Of(Analyze(trace("")), WorkloadPart::kExecution) == "torch.compile");
  CHECK(Of(Analyze(trace(R"(,"Trace iteration":0)")), WorkloadPart::kExecution) == "eager");
}

TEST_CASE("recommendation: embedding bags and dense layers, trained by two optimizers") {
  Script script;
  script.Note("Optimizer.step#FusedAdam.step", 1);
  script.Op("aten::_foreach_add_", "multi_tensor_apply_kernel", 5, "");
  script.Op("fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function",
            "split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel", 40, "");
  script.Op("c10d::alltoall_base_", "ncclKernel_SendRecv_RING", 60, "");
  script.Op("aten::addmm", "volta_sgemm_128x64_nn", 50, "[[512],[1024,256],[256,512]]", "float", 3);
  const Analyzed one =
      AnalyzeJson(JsonWith(script.text(), R"("distributedInfo":{"rank":1,"world_size":2})"));
  CHECK(Of(one, WorkloadPart::kFamily) == "recommendation model (DLRM-like)");
  CHECK(Of(one, WorkloadPart::kPhase) == "training with FusedAdam, rowwise Adagrad");
  CHECK(Of(one, WorkloadPart::kParallelism) == "embeddings split over ranks, rank 1 of 2");
  CHECK(Of(one, WorkloadPart::kBatch) == "batch 1024");
  CHECK(Of(one, WorkloadPart::kDevice) == "Volta GPU (V100 class)");
}

TEST_CASE("what computes nothing known is still told by its op; an empty trace says nothing") {
  Script script;
  script.Op("aten::add", "vectorized_elementwise_kernel", 50, "[[4096,4096],[4096,4096]]");
  const Analyzed one = Analyze(script.text());
  CHECK(Of(one, WorkloadPart::kFamily) == "aten::add (microbenchmark)");
  CHECK(Of(one, WorkloadPart::kBatch) == "tensors of 4096 x 4096");

  TraceText host_alone;
  host_alone.Op("aten::add", 0, 5);
  const Analyzed none = Analyze(host_alone);
  CHECK(WorkloadLine(none.analysis.workload).empty());
  CHECK(WorkloadName(none.analysis.workload) == "GPU program");
  Workload named;
  named.Set(WorkloadPart::kFramework, "PyTorch, FSDP", Certainty::kRecorded, {});
  CHECK(WorkloadName(named) == "PyTorch program");
}

TEST_CASE("precision by the names of kernels") {
  CHECK(PrecisionOfKernel("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV") == "bf16");
  CHECK(PrecisionOfKernel("Cijk_Alik_Bljk_HHS_BH") == "fp16");
  CHECK(PrecisionOfKernel("Cijk_Ailk_Bjlk_SB_Bias_AS") == "fp32");
  CHECK(PrecisionOfKernel("Cijk_Alik_Bljk_F8BS_BH") == "fp8");
  CHECK(PrecisionOfKernel("volta_sgemm_128x64_nn") == "fp32");
  CHECK(PrecisionOfKernel("cutlass_tensorop_s1688dgrad_optimized_tf32_128x64") == "tf32");
  CHECK(PrecisionOfKernel("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1") == "bf16");
  CHECK(PrecisionOfKernel("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn") == "fp16");
  CHECK(PrecisionOfKernel("bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2") == "mxfp4 x mxfp8");
  CHECK(PrecisionOfKernel("_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillS4_S8_") == "");
}

TEST_CASE("a device that is not named is the slowest of those with as many units") {
  CHECK(perf::MatchUnits(108, false)->platform->name == "A100-SXM4-40GB");
  CHECK(perf::MatchUnits(132, false)->family == "H100 or H200");
  CHECK(perf::MatchUnits(132, false)->platform->name == "H100-SXM");
  CHECK_FALSE(perf::MatchUnits(80, false).has_value());  // a card for the desktop has 80 as well
  CHECK(perf::MatchUnits(80, true)->family == "V100");
  CHECK_FALSE(perf::MatchUnits(107, false).has_value());
}

TEST_CASE("a device by its properties") {
  using perf::MatchProperties;
  const perf::Platform* h100 = MatchProperties({132, 85018279936, 9, 0});
  REQUIRE(h100 != nullptr);
  CHECK(h100->name == "H100-SXM");
  CHECK(MatchProperties({304, 270000000000, 9, 4})->name == "MI325X");
  CHECK(MatchProperties({304, std::nullopt, 9, 4}) == nullptr);
  CHECK(MatchProperties({108, 85000000000, 8, 0}) == nullptr);  // module or card
  CHECK(perf::ClassOfProperties({108, 85000000000, 8, 0}) == "A100 80 GB");
  CHECK(perf::ClassOfProperties({38, 24000000000, 9, 4}).empty());
  // Of a class the slowest device counts, so that no saving is told too large.
  CHECK(perf::MatchClass({108, 85000000000, 8, 0})->platform->name == "A100-PCIE-80GB");
  CHECK(perf::MatchClass({80, 16900000000, 7, 0})->platform->name == "V100-SXM2-16GB");
  CHECK(perf::MatchClass({256, 309000000000, 9, 5})->platform->name == "MI350X");
  CHECK_FALSE(perf::MatchClass({38, 24000000000, 9, 4}).has_value());
  CHECK_FALSE(
      perf::MatchClass({132, 80000000000, 9, 0}).has_value());  // one device alone has these
}

TEST_CASE("real traces") {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  if (data == nullptr || !std::filesystem::exists(std::string(data) + "/traces")) {
    MESSAGE("skipped: JARVIS_TEST_DATA has no traces");
    return;
  }
  struct Row {
    const char* trace;
    const char* file;
    std::vector<std::pair<WorkloadPart, const char*>> wanted;
  };
  using Part = WorkloadPart;
  const Row rows[] = {
      {"timesformer-h100",
       "trace",
       {{Part::kModel,
         "facebook/timesformer-base-finetuned-k400 (TimesformerForVideoClassification)"},
        {Part::kLayers, "12"},
        {Part::kHeads, "12 x 64"},
        {Part::kBatch,
         "batch 1 x 128 frames, attention over 3137 tokens (a frame has 196 patches: 16 frames in "
         "one sequence)"},
        {Part::kDevice, "H100-SXM"}}},
      {"sd35-xdit-mi300x",
       "trace",
       {{Part::kModel, "Stable Diffusion 3 (SD3Transformer2DModel)"},
        {Part::kPhase, "image generation, 4 denoising steps"},
        {Part::kBatch, "batch 2 x 4429 tokens"},
        {Part::kInput, "output 1024 x 1024 pixels"},
        {Part::kLayers, "38"},
        {Part::kHeads, "38 x 64"}}},
      {"gptoss-vllm-b200",
       "trace",
       {{Part::kModel, "GptOssForCausalLM"},
        {Part::kPhase, "prefill"},
        {Part::kVocabulary, "201088 (25136 on this rank)"},
        {Part::kExperts, "128"},
        {Part::kParallelism, "tensor parallel 8, rank 0 of 8"}}},
      {"sam-masks-a100",
       "trace",
       {{Part::kFamily,
         "ViT-H (vision transformer) with a promptable mask decoder (like "
         "Segment Anything)"},
        {Part::kLayers, "32"},
        {Part::kPhase, "forward only (inference)"},
        {Part::kDevice, "A100-SXM4-80GB"}}},
      {"kineto18-resnet50-v100",
       "trace",
       {{Part::kModel, "ResNet-50"},
        {Part::kPhase, "training with SGD"},
        {Part::kBatch, "batch 32"}}},
      {"resnet-recompute-mi300x",
       "trace",
       {{Part::kModel, "ResNet-18"},
        {Part::kPhase, "training with SGD, activation checkpointing"},
        {Part::kBatch, "batch 10"}}},
      {"megatron-tp8-a100",
       "rank0",
       {{Part::kPhase, "forward and loss only"},
        {Part::kBatch, "batch 4 x 2048 tokens"},
        {Part::kHeads, "64 x 64 (8 on this rank)"},
        {Part::kVocabulary, "51200 (6400 on this rank)"}}},
      {"vllm-decode-mi300x",
       "trace",
       {{Part::kPhase, "decode"}, {Part::kLayers, "24"}, {Part::kDevice, "MI300X"}}},
      {"ep-moe-b200",
       "new",
       {{Part::kFamily, "mixture-of-experts layer"},
        {Part::kExperts, "8 (top 1) (4 on this rank)"},
        {Part::kHidden, "7168"},
        {Part::kParallelism, "expert parallel 2, rank 0 of 2"}}},
      {"norm-layers",
       "trace",
       {{Part::kFamily, "normalisation layers (microbenchmark)"},
        {Part::kPhase, "forward and backward, no optimizer"},
        {Part::kLayers, "10"}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.trace);
    Job job;
    const auto trace = session::LoadTrace(
        fmt::format("{}/traces/{}/{}.json.gz", data, row.trace, row.file), 1, job);
    REQUIRE(trace.has_value());
    const auto analysis = findings::Analyze(**trace, nullptr, {}, job);
    REQUIRE(analysis.has_value());
    for (const auto& [part, value] : row.wanted) {
      CAPTURE(WorkloadKey(part));
      CHECK(analysis->workload[part].value == value);
    }
  }
}

TEST_CASE("prompts of a mask decoder are told with their passes; a few queries alone are none") {
  const auto decoder = [](bool enlarges) {
    constexpr const char* kValues = R"(,"Concrete Inputs":["","","","0.","False","False",""])";
    Script script;
    script.Op("aten::convolution", "conv", 900, "[[1,3,1024,1024],[1280,3,16,16]]", "float", 2);
    script.Op("aten::_scaled_dot_product_flash_attention", "fmha", 900,
              "[[1,16,4096,80],[1,16,4096,80],[1,16,4096,80]]", kBf16, 3, kValues);
    for (int pass = 0; pass < 4; ++pass) {
      script.Op("aten::_scaled_dot_product_flash_attention", "fmha", 50,
                "[[64,8,7,16],[64,8,4096,16],[64,8,4096,16]]", kBf16, 3, kValues);
      if (enlarges) script.Op("aten::conv_transpose2d", "deconv", 5, "");
    }
    return Analyze(script.text());
  };
  CHECK(Of(decoder(true), WorkloadPart::kBatch).find("4 mask decoder passes of 64 prompts") !=
        std::string::npos);
  CHECK(Of(decoder(false), WorkloadPart::kBatch).find("prompts") == std::string::npos);
}

TEST_CASE("a zero-shot pipeline of several passes has one a label, another pipeline has not") {
  const auto pipeline = [](std::string_view file) {
    Script script;
    script.text().Python(fmt::format("transformers/pipelines/{}.py(9): forward", file), 1, 500);
    for (int pass = 0; pass < 3; ++pass) {
      script.Module("SomeModel_0", 1);
      script.Op("aten::mm", "gemm", 100, "[[64,512],[512,512]]");
    }
    return Analyze(script.text());
  };
  const Analyzed labels = pipeline("zero_shot_object_detection");
  CHECK(Of(labels, WorkloadPart::kPhase) == "inference in a zero-shot object detection pipeline");
  CHECK(Of(labels, WorkloadPart::kSteps) == "3 forward passes, one a candidate label");
  const Analyzed other = pipeline("video_classification");
  CHECK(Of(other, WorkloadPart::kPhase) == "inference in a video classification pipeline");
  CHECK(Of(other, WorkloadPart::kSteps) == "3 forward passes");
}

TEST_CASE("several requests in one step: tokens are those of all") {
  Script server;
  server.Note("execute_context_15(15360_15728640)_generation_0(0)", 1);
  server.Op("aten::mm", "gemm", 50, "[[15360,4096],[4096,4096]]");
  CHECK(Of(Analyze(server.text()), WorkloadPart::kBatch) == "15 requests, 15360 tokens in all");
}

}  // namespace
}  // namespace jarvis::findings
