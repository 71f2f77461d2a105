// Rules over a trace as a whole, and ways out that fit to what runs the model: for each a trace
// that has it, and one that nearly has it.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/advice_rules.h"
#include "findings/one/fusion_findings.h"
#include "findings/one/rule_text.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

const Finding* OfRule(const Analyzed& one, Pattern rule) {
  for (const Finding& finding : one.analysis.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

std::string FactOf(const Finding& finding, std::string_view key) {
  for (const Fact& fact : finding.patterns.at(0).facts) {
    const auto* text = std::get_if<std::string>(&fact.value);
    if (fact.key == key && text != nullptr) return *text;
  }
  return {};
}

bool Has(const std::vector<Remedy>& path, Advice advice) {
  return std::any_of(path.begin(), path.end(),
                     [&](const Remedy& remedy) { return remedy.advice == advice; });
}

TEST_CASE("fp32 products where tensor cores take fp16 alone") {
  const auto trace = [](const char* kernel, const char* dims, const char* type) {
    TraceText text;
    text.OpWithKernel("aten::mm", 0, 10, kernel, 20, 9000, 1, Shapes(dims, type));
    return text;
  };
  const Analyzed one = Analyze(trace("volta_sgemm_128x64_nn", "[[4096,4096],[4096,1705]]", "float"),
                               "V100-SXM2-16GB");
  const Finding* finding = OfRule(one, Pattern::kHalfPrecisionOff);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(9));
  CHECK(FactOf(*finding, "sizes") == "1705");
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(6.75));
  CHECK(one.Find("gemm", "aten::mm") == nullptr);  // told once
  // By its name alone, without a platform.
  CHECK(OfRule(Analyze(trace("volta_sgemm_128x64_nn", "[[4096,4096],[4096,4096]]", "float"), ""),
               Pattern::kHalfPrecisionOff) != nullptr);
  const char* square = "[[4096,4096],[4096,4096]]";
  CHECK(OfRule(Analyze(trace("ampere_sgemm_128x64_tn", square, "float"), "A100-SXM4-80GB"),
               Pattern::kHalfPrecisionOff) == nullptr);
  CHECK(OfRule(Analyze(trace("volta_h884gemm_128x64_nn", square, "c10::Half"), "V100-SXM2-16GB"),
               Pattern::kHalfPrecisionOff) == nullptr);
}

TraceText GraphWithCopies(int copies) {
  TraceText text;
  text.Op("CompiledFunction", 0, 400);
  for (int i = 0; i < copies; ++i) {
    const double at = 10.0 + 20 * i;
    text.Op("aten::copy_", at, 15).Runtime("cudaMemcpyAsync", at + 2, 5, i + 1);
    text.Memcpy("Memcpy DtoD (Device -> Device)", 500 + 110.0 * i, 100, i + 1);
  }
  text.Runtime("cudaGraphLaunch", 380, 10, 100).Kernel("gemm", 500 + 110.0 * copies, 3000, 100);
  return text;
}

TEST_CASE("copies into a graph's fixed inputs") {
  const Analyzed one = Analyze(GraphWithCopies(12));
  const Finding* finding = OfRule(one, Pattern::kGraphInputCopies);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(1.2));
  CHECK(finding->change_b->parts.at(0).gpu.size() == 12);
  // The same copies are no second finding.
  CHECK(one.Find("multi_kernel", "D2D copies") == nullptr);
  const Analyzed few = Analyze(GraphWithCopies(4));
  CHECK(OfRule(few, Pattern::kGraphInputCopies) == nullptr);
  CHECK(few.Find("multi_kernel", "D2D copies") != nullptr);
}

TEST_CASE("copies right before and behind collectives") {
  const auto trace = [](bool beside) {
    TraceText text;
    for (int i = 0; i < 10; ++i) {
      const double at = 1000.0 * i;
      text.Op("aten::copy_", at, 15).Runtime("cudaMemcpyAsync", at + 2, 5, 3 * i + 1);
      text.Memcpy("Memcpy DtoD (Device -> Device)", at + 20, 50, 3 * i + 1);
      if (!beside) text.OpWithKernel("aten::relu", at + 20, 10, "relu", at + 70, 30, 3 * i + 2);
      text.OpWithKernel("symm_mem::multimem_all_reduce_", at + 30, 10, "multimem_all_reduce_kernel",
                        at + 100, 300, 3 * i + 3);
      if (!beside) text.OpWithKernel("aten::relu", at + 40, 10, "relu", at + 400, 30, 100 + i);
    }
    return text;
  };
  const Analyzed one = Analyze(trace(true));
  const Finding* finding = OfRule(one, Pattern::kCollectiveCopies);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(0.5));
  CHECK(OfRule(Analyze(trace(false)), Pattern::kCollectiveCopies) == nullptr);
}

TraceText Checkpointed(const char* frame) {
  TraceText text;
  text.Annotation("Optimizer.step#SGD.step", 5000, 10);
  for (int i = 0; i < 4; ++i) {
    const double at = 1000.0 * i;
    text.Python(frame, at, 400);
    text.OpWithKernel("aten::batch_norm", at + 10, 300, "bn", at + 350, 200, i + 1);
  }
  return text;
}

TEST_CASE("forward work done again by activation checkpointing") {
  const Analyzed one = Analyze(Checkpointed("torch/utils/checkpoint.py(1500): recompute_fn"));
  const Finding* finding = OfRule(one, Pattern::kRecompute);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(0.8));  // of the GPU
  CHECK_FALSE(FactOf(*finding, "statistics").empty());
  // The forward pass itself goes through the same file.
  CHECK(OfRule(Analyze(Checkpointed("torch/utils/checkpoint.py(343): checkpoint")),
               Pattern::kRecompute) == nullptr);
}

TEST_CASE("recomputed work is told by its ops where no Python frame is recorded") {
  const auto trace = [](const char* op, const char* args) {
    TraceText text;
    text.Annotation("Optimizer.step#SGD.step", 5000, 10);
    for (int i = 0; i < 4; ++i) {
      const double at = 1000.0 * i;
      text.Op("autograd::engine::evaluate_function: ReluBackward0", at, 700,
              "\"Sequence number\":7");
      text.Op("ReluBackward0", at + 5, 690, "\"Sequence number\":7");
      text.OpWithKernel(op, at + 10, 300, "forward", at + 350, 200, 2 * i + 1, args);
      text.OpWithKernel("aten::threshold_backward", at + 400, 100, "backward", at + 600, 50,
                        2 * i + 2);
    }
    return text;
  };
  const char* recorded = "\"Sequence number\":9";
  const Analyzed one = Analyze(trace("aten::conv2d", recorded));
  const Finding* finding = OfRule(one, Pattern::kRecompute);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(0.8));
  // A backward pass that is differentiated itself calls no forward ops.
  CHECK(OfRule(Analyze(trace("aten::mul", recorded)), Pattern::kRecompute) == nullptr);
  CHECK(OfRule(Analyze(trace("aten::conv2d", "")), Pattern::kRecompute) == nullptr);
}

// Passes of a model, with `between` us of host work before each of them.
TraceText PassesOf(const char* last_dims, double between, bool marked) {
  TraceText text;
  const double length = 4 * (between + 1000) + 1000;
  if (marked) text.Annotation("ProfilerStep#6", 0, length);
  for (int i = 0; i < 4; ++i) {
    const double at = between + i * (between + 1000);
    text.Module("Detector_0", at, 1000);
    text.OpWithKernel("aten::mm", at + 10, 900, "gemm", at + 50, 800, i + 1,
                      Shapes(i == 3 ? last_dims : "[[512,512],[512,512]]", "c10::BFloat16"));
  }
  return text;
}

TEST_CASE("the same pass again on equal shapes") {
  const char* same = "[[512,512],[512,512]]";
  const Analyzed one = Analyze(PassesOf(same, 2000, true));
  const Finding* finding = OfRule(one, Pattern::kRepeatedPass);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "Detector");
  CHECK(finding->time_ms == doctest::Approx(9));  // three passes, each with its preparation
  REQUIRE(finding->wall_a.has_value());
  CHECK(finding->wall_a->ms.high <= 9.2);  // with the pauses between passes
  CHECK(OfRule(Analyze(PassesOf("[[512,256],[256,512]]", 2000, true)), Pattern::kRepeatedPass) ==
        nullptr);
  // A loop over what is there already, and passes that are the steps themselves.
  CHECK(OfRule(Analyze(PassesOf(same, 100, true)), Pattern::kRepeatedPass) == nullptr);
  CHECK(OfRule(Analyze(PassesOf(same, 2000, false)), Pattern::kRepeatedPass) == nullptr);
  // Those of one request are not.
  TraceText request;
  request.Python("transformers/pipelines/base.py(1306): __call__", 0, 14'000);
  const TraceText passes = PassesOf(same, 2000, false);
  request.Raw(passes.Elements());
  CHECK(OfRule(Analyze(request), Pattern::kRepeatedPass) != nullptr);
}

// Those of the pipeline that makes a pass of each label, and `reads` calls of one function behind.
TraceText LabelPasses(int reads, const char* pipeline) {
  TraceText text;
  text.Python(pipeline, 0, 25'000);
  text.Raw(PassesOf("[[512,512],[512,512]]", 2000, false).Elements());
  text.Python("transformers/pipelines/base.py(1306): __call__", 1, 24'000);
  text.Python("pipeline.py(194): postprocess", 12'500, 5000);
  for (int i = 0; i < reads; ++i)
    text.Python("image_processing.py(503): post_process", 12'510 + 1200 * i, 1000);
  return text;
}

TEST_CASE("what is read of each label's pass goes with the passes") {
  constexpr const char* kLabels =
      "transformers/pipelines/zero_shot_object_detection.py(65): __call__";
  const auto time_of = [](const TraceText& text) {
    const Analyzed one = Analyze(text);
    const Finding* finding = OfRule(one, Pattern::kRepeatedPass);
    REQUIRE(finding != nullptr);
    return finding->time_ms;
  };
  const double passes_ms = time_of(LabelPasses(0, kLabels));
  CHECK(time_of(LabelPasses(4, kLabels)) == doctest::Approx(passes_ms + 3.6));
  // Calls in another number are not those of the passes; nor does a batch spare what is done with
  // each of its results.
  CHECK(time_of(LabelPasses(3, kLabels)) == doctest::Approx(passes_ms));
  CHECK(time_of(LabelPasses(4, "transformers/pipelines/base.py(1): __call__")) ==
        doctest::Approx(passes_ms));
}

// Iterations that repeat a tensor over a batch, project it twice and write back to it.
TraceText RepeatedInput(const char* projected) {
  TraceText text;
  int id = 0;
  for (int i = 0; i < 5; ++i) {
    const double at = 1000.0 * i;
    const auto run = [&](const char* op, const char* dims, double us) {
      const int n = id % 4;
      text.OpWithKernel(op, at + 20.0 * n, 15, op, 10'000 + 4000.0 * i + 1000.0 * n, us, id + 1,
                        Shapes(dims, "float"));
      ++id;
    };
    run("aten::repeat_interleave", "[[1,256,64,64],[]]", 100);
    run("aten::mm", projected, 500);
    run("aten::mm", projected, 500);
    run("aten::mm", "[[262144,128],[128,256]]", 500);
  }
  return text;
}

TEST_CASE("products over equal copies of one tensor") {
  const Analyzed one = Analyze(RepeatedInput("[[262144,256],[256,128]]"));
  const Finding* finding = OfRule(one, Pattern::kEqualCopies);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(5 * 1.1));  // without the product that writes back
  CHECK(finding->change_a->parts.at(0).gpu.size() == 15);
  CHECK(OfRule(Analyze(RepeatedInput("[[448,256],[256,128]]")), Pattern::kEqualCopies) == nullptr);
}

TEST_CASE("a normalisation of short rows") {
  const auto trace = [](const char* dims) {
    TraceText text;
    text.OpWithKernel("aiter::rmsnorm", 0, 10, "add_rmsnorm_quant_kernel", 20, 500, 1,
                      Shapes(dims, "c10::BFloat16", 3));
    return text;
  };
  const Analyzed one = Analyze(trace("[[491520,128],[491520,128],[128]]"));
  const Finding* finding = OfRule(one, Pattern::kNarrowNorm);
  REQUIRE(finding != nullptr);
  CHECK(finding->path_a.empty());  // whether they are queries and keys is not known
  CHECK_FALSE(finding->path_b.empty());
  CHECK(OfRule(Analyze(trace("[[15360,4096],[15360,4096],[4096]]")), Pattern::kNarrowNorm) ==
        nullptr);
  // Of a causal model rows of a head's size are queries and keys, others are not.
  const auto decoder = [](const char* heads) {
    TraceText text;
    text.OpWithKernel("aiter::rmsnorm", 0, 10, "add_rmsnorm_quant_kernel", 20, 500, 1,
                      Shapes("[[491520,128],[491520,128],[128]]", "c10::BFloat16", 3));
    text.OpWithKernel("aten::_scaled_dot_product_flash_attention", 20, 10, "flash_fwd_kernel", 530,
                      100, 2,
                      Shapes(heads, "c10::BFloat16", 3) +
                          R"(,"Concrete Inputs":["","","","0.","True","False",""])");
    return text;
  };
  const Analyzed qk = Analyze(decoder("[[1,16,512,128],[1,16,512,128],[1,16,512,128]]"));
  const Analyzed other = Analyze(decoder("[[1,16,512,64],[1,16,512,64],[1,16,512,64]]"));
  REQUIRE(OfRule(qk, Pattern::kNarrowNorm) != nullptr);
  REQUIRE(OfRule(other, Pattern::kNarrowNorm) != nullptr);
  CHECK_FALSE(OfRule(qk, Pattern::kNarrowNorm)->path_a.empty());
  CHECK(OfRule(other, Pattern::kNarrowNorm)->path_a.empty());
}

TEST_CASE("products that share their input are named, layers in a row are not") {
  const auto trace = [](std::vector<const char*> dims) {
    TraceText text;
    int i = 0;
    for (const char* each : dims) {
      text.OpWithKernel("aten::mm", 30.0 * i, 10, "Cijk_Alik_Bljk_BBS_BH_MT256x192x64", 600.0 * i,
                        500, i + 1, Shapes(each, "c10::BFloat16"));
      ++i;
    }
    return text;
  };
  const char* square = "[[4096,4096],[4096,4096]]";
  const char* wide = "[[4096,4096],[4096,6144]]";
  const auto merge = [&](std::vector<const char*> dims) {
    const Analyzed one = Analyze(trace(std::move(dims)), "MI300X");
    const Finding* finding = OfRule(one, Pattern::kBelowLargeProducts);
    return finding == nullptr ? "no finding" : FactOf(*finding, "merge");
  };
  CHECK(merge({square, square, square}) == "3 of (4096,4096) x (4096,4096)");
  CHECK(merge({wide, wide}) == "2 of (4096,4096) x (4096,6144)");
  CHECK(merge({square, square}).empty());
  CHECK(merge({square, wide}).empty());
}

TEST_CASE("what no sibling outruns is not said to be below others") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "Cijk_Alik_Bljk_BBS_BH_MT256x192x64", 20, 400, 1,
                    Shapes("[[4096,4096],[4096,4096]]", "c10::BFloat16"));
  const Analyzed one = Analyze(text, "MI300X");
  CHECK(OfRule(one, Pattern::kSlowerThanSiblings) == nullptr);
  const Finding* finding = OfRule(one, Pattern::kBelowLargeProducts);
  REQUIRE(finding != nullptr);
  CHECK(finding->path_a.size() == 1);  // fp8, with what it would save
  CHECK(FactOf(*finding, "tuning").find("TUNABLEOP") != std::string::npos);
}

TEST_CASE("a switch between libraries is advised for their kernels alone") {
  const auto tuning = [](const char* kernel) {
    TraceText text;
    text.OpWithKernel("aten::mm", 0, 10, kernel, 20, 1000, 1,
                      Shapes("[[8192,4096],[4096,8192]]", "c10::BFloat16"));
    const Analyzed one = Analyze(text, "H100");
    const Finding* finding = OfRule(one, Pattern::kBelowLargeProducts);
    return finding == nullptr ? "no finding" : FactOf(*finding, "tuning");
  };
  CHECK(tuning("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn").find("CUBLASLT") != std::string::npos);
  const std::string own = tuning("_ZN7cutlass13device_kernelIN2at4cuda6detail25enable_3x_kernel");
  CHECK(own.find("CUBLASLT") == std::string::npos);
  CHECK(own.find("max-autotune") != std::string::npos);
}

TEST_CASE("a chain of an eager model is one finding, and its launches go too") {
  const auto trace = [](bool compiled) {
    TraceText text;
    text.Module("Model_0", 0, 3000);
    if (compiled) text.Op("Torch-Compiled Region: 0/0", 3100, 10);
    int id = 0;
    for (int i = 0; i < 6; ++i) {
      const double at = 400.0 * i;
      text.Module(fmt::format("RMSNorm_{}", i), at, 300);
      for (const char* op : {"aten::pow", "aten::mean", "aten::rsqrt", "aten::mul"}) {
        text.OpWithKernel(op, at + 5 + 60 * (id % 4), 50, op, 100 + 500.0 * i + 100 * (id % 4), 90,
                          id + 1, Shapes("[[8192,2048],[],[]]", "float", 3));
        ++id;
      }
    }
    return text;
  };
  const Analyzed one = Analyze(trace(false));
  const Finding* finding = OfRule(one, Pattern::kEagerChains);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_b.has_value());
  const Change::Part& part = finding->change_b->parts.at(0);
  CHECK(part.gpu.size() == 24);
  CHECK(!finding->change_b->exact.empty());
  CHECK(one.Find("elementwise", "aten::pow") == nullptr);
  const Analyzed beside = Analyze(trace(true));
  CHECK(OfRule(beside, Pattern::kEagerChains) == nullptr);
  // Beside compiled parts no mode of the compiler touches what runs op by op: it is compiled, too.
  const auto advises = [&](Advice advice) {
    return std::ranges::any_of(beside.analysis.findings, [&](const Finding& one_finding) {
      return Advises(one_finding.path_b, advice);
    });
  };
  CHECK(advises(Advice::kCompileMore));
  CHECK_FALSE(advises(Advice::kFuseIntoProduct));
}

TEST_CASE("what turns queries and keys is told by its code") {
  Operation operation;
  operation.name = "aten::cat";
  operation.entry_point = "models/qwen2/modeling_qwen2.py(61): rotate_half";
  CHECK(IsOfRotation(operation));
  operation.entry_point = "models/qwen2/modeling_qwen2.py(150): forward";
  CHECK_FALSE(IsOfRotation(operation));
  operation.entry_point = "models/llama/modeling_llama.py(120): apply_rotary_pos_emb";
  CHECK(IsOfRotation(operation));
  operation.name = "aten::mm";
  CHECK_FALSE(IsOfRotation(operation));
}

TEST_CASE("ways to launch faster are the engine's own") {
  WorkContext context;
  CHECK(Has(WaysToLaunchFaster(context, false, false), Advice::kCompileGraphs));
  context.compiled = true;  // what is left is to capture it
  CHECK(Has(WaysToLaunchFaster(context, false, false), Advice::kGpuGraphs));
  context.compiled = false;
  const std::vector<Remedy> waits = WaysToLaunchFaster(context, true, false);
  CHECK(Has(waits, Advice::kGraphParts));
  CHECK_FALSE(Has(waits, Advice::kGpuGraphs));
  context.engine = Engine::kVllm;
  context.step_tokens = 888;
  const std::vector<Remedy> server = WaysToLaunchFaster(context, false, false);
  CHECK(Has(server, Advice::kGraphsVllm));
  CHECK(std::get<std::int64_t>(server.front().facts.front().value) == 888);
  context.engine = Engine::kDiffusers;
  CHECK(Has(WaysToLaunchFaster(context, false, false), Advice::kCompileParts));
  context.compiled = true;
  CHECK(Has(WaysToLaunchFaster(context, false, false), Advice::kCompileRest));
  context = {};
  context.before_torch2 = true;
  context.optimizer = true;
  const std::vector<Remedy> old = WaysToLaunchFaster(context, false, false);
  CHECK(Has(old, Advice::kLegacyOptimizer));
  CHECK_FALSE(Has(old, Advice::kCompile));
  // Another finding has the optimizer.
  CHECK_FALSE(Has(WaysToLaunchFaster(context, false, true), Advice::kLegacyOptimizer));
}

TEST_CASE("ways for communication fit to what is exposed") {
  WorkContext context;
  context.training = context.bucketed = true;
  const ExposedCollectives late = {"allreduce", true, true, false, false};
  CHECK(Has(WaysForCommunication(context, late).a, Advice::kExposedBuckets));
  CHECK_FALSE(Has(WaysForCommunication(context, late).a, Advice::kCompressGradients));
  CHECK(Has(WaysForCommunication(context, late).b, Advice::kRecordRanks));
  ExposedCollectives merged = late;
  merged.in_file = true;
  CHECK(Has(WaysForCommunication(context, merged).b, Advice::kSplitWaits));
  CHECK_FALSE(Has(WaysForCommunication(context, merged).b, Advice::kRecordRanks));
  const ExposedCollectives fp32 = {"allreduce", true, true, true, true};
  CHECK(Has(WaysForCommunication(context, fp32).a, Advice::kTuneBuckets));
  CHECK(Has(WaysForCommunication(context, fp32).a, Advice::kCompressGradients));
  context.embeddings = true;
  CHECK(Has(WaysForCommunication(context, {"all_to_all", true, true}).a, Advice::kOverlapAllToAll));
  CHECK(Has(WaysForCommunication(context, {"all_to_all", true, true}).a, Advice::kExchange16Bits));
  context.coded_exchange = true;  // it is narrow already
  CHECK_FALSE(
      Has(WaysForCommunication(context, {"all_to_all", true, true}).a, Advice::kExchange16Bits));
  context.coded_exchange = false;
  context = {};
  // Of replayed graphs nothing can be issued early: micro-batches hide it.
  const ExposedCollectives replayed = {"all_to_all", false, true, false, false, false};
  const Ways halves = WaysForCommunication(context, replayed);
  REQUIRE(halves.a.size() == 2);
  CHECK(halves.a.front().advice == Advice::kOverlapMicroBatches);
  CHECK(Has(halves.a, Advice::kBalanceExchange));
  // What hides transfer hides no waiting.
  ExposedCollectives waiting = replayed;
  waiting.waits = true;
  const Ways balanced = WaysForCommunication(context, waiting);
  REQUIRE(balanced.a.size() == 2);
  CHECK(balanced.a.front().advice == Advice::kBalanceExchange);
  // An engine has settings for both.
  context.engine = Engine::kSglang;
  context.switches = SwitchesOf("SGLang, DeepEP");
  REQUIRE(context.switches != nullptr);
  const Ways settings = WaysForCommunication(context, waiting);
  CHECK(settings.a.empty());
  REQUIRE(settings.b.size() == 2);
  CHECK(settings.b.front().advice == Advice::kBalanceExchange);
  CHECK(Has(settings.b, Advice::kOverlapMicroBatches));
  CHECK_FALSE(Has(WaysForCommunication(context, {"allreduce", false, true}).b,
                  Advice::kOverlapMicroBatches));
  CHECK(SwitchesOf("DeepEP, transformers") == nullptr);
  context = {};
  const Ways own = WaysForCommunication(context, {"allreduce", false, true});
  CHECK(Has(own.a, Advice::kFuseAllReduce));
  CHECK(own.b.empty());  // no NCCL to tune
}

TEST_CASE("advice for host work fits to the names that were seen") {
  using Advices = std::vector<Advice>;
  const WorkContext context;
  const auto advice = [&](std::vector<std::string> names) {
    return AdviceForHostSection(context, {std::move(names), false, false});
  };
  CHECK(advice({"transformers/image_transforms.py(390): normalize"}) ==
        Advices{Advice::kPreprocessOnGpu, Advice::kPrepareAhead});
  CHECK(advice({"torchvision/io/video.py(1): read", "PIL/Image.py(2): resize"}) ==
        Advices{Advice::kDecodeElsewhere, Advice::kPreprocessOnGpu, Advice::kPrepareAhead});
  CHECK(advice({"torch/nn/modules/module.py(9): named_modules"}) == Advices{Advice::kOnceOutside});
  CHECK(advice({"transformers/pipelines/base.py(9): __call__"}).empty());  // nobody's to rewrite
  CHECK(advice({"aten::select", "aten::max"}) == Advices{Advice::kConvertBeforeLoop});
  CHECK(advice({"aten::max"}) == Advices{Advice::kHostOpsToDevice});
  CHECK(advice({"app.py(3): tokenize"}) == Advices{Advice::kOverlapHostWork});
  // A tokenizer in Python, and the fast one; output for people, and a name that only sounds like
  // it.
  CHECK(advice({"transformers/models/bert/tokenization_bert.py(355): tokenize"}) ==
        Advices{Advice::kFastTokenizer});
  CHECK(advice({"transformers/tokenization_utils_fast.py(5): _batch_encode_plus"}).empty());
  CHECK(advice({"<built-in function print>"}) == Advices{Advice::kWriteLessOften});
  CHECK(advice({"print_area.py(3): compute"}) == Advices{Advice::kOverlapHostWork});
  CHECK(AdviceForHostSection(context, {{"aten::slice"}, false, true}) ==
        Advices{Advice::kOverlapHostWork, Advice::kFindHostWork});
  CHECK(AdviceForHostSection(context, {{}, true, false}) == Advices{Advice::kPrepareAhead});
  WorkContext own;
  own.training = true;
  // Whether it has workers is not known.
  CHECK(AdviceForHostSection(own, {{}, true, false}) == Advices{Advice::kPrepareAhead});
  own.own_loader = true;
  CHECK(AdviceForHostSection(own, {{}, true, false}) == Advices{Advice::kLoaderWorkers});
  // What is there already is not advised, in training or not.
  for (const bool training : {false, true}) {
    WorkContext workers;
    workers.training = training;
    workers.worker_loader = true;
    CHECK(AdviceForHostSection(workers, {{}, true, false}) == Advices{Advice::kPrefetchData});
    CHECK(AdviceForHostSection(workers, {{"x.py(1): resize"}, true, false}) ==
          Advices{Advice::kPreprocessOnGpu, Advice::kPrefetchData});
    workers.pageable_input = true;
    CHECK(AdviceForHostSection(workers, {{}, true, false}) ==
          Advices{Advice::kPrefetchData, Advice::kPinLoader});
  }
}

TEST_CASE("ways out of waits are those that the idle time is behind, the most of it first") {
  using Advices = std::vector<Advice>;
  const auto place = [](const char* name, double idle_ms, bool to_host, bool to_device) {
    HostPlace one;
    one.name = name;
    one.idle_ms = idle_ms;
    const std::string op = one.name.substr(0, one.name.find(" ("));
    one.wait = KindOfWait(op, to_host, to_device);
    return one;
  };
  const auto advice = [](const std::vector<HostPlace>& places) {
    Advices out;
    for (const Remedy& remedy : WaysForWaits(places))
      out.push_back(remedy.advice);
    return out;
  };
  const HostPlace item = place("aten::item (cudaStreamSynchronize)", 1, true, false);
  CHECK(advice({item}) == Advices{Advice::kAvoidScalars});
  CHECK(advice({place("aten::is_nonzero", 1, false, false)}) == Advices{Advice::kAvoidScalars});
  CHECK(advice({place("cudaDeviceSynchronize", 1, false, false)}) == Advices{Advice::kAvoidSyncs});
  CHECK(advice({place("cudaDeviceSynchronize", 5, false, false), item}) ==
        Advices{Advice::kAvoidSyncs, Advice::kAvoidScalars});
  // Why an op waits that copies nothing is not known.
  CHECK(advice({place("aten::to (cudaStreamSynchronize)", 5, false, false), item}) ==
        Advices{Advice::kAvoidScalars});
  const HostPlace index = place("aten::index (cudaMemcpyAsync)", 3, true, false);
  const HostPlace sent = place("aten::to (cudaMemcpyAsync)", 6, false, true);
  CHECK(advice({sent, index, item}) ==
        Advices{Advice::kBuildOnDevice, Advice::kFixedShapes, Advice::kAvoidScalars});
  // A tenth of it is worth a sentence, less is not.
  CHECK(advice({sent, place("aten::index", 4, true, false), item}) ==
        Advices{Advice::kBuildOnDevice, Advice::kFixedShapes});
  // The same op may copy the other way: then nothing is built on the device.
  const HostPlace back = place("aten::to (cudaMemcpyAsync)", 6, true, false);
  CHECK(advice({back, index}) == Advices{Advice::kReadBackOnce, Advice::kFixedShapes});
  // Several kinds of reading go before one of sending, if together they take more.
  const HostPlace read = place("aten::to (cudaMemcpyAsync)", 4, true, false);
  CHECK(advice({sent, read, index}) ==
        Advices{Advice::kReadBackOnce, Advice::kFixedShapes, Advice::kBuildOnDevice});
  const std::vector<Remedy> told = WaysForWaits({sent, index});
  CHECK(std::get<std::string>(told.front().facts.front().value) == "`aten::to`");
  // What stands in a package is told after what its user can change, however long it is.
  HostPlace library = index;
  library.code = "torch_geometric/utils/loop.py(585): add_remaining_self_loops";
  CHECK(advice({library, item}) == Advices{Advice::kAvoidScalars, Advice::kFixedShapes});
  HostPlace own = index;
  own.code = "train.py(58): step";
  CHECK(advice({own, item}) == Advices{Advice::kFixedShapes, Advice::kAvoidScalars});
  const std::vector<Remedy> inside = WaysForWaits({library, item});
  CHECK(std::get<std::string>(inside.back().facts.front().value) ==
        "`aten::index` inside `torch_geometric`");
  // A scalar read that hardly costs anything does not go before it.
  HostPlace small = item;
  small.idle_ms = 0.1;
  CHECK(advice({library, small}) == Advices{Advice::kFixedShapes});
}

TEST_CASE("a scalar of fp64 is no cast, and neither is a mask") {
  const auto cast = [](const char* dims, const char* types) {
    TraceText text;
    text.OpWithKernel("aten::copy_", 0, 10, "copy", 20, 500, 1,
                      fmt::format("\"Input Dims\":{},\"Input type\":{}", dims, types));
    const Analyzed one = Analyze(text);
    return one.Has(one.First("elementwise"), Pattern::kDtypeCast);
  };
  CHECK(cast("[[4096,4096],[4096,4096],[]]", R"(["c10::BFloat16","float",""])"));
  CHECK_FALSE(cast("[[4096,4096],[],[]]", R"(["float","double",""])"));
  CHECK_FALSE(cast("[[4096,4096],[4096,4096],[]]", R"(["bool","c10::BFloat16",""])"));
}

TEST_CASE("what stands in brackets falls away without its facts") {
  const auto write = [](const Fact& fact) { return std::get<std::string>(fact.value); };
  const std::vector<Fact> facts = {{"a", "x", {}}, {"empty", "", {}}};
  CHECK(FillRule("with {a}[[ and {b}]].", facts, write) == "with x.");
  CHECK(FillRule("[[{empty} of]] {a}", facts, write) == "x");
  CHECK(FillRule("[[{a}]] {b}", facts, write) == "x ?");
}

}  // namespace
}  // namespace jarvis::findings
