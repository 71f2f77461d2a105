// A host that stands still for what is no work of the program, and the same work against itself:
// each found where it is, and not where something else looks like it. Times are worked out by hand.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

const Finding* FoundBy(const Analyzed& one, Pattern rule) {
  for (const Finding& finding : one.analysis.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

constexpr int kOps = 60;

// 60 ops of 100 us with a kernel of 50 us in `model.py(10): forward`; `between` adds what is
// between two ops, at a time, and says how long it takes.
template <typename Between>
TraceText OpsWith(const Between& between) {
  TraceText text;
  double at = 10;
  for (int i = 0; i < kOps; ++i) {
    text.OpWithKernel("aten::relu", at, 90, "k", at + 95, 50, i + 1);
    at += 100;
    at += between(&text, at, i);
  }
  text.Annotation("ProfilerStep#1", 0, at + 20);  // else an op is taken for a step
  text.Python("model.py(10): forward", 1, at + 10);
  return text;
}

// Memory taken, and given back where `gives_back`, behind every tenth op.
TraceText Allocating(bool gives_back) {
  return OpsWith([&](TraceText* text, double at, int i) {
    if (i % 10 != 5) return 0.0;
    if (gives_back) text->Runtime("cudaFree", at, 200, 1000 + 2 * i);
    text->Runtime("cudaMalloc", at + 210, 300, 1001 + 2 * i);
    return 520.0;
  });
}

TEST_CASE("memory that goes to the driver and back in every step is a finding") {
  const Analyzed churn = Analyze(Allocating(true));
  const Finding* finding = FoundBy(churn, Pattern::kAllocatorChurn);
  REQUIRE(finding != nullptr);
  CHECK(finding->host->total_ms == doctest::Approx(6 * 0.5));
  REQUIRE(BestWall(*finding) != nullptr);
  CHECK(BestWall(*finding)->ms.high > 1.5);
  CHECK(finding->id == "f1");
  CHECK(churn.Quality("allocator_growth") == nullptr);
}

TEST_CASE("an op that does little but take and give back memory goes with its calls") {
  const auto within = [](double op_us) {
    return Analyze(OpsWith([&](TraceText* text, double at, int i) {
      if (i % 10 != 5) return 0.0;
      text->Op("aten::empty", at, op_us);
      text->Runtime("cudaFree", at + 20, 200, 1000 + 2 * i);
      text->Runtime("cudaMalloc", at + 230, 300, 1001 + 2 * i);
      return op_us;
    }));
  };
  const Analyzed little = within(560);
  const Finding* finding = FoundBy(little, Pattern::kAllocatorChurn);
  REQUIRE(finding != nullptr);
  CHECK(finding->host->total_ms == doctest::Approx(6 * 0.56));
  const Analyzed much = within(1200);  // more than half of it is its own work
  finding = FoundBy(much, Pattern::kAllocatorChurn);
  REQUIRE(finding != nullptr);
  CHECK(finding->host->total_ms == doctest::Approx(6 * 0.5));
}

TEST_CASE("memory that is only taken, or given back in one flush, is growth") {
  CHECK(FoundBy(Analyze(Allocating(false)), Pattern::kAllocatorChurn) == nullptr);
  const TraceText flush = OpsWith([](TraceText* text, double at, int i) {
    if (i != 30) return 0.0;
    for (int k = 0; k < 8; ++k)
      text->Runtime("cudaFree", at + 100 * k, 90, 1000 + k);
    text->Runtime("cudaMalloc", at + 800, 90, 1010);
    return 900.0;
  });
  const Analyzed emptied = Analyze(flush);
  CHECK(FoundBy(emptied, Pattern::kAllocatorChurn) == nullptr);
  const Finding* finding = FoundBy(emptied, Pattern::kAllocatorFlush);
  REQUIRE(finding != nullptr);
  CHECK(finding->host->total_ms == doctest::Approx(9 * 0.09));
  // What was given back is taken again, piece by piece; growth before it is its own.
  const TraceText refilled = OpsWith([](TraceText* text, double at, int i) {
    if (i == 10 || i == 40) text->Runtime("cudaMalloc", at, 90, 1020 + i);
    if (i == 10 || i == 40) return 100.0;
    if (i != 30) return 0.0;
    for (int k = 0; k < 8; ++k)
      text->Runtime("cudaFree", at + 100 * k, 90, 1000 + k);
    text->Runtime("cudaMalloc", at + 800, 90, 1010);
    return 900.0;
  });
  const Analyzed grown = Analyze(refilled);
  const Finding* again = FoundBy(grown, Pattern::kAllocatorFlush);
  REQUIRE(again != nullptr);
  CHECK(again->host->total_ms == doctest::Approx(10 * 0.09));
  CHECK(FoundBy(Analyze(Allocating(false)), Pattern::kAllocatorFlush) == nullptr);
  CHECK(FoundBy(Analyze(Allocating(true)), Pattern::kAllocatorFlush) == nullptr);
}

TEST_CASE("a cache that is emptied in mid-run is no first call") {
  const auto flush = [](bool launched) {
    TraceText text;
    double at = 10;
    if (launched) {
      for (int i = 0; i < 20; ++i, at += 100)
        text.OpWithKernel("aten::relu", at, 90, "k", at + 95, 50, i + 1);
    }
    text.Op("aten::cat", at, 60'000);
    for (int k = 0; k < 5; ++k)
      text.Runtime("cudaFree", at + 10 + 10'000 * k, 9'900, 1000 + k);
    text.Runtime("cudaMalloc", at + 51'000, 8'000, 1010);
    at += 60'100;
    for (int i = 0; i < 20; ++i, at += 100)
      text.OpWithKernel("aten::relu", at, 90, "k", at + 95, 50, 100 + i);
    return Analyze(text.Annotation("ProfilerStep#1", 0, at + 20));
  };
  const auto once_ms = [](const Analyzed& one) {
    return static_cast<double>(one.analysis.frames->frames.base.one_time_ns) / 1e6;
  };
  CHECK(once_ms(flush(true)) < 5);
  CHECK(once_ms(flush(false)) > 40);  // before any work it is the start
}

// The main thread stands for 1 ms behind every tenth op; another one runs `other` meanwhile.
TraceText Standing(std::string_view other) {
  std::vector<double> stops;
  TraceText text = OpsWith([&](TraceText*, double at, int i) {
    if (i % 10 != 5) return 10.0;
    stops.push_back(at);
    return 1000.0;
  });
  text.Thread(100, 200);
  for (const double at : stops) {
    if (!other.empty()) text.Python(other, at + 5, 980);
  }
  return text;
}

TEST_CASE("another thread in Python holds the interpreter's lock") {
  const Analyzed one = Analyze(Standing("writer.py(8): encode"));
  const Finding* finding = FoundBy(one, Pattern::kInterpreterLock);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "writer.py(8): encode");
  CHECK(finding->count == 6);
  CHECK(BestWall(*finding)->ms.mid == doctest::Approx(6).epsilon(0.1));
  CHECK(FoundBy(one, Pattern::kPythonStops) == nullptr);
}

// Ten functions that are each reached once, in which the main thread stands for 1 ms; another one
// runs until `late` microseconds after that.
Analyzed StandingOnce(double late) {
  TraceText text;
  std::vector<double> stops;
  double at = 10;
  for (int i = 0; i < 10; ++i, at += 1200) {
    const double begin = at;
    text.OpWithKernel("aten::relu", at, 90, "k", at + 95, 50, 2 * i + 1);
    stops.push_back(at += 100);
    at += 1000;
    text.OpWithKernel("aten::mul", at, 90, "k", at + 95, 50, 2 * i + 2);
    text.Python(fmt::format("model.py({}): block", 10 * i), begin - 5, at + 100 - begin);
  }
  text.Annotation("ProfilerStep#1", 0, at + 20);
  text.Thread(100, 200);
  for (const double stop : stops)
    text.Python("writer.py(8): encode", stop + 5, 990 + late);
  return Analyze(text);
}

TEST_CASE("a thread that goes on each time when another one's function ends waited for the lock") {
  const Analyzed held = StandingOnce(0);
  const Finding* finding = FoundBy(held, Pattern::kInterpreterLock);
  REQUIRE(finding != nullptr);
  CHECK(finding->count == 10);
  // Both work at a time: the other's function ends long after this one went on.
  CHECK(FoundBy(StandingOnce(150), Pattern::kInterpreterLock) == nullptr);
}

TEST_CASE("a thread that waits holds nothing: Python itself stands still") {
  for (const std::string_view other : {"", "threading.py(320): wait"}) {
    const Analyzed one = Analyze(Standing(other));
    CHECK(FoundBy(one, Pattern::kInterpreterLock) == nullptr);
    const Finding* finding = FoundBy(one, Pattern::kPythonStops);
    REQUIRE(finding != nullptr);
    CHECK(finding->count == 6);
  }
}

// Python stands for 2 ms at a place that is reached often, and for `rare_us` at one reached once.
Range StandsSave(double rare_us) {
  const Analyzed one = Analyze(OpsWith([&](TraceText* text, double at, int i) {
    if (i == 20) return 2000.0;
    if (i != 40) return 10.0;
    text->Python("<built-in function all>", at, rare_us + 20);
    text->Python("model.py(30): <genexpr>", at + 2, 5);
    text->Python("model.py(30): <genexpr>", at + 10 + rare_us, 5);
    return rare_us + 30;
  }));
  const Finding* finding = FoundBy(one, Pattern::kPythonStops);
  REQUIRE(finding != nullptr);
  REQUIRE(BestWall(*finding) != nullptr);
  return BestWall(*finding)->ms;
}

TEST_CASE("what stops Python at one place may stop it as long at one that is seldom reached") {
  CHECK(StandsSave(2000).mid < 2.1);
  CHECK(StandsSave(2000).high > 3.7);
  // Of another length it may be the program's own work.
  CHECK(StandsSave(6000).high < 2.1);
  CHECK(StandsSave(900).high < 2.1);
}

TEST_CASE("a graph does not end what stops the host from outside") {
  TraceText text;
  std::vector<double> stops;
  double at = 10;
  for (int i = 0; i < 100; ++i, at += 100) {
    text.OpWithKernel("aten::relu", at, 90, "k", at + 92, 20, i + 1);
    if (i % 20 != 5) continue;
    at += 1000;
    stops.push_back(at - 905);
  }
  text.Annotation("ProfilerStep#1", 0, at + 20);
  text.Python("model.py(10): forward", 1, at + 10);
  text.Thread(100, 200);
  for (const double stop : stops)
    text.Python("writer.py(8): encode", stop, 980);
  const Analyzed one = Analyze(text);
  // Each of 100 launches leaves 80 us of idle time; the stops are 5 ms more.
  const Finding* late = one.Find("cpu_idle", "launch_bound");
  REQUIRE(late != nullptr);
  CHECK(BestWall(*late)->ms.high < 9);
  const Finding* held = FoundBy(one, Pattern::kInterpreterLock);
  REQUIRE(held != nullptr);
  CHECK(BestWall(*held)->after_others_ms > 3);
}

TEST_CASE("a place that takes long each time is work of the program") {
  const TraceText text =
      OpsWith([](TraceText*, double, int i) { return i % 2 == 1 ? 1000.0 : 900.0; });
  CHECK(FoundBy(Analyze(text), Pattern::kPythonStops) == nullptr);
}

// Four marks of 40 ops with a kernel each; before those that `stands` names the main thread is
// silent for 20 ms.
template <typename Stands>
Analyzed StandingInMarks(const Stands& stands) {
  TraceText text;
  double at = 10;
  for (int mark = 0; mark < 4; ++mark) {
    const double begin = at;
    for (int i = 0; i < 40; ++i) {
      if (stands(mark, i)) at += 20'000;
      text.OpWithKernel("aten::add_", at, 20, "k", at + 12, 15, 40 * mark + i + 1);
      at += 25;
    }
    text.Annotation("Optimizer.step#SGD.step", begin - 2, at - begin + 4);
    at += 20;
  }
  text.Annotation("ProfilerStep#1", 0, at + 20);
  return Analyze(text);
}

TEST_CASE("without stacks a host stands still in a mark, out of order") {
  const Analyzed one = StandingInMarks([](int mark, int i) {
    constexpr int kAt[] = {7, 31, 12, 25};
    return i == kAt[mark];
  });
  const Finding* finding = FoundBy(one, Pattern::kPythonStops);
  REQUIRE(finding != nullptr);
  CHECK(finding->count == 4);
  CHECK(BestWall(*finding)->ms.mid == doctest::Approx(80).epsilon(0.1));
  // At the same place each time, or once, it may be the program's own code.
  const Analyzed ordered = StandingInMarks([](int, int i) { return i == 20; });
  CHECK(FoundBy(ordered, Pattern::kPythonStops) == nullptr);
  const Analyzed once = StandingInMarks([](int mark, int i) { return mark == 1 && i == 20; });
  CHECK(FoundBy(once, Pattern::kPythonStops) == nullptr);
}

TEST_CASE("what a pause takes is no saving of the ops it falls between") {
  const auto optimizer_ms = [](const Analyzed& one) {
    const Finding* finding = one.Find("cpu_idle", "optimizer_launches");
    return finding == nullptr ? 0 : BestWall(*finding)->ms.high;
  };
  const double usual = optimizer_ms(StandingInMarks([](int, int) { return false; }));
  const double paused = optimizer_ms(StandingInMarks([](int mark, int i) {
    constexpr int kAt[] = {7, 31, 12, 25};
    return i == kAt[mark];
  }));
  CHECK(usual > 0);
  CHECK(paused < usual + 4);
}

// `count` calls of equal sizes, the first `slow` of which take `times` as long as 20 us.
TraceText EqualCalls(int count, int slow, double times, bool of_one_size) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < count; ++i) {
    const double us = i < slow ? 20 * times : 20;
    const std::string dims =
        of_one_size || i >= slow ? "[[64,4096],[64,4096]]" : "[[640,4096],[640,4096]]";
    text.OpWithKernel("aten::add", at, 10, "add_kernel", at + 12, us, i + 1, Shapes(dims, "float"));
    at += us + 5;
  }
  return text;
}

TEST_CASE("a few calls far slower than others of equal sizes are a finding") {
  const Analyzed one = Analyze(EqualCalls(20, 4, 10, true));
  const Finding* finding = FoundBy(one, Pattern::kSlowCalls);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "aten::add");
  CHECK(finding->count == 4);
  CHECK(finding->savings_ms->mid == doctest::Approx(4 * 0.18));
}

TEST_CASE("calls that are slow as a rule, or do more, are none") {
  CHECK(FoundBy(Analyze(EqualCalls(20, 10, 10, true)), Pattern::kSlowCalls) == nullptr);
  CHECK(FoundBy(Analyze(EqualCalls(20, 4, 10, false)), Pattern::kSlowCalls) == nullptr);
  CHECK(FoundBy(Analyze(EqualCalls(20, 4, 2, true)), Pattern::kSlowCalls) == nullptr);
}

// Eight kernels in turn, 25 rounds; from the middle on those below `slower` take 1.3 times as long.
TraceText Rounds(int slower, bool first_half = false) {
  TraceText text;
  double at = 0;
  int correlation = 0;
  for (int i = 0; i < 200; ++i) {
    const bool later = first_half ? i < 100 : i >= 100;
    const double us = (30 + i % 8) * (later && i % 8 < slower ? 1.3 : 1.0);
    text.OpWithKernel(fmt::format("aten::op{}", i % 8), at, 5, fmt::format("k{}", i % 8), at + 6,
                      us, ++correlation);
    at += us + 2;
  }
  return text;
}

TEST_CASE("kernels that all take longer from one moment on tell of the clock") {
  const Analyzed one = Analyze(Rounds(8));
  const Finding* finding = FoundBy(one, Pattern::kClockDrop);
  REQUIRE(finding != nullptr);
  CHECK(finding->path_a.empty());
  CHECK_FALSE(finding->path_b.empty());
  // 100 kernels of 33.5 us on average took 0.3 of that more.
  CHECK(finding->savings_ms->mid == doctest::Approx(100 * 0.0335 * 0.3).epsilon(0.05));
}

TEST_CASE("a clock that rises, and a few slower kernels, are no drop") {
  CHECK(FoundBy(Analyze(Rounds(8, true)), Pattern::kClockDrop) == nullptr);
  CHECK(FoundBy(Analyze(Rounds(3)), Pattern::kClockDrop) == nullptr);
  CHECK(FoundBy(Analyze(Rounds(0)), Pattern::kClockDrop) == nullptr);
}

// One kernel for two sizes of an op, in no order; from `drop` on each takes 1.3 times as long, and
// from `grow` on all are of the larger size.
Analyzed TwoSizes(int drop, int grow) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 240; ++i) {
    const bool large = i >= grow || (i * i + i / 7) % 3 == 0;
    const double us = (large ? 120 : 40) * (i >= drop ? 1.3 : 1.0);
    const std::string shapes =
        Shapes(large ? "[[512,512],[512,512]]" : "[[512,64],[64,512]]", "float");
    const std::string name = fmt::format("gemm_{}", i % 8);
    text.OpWithKernel("aten::mm", at, 10, name, at + 12, us, i + 1, shapes);
    at += us + 5;
  }
  return Analyze(text);
}

TEST_CASE(
    "a clock that drops shows in kernels that serve several sizes, larger inputs are no drop") {
  constexpr int kNever = 1000;
  CHECK(FoundBy(TwoSizes(117, kNever), Pattern::kClockDrop) != nullptr);
  CHECK(FoundBy(TwoSizes(kNever, kNever), Pattern::kClockDrop) == nullptr);
  CHECK(FoundBy(TwoSizes(kNever, 120), Pattern::kClockDrop) == nullptr);
}

// 20 products of `kernel` and as many pointwise ops, on `platform`.
Analyzed Products(std::string_view kernel, std::string_view platform) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 20; ++i, at += 220) {
    text.OpWithKernel("aten::mm", at, 10, kernel, at + 12, 120, 2 * i + 1,
                      Shapes("[[4096,4096],[4096,4096]]", "float"));
    text.OpWithKernel("aten::relu", at + 110, 10, "vectorized_elementwise_kernel", at + 135, 60,
                      2 * i + 2, Shapes("[[4096,4096]]", "float", 1));
  }
  return Analyze(text, platform);
}

TEST_CASE("16 bits are priced for the whole workload where TF32 runs") {
  constexpr std::string_view kTf32 = "ampere_tf32_s1688gemm_fp32_128x128_ldg8_f2f_stages_32x1_nn";
  const Analyzed one = Products(kTf32, "A100-SXM4-40GB");
  const Finding* finding = FoundBy(one, Pattern::kNarrowerPrecision);
  REQUIRE(finding != nullptr);
  CHECK(finding->count == 40);
  CHECK(finding->savings_ms->high == doctest::Approx(20 * (0.12 + 0.06) / 2).epsilon(0.05));
  CHECK(finding->path_b.empty());
  // Nothing to gain: 16 bits already, or a device that computes both alike.
  CHECK(FoundBy(Products("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn",
                         "A100-SXM4-40GB"),
                Pattern::kNarrowerPrecision) == nullptr);
  CHECK(FoundBy(Products(kTf32, "V100-SXM2-16GB"), Pattern::kNarrowerPrecision) == nullptr);
}

// 20 layers in fp32: a product, attention, a norm and a pointwise op of `type`, of which `narrow`
// products of 16 bits more.
Analyzed Layers(int narrow, const char* type = "float",
                std::string_view pointwise = "vectorized_elementwise_kernel") {
  TraceText text;
  double at = 0;
  int id = 0;
  const auto add = [&](std::string_view op, std::string_view kernel, double us, std::string args) {
    text.OpWithKernel(op, at, 10, kernel, at + 12, us, ++id, std::move(args));
    at += us + 2;
  };
  for (int i = 0; i < 20; ++i) {
    add("aten::mm", "ampere_sgemm_128x64_tn", 800, Shapes("[[1024,1024],[1024,1024]]", "float"));
    add("aten::_efficient_attention_forward", "fmha_cutlassF_f32_aligned_64x64_rf_sm80", 200, "");
    add("aten::native_layer_norm", "vectorized_layer_norm_kernel", 60, "");
    add("aten::relu", pointwise, 100, *type == 0 ? "" : Shapes("[[4096,4096]]", type, 1));
    if (i < narrow) {
      add("aten::mm", "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn", 800,
          Shapes("[[4096,4096],[4096,4096]]", "c10::BFloat16"));
    }
  }
  return Analyze(text, "A100-SXM4-40GB");
}

TEST_CASE("autocast counts all that it computes in 16 bits, TF32 the products alone") {
  const Analyzed wide = Layers(0);
  const Finding* finding = FoundBy(wide, Pattern::kTf32Off);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_a);
  REQUIRE(finding->change_b);
  const Range& a = finding->change_a->savings_ms;
  const Range& b = finding->change_b->savings_ms;
  CHECK(b.high <= 20 * 0.8);
  CHECK(a.high > b.high + 20 * (0.2 + 0.1) * 0.4);
  CHECK(a.high <= 20 * (0.8 + 0.2 + 0.06 + 0.1));
  CHECK(finding->change_a->parts.size() > finding->change_b->parts.size());
  CHECK(FoundBy(wide, Pattern::kFp32Attention) == nullptr);  // the same action
  CHECK(finding->wall_a->ms.high > finding->wall_b->ms.high);
  // Where 16 bits are in use already, what stays in fp32 is there for a reason.
  const Analyzed mixed = Layers(8);
  const Finding* products = FoundBy(mixed, Pattern::kTf32Off);
  REQUIRE(products != nullptr);
  REQUIRE(products->change_a);
  CHECK(products->change_a->parts.size() == products->change_b->parts.size());
}

TEST_CASE("a cast of the model leaves fp64 and integers as they are") {
  const auto taken = [](const Analyzed& one) {
    const Finding* finding = FoundBy(one, Pattern::kTf32Off);
    REQUIRE(finding != nullptr);
    REQUIRE(finding->change_a);
    std::size_t kernels = 0;
    for (const Change::Part& part : finding->change_a->parts)
      kernels += part.gpu.size();
    return kernels;
  };
  constexpr std::string_view kOf = "void at::native::vectorized_elementwise_kernel<{}, 4>(int)";
  const std::size_t all = taken(Layers(0));
  CHECK(taken(Layers(0, "double")) == all - 20);
  CHECK(taken(Layers(0, "long int")) == all - 20);
  CHECK(taken(Layers(0, "", fmt::format(kOf, "double"))) == all - 20);
  CHECK(taken(Layers(0, "", fmt::format(kOf, "float"))) == all);
}

TEST_CASE("the upper ends of all fixes add up to no more than there is") {
  const Analyzed one = Layers(0);
  REQUIRE(one.analysis.wall.together_ms);
  double sum = 0, alone = 0;
  for (const Finding& finding : one.analysis.findings) {
    const WallSaving* best = BestWall(finding);
    if (best == nullptr || finding.one_off) continue;
    const Range after = AfterOthers(*best);
    CHECK(after.low <= after.mid);
    CHECK(after.mid <= after.high);
    sum += after.high;
    alone += best->ms.high;
  }
  // Nor more than the step takes without what recording cost.
  CHECK(one.analysis.wall.together_ms->high <= sum + 1e-9);
  CHECK(one.analysis.wall.together_ms->high > 0.9 * sum);
  CHECK(sum <= alone + 1e-9);
  CHECK(sum <= one.analysis.wall.wall_ms);
  const Finding& first = one.analysis.findings.front();
  CHECK(AfterOthers(*BestWall(first)).high ==
        doctest::Approx(BestWall(first)->ms.high).epsilon(0.01));
}

TEST_CASE("checks and other waits are two findings, each with its own idle time") {
  TraceText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 600.0 * i;
    const int id = 4 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 80, id + 1);
    text.OpWithKernel("aten::isnan", at + 12, 10, "k2", at + 93, 60, id + 2);
    text.Op("aten::is_nonzero", at + 30, 140).Op("aten::item", at + 31, 138);
    text.Runtime("cudaStreamSynchronize", at + 32, 125, 1000 + 2 * i);
    text.OpWithKernel("aten::mm", at + 300, 10, "k", at + 312, 80, id + 3);
    text.OpWithKernel("aten::sum", at + 312, 10, "k3", at + 393, 60, id + 4);
    text.Op("aten::item", at + 330, 140);
    text.Runtime("cudaStreamSynchronize", at + 332, 125, 1001 + 2 * i);
  }
  const Analyzed one = Analyze(text);
  REQUIRE(one.Find("cpu_idle", "value_checks") != nullptr);
  REQUIRE(one.Find("cpu_idle", "synchronisation") != nullptr);
  const Finding& checks = *one.Find("cpu_idle", "value_checks");
  const Finding& values = *one.Find("cpu_idle", "synchronisation");
  CHECK(checks.path_a.front().advice == Advice::kDropChecks);
  CHECK(values.path_a.front().advice == Advice::kAvoidScalars);
  CHECK(values.path_a.size() == 1);
  CHECK(checks.host->gpu_ms == doctest::Approx(39 * 0.060));
  CHECK(values.host->gpu_ms == 0);
  CHECK(checks.host->count + values.host->count <= 80);
  const double idle_ms = one.analysis.totals.idle_ms;
  CHECK(checks.host->idle_ms + values.host->idle_ms <= idle_ms + 1e-6);
  CHECK(BestWall(checks)->ms.high <= checks.host->idle_ms + checks.host->gpu_ms + 1e-6);
}

}  // namespace
}  // namespace jarvis::findings
