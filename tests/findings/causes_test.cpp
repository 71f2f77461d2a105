// The rules of levers/catalogue: for each a trace that has it, and one that nearly has it.
#include "findings/one/causes.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/attention_reach.h"
#include "findings/one/estimates.h"
#include "findings/one/product_kernels.h"
#include "findings/one/rule_text.h"
#include "findings/one/rules_page.h"
#include "findings/one/system_findings.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

const Finding* FindRule(const Analyzed& one, Pattern rule) {
  for (const Finding& finding : one.analysis.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

constexpr const char* kSquare = "[[4096,4096],[4096,4096]]";

TraceText Product(std::string_view kernel, double us, std::string_view dims,
                  std::string_view type) {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, kernel, 20, us, 1, Shapes(dims, type));
  return text;
}

TEST_CASE(
    "fp32 kernels on a device with TF32 are no limit, whatever their share of the fp32 roof") {
  // 137 GFLOP in 7.2 ms: 19.1 TFLOPS/s, 98 % of the fp32 peak.
  const Analyzed one =
      Analyze(Product("ampere_sgemm_128x64_tn", 7200, kSquare, "float"), "A100-SXM4-80GB");
  const Finding* finding = FindRule(one, Pattern::kTf32Off);
  REQUIRE(finding != nullptr);
  CHECK(finding->band == Band::kInvestigate);
  CHECK(*finding->efficiency < 15);
  // Fewer bits go further.
  REQUIRE(finding->change_a.has_value());
  CHECK(finding->change_a->savings_ms.high > finding->change_b->savings_ms.high);
  REQUIRE(finding->change_b.has_value());
  // 137.4 GFLOP at 60 % of 156 TFLOPS/s take 1.468 ms.
  CHECK(finding->change_b->savings_ms.high == doctest::Approx(7.2 - 1.468).epsilon(0.001));
  CHECK(finding->change_b->savings_ms.low < finding->change_b->savings_ms.mid);
  CHECK(finding->change_b->parts.size() == 1);
  CHECK(finding->change_b->parts[0].gpu.size() == 1);
  CHECK(one.analysis.combined.savings_ms.high < 7.2);
}

TEST_CASE("autocast is no way out where products are a small part") {
  TraceText text = Product("ampere_sgemm_128x64_tn", 7200, kSquare, "float");
  // Six times as long in ops that autocast leaves in fp32.
  text.OpWithKernel("aten::scatter_add_", 8000, 10, "scatter_gather_elementwise", 8020, 43200, 100,
                    Shapes("[[1000000,256],[1000000,256]]", "float"));
  const Analyzed one = Analyze(text, "A100-SXM4-80GB");
  const Finding* finding = FindRule(one, Pattern::kTf32Off);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_b.has_value());
  CHECK_FALSE(finding->change_a.has_value());
}

TEST_CASE("nearly TF32 off: TF32 kernels, other types, devices without such units") {
  const char* tf32 = "ampere_s1688gemm_128x128_tn";
  CHECK(FindRule(Analyze(Product(tf32, 1500, kSquare, "float"), "A100-SXM4-80GB"),
                 Pattern::kTf32Off) == nullptr);
  const Analyzed tensor = Analyze(Product(tf32, 1500, kSquare, "float"), "A100-SXM4-80GB");
  CHECK(tensor.First("gemm").efficiency.spec == "matrix_tf32");
  CHECK(*tensor.First("gemm").efficiency.percent < 100);  // not held against 19.5 TFLOPS/s
  CHECK(
      FindRule(Analyze(Product("ampere_sgemm_128x64_tn", 9000, kSquare, "float"), "V100-SXM2-16GB"),
               Pattern::kTf32Off) == nullptr);
  CHECK(FindRule(Analyze(Product("ampere_h1688gemm_128x128", 900, kSquare, "c10::Half"),
                         "A100-SXM4-80GB"),
                 Pattern::kTf32Off) == nullptr);
}

TEST_CASE(
    "no faster unit helps fp32 products that wait for memory, nor one that takes microseconds") {
  // 1.8 FLOP a byte, where fp32 units would be the limit from 9.6 on.
  const char* skinny = "[[64,4,32],[64,32,65536]]";
  TraceText text;
  text.OpWithKernel("aten::bmm", 0, 10, "gemmSN_TN_kernel<float>", 20, 1480, 1,
                    Shapes(skinny, "float"));
  const Analyzed memory = Analyze(text, "A100-SXM4-80GB");
  CHECK(FindRule(memory, Pattern::kTf32Off) == nullptr);
  CHECK(memory.First("gemm").efficiency.bound == Bound::kMemory);
  // A kernel takes 2 us however little it computes.
  const char* small = "[[256,256],[256,256]]";
  const Analyzed one =
      Analyze(Product("ampere_sgemm_32x32_sliced1x4_tn", 4, small, "float"), "A100-SXM4-80GB");
  const Finding* finding = FindRule(one, Pattern::kTf32Off);
  if (finding != nullptr) CHECK(finding->change_b->savings_ms.high <= 0.002 + 1e-9);
  REQUIRE(one.First("gemm").cause.has_value());
  CHECK(one.First("gemm").cause->b->saved_part.high <= 0.5 + 1e-9);
}

TEST_CASE("fp32 kernels are told without shapes, with no low end: they may wait for memory") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "ampere_sgemm_128x64_tn", 20, 7200, 1);
  const Analyzed one = Analyze(text, "A100-SXM4-80GB");
  const Finding* finding = FindRule(one, Pattern::kTf32Off);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_b.has_value());
  // What fp32 units do at most, 19.5 TFLOPS/s, against 60 % of 156 TFLOPS/s.
  CHECK(finding->change_b->savings_ms.high ==
        doctest::Approx(7.2 * (1 - 19.5 / 93.6)).epsilon(0.001));
  CHECK(finding->change_b->savings_ms.low == 0);
  CHECK(FindRule(Analyze(text, "V100-SXM2-16GB"), Pattern::kTf32Off) == nullptr);
}

// 64 x 64 x 128 x 128 to 64 x 32 x 256 x 256, in so many microseconds.
Analyzed TransposedConvolution(double us, std::string_view stride) {
  TraceText text;
  text.OpWithKernel(
      "aten::convolution", 0, 10, "cutlass_tensorop_s1688dgrad_optimized_tf32_128x128", 20, us, 1,
      fmt::format(R"("Input Dims":[[64,64,128,128],[64,32,2,2],[32],[],[],[],[],[],[]],)"
                  R"("Input type":["float","float","float","ScalarList","ScalarList",)"
                  R"("ScalarList","Scalar","ScalarList","Scalar"],)"
                  R"("Concrete Inputs":["","","","{}","[0, 0]","[1, 1]","True","[0, 0]","1"])",
                  stride));
  return Analyze(text, "A100-SXM4-40GB");
}

TEST_CASE(
    "a transposed convolution is sized as the GEMM that it is, where windows do not overlap") {
  const Analyzed one = TransposedConvolution(2800, "[2, 2]");
  const Finding* finding = one.Find("conv_fwd", "aten::convolution");
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_a.has_value());
  // 268 MB in and 537 MB out: once at 80 % of 1.555 TB/s 0.647 ms, the output three times at 75 %
  // 1.61 ms.
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(2.8 - 0.647).epsilon(0.01));
  CHECK(finding->change_a->savings_ms.low == doctest::Approx(2.8 - 1.61).epsilon(0.02));
  const Analyzed overlapping = TransposedConvolution(2800, "[1, 1]");
  const Finding* other = overlapping.Find("conv_fwd", "aten::convolution");
  CHECK((other == nullptr || !other->change_a));
}

TEST_CASE("fp64 in a model of fewer bits is one finding over all its ops") {
  const auto trace = [](const char* type) {
    TraceText text = Product("ampere_s1688gemm_128x128_tn", 3000, kSquare, "float");
    text.OpWithKernel("aten::add", 30, 5, "add", 4000, 500, 2,
                      Shapes("[[64,1024],[64,1024],[]]", type, 3));
    text.OpWithKernel("aten::upsample_bilinear2d", 40, 5, "upsample", 5000, 900, 3,
                      Shapes("[[64,3,256,256],[],[]]", type, 3));
    return text;
  };
  const Analyzed one = Analyze(trace("double"), "A100-SXM4-80GB");
  const Finding* finding = FindRule(one, Pattern::kAccidentalFp64);
  REQUIRE(finding != nullptr);
  CHECK(finding->members.size() == 2);
  CHECK(finding->time_ms == doctest::Approx(1.4));
  CHECK(std::get<std::string>(finding->patterns[0].facts[1].value).starts_with("aten::add "));
  CHECK_FALSE(finding->change_b.has_value());
  CHECK(FindRule(Analyze(trace("float"), "A100-SXM4-80GB"), Pattern::kAccidentalFp64) == nullptr);
  // A model that computes in fp64 means it.
  TraceText meant = Product("ampere_dgemm_128x64", 90'000, kSquare, "double");
  meant.OpWithKernel("aten::add", 30, 5, "add", 95'000, 5000, 2,
                     Shapes("[[64,1024],[64,1024],[]]", "double", 3));
  CHECK(FindRule(Analyze(meant, "A100-SXM4-80GB"), Pattern::kAccidentalFp64) == nullptr);
}

TEST_CASE("a product below its sibling has the sibling's rate as target") {
  const auto trace = [](double us) {
    TraceText text = Product("Cijk_Alik_Bljk_BBS_BH_MT256x192x64_MI16x16x1", 220, kSquare,
                             "c10::BFloat16");  // 625 TFLOPS/s
    text.OpWithKernel("aten::mm", 30, 10, "Cijk_Alik_Bljk_BBS_BH_MT128x256x32_MI16x16x1", 300, us,
                      2, Shapes("[[4096,4096],[4096,8192]]", "c10::BFloat16"));
    return text;
  };
  const Analyzed one = Analyze(trace(600), "MI300X");  // 458 TFLOPS/s
  const Finding* finding = FindRule(one, Pattern::kSlowerThanSiblings);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject_args.find("8192") != std::string::npos);
  REQUIRE(finding->change_b.has_value());
  CHECK(finding->change_b->savings_ms.mid == doctest::Approx(0.6 - 0.44).epsilon(0.01));
  CHECK(finding->change_b->source == "another GEMM of this trace");
  CHECK(FindRule(Analyze(trace(445), "MI300X"), Pattern::kSlowerThanSiblings) == nullptr);
}

TEST_CASE("products are held against each other where the device is not known") {
  const auto trace = [](const char* dims) {
    TraceText text =
        Product("Cijk_Alik_Bljk_BBS_BH_MT256x192x64_MI16x16x1", 220, kSquare, "c10::BFloat16");
    text.OpWithKernel("aten::mm", 30, 10, "Cijk_Alik_Bljk_BBS_BH_MT128x256x32_MI16x16x1", 300, 600,
                      2, Shapes(dims, "c10::BFloat16"));
    return text;
  };
  const Analyzed one = Analyze(trace("[[4096,4096],[4096,8192]]"), "");
  const Finding* finding = FindRule(one, Pattern::kSlowerThanSiblings);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_b->source == "another GEMM of this trace");
  // Few FLOPs a byte: on some device memory bounds it.
  CHECK(FindRule(Analyze(trace("[[65536,256],[256,4096]]"), ""), Pattern::kSlowerThanSiblings) ==
        nullptr);
}

// Twenty products of 21.5 us and 60 kernels of 4 us, one behind the other with `gap` between them.
Operation SmallProduct(double gap) {
  TraceText text;
  double at = 1000;
  for (int i = 0; i < 20; ++i, at += 21.5 + gap)
    text.OpWithKernel("aten::mm", 20.0 * i, 10, "Cijk_Alik_Bljk_BBS_BH_MT64x32x64_MI16x16x1", at,
                      21.5, i + 1, Shapes("[[788,768],[768,768]]", "c10::BFloat16"));
  for (int i = 0; i < 60; ++i, at += 4 + gap)
    text.OpWithKernel("aten::relu", 500.0 + 5 * i, 3, "relu", at, 4, 100 + i);
  return Analyze(text, "MI300X").First("gemm");
}

TEST_CASE("no target is below what a kernel takes to be dispatched") {
  const Operation touching = SmallProduct(0);
  const Operation apart = SmallProduct(1.25);
  CHECK(touching.dispatch_us == doctest::Approx(20 * 4));
  CHECK(apart.dispatch_us == doctest::Approx(20 * 2));  // their own start and end
  const Target goes{{1, 1, 1}, "", "", true};
  CHECK(TargetSavings(goes, touching).high == doctest::Approx(20 * 0.0215));
  const Target faster{{1, 1, 1}, "", ""};
  CHECK(TargetSavings(faster, touching).high == doctest::Approx(20 * 0.0175));
}

TEST_CASE("kernels for unaligned operands are named with the size to pad") {
  const auto trace = [](const char* kernel, const char* dims) {
    TraceText text;
    text.OpWithKernel("aten::bmm", 0, 10, kernel, 20, 2000, 1, Shapes(dims, "c10::BFloat16"));
    return text;
  };
  const char* old =
      "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1>"
      "(cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1::Params)";
  const char* odd = "[[96,3137,512],[96,512,3137]]";
  const Analyzed one = Analyze(trace(old, odd), "H100-SXM");
  const Finding* finding = FindRule(one, Pattern::kUnalignedKernel);
  REQUIRE(finding != nullptr);
  const std::vector<Fact>& facts = finding->patterns[0].facts;
  CHECK(std::get<std::string>(facts[0].value) ==
        "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1");
  CHECK(std::get<std::string>(facts[2].value) == "3137");
  CHECK(std::get<std::string>(facts[3].value) == "3144");
  CHECK(FindRule(Analyze(trace(old, "[[96,3136,512],[96,512,3136]]"), "H100-SXM"),
                 Pattern::kUnalignedKernel) == nullptr);
  CHECK(FindRule(Analyze(trace("cutlass_80_tensorop_bf16_s16816gemm_align8", odd), "H100-SXM"),
                 Pattern::kUnalignedKernel) == nullptr);
  // A size like it on an aligned kernel says what is sure; one of other sizes says nothing.
  const auto least = [&](const char* dims) {
    TraceText text;
    text.OpWithKernel("aten::bmm", 0, 10, old, 20, 8000, 1, Shapes(odd, "c10::BFloat16"));
    text.OpWithKernel("aten::bmm", 9000, 10, "cutlass_80_tensorop_bf16_s16816gemm_align8", 9020,
                      4000, 2, Shapes(dims, "c10::BFloat16"));
    const Analyzed beside = Analyze(text, "H100-SXM");
    return FindRule(beside, Pattern::kUnalignedKernel)->change_a->savings_ms.low;
  };
  CHECK(least("[[96,3136,512],[96,512,3136]]") == doctest::Approx(4).epsilon(0.01));
  CHECK(least("[[96,512,512],[96,512,512]]") > 5);
  CHECK(IsUnalignedKernel("x_align2", 0));
  CHECK_FALSE(IsUnalignedKernel("x_align16", 0));
  CHECK(IsUnalignedKernel("cutlass_75_wmma", 90));
  CHECK_FALSE(IsUnalignedKernel("cutlass_75_wmma", 75));
}

TraceText Attention(std::string_view softmax_dims, std::string_view values_dims) {
  TraceText text;
  text.OpWithKernel("aten::bmm", 2, 8, "gemm1", 50, 400, 1,
                    Shapes("[[64,1024,64],[64,64,1024]]", "c10::BFloat16"));
  text.OpWithKernel("aten::mul", 12, 8, "scale", 450, 300, 2,
                    Shapes("[[64,1024,1024],[]]", "c10::BFloat16"));
  text.OpWithKernel("aten::_softmax", 22, 8, "softmax", 750, 600, 3,
                    Shapes(softmax_dims, "c10::BFloat16", 3));
  text.OpWithKernel("aten::bmm", 32, 8, "gemm2", 1350, 400, 4,
                    Shapes(values_dims, "c10::BFloat16"));
  return text;
}

TEST_CASE("attention in parts needs no modules, only shapes that fit") {
  const char* values = "[[64,1024,1024],[64,1024,64]]";
  const Analyzed one = Analyze(Attention("[[8,8,1024,1024],[],[]]", values));
  const Finding* finding = FindRule(one, Pattern::kUnfusedAttention);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(1.7));
  REQUIRE(finding->change_a.has_value());
  CHECK(finding->change_a->parts.at(0).gpu.size() == 4);
  // 2 x 2 x 64 x 1024^2 x 64 FLOPs at 500 TFLOPS/s take 0.0344 ms.
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(1.7 - 0.0344).epsilon(0.001));
  CHECK(one.Find("gemm", "aten::bmm") == nullptr);
  CHECK(FindRule(Analyze(Attention("[[8,8,1024,512],[],[]]", values)),
                 Pattern::kUnfusedAttention) == nullptr);
  CHECK(FindRule(Analyze(Attention("[[8,8,1024,1024],[],[]]", "[[64,512,64],[64,64,512]]")),
                 Pattern::kUnfusedAttention) == nullptr);
}

TEST_CASE("attention in parts without shapes: softmax between two products of one module") {
  const auto trace = [](bool in_module, const char* between) {
    TraceText text;
    if (in_module) text.Module("SelfAttention_0", 0, 60);
    text.OpWithKernel("aten::bmm", 2, 8, "gemm1", 50, 400, 1);
    text.OpWithKernel(between, 12, 8, "scale", 450, 300, 2);
    text.OpWithKernel("aten::_softmax", 22, 8, "softmax", 750, 600, 3);
    text.OpWithKernel("aten::bmm", 32, 8, "gemm2", 1350, 400, 4);
    return text;
  };
  const Analyzed one = Analyze(trace(true, "aten::mul"));
  const Finding* finding = FindRule(one, Pattern::kUnfusedAttention);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_a.has_value());
  // What lies between the products: a half, all of it, and half of the products, too.
  CHECK(finding->change_a->savings_ms.low == doctest::Approx(0.45));
  CHECK(finding->change_a->savings_ms.mid == doctest::Approx(0.9));
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(1.3));
  CHECK(FindRule(Analyze(trace(false, "aten::mul")), Pattern::kUnfusedAttention) == nullptr);
  CHECK(FindRule(Analyze(trace(true, "aten::topk")), Pattern::kUnfusedAttention) == nullptr);
}

TEST_CASE("attention backward: two products on either side of softmax's") {
  TraceText text;
  const std::string scores = "[64,1024,1024]";
  text.OpWithKernel("aten::bmm", 2, 8, "dv", 50, 400, 1,
                    Shapes("[" + scores + ",[64,1024,64]]", "c10::BFloat16"));
  text.OpWithKernel("aten::bmm", 12, 8, "dp", 450, 400, 2,
                    Shapes("[[64,1024,64],[64,64,1024]]", "c10::BFloat16"));
  text.OpWithKernel("aten::_softmax_backward_data", 22, 8, "softmax", 850, 600, 3,
                    Shapes("[" + scores + "," + scores + ",[],[]]", "c10::BFloat16", 4));
  text.OpWithKernel("aten::bmm", 32, 8, "dk", 1450, 400, 4,
                    Shapes("[" + scores + ",[64,1024,64]]", "c10::BFloat16"));
  text.OpWithKernel("aten::bmm", 42, 8, "dq", 1850, 400, 5,
                    Shapes("[" + scores + ",[64,1024,64]]", "c10::BFloat16"));
  const Analyzed one = Analyze(text);
  const Finding* finding = FindRule(one, Pattern::kUnfusedAttention);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_a->parts.at(0).gpu.size() == 5);
}

TEST_CASE("few queries against many keys") {
  const auto trace = [](int queries) {
    const std::string q = "[64,8," + std::to_string(queries) + ",16]";
    TraceText text;
    text.OpWithKernel("aten::_scaled_dot_product_flash_attention", 0, 10, "attn_fwd", 20, 1000, 1,
                      Shapes("[" + q + ",[64,8,4096,16],[64,8,4096,16]]", "c10::BFloat16", 3) +
                          R"(,"Concrete Inputs":["","","","0.","False","False",""])");
    return text;
  };
  const Analyzed one = Analyze(trace(7), "MI300X");
  const Finding* finding = FindRule(one, Pattern::kFewQueries);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_a.has_value());
  CHECK(FindRule(Analyze(trace(64), "MI300X"), Pattern::kFewQueries) == nullptr);
}

TEST_CASE("weights read below the bandwidth") {
  const auto trace = [](double us) {
    return Product("Cijk_x_MT16x16x256", us, "[[8,8192],[8192,8192]]", "c10::BFloat16");
  };
  // 134 MB: 25 us at the peak.
  const Finding* finding = nullptr;
  const Analyzed one = Analyze(trace(60), "MI300X");
  finding = FindRule(one, Pattern::kWeightBound);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_b->savings_ms.high == doctest::Approx(0.060 - 0.0317).epsilon(0.01));
  CHECK(FindRule(Analyze(trace(30), "MI300X"), Pattern::kWeightBound) == nullptr);
}

TEST_CASE("a weight that is cast in each call") {
  const auto trace = [](const char* dims, int calls) {
    TraceText text;
    for (int i = 0; i < calls; ++i) {
      text.OpWithKernel(
          "aten::copy_", 30.0 * i, 5, "copy", 1000 + 300.0 * i, 80, 2 * i + 1,
          std::string("\"Input Dims\":") + dims + R"(,"Input type":["c10::BFloat16","float",""])");
      text.OpWithKernel("aten::mm", 30.0 * i + 10, 5, "Cijk_x_MT256x256x32", 1100 + 300.0 * i, 200,
                        2 * i + 2, Shapes("[[4096,2048],[2048,8192]]", "c10::BFloat16"));
    }
    return text;
  };
  const Analyzed one = Analyze(trace("[[8192,2048],[8192,2048],[]]", 5), "MI300X");
  const Finding* finding = FindRule(one, Pattern::kParameterCast);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(0.32));
  CHECK(FindRule(Analyze(trace("[[8192,2048],[8192,2048],[]]", 3), "MI300X"),
                 Pattern::kParameterCast) == nullptr);
  CHECK(FindRule(Analyze(trace("[[8192,2000],[8192,2000],[]]", 5), "MI300X"),
                 Pattern::kParameterCast) == nullptr);
}

TEST_CASE("weights of experts that are quantised in each call") {
  const auto trace = [](const char* dims, int calls) {
    TraceText text;
    for (int i = 0; i < calls; ++i) {
      text.OpWithKernel("torchao::triton_to_mxfp8_dim0", 30.0 * i, 5, "to_mxfp8_dim0_kernel",
                        1000 + 300.0 * i, 80, 2 * i + 1, Shapes(dims, "c10::BFloat16"));
      text.OpWithKernel("aten::_grouped_mm", 30.0 * i + 10, 5, "cutlass_grouped", 1100 + 300.0 * i,
                        200, 2 * i + 2,
                        Shapes("[[8192,7168],[4,7168,2048],[4]]", "c10::BFloat16", 3));
    }
    return text;
  };
  const Analyzed one = Analyze(trace("[[4,2048,7168]]", 5), "B200");
  const Finding* finding = FindRule(one, Pattern::kParameterQuantised);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(0.32));
  CHECK(finding->change_a->savings_ms.low > 0.1);
  // With autograd on it may be training, whose steps change the weights.
  TraceText differentiated = trace("[[4,2048,7168]]", 5);
  for (int i = 0; i < 5; ++i)
    differentiated.Op("aten::add", 30.0 * i + 16, 3, fmt::format(R"("Sequence number":{})", i));
  const Analyzed forward = Analyze(differentiated, "B200");
  const Finding* once = FindRule(forward, Pattern::kParameterQuantised);
  REQUIRE(once != nullptr);
  CHECK(once->change_a->savings_ms.low == 0);
  // Too few calls, and activations, which are others each time.
  CHECK(FindRule(Analyze(trace("[[4,2048,7168]]", 3), "B200"), Pattern::kParameterQuantised) ==
        nullptr);
  CHECK(FindRule(Analyze(trace("[[8192,7168]]", 5), "B200"), Pattern::kParameterQuantised) ==
        nullptr);
}

TEST_CASE("a sum over a dimension of size one") {
  const auto trace = [](const char* dimension) {
    TraceText text;
    text.OpWithKernel("aten::sum", 0, 10, "reduce", 20, 500, 1,
                      Shapes("[[8192,1,7168],[],[],[]]", "c10::BFloat16", 4) +
                          ",\"Concrete Inputs\":[\"\",\"[" + dimension + "]\",\"False\",\"\"]");
    return text;
  };
  CHECK(FindRule(Analyze(trace("1"), "MI300X"), Pattern::kSumOfOne) != nullptr);
  CHECK(FindRule(Analyze(trace("-2"), "MI300X"), Pattern::kSumOfOne) != nullptr);
  CHECK(FindRule(Analyze(trace("2"), "MI300X"), Pattern::kSumOfOne) == nullptr);
  CHECK(FindRule(Analyze(trace("1, 2"), "MI300X"), Pattern::kSumOfOne) == nullptr);
}

TEST_CASE("communication, experts and quantisation are no other work") {
  TraceText text;
  text.OpWithKernel(
      "symm_mem::multimem_all_reduce_", 0, 10,
      "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(int)", 20, 1000,
      1);
  text.OpWithKernel("vllm::moe_forward", 20, 10, "bmm_MxE4m3_MxE2m1MxE4m3", 1020, 3000, 2);
  text.OpWithKernel("_C::static_scaled_fp8_quant", 40, 10, "scaled_fp8_quant_kernel", 4020, 100, 3);
  text.OpWithKernel("TokenCombine", 60, 10, "_combine_all_to_all_kernel", 4120, 300, 4);
  text.OpWithKernel("my::op", 80, 10, "my_kernel", 4420, 100, 5);
  const Analyzed one = Analyze(text, "B200");
  for (const auto& [key, ms] : {std::pair{"customcollective", 1.0},
                                {"moe_fused", 3.0},
                                {"quantize", 0.1},
                                {"moe_comm_fwd", 0.3},
                                {"other", 0.1}}) {
    CAPTURE(key);
    REQUIRE(one.analysis.FindCategory(key) != nullptr);
    CHECK(one.analysis.FindCategory(key)->gpu_us == doctest::Approx(1000 * ms));
  }
  CHECK(one.analysis.totals.computation_ms == doctest::Approx(3.2));
  CHECK(one.analysis.totals.exposed_comm_ms == doctest::Approx(1.3));
}

TEST_CASE("no graph holds waits, and the optimizer is told of in training") {
  const auto trace = [](int syncs, bool optimizer) {
    TraceText text;
    if (optimizer) text.Annotation("Optimizer.step#SGD.step", 0, 20'000);
    for (int i = 0; i < 40; ++i) {
      const double at = 500.0 * i;
      text.Op("aten::relu", at, 490);
      if (i < syncs) text.Runtime("cudaStreamSynchronize", at + 2, 1, 1000 + i);
      text.Runtime("cudaLaunchKernel", at + 470, 3, i + 1).Kernel("k", at + 480, 5, i + 1);
    }
    return text;
  };
  // What is said where no simulation answers; see host_findings_test.cpp for the other.
  const auto first = [](const Analyzed& one) {
    const std::vector<Finding> found = IdleFindings(one.analysis);
    const auto finding = std::find_if(found.begin(), found.end(),
                                      [](const Finding& f) { return f.subject == "host_bound"; });
    REQUIRE(finding != found.end());
    return finding->path_b.front().advice;
  };
  CHECK(first(Analyze(trace(0, false))) == Advice::kCompileGraphs);
  CHECK(first(Analyze(trace(30, false))) == Advice::kGraphParts);
  CHECK(first(Analyze(trace(0, true))) == Advice::kFusedOptimizer);
}

// Two products and a generated kernel behind them, or between other kernels.
TraceText Generated(const char* name, bool behind) {
  TraceText text;
  int id = 0;
  double at = 0;
  const auto run = [&](const char* op, const char* kernel, const std::string& args, double us) {
    ++id;
    text.OpWithKernel(op, 20.0 * id, 15, kernel, 1000 + at, us, id, args);
    at += us;
  };
  const std::string product = Shapes("[[8192,2048],[2048,8192]]", "c10::BFloat16");
  const std::string elements = R"(,"Concrete Inputs":["","","67108864"])";
  for (int i = 0; i < 4; ++i) {
    run("aten::mm", "Cijk_Alik_Bljk_BBS_BH_MT256x192x64", product, 500);
    if (!behind) run("aten::sort", "sort_kernel", Shapes("[[8192,64],[]]", "float"), 20);
    run(name, name, Shapes("[[8192,8192],[8192,8192],[]]", "c10::BFloat16", 3) + elements, 200);
  }
  return text;
}

TEST_CASE("an activation that a compiler left behind a product") {
  const char* name = "triton_poi_fused_mul_silu_2";
  const Analyzed one = Analyze(Generated(name, true));
  const Finding* finding = FindRule(one, Pattern::kEpilogueLeft);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == name);
  CHECK(finding->path_a.empty());
  REQUIRE(finding->change_b.has_value());
  CHECK(finding->change_b->savings_ms.high == doctest::Approx(0.9 * 0.8));
  CHECK(FindRule(Analyze(Generated(name, false)), Pattern::kEpilogueLeft) == nullptr);
  CHECK(FindRule(Analyze(Generated("triton_poi_fused_add_2", true)), Pattern::kEpilogueLeft) ==
        nullptr);
}

TEST_CASE("arithmetic by kernel name") {
  for (const char* name : {"ampere_sgemm_128x64_tn", "cutlass_80_simt_sgemm_256x128_8x4_tn_align1",
                           "volta_scudnn_128x64_relu_interior_nn_v1", "sm80_xmma_gemm_ffma"})
    CHECK(IsFp32ProductKernel(name));
  for (const char* name : {"ampere_s1688gemm_128x128", "cutlass_80_tensorop_s1688gemm_128x128",
                           "sm80_xmma_gemm_f32f32_tf32f32_f32", "ampere_fp16_s16816gemm",
                           "void cudnn::precomputed_convolve_sgemm<__nv_bfloat16, 512, 5>",
                           "void gemmSN_NN_kernel<__half, 256, 4>"})
    CHECK_FALSE(IsFp32ProductKernel(name));
  CHECK(IsFp32ProductKernel("void implicit_convolve_sgemm<float, float, 1024>"));
  CHECK(ArchitectureOf("cutlass_75_tensorop") == 75);
  CHECK(ArchitectureOf("sm90_xmma_gemm") == 90);
  CHECK(ArchitectureOf("volta_sgemm") == 0);
  CHECK(ArchitectureOf("prism90") == 0);
}

TEST_CASE("each rule has its row, and the page says what the rows say") {
  std::set<Pattern> seen;
  for (const RuleRow& row : levers::Shipped().rules()) {
    CHECK(seen.insert(row.pattern).second);
    CHECK_FALSE(row.signature.empty());
    CHECK_FALSE(row.excluded.empty());
    CHECK_FALSE(row.source.empty());
    CHECK(RuleOf(row.pattern) == &row);
  }
  const char* root = std::getenv("JARVIS_SOURCE_DIR");
  const std::filesystem::path path =
      (root != nullptr ? std::filesystem::path(root)
                       : std::filesystem::path(__FILE__).parent_path() / "../..") /
      "docs/rules.md";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << RulesPage();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  CHECK(text.str() == RulesPage());
}

TEST_CASE("what attention reaches falls with the length of its sequences, and for causal masks") {
  const perf::Platform* platform = perf::FindPlatform("MI300X");
  REQUIRE(platform != nullptr);
  const auto reach = [&](std::int64_t tokens, std::string parameters) {
    Operation operation;
    operation.name = "aten::_scaled_dot_product_flash_attention";
    operation.efficiency.spec = "matrix_bf16";
    operation.parameters = std::move(parameters);
    operation.details.push_back({"d_h_qk", std::int64_t{64}, ""});
    operation.details.push_back({"N_Q", tokens, ""});
    return AttentionReach(operation, platform).value_or(0);
  };
  const double full = reach(16384, "{'causal': False}");
  CHECK(full > 450);
  CHECK(reach(512, "{'causal': False}") < 0.5 * full);
  CHECK(reach(512, "{'causal': True}") < 0.9 * reach(512, "{'causal': False}"));
  // Requests of 1024 tokens each, whose queries are counted together.
  CHECK(reach(16384, "{'c_sq': 16384, 'c_sqsk': 16777216}") ==
        doctest::Approx(reach(1024, "{'causal': True}")));
  CHECK(reach(1, "{'causal': False}") == 0);
}

}  // namespace
}  // namespace jarvis::findings
