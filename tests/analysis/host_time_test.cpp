#include "analysis/host/host_time.h"

#include <string>

#include <doctest/doctest.h>

#include "analysis/host/host_summary.h"
#include "analysis/host/host_tables.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

HostSummary HostOf(const TraceText& text, std::vector<Interval<std::int64_t>> steps_us = {}) {
  const Loaded loaded = Load(text);
  for (Interval<std::int64_t>& step : steps_us)
    step = {step.start * 1000, step.end * 1000};
  const HostInput input{loaded.events(), loaded.tree, loaded.trace.track_names,
                        std::move(steps_us)};
  auto summary = SummariseHost(input, Job());
  REQUIRE(summary.has_value());
  return std::move(*summary);
}

const HostTimeRow& RowOf(const HostSummary& summary, HostRowKind kind, std::string_view name) {
  for (const HostTimeRow& row : summary.time.rows) {
    if (row.kind == kind && row.name == name) return row;
  }
  FAIL("no row ", name);
  return summary.time.rows.front();
}

const WorkingThread& ThreadOf(const HostSummary& summary, std::string_view tid) {
  for (const WorkingThread& thread : summary.threads.threads) {
    if (thread.tid == tid) return thread;
  }
  FAIL("no thread ", tid);
  return summary.threads.threads.front();
}

double PartMs(const HostSummary& summary, std::size_t step, StepPart part) {
  return static_cast<double>(summary.threads.steps[step].ns[static_cast<std::size_t>(part)]) / 1e6;
}

TEST_CASE("self time is what lies inside no child") {
  // forward        0 --------------------------- 100
  //   aten::linear    10 ------------- 60
  //     aten::addmm      20 ------ 50
  //       cudaLaunchKernel  30-35
  TraceText t;
  t.Python("model.py(5): forward", 0, 100).Op("aten::linear", 10, 50).Op("aten::addmm", 20, 30);
  t.Runtime("cudaLaunchKernel", 30, 5, 1).Kernel("gemm", 200, 10, 1);
  const HostSummary host = HostOf(t);
  const HostTimeRow& frame = RowOf(host, HostRowKind::kFrame, "model.py(5): forward");
  CHECK(frame.self_ns == 50'000);
  CHECK(frame.total_ns == 100'000);
  CHECK(frame.code.empty());  // it is its own line
  CHECK(RowOf(host, HostRowKind::kOp, "aten::linear").self_ns == 20'000);
  const HostTimeRow& addmm = RowOf(host, HostRowKind::kOp, "aten::addmm");
  CHECK(addmm.self_ns == 25'000);
  CHECK(addmm.code == "model.py(5): forward");
  CHECK(RowOf(host, HostRowKind::kCall, "cudaLaunchKernel").self_ns == 5'000);
  std::int64_t all = 0;
  for (const HostTimeRow& row : host.time.rows)
    all += row.self_ns;
  CHECK(all == 100'000);  // each moment once
}

TEST_CASE("what nests in its own name counts once; addresses of objects do not part it") {
  TraceText t;
  t.Op("aten::to", 0, 100).Op("aten::to", 0, 100).Op("aten::to", 10, 50);
  t.Op("aten::to", 200, 40);
  t.Python("<built-in method f of Tensor object at 0x7f01>", 300, 10)
      .Python("<built-in method f of Tensor object at 0x7f02>", 320, 20);
  const HostSummary host = HostOf(t);
  const HostTimeRow& op = RowOf(host, HostRowKind::kOp, "aten::to");
  CHECK(op.count == 2);
  CHECK(op.self_ns == 140'000);
  CHECK(op.total_ns == 140'000);
  const HostTimeRow& method =
      RowOf(host, HostRowKind::kFrame, "<built-in method f of Tensor object>");
  CHECK(method.count == 2);
  CHECK(method.median_self_ns == 20'000);  // upper middle
}

TEST_CASE("only the time from the first step to the last one counts") {
  TraceText t;
  t.Op("aten::a", 0, 100).Op("aten::a", 150, 100).Op("aten::a", 400, 50);
  const HostSummary host = HostOf(t, {{100, 200}, {200, 300}});
  CHECK(host.time.base.start == 100'000);
  CHECK(host.time.base.end == 300'000);
  const HostTimeRow& op = RowOf(host, HostRowKind::kOp, "aten::a");
  CHECK(op.self_ns == 100'000);
  CHECK(PartMs(host, 0, StepPart::kMain) == doctest::Approx(0.050));
  CHECK(PartMs(host, 1, StepPart::kMain) == doctest::Approx(0.050));
}

TEST_CASE("a wait for the GPU is no work, nor is a frame that only waits") {
  TraceText t;
  t.Op("aten::mm", 0, 20).Runtime("cudaLaunchKernel", 5, 5, 1).Kernel("gemm", 20, 400, 1);
  t.Python("queue.py(171): get", 30, 60);
  t.Runtime("cudaDeviceSynchronize", 100, 330, 2);
  const HostSummary host = HostOf(t);
  CHECK(RowOf(host, HostRowKind::kCall, "cudaDeviceSynchronize").waits);
  CHECK(RowOf(host, HostRowKind::kFrame, "queue.py(171): get").waits);
  CHECK_FALSE(RowOf(host, HostRowKind::kCall, "cudaLaunchKernel").waits);
  const WorkingThread& thread = host.threads.threads.front();
  CHECK(thread.WorkNs() == 20'000);
  CHECK(thread.ns[static_cast<std::size_t>(HostState::kGpuWait)] == 330'000);
  CHECK(thread.ns[static_cast<std::size_t>(HostState::kPause)] == 60'000);
  CHECK(PartMs(host, 0, StepPart::kGpuWait) == doctest::Approx(0.330));
  CHECK(host.threads.steps[0].critical == StepPart::kGpuWait);
}

// main: forward 0-100, run_backward 100-400; autograd 120-380; a monitor over everything; a loader.
TraceText TrainingThreads() {
  TraceText t;
  t.Thread(1, 1).Op("aten::mm", 0, 100).Runtime("cudaLaunchKernel", 10, 5, 1);
  t.Python("<built-in method run_backward of torch._C._EngineBase object at 0x1>", 100, 300);
  t.Thread(1, 2)
      .Op("autograd::engine::evaluate_function: MmBackward0", 120, 260)
      .Op("aten::mm", 130, 240)
      .Runtime("cudaLaunchKernel", 140, 5, 2);
  t.Thread(1, 3)
      .Python("threading.py(655): wait", 0, 400)
      .Python("threading.py(359): wait", 0, 400);
  t.Thread(1, 4).Python("torch/utils/data/_utils/worker.py(1): _worker_loop", 0, 90);
  t.Kernel("gemm", 200, 10, 1).Kernel("gemm", 220, 10, 2);
  return t;
}

TEST_CASE("roles of threads, and whose a moment is") {
  const HostSummary host = HostOf(TrainingThreads());
  CHECK(ThreadOf(host, "1").role == ThreadRole::kMain);
  CHECK(ThreadOf(host, "2").role == ThreadRole::kAutograd);
  CHECK(ThreadOf(host, "3").role == ThreadRole::kMonitor);
  CHECK(ThreadOf(host, "4").role == ThreadRole::kLoader);
  REQUIRE(host.threads.steps.size() == 1);
  CHECK(PartMs(host, 0, StepPart::kMain) == doctest::Approx(0.100));
  CHECK(PartMs(host, 0, StepPart::kAutograd) == doctest::Approx(0.260));
  CHECK(PartMs(host, 0, StepPart::kNothing) == doctest::Approx(0.040));
  CHECK(host.threads.steps[0].critical == StepPart::kAutograd);
  for (const HostTimeRow& row : host.time.rows)
    CHECK(row.name.find("threading") == std::string::npos);
}

TEST_CASE("parts of steps add up to them, whatever overlaps") {
  TraceText t = TrainingThreads();
  t.Thread(1, 1).Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 400,
                            100);
  t.Op("aten::stack", 420, 30);
  const HostSummary host = HostOf(t, {{-50, 90}, {60, 450}, {450, 700}});
  REQUIRE(host.threads.steps.size() == 3);
  for (const StepThreads& step : host.threads.steps) {
    std::int64_t sum = 0;
    for (const std::int64_t ns : step.ns) {
      CHECK(ns >= 0);
      sum += ns;
    }
    CHECK(sum == step.window.end - step.window.start);
  }
  CHECK(host.threads.steps[1].window.start == 90'000);  // no moment is in two steps
  CHECK(PartMs(host, 1, StepPart::kLoader) == doctest::Approx(0.050));
  CHECK(PartMs(host, 2, StepPart::kLoader) == doctest::Approx(0.050));
}

TEST_CASE("a wait for what no step asked for is a part of its own; odd steps are told apart") {
  TraceText t;
  t.Op("aten::mm", 0, 20).Runtime("cudaLaunchKernel", 5, 5, 1).Kernel("gemm", 30, 10, 1);
  t.Runtime("cudaDeviceSynchronize", 100, 400, 2).Kernel("earlier", 90, 405, 99);
  t.Runtime("hipMemcpyWithStream", 600, 3000, 3).Memcpy("Memcpy DtoH", 3590, 5, 3);
  const Loaded loaded = Load(t);
  HostInput input{loaded.events(), loaded.tree, loaded.trace.track_names, {}};
  input.steps = {{0, 550'000}, {550'000, 3'600'000}};
  input.odd = {true, false};
  const auto host = SummariseHost(input, Job());
  REQUIRE(host.has_value());
  CHECK(PartMs(*host, 0, StepPart::kForeignWait) == doctest::Approx(0.400));
  CHECK(PartMs(*host, 0, StepPart::kGpuWait) == 0);
  CHECK(PartMs(*host, 1, StepPart::kForeignWait) == doctest::Approx(3.0));
  CHECK(host->threads.steps[0].odd);
  CHECK_FALSE(host->threads.steps[1].odd);
  REQUIRE(SteadySteps(*host).size() == 1);
  const Table parts = StepPartsTable(*host);
  CHECK(std::get<std::string>(parts.rows[0][0]) == "waiting for work outside the recording");
  CHECK(std::get<double>(parts.rows[0][1]) == doctest::Approx(3.0));
}

TEST_CASE("nodes of autograd as old producers name them") {
  CHECK(IsAutogradNode("torch::autograd::AccumulateGrad"));
  CHECK(IsAutogradNode("CudnnConvolutionBackward"));
  CHECK(IsAutogradNode("MulBackward0"));
  CHECK_FALSE(IsAutogradNode("aten::convolution_backward"));
  CHECK_FALSE(IsAutogradNode("Backward::helper"));
}

TEST_CASE("lines of the user's code") {
  CHECK(IsUserFrame("train.py(12): step"));
  CHECK(IsUserFrame("transformers/image_transforms.py(390): normalize"));
  CHECK(IsUserFrame("/usr/lib/python3.10/site-packages/scipy/a.py(1): zoom"));
  CHECK_FALSE(IsUserFrame("/usr/lib/python3.10/threading.py(1): run"));
  CHECK_FALSE(IsUserFrame("torch/nn/functional.py(1): linear"));
  CHECK_FALSE(IsUserFrame("threading.py(1): run"));
  CHECK_FALSE(IsUserFrame("<built-in function linear>"));
  CHECK_FALSE(IsUserFrame("nn.Module: Linear_3"));
  CHECK(IsWaitingFrame("threading.py(359): wait"));
  CHECK(IsWaitingFrame("<built-in method acquire of _thread.lock object at 0x1>"));
  CHECK_FALSE(IsWaitingFrame("model.py(3): wait_and_compute"));
}

TEST_CASE("nothing to say: no host events, no launches, a thousand threads") {
  const HostSummary gpu_only = HostOf(TraceText().Kernel("k", 0, 10, 1));
  CHECK_FALSE(gpu_only.has_host_events);
  CHECK(gpu_only.time.rows.empty());
  CHECK(gpu_only.threads.steps.empty());

  const HostSummary cpu_only = HostOf(TraceText().Op("aten::mm", 0, 50));
  CHECK_FALSE(cpu_only.has_gpu_work);
  CHECK(cpu_only.threads.threads.front().role == ThreadRole::kMain);
  CHECK(cpu_only.launching.launches == 0);
  CHECK_FALSE(cpu_only.launching.idle_percent.has_value());

  TraceText many;
  for (int i = 0; i < 1000; ++i)
    many.Thread(1, 1 + i).Op("aten::mm", i, 10).Runtime("cudaLaunchKernel", i + 1, 2, i + 1);
  for (int i = 0; i < 1000; ++i)
    many.Kernel("gemm", 2000 + 10 * i, 5, i + 1, 7 + i);
  const HostSummary threads = HostOf(many);
  CHECK(threads.threads.threads.size() == 1000);
  CHECK(threads.launching.launches == 1000);
  CHECK(threads.by_thread.size() == kLaunchTracksMax);
  CHECK(RowOf(threads, HostRowKind::kOp, "aten::mm").self_ns == 8'000'000);
}

}  // namespace
}  // namespace jarvis::analysis
