// Fixes of lines: by kind of work, library and neighbours, of recordings that have no shapes.
#include "findings/one/line_findings.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/predicates.h"
#include "ledger/kinds/work_kind.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

struct Kernel {
  std::string_view name;
  double us = 0;
};

// Forty times the kernels, one behind the other, below an op without shapes.
Analyzed Repeated(const std::vector<Kernel>& kernels, std::string_view device = "H100",
                  std::string_view op = "my::block", std::string_view members = {}) {
  TraceText text;
  double at = 10;
  int correlation = 0;
  for (int i = 0; i < 40; ++i) {
    double end = at + 20;
    text.Op(op, at, 8 * static_cast<double>(kernels.size()));
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      text.Runtime("cudaLaunchKernel", at + 1 + 4 * static_cast<double>(k), 3, ++correlation);
      text.Kernel(kernels[k].name, end, kernels[k].us, correlation, 7);
      end += kernels[k].us + 1;
    }
    at = end + 2;
  }
  return Analyze(text.Annotation("ProfilerStep#1", 0, at), device, members);
}

const Finding* Of(const Analyzed& one, Pattern pattern) {
  for (const Finding& finding : one.analysis.findings) {
    if (finding.rule == pattern) return &finding;
  }
  return nullptr;
}

constexpr std::string_view kGemmKernel = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT";
constexpr std::string_view kFlash2 =
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
    "cutlass::bfloat16_t, Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t>>, false, "
    "false, false, false, true, true, false>(Flash_fwd_params)";
constexpr std::string_view kAddKernel =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
constexpr std::string_view kMulKernel =
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
    "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)";
constexpr std::string_view kCopyKernel =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
    "const::{lambda()#10}::operator()() const::{lambda(c10::BFloat16)#1}> >(int)";

TEST_CASE("every name that a fix of a line asks for is there") {
  const std::vector<std::string_view> of_trace = TracePredicates(), of_kernel = KernelPredicates();
  std::set<std::string_view> kinds;
  for (int kind = 0; kind < ledger::kWorkKinds; ++kind)
    kinds.insert(ledger::WorkKindText(static_cast<ledger::WorkKind>(kind)));
  const auto known = [](const std::vector<std::string>& names,
                        const std::vector<std::string_view>& table) {
    for (const std::string& name : names) {
      CAPTURE(name);
      const std::string_view bare = std::string_view(name).substr(name.starts_with('!') ? 1 : 0);
      CHECK(std::find(table.begin(), table.end(), bare) != table.end());
    }
  };
  REQUIRE_FALSE(levers::Shipped().lines().empty());
  for (const levers::LineRule& rule : levers::Shipped().lines()) {
    CAPTURE(Info(rule.pattern).key);
    known(rule.when, of_trace);
    known(rule.kernels, of_kernel);
    for (const std::string& kind : rule.kinds)
      CHECK(kinds.contains(kind));
    REQUIRE(RuleOf(rule.pattern) != nullptr);
    CHECK_FALSE((RuleOf(rule.pattern)->path_a.empty() && RuleOf(rule.pattern)->path_b.empty()));
  }
}

TEST_CASE("predicates hold where they should, and their denials elsewhere") {
  WorkContext context;
  TraceFacts facts{context, nullptr, 0};
  CHECK_FALSE(AllHold({"hopper or newer"}, facts));
  facts.architecture = 90;
  CHECK(AllHold({"hopper or newer", "!training", "!amd"}, facts));
  context.amd = context.training = true;
  CHECK_FALSE(AllHold({"hopper or newer"}, facts));
  CHECK(AllHold({"training", "amd"}, facts));
  CHECK_FALSE(AllHold({"!training"}, facts));
  CHECK_FALSE(AllHold({"fp8 units"}, facts));  // no platform
  CHECK(AllHold({"!coded exchange"}, facts));
  context.coded_exchange = true;
  CHECK(AllHold({"coded exchange"}, facts));
  CHECK_FALSE(AllHold({"no such name"}, facts));
  CHECK_FALSE(AllHold({"!no such name"}, facts));
  KernelFacts kernel;
  CHECK(AllHold({"!generated"}, kernel));
  kernel.generated = true;
  CHECK(AllHold({"generated"}, kernel));
  CHECK(AllHold({"!rated", "!replayed", "!beside attention", "!few blocks"}, kernel));
  kernel.rated = kernel.beside_attention = true;
  CHECK(AllHold({"rated", "beside attention", "!of convolution", "!adds gradient"}, kernel));
  kernel.of_convolution = kernel.adds_gradient = kernel.few_blocks = true;
  CHECK(AllHold({"of convolution", "adds gradient", "few blocks"}, kernel));
}

TEST_CASE("attention of an older generation is told where the GPU is newer") {
  const Finding* finding = nullptr;
  const Analyzed newer = Repeated({{kGemmKernel, 50}, {kFlash2, 200}});
  finding = Of(newer, Pattern::kAttentionGeneration);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(8));
  REQUIRE(finding->change_b.has_value());
  CHECK(finding->change_b->savings_ms.low == 0);
  CHECK(finding->change_b->savings_ms.high == doctest::Approx(0.45 * 8));
  CHECK_FALSE(finding->change_a.has_value());
  // No kernel and no device tells that it is newer than the attention.
  CHECK(Of(Repeated({{"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", 50},
                     {kFlash2, 200}},
                    "A100"),
           Pattern::kAttentionGeneration) == nullptr);
  // Kernels made for the GPU.
  CHECK(Of(Repeated({{kGemmKernel, 50},
                     {"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<"
                      "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>>>>>>(int)",
                      200}}),
           Pattern::kAttentionGeneration) == nullptr);
}

TEST_CASE("no setting of PyTorch reaches the flash-attn package's attention") {
  std::string package(kFlash2);
  package.replace(package.find("pytorch_flash"), std::string_view("pytorch_flash").size(), "flash");
  const Analyzed one = Repeated({{kGemmKernel, 50}, {package, 200}});
  CHECK(Of(one, Pattern::kAttentionGeneration) == nullptr);
  const Finding* finding = Of(one, Pattern::kAttentionPackage);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_a.has_value());
  CHECK_FALSE(finding->change_b.has_value());
  CHECK(Of(Repeated({{kGemmKernel, 50}, {kFlash2, 200}}), Pattern::kAttentionPackage) == nullptr);
}

TEST_CASE("casts and copies amid other passes are compiled away with them") {
  const Analyzed amid =
      Repeated({{kGemmKernel, 100}, {kAddKernel, 50}, {kCopyKernel, 40}, {kMulKernel, 50}}, "A100");
  const Finding* finding = Of(amid, Pattern::kPassesInARow);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(40 * 0.140));
  CHECK(Of(amid, Pattern::kLayoutLeft) == nullptr);
  CHECK(Of(amid, Pattern::kCastsLeft) == nullptr);
  // One that stands alone has its own fix.
  const Analyzed alone = Repeated({{kGemmKernel, 100}, {kCopyKernel, 140}}, "A100");
  CHECK(Of(alone, Pattern::kPassesInARow) == nullptr);
  CHECK((Of(alone, Pattern::kLayoutLeft) != nullptr || Of(alone, Pattern::kCastsLeft) != nullptr));
}

TEST_CASE("calls that are nothing alike are not told by their mean") {
  const auto per_call = [](const Analyzed& one, std::string_view key) -> const Fact* {
    const Finding* finding = Of(one, Pattern::kAttentionGeneration);
    REQUIRE(finding != nullptr);
    const std::vector<Fact>& facts = finding->patterns.front().facts;
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& f) { return f.key == key; });
    return found == facts.end() ? nullptr : &*found;
  };
  const Analyzed two = Repeated({{kFlash2, 20}, {kGemmKernel, 50}, {kFlash2, 400}});
  REQUIRE(per_call(two, "most_us") != nullptr);
  CHECK(std::get<double>(per_call(two, "kernel_us")->value) == doctest::Approx(20));
  CHECK(std::get<double>(per_call(two, "most_us")->value) == doctest::Approx(400));
  const Analyzed alike = Repeated({{kFlash2, 200}, {kGemmKernel, 50}, {kFlash2, 400}});
  CHECK(per_call(alike, "most_us") == nullptr);
  CHECK(std::get<double>(per_call(alike, "kernel_us")->value) == doctest::Approx(300));
}

TEST_CASE("what autotuning may have turned down saves at least nothing by that path") {
  const Analyzed one =
      Repeated({{kGemmKernel, 100}, {"triton_tem_fused_convolution_0", 100}}, "A100");
  const Finding* finding = Of(one, Pattern::kConvolutionTemplate);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_a.has_value());
  REQUIRE(finding->change_b.has_value());
  CHECK(finding->change_b->savings_ms.mid < finding->change_a->savings_ms.mid / 2);
  CHECK(finding->change_b->savings_ms.high == finding->change_a->savings_ms.high);
  // It has a fix, so no row says that none is known.
  for (const Finding& other : one.analysis.findings) {
    if (&other != finding) CHECK(other.subject.find("convolution") == std::string::npos);
  }
}

TEST_CASE("a convolution in 16 bits on fp32 units is one, and in fp32 it is none") {
  const auto kernel = [](std::string_view type) {
    return fmt::format("void precomputed_convolve_sgemm<{}, 1024, 5, 5, 4, 3, 3, 1, false>", type);
  };
  const Analyzed one = Repeated({{kGemmKernel, 100}, {kernel("__nv_bfloat16"), 100}}, "A100");
  const Finding* finding = Of(one, Pattern::kConvolutionOnCudaCores);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_a.has_value());
  CHECK(finding->change_a->savings_ms.low > 0);
  CHECK(finding->change_b->savings_ms.low == 0);  // the library may have no other kernel
  CHECK(Of(Repeated({{kGemmKernel, 100}, {kernel("float"), 100}}, "A100"),
           Pattern::kConvolutionOnCudaCores) == nullptr);
}

TEST_CASE("Transformer Engine can call other attention kernels of AMD's; without it nobody can") {
  constexpr std::string_view kProduct = "Cijk_Alik_Bljk_BBS_BH_MT256x192x64_MI16x16x1";
  constexpr std::string_view kNorm =
      "void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel<hip_bfloat16>(float)";
  constexpr std::string_view kAttention =
      "void ck_tile::kentry<256, 2, "
      "ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync>>()";
  const Analyzed one =
      Repeated({{kProduct, 100}, {kNorm, 10}, {kAttention, 200}}, "MI300X", "my::block");
  const Finding* finding = Of(one, Pattern::kAttentionTeCk);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_b.has_value());
  CHECK(finding->change_b->savings_ms.low == 0);
  CHECK(Of(Repeated({{kProduct, 100}, {kAttention, 200}}, "MI300X"), Pattern::kAttentionTeCk) ==
        nullptr);
  CHECK(Of(Repeated({{kProduct, 100}, {kNorm, 10}, {"aiter::fmha_fwd_hd128_bf16", 200}}, "MI300X"),
           Pattern::kAttentionTeCk) == nullptr);
}

TEST_CASE("pointwise kernels in a row keep the time of the longest") {
  const Analyzed one =
      Repeated({{kGemmKernel, 100}, {kAddKernel, 30}, {kMulKernel, 50}, {kAddKernel, 20}}, "A100");
  const Finding* finding = Of(one, Pattern::kPassesInARow);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(4));
  REQUIRE(finding->change_b.has_value());
  CHECK(finding->change_b->savings_ms.high == doctest::Approx(40 * 0.050));
  CHECK(finding->change_b->savings_ms.low == doctest::Approx(0.3 * 40 * 0.050));
  // One pass between two products has nothing to be fused with.
  CHECK(Of(Repeated({{kGemmKernel, 100}, {kAddKernel, 100}}, "A100"), Pattern::kPassesInARow) ==
        nullptr);
  // What a compiler made is as fused as it gets.
  CHECK(Of(Repeated(
               {{kGemmKernel, 100}, {"triton_poi_fused_add_0", 30}, {"triton_poi_fused_mul_1", 50}},
               "A100"),
           Pattern::kPassesInARow) == nullptr);
}

TEST_CASE("copies beside attention are told apart from those elsewhere") {
  const Analyzed beside = Repeated({{kGemmKernel, 100}, {kCopyKernel, 40}, {kFlash2, 100}}, "A100");
  CHECK(Of(beside, Pattern::kAttentionLayout) != nullptr);
  CHECK(Of(beside, Pattern::kLayoutLeft) == nullptr);
  const Analyzed apart = Repeated({{kFlash2, 100},
                                   {kGemmKernel, 50},
                                   {kGemmKernel, 50},
                                   {kGemmKernel, 50},
                                   {kCopyKernel, 40},
                                   {kGemmKernel, 50},
                                   {kGemmKernel, 50},
                                   {kGemmKernel, 50}},
                                  "A100");
  CHECK(Of(apart, Pattern::kAttentionLayout) == nullptr);
}

TEST_CASE("generated copies beside attention may compute, and nothing of them is sure to go") {
  const auto layers = [](std::string_view copy) {
    return Repeated({{kGemmKernel, 100}, {copy, 40}, {kFlash2, 100}}, "A100");
  };
  const Analyzed generated = layers("triton_poi_fused_clone_3_0d1d2d3de");
  CHECK(Of(generated, Pattern::kAttentionLayout) == nullptr);
  const Finding* finding = Of(generated, Pattern::kGeneratedAttentionLayout);
  REQUIRE(finding != nullptr);
  CHECK(finding->savings_ms->low == 0);
  const auto moves = [](const Finding& one) {
    return std::ranges::find(one.patterns.front().facts, "moves", &Fact::key) !=
           one.patterns.front().facts.end();
  };
  CHECK_FALSE(moves(*finding));
  const Analyzed eager = layers(kCopyKernel);
  CHECK(Of(eager, Pattern::kGeneratedAttentionLayout) == nullptr);
  REQUIRE(Of(eager, Pattern::kAttentionLayout) != nullptr);
  CHECK(moves(*Of(eager, Pattern::kAttentionLayout)));
  CHECK(Of(eager, Pattern::kAttentionLayout)->savings_ms->low > 0);
}

// Twenty times a GEMM and a generated activation behind it.
Analyzed Activations(std::string_view gemm, bool autotuned) {
  TraceText text;
  for (int i = 0; i < 20; ++i) {
    const double at = 300.0 * i;
    text.OpWithKernel("aten::mm", at, 10, gemm, at + 20, 150, 3 * i + 1);
    text.OpWithKernel("triton_poi_fused_gelu_0", at + 12, 8, "triton_poi_fused_gelu_0", at + 171,
                      60, 3 * i + 2);
    if (autotuned)
      text.OpWithKernel("triton_tem_fused_mm_1", at + 22, 8, "triton_tem_fused_mm_1", at + 232, 20,
                        3 * i + 3);
  }
  return Analyze(text, "A100");
}

TEST_CASE("no setting fuses an activation into a kernel that somebody wrote") {
  constexpr std::string_view kLibrary =
      "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
  const auto of = [](const Analyzed& one) {
    const Finding* finding = Of(one, Pattern::kEpilogueLeft);
    REQUIRE(finding != nullptr);
    return std::string(finding->change_a ? "A" : "") + (finding->change_b ? "B" : "");
  };
  CHECK(of(Activations(kLibrary, false)) == "B");
  CHECK(of(Activations(kLibrary, true)) == "A");  // it is on
  CHECK(of(Activations("matmul_kernel", false)) == "A");
}

TEST_CASE("layouts that a convolution library changes are not the model's copies") {
  const Analyzed of_library = Repeated(
      {{"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32", 90},
       {"void cudnn::ops::nchwToNhwcKernel<__half, __half, float, true, false>(int)", 40}},
      "A100");
  CHECK(Of(of_library, Pattern::kLibraryLayouts) != nullptr);
  CHECK(Of(of_library, Pattern::kLayoutLeft) == nullptr);
  const Analyzed own = Repeated({{kGemmKernel, 50},
                                 {kGemmKernel, 50},
                                 {kGemmKernel, 50},
                                 {kCopyKernel, 40},
                                 {kGemmKernel, 50}},
                                "A100");
  CHECK(Of(own, Pattern::kLibraryLayouts) == nullptr);
  CHECK(Of(own, Pattern::kLayoutLeft) != nullptr);
}

TEST_CASE("a product in Triton of one's own is told, the libraries' are not") {
  const Analyzed own = Repeated({{"matmul_kernel", 300}, {kAddKernel, 5}}, "A100");
  REQUIRE(Of(own, Pattern::kHandwrittenProduct) != nullptr);
  CHECK(Of(own, Pattern::kHandwrittenProduct)->other_kernels == 0);
  CHECK(Of(Repeated({{"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", 300},
                     {kAddKernel, 5}},
                    "A100"),
           Pattern::kHandwrittenProduct) == nullptr);
}

constexpr std::string_view kTensorFlow =
    R"("recording":{"profiler":"xplane","framework":"TensorFlow"})";
constexpr std::string_view kUniform =
    "void tensorflow::functor::FillPhiloxRandomKernelLaunch<tensorflow::random::"
    "UniformDistribution<tensorflow::random::PhiloxRandom, Eigen::half> >(unsigned long long*)";
constexpr std::string_view kCompare =
    "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"
    "Eigen::TensorMap<Eigen::Tensor<bool, 1, 1, int>, 16>, Eigen::TensorCwiseUnaryOp<"
    "Eigen::internal::scalar_right<bool, Eigen::half, Eigen::internal::greater_equal<Eigen::half>"
    ">, Eigen::TensorMap<Eigen::Tensor<Eigen::half const, 1, 1, int>, 16> const> const> const>";
constexpr std::string_view kCastMask =
    "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"
    "Eigen::TensorMap<Eigen::Tensor<Eigen::half, 1, 1, long>, 16>, Eigen::TensorConversionOp<"
    "Eigen::half, Eigen::TensorMap<Eigen::Tensor<bool const, 1, 1, long>, 16> const> const> const>";
constexpr std::string_view kCastWeight =
    "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"
    "Eigen::TensorMap<Eigen::Tensor<Eigen::half, 1, 1, long>, 16>, Eigen::TensorConversionOp<"
    "Eigen::half, Eigen::TensorMap<Eigen::Tensor<float const, 1, 1, long>, 16> const> const> "
    "const>";

TEST_CASE("dropout masks and casts of weights by TensorFlow's own kernels") {
  const Analyzed one = Repeated(
      {{kUniform, 40}, {kCompare, 30}, {kCastMask, 20}, {kCastWeight, 60}, {kGemmKernel, 200}},
      "H100", "my::block", kTensorFlow);
  const Finding* masks = Of(one, Pattern::kDropoutMasks);
  REQUIRE(masks != nullptr);
  CHECK(masks->count == 120);
  CHECK(masks->time_ms == doctest::Approx(40 * 0.090));
  REQUIRE(masks->change_b.has_value());
  CHECK(masks->change_b->savings_ms.high == doctest::Approx(0.7 * 40 * 0.090));
  CHECK_FALSE(masks->change_a.has_value());
  // The casts of masks are in it, those of weights are not.
  const Finding* casts = Of(one, Pattern::kCastsOpByOp);
  REQUIRE(casts != nullptr);
  CHECK(casts->count == 40);
  CHECK(casts->change_a->savings_ms.high == doctest::Approx(40 * 0.060));
  // XLA's fusions are fused.
  CHECK(Of(Repeated({{"triton_softmax_1", 40}, {"loop_convert_fusion_2", 40}, {kGemmKernel, 20}},
                    "H100", "my::block", kTensorFlow),
           Pattern::kCastsOpByOp) == nullptr);
  CHECK(Of(Repeated({{kCompare, 1}, {kGemmKernel, 200}}, "H100", "my::block", kTensorFlow),
           Pattern::kDropoutMasks) == nullptr);
}

TEST_CASE("kernels below three percent of computing are no line of their own") {
  CHECK(Of(Repeated({{kGemmKernel, 2000}, {"matmul_kernel", 20}}), Pattern::kHandwrittenProduct) ==
        nullptr);
}

// ---- recordings without ops

struct Launched {
  std::string_view name;
  double us = 0;
  int blocks = 0;
};

constexpr std::string_view kNormBackward =
    "void at::native::(anonymous namespace)::batch_norm_backward_kernel<c10::BFloat16, "
    "c10::BFloat16, float, int>(int)";
constexpr std::string_view kWeightGradient = "igemm_wrw_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x16";
constexpr std::string_view kUnitsOfMi210 =
    R"("deviceProperties":[{"id":0,"name":"AMD Instinct MI210","numSms":104}])";

// Twenty times the kernels, launched by nothing but runtime calls.
Analyzed KernelsAlone(const std::vector<Launched>& kernels) {
  TraceText text;
  double at = 10;
  int correlation = 0;
  for (int i = 0; i < 20; ++i) {
    for (const Launched& kernel : kernels) {
      text.Runtime("hipLaunchKernel", at - 8, 3, ++correlation);
      text.Kernel(kernel.name, at, kernel.us, correlation, 7,
                  fmt::format(R"("grid":[{},1,1],"block":[256,1,1])", kernel.blocks));
      at += kernel.us + 1;
    }
  }
  return Analyze(text, "MI210", kUnitsOfMi210);
}

TEST_CASE("sums behind each norm's backward and each weight gradient are of old gradients") {
  const Analyzed one = KernelsAlone({{kNormBackward, 50, 256},
                                     {kAddKernel, 4, 1},
                                     {kAddKernel, 4, 1},
                                     {kWeightGradient, 80, 500},
                                     {"SubTensorOpWithCastTensor1d", 4, 256},
                                     {kAddKernel, 20, 400},  // of activations' gradients
                                     {kAddKernel, 5, 18}});
  const Finding* finding = Of(one, Pattern::kGradientAdds);
  REQUIRE(finding != nullptr);
  CHECK(finding->count == 60);
  CHECK(finding->time_ms == doctest::Approx(20 * 0.013));
  REQUIRE(finding->change_a.has_value());
  CHECK(finding->change_a->savings_ms.low == 0);
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(20 * 0.013));
  // One sum behind the norm, of the size of activations: a residual connection.
  CHECK(Of(KernelsAlone({{kNormBackward, 50, 256},
                         {kAddKernel, 20, 400},
                         {kWeightGradient, 80, 500},
                         {kAddKernel, 20, 400}}),
           Pattern::kGradientAdds) == nullptr);
  // No sums behind weight gradients.
  CHECK(Of(KernelsAlone({{kNormBackward, 50, 256},
                         {kAddKernel, 10, 1},
                         {kAddKernel, 10, 1},
                         {kWeightGradient, 80, 500}}),
           Pattern::kGradientAdds) == nullptr);
  // Neither norms nor weight gradients.
  CHECK(Of(KernelsAlone({{kGemmKernel, 50, 256}, {kAddKernel, 10, 1}, {kAddKernel, 10, 1}}),
           Pattern::kGradientAdds) == nullptr);
}

TEST_CASE("with ops a gradient is added where autograd accumulates it") {
  const auto added = [](std::string_view op) {
    TraceText text;
    double at = 10;
    for (int i = 0; i < 40; ++i) {
      text.Op(op, at, 20);
      text.OpWithKernel("aten::add_", at + 2, 10, kAddKernel, at + 25, 30, 2 * i + 1);
      text.OpWithKernel("aten::mm", at + 22, 10, kGemmKernel, at + 56, 100, 2 * i + 2);
      at += 160;
    }
    return Of(Analyze(text.Annotation("ProfilerStep#1", 0, at), "H100"), Pattern::kGradientAdds) !=
           nullptr;
  };
  CHECK(added("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"));
  CHECK_FALSE(added("autograd::engine::evaluate_function: AddBackward0"));
}

TEST_CASE("what convolution libraries run with a convolution goes with its algorithm") {
  constexpr std::string_view kForward = "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x16";
  const Analyzed one = KernelsAlone({{"SubTensorOpWithScalar1d", 8, 256},
                                     {kForward, 80, 500},
                                     {"SubTensorOpWithCastTensor1d", 8, 256}});
  const Finding* finding = Of(one, Pattern::kConvolutionSearchAmd);
  REQUIRE(finding != nullptr);
  CHECK(finding->count == 60);
  CHECK(Of(one, Pattern::kCastsLeft) == nullptr);
  // The program's own copies.
  const Analyzed own = KernelsAlone({{kCopyKernel, 8, 256}, {kForward, 80, 500}});
  REQUIRE(Of(own, Pattern::kConvolutionSearchAmd) != nullptr);
  CHECK(Of(own, Pattern::kConvolutionSearchAmd)->count == 20);
}

TEST_CASE("a memset before each call of a convolution's kernel is its library's") {
  constexpr std::string_view kConvolution =
      "cutlass_80_wmma_tensorop_bf16_s161616fprop_optimized_bf16_16x16_128x2_nhwc_align8";
  const auto count = [&](int every) {
    TraceText text;
    double at = 10;
    int correlation = 0;
    for (int i = 0; i < 40; ++i) {
      if (i % every == 0) {
        text.Runtime("cudaMemsetAsync", at - 8, 3, ++correlation);
        text.Memset("Memset (Device)", at, 20, correlation);
        at += 21;
      }
      text.Runtime("cudaLaunchKernel", at - 8, 3, ++correlation);
      text.Kernel(kConvolution, at, 80, correlation);
      at += 81;
    }
    const Analyzed one = Analyze(text, "A100");
    const Finding* finding = Of(one, Pattern::kConvolutionSearchNvidia);
    REQUIRE(finding != nullptr);
    return finding->count;
  };
  CHECK(count(1) == 80);
  CHECK(count(2) == 40);  // some have none: the program's own
}

TEST_CASE("kernels of fewer blocks than compute units are told with both figures") {
  constexpr std::string_view kLayerNorm =
      "void at::native::(anonymous namespace)::cuComputeGradInput<float>(float)";
  const auto left = [&](int blocks, double us) {
    return Of(KernelsAlone({{kGemmKernel, 100, 500}, {kLayerNorm, us, blocks}}),
              Pattern::kFewBlocksLeft) != nullptr;
  };
  const Analyzed one = KernelsAlone({{kGemmKernel, 100, 500}, {kLayerNorm, 60, 64}});
  const Finding* finding = Of(one, Pattern::kFewBlocksLeft);
  REQUIRE(finding != nullptr);
  CHECK(finding->change_b.has_value());
  CHECK_FALSE(left(104, 60));  // a block for each
  CHECK_FALSE(left(64, 8));    // short
}

}  // namespace
}  // namespace jarvis::findings
