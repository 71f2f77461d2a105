// What recording cost, what ran for the first time, when the host had no CPU: each with a trace
// that has it, and one that nearly has it.
#include <cmath>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/attribution/attribution.h"
#include "analysis/host/descheduled.h"
#include "analysis/host/profiling_cost.h"
#include "analysis/host/recording_checks.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

ProfilingCost CostOf(const Loaded& loaded) {
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  return MeasureProfilingCost(loaded.events(), loaded.tree, attribution.timeline);
}

struct HostTrust {
  Loaded loaded;
  FirstCalls first;
  Descheduled descheduled;
};
HostTrust TrustOf(const TraceText& text) {
  HostTrust out{Load(text), {}, {}};
  const Attribution attribution = Attribute(out.loaded.events(), out.loaded.tree);
  const HostPieces pieces = FindHostPieces(out.loaded.events(), out.loaded.tree, kFirstCallMinNs);
  out.first = FindFirstCalls(out.loaded.events(), out.loaded.tree, pieces, attribution.timeline);
  out.descheduled = FindDescheduled(out.loaded.events(), out.loaded.tree, pieces, &out.first);
  return out;
}

// 1,000 calls of 1 us in frames with gaps of 1 us (four of them, so that they are the median), then
// 300 calls of 1 us in one frame with the gaps that `gap_of` says.
template <typename GapOf>
TraceText Framed(GapOf gap_of) {
  TraceText text;
  double at = 0;
  for (int frame = 0; frame < 4; ++frame) {
    text.Python(fmt::format("a.py({}): usual", frame), at, 501);
    for (int i = 0; i < 250; ++i)
      text.Python("b.py(1): call", at + 1 + 2 * i, 1);
    at += 600;
  }
  double length = 1;
  for (int i = 0; i < 300; ++i)
    length += 1 + gap_of(i);
  text.Python("c.py(7): generated", at, length + 1);
  at += 1;
  for (int i = 0; i < 300; ++i) {
    text.Python("b.py(1): call", at, 1);
    at += 1 + gap_of(i);
  }
  return text;
}

// A floor that drifts from 20 to 60 us and back.
double Drifting(int i) {
  return 20 + 40.0 * (i < 150 ? i : 300 - i) / 150;
}

TEST_CASE("a frame that is charged for every call is found, with what it costs") {
  const ProfilingCost cost = CostOf(Load(Framed(Drifting)));
  CHECK(cost.usual_gap_us == doctest::Approx(1));
  REQUIRE(cost.frames.size() == 1);
  CHECK(cost.frames[0].gaps == 299);
  CHECK(cost.frames[0].correlation > 0.9);
  CHECK(cost.frames[0].typical_gap_us == doctest::Approx(40).epsilon(0.05));
  // The gaps are 11.98 ms, of which 0.3 are usual. On the slope of 0.27 us a gap the floor, the
  // fifth lowest of 41, is that of the gap 16 places lower: 4.3 us below, 1.3 ms in all.
  CHECK(cost.frames[0].ms > 10.3);
  CHECK(cost.frames[0].ms < 11.7);
  CHECK(cost.artefact_ms == doctest::Approx(cost.frames[0].ms));
  CHECK(cost.idle_ms == 0);  // no GPU work: nothing waits
}

TEST_CASE("gaps that differ from call to call are the program's") {
  const ProfilingCost cost = CostOf(Load(Framed([](int i) { return i % 2 == 0 ? 20.0 : 60.0; })));
  CHECK(cost.frames.empty());
  CHECK(cost.artefact_ms == 0);
}

TEST_CASE("a floor of little more than the usual gap is no artefact") {
  const ProfilingCost cost = CostOf(Load(Framed([](int i) { return 2 + Drifting(i) / 40; })));
  CHECK(cost.frames.empty());
}

TEST_CASE("GPU idle while such a frame runs is the profiler's, at most what the frame lost") {
  TraceText text = Framed(Drifting);
  // The frame is at 2400 to 14,700: 6,000 us of it the GPU works, and it works before and after.
  text.Runtime("cudaLaunchKernel", 14'800, 5, 1).Kernel("k", 14'900, 10, 1);
  text.Runtime("cudaLaunchKernel", -50, 5, 2).Kernel("k", -20, 10, 2);
  text.Runtime("cudaLaunchKernel", 14'850, 5, 3).Kernel("k", 5000, 6000, 3);
  const Loaded loaded = Load(text);
  const ProfilingCost cost = CostOf(loaded);
  const auto& frame = loaded.events()[cost.frames.at(0).first];
  CHECK(cost.idle_ms == doctest::Approx(static_cast<double>(frame.dur_ns) / 1e6 - 6));
}

// What records and calls cost at the most, of what the usual stretches beside them say.
constexpr double kMostOfRecords = 2.1 * 1.8, kMostOfCalls = 0.1 * 1.8;

TEST_CASE("events have a price, as a range, and stretches add up to it") {
  TraceText text;
  // 100 leaf calls in one frame, 0.3 us from one to the next, 60 ops with one op inside them: 1 us
  // around it.
  text.Python("a.py(1): f", 0, 400);
  for (int i = 0; i < 100; ++i)
    text.Python("b.py(1): g", 1 + 0.5 * i, 0.2);
  for (int i = 0; i < 60; ++i) {
    text.Op("aten::outer", 1000 + 20 * i, 10);
    text.Op("aten::inner", 1000.5 + 20 * i, 9);
  }
  const ProfilingCost cost = CostOf(Load(text));
  REQUIRE(cost.python.has_value());
  CHECK(cost.python->events == 101);
  // 0.3 us before each call, 0.2 us in each: all of it, as no stretch costs more than it lasts. At
  // least half of what is there.
  CHECK(cost.python->high_us == doctest::Approx((100 * 0.3 + 100 * 0.2) / 101));
  CHECK(cost.python->low_us == doctest::Approx((15 + 10) / 101.0));
  REQUIRE(cost.ops.has_value());
  CHECK(cost.ops->events == 120);
  // 0.5 us before an op and after it; no record of ours closes the last one.
  CHECK(cost.ops->high_us == doctest::Approx(kMostOfRecords * (120 * 0.5 + 119 * 0.5) / 120.0));
  CHECK(cost.ops->low_us == doctest::Approx((120 + 119) * 0.25 / 120.0));
  CHECK_FALSE(cost.runtime.has_value());
  CHECK(cost.low_ms == doctest::Approx((25 + 59.75) / 1000.0));
  double low = 0;
  for (const HostCost& stretch : cost.stretches) {
    CHECK(stretch.begin_ns <= stretch.end_ns);
    low += stretch.low_ns / 1e6;
  }
  CHECK(low == doctest::Approx(cost.low_ms).epsilon(0.05));
}

// 80 ops with an op in it that launches; all host times are `slow` times as long, the program works
// for `between_us` before each.
TraceText OpsThatLaunch(double slow, double between_us, double wait_us = 0) {
  TraceText text;
  const double round = 40 * slow + between_us + wait_us;
  for (int i = 0; i < 80; ++i) {
    const double at = round * i;
    text.Op("aten::outer", at, 20 * slow + wait_us);
    text.Op("aten::inner", at + 2 * slow, 16 * slow + wait_us);
    text.Runtime("cudaLaunchKernel", at + 6 * slow, 6 * slow, static_cast<std::uint64_t>(i + 1));
    text.Kernel("k", at + 14 * slow, 1, static_cast<std::uint64_t>(i + 1));
    if (wait_us > 0) text.Runtime("cudaStreamSynchronize", at + 13 * slow, wait_us, 0);
  }
  return text;
}

TEST_CASE("a call costs what is around it and at most what a launch takes; a slow host pays more") {
  const ProfilingCost once = CostOf(Load(OpsThatLaunch(0.25, 0)));
  REQUIRE(once.runtime.has_value());
  // 1 us from the op's begin to the call, 1.5 us in it, 1.5 us after it: nearly all is the
  // driver's.
  CHECK(once.runtime->high_us == doctest::Approx(kMostOfCalls * (1 + 1.5 + 1.5)).epsilon(0.01));
  CHECK(once.runtime->low_us < once.runtime->high_us);
  REQUIRE(once.ops.has_value());
  CHECK(once.ops->high_us == doctest::Approx(kMostOfRecords * 1).epsilon(0.01));
  const ProfilingCost slow = CostOf(Load(OpsThatLaunch(0.5, 0)));
  CHECK(slow.high_ms == doctest::Approx(2 * once.high_ms).epsilon(0.02));
  CHECK(slow.low_ms == doctest::Approx(2 * once.low_ms).epsilon(0.02));
}

TEST_CASE("no event costs more than any recorder was measured to: the program works there") {
  const ProfilingCost slow = CostOf(Load(OpsThatLaunch(10, 0)));
  CHECK(slow.runtime->high_us == doctest::Approx(kMostOfCalls * 12).epsilon(0.02));
  CHECK(slow.ops->high_us == doctest::Approx(kMostOfRecords * 2.2).epsilon(0.02));
  CHECK(slow.runtime->low_us <= 12);
  CHECK(slow.ops->low_us <= 2.2);
}

TEST_CASE("the program's own work between ops, and waits, are not recording") {
  const ProfilingCost once = CostOf(Load(OpsThatLaunch(1, 0)));
  const ProfilingCost working = CostOf(Load(OpsThatLaunch(1, 5000)));
  CHECK(working.high_ms == doctest::Approx(once.high_ms).epsilon(0.1));
  for (const HostCost& stretch : working.stretches)
    CHECK(stretch.end_ns - stretch.begin_ns < 50'000);
  // A wait of 300 us is a call more each, priced as a launch.
  const ProfilingCost waiting = CostOf(Load(OpsThatLaunch(1, 0, 300)));
  CHECK(waiting.runtime->events == 160);
  CHECK(waiting.runtime->high_us <= 16);
  double host_ms = 0, high_ms = 0;
  for (const HostCost& stretch : once.stretches) {
    CHECK(stretch.low_ns <= stretch.high_ns);
    CHECK(stretch.high_ns <= static_cast<double>(stretch.end_ns - stretch.begin_ns));
    host_ms += static_cast<double>(stretch.end_ns - stretch.begin_ns) / 1e6;
    high_ms += stretch.high_ns / 1e6;
  }
  CHECK(high_ms == doctest::Approx(once.high_ms).epsilon(0.01));
  CHECK(high_ms <= host_ms);
}

TEST_CASE("too few events tell no price") {
  TraceText text;
  text.Python("a.py(1): f", 0, 400);
  for (int i = 0; i < 40; ++i)
    text.Python("b.py(1): g", 1 + 3 * i, 1);
  CHECK_FALSE(CostOf(Load(text)).python.has_value());
}

TEST_CASE("a few nested ops among many tell no price") {
  const auto priced = [](int others) {
    TraceText text;
    for (int i = 0; i < 60; ++i)
      text.Op("aten::outer", 20 * i, 10).Op("aten::inner", 20 * i + 2, 6);
    for (int i = 0; i < others; ++i)
      text.Op("ExecutorPropagateOutputs", 2000 + 3 * i, 2);
    return CostOf(Load(text)).ops.has_value();
  };
  CHECK(priced(400));
  CHECK_FALSE(priced(600));
}

TEST_CASE("the profiler's own events are its cost, loading code is not") {
  TraceText text;
  text.Op("aten::mm", 0, 100).Runtime("cudaLaunchKernel", 10, 60, 1).Kernel("k", 90, 5, 1);
  const auto overhead = [&](const char* name, double ts, double dur) {
    text.Raw(fmt::format(R"({{"ph":"X","cat":"overhead","name":"{}","pid":-1,"tid":0,"ts":{},)"
                         R"("dur":{}}})",
                         name, ts, dur));
  };
  overhead("Activity Buffer Request", 20, 40);
  overhead("Lazy Function Loading", 12, 5);
  const ProfilingCost cost = CostOf(Load(text));
  CHECK(cost.overhead_ms == doctest::Approx(0.04));
  REQUIRE(cost.overheads.size() == 2);
  CHECK(cost.overheads[0].profiler);
  CHECK_FALSE(cost.overheads[1].profiler);
  REQUIRE(cost.stretches.size() == 1);  // on the thread whose call was under way
  CHECK(cost.stretches[0].low_ns == doctest::Approx(40'000));
  CHECK(Load(text).events().tracks[cost.stretches[0].track].tid == "100");
  const HostTrust trust = TrustOf(text);
  REQUIRE(trust.first.calls.size() == 1);
  CHECK(trust.first.calls[0].kind == FirstCallKind::kSetUp);
  CHECK(trust.first.total_ms == doctest::Approx(0.005));
}

// Ops that launch `kernels` different kernels, `rounds` times each; the launches of the round
// `slow` take 20 ms more.
TraceText Rounds(int kernels, int rounds, int slow) {
  TraceText text;
  double at = 0;
  int correlation = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < kernels; ++k) {
      const double launch = round == slow ? 20'010 : 10;
      text.Op(fmt::format("aten::op{}", k), at, launch + 20);
      text.Runtime("hipLaunchKernel", at + 5, launch, ++correlation);
      text.Kernel(fmt::format("kernel{}", k), at + launch + 10, 5, correlation);
      at += launch + 100;
    }
  }
  return text;
}

TEST_CASE("launches that load their kernel are first calls") {
  const HostTrust trust = TrustOf(Rounds(4, 5, 0));
  REQUIRE(trust.first.calls.size() == 4);
  CHECK(trust.first.total_ms == doctest::Approx(80.04));
  const FirstCall& call = trust.first.calls[0];
  CHECK(call.kind == FirstCallKind::kLaunch);
  CHECK(trust.loaded.NameOf(call.op) == "aten::op0");
  CHECK(trust.loaded.NameOf(call.kernel) == "kernel0");
  CHECK(call.usual_us == doctest::Approx(10));
  CHECK(trust.first.MsWithin(0, 20'000'000) == doctest::Approx(19.995));
  CHECK(trust.descheduled.pieces.empty());
}

TEST_CASE("slow launches of kernels that ran before are no first calls") {
  CHECK(TrustOf(Rounds(4, 5, 3)).first.calls.empty());
}

TEST_CASE("a first launch into a full queue waits for room") {
  TraceText text;
  // 300 launches that the GPU has not begun, then the first one of another kernel.
  for (int i = 0; i < 300; ++i)
    text.Runtime("cudaLaunchKernel", i * 10, 5, i + 1).Kernel("a", 10'000 + i * 10, 10, i + 1);
  text.Runtime("cudaLaunchKernel", 3000, 2000, 999).Kernel("b", 13'000, 10, 999);
  CHECK(TrustOf(text).first.calls.empty());
}

TEST_CASE("an op that sets itself up is slow once") {
  TraceText text;
  for (int i = 0; i < 5; ++i)
    text.Op("aten::addmm", i * 10'000, i == 0 ? 5000 : 20, R"("Input Dims":[[8,8]])");
  // In the first op of a thread the profiler may set itself up, and in what follows at once.
  CHECK(TrustOf(text).first.calls.empty());
  text.Op("aten::empty", -20, 5);
  CHECK(TrustOf(text).first.calls.empty());
  text.Op("aten::empty", -500, 5);
  const HostTrust once = TrustOf(text);
  REQUIRE(once.first.calls.size() == 1);
  CHECK(once.first.calls[0].kind == FirstCallKind::kOp);
  CHECK(once.first.total_ms == doctest::Approx(5));
  // Slow again: it is just slow.
  text.Op("aten::addmm", 60'000, 4000, R"("Input Dims":[[8,8]])");
  CHECK(TrustOf(text).first.calls.empty());
}

TEST_CASE("taking memory counts as far as the GPU does nothing meanwhile") {
  TraceText text;
  text.Runtime("cudaLaunchKernel", 0, 5, 1).Kernel("k", 100, 900, 1);
  text.Op("aten::empty", 200, 3000).Runtime("cudaFree", 210, 2000, 2);
  const HostTrust trust = TrustOf(text);
  REQUIRE(trust.first.calls.size() == 1);
  CHECK(trust.first.calls[0].kind == FirstCallKind::kAllocation);
  CHECK(trust.first.total_ms == doctest::Approx(1.21));  // 210 to 1000 is a wait
}

TEST_CASE("compiling is a first call from its outermost frame on") {
  TraceText text;
  text.Python("triton/compiler/compiler.py(226): compile", 0, 50'000);
  text.Python("triton/compiler/compiler.py(10): inner", 10, 40'000);
  const HostTrust trust = TrustOf(text);
  REQUIRE(trust.first.calls.size() == 1);
  CHECK(trust.first.calls[0].kind == FirstCallKind::kCompile);
  CHECK(trust.first.total_ms == doctest::Approx(50));
}

// `names` kinds of ops of 10 us, 40 calls each; every `every`-th call lasts `ms` longer.
TraceText Freezing(int names, int every, double ms, double grid_us = 0) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 40 * names; ++i) {
    double length = 10;
    if (i % every == every / 2) {
      // The scheduler takes the CPU on its tick.
      if (grid_us > 0) at = grid_us * std::ceil(at / grid_us);
      length += ms * 1000;
    }
    text.Op(fmt::format("aten::op{}", i % names), at, length);
    at += length + 15;
  }
  return text;
}

TEST_CASE("milliseconds missing in arbitrary short calls: the host was not running") {
  const HostTrust trust = TrustOf(Freezing(7, 23, 8));
  const Descheduled& found = trust.descheduled;
  REQUIRE(found.pieces.size() == 12);
  CHECK(found.names >= 5);
  CHECK(found.total_ms == doctest::Approx(12 * 8.01));
  CHECK(found.share_percent > 90);
  CHECK(found.longest_ms == doctest::Approx(8.01));
  CHECK(trust.first.calls.empty());
}

// 40 rounds of an op that takes 500 us by itself between two others; in `late` of the rounds 2 ms
// are missing between its begin and the first of them.
void AddLongOp(int late, TraceText* text) {
  double at = 200'000;
  for (int i = 0; i < 40; ++i, at += 5000) {
    const double missing = i < late ? 2000 : 0;
    text->Op("aten::large", at, 600 + missing);
    text->Op("aten::part", at + 5 + missing, 20).Op("aten::part", at + 525 + missing, 20);
  }
}

TEST_CASE("where pieces are missing, what is long for its place is one of them") {
  TraceText text = Freezing(7, 23, 8);
  AddLongOp(3, &text);
  CHECK(TrustOf(text).descheduled.pieces.size() == 15);
  // Long in many rounds: the op's own work.
  TraceText often = Freezing(7, 23, 8);
  AddLongOp(8, &often);
  CHECK(TrustOf(often).descheduled.pieces.size() == 12);
  // Alone they tell nothing.
  TraceText alone;
  AddLongOp(3, &alone);
  CHECK(TrustOf(alone).descheduled.pieces.empty());
}

TEST_CASE("begins on one tick are the scheduler's") {
  const Descheduled found = TrustOf(Freezing(7, 23, 6.13, 4000)).descheduled;
  REQUIRE(found.tick.has_value());
  CHECK(found.tick->period_ms == doctest::Approx(4));
  // Pieces begin there, where the silence before them ends: one instant each.
  CHECK(found.tick->count >= 12);
  CHECK(found.tick->count <= found.tick->instants / 2);
  CHECK(found.tick->by_chance < 1);
  // On no tick; and few of many.
  CHECK_FALSE(TrustOf(Freezing(7, 23, 6.4)).descheduled.tick.has_value());
  CHECK_FALSE(TrustOf(Freezing(7, 23, 6.4, 3700)).descheduled.tick.has_value());
}

TEST_CASE("one op that is slow at times is a slow op") {
  TraceText text = Freezing(7, 1000, 8);
  for (int i = 0; i < 200; ++i)
    text.Op("aten::cpu_sort", 100'000 + i * 10'000, i % 15 == 0 ? 8000 : 10);
  CHECK(TrustOf(text).descheduled.pieces.empty());
}

// `ops` on data of the CPU, one in `large` of them large; each has been launched once before.
void AddCpuData(std::span<const char* const> ops, TraceText* text, int large = 15) {
  double at = 300'000;
  for (int i = 0; i < 200; ++i) {
    for (const char* op : ops) {
      if (i == 0) text->OpWithKernel(op, at, 10, "k", at + 20, 5, i + 1);
      at += 30;
      text->Op(op, at, i % large == 0 ? 3000 : 10);
      at += i % large == 0 ? 3100 : 20;
    }
  }
}

TEST_CASE(
    "an op on data of the CPU is as long as they are large: no missing time, and it hides none") {
  constexpr const char* kOps[] = {"aten::copy_", "aten::div", "aten::add_", "aten::mul_",
                                  "aten::cat"};
  TraceText loading;
  AddCpuData(kOps, &loading);
  CHECK(TrustOf(loading).descheduled.pieces.empty());
  TraceText both = Freezing(7, 23, 8);
  AddCpuData(std::span(kOps).first(1), &both);
  // It may be missing time all the same: one in fifteen calls is long.
  const Descheduled found = TrustOf(both).descheduled;
  CHECK(found.pieces.size() == 12);
  CHECK(Length(found.unsure) == 14 * 3'000'000);
  CHECK(Intersect(found.unsure, found.intervals).empty());
  // Of an op that is long in every third call nothing is.
  TraceText often = Freezing(7, 23, 8);
  AddCpuData(std::span(kOps).first(1), &often, 3);
  CHECK(TrustOf(often).descheduled.unsure.empty());
}

TEST_CASE("waits for the GPU are no missing time") {
  TraceText text;
  for (int i = 0; i < 300; ++i)
    text.Runtime(fmt::format("cudaStreamSynchronize{}", i % 7), i * 10'000.0,
                 i % 23 == 11 ? 8000 : 10, i);
  CHECK(TrustOf(text).descheduled.pieces.empty());
}

TEST_CASE("while another thread of the process works, a thread may wait for its lock") {
  TraceText text = Freezing(7, 23, 8);
  text.Thread(100, 200);
  for (int i = 0; i < 2000; ++i)
    text.Op("aten::other", i * 60, 30);
  CHECK(TrustOf(text).descheduled.pieces.empty());
}

RecordingChecks ChecksOf(const TraceText& text) {
  const Loaded loaded = Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  return CheckRecording(loaded.events(), loaded.tree, attribution.timeline);
}

// Kernels of 4.5 us with `gap` between them.
TraceText Neighbours(double gap) {
  TraceText text;
  for (int i = 0; i < 50; ++i)
    text.Runtime("hipLaunchKernel", i * 2.5, 1, i + 1)
        .Kernel("k", 200 + i * (4.5 + gap), 4.5, i + 1);
  return text;
}

TEST_CASE("kernels that touch have their dispatch inside") {
  const RecordingChecks touching = ChecksOf(Neighbours(0));
  REQUIRE(touching.touching.has_value());
  CHECK(touching.touching->touching == 49);
  CHECK(touching.touching->floor_us == doctest::Approx(4.5));
  CHECK(touching.touching->bound_ms() == doctest::Approx(0.225));
  CHECK_FALSE(ChecksOf(Neighbours(1.25)).touching.has_value());
}

double FloorOf(const TraceText& text) {
  const Loaded loaded = Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  return KernelFloor(loaded.events(), attribution.timeline);
}

TEST_CASE("what a kernel takes at least is its dispatch only where that is in durations") {
  CHECK(FloorOf(Neighbours(0)) == doctest::Approx(4.5));
  CHECK(FloorOf(Neighbours(1.25)) == doctest::Approx(2));  // its own start and end
}

TEST_CASE("whole microseconds touch by rounding") {
  TraceText text;
  for (int i = 0; i < 50; ++i)
    text.Runtime("cudaLaunchKernel", i * 3, 1, i + 1).Kernel("k", 200 + i * 4, 4, i + 1);
  const RecordingChecks checks = ChecksOf(text);
  CHECK(checks.whole_microseconds);
  CHECK_FALSE(checks.touching.has_value());
}

TEST_CASE("work before its launch: a clock if it is microseconds, a wrong link if it is more") {
  TraceText text;
  for (int i = 0; i < 5; ++i)
    text.Runtime("cudaLaunchKernel", i * 100.5, 5, i + 1).Kernel("k", i * 100.5 - 30, 10, i + 1);
  const RecordingChecks drift = ChecksOf(text);
  REQUIRE(drift.clock.has_value());
  CHECK(drift.clock->early_starts == 5);
  CHECK(drift.clock->early_us == doctest::Approx(30));
  CHECK(drift.launched_later == 0);
  text.Runtime("cudaLaunchKernel", 50'000, 5, 77).Kernel("k", 2000, 10, 77);
  const RecordingChecks linked = ChecksOf(text);
  CHECK(linked.launched_later == 1);
  CHECK(linked.clock->early_us == doctest::Approx(30));
}

TEST_CASE("a wait for the device that returns before its work ends goes by another clock") {
  TraceText text;
  text.Runtime("cudaLaunchKernel", 0, 5, 1).Kernel("k", 10, 100.5, 1);
  text.Runtime("cudaDeviceSynchronize", 20, 80, 2);
  REQUIRE(ChecksOf(text).clock.has_value());
  CHECK(ChecksOf(text).clock->late_us == doctest::Approx(10.5));
}

TEST_CASE("ops that only stand for others are known") {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    text.Op("aten::add_", i * 100, 20).Op("aten::add_", i * 100 + 5, 10);
    text.Op("my_profiler::norm_3", i * 100 + 30, 20).Op("fast::norm", i * 100 + 35, 10);
    text.Op("aten::linear", i * 100 + 60, 20).Op("aten::addmm", i * 100 + 65, 10);
  }
  const RecordingChecks checks = ChecksOf(text);
  REQUIRE(checks.wrappers.size() == 2);
  for (const WrapperOps& one : checks.wrappers) {
    CHECK(one.count == 4);
    CHECK(one.ms == doctest::Approx(0.04));
  }
}

TEST_CASE("annotations in themselves, and rows of them on an idle GPU") {
  TraceText text;
  text.Annotation("step", 0, 100).Annotation("step", 1, 99).Annotation("other", 2, 20);
  text.Runtime("cudaLaunchKernel", 3, 5, 1).Kernel("k", 20, 10, 1);
  text.Raw(
      R"({"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":20,"dur":80})");
  const RecordingChecks checks = ChecksOf(text);
  CHECK(checks.repeated_annotations == 1);
  CHECK(checks.gpu_annotations == 1);
  CHECK(checks.gpu_annotations_ms == doctest::Approx(0.08));
  CHECK(checks.gpu_annotations_busy_ms == doctest::Approx(0.01));
}

TEST_CASE("what recording cost within times: parts of stretches, on the costliest thread") {
  ProfilingCost cost;
  cost.stretches = {{1, 0, 1'000'000, 200'000, 600'000, 0},
                    {1, 2'000'000, 3'000'000, 0, 1'000'000, 800'000},
                    {2, 0, 3'000'000, 300'000, 300'000, 0}};
  CHECK(ExpectedMsInside(cost, {{0, 3'000'000}}) == doctest::Approx(1.2));
  CHECK(ExpectedMsInside(cost, {{500'000, 600'000}, {2'500'000, 9'000'000}}) ==
        doctest::Approx(0.04 + 0.4));
  CHECK(ExpectedMsInside(cost, {{1'200'000, 1'800'000}}) == doctest::Approx(0.06));  // thread 2
  CHECK(ExpectedMsInside(cost, {}) == 0);
}

}  // namespace
}  // namespace jarvis::analysis
