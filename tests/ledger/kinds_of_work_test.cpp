#include "ledger/kinds/kinds_of_work.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "json/json.h"
#include "ledger/kinds/kernel_name.h"
#include "ledger/kinds/kind_files.h"
#include "ledger/kinds/kind_table.h"
#include "ledger/kinds/required_literals.h"
#include "support/trace_builder.h"

namespace jarvis::ledger {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

// Of the only GPU event with that name.
KernelKind KindIn(const TraceText& text, std::string_view name) {
  const Loaded loaded = Load(text);
  const KindsOfWork kinds(loaded.trace.events, loaded.tree);
  for (trace::EventIndex e = 0; e < loaded.trace.events.size(); ++e) {
    if (loaded.trace.events.name(e) == name) return kinds.Of(e);
  }
  FAIL("no such event");
  return {};
}

TEST_CASE("every row can be read, has a source, and is a regular expression") {
  for (const auto files : {NameFiles(), OpNameFiles()}) {
    CHECK(KindTable(files).FirstFault() == "");
    CHECK(KindTable(files, KindTable::kSizes).FirstFault() == "");
    std::set<std::string> orders;
    for (const EmbeddedFile& file : files) {
      CAPTURE(std::string(file.name));
      const auto table = ParseJson(file.text);
      REQUIRE(table.has_value());
      CHECK(table->value("library", "") == file.name);
      CHECK(orders.insert(std::to_string(table->at("order").get<int>())).second);
      const Json& sources = table->at("sources");
      CHECK(!sources.empty());
      for (const Json& row : table->at("rows")) {
        CAPTURE(row.at("match").get<std::string>());
        static const std::set<std::string, std::less<>> kKeys = {
            "match", "kind", "sub", "precision", "needs", "source", "words"};
        for (auto member = row.begin(); member != row.end(); ++member)
          CHECK(kKeys.contains(member.key()));
        const std::string source = row.value("source", "");
        CHECK((source.empty() || sources.contains(source)));
      }
      for (const Json& row : table->value("sizes", Json::array())) {
        CAPTURE(row.at("match").get<std::string>());
        static const std::set<std::string, std::less<>> kKeys = {"match", "precision", "per_thread",
                                                                 "grid", "source"};
        for (auto member = row.begin(); member != row.end(); ++member)
          CHECK(kKeys.contains(member.key()));
        CHECK(sources.contains(row.value("source", "")));
      }
    }
  }
}

TEST_CASE("names are stripped of what says nothing about the work") {
  const std::map<std::string, std::string> kNames = {
      {"void foo<float>(float*, int)", "foo<float>"},
      {"  foo  ", "foo"},
      {"foo(int) [clone .kd]", "foo"},
      {"foo.kd", "foo"},
      {"foo.intern.0a9f", "foo"},
      {"foo.intern.xyz", "foo.intern.xyz"},
      {"void (anonymous namespace)::foo<a::b >(int)", "foo<a::b>"},
      {"k<(int)4, (bool)-1, (float)2>(T1)", "k<4, -1, (float)2>"},
      {"f<g()::[lambda(float) (instance 2)], h>", "f<g()::{lambda(float)#2}, h>"},
      {"f<[lambda(float) (instance )]>", "f<[lambda(float) (instance )]>"},
      {"std::enable_if<x, void>::type gemv<float>(int)", "gemv<float>"},
      {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
      {"_ZN2at6native4fillIN3c104HalfEfEEvT_", "at::native::fill<c10 Half float>"},
      {"_Z3addPf", "add"},
      {"_fwd_kernel_0d1d2d34d5de6c", "_fwd_kernel"},
      {"triton__0d1d2de", "triton__0d1d2de"},
      {"kernel_0", "kernel_0"},
      {"kernel_01", "kernel_01"},
      {"kernel_0d2d", "kernel_0d2d"},
      {"", ""},
  };
  for (const auto& [name, want] : kNames)
    CHECK(NormalisedKernelName(name) == want);
}

TEST_CASE("hostile names have a kind or none, and nothing else happens") {
  constexpr std::size_t kLong = std::size_t{16} << 10;
  std::string bytes;
  for (std::size_t i = 0; i < kLong; ++i)
    bytes += static_cast<char>((i * 2654435761u) >> 7);
  std::string cut = "void at::native::vectorized_elementwise_kernel<4, ";
  while (cut.size() < kLong)
    cut += "at::native::(anonymous namespace)::f<(int)4, [lambda(float) (instance 1)], ";
  for (const std::string& name :
       {std::string(kLong, '('), std::string(kLong, ')'), std::string(kLong, '<'),
        std::string(kLong, ' '), std::string(kLong, '_'), std::string(kLong, '\0'),
        "_ZN" + std::string(kLong, '9'), "_Z1" + std::string(kLong, 'f'), bytes, cut,
        std::string("]"), std::string("[clone "), std::string("_ZN"), std::string("_Z"),
        std::string("void "), std::string(")")}) {
    const KernelKind kind = ClassifyKernelName(name);
    CHECK((kind.kind == WorkKind::kUnknown) == (kind.basis == KindBasis::kNone));
  }
  CHECK(ClassifyKernelName(cut).kind == WorkKind::kElementwise);
  std::string many;
  while (many.size() < kLong)
    many += "[lambda(";
  CHECK(NormalisedKernelName(many) == many);
}

TEST_CASE("what a match must contain is known without compiling") {
  const auto first = [](std::string_view expression) {
    const auto ways = RequiredLiterals(expression);
    return ways.empty() ? LiteralSet() : ways.front().front();
  };
  CHECK(first("^flash_fwd\\w*") == LiteralSet{"flash_fwd"});
  CHECK(first("a(foobar|bazz)c") == LiteralSet{"foobar", "bazz"});
  CHECK(first("(foobar)?\\w*") == LiteralSet{});  // may be absent
  CHECK(first("(foobar)*baz") == LiteralSet{"baz"});
  CHECK(first("(?:foobar)+") == LiteralSet{"foobar"});
  CHECK(first("(foobar){0,2}") == LiteralSet{});
  CHECK(first("foobars?") == LiteralSet{"foobar"});  // the last letter may be
  CHECK(first("foo|ba") == LiteralSet{});            // too short to look for
  CHECK(first("[abc]+\\d\\.") == LiteralSet{});
  CHECK(first("(?i)foobar") == LiteralSet{"foobar"});
  CHECK(first("(?p<p>half|float)x") == LiteralSet{"half", "float"});
  CHECK(first("[]foo]bar\\[baz") == LiteralSet{"bar"});
  using Ways = std::vector<std::vector<LiteralSet>>;
  CHECK(RequiredLiterals("foo\\w*kernel|(a|bcd)quux") ==
        Ways{{LiteralSet{"kernel"}, LiteralSet{"foo"}}, {LiteralSet{"quux"}}});
  CHECK(RequiredLiterals("foobar|b+") == Ways{});
}

// "matrix bytes x groups" or "bytes of a thread"; empty: the name gives no sizes.
std::string SizesIn(std::string_view name) {
  const KernelSizes sizes = ClassifyKernelName(name).sizes;
  if (sizes.group_bytes > 0) return fmt::format("{} x {}", sizes.group_bytes, sizes.groups);
  return sizes.thread_bytes > 0 ? fmt::format("{}", sizes.thread_bytes) : "";
}

TEST_CASE("names of GEMMs give the matrix that each launch reads") {
  const auto old = [](std::string_view n, std::string_view rest) {
    return fmt::format("void deep_gemm::fp8_gemm_kernel<{}, 7168u, 64u, 160u, 128u, {}>(float*)", n,
                       rest);
  };
  CHECK(SizesIn(old("4096u", "32u, 4u, 128u, 128u, 1u, true, (deep_gemm::GemmType)2")) ==
        "29360128 x 32");
  CHECK(SizesIn(old("4096u", "1u, 4u, 128u, 128u, 1u, (deep_gemm::GemmType)0")) == "29360128 x 1");
  // Later with a padding and a swizzle before the groups.
  CHECK(SizesIn(old("4096u", "0u, 64u, 32u, 4u, 128u, 128u, 1u, true, (deep_gemm::GemmType)1")) ==
        "29360128 x 32");
  CHECK(SizesIn(old("0u", "32u, 4u, 128u, 128u, 1u, true, (deep_gemm::GemmType)2")).empty());
  CHECK(SizesIn(old("4096u", "32u, 4u, 128u, true, (deep_gemm::GemmType)2")).empty());
  CHECK(SizesIn("void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 64u>(float*)").empty());
  CHECK(SizesIn("void mylib::kernel<4096u, 7168u, 64u, 160u, 128u, 32u, 4u, 128u, 128u, 1u, true, "
                "(deep_gemm::GemmType)2>(float*)")
            .empty());

  // TensorRT-LLM's form of it, and kernels for few rows.
  CHECK(SizesIn("void deep_gemm::fp8_gemm_kernel_swapAB<34816u, 5120u, 128u, 16u, 128u, 1u, 8u, "
                "deep_gemm::NormalSchedulerSwapAB<34816u> >(__nv_bfloat16*)") == "178257920 x 1");
  CHECK(
      SizesIn("void deep_gemm::fp8_gemm_kernel<4096u, 1024u, 64u, 128u, 128u, 8u, 4u, 128u, 128u, "
              "1u, deep_gemm::GroupedWithOffsetScheduler<long, 4096u> >(float*)") == "4194304 x 1");
  CHECK(SizesIn("void fused_a_gemm_kernel<1, 2112, 7168, 16, 8, 256, 16>(__nv_bfloat16*)") ==
        "30277632 x 1");
  CHECK(SizesIn(
            "void router_gemm_kernel_float_output<__nv_bfloat16, 128, 8, 4, 256, 7168>(float*)") ==
        "3670016 x 1");
  CHECK(SizesIn("void fused_a_gemm_kernel<2112, 7168, 16, 8, 256, 16>(__nv_bfloat16*)").empty());
  CHECK(SizesIn("void router_gemm_kernel_float_output<float, __nv_bfloat16, 8, 128, 4, 7168>(int)")
            .empty());

  const auto hopper = [](std::string_view kernel, std::string_view sizes, int type,
                         std::string_view end = "") {
    return fmt::format(
        "void deep_gemm::{}<{}, 128u, 128u, 128u, 128u, 128u, 3u, 128u, 256u, 2u, "
        "true, 132u, (deep_gemm::GemmType){}{}>(float*)",
        kernel, sizes, type, end);
  };
  constexpr std::string_view kIdentity = ", deep_gemm::epilogue::transform::EpilogueIdentity";
  constexpr std::string_view kFp8 = "sm90_fp8_gemm_1d2d_impl", kBf16 = "sm90_bf16_gemm_impl";
  CHECK(SizesIn(hopper(kFp8, "(cute::UMMA::Major)0, 0u, 4096u, 1024u, 8u, 256u", 1, kIdentity)) ==
        "4194304 x 8");
  CHECK(SizesIn(hopper(kFp8, "0u, 4096u, 7168u, 1u, 64u", 0)) == "29360128 x 1");
  CHECK(SizesIn(hopper(kFp8,
                       "(cute::UMMA::Major)0, (unsigned int)0, (unsigned int)4096, (unsigned "
                       "int)1024, (unsigned int)1, 256u",
                       0, kIdentity)) == "4194304 x 1");
  CHECK(
      SizesIn(hopper(kBf16, "(cute::UMMA::Major)0, (cute::UMMA::Major)0, 0u, 512u, 1024u, 1u, 64u",
                     0, ", false, cutlass::bfloat16_t")) == "1048576 x 1");
  // Dynamic sizes; groups along K; parameters of a fork, whose weights may have four bits.
  CHECK(SizesIn(hopper(kFp8, "0u, 0u, 7168u, 1u, 64u", 0)).empty());
  CHECK(SizesIn(hopper(kFp8, "0u, 4096u, 7168u, 4u, 64u", 3)).empty());
  CHECK(SizesIn(hopper(kFp8, "(cute::UMMA::Major)0, 0u, 4096u, 1024u, 1u, 64u", 0,
                       ", deep_gemm::epilogue::EpilogueIdentity, true"))
            .empty());

  const auto blackwell = [](std::string_view sizes, std::string_view end) {
    return fmt::format(
        "void deep_gemm::sm100_fp8_gemm_1d1d_impl<(cute::UMMA::Major)0, "
        "(cute::UMMA::Major)0, {}, 128u, 128u, 128u, 5u, {}128u, 128u, 2u, false, "
        "148u, (deep_gemm::GemmType)2, false, {}>(int*)",
        sizes, end.empty() ? "2u, " : "", end.empty() ? "cutlass::bfloat16_t" : end);
  };
  CHECK(SizesIn(blackwell("0u, 4096u, 7168u, 128u, 256u, 128u, 16u", "")) == "29360128 x 16");
  constexpr std::string_view kGrained = "128u, 128u, 0u, 4096u, 7168u, 128u, 256u, 128u, 16u";
  CHECK(SizesIn(blackwell(kGrained, "cutlass::float_e4m3_t, cutlass::float_e4m3_t, float")) ==
        "29360128 x 16");
  CHECK(SizesIn(blackwell(kGrained,
                          "cutlass::float_e4m3_t, "
                          "cutlass::detail::float_e2m1_unpacksmem_t, float"))
            .empty());
}

TEST_CASE("names of element-wise kernels give what each thread moves") {
  const auto kernel = [](int vector, std::string_view functor, std::string_view arrays) {
    return fmt::format("void at::native::vectorized_elementwise_kernel<{}, {}, {}>(int)", vector,
                       functor, arrays);
  };
  const auto lambda = [](std::string_view of, std::string_view types) {
    return fmt::format(
        "at::native::{}(at::TensorIteratorBase&)::{{lambda()#2}}::operator()() "
        "const::{{lambda({})#1}}",
        of, types);
  };
  constexpr std::string_view kOne = "at::detail::Array<char*, 1>", kTwo = "std::array<char*, 2ul>",
                             kThree = "at::detail::Array<char*, 3>";
  CHECK(SizesIn(kernel(4, "at::native::CUDAFunctor_add<float>", kThree)) == "48");
  CHECK(SizesIn(kernel(2, "at::native::CUDAFunctor_add<float>", kThree)) == "48");
  CHECK(SizesIn(kernel(8, "at::native::CUDAFunctor_add<c10::BFloat16>", kThree)) == "48");
  CHECK(SizesIn(kernel(4,
                       "at::native::BinaryFunctor<c10::Half, c10::Half, c10::Half, "
                       "at::native::binary_internal::MulFunctor<float> >",
                       kThree)) == "24");
  CHECK(SizesIn(kernel(4, lambda("tanh_kernel_cuda", "float"), kTwo)) == "32");
  CHECK(SizesIn(kernel(4, lambda("tanh_backward_kernel_cuda", "float, float"), kThree)) == "48");
  CHECK(SizesIn(kernel(4, lambda("(anonymous namespace)::launch_clamp_scalar", "float"), kTwo)) ==
        "32");
  // Results of another type, types without a known size, strided tensors, other kernels.
  CHECK(SizesIn(kernel(4,
                       "at::native::BinaryFunctor<float, float, bool, "
                       "at::native::(anonymous namespace)::CompareEqFunctor<float> >",
                       kThree))
            .empty());
  CHECK(SizesIn(kernel(4, lambda("isnan_kernel_cuda", "float"), kTwo)).empty());
  CHECK(SizesIn(kernel(4, lambda("logical_not_kernel_cuda", "float"), kTwo)).empty());
  CHECK(SizesIn(kernel(4, "at::native::CUDAFunctor_add<long>", kThree)).empty());
  CHECK(SizesIn(kernel(4, "at::native::FillFunctor<float>", kOne)).empty());
  CHECK(SizesIn("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<"
                "at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&, "
                "at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1}>(int)")
            .empty());
}

TEST_CASE("copies are told apart by what they occupy") {
  CHECK(ClassifyKernelName("Memcpy HtoD (Pageable -> Device)").kind == WorkKind::kHostCopy);
  CHECK(ClassifyKernelName("Memcpy DtoH (Device -> Pinned)").kind == WorkKind::kHostCopy);
  CHECK(ClassifyKernelName("Memcpy DtoD (Device -> Device)").kind == WorkKind::kCopy);
  CHECK(ClassifyKernelName("Memcpy PtoP (Device -> Device)").kind == WorkKind::kCommTransfer);
  CHECK(ClassifyKernelName("Memset (Device)").kind == WorkKind::kCopy);
  TraceText text;
  text.Memcpy("strange", 0, 5, 1).Memset("stranger", 10, 5, 2);
  CHECK(KindIn(text, "strange").kind == WorkKind::kCopy);
  CHECK(KindIn(text, "stranger").kind == WorkKind::kCopy);
}

TEST_CASE("what a name does not tell, the op that launched it does") {
  constexpr std::string_view kName = "mystery_9";
  const auto under = [&](std::string_view op, std::string_view args = {}) {
    return KindIn(TraceText().OpWithKernel(op, 0, 20, kName, 30, 5, 1, args), kName);
  };
  CHECK(ClassifyKernelName(kName).kind == WorkKind::kUnknown);
  CHECK(under("aten::mm").kind == WorkKind::kProduct);
  CHECK(under("aten::mm").basis == KindBasis::kOp);
  CHECK(under("aten::convolution_backward").kind == WorkKind::kConvolution);
  CHECK(under("FlashAttnFunc").kind == WorkKind::kAttention);
  CHECK(under("aten::copy_", R"("Input type":["float","c10::BFloat16",""])").kind ==
        WorkKind::kCast);
  CHECK(under("aten::copy_", R"("Input type":["float","float",""])").kind == WorkKind::kCopy);
  // Whether types differ was not recorded.
  CHECK(under("aten::copy_").kind == WorkKind::kUnknown);
  CHECK(under("mylib::thing").kind == WorkKind::kUnknown);
  CHECK(under("_C_cache_ops::reshape_and_cache_flash").kind == WorkKind::kGather);
  // A whole layer launches kernels of many kinds.
  CHECK(under("vllm::moe_forward").kind == WorkKind::kUnknown);
}

TEST_CASE("a product below a convolution is the convolution") {
  constexpr std::string_view kName = "volta_sgemm_128x64_nn";  // as Winograd's and im2col's
  const auto under = [&](std::string_view op) {
    return KindIn(TraceText().OpWithKernel(op, 0, 20, kName, 30, 5, 1), kName);
  };
  CHECK(under("aten::cudnn_convolution").kind == WorkKind::kConvolution);
  CHECK(under("aten::cudnn_convolution").precision == ClassifyKernelName(kName).precision);
  CHECK(under("aten::addmm").kind == WorkKind::kProduct);
  CHECK(under("mylib::thing").kind == WorkKind::kProduct);
  // What changes layouts there stays what it is.
  constexpr std::string_view kLayout = "void cudnn::ops::nchwToNhwcKernel<float, float, float>";
  const TraceText text =
      TraceText().OpWithKernel("aten::cudnn_convolution", 0, 20, kLayout, 30, 5, 1);
  CHECK(KindIn(text, kLayout).kind == WorkKind::kLayout);
}

TEST_CASE("only the innermost ops are asked") {
  TraceText text;
  text.Op("aten::mm", 0, 50);
  for (int depth = 1; depth <= 4; ++depth)
    text.Op("mylib::thing", depth, 50 - 2 * depth);
  text.Runtime("cudaLaunchKernel", 10, 5, 1).Kernel("mystery_9", 60, 5, 1);
  CHECK(KindIn(text, "mystery_9").kind == WorkKind::kUnknown);
}

TEST_CASE("the op around the launch of a graph says nothing about its kernels") {
  TraceText text;
  text.Op("aten::mm", 0, 20).Runtime("cudaGraphLaunch", 5, 5, 1).Kernel("mystery_9", 30, 5, 1);
  CHECK(KindIn(text, "mystery_9").kind == WorkKind::kUnknown);
}

KernelKind Generated(std::string_view name, std::string_view launch) {
  TraceText text;
  return KindIn(text.Kernel(name, 0, 5, 1, 7, launch), name);
}

TEST_CASE("generated kernels without a name are told by what the launch needs") {
  // Operands of a product, staged; its accumulators are in registers.
  const KernelKind product = Generated(
      "triton_",
      R"("registers per thread":255,"shared memory":65536,"grid":[512,1,1],"block":[128,1,1])");
  CHECK(product.kind == WorkKind::kProduct);
  CHECK(product.basis == KindBasis::kLaunchShape);
  // Two transposed tiles: as much memory nearly, and few registers.
  CHECK(
      Generated(
          "triton_",
          R"("registers per thread":102,"shared memory":33792,"grid":[512,64,1],"block":[128,1,1])")
          .kind == WorkKind::kUnknown);
  // A value of each of two warps.
  CHECK(
      Generated("triton_",
                R"("registers per thread":36,"shared memory":8,"grid":[512,1,1],"block":[64,1,1])")
          .kind == WorkKind::kReduction);
  // Nothing: never taken for element-wise.
  CHECK(
      Generated("triton_",
                R"("registers per thread":16,"shared memory":0,"grid":[512,1,1],"block":[128,1,1])")
          .kind == WorkKind::kUnknown);
  CHECK(Generated("triton_", R"("grid":[512,1,1],"block":[128,1,1])").kind == WorkKind::kUnknown);
  // A name that is no generated one.
  CHECK(
      Generated(
          "mystery_9",
          R"("registers per thread":255,"shared memory":65536,"grid":[512,1,1],"block":[128,1,1])")
          .kind == WorkKind::kUnknown);
}

TEST_CASE("signatures of generated kernels tell pointwise ones, reductions and products apart") {
  const auto shape = [](int shared, int y) {
    return fmt::format(
        R"("registers per thread":30,"shared memory":{},"grid":[512,{},1],"block":[128,1,1])",
        shared, y);
  };
  CHECK(Generated("triton__0d1d2de", shape(0, 1)).kind == WorkKind::kElementwise);
  CHECK(Generated("triton__0d1d2de3de", shape(256, 1)).kind == WorkKind::kReduction);
  CHECK(Generated("triton__0d1d2de3de", shape(2112, 64)).kind == WorkKind::kLayout);
  CHECK(Generated("triton__0d1d2de3de", shape(0, 1)).kind == WorkKind::kUnknown);
  // Of a version that does not mark sizes: this may be a pointer or a size.
  CHECK(Generated("triton__0d1d2d", shape(0, 1)).kind == WorkKind::kUnknown);
  // One of the trace's names marks them, so that three pointers are a product.
  TraceText text;
  text.Kernel("triton__0d1de", 0, 5, 1, 7, shape(0, 1));
  text.Kernel("triton__0d1d2d", 10, 5, 2, 7, shape(24576, 1));
  CHECK(KindIn(text, "triton__0d1d2d").kind == WorkKind::kProduct);
}

}  // namespace
}  // namespace jarvis::ledger
