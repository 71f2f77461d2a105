// The books of small traces: what the wall waits for, what overlaps, what the host does.
#include "ledger/books/books.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/frames/time_frames.h"
#include "ledger/books/bounds.h"
#include "ledger/books/step_bound.h"
#include "support/trace_builder.h"

namespace jarvis::ledger {
namespace {

using testing::TraceText;

struct Kept {
  analysis::BaseOfTime base;
  Books books;

  std::int64_t Wall(WorkKind kind) const {
    return books.wall.work_ns[static_cast<std::size_t>(kind)] / 1000;
  }
  std::int64_t Idle(IdleCause cause) const {
    return books.wall.idle_ns[static_cast<std::size_t>(cause)] / 1000;
  }
  const GpuLine& Gpu(WorkKind kind) const {
    return books.gpu.kinds[static_cast<std::size_t>(kind)];
  }
};

Kept KeptOf(const TraceText& text) {
  const testing::Loaded loaded = testing::Load(text);
  const analysis::Attribution attribution = analysis::Attribute(loaded.events(), loaded.tree);
  const analysis::FrameFacts facts =
      analysis::CollectFrameFacts({loaded.events(), loaded.tree, attribution});
  Kept kept;
  kept.base = analysis::MakeTimeFrames(facts).base;
  kept.books = KeepBooks(facts, kept.base, KindsOfWork(loaded.events(), loaded.tree));
  CHECK(kept.books.wall.total_ns() == kept.base.ns());
  CHECK(kept.books.gpu.busy_ns <= kept.base.ns());
  for (const GpuLine& line : kept.books.gpu.kinds) {
    CHECK(line.exposed_ns <= line.ns);
    CHECK(line.wall_ns <= line.ns);
  }
  return kept;
}

// A product and a collective that overlap by 200 us, then an idle host, then another product.
TraceText Step() {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 3000);
  t.OpWithKernel("aten::mm", 10, 50, "ampere_sgemm_128x64_tn", 100, 500, 1);
  t.Op("c10d::allreduce_", 70, 20).Runtime("cudaLaunchKernel", 75, 5, 2);
  t.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 400, 600, 2,
           9);
  t.OpWithKernel("aten::mm", 2000, 50, "ampere_sgemm_128x64_tn", 2100, 500, 3);
  return t;
}

TEST_CASE("computation counts before communication, and what overlaps is exposed on neither side") {
  const Kept kept = KeptOf(Step());
  CHECK(kept.base.unit == analysis::TimeUnit::kStep);
  CHECK(kept.Wall(WorkKind::kProduct) == 1000);
  CHECK(kept.Wall(WorkKind::kCommTransfer) == 400);
  CHECK(kept.Gpu(WorkKind::kProduct).exposed_ns / 1000 == 800);
  CHECK(kept.Gpu(WorkKind::kProduct).overlapped_ns() / 1000 == 200);
  CHECK(kept.Gpu(WorkKind::kCommTransfer).ns / 1000 == 600);
  CHECK(kept.Gpu(WorkKind::kCommTransfer).count == 1);
  CHECK(kept.books.gpu.busy_ns / 1000 == 1400);
}

TEST_CASE("idle time has the cause that the launching thread shows") {
  TraceText t = Step();
  t.Python("prepare.py(3): prepare", 95, 1900);
  const Kept kept = KeptOf(t);
  CHECK(kept.Idle(IdleCause::kPython) > 800);  // from the end of the collective at 1000 to 1995
  CHECK(kept.Idle(IdleCause::kTail) == 400);
  CHECK(kept.books.host.alone_ns > 0);
  CHECK(BoundOf(kept.base, kept.books).kind == BoundKind::kHost);
}

// Calls of the runtime alone: the GPU works for 900 us, then it is idle until a call returns, or
// the thread comes back from what nobody recorded.
Kept KeptOfCalls(double returns, bool op) {
  TraceText t;
  for (int i = 0; i < 4; ++i) {
    const double at = 2500.0 * i;
    t.Annotation(fmt::format("ProfilerStep#{}", i + 1), at, 2490);
    if (op) t.Op("my::prepare", at, 3);
    t.Runtime("cudaLaunchKernel", at + 5, 5, i + 1);
    t.Kernel("ampere_sgemm_128x64_tn", at + 20, 900, i + 1);
    t.Runtime("cudaDeviceSynchronize", at + 15, returns, 100 + i);
  }
  return KeptOf(t);
}

TEST_CASE("a call that returns late is no work of the host, and calls alone tell none outside") {
  CHECK(BoundOf(KeptOfCalls(2400, false).base, KeptOfCalls(2400, false).books).kind ==
        BoundKind::kInTurns);
  CHECK(BoundOf(KeptOfCalls(2400, true).base, KeptOfCalls(2400, true).books).kind ==
        BoundKind::kInTurns);
  CHECK(BoundOf(KeptOfCalls(910, false).base, KeptOfCalls(910, false).books).kind ==
        BoundKind::kInTurns);
  // Where ops are recorded, what the GPU waits for between them is the host's.
  CHECK(BoundOf(KeptOfCalls(910, true).base, KeptOfCalls(910, true).books).kind ==
        BoundKind::kHost);
}

constexpr int kRounds = 5;
constexpr double kRoundUs = 6000;

// A thread that launches a kernel of 1 ms in each round, and records nothing for 4.7 ms.
TraceText Executor() {
  TraceText t;
  t.Thread(100, 200);
  for (int i = 0; i < kRounds; ++i)
    t.OpWithKernel("my::run", kRoundUs * i + 3600, 1300, "ampere_sgemm_128x64_tn",
                   kRoundUs * i + 3700, 1000, i + 1);
  return t;
}

// `each` adds what another thread does in a round that begins at a time.
template <typename Each>
Kept KeptBeside(Each each) {
  TraceText t = Executor();
  t.Thread(100, 100);
  for (int i = 0; i < kRounds; ++i)
    each(kRoundUs * i, &t);
  return KeptOf(t);
}

TEST_CASE(
    "where the launching thread stands still, the one that feeds it says what the host does") {
  const Kept python = KeptBeside([](double at, TraceText* t) {
    t->Python("prepare.py(3): prepare", at, 3500).Op("my::execute", at + 3550, 1400);
  });
  CHECK(python.Idle(IdleCause::kPython) >= 4 * 3400);
  CHECK(python.Idle(IdleCause::kOutsideOps) < python.Idle(IdleCause::kPython) / 2);
  const Kept ops = KeptBeside([](double at, TraceText* t) {
    t->Annotation("round", at, 3540).Op("my::place", at, 3500).Op("my::execute", at + 3550, 1400);
  });
  CHECK(ops.Idle(IdleCause::kHostIssues) >= 4 * 3400);
  CHECK(ops.Idle(IdleCause::kPython) == 0);
  const Kept waits = KeptBeside([](double at, TraceText* t) {
    t->Python("prepare.py(3): prepare", at, 1500).Op("my::execute", at + 3550, 1400);
    t->Python("$api.py:2754 try_to_block", at + 1500, 2000);
  });
  CHECK(waits.Idle(IdleCause::kRoundTrip) >= 4 * 1900);
  CHECK(waits.Idle(IdleCause::kPython) >= 4 * 1400);
}

TEST_CASE("a thread that works beside, waits or is not of the program gives no gap its cause") {
  const Kept alone = KeptBeside([](double at, TraceText* t) { t->Annotation("round", at, 3500); });
  CHECK(alone.Idle(IdleCause::kOutsideOps) >= 4 * 4000);
  const auto same = [&](const Kept& kept) {
    CHECK(kept.Idle(IdleCause::kPython) == 0);
    CHECK(kept.Idle(IdleCause::kHostIssues) == alone.Idle(IdleCause::kHostIssues));
    CHECK(kept.Idle(IdleCause::kOutsideOps) == alone.Idle(IdleCause::kOutsideOps));
  };
  same(KeptBeside([](double at, TraceText* t) {  // a pool that is never done
    for (int i = 0; i < 60; ++i)
      t->Python("compile.py(3): lower", at + 100 * i, 95);
  }));
  same(KeptBeside([](double at, TraceText* t) {  // one long call over all rounds
    if (at == 0) t->Python("compile.py(3): lower", 0, kRounds * kRoundUs);
  }));
  same(KeptBeside([](double at, TraceText* t) {  // an idle worker
    t->Python("threading.py(320): wait", at, 3500).Op("my::execute", at + 3550, 1400);
  }));
  same(KeptBeside([](double at, TraceText* t) {  // pins batches: ops, and no code of the program
    t->Op("aten::copy_", at, 3500);
  }));
  TraceText other = Executor();  // another process
  other.Thread(300, 300);
  for (int i = 0; i < kRounds; ++i)
    other.Python("prepare.py(3): prepare", kRoundUs * i, 3500);
  CHECK(KeptOf(other).Idle(IdleCause::kPython) == 0);
}

TEST_CASE("a call is a stall beside calls of its name, not beside its own short pieces") {
  // An op whose launches part it into short pieces and one of 2 ms, each time; or once only.
  const auto stalled = [](bool always) {
    TraceText t;
    t.Annotation("ProfilerStep#1", 0, 60'000);
    for (int i = 0; i < 12; ++i) {
      const double at = 5000 * i + 10;
      const bool is_long = always || i == 6;
      t.Op("my::enqueue", at, is_long ? 2300 : 60);
      for (int k = 0; k < 5; ++k)
        t.Runtime("hipGetDevice", at + 5 + 8 * k, 2, 1000 + 10 * i + k);
      t.Runtime("cudaLaunchKernel", at + (is_long ? 2250 : 45), 5, i + 1);
      t.Kernel("ampere_sgemm_128x64_tn", at + (is_long ? 2270 : 65), 500, i + 1);
    }
    return KeptOf(t).Idle(IdleCause::kNotScheduled);
  };
  CHECK(stalled(true) == 0);
  CHECK(stalled(false) >= 1900);
}

TEST_CASE("what passes right beside a wait for data, and no longer than it, hands the batch over") {
  const auto input_us = [](double wait) {
    TraceText t;
    t.Annotation("ProfilerStep#1", 0, 40'000);
    t.OpWithKernel("aten::mm", 10, 50, "ampere_sgemm_128x64_tn", 100, 500, 1);
    t.Annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1000, wait);
    // 5 ms between the batch and the next op, in which nothing was recorded.
    t.OpWithKernel("aten::mm", 6000 + wait, 50, "ampere_sgemm_128x64_tn", 6100 + wait, 500, 2);
    return KeptOf(t).Idle(IdleCause::kInput);
  };
  CHECK(input_us(20'000) >= 25'000);
  CHECK(input_us(2'000) < 3'000);
}

TEST_CASE("a gap is the queue's only where the launch was done as the work before it ended") {
  // Two kernels 20 us apart, the second launched by a call of 10 us.
  const auto kept = [](double launch) {
    TraceText t;
    t.Annotation("ProfilerStep#1", 0, 1000);
    t.OpWithKernel("aten::mm", 10, 50, "ampere_sgemm_128x64_tn", 100, 500, 1);
    t.Op("aten::relu", launch - 1, 12).Runtime("cudaLaunchKernel", launch, 10, 2);
    t.Kernel("relu_kernel", 620, 100, 2);
    return KeptOf(t);
  };
  const Kept queued = kept(580);
  CHECK(queued.Idle(IdleCause::kQueuedGap) == 20);
  const Kept called = kept(595);  // still in the call as the GPU runs dry
  CHECK(called.Idle(IdleCause::kQueuedGap) == 0);
  const std::int64_t first = queued.Idle(IdleCause::kLaunchLatency);  // of the first kernel
  CHECK(called.Idle(IdleCause::kLaunchLatency) - first == 20);
  const Kept late = kept(608);
  CHECK(late.Idle(IdleCause::kQueuedGap) == 0);
  CHECK(late.Idle(IdleCause::kLaunchLatency) - first == 12);
}

TEST_CASE("a graph that runs while its launch goes on has gaps of its own") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 1000);
  t.Op("my::replay", 10, 900).Runtime("cudaGraphLaunch", 20, 880, 1);
  t.Kernel("ampere_sgemm_128x64_tn", 100, 500, 1).Kernel("relu_kernel", 620, 100, 1);
  const Kept kept = KeptOf(t);
  CHECK(kept.Idle(IdleCause::kQueuedGap) == 20);
}

TEST_CASE("what the call takes that launches a graph is a line of its own") {
  const auto kept = [](const char* call) {
    TraceText t;
    t.Annotation("ProfilerStep#1", 0, 1000);
    t.OpWithKernel("aten::mm", 5, 8, "ampere_sgemm_128x64_tn", 20, 80, 1);
    t.Runtime(call, 120, 500, 2).Kernel("relu_kernel", 630, 100, 2);
    return KeptOf(t);
  };
  const Kept graph = kept("cudaGraphLaunch");
  CHECK(graph.Idle(IdleCause::kGraphLaunch) == 500);
  // Other calls are issued one by one.
  const Kept one = kept("cudaLaunchKernel");
  CHECK(one.Idle(IdleCause::kGraphLaunch) == 0);
}

TEST_CASE("what a library of convolutions does within its calls is nothing to save") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 1000);
  t.OpWithKernel("my::a", 10, 8, "SubTensorOpWithCastTensor1d", 100, 100, 1);
  t.OpWithKernel(
      "my::b", 20, 8,
      "void at::native::unrolled_elementwise_kernel<at::native::bfloat16_copy_kernel_cuda("
      "at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul>>(int)",
      200, 300, 2);
  const Kept kept = KeptOf(t);
  CHECK(kept.Wall(WorkKind::kCast) == 400);
  const Bounds bounds = BoundsOf(kept.books);
  CHECK(bounds.work[static_cast<std::size_t>(WorkKind::kCast)].ns == 300'000);
}

TEST_CASE("a call that only its first time takes long is one-time, not work of the host") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 91'000);
  for (int i = 0; i < 30; ++i) {
    const double at = i == 0 ? 0 : 60'000 + 1000.0 * i;
    const double launch = i == 0 ? 60'000 : 5;
    t.Op("aten::relu", at, launch + 10);
    t.Runtime("cudaLaunchKernel", at + 2, launch, i + 1);
    t.Kernel("relu_kernel", at + launch + 5, 950, i + 1);
  }
  const Kept kept = KeptOf(t);
  CHECK(kept.base.unit == analysis::TimeUnit::kStep);
  CHECK(kept.base.warm_estimated);
  CHECK(kept.base.one_time_ns / 1'000'000 == 60);
  CHECK(kept.base.ns() / 1'000'000 == 30);
  CHECK(BoundOf(kept.base, kept.books).kind != BoundKind::kHost);
}

TEST_CASE("work that was launched before the recording is in no line but its own") {
  TraceText t;
  t.Kernel("old", 0, 3000, 900);
  t.Annotation("ProfilerStep#1", 0, 10'000);
  for (int i = 0; i < 9; ++i)
    t.OpWithKernel("aten::mm", 100 + 10 * i, 8, "ampere_sgemm_128x64_tn", 3000 + 750 * i, 750,
                   i + 1);
  const Kept kept = KeptOf(t);
  CHECK(kept.base.head.foreign.size() == 1);
  CHECK(kept.base.unrecorded_ns / 1000 == 3000);
  CHECK(kept.Wall(WorkKind::kUnknown) == 0);
  CHECK(kept.Wall(WorkKind::kProduct) == 6750);
  CHECK(BoundOf(kept.base, kept.books).kind == BoundKind::kGpu);
}

TEST_CASE("lines that compute nothing have a bound, those that compute have none without a floor") {
  TraceText t = Step();
  t.Op("aten::copy_", 2200, 20).Runtime("cudaMemcpyAsync", 2205, 5, 7);
  t.Memcpy("Memcpy HtoD (Pageable -> Device)", 2700, 100, 7);
  const Kept kept = KeptOf(t);
  const Bounds bounds = BoundsOf(kept.books);
  const auto of = [&](WorkKind kind) { return bounds.work[static_cast<std::size_t>(kind)]; };
  CHECK(of(WorkKind::kHostCopy).ns == 100'000);
  CHECK(of(WorkKind::kCommTransfer).ns == 400'000);
  CHECK_FALSE(of(WorkKind::kProduct).ns.has_value());
  CHECK(of(WorkKind::kProduct).basis == "not assessed");
  KnownFloors floors;
  floors[static_cast<std::size_t>(WorkKind::kProduct)] = {1'000'000, 400'000, "a floor"};
  CHECK(BoundsOf(kept.books, floors).work[static_cast<std::size_t>(WorkKind::kProduct)].ns ==
        600'000);
  CHECK_FALSE(BoundsOf(kept.books, floors).work[0].least_ns.has_value());
  floors[static_cast<std::size_t>(WorkKind::kProduct)].by_names = true;
  CHECK(BoundsOf(kept.books, floors).work[0].least_ns == 400'000);
  // By names alone what has no floor may go wholly: 1 ms - 0.3 ms.
  floors[static_cast<std::size_t>(WorkKind::kProduct)].assessed_ns = 600'000;
  floors[static_cast<std::size_t>(WorkKind::kProduct)].floor_ns = 300'000;
  CHECK(BoundsOf(kept.books, floors).work[0].ns == 700'000);
  CHECK(BoundsOf(kept.books, floors).work[0].least_ns == 300'000);
  // Of a kind whose time is mostly without a floor nothing is said.
  floors[static_cast<std::size_t>(WorkKind::kProduct)] = {300'000, 100'000, "a floor"};
  CHECK_FALSE(BoundsOf(kept.books, floors)
                  .work[static_cast<std::size_t>(WorkKind::kProduct)]
                  .ns.has_value());
}

TEST_CASE("kernels that run at the same time are busy once, however many they are") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 2000);
  for (int i = 0; i < 40; ++i) {
    t.Op("aten::mm", 10 + 5 * i, 4).Runtime("cudaLaunchKernel", 11 + 5 * i, 2, i + 1);
    t.Kernel("ampere_sgemm_128x64_tn", 400, 1000, i + 1, 100 + i);
  }
  const Kept kept = KeptOf(t);
  CHECK(kept.books.gpu.busy_ns / 1000 == 1000);
  CHECK(kept.Wall(WorkKind::kProduct) == 1000);
  CHECK(kept.Gpu(WorkKind::kProduct).ns / 1000 == 40'000);
  CHECK(kept.Gpu(WorkKind::kProduct).exposed_ns == 0);
}

}  // namespace
}  // namespace jarvis::ledger
