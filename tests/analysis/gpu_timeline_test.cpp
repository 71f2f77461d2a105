#include "analysis/attribution/gpu_timeline.h"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;
using trace::EventKind;

GpuTimeline Compute(const TraceText& text, std::optional<double> threshold = {},
                    Clock clock = Clock::kNanoseconds) {
  const Loaded loaded = Load(text);
  const auto timeline = ComputeGpuTimeline(
      loaded.events(), Attribute(loaded.events(), loaded.tree).timeline, clock, threshold);
  REQUIRE(timeline.has_value());
  const double idle =
      timeline->micro_idle ? *timeline->micro_idle + *timeline->macro_idle : timeline->idle;
  CHECK(timeline->computation + timeline->exposed_comm + timeline->exposed_memcpy + idle ==
        doctest::Approx(timeline->total).epsilon(1e-12));
  return *timeline;
}

TEST_CASE("E13: a kernel and a copy") {
  for (const Clock clock : {Clock::kNanoseconds, Clock::kDoubleMicros}) {
    const GpuTimeline t =
        Compute(TraceText().Kernel("k", 0, 100, 1).Memcpy("m", 200, 50, 2), {}, clock);
    CHECK(t.computation == 100);
    CHECK(t.exposed_memcpy == 50);
    CHECK(t.total_memcpy == 50);
    CHECK(t.busy == 150);
    CHECK(t.idle == 100);
    CHECK(t.total == 250);
    CHECK(t.exposed_comm == 0);
  }
}

TEST_CASE("E14: idle below and above a threshold") {
  const TraceText text = TraceText().Kernel("a", 0, 50, 1).Kernel("b", 100, 50, 2);
  CHECK(Compute(text, 30).micro_idle == 0);
  CHECK(Compute(text, 30).macro_idle == 50);
  CHECK(Compute(text, 50).macro_idle == 50);  // below is short, equal is not
  CHECK(Compute(text, 51).micro_idle == 50);
  CHECK_FALSE(Compute(text).micro_idle.has_value());
}

TEST_CASE("communication and copies are exposed where nothing computes") {
  // 0    20    40    60    80   100   120   140
  // [ compute     ]                                  0-50
  //       [ nccl              ]                     20-80
  //                    [ copy            ]          60-120
  TraceText text;
  text.Kernel("k", 0, 50, 1, 7).Kernel("ncclDevKernel", 20, 60, 2, 8).Memcpy("m", 60, 60, 3, 9);
  const GpuTimeline t = Compute(text);
  CHECK(t.computation == 50);
  CHECK(t.total_comm == 60);
  CHECK(t.exposed_comm == 30);  // 50-80
  CHECK(t.total_memcpy == 60);
  CHECK(t.exposed_memcpy == 40);  // 80-120
  CHECK(t.busy == 120);
  CHECK(t.idle == 0);
}

TEST_CASE("E15: without GPU work there is no timeline") {
  const Loaded loaded = Load(TraceText().Op("op", 0, 10));
  CHECK_FALSE(ComputeGpuTimeline(loaded.events(), {}, Clock::kNanoseconds).has_value());
  const Table table = GpuTimelineTable({});
  for (const auto& row : table.rows)
    CHECK(std::holds_alternative<Absent>(row[1]));
}

TEST_CASE("the reference's arithmetic: ends are rounded to the clock's doubles") {
  // At 1.75e12 us doubles are 2^-12 us apart; 0.1 + 0.2 of duration does not come out as written.
  const double now = 1751410836123.0;
  TraceText text;
  text.Raw(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1751410836123.0,"dur":0.3})");
  CHECK(Compute(text).busy == 0.3);
  CHECK(Compute(text, {}, Clock::kDoubleMicros).busy == (now + 0.3) - now);
  CHECK(Compute(text, {}, Clock::kDoubleMicros).busy != 0.3);
}

TEST_CASE("E16: which events are copies") {
  const auto check = [](EventKind kind, const char* name, WorkClass wanted) {
    CAPTURE(name);
    CHECK(ClassOf(kind, name) == wanted);
  };
  for (const char* name :
       {"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
        "MEMORY_COPY_DEVICE_TO_DEVICE.kd", "__amd_rocclr_copyBuffer", "__amd_rocclr_copyBufferRect",
        "__amd_rocclr_copyBufferAligned", "__amd_rocclr_copyBufferRectAligned.kd"}) {
    check(EventKind::kKernel, name, WorkClass::kMemcpy);
  }
  for (const char* name :
       {"__amd_rocclr_fillBufferAligned", "my_copy_kernel", "memory_copy_host_to_device",
        "MEMORY_COPY_HOST_TO_DEVICE2", "__amd_rocclr_copyBufferAlignedRect", "gemm"}) {
    check(EventKind::kKernel, name, WorkClass::kComputation);
  }
  check(EventKind::kMemcpy, "Memcpy HtoD (Pinned -> Device)", WorkClass::kMemcpy);
  check(EventKind::kMemset, "Memset (Device)", WorkClass::kComputation);
  check(EventKind::kKernel, "ncclDevKernel_AllReduce", WorkClass::kCommunication);
  check(EventKind::kKernel, "rcclGenericKernel", WorkClass::kCommunication);
}

TEST_CASE("the table's rows") {
  const Loaded loaded = Load(TraceText().Kernel("k", 0, 100, 1).Kernel("l", 200, 50, 2));
  const auto work = Attribute(loaded.events(), loaded.tree).timeline;
  const auto names = [&](std::optional<double> threshold) {
    const Table table =
        GpuTimelineTable(ComputeGpuTimeline(loaded.events(), work, Clock::kNanoseconds, threshold));
    std::string text;
    for (const auto& row : table.rows)
      text += std::get<std::string>(row[0]) + " ";
    return text;
  };
  CHECK(names({}) ==
        "computation_time exposed_comm_time exposed_memcpy_time busy_time idle_time total_time "
        "total_comm_time total_memcpy_time ");
  CHECK(names(10) ==
        "computation_time exposed_comm_time exposed_memcpy_time busy_time micro_idle_time "
        "macro_idle_time total_time total_comm_time total_memcpy_time ");
}

}  // namespace
}  // namespace jarvis::analysis
