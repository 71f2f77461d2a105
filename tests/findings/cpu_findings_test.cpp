// Recordings without GPU work: where the host's time goes, and what bounds the trace shows. Times
// are worked out by hand.
#include "findings/one/cpu_findings.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

// Three steps of 100 ms: 10 of forward, 10 of backward, then a reduction of 60 on another thread of
// which ops hide `hidden`, and 30 updates of 0.5 ms in an optimizer.
TraceText Training(double hidden, std::string_view update = "aten::addcdiv_") {
  TraceText text;
  for (int step = 0; step < 3; ++step) {
    const double at = step * 100'000.0;
    text.Thread(100, 100).Annotation(fmt::format("ProfilerStep#{}", step + 5), at, 100'000);
    text.Annotation("## forward ##", at, 10'000);
    text.Annotation("DistributedDataParallel.forward", at, 10'000);
    text.Op("aten::addmm", at, 10'000, Shapes("[[32,64],[64,8]]", "float"));
    text.Annotation("## backward ##", at + 10'000, 70'000);
    text.Op("aten::mm", at + 10'000, 10'000 + hidden, Shapes("[[64,32],[32,8]]", "float"));
    text.Annotation("## optimizer ##", at + 80'000, 16'000);
    text.Annotation("Optimizer.step#Adagrad.step", at + 80'000, 16'000);
    for (int i = 0; i < 30; ++i)
      text.Op(update, at + 80'000 + 500.0 * i, 500);
    text.Thread(100, 200);
    text.Annotation("gloo:all_reduce", at + 20'000, 60'000);
  }
  return text;
}

const Finding* FindingOf(const Analyzed& one, Pattern rule) {
  for (const Finding& finding : one.analysis.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

TEST_CASE("the time of a step is divided between waiting, ops by part, and neither") {
  const Analyzed one = Analyze(Training(0), "");
  REQUIRE(one.analysis.cpu);
  const CpuSteps& cpu = *one.analysis.cpu;
  CHECK(one.analysis.base.unit_ms() == doctest::Approx(100));
  CHECK(cpu.Of(CpuPart::kWaiting) == doctest::Approx(180));
  CHECK(cpu.Of(CpuPart::kForward) == doctest::Approx(30));
  CHECK(cpu.Of(CpuPart::kBackward) == doctest::Approx(30));
  CHECK(cpu.Of(CpuPart::kOptimizer) == doctest::Approx(45));
  CHECK(cpu.Of(CpuPart::kNoOp) == doctest::Approx(15));
  double all = 0;
  for (const double ms : cpu.part_ms)
    all += ms;
  CHECK(all == doctest::Approx(one.analysis.base.total_ms));
  CHECK(cpu.operations.front().self_ms == doctest::Approx(45));
  CHECK(one.analysis.workload[WorkloadPart::kDevice].value == "CPU");
  CHECK(one.analysis.workload[WorkloadPart::kPrecision].value == "fp32");
}

TEST_CASE("a collective that no op hides is a finding, bounded by its wait") {
  const Analyzed one = Analyze(Training(0), "");
  const Finding* finding = FindingOf(one, Pattern::kCpuCollectives);
  REQUIRE(finding != nullptr);
  CHECK(finding->global_rank == 1);
  CHECK(finding->bound_ms == doctest::Approx(180));
  CHECK_FALSE(finding->path_a.empty());
  // Behind ops it takes as long and nobody waits for it.
  CHECK(FindingOf(Analyze(Training(58'000), ""), Pattern::kCpuCollectives) == nullptr);
}

TEST_CASE("ops for each parameter are a finding, an update of all at once is none") {
  const Analyzed one = Analyze(Training(0), "");
  const Finding* finding = FindingOf(one, Pattern::kCpuOptimizer);
  REQUIRE(finding != nullptr);
  CHECK(finding->bound_ms == doctest::Approx(45));
  CHECK(finding->subject == "Adagrad");
  CHECK(FindingOf(Analyze(Training(0, "aten::_foreach_addcdiv_"), ""), Pattern::kCpuOptimizer) ==
        nullptr);
}

TEST_CASE("GPU activity is asked for only where something shows a GPU") {
  const Analyzed none = Analyze(Training(0), "");
  REQUIRE(none.Quality("no_gpu_work") != nullptr);
  CHECK(none.Quality("no_gpu_work")->record.empty());
  TraceText text = Training(0);
  text.Thread(100, 100).Runtime("cudaLaunchKernel", 1000, 5, 1);
  const Analyzed some = Analyze(text, "");
  REQUIRE(some.Quality("no_gpu_work") != nullptr);
  CHECK_FALSE(some.Quality("no_gpu_work")->record.empty());
}

TEST_CASE("names of collectives of the CPU") {
  CHECK(IsCpuCollective("gloo:all_reduce"));
  CHECK(IsCpuCollective("c10d::allreduce_"));
  CHECK_FALSE(IsCpuCollective("c10d::_get_device"));
  CHECK_FALSE(IsCpuCollective("aten::broadcast_tensors"));
}

}  // namespace
}  // namespace jarvis::findings
