// Which steps figures are of: marks that overlap, holes, recordings without a host or without
// kernels, and the work that is left out.
#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

TimeFrames FramesOfMarks(const TraceText& text) {
  const Loaded loaded = Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  return MakeTimeFrames(CollectFrameFacts({loaded.events(), loaded.tree, attribution}));
}

std::int64_t Microseconds(std::int64_t ns) {
  CHECK(ns % 1000 == 0);
  return ns / 1000;
}

// "[10, 20)", in microseconds.
std::string SpanText(TimeSpan span) {
  return "[" + std::to_string(Microseconds(span.start)) + ", " +
         std::to_string(Microseconds(span.end)) + ")";
}

// A step of the host and its kernels: `count` launches, each of 100 us of GPU work.
void AddStep(TraceText* t, const std::string& mark, double at, double length, int count, int* id,
             double kernel_us = 100) {
  t->Annotation(mark, at, length);
  for (int k = 0; k < count; ++k) {
    t->OpWithKernel("aten::mm", at + 10 + 100 * k, 50, "gemm", at + 20 + 100 * k, kernel_us, ++*id);
  }
}

TEST_CASE("marks that overlap by a hair are steps, a mark in a mark is the same step again") {
  TraceText hair;
  int id = 0;
  for (int i = 0; i < 4; ++i)
    AddStep(&hair, "ProfilerStep#" + std::to_string(i), 1000.0 * i, 1001, 9, &id);
  const TimeFrames steps = FramesOfMarks(hair);
  REQUIRE(steps.steps.size() == 4);
  CHECK(steps.steady_steps == 4);
  CHECK(SpanText(steps.steps[1].host) == "[1000, 2000)");
  CHECK(steps.steps[1].gpu_events == 9);

  TraceText nested;
  for (int i = 0; i < 3; ++i) {
    AddStep(&nested, "ProfilerStep#" + std::to_string(i), 1000.0 * i, 1000, 9, &id);
    nested.Annotation("ProfilerStep#" + std::to_string(50 + i), 1000.0 * i + 1, 998);
    // Its end is rounded beyond the outer one's.
    nested.Annotation("ProfilerStep#" + std::to_string(70 + i), 1000.0 * i + 500, 501);
  }
  CHECK(FramesOfMarks(nested).steps.size() == 3);
}

TEST_CASE("steps that were not recorded are a hole, which is no idle time of any step") {
  TraceText t;
  int id = 0;
  double at = 0;
  for (const int number : {2, 3, 4, 12, 13, 14, 40, 41, 42}) {
    if (number == 12 || number == 40) at += 500000;
    AddStep(&t, "ProfilerStep#" + std::to_string(number), at, 1000, 9, &id);
    at += 1000;
  }
  const TimeFrames frames = FramesOfMarks(t);
  REQUIRE(frames.base.holes.size() == 2);
  CHECK(*frames.base.holes[0].first == 5);
  CHECK(*frames.base.holes[0].last == 11);
  CHECK(*frames.base.holes[1].first == 15);
  CHECK(*frames.base.holes[1].last == 39);
  CHECK(frames.steady_steps == 9);
  CHECK(Microseconds(frames.step_ns) == 1000);
  CHECK(Microseconds(frames.holes_ns()) == 1000000);
  for (const TimeSpan& span : frames.base.base)
    CHECK(span.end - span.start < 10'000'000);
  // Numbers that jump where no time passes are no hole: a loop that steps its profiler twice.
  TraceText twice;
  for (int i = 0; i < 4; ++i)
    AddStep(&twice, "ProfilerStep#" + std::to_string(2 * i), 1000.0 * i, 1000, 9, &id);
  CHECK(FramesOfMarks(twice).base.holes.empty());
}

TEST_CASE("a hole between steps without numbers is where nothing at all was recorded") {
  const auto trace = [](bool waits) {
    TraceText t;
    int id = 0;
    for (int i = 0; i < 8; ++i) {
      const double at = 1000.0 * i + (i < 4 ? 0 : 300000);
      AddStep(&t, "train_step", at, 1000, 9, &id);
      if (waits && i == 3)
        t.Op("enumerate(DataLoader)#_BaseDataLoaderIter.__next__", at + 1001, 298000);
    }
    return t;
  };
  const TimeFrames hole = FramesOfMarks(trace(false));
  REQUIRE(hole.base.holes.size() == 1);
  CHECK_FALSE(hole.base.holes[0].first.has_value());
  CHECK(hole.steady_steps == 8);
  CHECK(Microseconds(hole.step_ns) == 990);  // before the hole until the last that is recorded
  CHECK(FramesOfMarks(trace(true)).base.holes.empty());
}

TEST_CASE("without the host the marks on the stream that works most are the steps") {
  TraceText t;
  for (int i = 0; i < 3; ++i) {
    const double at = 1000.0 * i;
    const auto mark = [&](int stream, double from, double dur) {
      t.Raw("{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#" +
            std::to_string(i + 3) + "\",\"pid\":0,\"tid\":" + std::to_string(stream) +
            ",\"ts\":" + std::to_string(from) + ",\"dur\":" + std::to_string(dur) + "}");
    };
    mark(7, at, 1001);
    t.Kernel("gemm", at + 1, 900, 10 + i);
    mark(20, at + 600, 400);
    t.Kernel("nccl", at + 601, 300, 20 + i, 20);
  }
  const TimeFrames frames = FramesOfMarks(t);
  CHECK(frames.base.source == StepSource::kMarks);
  REQUIRE(frames.steps.size() == 3);
  CHECK(frames.steps[1].number == 4);
  CHECK(SpanText(frames.steps[1].host) == "[1000, 2000)");
  CHECK(frames.steps[1].gpu_events == 2);
  CHECK(frames.left_out.empty());
}

TEST_CASE("launches without numbers have the work of their op") {
  const auto trace = [](bool whole) {
    TraceText t;
    for (int i = 0; i < 3; ++i) {
      const double at = 1000.0 * i;
      t.Annotation("ProfilerStep#" + std::to_string(i), at, 1000);
      for (int k = 0; k < 4; ++k) {
        const std::string id = std::to_string(10 * i + k + 1);
        const std::string args = ",\"args\":{\"External id\":" + id + "}}";
        const auto event = [&](const char* category, const char* name, int pid, double ts,
                               double dur) {
          t.Raw(std::string("{\"ph\":\"X\",\"cat\":\"") + category + "\",\"name\":\"" + name +
                "\",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(pid) +
                ",\"ts\":" + std::to_string(ts) + ",\"dur\":" + std::to_string(dur) + args);
        };
        event("cpu_op", "aten::mm", 100, at + 100 * k, 50);
        event("cuda_runtime", "hipLaunchKernel", 100, at + 100 * k + 1, 5);
        if (whole || i < 2 || k < 1) event("kernel", "gemm", 0, at + 100 * k + 20, 60);
      }
    }
    return t;
  };
  const TimeFrames whole = FramesOfMarks(trace(true));
  CHECK(whole.launches_cut_off == 0);
  CHECK(whole.launches_without_work == 0);
  CHECK(whole.steady_steps == 3);
  CHECK(FramesOfMarks(trace(false)).launches_cut_off == 3);
}

TEST_CASE("launches that have no kernel though later ones have are counted") {
  TraceText t;
  int id = 0;
  for (int i = 0; i < 4; ++i) {
    if (i > 0) {
      AddStep(&t, "ProfilerStep#" + std::to_string(i), 1000.0 * i, 1000, 9, &id);
      continue;
    }
    t.Annotation("ProfilerStep#0", 0, 1000);
    for (int k = 0; k < 5; ++k)
      t.Op("aten::mm", 100 * k, 50).Runtime("cudaLaunchKernel", 100 * k + 1, 5, 900 + k);
  }
  const TimeFrames frames = FramesOfMarks(t);
  CHECK(frames.launches_without_work == 5);
  CHECK(frames.launches_cut_off == 0);
  CHECK(frames.steps[0].odd_because == "no GPU work recorded");
  CHECK(frames.apart());
  CHECK(frames.base_steps() == 3);
}

TEST_CASE("marks around a part of their step leave the rest to it, up to the next mark") {
  // `steps` steps of 1 ms, a mark around the first `marked` microseconds, work in the first
  // `works`.
  const auto frames_of = [](int steps, double marked, int works) {
    TraceText t;
    for (int i = 0; i < steps; ++i) {
      const double at = 1000 * i;
      t.Annotation("train#step_num=" + std::to_string(i) + "#", at, marked)
          .Op("my::run", at + 1, 90);
      if (i < works)
        t.Runtime("cudaLaunchKernel", at + 2, 5, i + 1).Kernel("gemm", at + 10, 80, i + 1);
    }
    return FramesOfMarks(t);
  };
  const TimeFrames part = frames_of(6, 100, 6);
  CHECK(part.base.open_end);
  CHECK(part.steady_steps == 5);
  CHECK(part.steps[0].host_ns() == 1'000'000);
  CHECK(part.step_ns == part.steady_host_ns);  // one length for one step
  CHECK(part.steps[5].odd_because == "its end was not recorded");
  // The device's records stop: the last of them ends with the mark of the next.
  const TimeFrames stops = frames_of(6, 100, 3);
  CHECK(stops.steady_steps == 3);
  CHECK(stops.step_ns == 1'000'000);
  CHECK(stops.steps[2].steady);
  CHECK(stops.steps[3].odd_because == "no GPU work recorded");
  const TimeFrames all = frames_of(6, 980, 6);  // marks of the whole, with a breath between
  CHECK_FALSE(all.base.open_end);
  CHECK(all.steady_steps == 6);
  CHECK(all.steps[0].host_ns() == 980'000);
}

TEST_CASE("a thread none of whose many launches has a kernel cuts no recording off") {
  // Two threads of a process launch in turns; of the second one nothing is recorded.
  const auto frames_of = [](int launches, bool recorded) {
    TraceText t;
    for (int i = 0; i < 30; ++i) {
      t.Thread(100, 100).Op("aten::mm", 100 * i, 40);
      t.Runtime("cudaLaunchKernel", 100 * i + 1, 5, i + 1).Kernel("gemm", 100 * i + 10, 60, i + 1);
      if (i < 30 - launches) continue;
      t.Thread(100, 200).Op("aten::mm", 100 * i + 50, 40);
      t.Runtime("cudaLaunchKernel", 100 * i + 51, 5, 100 + i);
      if (recorded) t.Kernel("gemm", 100 * i + 60, 30, 100 + i, 8);
    }
    t.Thread(100, 200).Runtime("cudaLaunchKernel", 3010, 5, 200);
    t.Runtime("cudaLaunchKernel", 3020, 5, 201);
    return FramesOfMarks(t);
  };
  const TimeFrames lost = frames_of(30, false);
  CHECK(lost.unrecorded_threads == 1);
  CHECK(lost.unrecorded_threads_launches == 32);
  CHECK(lost.launches_without_work == 32);
  CHECK(lost.launches_cut_off == 0);
  const TimeFrames cut = frames_of(30, true);  // the last two launches alone
  CHECK(cut.unrecorded_threads == 0);
  CHECK(cut.launches_cut_off == 2);
  const TimeFrames few = frames_of(3, false);  // too few to tell
  CHECK(few.unrecorded_threads == 0);
}

TEST_CASE("work of steps that are left out is known by its launch") {
  TraceText t;
  int id = 0;
  for (int i = 0; i < 5; ++i) {
    const double at = 1000.0 * i + (i > 2 ? 50000 : 0);
    AddStep(&t, "ProfilerStep#" + std::to_string(i), at, i == 2 ? 51000 : 1000, 9, &id);
  }
  t.OpWithKernel("aten::add", 12000, 50, "add", 12100, 30000, 500);  // in the long one
  const TimeFrames frames = FramesOfMarks(t);
  CHECK(frames.steady_steps == 4);
  CHECK(frames.left_out.size() == 10);
  CHECK(Microseconds(frames.steady.busy_ns()) == 4 * 900);
}

}  // namespace
}  // namespace jarvis::analysis
