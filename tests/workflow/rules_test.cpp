// What is nothing but rules: thresholds, classes, shapes, libraries, time alone.
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"
#include "workflow/exclusive.h"
#include "workflow/finding.h"
#include "workflow/library.h"
#include "workflow/runtime_calls.h"
#include "workflow/shapes.h"
#include "workflow/thresholds.h"

namespace jarvis::workflow {
namespace {

TEST_CASE("the users' priority classes") {
  struct Row {
    double share;
    std::optional<double> efficiency;
    bool notable;
    PriorityClass wanted;
  };
  for (const Row& row :
       {Row{16, 29, false, PriorityClass::kCritical}, Row{16, 30, false, PriorityClass::kHigh},
        Row{15, 29, false, PriorityClass::kHigh}, Row{11, 90, false, PriorityClass::kHigh},
        Row{11, {}, false, PriorityClass::kHigh}, Row{2, 39, false, PriorityClass::kHigh},
        Row{0.1, 1, false, PriorityClass::kLow},  // too little to be High
        Row{0.1, 1, true, PriorityClass::kMedium}, Row{6, 50, false, PriorityClass::kMedium},
        Row{5, 50, false, PriorityClass::kLow}}) {
    CAPTURE(row.share);
    CHECK(PriorityOf(row.share, row.efficiency, row.notable) == row.wanted);
  }
}

TEST_CASE("efficiency bands end where the users' do") {
  CHECK(BandOf(80.1) == Band::kExcellent);
  CHECK(BandOf(80.0) == Band::kGood);
  CHECK(BandOf(60.0) == Band::kGood);
  CHECK(BandOf(59.9) == Band::kAcceptable);
  CHECK(BandOf(40.0) == Band::kAcceptable);
  CHECK(BandOf(39.9) == Band::kInvestigate);
  CHECK(BandOf(100.1) == Band::kAnomaly);
  CHECK(BandOf({}) == Band::kUnknown);
}

TEST_CASE("each threshold and each pattern has one key") {
  std::set<std::string_view> keys;
  for (const limits::Threshold& row : limits::Thresholds())
    CHECK(keys.insert(row.key).second);
  std::set<std::string_view> patterns;
  for (const PatternInfo& info : Patterns()) {
    CHECK(patterns.insert(info.key).second);
    CHECK(&Info(info.pattern) == &info);
  }
  for (const AdviceInfo& info : Advices())
    CHECK(&Info(info.advice) == &info);
}

TEST_CASE("shapes and types as recorded") {
  const auto shapes = ParseShapes("[[256, 131072], [], [[4], [5, 6]], null, [7]]");
  REQUIRE(shapes.size() == 6);
  CHECK(shapes[0] == Shape{256, 131072});
  CHECK(shapes[1].empty());
  CHECK(shapes[2] == Shape{4});
  CHECK(shapes[3] == Shape{5, 6});
  CHECK(shapes[5] == Shape{7});
  CHECK(ParseShapes("[[1, 2").empty());
  CHECK(ArgsText("[[8, 4], [4], [], []]", R"(["c10::BFloat16", "float", "Scalar", "Half"])") ==
        "(8,4) bf16<br>(4,) fp32<br>() fp16");
  for (const char* name : {"BFloat16", "c10::BFloat16", "c10::bfloat16"})
    CHECK(ShortType(name) == "bf16");
  CHECK(ShortType("Float8_e4m3fn") == "fp8");
  CHECK(ShortType("Mystery") == "Mystery");
  CHECK(IsDense({8, 4}, {4, 1}));
  CHECK(IsDense({8, 4}, {1, 8}));
  CHECK_FALSE(IsDense({8, 4}, {8, 1}));
  CHECK_FALSE(IsDense({8, 4}, {0, 1}));
}

TEST_CASE("libraries by op and kernel") {
  CHECK(LibraryOfOp("vllm::rocm_aiter_fused_moe") == "AITER");
  CHECK(LibraryOfOp("aten::mm").empty());
  CHECK(LibraryOfKernel("Cijk_Ailk_Bljk_BBS") == "Tensile");
  CHECK(LibraryOfKernel("sm80_xmma_gemm_bf16bf16") == "cuBLAS");
  CHECK(LibraryOfKernel("nvjet_tst_128x256") == "cuBLASLt");
  CHECK(LibraryOfKernel("void at::native::vectorized_elementwise_kernel<4>") == "PyTorch Native");
  CHECK(LibraryOfKernel("ncclDevKernel_AllReduce") == "NCCL");
  CHECK(LibraryOfKernel("my_kernel").empty());
}

TEST_CASE("runtime calls by what they do") {
  for (const char* name : {"cudaStreamSynchronize", "hipDeviceSynchronize", "cudaMemcpy",
                           "hipMemcpyWithStream", "cudaEventSynchronize"})
    CHECK(IsSyncCall(name));
  for (const char* name : {"cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamWaitEvent"})
    CHECK_FALSE(IsSyncCall(name));
  CHECK(IsMemoryCall("cudaMalloc"));
  CHECK(IsSetUpCall("hipModuleLoadData"));
  CHECK(IsGraphLaunch("hipGraphLaunch"));
}

TEST_CASE("time alone counts what no other set covers") {
  jarvis::testing::TraceText text;
  text.Kernel("a", 0, 10, 1, 7).Kernel("b", 5, 10, 2, 8).Kernel("c", 20, 4, 3, 7);
  text.Kernel("d", 22, 4, 4, 8);
  const auto loaded = jarvis::testing::Load(text);
  std::vector<trace::EventIndex> work;
  for (const char* name : {"a", "b", "c", "d"})
    work.push_back(loaded.Find(name));
  // a and b of two sets overlap by 5; c and d are of one set.
  const std::vector<std::uint32_t> owner = {0, 1, 2, 2};
  const std::vector<double> alone = ExclusiveUs(loaded.events(), work, owner, 3);
  CHECK(alone == std::vector<double>{5, 5, 6});
  const std::vector<std::uint32_t> others = {0, kNoOwner, kNoOwner, kNoOwner};
  CHECK(ExclusiveUs(loaded.events(), work, others, 1) == std::vector<double>{5});
}

}  // namespace
}  // namespace jarvis::workflow
