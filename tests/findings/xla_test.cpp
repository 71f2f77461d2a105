// What programs of XLA are told: arguments that each call shards, GEMMs of Triton beside the
// library's, and the scopes in the names of their ops.
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/workload_scopes.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

constexpr std::string_view kJax = R"("recording":{"profiler":"xplane","framework":"JAX"})";
constexpr std::string_view kShard = "cpp_pjit_shard_arg_fallback";
constexpr std::string_view kCopyHelper =
    "PjRtStreamExecutorBuffer::CopyToDeviceHelper::async_copy_to_device";

// Calls of 3 ms, in each of which the host is 600 us in `frame`, and another thread in `other`.
Analyzed Sharding(std::string_view frame, std::string_view other, int calls = 5,
                  std::string_view members = kJax) {
  TraceText text;
  for (int i = 0; i < calls; ++i) {
    const double at = 3000.0 * i;
    text.Thread(100, 100).Annotation(fmt::format("ProfilerStep#{}", i + 1), at, 2990);
    if (!frame.empty()) text.Op(frame, at + 10, 600);
    text.OpWithKernel("my::program", at + 650, 100, "ampere_sgemm_128x64_tn", at + 800, 300, i + 1);
    text.Runtime("cudaDeviceSynchronize", at + 760, 350, 100 + i);
    text.Thread(100, 200);
    for (int copy = 0; copy < 3 && !other.empty(); ++copy)
      text.Op(other, at + 50 + 100 * copy, 80);
  }
  return Analyze(text, "MI300X", members);
}

TEST_CASE("arguments that each call copies to other devices are put there once") {
  const Analyzed one = Sharding(kShard, kCopyHelper);
  const Finding* finding = one.FindRule(Pattern::kArgumentSharding);
  REQUIRE(finding != nullptr);
  CHECK(finding->count == 5);
  CHECK(finding->time_ms == doctest::Approx(5 * 0.6));
  REQUIRE(finding->wall_a.has_value());
  CHECK(finding->wall_a->ms.high == doctest::Approx(3.0).epsilon(0.1));
  CHECK(finding->wall_a->ms.mid > 2);
}

TEST_CASE("copies of the program itself, uploads, and one call alone are no arguments to shard") {
  const auto found = [](const Analyzed& one) {
    return one.FindRule(Pattern::kArgumentSharding) != nullptr;
  };
  CHECK(found(Sharding("$pxla.py:125 shard_args", kCopyHelper)));
  CHECK_FALSE(found(Sharding("my::prepare", kCopyHelper)));
  CHECK_FALSE(found(Sharding("", "copy-start.3")));
  CHECK_FALSE(found(Sharding(kShard, "PjRtClient::BufferFromHostBuffer")));
  CHECK_FALSE(found(Sharding(kShard, kCopyHelper, 2)));
  CHECK_FALSE(found(Sharding(kShard, kCopyHelper, 5, "")));
}

struct TwoGemms {
  double library_us = 100;
  int library_k = 4096;
  bool sums = true;
  std::string_view sums_of = "jit(f)/dot_general";
};

// Five steps with a GEMM of Triton, the sum of its parts, and the library's GEMM.
Analyzed TritonBeside(const TwoGemms& gemms) {
  TraceText text;
  double gpu = 100;
  int id = 0;
  const auto op = [&](std::string_view name, std::string_view kernel, double us,
                      const std::string& args) {
    const double at = 10.0 * ++id;
    text.OpWithKernel(name, at, 8, kernel, gpu, us, id, args);
    gpu += us + 1;
  };
  for (int step = 0; step < 5; ++step) {
    op("aten::mm", "gemm_fusion_dot_3", 160,
       Shapes("[[4096,8192],[8192,2048]]", "c10::BFloat16") +
           R"(,"op_name":"jit(f)/dot_general","fusion":"kCustom")");
    if (gemms.sums) {
      op("loop_reduce_fusion", "loop_reduce_fusion", 40,
         fmt::format(R"("op_name":"{}")", gemms.sums_of));
    }
    op("aten::mm", "Cijk_Alik_Bljk_BBS_BH_MT256x256x64", gemms.library_us,
       Shapes(fmt::format("[[4096,{0}],[{0},4096]]", gemms.library_k), "c10::BFloat16") +
           R"(,"op_name":"jit(f)/other","custom_call_target":"__cublas$gemm")");
  }
  return Analyze(text, "MI300X", kJax);
}

TEST_CASE("GEMMs of Triton that the library does faster in the same trace") {
  const Analyzed one = TritonBeside({});
  const Finding* finding = one.FindRule(Pattern::kTritonProducts);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(5 * 0.2));  // with the sums
  REQUIRE(finding->change_b.has_value());
  CHECK(finding->change_b->savings_ms.high == doctest::Approx(5 * 0.1));
  CHECK_FALSE(finding->change_a.has_value());
  // The sums of something else are no part of it.
  const Analyzed apart = TritonBeside({.sums_of = "jit(f)/reduce_sum"});
  REQUIRE(apart.FindRule(Pattern::kTritonProducts) != nullptr);
  CHECK(apart.FindRule(Pattern::kTritonProducts)->time_ms == doctest::Approx(5 * 0.16));
}

TEST_CASE("a library that is hardly faster, or does other work, is no reason to leave Triton") {
  CHECK(TritonBeside({.library_us = 160}).FindRule(Pattern::kTritonProducts) == nullptr);
  CHECK(TritonBeside({.library_us = 130, .sums = false}).FindRule(Pattern::kTritonProducts) ==
        nullptr);
  CHECK(TritonBeside({.library_us = 20, .library_k = 1024}).FindRule(Pattern::kTritonProducts) ==
        nullptr);
}

std::string ScopesText(std::string_view name) {
  std::string text;
  for (const std::string_view scope : ModelScopes(name))
    text += std::string(scope) + " ";
  return text;
}

TEST_CASE("scopes begin with the model's, without transformations and the op itself") {
  CHECK(ScopesText("gradient_tape/replica_4/bert/layer_0/gelu/mul:Mul") == "bert layer_0 gelu ");
  CHECK(ScopesText("jit(step)/jit(main)/transpose(jvp(Block))/mlp/dot_general") == "Block mlp ");
  CHECK(ScopesText("jit(f)/jvp(bsd,de->bse)/dot_general").empty());
  CHECK(ScopesText("n/_1:_HostRecv").empty());
  CHECK(ScopesText("").empty());
}

// Kernels of layers, each of which names its op.
Analyzed Scoped(std::string_view model, int layers, int others, int first = 0) {
  TraceText text;
  double at = 0;
  int id = 0;
  const auto kernel = [&](const std::string& name) {
    text.Op("Mul", at, 8).Runtime("cudaLaunchKernel", at + 2, 3, ++id);
    text.Kernel("EigenMetaKernel", at + 10, 5, id, 7, fmt::format(R"("annotation":"{}")", name));
    at += 20;
  };
  for (int i = 0; i < layers; ++i)
    kernel(fmt::format("replica_0/{}/layer_{}/dropout/Mul:Mul", model, first + i));
  for (int i = 0; i < others; ++i)
    kernel("Mul:Mul");
  return Analyze(text, "V100", R"("recording":{"profiler":"xplane","framework":"TensorFlow"})");
}

TEST_CASE("scopes that most ops have name the model and count its layers") {
  const auto of = [](const Analyzed& one, WorkloadPart part) {
    return one.analysis.workload[part].value;
  };
  const Analyzed one = Scoped("span_labeler", 12, 4);
  CHECK(of(one, WorkloadPart::kModel) == "span_labeler");
  CHECK(of(one, WorkloadPart::kLayers) == "12");
  CHECK(of(Scoped("span_labeler", 12, 20), WorkloadPart::kModel).empty());
  // What any program may call a part of its own.
  CHECK(of(Scoped("transformer", 12, 4), WorkloadPart::kModel).empty());
  // A part of the layers.
  CHECK(of(Scoped("span_labeler", 12, 4, 5), WorkloadPart::kLayers).empty());
}

}  // namespace
}  // namespace jarvis::findings
