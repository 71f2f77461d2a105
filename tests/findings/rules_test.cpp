// What is nothing but rules: thresholds, classes, shapes, libraries, time alone.
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "analysis/host/runtime_calls.h"
#include "findings/one/exclusive.h"
#include "findings/one/finding.h"
#include "findings/one/library.h"
#include "findings/one/misaligned_sizes.h"
#include "findings/one/rule_text.h"
#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"
#include "levers/placeholders.h"
#include "support/trace_builder.h"

namespace jarvis::findings {
namespace {

TEST_CASE("the users' priority classes") {
  struct Row {
    double share;
    std::optional<double> efficiency;
    bool notable;
    findings::PriorityClass wanted;
  };
  for (const Row& row :
       {Row{16, 29, false, findings::PriorityClass::kCritical},
        Row{16, 30, false, findings::PriorityClass::kHigh},
        Row{15, 29, false, findings::PriorityClass::kHigh},
        Row{11, 90, false, findings::PriorityClass::kHigh},
        Row{11, {}, false, findings::PriorityClass::kHigh},
        Row{2, 39, false, findings::PriorityClass::kHigh},
        Row{0.1, 1, false, findings::PriorityClass::kLow},  // too little to be High
        Row{0.1, 1, true, findings::PriorityClass::kMedium},
        Row{6, 50, false, findings::PriorityClass::kMedium},
        Row{5, 50, false, findings::PriorityClass::kLow}}) {
    CAPTURE(row.share);
    CHECK(findings::PriorityOf(row.share, row.efficiency, row.notable) == row.wanted);
  }
}

TEST_CASE("efficiency bands end where the users' do") {
  CHECK(findings::BandOf(80.1) == findings::Band::kExcellent);
  CHECK(findings::BandOf(80.0) == findings::Band::kGood);
  CHECK(findings::BandOf(60.0) == findings::Band::kGood);
  CHECK(findings::BandOf(59.9) == findings::Band::kAcceptable);
  CHECK(findings::BandOf(40.0) == findings::Band::kAcceptable);
  CHECK(findings::BandOf(39.9) == findings::Band::kInvestigate);
  CHECK(findings::BandOf(100.1) == findings::Band::kAnomaly);
  CHECK(findings::BandOf({}) == findings::Band::kUnknown);
}

TEST_CASE("each threshold and each pattern has one key") {
  std::set<std::string_view> keys;
  for (const limits::Threshold& row : limits::Thresholds())
    CHECK(keys.insert(row.key).second);
  std::set<std::string_view> patterns;
  for (const findings::PatternInfo& info : levers::Shipped().patterns()) {
    CHECK(patterns.insert(info.key).second);
    CHECK(&findings::Info(info.pattern) == &info);
  }
  for (const findings::AdviceInfo& info : levers::Shipped().advices())
    CHECK(&findings::Info(info.advice) == &info);
}

// The first sentence of an action, or what stands before its first semicolon outside of brackets.
std::string ShortFormOf(std::string_view action) {
  const std::string text(action);
  std::size_t end = std::min(text.size(), text.find(". "));
  int open = 0;
  for (std::size_t i = 0; i < end; ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ';' && open == 0) end = i;
  }
  return text.substr(0, end);
}

TEST_CASE("each action has a short form that a table shows whole") {
  for (const AdviceInfo& info : levers::Shipped().advices()) {
    CAPTURE(info.key);
    const std::string text = FillRule(info.what, {}, nullptr);
    CHECK(ShortFormOf(text).size() <= levers::kShortAction);
    CHECK(text.find("None") == std::string::npos);
  }
  for (const RuleRow& row : levers::Shipped().rules()) {
    for (const std::string& path : {row.path_a, row.path_b}) {
      CAPTURE(path);
      const std::string text = FillRule(path, {}, nullptr);
      CHECK(ShortFormOf(text).size() <= levers::kShortAction);
      // A verb that asks for something, not a reason.
      for (const char* reason : {"It ", "The ", "Where ", "Rows ", "More "})
        CHECK_FALSE(text.starts_with(reason));
    }
  }
}

TEST_CASE("shapes and types as recorded") {
  const auto shapes = findings::ParseShapes("[[256, 131072], [], [[4], [5, 6]], null, [7]]");
  REQUIRE(shapes.size() == 6);
  CHECK(shapes[0] == findings::Shape{256, 131072});
  CHECK(shapes[1].empty());
  CHECK(shapes[2] == findings::Shape{4});
  CHECK(shapes[3] == findings::Shape{5, 6});
  CHECK(shapes[5] == findings::Shape{7});
  CHECK(findings::ParseShapes("[[1, 2").empty());
  CHECK(findings::ArgsText("[[8, 4], [4], [], []]",
                           R"(["c10::BFloat16", "float", "Scalar", "Half"])") ==
        "(8,4) bf16<br>(4,) fp32<br>() fp16");
  for (const char* name : {"BFloat16", "c10::BFloat16", "c10::bfloat16"})
    CHECK(findings::ShortType(name) == "bf16");
  CHECK(findings::ShortType("Float8_e4m3fn") == "fp8");
  CHECK(findings::ShortType("Mystery") == "Mystery");
  CHECK(findings::IsDense({8, 4}, {4, 1}));
  CHECK(findings::IsDense({8, 4}, {1, 8}));
  CHECK_FALSE(findings::IsDense({8, 4}, {8, 1}));
  CHECK_FALSE(findings::IsDense({8, 4}, {0, 1}));
}

TEST_CASE("a GEMM is told by M x K x N, whatever its bias and result") {
  const auto sizes = [](std::string_view op, std::string_view args) {
    return findings::ProductSizes(op, args);
  };
  CHECK(sizes("aten::mm", "(8,4) bf16<br>(4,2) bf16") == "8x4x2 bf16");
  CHECK(sizes("aten::mm", "(8,4) bf16<br>(4,2) bf16<br>(8,2) bf16") == "8x4x2 bf16");
  CHECK(sizes("aten::addmm", "(2,) bf16<br>(8,4) bf16<br>(4,2) bf16") == "8x4x2 bf16");
  // Other ops, operands that do not fit or are of two types, and batches.
  CHECK(sizes("aten::mul", "(8,4) bf16<br>(4,2) bf16").empty());
  CHECK(sizes("aten::mm", "(8,4) bf16<br>(3,2) bf16").empty());
  CHECK(sizes("aten::mm", "(8,4) bf16<br>(4,2) fp32").empty());
  CHECK(sizes("aten::mm", "(8,4) bf16<br>(4,2) bf16<br>(9,9) bf16").empty());
  CHECK(sizes("aten::mm", "(3,8,4) bf16<br>(3,4,2) bf16").empty());
  CHECK(sizes("aten::mm", "").empty());
}

TEST_CASE("libraries by op and kernel") {
  CHECK(findings::LibraryOfOp("vllm::rocm_aiter_fused_moe") == "AITER");
  CHECK(findings::LibraryOfOp("aten::mm").empty());
  CHECK(findings::LibraryOfKernel("Cijk_Ailk_Bljk_BBS") == "Tensile");
  CHECK(findings::LibraryOfKernel("sm80_xmma_gemm_bf16bf16") == "cuBLAS");
  CHECK(findings::LibraryOfKernel("nvjet_tst_128x256") == "cuBLASLt");
  CHECK(findings::LibraryOfKernel("void at::native::vectorized_elementwise_kernel<4>") ==
        "PyTorch Native");
  CHECK(findings::LibraryOfKernel("ncclDevKernel_AllReduce") == "NCCL");
  CHECK(findings::LibraryOfKernel("my_kernel").empty());
}

TEST_CASE("runtime calls by what they do") {
  for (const char* name : {"cudaStreamSynchronize", "hipDeviceSynchronize", "cudaMemcpy",
                           "hipMemcpyWithStream", "cudaEventSynchronize"})
    CHECK(analysis::IsSyncCall(name));
  for (const char* name : {"cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamWaitEvent"})
    CHECK_FALSE(analysis::IsSyncCall(name));
  CHECK(analysis::IsMemoryCall("cudaMalloc"));
  CHECK(analysis::IsSetUpCall("hipModuleLoadData"));
  CHECK(analysis::IsSetUpCall("cudaDeviceGetStreamPriorityRange"));
  CHECK_FALSE(analysis::IsSetUpCall("cudaDeviceSynchronize"));
  CHECK_FALSE(analysis::IsSetUpCall("cudaLaunchKernel"));
  CHECK(analysis::IsGraphLaunch("hipGraphLaunch"));
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
  const std::vector<double> alone = findings::ExclusiveUs(loaded.events(), work, owner, 3);
  CHECK(alone == std::vector<double>{5, 5, 6});
  const std::vector<std::uint32_t> others = {0, findings::kNoOwner, findings::kNoOwner,
                                             findings::kNoOwner};
  CHECK(findings::ExclusiveUs(loaded.events(), work, others, 1) == std::vector<double>{5});
}

TEST_CASE("rows of operands are padded only where nothing else is misaligned") {
  const PaddedSizes wide = MisalignedSizes(141, 30522, 512, 8);
  CHECK(wide.sizes == "30522");
  CHECK(wide.padded == "30528");
  CHECK(MisalignedSizes(141, 512, 1001, 8).sizes == "1001");
  CHECK(MisalignedSizes(141, 512, 512, 8).sizes == "141");  // of a transposed operand
  CHECK(MisalignedSizes(128, 4, 512, 8).sizes.empty());     // smaller than an access
}

}  // namespace
}  // namespace jarvis::findings
