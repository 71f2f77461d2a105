#include "analysis/frames/time_frames.h"

#include <string>

#include <doctest/doctest.h>

#include "analysis/frames/frame_tables.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

TimeFrames FramesIn(const TraceText& text) {
  const Loaded loaded = Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  const FrameFacts facts = CollectFrameFacts({loaded.events(), loaded.tree, attribution});
  TimeFrames frames = MakeTimeFrames(facts);
  const Balance& all = frames.whole;
  CHECK(all.host_before_ns + all.busy_ns() + all.idle_ns() + all.unrecorded_ns + all.foreign_ns +
            all.ahead_ns + all.beside_ns + all.after_ns ==
        all.total_ns);
  return frames;
}

std::int64_t Us(std::int64_t ns) {
  CHECK(ns % 1000 == 0);
  return ns / 1000;
}

// Spans of microseconds: "[10, 20)".
std::string Text(TimeSpan span) {
  return "[" + std::to_string(Us(span.start)) + ", " + std::to_string(Us(span.end)) + ")";
}

// Two steps whose GPU work waits for an earlier step's.
TraceText Behind() {
  TraceText t;
  t.Kernel("old", 0, 30000, 900);
  t.Annotation("ProfilerStep#7", 0, 10000);
  t.OpWithKernel("aten::mm", 100, 50, "gemm", 30000, 9000, 1);
  t.Annotation("ProfilerStep#8", 10000, 10000);
  t.OpWithKernel("aten::mm", 10100, 50, "gemm", 39000, 9400, 2);
  return t.Runtime("cudaDeviceSynchronize", 20100, 28300, 3);
}

TEST_CASE("the GPU work of a step is what it launched, however late it runs") {
  const TimeFrames frames = FramesIn(Behind());
  CHECK(frames.base.source == StepSource::kMarks);
  REQUIRE(frames.steps.size() == 2);
  CHECK(frames.steps[0].number == 7);
  CHECK(Text(frames.steps[0].host) == "[0, 10000)");
  REQUIRE(frames.steps[0].gpu.has_value());
  CHECK(Text(*frames.steps[0].gpu) == "[30000, 39000)");
  CHECK(Text(*frames.steps[1].gpu) == "[39000, 48400)");
  CHECK(Us(*frames.steps[0].lag_begin_ns) == 30000);
  CHECK(Us(*frames.steps[0].lag_end_ns) == 29000);
  CHECK(Us(*frames.steps[1].lag_end_ns) == 28400);
  CHECK(frames.steady_steps == 2);
}

TEST_CASE(
    "work without a recorded launch at the start is an earlier step's, and its time is not ours") {
  const TimeFrames frames = FramesIn(Behind());
  CHECK(frames.foreign.size() == 1);
  CHECK(Us(frames.whole.foreign_ns) == 30000);
  CHECK(Us(frames.whole.busy_ns()) == 18400);
  CHECK(Us(frames.window_ns) == 18400);
  CHECK(frames.base.by_completion);  // a step is from one completion to the next
  CHECK(Us(frames.step_ns) == 9200);
}

TEST_CASE("a step whose window holds another's work has no idle for it") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 1000).OpWithKernel("aten::a", 0, 50, "a", 100, 400, 1);
  t.Op("aten::b", 60, 50).Runtime("cudaLaunchKernel", 65, 5, 2).Kernel("b", 3000, 500, 2);
  t.Annotation("ProfilerStep#2", 1000, 1000).OpWithKernel("aten::a", 1000, 50, "a", 1500, 1000, 3);
  const TimeFrames frames = FramesIn(t);
  REQUIRE(frames.steps.size() == 2);
  CHECK(Us(*frames.steps[0].window_ns()) == 3400);
  CHECK(Us(frames.steps[0].others_ns) == 1000);
  CHECK(Us(*frames.steps[0].idle_ns()) == 1500);
}

TEST_CASE("a host that waits for foreign work has lost that time to others") {
  TraceText t;
  t.Kernel("old", 100, 5000, 900).Kernel("old", 5200, 8800, 901);
  t.Annotation("ProfilerStep#1", 0, 30000);
  t.Runtime("cudaDeviceSynchronize", 200, 13900, 5);
  t.OpWithKernel("aten::mm", 15000, 50, "gemm", 15100, 14000, 1);
  const TimeFrames frames = FramesIn(t);
  CHECK(Us(frames.host_waits_foreign_ns) == 13800);
  // The space between the two is the earlier step's as well: the host stands in it. Before that it
  // went on undisturbed.
  CHECK(Us(frames.whole.foreign_ns) == 13800);
  CHECK(Us(frames.whole.beside_ns) == 100);
  CHECK_FALSE(frames.runs_ahead);
  CHECK(Us(frames.whole.host_before_ns) == 1200);
  CHECK(Us(frames.step_ns) == 30000 - 14100);  // from the end of that wait
  CHECK(Us(frames.window_ns) == 14000);
  CHECK(frames.unrecorded.empty());
}

TEST_CASE("only a host in a waiting call waits for work that is not recorded") {
  const auto launched_at_once = [](bool waits) {
    TraceText t;
    t.Op("aten::mm", 0, 50).Runtime("cudaLaunchKernel", 10, 5, 1).Kernel("gemm", 8000, 1000, 1);
    t.Op("aten::add", 60, 7000);
    if (waits) t.Runtime("cudaStreamSynchronize", 7100, 1900, 2);
    return t;
  };
  const TimeFrames ahead = FramesIn(launched_at_once(false));
  CHECK(Us(Length(ahead.unrecorded)) > 7900);
  CHECK(ahead.host_waits_unrecorded_ns == 0);
  CHECK(Us(FramesIn(launched_at_once(true)).host_waits_unrecorded_ns) == 900);
}

TEST_CASE(
    "a device that still works for an earlier step while the host prepares takes nothing away") {
  TraceText t;
  t.Kernel("old", 0, 8000, 900);
  t.Annotation("ProfilerStep#1", 0, 30000);
  t.Op("aten::stack", 10, 9000);
  t.OpWithKernel("aten::mm", 10000, 50, "gemm", 10100, 5000, 1);
  const TimeFrames frames = FramesIn(t);
  CHECK(Us(frames.step_ns) == 30000);
  CHECK(Us(frames.whole.foreign_ns) == 0);
  CHECK(Us(frames.whole.beside_ns) == 8000);
  CHECK(Us(frames.whole.host_before_ns) == 2100);
}

// Three steps of which the host makes each in 1 ms; the GPU is at an earlier step's work until 6
// ms.
TraceText StepsInARow(double kernel_us) {
  TraceText t;
  t.Kernel("old", 500, 5500, 900);
  for (int i = 0; i < 3; ++i) {
    const double at = 1000.0 * i;
    t.Annotation("ProfilerStep#" + std::to_string(i + 1), at, 1000);
    t.OpWithKernel("aten::mm", at + 400, 50, "gemm", 6000 + 4000.0 * i, kernel_us, i + 1);
  }
  return t;
}

TEST_CASE("where the host runs ahead, a step lasts from one end of its GPU work to the next") {
  const TimeFrames frames = FramesIn(StepsInARow(4000));
  CHECK(frames.runs_ahead);
  CHECK(Us(frames.step_ns) == 4000);
  CHECK(Us(frames.whole.host_before_ns) == 0);
  CHECK(Us(frames.whole.foreign_ns) == 5500);
  CHECK(Us(frames.whole.ahead_ns) == 500);
  CHECK(Us(frames.host_working_ns) == 3000);
}

TEST_CASE("a mark around no op and no call is no step, unless all are") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 9000).OpWithKernel("aten::mm", 100, 50, "gemm", 200, 2000, 1);
  t.Annotation("ProfilerStep#2", 9000, 50);
  const TimeFrames one = FramesIn(t);
  REQUIRE(one.steps.size() == 1);
  CHECK(one.steps.front().number == 1);
  CHECK(Us(one.step_ns) == 9000);
  // One op is enough.
  t.Op("aten::empty", 9010, 5);
  CHECK(FramesIn(t).steps.size() == 2);
}

TEST_CASE("a GPU that waits between the steps has nobody run ahead of it") {
  TraceText t;
  t.Kernel("old", 500, 5500, 900);
  const double starts[] = {0, 7000, 11000};
  const double kernels[] = {6000, 8000, 12000};
  for (int i = 0; i < 3; ++i) {
    t.Annotation("ProfilerStep#" + std::to_string(i + 1), starts[i], i == 0 ? 7000 : 4000);
    t.OpWithKernel("aten::mm", starts[i] + 400, 50, "gemm", kernels[i], 2000, i + 1);
  }
  const TimeFrames frames = FramesIn(t);
  CHECK_FALSE(frames.runs_ahead);
  // The earlier step holds the first one up from its launch on; the host's time before is its own.
  CHECK(frames.whole.own_ns() >= (15000 - 6000 + 400) * 1000);
  CHECK(frames.whole.own_ns() < 15000 * 1000);
}

TEST_CASE("a copy that waits while nothing recorded runs waits for what was not recorded") {
  TraceText t;
  t.Annotation("serve 1", 0, 60000);
  t.Runtime("hipLaunchKernel", 100, 10, 1).Kernel("fill", 50100, 100, 1, 3);
  t.Op("aten::copy_", 190, 49820).Runtime("hipMemcpyWithStream", 200, 49800, 2);
  t.Memcpy("Memcpy DtoH (Device -> Host)", 49990, 5, 2);
  t.OpWithKernel("aten::mm", 50300, 50, "gemm", 50400, 9000, 4);
  const TimeFrames frames = FramesIn(t);
  CHECK(frames.base.unit == TimeUnit::kRecording);
  CHECK(frames.base.head.held_up);
  REQUIRE(frames.unrecorded.size() == 1);
  CHECK(Text(frames.unrecorded[0]) == "[220, 49990)");
  CHECK(Us(frames.whole.unrecorded_ns) == 49770);
  // Nothing but a stray ran before, so the window begins where it ends.
  CHECK(Us(frames.window->start) == 49990);
  // All until then is lost: the GPU is busy from there on, and the host ahead of it.
  CHECK(frames.runs_ahead);
  CHECK(Us(frames.step_ns) == 60000 - 50100);
}

TEST_CASE("a copy to the device may start late because the host brings the data along") {
  TraceText t;
  t.Annotation("serve 1", 0, 60000);
  t.Op("aten::copy_", 190, 49820).Runtime("hipMemcpyWithStream", 200, 49800, 2);
  t.Memcpy("Memcpy HtoD (Host -> Device)", 49990, 5, 2);
  t.OpWithKernel("aten::mm", 50300, 50, "gemm", 50400, 9000, 4);
  const TimeFrames frames = FramesIn(t);
  CHECK(frames.unrecorded.empty());
  CHECK_FALSE(frames.base.head.held_up);
}

// Marked steps of 10 ms whose kernel begins 6 ms after its mark.
TraceText LateKernels(int steps, double kernel) {
  TraceText t;
  for (int i = 0; i < steps; ++i) {
    t.Annotation("ProfilerStep#" + std::to_string(i + 1), 10000 * i, 10000);
    t.OpWithKernel("aten::mm", 10000 * i + 5900, 50, "gemm", 10000 * i + 6000, kernel, i + 1);
  }
  return t;
}

TEST_CASE("a base between marks holds whole periods: no work of a step is in it twice") {
  const TimeFrames carried = FramesIn(LateKernels(5, 6000));
  CHECK(carried.base.count == 4);
  CHECK(Us(carried.base.unit_ns()) == 10000);
  CHECK(Us(carried.steady.busy_ns()) == 4 * 6000);
  // A GPU that is done within each step carries nothing over.
  const TimeFrames within = FramesIn(LateKernels(5, 3000));
  CHECK(within.base.count == 5);
  CHECK(Us(within.base.unit_ns()) == 10000);
  // Of few steps the first is not given up.
  const TimeFrames few = FramesIn(LateKernels(3, 6000));
  CHECK(few.base.regimes.kept.front() == 0);
  CHECK(Us(few.base.unit_ns()) == 10000);
}

// Three steps of 30 ms whose host first waits for data; the GPU is at work of before for `old` us,
// and 8 ms behind at the end of each.
TraceText BehindOld(double old) {
  TraceText t;
  t.Kernel("old", 1, old, 900);
  double at = 0;
  for (int i = 0; i < 3; ++i, at += 30'000) {
    t.Annotation("ProfilerStep#" + std::to_string(i + 1), at, 30'000);
    t.Op("enumerate(DataLoader)", at + 1, 20'000);
    t.OpWithKernel("aten::mm", at + 20'100, 50, "gemm", at + 30'500, 7'500, i + 1);
  }
  return t;
}

TEST_CASE(
    "steps in which the GPU works for steps of before are left out, others are as long as ever") {
  const TimeFrames behind = FramesIn(BehindOld(29'000));
  CHECK(behind.base.regimes.kept == std::vector<std::size_t>{1, 2});
  CHECK(Us(behind.base.unit_ns()) == 30'000);
  // A short rest of before takes no step away.
  const TimeFrames rest = FramesIn(BehindOld(2'000));
  CHECK(rest.base.regimes.kept.front() == 0);
}

TEST_CASE("the profiler's own wait at the end is no part of a recording") {
  const auto recorded = [](double wait, double length) {
    TraceText t;
    t.OpWithKernel("aten::mm", 0, 50, "gemm", 100, 900, 1);
    return t.Runtime("cudaDeviceSynchronize", wait, length, 2);
  };
  CHECK(Us(FramesIn(recorded(5000, 10)).base.base.back().end) == 1000);
  // A wait for work is the program's, and so is one that something follows.
  TraceText waits;
  waits.OpWithKernel("aten::mm", 0, 50, "gemm", 100, 6000, 1);
  waits.Runtime("cudaDeviceSynchronize", 5000, 1200, 2);
  CHECK(Us(FramesIn(waits).base.base.back().end) == 6200);
  TraceText goes_on = recorded(5000, 10);
  goes_on.Op("aten::empty", 5020, 10);
  CHECK(Us(FramesIn(goes_on).base.base.back().end) == 5030);
}

TEST_CASE("work that was queued long before it starts on an idle GPU shows a busy one") {
  const auto queued = [](double start) {
    TraceText t;
    t.Annotation("serve 1", 0, 2400);
    t.Op("aten::copy_", 490, 20).Runtime("hipMemcpyAsync", 500, 5, 1);
    t.Memcpy("Memcpy HtoD (Host -> Device)", start, 5, 1);
    return t.OpWithKernel("aten::mm", 600, 50, "gemm", start + 10, 9000, 4);
  };
  const TimeFrames late = FramesIn(queued(8370));
  REQUIRE(late.unrecorded.size() == 1);
  CHECK(Text(late.unrecorded[0]) == "[525, 8370)");
  CHECK(Us(late.whole.host_before_ns) == 0);
  CHECK(Us(late.whole.ahead_ns) == 525);
  // A quarter of a millisecond is within what a start may take.
  CHECK(FramesIn(queued(700)).unrecorded.empty());
}

TEST_CASE("a start that waits for the code of its kernel to be loaded shows no busy GPU") {
  const auto loads = [](double launch_us, const char* kernel) {
    TraceText t;
    t.Annotation("serve 1", 0, 20'000);
    t.OpWithKernel("aten::mm", 0, 50, "gemm", 100, 400, 1);
    t.Op("aten::tril", 600, launch_us + 20).Runtime("cudaLaunchKernel", 610, launch_us, 2);
    return t.Kernel(kernel, 610 + launch_us + 2400, 400, 2);
  };
  CHECK(FramesIn(loads(5000, "tril")).unrecorded.empty());
  // A kernel that ran before is loaded, and a short launch loads nothing.
  CHECK(FramesIn(loads(5000, "gemm")).unrecorded.size() == 1);
  CHECK(FramesIn(loads(10, "tril")).unrecorded.size() == 1);
}

TEST_CASE("amid the work, only a start that is very late shows a busy GPU") {
  const auto later = [](double start) {
    TraceText t;
    t.Annotation("serve 1", 0, 5000);
    t.OpWithKernel("aten::mm", 0, 50, "gemm", 100, 400, 1);
    return t.OpWithKernel("aten::mm", 200, 50, "gemm", start, 400, 2);
  };
  CHECK(FramesIn(later(1200)).unrecorded.empty());
  CHECK(FramesIn(later(2000)).unrecorded.size() == 1);
}

TEST_CASE("a step that loads code is set apart, and the others are steady") {
  TraceText t;
  const double starts[] = {0, 100000, 103000, 106000};
  int id = 0;
  for (const double start : starts) {
    t.Module("Net_0", start, 1500);
    const bool first = id == 0;
    t.Op("aten::mm", start + 100, first ? 90000 : 100)
        .Runtime("hipLaunchKernel", start + 110, first ? 89000 : 20, ++id);
    t.Kernel("gemm", start + (first ? 89200 : 200), 300, id);
    t.Op("aten::add_", start + 2500, 400);
  }
  const TimeFrames frames = FramesIn(t);
  CHECK(frames.base.source == StepSource::kModule);
  CHECK(frames.base.name == "nn.Module: Net_0");
  REQUIRE(frames.steps.size() == 4);
  CHECK(Text(frames.steps[0].host) == "[0, 100000)");
  CHECK_FALSE(frames.steps[0].steady);
  CHECK(frames.steps[0].odd_because == "one-time initialization");
  CHECK(Us(frames.steps[0].first_call_ns) == 89000);
  CHECK(frames.steps[1].steady);
  CHECK(Text(frames.steps[3].host) == "[106000, 108900)");
  // Nobody knows when the last one was over.
  CHECK(frames.steady_steps == 2);
  CHECK(frames.step_ns == *frames.steady_host_ns);
  CHECK(Us(*frames.steady_busy_ns) == 300);
  CHECK(Us(frames.first_calls.loading_launches_ns) == 89000);
}

TEST_CASE("a launch that is long because the queue is full loads nothing") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 20000);
  t.OpWithKernel("aten::mm", 0, 50, "gemm", 100, 15000, 1);
  t.Op("aten::add", 100, 9900).Runtime("cudaLaunchKernel", 110, 9000, 2);
  t.Kernel("add", 15100, 10, 2);
  CHECK(FramesIn(t).first_calls.calls == 0);
}

TEST_CASE("giving memory back is a first call only as far as it is no wait for work") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 20000);
  t.OpWithKernel("aten::mm", 0, 50, "gemm", 100, 10000, 1);
  t.Runtime("cudaFree", 200, 10900, 2);
  const TimeFrames frames = FramesIn(t);
  CHECK(frames.first_calls.calls == 1);
  CHECK(Us(frames.first_calls.memory_ns) == 1000);
}

TEST_CASE("without marks and names, the launched kernels tell the period") {
  TraceText t;
  int id = 0;
  for (int i = 0; i < 6; ++i) {
    const double at = 1000.0 * i;
    for (const char* kernel : {"k_in", "k_mid", "k_mid", "k_out"}) {
      const double launch = at + 200 * (id % 4);
      t.OpWithKernel(std::string("op::") + kernel, launch, 50, kernel, launch + 60, 30, id + 1);
      ++id;
    }
  }
  const TimeFrames frames = FramesIn(t);
  CHECK(frames.base.source == StepSource::kKernelPeriod);
  CHECK(frames.base.name == "k_in");
  REQUIRE(frames.steps.size() == 6);
  CHECK(frames.steps[2].gpu_events == 4);
}

TEST_CASE("what repeats within one call of a module, or within one launch, is no step") {
  const auto layers = [](bool in_module) {
    TraceText t;
    if (in_module) t.Module("Model_0", 0, 6000);
    for (int id = 0; id < 24; ++id) {
      const char* kernel = id % 4 == 0 ? "k_in" : id % 4 == 3 ? "k_out" : "k_mid";
      const double launch = 10 + 250.0 * id;
      t.OpWithKernel(std::string("op::") + kernel, launch, 50, kernel, launch + 60, 30, id + 1);
    }
    return t;
  };
  CHECK(FramesIn(layers(false)).base.source == StepSource::kKernelPeriod);
  CHECK(FramesIn(layers(true)).base.source == StepSource::kNone);
  TraceText replay;
  replay.Runtime("cudaGraphLaunch", 0, 50, 1);
  for (int i = 0; i < 24; ++i)
    replay.Kernel(i % 4 == 0 ? "k_in" : i % 4 == 3 ? "k_out" : "k_mid", 100 + 40.0 * i, 30, 1);
  CHECK(FramesIn(replay).base.source == StepSource::kNone);
}

TEST_CASE("passes within one call of a pipeline are no steps, its calls are") {
  const char* call = "transformers/pipelines/base.py(1306): __call__";
  const auto requests = [&](int count) {
    TraceText t;
    int id = 0;
    for (int r = 0; r < count; ++r) {
      const double at = 10'000.0 * r;
      if (call != nullptr) t.Python(call, at, 9000);
      for (int pass = 0; pass < 4; ++pass, ++id) {
        const double start = at + 100 + 2000 * pass;
        t.Module("Model_0", start, 1500);
        t.OpWithKernel("aten::mm", start + 10, 50, "gemm", start + 80, 500, id + 1);
      }
    }
    return t;
  };
  CHECK(FramesIn(requests(1)).base.source == StepSource::kNone);
  const TimeFrames two = FramesIn(requests(2));
  CHECK(two.base.name == call);
  CHECK(two.steps.size() == 2);
  call = nullptr;
  CHECK(FramesIn(requests(1)).steps.size() == 4);
}

TEST_CASE("a recording that was cut off ends with its last event, and its last step is apart") {
  const auto trace = [](bool whole) {
    TraceText t;
    int id = 0;
    for (int i = 0; i < 3; ++i) {
      const double at = 1000.0 * i;
      t.Annotation("ProfilerStep#" + std::to_string(i + 4), at, 1000);
      for (int k = 0; k < 4; ++k, ++id) {
        const double launch = at + 10 + 100 * k;
        if (i < 2 || k < 2 || whole)
          t.OpWithKernel("aten::mm", launch, 50, "gemm", launch + 60, 30, id + 1);
        else
          t.Op("aten::mm", launch, 50).Runtime("cudaLaunchKernel", launch + 1, 5, id + 1);
      }
    }
    return t;
  };
  const TimeFrames whole = FramesIn(trace(true));
  CHECK(whole.launches_cut_off == 0);
  CHECK(whole.steady_steps == 3);
  const TimeFrames cut = FramesIn(trace(false));
  CHECK(cut.launches_cut_off == 2);
  REQUIRE(cut.steps.size() == 3);
  CHECK(cut.steps[2].odd_because == "cut off");
  CHECK(Text(cut.steps[2].host) == "[2000, 2311)");  // the last launch begins then
  CHECK(cut.steady_steps == 2);
  // What is launched into a graph has no work of its own.
  TraceText capture = trace(false);
  capture.Runtime("cudaStreamEndCapture", 2500, 5, 99);
  CHECK(FramesIn(capture).launches_cut_off == 0);
}

TEST_CASE("stretches in which the host is alone are grouped, with neighbours and period") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 100000);
  for (int i = 0; i < 4; ++i) {
    const double at = 20000.0 * i;
    t.Annotation("filter", at + 5000, 11000);
    t.OpWithKernel("aten::cat", at, 50, "cat", at + 100, 4000, i + 1);
    t.Op("aten::lift_fresh", at + 16000, 1000);
  }
  const TimeFrames frames = FramesIn(t);
  REQUIRE(!frames.host_only.groups.empty());
  const HostOnlyGroup& group = frames.host_only.groups.front();
  CHECK(group.count == 4);
  CHECK(Us(group.median_ns) == 11900);
  CHECK(group.before == "aten::cat");
  CHECK(group.after == "aten::lift_fresh");
  CHECK(group.within == "filter");
  REQUIRE(group.period_ns.has_value());
  CHECK(Us(*group.period_ns) == 20000);
}

TEST_CASE("a watchdog's calls do not keep the host company") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 10000);
  t.OpWithKernel("aten::view", 0, 50, "k", 60, 140, 1).Op("_AlltoAllSingle", 9000, 100);
  t.Thread(100, 7).Runtime("cudaEventQuery", 4000, 2, 0);
  const TimeFrames frames = FramesIn(t);
  REQUIRE(!frames.host_only.groups.empty());
  CHECK(frames.host_only.groups.front().count == 1);
  CHECK(Us(frames.host_only.groups.front().total_ns) == 8800);
}

TEST_CASE("hosts that talk to each other are not idle") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 10000).Op("aten::mm", 0, 100).Op("aten::add", 9000, 100);
  t.Thread(100, 7).Annotation("gloo:all_reduce", 200, 8700);
  for (const HostOnlyGroup& group : FramesIn(t).host_only.groups)
    CHECK(Us(group.total_ns) < 1000);
}

TEST_CASE("what a recording lacks is absent, with the reason") {
  SUBCASE("no host events") {
    TraceText t;
    t.Kernel("a", 0, 100, 1).Kernel("b", 200, 100, 2);
    const TimeFrames frames = FramesIn(t);
    CHECK(frames.base.source == StepSource::kNone);
    CHECK(frames.base.reason.find("no host events") != std::string::npos);
    CHECK(frames.foreign.empty());
    CHECK(Us(frames.window_busy_ns) == 200);
    CHECK(Us(frames.step_ns) == 300);
    CHECK_FALSE(frames.launch_lead_ns.has_value());
    CHECK(frames.absent.size() == 3);
  }
  SUBCASE("no GPU work") {
    TraceText t;
    t.Annotation("ProfilerStep#1", 0, 100).Op("aten::mm", 10, 50);
    t.Annotation("ProfilerStep#2", 100, 100).Op("aten::mm", 110, 50);
    const TimeFrames frames = FramesIn(t);
    CHECK(frames.steps.size() == 2);
    CHECK_FALSE(frames.window.has_value());
    CHECK_FALSE(frames.steps[0].gpu.has_value());
    CHECK_FALSE(frames.steady_busy_ns.has_value());
    CHECK(Us(frames.step_ns) == 100);
  }
  SUBCASE("one kernel") {
    TraceText t;
    t.OpWithKernel("aten::mm", 0, 20, "gemm", 30, 70, 1);
    const TimeFrames frames = FramesIn(t);
    CHECK(frames.steps.empty());
    CHECK(Us(frames.window_ns) == 70);
    CHECK(Us(frames.whole.host_before_ns) == 30);
  }
  SUBCASE("nothing at all") {
    TraceText t;
    t.Raw(R"({"ph":"X","cat":"Trace","name":"x","ts":1,"dur":1,"pid":1,"tid":1})");
    const TimeFrames frames = FramesIn(t);
    CHECK(frames.frame == TimeSpan{0, 0});
    CHECK_FALSE(frames.window.has_value());
  }
  SUBCASE("a step without GPU work") {
    TraceText t;
    t.Annotation("ProfilerStep#1", 0, 100).OpWithKernel("aten::mm", 0, 20, "gemm", 30, 50, 1);
    t.Annotation("ProfilerStep#2", 100, 5).Op("aten::empty", 101, 2);
    const TimeFrames frames = FramesIn(t);
    REQUIRE(frames.steps.size() == 2);
    CHECK(frames.steps[1].odd_because == "no GPU work recorded");
    CHECK(frames.steady_steps == 1);
  }
}

TEST_CASE("of several processes, the frames are those of the one that launches most") {
  TraceText t;
  t.Thread(2, 2).Annotation("ProfilerStep#1", 0, 500);
  t.OpWithKernel("aten::mm", 0, 20, "gemm", 30, 50, 1);
  t.Thread(1, 1).Annotation("ProfilerStep#1", 0, 1000);
  t.OpWithKernel("aten::mm", 0, 20, "gemm", 100, 50, 2);
  t.OpWithKernel("aten::mm", 300, 20, "gemm", 400, 50, 3);
  const TimeFrames frames = FramesIn(t);
  CHECK(frames.several_processes);
  CHECK(frames.process == "1");
  REQUIRE(frames.steps.size() == 1);
  CHECK(frames.steps[0].gpu_events == 2);
  CHECK(frames.absent.size() == 1);
}

TEST_CASE("a clock that jumps makes a long frame, nothing worse") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 1000).OpWithKernel("aten::mm", 10, 20, "gemm", 50, 50, 1);
  t.Annotation("ProfilerStep#2", 9e9, 1000)
      .OpWithKernel("aten::mm", 9e9 + 10, 20, "gemm", 500, 50, 2);
  const TimeFrames frames = FramesIn(t);
  CHECK(frames.steps.size() == 2);
  CHECK(Us(frames.frame.end - frames.frame.start) == 9000001000);
}

TEST_CASE("the tables say what is absent with empty cells") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 100).Op("aten::mm", 10, 50);
  const TimeFrames frames = FramesIn(t);
  const Table table = TimeFramesTable(frames);
  REQUIRE(table.rows.size() == 2);
  for (const auto& row : table.rows)
    REQUIRE(row.size() == table.columns.size());
  CHECK(std::holds_alternative<Absent>(table.rows[1][5]));
  const Table parts = TimePartsTable(frames);
  double sum = 0;
  for (const auto& row : parts.rows)
    sum += std::get<double>(row[2]);
  CHECK(sum == doctest::Approx(200));  // the parts, and their total
}

}  // namespace
}  // namespace jarvis::analysis
