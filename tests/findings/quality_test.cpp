// The one list of qualities: what is in it, in which order, with which time.
#include "findings/one/quality.h"

#include <functional>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/quality_absent.h"
#include "findings/one/quality_scope.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

// Two steps of 100 ms. The first holds a launch of 60 ms that loads its kernel.
TraceText FirstStepLoads() {
  TraceText text;
  int correlation = 0;
  for (int step = 0; step < 2; ++step) {
    const double at = step * 100'000.0;
    text.Annotation(fmt::format("ProfilerStep#{}", step + 3), at, 100'000);
    for (int i = 0; i < 10; ++i) {
      const double launch = step == 0 && i == 0 ? 60'000 : 5;
      const double begin = at + (i == 0 ? 0 : 60'000) + i * 1000;
      text.Op("aten::relu", begin + 10, launch + 10);
      text.Runtime("hipLaunchKernel", begin + 12, launch, ++correlation);
      text.Kernel("relu_kernel", begin + launch + 15, 800.25, correlation);
    }
  }
  return text;
}

TEST_CASE("first calls lead, with their time, their step and what they take later") {
  const Analyzed one = Analyze(FirstStepLoads());
  const Quality* q = one.Quality("first_calls");
  REQUIRE(q != nullptr);
  CHECK(q->ms == doctest::Approx(60));
  CHECK(q->base == "trace");  // the step that has them is set apart
  CHECK(q->percent == doctest::Approx(30).epsilon(0.01));
  CHECK(q->severity == Severity::kWarning);
  CHECK(q->text.find("60.0 ms in step 3") != std::string::npos);
  CHECK(q->text.find("relu_kernel") != std::string::npos);
  CHECK(q->consequence.find("hipLaunchKernel usually takes 5.00 µs") != std::string::npos);
  CHECK_FALSE(q->record.empty());
  CHECK(one.analysis.quality.front().code == "first_calls");
  const auto leading = LeadingQualities(one.analysis.quality);
  REQUIRE_FALSE(leading.empty());
  CHECK(leading[0]->code == "first_calls");
  CHECK(MsOf(*q) == "60.0 ms");
  CHECK(ShareOf(*q).find("% of the trace") != std::string::npos);
}

TEST_CASE("a little of it is not told") {
  TraceText text = FirstStepLoads();
  text.Annotation("ProfilerStep#5", 200'000, 100'000'000).Op("aten::relu", 300'000, 10);
  CHECK(Analyze(text).Quality("first_calls") == nullptr);
}

TEST_CASE("the GPU's wait for a first call saves nothing in another step") {
  TraceText text;
  for (int i = 0; i < 6; ++i) {
    const double launch = i == 5 ? 3000 : 5;
    text.Op("aten::relu", i * 1000, launch + 10);
    text.Runtime("cudaLaunchKernel", i * 1000 + 2, launch, i + 1);
    text.Kernel(i == 5 ? "new" : "k", i * 1000 + launch + 5, 950, i + 1);
  }
  const Analyzed one = Analyze(text);
  const findings::GapGroup* gap = one.Gap("first_calls");
  REQUIRE(gap != nullptr);
  CHECK(gap->total_us > 2900);
  CHECK(gap->saved_us == 0);
}

TEST_CASE("the GPU's wait for a host without a CPU can be saved, and is nobody's op") {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 280; ++i) {
    const double length = i % 23 == 11 ? 8000 : 14;
    text.Op(fmt::format("aten::op{}", i % 7), at, length);
    text.Runtime("cudaLaunchKernel", at + length - 6, 5, i + 1);
    text.Kernel("k", at + length + 1, 20.5, i + 1);
    at += length + 10;
  }
  const Analyzed one = Analyze(text);
  REQUIRE(one.Quality("descheduled_host") != nullptr);
  CHECK(one.Quality("descheduled_host")->count == 12);
  const findings::GapGroup* gap = one.Gap("descheduled");
  REQUIRE(gap != nullptr);
  CHECK(gap->count == 12);
  CHECK(gap->saved_us > 90'000);
}

TEST_CASE("late launches in a frame that is charged for its calls are the profiler's") {
  TraceText text;
  text.Python("a.py(1): usual", 0, 3000);
  for (int i = 0; i < 1000; ++i)
    text.Python("b.py(1): call", 1 + 2 * i, 1);
  text.Python("c.py(7): generated", 4000, 13'000);
  double at = 4001;
  for (int i = 0; i < 300; ++i) {
    text.Runtime("cudaLaunchKernel", at, 1, i + 1).Kernel("k", at + 3.5, 2, i + 1);
    at += 21 + 40.0 * (i < 150 ? i : 300 - i) / 150;
  }
  const Analyzed one = Analyze(text);
  const Quality* q = one.Quality("profiler_frames");
  REQUIRE(q != nullptr);
  CHECK(q->count == 299);
  CHECK(q->ms.value_or(0) > 10);
  CHECK(q->text.find("c.py(7): generated") != std::string::npos);
  const findings::GapGroup* gap = one.Gap("profiler_cost");
  REQUIRE(gap != nullptr);
  CHECK(gap->saved_us == 0);
  CHECK(one.Gap("host_bound") == nullptr);
  CHECK(one.Find("cpu_idle", "host_bound") == nullptr);
}

TEST_CASE("one rank of several is told with what it cannot tell; a world of one is not") {
  TraceText text;
  text.OpWithKernel("c10d::allreduce_", 0, 10, "ncclDevKernel_AllReduce", 20, 100.5, 1);
  const Quality* q = nullptr;
  const Analyzed one = Analyze(text);
  q = one.Quality("one_rank");
  REQUIRE(q != nullptr);
  CHECK(q->ms == doctest::Approx(0.1005));
  CHECK(q->consequence.find("other ranks") != std::string::npos);
  TraceText alone;
  alone.OpWithKernel("aten::relu", 0, 10, "k", 20, 100.5, 1);
  CHECK(Analyze(alone).Quality("one_rank") == nullptr);
}

TEST_CASE("calls that take many times the shortest wait for others; calls of one length do not") {
  Advice first = Advice::kNoneKnown;  // to do about it
  const auto told = [&](const auto& us_of) {
    TraceText text;
    double at = 0;
    for (int i = 0; i < 40; ++i) {
      const double us = us_of(i);
      text.OpWithKernel("exchange", at, 10, "deep_ep::internode_ll::combine<true>", at + 20, us,
                        i + 1);
      text.OpWithKernel("aten::mm", at + 11, 5, "gemm", at + 25 + us, 200, 100 + i);
      at += us + 300;
    }
    const Analyzed one = Analyze(text);
    const Quality* q = one.Quality("one_rank");
    REQUIRE(q != nullptr);
    const Finding* exchange = one.Find("multi_kernel", "communication");
    REQUIRE(exchange != nullptr);
    REQUIRE_FALSE(exchange->path_a.empty());
    first = exchange->path_a.front().advice;
    return q->consequence;
  };
  const std::string waits = told([](int i) { return i == 7 ? 90.5 : 500.5 + 20 * i; });
  // A tenth of the forty calls takes no longer; the one of 90 us says little.
  CHECK(waits.find("time above 560 µs is more data or waiting") != std::string::npos);
  CHECK(first == Advice::kBalanceExchange);
  const std::string alike = told([](int i) { return 100.5 + i % 3; });
  CHECK(alike.find("is probably") == std::string::npos);
  CHECK(first == Advice::kOverlapMicroBatches);
  const std::string twice = told([](int i) { return 100.5 + 100 * (i % 2); });
  CHECK(twice.find("is probably") == std::string::npos);
  // Two halves of one exchange are of two lengths, and no call of either waits.
  const std::string halves = told([](int i) { return i % 2 == 0 ? 10.5 : 400.5 + i % 3; });
  CHECK(halves.find("is probably") == std::string::npos);
  // One kernel that sends as much each time takes three times its shortest on the mean.
  const std::string mean = told([](int i) { return i == 7 ? 150.5 : 250.5 + 10 * i; });
  CHECK(mean.find("is more data or waiting") != std::string::npos);
}

TEST_CASE("each matter has one code, and hard ones come first") {
  TraceText text;
  text.Op("aten::mm", 0, 10).Runtime("cudaDeviceSynchronize", 20, 5, 1);
  const Analyzed one = Analyze(text, "");
  REQUIRE(one.Quality("no_gpu_work") != nullptr);
  CHECK(one.analysis.quality.front().code == "no_gpu_work");
  CHECK(one.analysis.quality.front().severity == Severity::kHard);
  std::set<std::string> codes;
  for (const Quality& quality : one.analysis.quality) {
    CHECK_MESSAGE(codes.insert(quality.code).second, quality.code);
    CHECK_FALSE(quality.text.empty());
  }
}

TEST_CASE("a trace without any host event has its list, too") {
  TraceText text;
  text.Kernel("k", 0, 5.5, 1).Kernel("k", 10, 5.5, 2);
  const Analyzed one = Analyze(text);
  CHECK(one.Quality("no_cpu_ops") != nullptr);
  CHECK(one.Quality("unlinked_gpu_work") != nullptr);
  CHECK(one.Quality("ops_counted_twice") == nullptr);
}

TEST_CASE("kernels that overlap are told of, those one after the other are not") {
  // The second is launched to begin within the first, on its stream.
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "a", 20, 100, 1);
  text.OpWithKernel("aten::add", 10, 10, "b", 70, 100, 2);
  const Analyzed overlapping = Analyze(text);
  REQUIRE(overlapping.Quality("overlapping_kernels") != nullptr);
  CHECK(*overlapping.Quality("overlapping_kernels")->value == doctest::Approx(100 * 200.0 / 150));
  TraceText apart;
  apart.OpWithKernel("aten::mm", 0, 10, "a", 20, 100, 1);
  apart.OpWithKernel("aten::add", 10, 10, "b", 121, 100, 2);
  CHECK(Analyze(apart).Quality("overlapping_kernels") == nullptr);
}

TEST_CASE("devices beside each other do not overlap, and each is told") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "k", 20, 50, 1).Runtime("cudaLaunchKernel", 12, 3, 2);
  text.Raw(R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":20,"dur":40,)"
           R"("args":{"stream":7,"correlation":2}})");
  const Analyzed one = Analyze(text);
  CHECK(one.Quality("overlapping_kernels") == nullptr);
  REQUIRE(one.Quality("multi_device") != nullptr);
  const std::string& told = one.Quality("multi_device")->text;
  CHECK(told.find("device 0 is busy for 0.05") != std::string::npos);
  CHECK(told.find("device 1 is busy for 0.04") != std::string::npos);
  CHECK(told.find("up to 200%") != std::string::npos);
}

TEST_CASE("work whose process nothing tells is counted, and not as launched before the trace") {
  TraceText text;
  for (int pid : {100, 101}) {
    text.Thread(pid, pid);
    for (int i = 0; i < 4; ++i)
      text.OpWithKernel("aten::mm", 100 * i, 10, "k", 100 * i + 50, 20, i + 1);
  }
  const Analyzed one = Analyze(text);
  REQUIRE(one.Quality("ambiguous_launches") != nullptr);
  CHECK(one.Quality("ambiguous_launches")->count == 8);
  CHECK(one.Quality("unlinked_gpu_work") == nullptr);
}

TEST_CASE("the list of the trace alone is in the list of its analysis") {
  const Analyzed one = Analyze(FirstStepLoads());
  const auto of_trace = QualityOf(*one.trace, Job());
  REQUIRE(of_trace.has_value());
  for (const Quality& quality : **of_trace) {
    const Quality* same = one.Quality(quality.code);
    REQUIRE(same != nullptr);
    CHECK(same->text == quality.text);
  }
}

// Passes of 10 ms, each with one launch and 9 ms of GPU work; `more` is run in the first.
TraceText Passes(int steps, const std::function<void(TraceText*)>& more = {}) {
  TraceText text;
  for (int i = 0; i < steps; ++i) {
    const double at = i * 10'000.0;
    text.Annotation(fmt::format("ProfilerStep#{}", i + 1), at, 10'000);
    text.Op("aten::relu", at + 10, 50);
    text.Runtime("cudaLaunchKernel", at + 20, 10, i + 1).Kernel("k", at + 40, 9000.25, i + 1);
  }
  if (more) more(&text);
  return text;
}

TEST_CASE("one step limits what is said of steps, and memory taken in it shows that it is cold") {
  const Analyzed warm = Analyze(Passes(1));
  REQUIRE(warm.Quality("one_pass") != nullptr);
  CHECK(warm.Quality("one_pass")->text == "One step is recorded (ProfilerStep#1).");
  const Analyzed cold =
      Analyze(Passes(1, [](TraceText* text) { text->Runtime("hipMalloc", 100, 900, 77); }));
  REQUIRE(cold.Quality("one_pass") != nullptr);
  CHECK(cold.Quality("one_pass")->text.find("1 x hipMalloc") != std::string::npos);
  CHECK(Analyze(Passes(3)).Quality("one_pass") == nullptr);
  // A call that takes next to nothing may come in any pass.
  const Analyzed little =
      Analyze(Passes(1, [](TraceText* text) { text->Runtime("hipMalloc", 100, 90, 77); }));
  REQUIRE(little.Quality("one_pass") != nullptr);
  CHECK(little.Quality("one_pass")->text == "One step is recorded (ProfilerStep#1).");
}

// Six steps behind the GPU work of an earlier one. The host waits in every second of them alone, so
// that its marks are 1 and 7 ms long; the GPU is 4 ms at each, or as uneven as the host.
Analyzed HostAhead(bool even) {
  TraceText text;
  text.Kernel("old", 500, 25'500, 900);
  double gpu = 26'000;
  for (int i = 0; i < 6; ++i) {
    const double begin = 8000.0 * (i / 2) + 1000.0 * (i % 2);
    text.Annotation(fmt::format("ProfilerStep#{}", i + 1), begin, i % 2 == 0 ? 1000 : 7000);
    const double length = even ? 4000.25 : i % 2 == 0 ? 2000.25 : 6000.25;
    text.OpWithKernel("aten::mm", begin + 400, 50, "gemm", gpu, length, i + 1);
    gpu += length;
  }
  return Analyze(text);
}

TEST_CASE("steps of a host that runs ahead are as long as the GPU is at them") {
  const Analyzed even = HostAhead(true);
  REQUIRE(even.analysis.frames->frames.runs_ahead);
  CHECK(even.Quality("runtime_instability") == nullptr);
  CHECK(HostAhead(false).Quality("runtime_instability") != nullptr);
}

TEST_CASE("missing stacks bear on a trace only where the GPU waits for what they would show") {
  const auto bears = [](const Analyzed& one) {
    for (const Quality* q : BearingQualities(one.analysis)) {
      if (q->code == "silent_host") return true;
    }
    return false;
  };
  // The GPU works again 4 ms later, and nothing tells what the host did.
  const Analyzed silent = Analyze(Passes(1, [](TraceText* text) {
    text->Op("aten::relu", 9700, 50).Runtime("cudaLaunchKernel", 9710, 10, 9);
    text->Kernel("k", 9730, 100.25, 9);
    text->Annotation("ProfilerStep#2", 10'000, 9000).Op("aten::relu", 14'000, 50);
    text->Runtime("cudaLaunchKernel", 14'010, 10, 10).Kernel("k", 14'030, 4000.25, 10);
  }));
  CHECK(bears(silent));
  CHECK(silent.Quality("silent_host")->value.value_or(0) > 10);
  const Analyzed busy = Analyze(Passes(1));
  CHECK(busy.Quality("no_stacks") != nullptr);
  CHECK_FALSE(bears(busy));
}

TEST_CASE("a server's single step tells no period, several do") {
  const auto server = [](int steps) {
    return Passes(steps, [](TraceText* text) {
      text->Annotation("execute_context_0(0)_generation_4(4)", 5, 9000);
      text->Python("vllm/v1/worker/gpu_worker.py(9): execute_model", 5, 9000);
    });
  };
  const Analyzed one = Analyze(server(1));
  REQUIRE(one.Quality("engine_step") != nullptr);
  CHECK(one.Quality("engine_step")->text.find("without sampling") != std::string::npos);
  CHECK(one.Quality("one_pass") == nullptr);
  CHECK(Analyze(server(3)).Quality("engine_step") == nullptr);
}

// A copy of so many bytes, asked for at `at`.
void Copy(TraceText* text, std::string_view name, double at, int bytes, int correlation) {
  text->Runtime("cudaMemcpyAsync", at, 3, correlation);
  text->Raw(fmt::format(R"({{"ph":"X","cat":"gpu_memcpy","name":"{}","pid":0,"tid":7,"ts":{},)"
                        R"("dur":1,"args":{{"correlation":{},"stream":7,"bytes":{}}}}})",
                        name, at + 9200, correlation, bytes));
}

TEST_CASE("what of the workload is not recorded is told, and what is there is not") {
  const auto absent = [](const Analyzed& one) {
    const Quality* q = one.Quality(kNotRecorded);
    return q == nullptr ? std::string() : q->text;
  };
  CHECK(absent(Analyze(Passes(1))) ==
        "Not recorded: input preparation and the read-back of results (no copies between "
        "host and device). Only one step is recorded.");
  const auto copies = [](int back) {
    return [back](TraceText* text) {
      Copy(text, "Memcpy HtoD (Pageable -> Device)", 80, 4096, 70);
      Copy(text, "Memcpy DtoH (Device -> Pageable)", 90, back, 71);
    };
  };
  CHECK(absent(Analyze(Passes(3, copies(4000)))).empty());
  // A flag that the program asks for is no result.
  CHECK(absent(Analyze(Passes(3, copies(1)))) ==
        "Not recorded: the read-back of results (only scalars are copied to the host).");
  const Analyzed backward = Analyze(Passes(3, [&](TraceText* text) {
    copies(4000)(text);
    text->Op("autograd::engine::evaluate_function: ReluBackward0", 8000, 40);
  }));
  CHECK(absent(backward).find("an optimizer (gradients are computed") != std::string::npos);
  CHECK(backward.Quality(kNotRecorded)->record == "a step with its optimizer");
}

TEST_CASE("where the GPU hardly works its rates and stacks limit nothing that is said") {
  const auto bears = [](const Analyzed& one, std::string_view code) {
    for (const Quality* q : BearingQualities(one.analysis)) {
      if (q->code == code) return true;
    }
    return false;
  };
  TraceText idle;
  idle.Annotation("ProfilerStep#1", 0, 10'000);
  idle.OpWithKernel("aten::relu", 10, 50, "k", 70, 300.25, 1);
  idle.OpWithKernel("aten::relu", 9000, 50, "k", 9060, 300.25, 2);
  CHECK_FALSE(bears(Analyze(idle, ""), "no_platform"));
  CHECK(bears(Analyze(Passes(1), ""), "no_platform"));
}

TEST_CASE("ops that hold their Python frames as text have a place in the code") {
  const auto traced = [](std::string_view args) {
    TraceText text;
    for (int i = 0; i < 20; ++i) {
      const double at = 100.0 * i;
      text.Op("aten::linear", at, 20, args).Op("aten::mm", at + 1, 18, args);
      text.Runtime("cudaLaunchKernel", at + 2, 4, i + 1).Kernel("k", at + 30, 60, i + 1, 7);
    }
    return Analyze(text);
  };
  const Analyzed told =
      traced(R"("Call stack": "/lib/python3.7/site-packages/torch/nn/functional.py(12): linear;)"
             R"(train.py(40): forward;train.py(7): <module>")");
  CHECK(told.Quality("no_stacks") == nullptr);
  CHECK(told.First("gemm").entry_point == "train.py(40): forward");
  const Analyzed silent = traced(R"("Sequence number": 3)");
  CHECK(silent.Quality("no_stacks") != nullptr);
  CHECK(silent.First("gemm").entry_point.empty());
}

TEST_CASE("launches of a thread that has no kernel at all are of a GPU that was not recorded") {
  TraceText text;
  for (int i = 0; i < 30; ++i) {
    for (const int thread : {100, 200}) {
      text.Thread(100, thread).Op("aten::mm", 100 * i, 50);
      text.Runtime("cudaLaunchKernel", 100 * i + 5, 5, 1000 * thread + i);
    }
    text.Kernel("gemm", 100 * i + 20, 60, 100'000 + i);
  }
  const Analyzed one = Analyze(text);
  const findings::Quality* missing = one.Quality("missing_kernels");
  REQUIRE(missing != nullptr);
  CHECK(missing->count == 30);
  CHECK(missing->text.find("all 30 launches of 1 of its threads: probably on another GPU") !=
        std::string::npos);
  CHECK(one.Quality("cut_off") == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
