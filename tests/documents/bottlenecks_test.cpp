// What stands first on a report: the host's, the network's and the GPU's time in one order, and
// what bears on the figures.
#include "documents/bottlenecks.h"

#include <memory>

#include <doctest/doctest.h>

#include "documents/report_parts.h"
#include "documents/trust_text.h"

namespace jarvis::documents {
namespace {

using findings::Analysis;

findings::Operation Work(std::string id, std::string name, double ms, std::string kernel) {
  findings::Operation operation;
  operation.id = std::move(id);
  operation.name = std::move(name);
  operation.gpu_us = ms * 1000;
  operation.count = 1;
  operation.kernels.push_back({std::move(kernel), "", 7, 1, ms * 1000});
  return operation;
}

// A step of 100 ms: 40 of products, 30 of an all-reduce of which computing hides 25, 20 idle.
Analysis Step() {
  Analysis analysis;
  analysis.base.unit = "step";
  analysis.base.total_ms = 100;
  analysis.base.balance.computation_ns = 60'000'000;
  analysis.base.balance.exposed_comm_ns = 5'000'000;
  findings::CategoryAnalysis category;
  category.operations.push_back(Work("gemm.1", "aten::mm", 40, "gemm"));
  category.operations.push_back(
      Work("gemm.2", "record_param_comms", 30, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
  category.operations.push_back(Work("gemm.3", "cudaLaunchKernel", 8, "void sort_rows<float>()"));
  analysis.categories.push_back(std::move(category));
  findings::CollectiveRow row;
  row.name = "allreduce";
  row.count = 6;
  row.total_us = 30'000;
  row.exposed_us = 5'000;
  analysis.multi_kernel.collectives.push_back(std::move(row));
  auto host = std::make_shared<findings::HostCause>();
  host->kind = findings::HostCauseKind::kSection;
  host->loading = true;
  host->count = 1;
  host->total_ms = 20;
  host->idle_ms = 90;  // what it could save of a host that is late for all that follows
  findings::Finding finding;
  finding.tier = findings::Tier::kSystem;
  finding.category = "cpu_idle";
  finding.host = host;
  analysis.findings.push_back(std::move(finding));
  return analysis;
}

TEST_CASE("bottlenecks: idle time by its cause, of collectives what nothing hides") {
  const std::string table = BottleneckTable(Step(), 5);
  const auto at = [&](std::string_view part) { return table.find(part); };
  CHECK(at("| 1 | `aten::mm` | 40.0 ms | 66.7% | 40.0% |") != std::string::npos);
  CHECK(at("| 2 | GPU idle: Data loading while the GPU has nothing to do | 20.0 ms | ") !=
        std::string::npos);
  CHECK(at("| 3 | Kernels launched outside of any op, most of it `sort_rows") != std::string::npos);
  CHECK(at("| 4 | `allreduce`, 6 calls that computing does not hide | 5.00 ms | ") !=
        std::string::npos);
  CHECK(at("record_param_comms") == std::string::npos);
}

TEST_CASE("no rate is told at the launch floor or above a roof") {
  findings::Efficiency one;
  one.percent = 40;
  one.bound = findings::Bound::kMemory;
  one.tb_per_s = 2.12;
  one.peak_tb_per_s = 5.3;
  CHECK(AchievedText(one) == "2.12 TB/s");
  CHECK(EfficiencyText(one) == "40.00% of 5.30 TB/s");
  findings::Efficiency floor = one;
  floor.launch_floor = true;
  CHECK(AchievedText(floor).find("TB/s") == std::string::npos);
  CHECK(EfficiencyText(floor).find("launch floor") != std::string::npos);
  findings::Efficiency above = one;
  above.percent = 103;
  above.anomaly = true;
  CHECK(AchievedText(above).find("2.12") == std::string::npos);
}

TEST_CASE("trust: what bears on the figures, and the replay only where it is off") {
  Analysis analysis = Step();
  analysis.wall.known = true;
  analysis.wall.replay_error_percent = 0.1;
  CHECK(TrustList(analysis).empty());
  CHECK(SavingsNote(analysis).find("off by 0.1") != std::string::npos);
  analysis.wall.replay_error_percent = 7;
  CHECK(TrustList(analysis).find("7.0% off") != std::string::npos);
  findings::Quality quality;
  quality.code = "one_pass";
  quality.text = "One step is recorded.";
  quality.record = "three steps";
  analysis.quality = {quality};
  CHECK(TrustList(analysis).find("- One step is recorded. Record next: three steps.\n") !=
        std::string::npos);
}

}  // namespace
}  // namespace jarvis::documents
