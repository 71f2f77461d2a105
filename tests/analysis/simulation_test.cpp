#include "analysis/simulation/simulation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/attribution/attribution.h"
#include "analysis/simulation/path_shares.h"
#include "analysis/simulation_machine.h"
#include "io/byte_source.h"
#include "trace/reader.h"
#include "tree/build.h"

namespace jarvis::analysis {
namespace {

constexpr double kMicro = 0.001;  // ms

TEST_CASE("a step bound by the GPU: kernels count, the host does not") {
  // Host 0-10, then a launch every 10 us. The first kernel starts at 18; ten kernels of 100 us with
  // gaps of 1 us end at 18 + 1000 + 9 = 1027; the wait returns at 1035.
  Machine machine;
  machine.Host(10);
  for (int i = 0; i < 10; ++i)
    machine.Launch("k", 100).Host(6);
  machine.Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().wall_ms == doctest::Approx(1.035));
  CHECK(simulation.quality().matched_waits_percent == doctest::Approx(100));
  CHECK(std::abs(simulation.quality().replay_error_percent) < 0.1);
  // Half the kernels' time: 18 + 500 + 9 + 8 = 535.
  CHECK(SavedMs(simulation, Scaled(loaded, "k", 0.5)) == doctest::Approx(0.5));
  // Half the host's: only the first launch matters, 5 us earlier.
  CHECK(SavedMs(simulation, HostScaled(0.5)) == doctest::Approx(0.005));
  // Without any GPU time the host is done after 10 + 10 x 10 + 8 (the wait's return).
  CHECK(simulation.host_floor_ms() < 0.13);
  CHECK(simulation.gpu_floor_ms() > 1.0);
  const PathShares shares = SharesOf(simulation.CriticalPath());
  CHECK(shares.Total() == doctest::Approx(1035));
  CHECK(shares.us[static_cast<int>(PathClass::kGpu)] == doctest::Approx(1009));
  CHECK(shares.us[static_cast<int>(PathClass::kHost)] == doctest::Approx(10));
  CHECK(SharesText(shares).starts_with("GPU 97 %"));
}

TEST_CASE("a step bound by the host: kernels hardly count, and do once the host is faster") {
  // Ten times host 100, launch 4, kernel 90: the last launch is at 10 x 100 + 9 x 4 = 1036, its
  // kernel runs from 1044 to 1134, the wait returns at 1142.
  Machine machine;
  for (int i = 0; i < 10; ++i)
    machine.Host(100).Launch("k", 90);
  machine.Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().wall_ms == doctest::Approx(1.142));
  // Half the kernels: only the last one's 45 us.
  CHECK(SavedMs(simulation, Scaled(loaded, "k", 0.5)) == doctest::Approx(0.045));
  // A tenth of the host: launches at 10, 24, ...; kernels back to back from 18 on: 18 + 900 + 9 + 8
  // = 935, saved 207. Then half the kernels: 18 + 45 x 10 + 9 = 477 + 8, saved 450 more.
  const std::vector<std::vector<Change>> lists = {{HostScaled(0.1)}, {Scaled(loaded, "k", 0.5)}};
  const std::vector<double> in_order_ms = simulation.SavedInOrder(lists);
  REQUIRE(in_order_ms.size() == 2);
  CHECK(simulation.WhatIf(lists[0]).saved_ms == doctest::Approx(0.207));
  CHECK(simulation.WhatIf(lists[1]).saved_ms == doctest::Approx(0.045));
  CHECK(in_order_ms[1] == doctest::Approx(0.45));
}

TEST_CASE("the critical path by the modules around it") {
  // 1000 us of an op in one module, then 500 in a module within another, then what is in none.
  TraceText text;
  text.Module("Encoder_0", 0, 1000).Op("aten::slow", 0, 1000);
  text.Module("Decoder_0", 1000, 504).Module("Linear_1", 1000, 504).Op("aten::slow", 1000, 504);
  text.OpWithKernel("aten::mm", 1504, 10, "gemm", 1512, 2000, 1);
  const Loaded loaded = Load(text);
  const Simulation simulation = SimulationOf(loaded);
  const auto owners =
      OwnersOf(loaded.events(), loaded.tree, Attribute(loaded.events(), loaded.tree),
               simulation.recorded(), simulation.CriticalPath(), PathOwnership::kModule);
  REQUIRE(owners.size() == 3);
  CHECK(owners[0].name.empty());
  CHECK(owners[0].gpu_us == doctest::Approx(2000).epsilon(0.01));
  CHECK(owners[1].name == "Encoder");
  CHECK(owners[1].host_us == doctest::Approx(1000));
  CHECK(owners[2].name == "Decoder / Linear");
  CHECK(owners[2].host_us == doctest::Approx(504));
}

TEST_CASE("whose time the critical path is, and when") {
  // Host-bound for 1000 us in an op and 1000 in a frame of Python, then a kernel of 2000 from 2012.
  TraceText text;
  text.Op("aten::slow", 0, 1000);
  text.Python("<built-in method f of C object at 0x7f01>", 1000, 500);
  text.Python("<built-in method f of C object at 0x7f02>", 1500, 504);
  text.OpWithKernel("aten::mm", 2004, 10, "gemm", 2012, 2000, 1);
  const Loaded loaded = Load(text);
  const Simulation simulation = SimulationOf(loaded);
  const auto path = simulation.CriticalPath();
  const auto owners =
      OwnersOf(loaded.events(), loaded.tree, Attribute(loaded.events(), loaded.tree),
               simulation.recorded(), path);
  REQUIRE(owners.size() >= 3);
  CHECK(owners[0].name == "aten::mm");
  CHECK(owners[0].gpu_us == doctest::Approx(2000).epsilon(0.01));
  CHECK(owners[1].name == "<built-in method f of C object>");
  CHECK(owners[1].host_us == doctest::Approx(1004));
  CHECK_FALSE(owners[1].is_op);
  CHECK(owners[2].name == "aten::slow");
  CHECK(owners[2].host_us == doctest::Approx(1000));
  // By parts of host time: the op and the frames before 1500, the rest after; the kernel is of the
  // part that launched it.
  const std::int64_t zero = simulation.recorded().base_ns;
  const std::vector<PartSpan> spans = {{{zero, zero + 1'500'000}, 0},
                                       {{zero + 1'500'000, zero + 9'000'000}, 1}};
  const auto parts = SplitPath(simulation.recorded(), path, spans, 2);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].host_us == doctest::Approx(1500));
  CHECK(parts[0].gpu_us == 0);
  CHECK(parts[1].host_us == doctest::Approx(504).epsilon(0.05));
  CHECK(parts[1].gpu_us == doctest::Approx(2000).epsilon(0.01));
  CHECK(parts[2].us() == 0);
  // Of the time after 2012 it is the kernel alone; without the kernel the host is all there is.
  const auto late =
      SharesOf(StepsWithin(simulation.recorded(), path, {{zero + 2'013'000, zero + 9'000'000}}));
  CHECK(late.PercentOf(PathClass::kGpu) == doctest::Approx(100));
  const std::vector<Change> without = {Scaled(loaded, "gemm", 0)};
  const auto rest = SharesOf(simulation.CriticalPath(without));
  CHECK(rest.PercentOf(PathClass::kHost) > 98);
  const auto stretches = StretchesOf(path, 100);
  REQUIRE(stretches.size() == 2);
  CHECK(stretches[0].prevails == PathClass::kHost);
  CHECK(stretches[0].end_us == doctest::Approx(2006).epsilon(0.02));
  CHECK(stretches[1].prevails == PathClass::kGpu);
}

TEST_CASE("loading code in a launch is no wait for the GPU") {
  // The first launch takes 900 us while the GPU has nothing to do.
  TraceText text;
  text.Op("aten::op", 0, 100).Runtime("cudaLaunchKernel", 100, 900, 1).Kernel("k", 1002, 50, 1);
  const Loaded loaded = Load(text);
  CHECK(SimulationOf(loaded).quality().wait_ms == 0);
}

TEST_CASE("a wait in every iteration: host and GPU take turns") {
  // Per iteration: host 100, launch at its end, kernel 8 us later for 200, return 8 us after: 316.
  Machine machine;
  for (int i = 0; i < 5; ++i)
    machine.Host(100).Launch("k", 200).Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().wall_ms == doctest::Approx(5 * 0.316));
  CHECK(SavedMs(simulation, Scaled(loaded, "k", 0.5)) == doctest::Approx(0.5));
  CHECK(SavedMs(simulation, HostScaled(0.5)) == doctest::Approx(0.25));
  // Without waits the last kernel starts when the one before it has ended: 108 + 5 x 200 + 4 gaps
  // of 1 = 1112; nothing waits for it. 1580 - 1112 = 468.
  CHECK(SavedMs(simulation, RemoveWaits{{}, true}) == doctest::Approx(0.468).epsilon(0.001));
}

TEST_CASE("streams wait for each other where a call says so") {
  // A launched at 10 runs from 18 to 218; B was told to wait, starts at 221 and ends at 321; the
  // wait returns at 329.
  Machine machine;
  machine.Host(10).Launch("a", 200, 7).StreamWait(8, 7).Launch("b", 100, 8).Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().wall_ms == doctest::Approx(0.329));
  CHECK(SavedMs(simulation, Scaled(loaded, "a", 0.5)) == doctest::Approx(0.1));
  CHECK(SavedMs(simulation, Scaled(loaded, "b", 0.5)) == doctest::Approx(0.05));
}

TEST_CASE("streams without a wait run side by side") {
  // B runs from 24 to 124 beside A (18 to 318): only A counts, until B is longer.
  Machine machine;
  machine.Host(10).Launch("a", 300, 7).Host(2).Launch("b", 100, 8).Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(SavedMs(simulation, Scaled(loaded, "b", 0.5)) == doctest::Approx(0));
  // A of 30 us ends at 48; B decides then, at 124: 318 - 124 = 194.
  CHECK(SavedMs(simulation, Scaled(loaded, "a", 0.1)) == doctest::Approx(0.194));
}

TEST_CASE("waits that no call shows are found where they repeat") {
  // 40 times: host 20, launch at its end, kernel 500 from 8 us later, silent until 8 us after its
  // end, host 20: 20 + 8 + 500 + 8 + 20 = 556 a turn.
  Machine machine;
  for (int i = 0; i < 40; ++i)
    machine.Host(20).Launch("k", 500).WaitUnseen().Host(20);
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().hidden_waits == 40);
  CHECK(simulation.quality().wall_ms == doctest::Approx(40 * 0.556));
  const std::vector<Change> changes = {Scaled(loaded, "k", 0.5)};
  const Outcome outcome = simulation.WhatIf(changes);
  CHECK(outcome.saved_ms == doctest::Approx(40 * 0.25));
  // If the silence is work of the host, next to nothing is saved: the range says so.
  CHECK(outcome.low_ms < 0.5);
  CHECK(outcome.lowest == Reading::kNoHiddenWaits);
}

TEST_CASE("one silence that ends with a kernel is no proof of a wait") {
  Machine machine;
  machine.Host(20).Launch("k", 500).WaitUnseen().Host(1000);
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().hidden_waits == 0);
  const std::vector<Change> changes = {Scaled(loaded, "k", 0.5)};
  const Outcome outcome = simulation.WhatIf(changes);
  CHECK(outcome.saved_ms == doctest::Approx(0).epsilon(0.001));
  // It may be one: the range ends where all of the kernel's time counts.
  CHECK(outcome.high_ms > 0.24);
}

TEST_CASE("backward runs on another thread, and each waits for the other") {
  // Five turns: forward 300 on the main thread, 60 us of handing over, backward 400 on the other,
  // 60 us back. The kernels are short: the host is all. Older versions name the nodes alone.
  for (const char* node : {"autograd::engine::evaluate_function: AddBackward0", "AddBackward0"}) {
    Machine machine;
    for (int i = 0; i < 5; ++i) {
      machine.On(kMain);
      for (int op = 0; op < 6; ++op)
        machine.Host(50).Launch("f", 5);
      machine.HandOver(kBackward);
      for (int op = 0; op < 8; ++op)
        machine.Host(50, node).Launch("b", 5);
      machine.HandOver(kMain);
    }
    machine.Host(10).Sync();
    const Loaded loaded = machine.Recorded();
    const Simulation simulation = SimulationOf(loaded);
    const std::uint32_t backward = loaded.events()[loaded.Find(node)].track;
    const double saved =
        SavedMs(simulation, ScaleHost{{{backward, 0, 1'000'000'000'000}}, 0.5, false});
    // Half of 5 x 8 x 50 us; without the hand-overs the main thread would not have noticed.
    CHECK(saved == doctest::Approx(1.0).epsilon(0.03));
  }
}

TEST_CASE("a full launch queue holds the host up") {
  const auto run = [](double kernel) {
    Machine machine;
    machine.queue = 256;
    machine.Host(10);
    for (int i = 0; i < 900; ++i)
      machine.Launch("k", kernel).Host(2);
    // The work after the loop starts earlier if launches no longer wait.
    machine.Host(15000).Sync();
    return machine;
  };
  const Machine machine = run(40);
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().launch_queue == 256);
  CHECK(simulation.quality().wall_ms == doctest::Approx(machine.Wall() / 1000));
  const double saved = (machine.Wall() - run(20).Wall()) / 1000;
  CHECK(saved > 5);
  CHECK(SavedMs(simulation, Scaled(loaded, "k", 0.5)) == doctest::Approx(saved).epsilon(0.01));
}

TEST_CASE("a queue that was full before the recording began holds the host up as well") {
  // The first 400 launches were not recorded, their work was.
  const auto run = [](double kernel) {
    Machine machine;
    machine.queue = 256;
    machine.recorded_after = 400;
    for (int i = 0; i < 900; ++i)
      machine.Launch(i < 400 ? "before" : "k", i < 400 ? 40 : kernel).Host(2);
    machine.Host(15000).Sync();
    // What a call takes that does not wait.
    for (int i = 0; i < 250; ++i)
      machine.Launch("after", 1).Host(2);
    machine.Sync();
    return machine;
  };
  const Machine machine = run(40);
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().launch_queue == 256);
  const double saved = (machine.Wall() - run(20).Wall()) / 1000;
  CHECK(saved > 4);
  CHECK(SavedMs(simulation, Scaled(loaded, "k", 0.5)) == doctest::Approx(saved).epsilon(0.02));
}

TEST_CASE("a queue may be full at several lengths: calls return as queued work begins") {
  const auto run = [](double copy) {
    Machine machine;
    machine.Host(10);
    for (int i = 0; i < 1200; ++i) {
      machine.queue = i < 600 ? 300 : 270;
      machine.Launch(i % 20 == 0 ? "copy" : "k", i % 20 == 0 ? copy : 5);
    }
    machine.Host(3000).Sync();
    return machine;
  };
  const Machine machine = run(2000);
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  const double saved = (machine.Wall() - run(1000).Wall()) / 1000;
  CHECK(saved > 50);
  CHECK(SavedMs(simulation, Scaled(loaded, "copy", 0.5)) == doctest::Approx(saved).epsilon(0.03));
}

TEST_CASE("a slow launch that returns at any time is the host's own") {
  // Every 100th call takes 3 ms, as loading code does; the GPU is never behind by a queue.
  const auto run = [](double kernel) {
    Machine machine;
    for (int i = 0; i < 1200; ++i) {
      machine.Launch("k", kernel);
      if (i % 100 == 99) machine.Host(3000);
    }
    machine.Sync();
    return machine;
  };
  const Loaded loaded = run(10).Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().launch_queue == 0);
  const double saved = (run(10).Wall() - run(5).Wall()) / 1000;
  CHECK(SavedMs(simulation, Scaled(loaded, "k", 0.5)) == doctest::Approx(saved).epsilon(0.03));
}

TEST_CASE("removed work takes its launch and its gap along") {
  // Ten pairs of a (50) and b (50) behind each other on the GPU: b leaves with its gap of 1.
  Machine machine;
  machine.Host(10);
  for (int i = 0; i < 10; ++i)
    machine.Launch("a", 50).Launch("b", 50);
  machine.Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(SavedMs(simulation, RemoveGpu{GpuWorkNamed(loaded, "b")}) == doctest::Approx(0.51));
  CHECK(SavedMs(simulation, SetGpuTime{GpuWorkNamed(loaded, "b"), {20}}) == doctest::Approx(0.3));
}

TEST_CASE("launches as a graph leave the GPU's time") {
  // Twenty launches with 100 us of host before each, kernels of 10: 19 x 104 us of host between the
  // first launch and the last. As one graph: 8 us and 1 us a node, then 20 kernels with gaps of 1.
  Machine machine;
  for (int i = 0; i < 20; ++i)
    machine.Host(100).Launch("k", 10);
  machine.Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  const std::vector<Change> changes = {GraphLaunches{0, 1'000'000'000'000}};
  const Outcome outcome = simulation.WhatIf(changes);
  // From 100 + 8 (first kernel's start), 20 x 10 + 19 x 1, 8 back: 335; it was 20 x 104 + 8 + 10
  // + 4.
  CHECK(outcome.before_ms == doctest::Approx(2.102));
  CHECK(outcome.after_ms == doctest::Approx(0.335).epsilon(0.02));
  CHECK(outcome.low_ms < outcome.saved_ms);
}

TEST_CASE("a pinned upload lets the host go on") {
  // The copy's call is from 10 to 326 (start at 18, 300 us, 8 us back), host to 626, kernel from
  // 634 to 684, return at 692. Pinned: the call ends at 20, host to 320, kernel from 328 to 378,
  // 386.
  Machine machine;
  machine.Host(10).Upload(300).Host(300).Launch("k", 50).Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  CHECK(simulation.quality().wall_ms == doctest::Approx(0.692));
  const auto copies = GpuWorkNamed(loaded, "Memcpy HtoD (Pageable -> Device)");
  CHECK(SavedMs(simulation, PinCopies{copies}) == doctest::Approx(0.306));
}

TEST_CASE("host time that a change made shorter is left everywhere in it") {
  Machine machine;
  for (int i = 0; i < 10; ++i)
    machine.Host(100).Launch("k", 10);
  machine.Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  const std::uint32_t track = loaded.events()[loaded.Find("aten::op")].track;
  // Half of the first 100 us is the profiler's; what the second half of them holds loses half, too.
  const RemoveProfilerCost half{{HostCost{track, 0, 100'000, 50'000, 50'000, 50'000}}};
  const ScaleHost second{{{track, 50'000, 100'000}}, 0};
  const GivenChanges given = simulation.Given({half});
  const std::vector<Change> gone = {second};
  CHECK(simulation.Saved(given, gone) == doctest::Approx(0.025));
  // Two parts of one stretch go as both together do.
  const std::vector<Change> parts = {ScaleHost{{{track, 0, 50'000}, {track, 50'000, 100'000}}, 0}};
  const std::vector<Change> whole = {ScaleHost{{{track, 0, 100'000}}, 0}};
  CHECK(simulation.Saved({}, parts) == doctest::Approx(simulation.Saved({}, whole)));
}

TEST_CASE("the profiler's cost is a range") {
  Machine machine;
  for (int i = 0; i < 10; ++i)
    machine.Host(100).Launch("k", 10);
  machine.Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  // Of the first 100 us of host, 40 to 60 are the profiler's.
  const std::uint32_t track = loaded.events()[loaded.Find("aten::op")].track;
  const std::vector<Change> changes = {
      RemoveProfilerCost{{HostCost{track, 0, 100'000, 40'000, 60'000}}}};
  const Outcome outcome = simulation.WhatIf(changes);
  CHECK(outcome.saved_ms == doctest::Approx(0.05));
  CHECK(outcome.low_ms <= 0.04);
  CHECK(outcome.high_ms >= 0.06);
}

TEST_CASE("rounded times: a call that ends a little after the next one began") {
  // The launch seems to end in the copy's call, which waits all the same.
  TraceText text;
  text.Op("aten::op", 0, 100).Runtime("cudaLaunchKernel", 100, 4.002, 1);
  text.Kernel("k", 108, 500, 1);
  text.Runtime("cudaMemcpyAsync", 104.001, 513, 2);
  text.Memcpy("Memcpy DtoH (Device -> Pageable)", 609, 2, 2).Op("aten::op", 618, 100);
  const Loaded loaded = Load(text);
  const Simulation simulation = SimulationOf(loaded);
  CHECK(SavedMs(simulation, Scaled(loaded, "k", 0.5)) == doctest::Approx(0.25));
}

TEST_CASE("what there is to simulate, and what there is not") {
  CHECK(SimulationOf(Load(TraceText().Op("op", 0, 10))).empty());
  CHECK(SimulationOf(Load(TraceText().Op("op", 0, 10).Runtime("cudaDeviceSynchronize", 2, 60, 1)))
            .empty());
  // Work without calls: as it was, one after the other.
  const Loaded gpu_only = Load(TraceText().Kernel("k", 0, 100, 1).Kernel("k", 200, 100, 2));
  const Simulation simulation = SimulationOf(gpu_only);
  CHECK_FALSE(simulation.empty());
  CHECK(simulation.quality().wall_ms == doctest::Approx(0.3));
  // One kernel with its launch: 100 us less.
  Machine machine;
  machine.Launch("k", 200).Sync();
  const Loaded one = machine.Recorded();
  CHECK(SavedMs(SimulationOf(one), Scaled(one, "k", 0.5)) == doctest::Approx(0.1));
  // Changes of what is not there change nothing.
  CHECK(SavedMs(SimulationOf(one), ScaleGpu{{}, {}}) == doctest::Approx(0));
  CHECK(SavedMs(SimulationOf(one), ScaleGpu{{0, 1, 2}, {1.0}}) == doctest::Approx(0));
}

TEST_CASE("no times are too odd: overlaps, circles, threads and streams without end") {
  std::mt19937 random(7);
  const auto time = [&](unsigned most) { return static_cast<double>(random() % most); };
  for (int round = 0; round < 20; ++round) {
    TraceText text;
    for (int i = 0; i < 400; ++i) {
      text.Thread(1, static_cast<int>(random() % (round % 2 == 0 ? 3 : 200)));
      const char* calls[] = {"cudaLaunchKernel",     "cudaDeviceSynchronize",
                             "cudaStreamWaitEvent",  "cudaStreamSynchronize",
                             "cudaMemcpyAsync",      "cudaFree",
                             "cudaEventSynchronize", "cudaGraphLaunch"};
      text.Runtime(calls[random() % 8], time(5000), time(300), static_cast<int>(random() % 300));
      text.Op("aten::op", time(5000), time(100));
      text.Kernel("k", time(5000), time(400), static_cast<int>(random() % 300),
                  static_cast<int>(random() % (round % 3 == 0 ? 2 : 300)));
    }
    const Loaded loaded = Load(text);
    const Simulation simulation = SimulationOf(loaded);
    const std::vector<Change> changes = {Scaled(loaded, "k", 0.5), HostScaled(0.5),
                                         GraphLaunches{0, 1'000'000'000}, RemoveWaits{{}, true},
                                         RemoveGpu{GpuWorkNamed(loaded, "k")}};
    const Outcome outcome = simulation.WhatIf(changes);
    CHECK(std::isfinite(outcome.after_ms));
    CHECK(std::isfinite(outcome.low_ms));
    CHECK(outcome.before_ms > 0);
    CHECK(outcome.after_ms >= -kMicro);
    double end = 0;
    for (const PathStep& step : simulation.CriticalPath())
      end = std::max(end, step.end_us);
    CHECK(std::isfinite(end));
    // The same trace gives the same answer.
    CHECK(SimulationOf(loaded).WhatIf(changes).saved_ms == outcome.saved_ms);
  }
}

// Real traces: the wall time of the replay, and the waits that are explained.
struct RealTrace {
  const char* file;
  double error_max;    // percent
  double matched_min;  // percent
};
constexpr RealTrace kRealTraces[] = {
    {"timesformer-h100/trace.json.gz", 0.1, 99},
    {"sd35-xdit-mi300x/trace.json.gz", 0.1, 99.9},
    {"gptoss-vllm-b200/trace.json.gz", 0.1, 97},
    {"sam-masks-a100/trace.json.gz", 0.25, 99},
    {"qwen3-sglang-prefill-mi300x/trace.json.gz", 0.1, 99.9},
    {"ep-moe-b200/ref.json.gz", 0.5, 99.9},
    {"ep-moe-b200/new.json.gz", 0.1, 99.9},
    {"dlrm-a2a-v100/rank0.json.gz", 0.1, 98},
    {"dlrm-a2a-v100/rank2.json.gz", 0.1, 83},
    {"owlv2-mi300x/trace.json.gz", 0.1, 99.9},
    {"qwen1.5-0.5b-h100/trace.json.gz", 0.1, 99.9},
    {"qwen1.5-0.5b-mi300x/trace.json.gz", 0.1, 99.9},
    {"resnet-recompute-mi300x/trace.json.gz", 1.0, 99.9},
    {"sam-fast-a100/trace.json.gz", 0.1, 99.9},
    {"async-flows-v100/trace.json.gz", 0.4, 99},
    {"sglang-decode-mi300x/trace.json.gz", 0.1, 99.5},
};

TEST_CASE("real traces are replayed") {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  const std::string folder = data == nullptr ? "" : std::string(data) + "/traces/";
  if (data == nullptr || !std::filesystem::exists(folder)) {
    MESSAGE("skipped: JARVIS_TEST_DATA has no traces");
    return;
  }
  for (const RealTrace& real : kRealTraces) {
    if (!std::filesystem::exists(folder + real.file)) continue;
    CAPTURE(real.file);
    Job job;
    auto bytes = io::OpenBytes(folder + real.file);
    REQUIRE(bytes.has_value());
    const auto trace = trace::ReadTrace(**bytes, {}, job);
    REQUIRE(trace.has_value());
    const auto tree = tree::BuildTree(trace->events, 1, job);
    REQUIRE(tree.has_value());
    const auto simulation = Simulation::Make(trace->events, *tree, job);
    REQUIRE(simulation.has_value());
    const SimulationQuality& quality = simulation->quality();
    CHECK(std::abs(quality.replay_error_percent) <= real.error_max);
    CHECK(quality.matched_waits_percent >= real.matched_min);
    CHECK(quality.refusal.empty());
    CHECK(simulation->host_floor_ms() <= quality.wall_ms * 1.001);
    CHECK(simulation->gpu_floor_ms() <= quality.wall_ms * 1.001);
    const double total = SharesOf(simulation->CriticalPath()).Total();
    CHECK(total / 1000 == doctest::Approx(quality.wall_ms).epsilon(1e-6));
  }
}

}  // namespace
}  // namespace jarvis::analysis
