// Categories, findings, fusion, plans, and what is said of traces that lack something.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "findings/one/thresholds.h"
#include "session/trace_frames.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

TEST_CASE("GEMM patterns by shape, type and kernels") {
  struct Row {
    const char* op;
    const char* dims;
    const char* type;
    findings::Pattern wanted;
  };
  for (const Row& row :
       {Row{"aten::mm", "[[256,131072],[131072,512]]", "c10::BFloat16",
            findings::Pattern::kFewTiles},
        Row{"aten::mm", "[[4097,4097],[4097,4097]]", "c10::BFloat16",
            findings::Pattern::kMisaligned},
        Row{"aten::mm", "[[131072,32],[32,32]]", "c10::BFloat16", findings::Pattern::kSkinnyGemm},
        Row{"aten::mm", "[[8,4096],[4096,4096]]", "c10::BFloat16", findings::Pattern::kDecodeGemm},
        Row{"aten::mm", "[[8192,8192],[8192,8192]]", "c10::BFloat16",
            findings::Pattern::kComputeBoundGemm},
        Row{"aten::bmm", "[[37632,8,64],[37632,64,8]]", "c10::BFloat16",
            findings::Pattern::kTinyBatchedGemm}}) {
    CAPTURE(row.dims);
    TraceText text;
    text.OpWithKernel(row.op, 0, 10, "Cijk_x", 20, 5000, 1, Shapes(row.dims, row.type));
    const Analyzed one = Analyze(text);
    CHECK(one.Has(one.First("gemm"), row.wanted));
    CHECK(one.First("gemm").library == "Tensile");
  }
}

TEST_CASE("layout conversions are found among the kernels of a convolution") {
  TraceText text;
  text.Op("aten::convolution", 0, 40,
          Shapes("[[8,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]", "float", 9) +
              R"(,"Concrete Inputs":["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])");
  text.Runtime("hipLaunchKernel", 2, 2, 1).Kernel("batched_transpose_32x32_dword", 50, 300, 1);
  text.Runtime("hipLaunchKernel", 6, 2, 2).Kernel("igemm_fwd_gtcx_nhwc_fp32", 350, 700, 2);
  const Analyzed one = Analyze(text);
  const findings::Operation& conv = one.First("conv_fwd");
  CHECK(one.Has(conv, findings::Pattern::kLayoutTransposes));
  const findings::Finding* finding = one.Find("conv_fwd", "aten::convolution");
  REQUIRE(finding != nullptr);
  REQUIRE(finding->path_a[0].advice == findings::Advice::kChannelsLast);
  REQUIRE(finding->path_a[0].savings_ms.has_value());
  CHECK(finding->path_a[0].savings_ms->high == doctest::Approx(0.3));
}

TEST_CASE("an efficiency above the roof stays an anomaly and claims nothing") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "Cijk_x", 20, 100, 1,
                    Shapes("[[8192,8192],[8192,8192]]", "c10::BFloat16"));
  const Analyzed one = Analyze(text);
  const findings::CategoryAnalysis& gemm = *one.analysis.FindCategory("gemm");
  REQUIRE(gemm.anomalies.size() == 1);
  CHECK(gemm.anomalies[0].efficiency > limits::kImpossible);
  CHECK(gemm.findings.empty());
  CHECK_FALSE(gemm.operations[0].savings_ms.has_value());
  CHECK(one.Quality("efficiency_anomaly") != nullptr);
}

TEST_CASE("what another stream covers saves nothing") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "Cijk_x", 20, 1000, 1,
                    Shapes("[[512,512],[512,512]]", "c10::BFloat16"));
  text.Op("aten::sort", 12, 8).Runtime("launch", 13, 2, 2).Kernel("sort", 20, 900, 2, 8);
  const Analyzed one = Analyze(text);
  const findings::Operation& mm = one.First("gemm");
  CHECK(mm.exclusive_us == doctest::Approx(100));
  REQUIRE(mm.savings_ms.has_value());
  CHECK(mm.savings_ms->high == doctest::Approx(0.1));
}

// pow, mean, add, rsqrt, mul in one module, `n` times.
TraceText Norms(int n) {
  TraceText text;
  const std::string full = Shapes("[[4096,4096],[]]", "c10::BFloat16", 2);
  const std::string row = Shapes("[[4096,1],[]]", "c10::BFloat16", 2);
  const std::string both = Shapes("[[4096,4096],[4096,1]]", "c10::BFloat16", 2);
  for (int i = 0; i < n; ++i) {
    const double at = 1000.0 * i;
    text.Module("RMSNorm_" + std::to_string(i), at, 100);
    double kernel = at + 20;
    int number = 0;
    for (const auto& [name, args, us] :
         {std::tuple{"aten::pow", full, 30.0}, std::tuple{"aten::mean", full, 20.0},
          std::tuple{"aten::add", row, 3.0}, std::tuple{"aten::rsqrt", row, 3.0},
          std::tuple{"aten::mul", both, 30.0}}) {
      text.OpWithKernel(name, at + 2 + 10 * number, 8, std::string("k_") + name, kernel, us,
                        10 * i + number + 1, args);
      kernel += us;
      ++number;
    }
  }
  return text;
}

TEST_CASE("a normalisation written out is one candidate with its true time") {
  const Analyzed one = Analyze(Norms(3));
  REQUIRE(one.analysis.fusion.candidates.size() == 1);
  const findings::FusionCandidate& candidate = one.analysis.fusion.candidates[0];
  CHECK(candidate.kind == findings::FusionKind::kNorm);
  CHECK(candidate.confidence == "high");
  CHECK(candidate.dependency == findings::Dependency::kPlausible);
  CHECK(candidate.instances == 3);
  CHECK(candidate.kernels.size() == 5);
  CHECK(candidate.total_us == doctest::Approx(3 * 86));
  REQUIRE(candidate.savings_ms.has_value());
  CHECK(candidate.savings_ms->high <= candidate.total_us / 1000);
  CHECK(candidate.bytes_fused == doctest::Approx(2 * 4096.0 * 4096 * 2));
  CHECK(one.Find("kernel_fusion", "RMSNorm") != nullptr);
}

TEST_CASE("a loop of one op is no chain") {
  TraceText text;
  for (int i = 0; i < 10; ++i) {
    text.OpWithKernel("aten::add", 20 * i, 8, "add", 100 + 400 * i, 400, i + 1,
                      Shapes("[[8192,8192],[8192,8192]]", "float"));
  }
  CHECK(Analyze(text).analysis.fusion.candidates.empty());
}

TEST_CASE("attention in parts is one candidate, and its ops are in no other") {
  TraceText text;
  text.Module("SelfAttention_0", 0, 100);
  text.OpWithKernel("aten::bmm", 2, 8, "gemm1", 50, 400, 1,
                    Shapes("[[64,1024,64],[64,64,1024]]", "c10::BFloat16"));
  text.OpWithKernel("aten::mul", 12, 8, "scale", 450, 300, 2,
                    Shapes("[[64,1024,1024],[]]", "c10::BFloat16"));
  text.OpWithKernel("aten::_softmax", 22, 8, "softmax", 750, 600, 3,
                    Shapes("[[64,1024,1024],[],[]]", "c10::BFloat16", 3));
  text.OpWithKernel("aten::bmm", 32, 8, "gemm2", 1350, 400, 4,
                    Shapes("[[64,1024,1024],[64,1024,64]]", "c10::BFloat16"));
  const Analyzed one = Analyze(text);
  REQUIRE(one.analysis.fusion.candidates.size() == 1);
  CHECK(one.analysis.fusion.candidates[0].kind == findings::FusionKind::kAttention);
  CHECK(one.analysis.fusion.candidates[0].kernels.size() == 4);
  const findings::Finding* finding = one.Find("kernel_fusion", "SelfAttention");
  REQUIRE(finding != nullptr);
  CHECK(finding->path_a[0].advice == findings::Advice::kFlashAttention);
  // One cause, one finding: softmax and products have none of their own.
  CHECK(finding->overlaps_with.empty());
  CHECK(one.Find("gemm", "aten::bmm") == nullptr);
  CHECK(one.Find("softmax", "aten::_softmax") == nullptr);
  const findings::Combined& combined = one.analysis.combined;
  CHECK(combined.savings_ms.high <= one.analysis.totals.computation_ms + 1e-9);
}

TEST_CASE("copies are flagged by count above ten") {
  for (const int count : {10, 11}) {
    TraceText text;
    text.OpWithKernel("aten::relu", 0, 5, "relu", 10, 100'000, 1);
    for (int i = 0; i < count; ++i) {
      text.Runtime("cudaMemcpyAsync", 20 + i, 0.5, 100 + i);
      text.Memcpy("Memcpy DtoH (Device -> Pageable)", 200'000 + 10 * i, 1, 100 + i);
    }
    // Each copy may be taken for a step: the last one is as long as the others.
    text.Runtime("cudaStreamIsCapturing", 20 + count, 0.1, 99);
    const Analyzed one = Analyze(text);
    REQUIRE(one.analysis.multi_kernel.copies.size() == 1);
    CHECK(one.analysis.multi_kernel.copies[0].flagged == (count == 11));
    CHECK(one.analysis.multi_kernel.copies[0].pageable == static_cast<std::uint64_t>(count));
  }
}

TEST_CASE("a plan: targets, unknown names, nothing beyond the time there is") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "Cijk_x", 20, 1000, 1,
                    Shapes("[[4096,4096],[4096,4096]]", "c10::BFloat16"));
  const Analyzed one = Analyze(text);
  const double efficiency = *one.First("gemm").efficiency.percent;
  const std::vector<findings::PlanItem> plan = {{"gemm.1", 50.0}};
  const auto what = findings::WhatIf(one.analysis, plan);
  REQUIRE(what.has_value());
  CHECK(what->savings_ms.mid == doctest::Approx(1 - efficiency / 50));
  const std::vector<findings::PlanItem> twice = {{"gemm.1", 50.0}, {"f1", 50.0}};
  CHECK(findings::WhatIf(one.analysis, twice)->savings_ms.mid ==
        doctest::Approx(what->savings_ms.mid));
  CHECK_FALSE(
      findings::WhatIf(one.analysis, std::vector<findings::PlanItem>{{"f9", {}}}).has_value());
  CHECK_FALSE(
      findings::WhatIf(one.analysis, std::vector<findings::PlanItem>{{"f1", 0.0}}).has_value());
  const std::vector<findings::Projection> table =
      findings::ProjectionsOf(one.analysis.findings[0], 1);
  REQUIRE(!table.empty());
  CHECK(table[0].new_ms == doctest::Approx(efficiency / table[0].target_percent));
}

// ---- what is missing

TEST_CASE("no GPU work: said, with what to record") {
  TraceText text;
  text.Op("aten::mm", 0, 10).Runtime("cudaDeviceSynchronize", 20, 5, 1);
  const Analyzed one = Analyze(text);
  CHECK(one.analysis.findings.empty());
  CHECK(one.analysis.nothing_because == std::vector<std::string>{"no_gpu_work"});
  REQUIRE(one.Quality("no_gpu_work") != nullptr);
  CHECK(one.Quality("no_gpu_work")->record.find("CUDA") != std::string::npos);
}

TEST_CASE("no shapes: time, no efficiency, and the option to record") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "Cijk_x", 20, 1000, 1);
  const Analyzed one = Analyze(text);
  CHECK_FALSE(one.First("gemm").efficiency.percent.has_value());
  REQUIRE(one.Quality("no_shapes") != nullptr);
  CHECK(one.Quality("no_shapes")->record == "record_shapes=True");
  CHECK(!one.analysis.findings.empty());
  CHECK(one.analysis.findings[0].method == findings::EstimateMethod::kNone);
  CHECK_FALSE(one.analysis.findings[0].savings_ms.has_value());  // nobody knows
  CHECK(one.analysis.findings[0].priority == findings::PriorityClass::kLow);
}

TEST_CASE("no platform: findings by time, none with a claim against a roof") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "Cijk_x", 20, 1000, 1,
                    Shapes("[[4096,4096],[4096,4096]]", "c10::BFloat16"));
  const Analyzed one = Analyze(text, "");
  REQUIRE(one.analysis.findings.size() == 1);
  CHECK(one.analysis.findings[0].method == findings::EstimateMethod::kNone);
  CHECK_FALSE(one.analysis.findings[0].savings_ms.has_value());
  CHECK(one.First("gemm").efficiency.source == findings::BoundSource::kIntensity);
  CHECK(one.Quality("no_platform") != nullptr);
}

TEST_CASE("a reproducer alone is no way out that saves, another layout is one") {
  const auto trace = [](bool transposes) {
    TraceText text;
    text.Op("aten::convolution", 0, 40,
            Shapes("[[8,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]", "float", 9) +
                R"(,"Concrete Inputs":["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])");
    if (transposes)
      text.Runtime("hipLaunchKernel", 2, 2, 1).Kernel("batched_transpose_32x32_dword", 50, 300, 1);
    text.Runtime("hipLaunchKernel", 6, 2, 2).Kernel("igemm_fwd_gtcx_nchw_fp32", 350, 700, 2);
    return text;
  };
  const Analyzed plain = Analyze(trace(false));
  const findings::Finding* finding = plain.Find("conv_fwd", "aten::convolution");
  REQUIRE(finding != nullptr);
  CHECK_FALSE(findings::HasAction(finding->path_a));
  CHECK_FALSE(findings::HasAction(finding->path_b));
  CHECK(findings::BestWall(*finding) == nullptr);
  // A small part of the time without a way out is no finding.
  TraceText small = trace(false);
  small.OpWithKernel("aten::mm", 2000, 10, "Cijk_x", 2100, 90'000, 9,
                     Shapes("[[4096,4096],[4096,4096]]", "float"));
  CHECK(Analyze(small).Find("conv_fwd", "aten::convolution") == nullptr);
  const Analyzed layouts = Analyze(trace(true));
  finding = layouts.Find("conv_fwd", "aten::convolution");
  REQUIRE(finding != nullptr);
  CHECK(findings::HasAction(finding->path_a));
  CHECK(findings::BestWall(*finding) != nullptr);
}

TEST_CASE("nothing but communication") {
  TraceText text;
  text.OpWithKernel("record_param_comms", 0, 10, "ncclDevKernel_AllReduce", 20, 1000, 1);
  const Analyzed one = Analyze(text);
  CHECK(one.analysis.totals.computation_ms == 0);
  const findings::Finding* finding = one.Find("multi_kernel", "communication");
  REQUIRE(finding != nullptr);
  // One rank cannot tell waiting from transfer: a size, and what to record, but no saving.
  CHECK_FALSE(finding->savings_ms.has_value());
  CHECK(finding->exclusive_ms == doctest::Approx(1));
  const auto is_record = [](const findings::Remedy& remedy) {
    return remedy.advice == findings::Advice::kRecordRanks;
  };
  CHECK(std::any_of(finding->path_b.begin(), finding->path_b.end(), is_record));
  CHECK(finding->bound_ms.has_value());
  CHECK(finding->priority == findings::PriorityClass::kCritical);
  CHECK_FALSE(finding->minor);
}

TEST_CASE("no more communication is hidden than there is computing to hide it under") {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    const double at = 2000.0 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 100, 2 * i + 1);
    text.OpWithKernel("record_param_comms", at + 12, 10, "ncclDevKernel_SendRecv", at + 112, 1800,
                      2 * i + 2, R"("Collective name":"all_to_all")");
  }
  const Analyzed one = Analyze(text);
  const findings::Finding* finding = one.Find("multi_kernel", "communication");
  REQUIRE(finding != nullptr);
  REQUIRE(finding->path_a.front().advice == findings::Advice::kOverlapCommunication);
  REQUIRE(finding->bound_ms);
  CHECK(finding->exclusive_ms > 4 * 1.7);
  CHECK(*finding->bound_ms <= 4 * 0.1 + 1e-9);
}

TEST_CASE("collectives that were launched before the recording are no step's communication") {
  TraceText text;
  text.Kernel("ncclDevKernel_AllReduce", 0, 3000, 900);
  text.OpWithKernel("aten::mm", 2990, 10, "k", 3005, 4000, 1);
  text.OpWithKernel("record_param_comms", 3010, 10, "ncclDevKernel_AllReduce", 7005, 1000, 2);
  const Analyzed one = Analyze(text);
  REQUIRE(one.analysis.frames->frames.foreign.size() == 1);
  CHECK(one.analysis.multi_kernel.comm_count == 1);
  CHECK(one.analysis.multi_kernel.exposed_comm_us == doctest::Approx(1000));
}

TEST_CASE("pointwise chains of one model are one finding, whose launches go too") {
  TraceText text = Norms(3);
  const std::string full = Shapes("[[4096,4096]]", "c10::BFloat16", 1);
  text.Module("MLP_0", 4000, 100);
  int number = 100;
  for (const char* op : {"aten::silu", "aten::mul"}) {
    text.OpWithKernel(op, 4002 + 10 * (number - 100), 8, std::string("k_") + op,
                      4020 + 30 * (number - 100), 30, number, full);
    ++number;
  }
  const Analyzed one = Analyze(text);
  std::size_t findings = 0;
  for (const findings::Finding& finding : one.analysis.findings)
    findings += finding.category == "kernel_fusion" ? 1U : 0U;
  CHECK(findings <= one.analysis.fusion.candidates.size());
  const findings::Finding* norms = one.Find("kernel_fusion", "RMSNorm");
  REQUIRE(norms != nullptr);
  REQUIRE(norms->change_a.has_value());
  CHECK_FALSE(norms->change_a->exact.empty());
  // What they have most of has no finding of its own.
  CHECK(one.Find("elementwise", "aten::pow") == nullptr);
}

TEST_CASE("one kernel without launch or op") {
  TraceText text;
  text.Kernel("my_kernel", 0, 100, 1);
  const Analyzed one = Analyze(text);
  CHECK(one.analysis.totals.unlinked_count == 1);
  CHECK(one.Quality("unlinked_gpu_work") != nullptr);
  CHECK_FALSE(one.analysis.idle.reliable);
  // There is neither a figure nor a way out; the quality of the trace says what to record.
  CHECK(one.analysis.findings.empty());
  CHECK_FALSE(one.analysis.nothing_because.empty());
}

TEST_CASE("several devices in one file: no cause of idle time is named") {
  TraceText text;
  text.OpWithKernel("aten::relu", 0, 10, "k", 20, 50, 1);
  text.Runtime("cudaLaunchKernel", 30, 3, 2);
  text.Raw(R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":500,"dur":50,)"
           R"("args":{"stream":7,"correlation":2}})");
  const Analyzed one = Analyze(text);
  REQUIRE(one.Quality("multi_device") != nullptr);
  CHECK(one.Quality("multi_device")->value == 2);
  CHECK(one.analysis.idle.unreliable_because == "several_devices");
  CHECK(one.Find("cpu_idle", "host_bound") == nullptr);
}

TEST_CASE("a kernel after which the GPU ran dry is starved") {
  TraceText text;
  text.OpWithKernel("aten::relu", 0, 10, "k1", 20, 50, 1);
  text.OpWithKernel("aten::relu", 100, 10, "k2", 120, 50, 2);  // launched after k1 ended
  text.OpWithKernel("aten::relu", 125, 10, "k3", 180, 50, 3);  // launched while k2 ran
  const Analyzed one = Analyze(text);
  REQUIRE(one.First("elementwise").starved_percent.has_value());
  CHECK(*one.First("elementwise").starved_percent == doctest::Approx(50));
}

TEST_CASE("work without an op is linked by the External id of its launch") {
  TraceText text;
  text.Op("aten::relu", 0, 10);
  text.Raw(R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":100,)"
           R"("ts":2,"dur":3,"args":{"External id":9}})");
  text.Raw(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":5,)"
           R"("args":{"stream":7,"External id":9}})");
  const Analyzed one = Analyze(text);
  CHECK(one.analysis.totals.unlinked_count == 0);
  CHECK(one.First("elementwise").name == "aten::relu");
}

TEST_CASE("an op whose sizes are missing lacks no model, one that nobody knows does") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "gemm", 20, 300, 1, "");
  text.OpWithKernel("my::own", 400, 10, "my_kernel", 420, 300, 2, Shapes("[[8],[8]]", "float"));
  const Analyzed one = Analyze(text);
  CHECK_FALSE(one.Has(one.First("gemm"), Pattern::kMissingModel));
  CHECK(one.Has(one.First("other"), Pattern::kMissingModel));
}

TEST_CASE("a slow simple op is told by what others reach, not by what is assumed") {
  // 6 MB in 100 us: 0.06 TB/s of 5.3.
  TraceText alone;
  for (int i = 0; i < 4; ++i)
    alone.OpWithKernel("aten::add", 400 * i, 10, "add", 400 * i + 20, 100, i + 1,
                       Shapes("[[1024,1024],[1024,1024]]", "c10::BFloat16"));
  const Analyzed assumed = Analyze(alone);
  CHECK(assumed.analysis.baseline.assumed);
  CHECK_FALSE(assumed.Has(assumed.First("elementwise"), Pattern::kBelowBaseline));
  // With one that moves 400 MB at 4 TB/s.
  TraceText beside = alone;
  beside.OpWithKernel("aten::mul", 2000, 10, "mul", 2020, 100, 9,
                      Shapes("[[8192,8192],[8192,8192]]", "c10::BFloat16"));
  const Analyzed measured = Analyze(beside);
  CHECK_FALSE(measured.analysis.baseline.assumed);
  const CategoryAnalysis* category = measured.analysis.FindCategory("elementwise");
  REQUIRE(category != nullptr);
  CHECK(std::any_of(category->operations.begin(), category->operations.end(),
                    [&](const Operation& one) {
                      return one.name == "aten::add" && measured.Has(one, Pattern::kBelowBaseline);
                    }));
}

}  // namespace
}  // namespace jarvis::findings
