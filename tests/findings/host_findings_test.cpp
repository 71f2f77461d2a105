// Findings about the host: each with its cause, where it is, how often, and what the wall time
// would be without it. Times of the programs are worked out by hand.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/late_gaps.h"
#include "findings/one/thresholds.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

// A finding about the host, which has its cause and what it saves.
const Finding& HostFinding(const Analyzed& one, std::string_view subject, HostCauseKind kind) {
  CAPTURE(subject);
  const Finding* finding = one.Find("cpu_idle", subject);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->host != nullptr);
  CHECK(finding->host->kind == kind);
  CHECK(finding->count == finding->host->count);
  CHECK_FALSE(finding->host->changes.empty());
  REQUIRE(BestWall(*finding) != nullptr);
  CHECK(BestWall(*finding)->ms.low <= BestWall(*finding)->ms.mid);
  CHECK(BestWall(*finding)->ms.mid <= BestWall(*finding)->ms.high);
  if (!finding->one_off) CHECK(BestWall(*finding)->ms.mid <= one.analysis.wall.wall_ms);
  return *finding;
}

bool Advises(const Finding& finding, Advice advice) {
  const auto has = [&](const std::vector<Remedy>& path) {
    return std::any_of(path.begin(), path.end(),
                       [&](const Remedy& remedy) { return remedy.advice == advice; });
  };
  return has(finding.path_a) || has(finding.path_b);
}

// 40 kernels of 5 us, launched every 50 us, and nothing else to do.
TraceText SlowLaunches() {
  TraceText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 50.0 * i;
    text.Op("aten::relu", at, 40);
    text.Runtime("cudaLaunchKernel", at + 20, 3, i + 1).Kernel("k", at + 30, 5, i + 1);
  }
  return text;
}

// 40 times 100 us of GPU work, half of each 200 us, whose end the host waits for `waits` times.
TraceText Waiting(int waits) {
  TraceText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 200.0 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 100, i + 1);
    if (i >= waits) continue;
    text.Op("aten::item", at + 14, 102);
    text.Runtime("cudaStreamSynchronize", at + 15, 100, 1000 + i);
  }
  return text;
}

// Ten batches: 1 ms of work on the GPU, then 2 ms of the host alone, in the loader or not.
TraceText Batches(bool loader) {
  TraceText text;
  for (int i = 0; i < 10; ++i) {
    const double at = 3000.0 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 988, i + 1);
    if (loader) {
      text.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 1001,
                      1990);
    } else {
      text.Python("data.py(12): prepare", at + 1001, 1990);
    }
  }
  return text;
}

TEST_CASE("launching takes longer than what is launched") {
  const Analyzed one = Analyze(SlowLaunches());
  const Finding& finding = HostFinding(one, "launch_bound", HostCauseKind::kLaunchBound);
  CHECK(finding.count == 39);  // launches of the steps that repeat
  CHECK(finding.host->launch_us == doctest::Approx(50));
  CHECK(finding.host->kernel_us == doctest::Approx(5));
  CHECK(finding.host->idle_percent > limits::kIdleLaunchShare);
  CHECK(BestWall(finding)->ms.high <= finding.host->idle_ms);
  CHECK(finding.priority == PriorityClass::kCritical);
  CHECK(Advises(finding, Advice::kCompileGraphs));
  // 2 ms less 40 kernels of 5 us is what no launches at all would save; a graph saves most of it.
  CHECK(BestWall(finding)->ms.mid < 1.8);
  CHECK(BestWall(finding)->ms.mid > 0.7 * one.analysis.wall.wall_ms);
  CHECK(finding.id == "f1");
  CHECK(BestWall(finding)->after_others_ms == doctest::Approx(BestWall(finding)->ms.mid));
}

TEST_CASE("launches that nearly all find work before them are no pace of the host's") {
  const Analyzed one = Analyze(SlowLaunches());
  HostCause cause;
  cause.launch_us = 58;
  cause.kernel_us = 20;
  cause.idle_percent = 68;
  CHECK_FALSE(IsHostAhead(*one.analysis.frames, cause));
  cause.idle_percent = 2.4;
  CHECK(IsHostAhead(*one.analysis.frames, cause));
}

TEST_CASE("a module's idle time is at most its host time") {
  TraceText text;
  int correlation = 0;
  const auto launch = [&](double at) {
    text.OpWithKernel("aten::relu", at, 6, "k", at + 8, 5, ++correlation);
  };
  for (int i = 0; i < 40; ++i) {
    const double at = 120.0 * i;
    text.Module("Slow_0", at, 90);
    launch(at + 1);
    launch(at + 40);
    text.Module("Fast_0", at + 92, 20);
    launch(at + 93);
    launch(at + 103);
  }
  const Analyzed one = Analyze(text);
  const Finding& finding = HostFinding(one, "launch_bound", HostCauseKind::kLaunchBound);
  const auto& places = finding.host->places;
  REQUIRE_FALSE(places.empty());
  for (const HostPlace& place : places)
    CHECK(place.idle_ms <= place.ms + 1e-9);
}

TEST_CASE("late launches are told where the host also waits once or twice") {
  TraceText text = SlowLaunches();
  text.Op("aten::is_nonzero", 991, 8);
  text.Runtime("cudaStreamSynchronize", 992, 5, 1000);
  const Analyzed one = Analyze(text);
  const Finding& finding = HostFinding(one, "launch_bound", HostCauseKind::kLaunchBound);
  CHECK(BestWall(finding)->ms.mid > 0.65 * one.analysis.wall.wall_ms);
}

// Ten batches: 1 ms of work on the GPU, then 2 ms of the host alone in this frame, at whose end it
// launches what comes next, or not.
TraceText BatchesAround(std::string_view frame, bool launches) {
  TraceText text;
  for (int i = 0; i < 10; ++i) {
    const double at = 3000.0 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 988, 2 * i + 1);
    text.Python(frame, at + 1001, 1990);
    if (launches) text.OpWithKernel("aten::relu", at + 2950, 35, "k2", at + 2980, 5, 2 * i + 2);
  }
  return text;
}

bool HasSection(const TraceText& text) {
  return Analyze(text).Find("cpu_idle", "host_section") != nullptr;
}

TEST_CASE("a module's call on its way to a launch is a late launch, not work for others") {
  CHECK_FALSE(HasSection(BatchesAround("nn.Module: Encoder_0", true)));
  CHECK(HasSection(BatchesAround("data.py(12): prepare", true)));
}

TEST_CASE("what the profiler itself does is no host work of a step") {
  CHECK_FALSE(HasSection(BatchesAround("torch/profiler/profiler.py(199): start_trace", false)));
  CHECK(HasSection(BatchesAround("data.py(12): prepare", false)));
}

TEST_CASE("what is compiled is not told to compile") {
  TraceText text = SlowLaunches();
  text.Op("Torch-Compiled Region: 0/0", 0, 2000);
  const Analyzed one = Analyze(text);
  const Finding& finding = HostFinding(one, "launch_bound", HostCauseKind::kLaunchBound);
  CHECK_FALSE(Advises(finding, Advice::kCompile));
}

TEST_CASE("the host waits for the GPU again and again") {
  const Analyzed one = Analyze(Waiting(40));
  const Finding& finding = HostFinding(one, "synchronisation", HostCauseKind::kWaits);
  CHECK(finding.count == 38);  // of the steps that repeat; nothing follows the last
  CHECK(finding.path_a.front().advice == Advice::kAvoidScalars);
  REQUIRE(finding.host->places.size() == 1);
  const HostPlace& place = finding.host->places.front();
  CHECK(place.name == "aten::item (cudaStreamSynchronize)");
  CHECK(place.waits_for == "k");
  CHECK(place.count == finding.count);
  CHECK(place.ms == doctest::Approx(4));
  CHECK(place.idle_ms == doctest::Approx(3.8).epsilon(0.02));
  // Without waits the host does its half of each 200 us beside the GPU's.
  CHECK(BestWall(finding)->ms.mid == doctest::Approx(4).epsilon(0.1));
}

TEST_CASE(
    "waits for data that come in cycles say how many workers there are, and how many it takes") {
  TraceText text;
  double at = 10;
  int link = 0;
  const double waits[] = {30'000, 8'000, 4'000, 200};
  for (int i = 0; i < 40; ++i) {
    text.Annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", at,
                    waits[i % 4]);
    at += waits[i % 4] + 20;
    for (int k = 0; k < 10; ++k, at += 30)
      text.OpWithKernel("aten::mm", at, 10, "k", at + 12 + 900 * k, 900, ++link);
    text.Op("aten::item", at, 9000).Runtime("cudaStreamSynchronize", at + 1, 8990, ++link);
    at += 9010;
  }
  const Analyzed one = Analyze(text);
  const Finding* loading = one.Find("cpu_idle", "data_loading");
  REQUIRE(loading != nullptr);
  REQUIRE_FALSE(loading->path_b.empty());
  const Remedy& remedy = loading->path_b.front();
  CHECK(remedy.advice == Advice::kPrefetchData);
  const auto fact = [&](std::string_view key) -> std::int64_t {
    for (const Fact& one_fact : remedy.facts) {
      if (one_fact.key == key) return std::get<std::int64_t>(one_fact.value);
    }
    return 0;
  };
  CHECK(fact("workers") == 4);
  // A cycle takes 42.2 ms of waiting and 37.4 of work.
  CHECK(fact("needed") == 9);
}

TEST_CASE("a value that is read back after a check for NaN is that check's") {
  const auto advice = [](std::string_view check, const char* subject) {
    TraceText text;
    for (int i = 0; i < 40; ++i) {
      const double at = 200.0 * i;
      text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 80, 3 * i + 1);
      text.OpWithKernel(check, at + 12, 6, "k2", at + 93, 3, 3 * i + 2);
      text.OpWithKernel("aten::any", at + 20, 6, "k3", at + 97, 3, 3 * i + 3);
      text.Op("aten::is_nonzero", at + 28, 80).Op("aten::item", at + 29, 78);
      text.Runtime("cudaStreamSynchronize", at + 30, 75, 1000 + i);
    }
    const Remedy remedy = HostFinding(Analyze(text), subject, HostCauseKind::kWaits).path_a[0];
    if (remedy.advice == Advice::kDropChecks)
      CHECK(std::get<std::string>(remedy.facts.back().value) == fmt::format("`{}`", check));
    return remedy.advice;
  };
  CHECK(advice("aten::isnan", "value_checks") == Advice::kDropChecks);
  CHECK(advice("aten::allclose", "value_checks") == Advice::kDropChecks);
  CHECK(advice("aten::gt", "synchronisation") == Advice::kAvoidScalars);
}

// Forty times a GEMM of 80 us, an op that computes for 60 us and a value of it that is read back.
Analyzed ReadAfter(std::string_view op) {
  TraceText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 300.0 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 80, 2 * i + 1);
    text.OpWithKernel(op, at + 12, 10, "k2", at + 93, 60, 2 * i + 2);
    text.Op("aten::is_nonzero", at + 30, 140).Op("aten::item", at + 31, 138);
    text.Runtime("cudaStreamSynchronize", at + 32, 125, 1000 + i);
  }
  return Analyze(text);
}

TEST_CASE("a check that is deleted takes along what it computes; another value stays computed") {
  const Analyzed check = ReadAfter("aten::isnan"), value = ReadAfter("aten::gt");
  const Finding& checks = HostFinding(check, "value_checks", HostCauseKind::kWaits);
  const Finding& values = HostFinding(value, "synchronisation", HostCauseKind::kWaits);
  CHECK(checks.host->gpu_ms == doctest::Approx(39 * 0.060));  // of what repeats
  CHECK(values.host->gpu_ms == 0);
  CHECK(BestWall(checks)->ms.low >= 39 * 0.060);
  CHECK(BestWall(values)->ms.mid <= values.host->idle_ms + 1e-6);
  CHECK(BestWall(values)->ms.high <= 1.1 * values.host->idle_ms + 1e-6);
}

TEST_CASE("a wait while the GPU has work queued costs nothing") {
  TraceText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 200.0 * i;
    text.OpWithKernel("aten::mm", at, 5, "k", at + 12, 100, 2 * i + 1);
    text.OpWithKernel("aten::mm", at + 6, 5, "k", at + 112, 100, 2 * i + 2);
    // For the first of the two.
    text.Op("aten::item", at + 14, 102).Runtime("cudaEventSynchronize", at + 15, 100, 1000 + i);
  }
  CHECK(Analyze(text).Find("cpu_idle", "synchronisation") == nullptr);
}

TEST_CASE("a few waits are how a result is read") {
  CHECK(Analyze(Waiting(7)).Find("cpu_idle", "synchronisation") == nullptr);
}

TEST_CASE("plain Python between the same work is one finding, with its code and period") {
  const Analyzed one = Analyze(Batches(false));
  const Finding& finding = HostFinding(one, "host_section", HostCauseKind::kSection);
  CHECK(finding.count == 10);  // the first, before any GPU work, is one of them
  CHECK(finding.time_ms == doctest::Approx(20.1).epsilon(0.02));
  CHECK(finding.path_a.front().advice == Advice::kOverlapHostWork);
  CHECK(finding.host->each_ms == doctest::Approx(2).epsilon(0.02));
  REQUIRE(finding.host->period_ms.has_value());
  CHECK(*finding.host->period_ms == doctest::Approx(3));
  CHECK(finding.host->before == "aten::mm");
  CHECK(finding.host->after == "aten::mm");
  CHECK_FALSE(finding.host->loading);
  REQUIRE_FALSE(finding.host->places.empty());
  CHECK(finding.host->places.front().name == "data.py(12): prepare");
  CHECK(finding.host->places.front().count == 10);
  CHECK(BestWall(finding)->ms.mid == doctest::Approx(19).epsilon(0.06));
  CHECK(one.Find("cpu_idle", "data_loading") == nullptr);
}

// Inputs of one step: 3 ms of preparation before 1 ms of GPU work each.
TraceText Inputs(int count) {
  TraceText text;
  text.Annotation("ProfilerStep#6", 0, 4000.0 * count);
  for (int i = 0; i < count; ++i) {
    const double at = 4000.0 * i;
    text.Python("pipelines/video.py(9): preprocess", at, 2990);
    text.Python("transformers/image_transforms.py(390): normalize", at + 10, 1400);
    text.Python("<built-in method astype of numpy.ndarray object at 0x7f12>", at + 1500, 1300);
    text.OpWithKernel("aten::mm", at + 2990, 8, "k", at + 3000, 998, i + 1);
  }
  return text;
}

TEST_CASE("one worker hides of a preparation no more than the rest of the step takes") {
  const Analyzed alone = Analyze(Inputs(1));
  const Finding& single = HostFinding(alone, "host_section", HostCauseKind::kSection);
  REQUIRE(single.wall_b.has_value());
  CHECK(single.wall_b->ms.low == 0);
  CHECK(single.wall_b->ms.high == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("a section is named by the function that holds it, and no name has an address") {
  const Analyzed one = Analyze(Inputs(4));
  const Finding& finding = HostFinding(one, "host_section", HostCauseKind::kSection);
  CHECK(finding.host->within == "pipelines/video.py(9): preprocess");
  const auto& places = finding.host->places;
  CHECK(std::any_of(places.begin(), places.end(), [](const HostPlace& place) {
    return place.name == "<built-in method astype of numpy.ndarray object>";
  }));
}

TEST_CASE("to record again is no way to save, and half of what nobody saw may stay") {
  TraceText text;
  for (int i = 0; i < 10; ++i)
    text.OpWithKernel("aten::mm", 3000.0 * i, 10, "k", 3000.0 * i + 12, 988, i + 1);
  const Analyzed one = Analyze(text);
  const Finding& finding = HostFinding(one, "host_section", HostCauseKind::kSection);
  CHECK(finding.path_a.front().advice == Advice::kOverlapHostWork);
  CHECK(finding.path_b.front().advice == Advice::kFindHostWork);
  CHECK_FALSE(finding.wall_b.has_value());
  REQUIRE(finding.wall_a.has_value());
  CHECK(finding.wall_a->ms.low <= finding.wall_a->ms.mid / 2);
  CHECK(finding.wall_a->ms.low > 0);
  CHECK_FALSE(finding.host->after_copy_back);
}

// Forty calls of a function, 1 ms of GPU work behind each; the first `long_ones` take 30 ms.
TraceText FirstOfMany(int long_ones) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 40; ++i) {
    const double took = i < long_ones ? 30'000 : 20;
    text.Python("attention.py(7): plan", at, took);
    text.OpWithKernel("aten::mm", at + took, 10, "k", at + took + 12, 1000, i + 1);
    at += took + 1012;
  }
  return text;
}

TEST_CASE("one long call of a function that is called again and again is no host work of a step") {
  CHECK(Analyze(FirstOfMany(1)).Find("cpu_idle", "host_section") == nullptr);
  CHECK(Analyze(FirstOfMany(40)).Find("cpu_idle", "host_section") != nullptr);
}

// A graph a step that takes 1 ms, `idle_us` after the one before.
TraceText Replays(double idle_us, const char* file) {
  TraceText text;
  for (int i = 0; i < 20; ++i) {
    const double at = i * (1000 + idle_us);
    text.Python(file, at, idle_us / 2);
    text.Runtime("cudaGraphLaunch", at + idle_us / 2, idle_us / 2 - 1, i + 1);
    for (int k = 0; k < 10; ++k)
      text.Kernel("k", at + idle_us + 100 * k, 100, i + 1);
  }
  return text;
}

TEST_CASE("an engine's idle time around its replays is told, a loop of one's own is not") {
  const char* engine = "vllm/v1/worker/gpu_model_runner.py(10): execute_model";
  const Analyzed one = Analyze(Replays(80, engine));
  const Finding& finding = HostFinding(one, "replay_gap", HostCauseKind::kReplayGap);
  CHECK(Advises(finding, Advice::kPrepareSteps));
  // Another engine's setting is none of this one's.
  const Analyzed other = Analyze(Replays(80, "sglang/srt/managers/scheduler.py(10): run_batch"));
  const Finding& of_other = HostFinding(other, "replay_gap", HostCauseKind::kReplayGap);
  CHECK(Advises(of_other, Advice::kHostLengths));
  CHECK_FALSE(Advises(of_other, Advice::kPrepareSteps));
  CHECK(finding.path_a.empty());
  CHECK(Analyze(Replays(8, engine)).Find("cpu_idle", "replay_gap") == nullptr);
  CHECK(Analyze(Replays(80, "loop.py(1): run")).Find("cpu_idle", "replay_gap") == nullptr);
}

TEST_CASE("idle time before a replay and idle time inside it are told apart") {
  constexpr const char* kEngine = "sglang/srt/managers/scheduler.py(10): run_batch";
  // Behind three kernels of ten the GPU runs dry, as the call that launches them goes on.
  const auto stalled = [](double before_us, double inside_us) {
    TraceText text;
    for (int i = 0; i < 20; ++i) {
      double at = i * (1000 + before_us + inside_us);
      text.Python(kEngine, at, before_us + 400);
      at += before_us;
      text.Runtime("hipGraphLaunch", at - 20, 320 + inside_us, i + 1);
      for (int k = 0; k < 10; ++k)
        text.Kernel("k", at + 100 * k + (k < 3 ? 0 : inside_us), 100, i + 1);
    }
    return Analyze(text);
  };
  const Analyzed both = stalled(60, 60);
  const HostCause& cause = *HostFinding(both, "replay_gap", HostCauseKind::kReplayGap).host;
  CHECK(cause.inside_ms == doctest::Approx(cause.idle_ms / 2).epsilon(0.1));
  const auto launch =
      std::find_if(cause.places.begin(), cause.places.end(),
                   [](const HostPlace& place) { return place.name == "hipGraphLaunch"; });
  REQUIRE(launch != cause.places.end());
  CHECK(launch->idle_ms == cause.inside_ms);
  const Analyzed before = stalled(80, 0);
  CHECK(HostFinding(before, "replay_gap", HostCauseKind::kReplayGap).host->inside_ms == 0);
}

TEST_CASE("the host waits for data") {
  const Analyzed one = Analyze(Batches(true));
  const Finding& finding = HostFinding(one, "data_loading", HostCauseKind::kSection);
  CHECK(finding.count == 10);  // the first, before any GPU work, is one of them
  CHECK(finding.host->loading);
  CHECK(finding.path_b.front().advice == Advice::kPrepareAhead);
  CHECK(BestWall(finding)->ms.mid == doctest::Approx(18).epsilon(0.05));  // nine steps repeat
  CHECK(one.Find("cpu_idle", "host_section") == nullptr);
}

TEST_CASE("a host without a CPU is told once, and is nobody's section") {
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
  const Finding& finding = HostFinding(one, "descheduled_host", HostCauseKind::kDescheduled);
  CHECK(finding.count == 12);
  CHECK(finding.path_b.front().advice == Advice::kGiveCores);
  CHECK(BestWall(finding)->ms.mid > 90);
  CHECK(one.Find("cpu_idle", "host_section") == nullptr);
}

TEST_CASE("first calls are told with what was loaded, and are nobody's section") {
  TraceText text;
  for (int i = 0; i < 30; ++i) {
    const double at = i == 0 ? 0 : 60'000 + 1000.0 * i;
    const double launch = i == 0 ? 60'000 : 5;
    text.Op("aten::relu", at, launch + 10);
    text.Runtime("cudaLaunchKernel", at + 2, launch, i + 1);
    text.Kernel("relu_kernel", at + launch + 5, 950, i + 1);
  }
  const Analyzed one = Analyze(text);
  const Finding& finding = HostFinding(one, "first_calls", HostCauseKind::kFirstCalls);
  CHECK(finding.count == 1);
  // It takes longer than the GPU's window, in which it cannot be then.
  CHECK(one.analysis.totals.window_ms < finding.time_ms);
  CHECK_FALSE(finding.percent_of_total.has_value());
  CHECK(finding.path_b.front().advice == Advice::kWarmUpFirst);
  REQUIRE(finding.host->places.size() == 1);
  CHECK(finding.host->places.front().name == "cudaLaunchKernel");
  CHECK(finding.host->places.front().code == "aten::relu");
  CHECK(finding.host->places.front().ms == doctest::Approx(60).epsilon(0.01));
  CHECK(BestWall(finding)->ms.mid == doctest::Approx(60).epsilon(0.05));
  CHECK(one.Find("cpu_idle", "host_section") == nullptr);
  // It happens once: most of the recording, so it is told first, but no saving is of it.
  CHECK(finding.one_off);
  CHECK(finding.id == "f1");
  CHECK(one.analysis.wall.wall_ms < one.analysis.wall.recorded_ms - 55);
  // The same where all of it is one step.
  const Analyzed step = Analyze(text.Annotation("ProfilerStep#1", 0, 91'000));
  const analysis::BaseOfTime& base = step.analysis.frames->frames.base;
  CHECK(base.warm_estimated);
  CHECK(static_cast<double>(base.one_time_ns) / 1e6 == doctest::Approx(60).epsilon(0.01));
  CHECK(step.analysis.base.total_ms == doctest::Approx(31).epsilon(0.01));
  CHECK(step.analysis.wall.wall_ms == doctest::Approx(31).epsilon(0.1));
}

// Three steps of 1 ms, the first of which takes `first_us`, launched too slowly.
TraceText Steps(double first_us) {
  TraceText text;
  double at = 0;
  int number = 0;
  for (int step = 0; step < 4; ++step) {
    const double begin = at;
    for (int i = 0; i < 20; ++i) {
      const double took = step == 0 && i == 0 ? first_us : 5;
      text.Op("aten::relu", at, took + 40);
      text.Runtime("cudaLaunchKernel", at + 20, took, ++number);
      text.Kernel("relu_kernel", at + 30 + took, 5, number);
      at += 45 + took;
    }
    text.Annotation(fmt::format("ProfilerStep#{}", step), begin, at - begin);
  }
  return text;
}

TEST_CASE("savings are of the steady steps where an odd first one is set apart") {
  const Analyzed one = Analyze(Steps(100'000));
  REQUIRE(one.analysis.base.unit == "step");
  CHECK(one.analysis.base.count == 3);
  CHECK(one.analysis.base.total_ms == doctest::Approx(3).epsilon(0.02));
  CHECK(one.analysis.wall.wall_ms <= 3.06);
  const Finding& graphs = HostFinding(one, "launch_bound", HostCauseKind::kLaunchBound);
  CHECK(BestWall(graphs)->ms.high <= 3);
  CHECK(BestWall(graphs)->ms.mid > 0.8 * one.analysis.wall.wall_ms);
  const Finding& once = HostFinding(one, "first_calls", HostCauseKind::kFirstCalls);
  CHECK(once.one_off);
  CHECK(BestWall(once)->ms.mid == doctest::Approx(100).epsilon(0.02));
  CHECK(one.analysis.wall.together_ms->high <= 3);
}

TEST_CASE("where all steps are alike all of them are what savings are of") {
  const Analyzed one = Analyze(Steps(5));
  CHECK(one.analysis.base.count == 4);
  CHECK(one.Find("cpu_idle", "first_calls") == nullptr);
  const Finding& graphs = HostFinding(one, "launch_bound", HostCauseKind::kLaunchBound);
  CHECK(BestWall(graphs)->ms.mid > 0.8 * one.analysis.wall.wall_ms);
}

// Ten steps in which the GPU works for 1 ms; in the optimizer the host launches 40 tiny kernels.
TEST_CASE("parameters that are updated one by one are a finding of their own") {
  TraceText text;
  int number = 0;
  for (int step = 0; step < 10; ++step) {
    const double at = 4000.0 * step;
    text.Annotation(fmt::format("ProfilerStep#{}", step), at, 3999);
    text.OpWithKernel("aten::mm", at + 1, 10, "k", at + 20, 1000, ++number);
    text.Annotation("Optimizer.step#SGD.step", at + 1000, 2900);
    for (int i = 0; i < 40; ++i) {
      text.OpWithKernel("aten::add_", at + 1010 + 70 * i, 60, "add", at + 1060 + 70 * i, 2,
                        ++number);
    }
  }
  const Analyzed one = Analyze(text);
  const Finding& finding = HostFinding(one, "optimizer_launches", HostCauseKind::kOptimizer);
  CHECK(finding.path_b.front().advice == Advice::kFusedOptimizer);
  REQUIRE_FALSE(finding.host->places.empty());
  CHECK(finding.host->places.front().count == 400);
  CHECK(BestWall(finding)->ms.mid > 20);
  CHECK(BestWall(finding)->ms.mid < 29);
  // With foreach there is nothing to put together.
  text.OpWithKernel("aten::_foreach_add_", 40'010, 10, "multi_tensor_apply_kernel", 40'020, 5,
                    ++number);
  const Analyzed together = Analyze(text);
  if (together.analysis.context.foreach_optimizer)
    CHECK(together.Find("cpu_idle", "optimizer_launches") == nullptr);
}

TEST_CASE("no class contradicts its saving, and no saving is more than goes away") {
  for (const TraceText& text : {SlowLaunches(), Waiting(40), Batches(false), Steps(5)}) {
    const Analyzed one = Analyze(text);
    const double wall = one.analysis.wall.wall_ms;
    for (const Finding& f : one.analysis.findings) {
      CAPTURE(f.subject);
      const WallSaving* best = BestWall(f);
      if (best == nullptr || f.one_off) continue;
      CHECK(f.priority == PriorityOfSaving(best->after_others_ms / wall * 100));
      CHECK(best->ms.high <= wall);
      if (f.host == nullptr) continue;
      // With a wait its op goes.
      const double most = f.host->kind == HostCauseKind::kWaits ? 1.1 : 1;
      CHECK(best->ms.high <= most * f.host->idle_ms + 1e-9);
    }
  }
}

TEST_CASE("host time that hardly shows is no finding") {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 10, "k", 12, 50'000, 1);
  text.OpWithKernel("aten::mm", 50'400, 10, "k", 50'412, 50'000, 2);  // 0.4 ms of 100
  const Analyzed one = Analyze(text);
  REQUIRE(one.analysis.wall.known);
  for (const Finding& finding : one.analysis.findings)
    CHECK(finding.host == nullptr);
}

TEST_CASE("without launches nothing is said of the host, whatever it did") {
  TraceText text;
  text.Python("a.py(1): work", 0, 2000);
  text.Kernel("k", 0, 500, 1).Kernel("k", 1500, 500, 2);
  const Analyzed one = Analyze(text);
  CHECK_FALSE(one.analysis.wall.known);
  CHECK_FALSE(one.analysis.wall.why_not.empty());
  for (const Finding& finding : one.analysis.findings)
    CHECK(finding.host == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
