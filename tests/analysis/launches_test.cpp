#include "analysis/host/launches.h"

#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

struct Launching {
  explicit Launching(const TraceText& text)
      : loaded(Load(text)), gpu(loaded.events()), launches(loaded.events(), loaded.tree, gpu) {}
  Loaded loaded;
  HostGpuWork gpu;
  Launches launches;
};

TraceText& Launched(TraceText& t, double call, double start, double dur, int id, int stream = 7) {
  return t.Runtime("cudaLaunchKernel", call, 4, id).Kernel("k", start, dur, id, stream);
}

TEST_CASE("the GPU waits for each launch") {
  //  calls    0      50      100     150
  //  kernels   10-12   61-63   110-112  162-164
  TraceText t;
  Launched(t, 0, 10, 2, 1);
  Launched(t, 50, 61, 2, 2);
  Launched(t, 100, 110, 2, 3);
  Launched(t, 150, 162, 2, 4);
  const LaunchFigures all = Launching(t).launches.All();
  CHECK(all.launches == 4);
  CHECK(all.to_next_median_us == 50);
  CHECK(all.to_next_mean_us == 50);
  CHECK(all.work_median_us == 2);
  CHECK(all.idle_percent == 100);
  CHECK(all.latency_median_us == 11);  // of 10, 10, 11, 12 the upper middle
  CHECK(all.lead_median_us == 11);
  CHECK_FALSE(all.launch_bound);  // four launches say nothing about a program
}

TEST_CASE("the host runs ahead") {
  // A call every 10 us, work of 100 us each, one after another: the lead grows by 90 us a launch.
  TraceText t;
  for (int i = 0; i < 40; ++i)
    Launched(t, 10 * i, 10 + 100 * i, 100, i + 1);
  const LaunchFigures all = Launching(t).launches.All();
  CHECK(all.to_next_median_us == 10);
  CHECK(all.work_mean_us == 100);
  CHECK(all.lead_first_us == 10 + 90 * 2);  // the median of the first four
  CHECK(all.lead_last_us == 10 + 90 * 38);
  CHECK(all.lead_median_us == 10 + 90 * 20);
  CHECK(all.idle_percent == 2.5);  // the first alone
  CHECK_FALSE(all.latency_median_us.has_value());
  CHECK_FALSE(all.launch_bound);
}

TEST_CASE("launch-bound: short kernels on idle streams, many of them") {
  TraceText t;
  for (int i = 0; i < 40; ++i)
    Launched(t, 50 * i, 50 * i + 10, 3, i + 1);
  CHECK(Launching(t).launches.All().launch_bound);
  // The same as one graph launch among them that does most of the work.
  t.Runtime("cudaGraphLaunch", 3000, 10, 100);
  t.Kernel("a", 3020, 500, 100).Kernel("b", 3520, 500, 100);
  const LaunchFigures graph = Launching(t).launches.All();
  CHECK(graph.graph_launches == 1);
  CHECK(graph.graph_percent > 85);
  CHECK_FALSE(graph.launch_bound);
}

TEST_CASE("a stream can be idle while the device is not") {
  TraceText t;
  Launched(t, 0, 10, 1000, 1, 7);
  Launched(t, 20, 32, 5, 2, 8);
  Launched(t, 40, 52, 5, 3, 8);
  const Launching made(t);
  CHECK(made.launches.All().idle_percent == 100);
  CHECK_FALSE(made.launches.All().latency_median_us.has_value());  // one launch found all idle
  CHECK(made.launches.all()[1].stream_idle);
  CHECK_FALSE(made.launches.all()[1].device_idle);
  REQUIRE(made.launches.streams().size() == 2);
  CHECK(made.launches.OfStream(made.launches.streams()[0]).launches == 2);  // most first
  CHECK(made.launches.OfStream(made.launches.streams()[0]).to_next_median_us == 20);
}

TEST_CASE("copies do not count as launch to launch; threads are apart") {
  TraceText t;
  t.Thread(1, 1);
  Launched(t, 0, 10, 2, 1);
  t.Runtime("cudaMemcpyAsync", 5, 2, 2).Memcpy("Memcpy DtoD", 13, 2, 2);
  Launched(t, 100, 110, 2, 3);
  t.Thread(1, 2);
  Launched(t, 50, 60, 2, 4);
  Launched(t, 80, 90, 2, 5);
  const Launching made(t);
  CHECK(made.launches.All().launches == 5);
  CHECK(made.launches.All().to_next_mean_us == 65);  // 100 and 30
  const std::uint32_t first = made.launches.threads()[0];
  CHECK(made.launches.OfThread(first).launches == 3);
  CHECK(made.launches.OfThread(first).to_next_median_us == 100);
}

TEST_CASE("an interval of calls") {
  TraceText t;
  for (int i = 0; i < 10; ++i)
    Launched(t, 100 * i, 100 * i + 10, 5, i + 1);
  const Launching made(t);
  CHECK(made.launches.In({100'000, 400'000}).launches == 3);
  CHECK(made.launches.In({400'000, 100'000}).launches == 0);
  CHECK(made.launches.In({0, 1}).to_next_median_us == std::nullopt);
  CHECK(made.launches.PendingAt(5'000) == 1);
  CHECK(made.launches.PendingAt(50'000) == 0);
}

TEST_CASE("clocks that disagree; work without a call; an empty trace") {
  TraceText t;
  for (int i = 0; i < 4; ++i)
    Launched(t, 100 * i + 40, 100 * i, 5, i + 1);
  const LaunchFigures off = Launching(t).launches.All();
  CHECK(off.before_call == 4);
  CHECK(off.clocks_off_us == 40);
  CHECK_FALSE(off.latency_median_us.has_value());

  CHECK(Launching(TraceText().Kernel("k", 0, 5, 1)).launches.All().launches == 0);
  CHECK(Launches().All().launches == 0);
}

}  // namespace
}  // namespace jarvis::analysis
