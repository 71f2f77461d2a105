// Parts of an answer are those of the whole, and what is done already need not be done again.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/simulation_machine.h"

namespace jarvis::analysis {
namespace {

TEST_CASE("questions beyond what is done already") {
  Machine machine;
  for (int i = 0; i < 10; ++i)
    machine.Host(100).Launch("k", 90);
  machine.Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  const std::vector<std::vector<Change>> lists = {{HostScaled(0.1)}, {Scaled(loaded, "k", 0.5)}};
  const std::vector<double> in_order_ms = simulation.SavedInOrder(lists);
  DoneChanges done = simulation.Done({});
  CHECK(simulation.SavedAfter(done, lists) ==
        std::vector<double>{simulation.WhatIf(lists[0]).saved_ms,
                            simulation.WhatIf(lists[1]).saved_ms});
  simulation.Do(lists[0], &done);
  CHECK(simulation.SavedAfter(done, {&lists[1], 1})[0] == in_order_ms[1]);
  const GivenChanges given = simulation.Given(lists[0]);
  CHECK(simulation.Done(given).delays == done.delays);
  CHECK(simulation.Done(given).wall_us == done.wall_us);
  CHECK(given.MemoryBytes() > sizeof(Change));
  // A part of an answer is that of the whole.
  for (const GivenChanges& before : {GivenChanges(), given}) {
    const Outcome whole = simulation.WhatIf(before, lists[1]);
    CHECK(simulation.Saved(before, lists[1]) == whole.saved_ms);
    CHECK(simulation.Removed(before, lists[1]).gpu_ms == whole.gpu_ms);
    CHECK(simulation.Removed(before, lists[1]).host_ms == whole.host_ms);
  }
}

// Ten batches: `wait` us for a loader's workers, then a kernel of 300.
Loaded Fed(double wait, const char* loader) {
  TraceText text;
  double at = 0, free = 0;
  for (int i = 0; i < 10; ++i) {
    if (wait > 0) text.Annotation(loader, at, wait);
    at += wait;
    const double start = std::max(at + 10, free);
    text.Op("aten::mm", at + 1, 8).Runtime("cudaLaunchKernel", at + 2, 4, 2 * i + 1);
    text.Kernel("k", start, 300, 2 * i + 1);
    free = start + 301;
    text.Op("aten::item", at + 12, free - at)
        .Runtime("cudaDeviceSynchronize", at + 13, free + 6 - at - 13, 2 * i + 2);
    at = free + 20;
  }
  return Load(text);
}

TEST_CASE("workers that are waited for deliver no sooner for being asked sooner") {
  constexpr const char* kWorkers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  constexpr const char* kItself = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  const auto saved = [](const Loaded& loaded, std::vector<Change> changes) {
    return SimulationOf(loaded).WhatIf(changes).saved_ms;
  };
  const Loaded fed = Fed(5000, kWorkers);
  // Ten kernels half as long: nothing, but behind the last batch.
  CHECK(saved(fed, {Scaled(fed, "k", 0.5)}) == doctest::Approx(0.15).epsilon(0.1));
  // As long each time, and not for long: a batch that lay ready was handed over.
  const Loaded ready = Fed(1400, kWorkers);
  CHECK(saved(ready, {Scaled(ready, "k", 0.5)}) == doctest::Approx(1.5).epsilon(0.1));
  // A process that loads by itself begins as much sooner.
  const Loaded itself = Fed(5000, kItself);
  CHECK(saved(itself, {Scaled(itself, "k", 0.5)}) == doctest::Approx(1.5).epsilon(0.1));
  // Enough workers: then the kernels show.
  std::vector<HostStretch> waits;
  for (double at = 0; waits.size() < 10; at += 5000 + 331)
    waits.push_back({kAllTracks, static_cast<std::int64_t>(at * 1000),
                     static_cast<std::int64_t>(at + 5000) * 1000});
  const double alone = saved(fed, {ScaleHost{waits, 0}});
  CHECK(alone > 40);
  CHECK(saved(fed, {ScaleHost{waits, 0}, Scaled(fed, "k", 0.5)}) - alone ==
        doctest::Approx(1.5).epsilon(0.1));
}

// Ten rounds of an upload behind the kernel of the round before, the wait for it, 200 us of the
// host, and a kernel of 300. The wait is in the op that uploads, or in the program.
Loaded Uploaded(bool op_waits) {
  TraceText text;
  double at = 0, free = 0;
  for (int i = 0; i < 10; ++i) {
    const double copied = std::max(at + 10, free + 1) + 50;
    const double waited = copied + 12;
    text.Op("aten::copy_", at, (op_waits ? waited : copied + 3) - at + 1)
        .Runtime("cudaMemcpyAsync", at + 1, copied + 2 - at - 1, 3 * i + 1)
        .Memcpy("Memcpy HtoD (Pageable -> Device)", copied - 50, 50, 3 * i + 1)
        .Runtime("cudaStreamSynchronize", copied + 5, 7, 3 * i + 2);
    at = waited + 200;
    text.Op("aten::mm", at, 8).Runtime("cudaLaunchKernel", at + 1, 4, 3 * i + 3);
    text.Kernel("k", at + 8, 300, 3 * i + 3);
    free = at + 308;
    at += 20;
  }
  text.Runtime("cudaDeviceSynchronize", at, free + 5 - at, 1000);
  return Load(text);
}

TEST_CASE("an op that waits for its upload no longer does with pinned memory") {
  const auto saved = [](const Loaded& loaded) {
    return SavedMs(SimulationOf(loaded),
                   PinCopies{GpuWorkNamed(loaded, "Memcpy HtoD (Pageable -> Device)")});
  };
  // The next kernel is launched while the one before runs: nine times 200 us and more.
  CHECK(saved(Uploaded(true)) > 1.8);
  // A wait of the program stays.
  CHECK(saved(Uploaded(false)) < 0.2);
}

// Ten kernels of 300 us, each copied back behind it for so long; the host waits, and goes on to
// launch after `pause_us`.
Loaded CopiedBack(double bytes, double pause_us) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 10; ++i) {
    text.Op("aten::mm", at, 8).Runtime("cudaLaunchKernel", at + 1, 4, 3 * i + 1);
    text.Kernel("k", at + 8, 300, 3 * i + 1);
    const double copied = at + 308 + 100;
    text.Op("aten::copy_", at + 10, copied + 12 - at - 10)
        .Runtime("cudaMemcpyAsync", at + 11, copied + 2 - at - 11, 3 * i + 2)
        .Memcpy("Memcpy DtoH (Device -> Pageable)", copied - 100, 100, 3 * i + 2, 7,
                fmt::format(R"("bytes":{})", bytes))
        .Runtime("cudaStreamSynchronize", copied + 5, 6, 3 * i + 3);
    at = copied + 12 + pause_us;
  }
  text.Op("aten::mm", at, 8).Runtime("cudaLaunchKernel", at + 1, 4, 1000);
  text.Kernel("k", at + 8, 300, 1000);
  text.Runtime("cudaDeviceSynchronize", at + 10, 305, 1001);
  return Load(text);
}

TEST_CASE("a copy back holds nobody up whose values nobody can have read before the next launch") {
  const auto saved = [](const Loaded& loaded) {
    return SavedMs(SimulationOf(loaded),
                   PinCopies{GpuWorkNamed(loaded, "Memcpy DtoH (Device -> Pageable)")});
  };
  // A megabyte takes 100 us to read. The bus takes 29 us for it instead of 100, and kernels follow
  // one another: 12 + 30 + 8 us of the host are hidden.
  CHECK(saved(CopiedBack(1e6, 30)) == doctest::Approx(10 * (0.071 + 0.05)).epsilon(0.15));
  // In 200 us it may have been read: the wait stays.
  CHECK(saved(CopiedBack(1e6, 200)) == doctest::Approx(10 * 0.071).epsilon(0.05));
  // A number of the program is read at once.
  CHECK(saved(CopiedBack(4, 30)) < 1.05);
}

// A backward thread launches a kernel, an AllReduce behind it that takes `reduce_us`, a kernel of
// 1,200 us beside that, and tells its stream to wait; the main thread then launches the optimizer.
Loaded Reduced(double reduce_us, const char* node) {
  constexpr double kBeside = 1200;
  TraceText text;
  text.Thread(100, 200).Op(node, 0, 100);
  text.Runtime("cudaLaunchKernel", 10, 5, 1).Kernel("k1", 20, 100, 1);
  text.Runtime("cudaStreamWaitEvent", 30, 2, 2).Runtime("cudaLaunchKernel", 40, 5, 3);
  text.Kernel("ncclKernel_AllReduce_RING_LL_Sum_float", 123, reduce_us, 3, 15);
  text.Runtime("cudaLaunchKernel", 60, 5, 4).Kernel("beside", 121, kBeside, 4);
  text.Runtime("cudaStreamWaitEvent", 80, 2, 5);
  const double begin = std::max(121 + kBeside + 1, 123 + reduce_us + 3);
  text.Thread(100, 100).Op("Optimizer.step", 105, 15);
  text.Runtime("cudaLaunchKernel", 110, 5, 6).Kernel("adam", begin, 100, 6);
  text.Runtime("cudaDeviceSynchronize", 125, begin + 108 - 125, 7);
  return Load(text);
}

TEST_CASE("what a stream was told to wait for ends before what the next thread launches") {
  const auto saved = [](const Loaded& loaded) {
    return SavedMs(SimulationOf(loaded), Scaled(loaded, "beside", 0));
  };
  constexpr const char* kNode = "autograd::engine::evaluate_function: AddmmBackward0";
  // The AllReduce ends 198 us before the kernel beside it, and 900 us before in the other.
  CHECK(saved(Reduced(1000, kNode)) == doctest::Approx(0.195).epsilon(0.05));
  CHECK(saved(Reduced(300, kNode)) == doctest::Approx(0.895).epsilon(0.05));
  // Another thread than backward's tells its own streams: only the end waits for the AllReduce.
  CHECK(saved(Reduced(1000, "copy_thread")) == doctest::Approx(0.299).epsilon(0.02));
}

TEST_CASE("stretches of the host may come in any order and lie anywhere") {
  Machine machine;
  for (int i = 0; i < 200; ++i)
    machine.Host(100).Launch("k", 5);
  machine.Sync();
  const Loaded loaded = machine.Recorded();
  const Simulation simulation = SimulationOf(loaded);
  // Of each hundred microseconds the half; before the first and after the last nothing.
  std::vector<HostStretch> stretches = {{kAllTracks, -500'000, -1000}};
  for (int i = 0; i < 200; ++i) {
    const std::int64_t begin = std::int64_t{i} * 104'000;
    stretches.push_back({kAllTracks, begin + 20'000, begin + 70'000});
  }
  stretches.push_back({kAllTracks, 1'000'000'000, 2'000'000'000});
  const double in_order = SavedMs(simulation, ScaleHost{stretches, 0, false});
  CHECK(in_order == doctest::Approx(200 * 0.05).epsilon(0.01));
  std::reverse(stretches.begin(), stretches.end());
  CHECK(SavedMs(simulation, ScaleHost{stretches, 0, false}) == doctest::Approx(in_order));
  // A step of 77 goes through all of 202.
  std::vector<HostStretch> mixed;
  for (std::size_t i = 0; i < stretches.size(); ++i)
    mixed.push_back(stretches[i * 77 % stretches.size()]);
  CHECK(SavedMs(simulation, ScaleHost{mixed, 0, false}) == doctest::Approx(in_order));
}

}  // namespace
}  // namespace jarvis::analysis
