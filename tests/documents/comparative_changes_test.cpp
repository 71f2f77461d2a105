// The first sentences of a comparison.
#include "documents/comparative_changes.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/comparative_levers.h"
#include "documents/comparative_phases.h"
#include "documents/comparative_verdict.h"
#include "documents/comparative_words.h"
#include "support/compared.h"

namespace jarvis::documents {
namespace {

using testing::Compared;
using testing::TraceText;

// Marked steps of a product and a sum, each kernel `product` and `sum` times as long as usual.
TraceText TwoKernels(double product, double sum, int steps) {
  TraceText t;
  const double length = 300 + 600 * product + 300 * sum;
  for (int i = 0; i < steps; ++i) {
    const double at = length * i;
    t.Annotation(fmt::format("ProfilerStep#{}", i), at, length);
    t.OpWithKernel("aten::mm", at + 10, 50, "ampere_sgemm_128x64_tn", at + 100, 600 * product,
                   2 * i + 1);
    t.OpWithKernel("aten::add", at + 70, 50, "vectorized_elementwise_kernel",
                   at + 200 + 600 * product, 300 * sum, 2 * i + 2);
  }
  return t;
}

struct Said : Compared {
  std::string verdict, split, changes;
  Said(const TraceText& a, const TraceText& b, std::string_view device = "H100")
      : Compared(a, b, device) {
    verdict = PairVerdict(facts());
    split = PairSplit(facts());
    changes = fmt::format("{}", fmt::join(PairChangeLines(facts()), "\n"));
  }
};

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a clock is the first sentence, and then nothing is a change of the code") {
  const Said clock(TwoKernels(0.8, 0.8, 1), TwoKernels(1, 1, 1));
  CAPTURE(clock.verdict);
  CHECK(
      clock.verdict.starts_with("No change of the program: with the same calls nearly all "
                                "kernels take 0.8 of the baseline's time"));
  CHECK(clock.changes.empty());
  // One of the two kernels is a change.
  const Said one(TwoKernels(0.5, 1, 1), TwoKernels(1, 1, 1));
  CAPTURE(one.changes);
  CHECK_FALSE(Has(one.verdict, "No change of the program"));
  CHECK(Has(one.changes, "GEMMs: the same kernels, as often, take less"));
}

TEST_CASE("what is not proven is said to be so") {
  const Said near(TwoKernels(0.99, 1, 1), TwoKernels(1, 1, 1));
  CAPTURE(near.verdict);
  CHECK(near.verdict.starts_with("**No difference is proven**"));
  CHECK(Has(near.verdict, "one run each, so there is no spread to test it by"));
  const Said far(TwoKernels(0.5, 1, 1), TwoKernels(1, 1, 1));
  CAPTURE(far.verdict);
  CHECK(far.verdict.starts_with("**The candidate is faster**"));
  CHECK(Has(far.verdict, "far more than the about 3 %"));
}

TEST_CASE("what runs on one machine differ by says nothing of two machines") {
  const Said same(TwoKernels(0.93, 1, 1), TwoKernels(1, 1, 1));
  CAPTURE(same.verdict);
  CHECK(same.verdict.starts_with("**The candidate is faster**"));
  CHECK(Has(same.verdict, "it is more than the about 3 %"));
  const Said two(TwoKernels(0.93, 1, 1), TwoKernels(1, 1, 1), "MI300X");
  CAPTURE(two.verdict);
  CHECK(two.verdict.starts_with("**No difference is proven**"));
  CHECK(Has(two.verdict, "is of one machine, not of two"));
  // Far more than that needs no spread.
  const Said far(TwoKernels(0.5, 1, 1), TwoKernels(1, 1, 1), "MI300X");
  CHECK(far.verdict.starts_with("**The candidate is faster**"));
}

// Marked steps whose first call takes `setup` microseconds before any work of the GPU.
TraceText FirstCalls(double setup, double product) {
  TraceText t;
  const double length = 800 + setup + product;
  t.Annotation("ProfilerStep#0", 0, length);
  if (setup > 0) t.Runtime("cuLibraryLoadData", 20, setup, 77);
  t.OpWithKernel("aten::mm", setup + 30, 50, "ampere_sgemm_128x64_tn", setup + 100, product, 1);
  t.OpWithKernel("aten::add", setup + 90, 50, "vectorized_elementwise_kernel",
                 setup + 200 + product, 300, 2);
  return t;
}

TEST_CASE("what happens once on one side is told beside the difference") {
  const Said once(FirstCalls(300, 2000), FirstCalls(0, 2100));
  CAPTURE(once.verdict);
  // 200 us more, and 300 of them are loading code: without it the candidate is the faster one.
  CHECK(once.verdict.starts_with("**No difference is proven**"));
  CHECK(Has(once.verdict,
            "The candidate's step holds 0.300 ms of one-time work, more than the "
            "difference; without it the difference is about −0.1000 ms"));
  // A little of it changes nothing.
  const Said little(FirstCalls(300, 6000), FirstCalls(0, 2100));
  CAPTURE(little.verdict);
  CHECK_FALSE(Has(little.verdict, "one-time"));
}

// Three steps with `own` microseconds of GPU work in no phase.
TraceText WithPhases(double own) {
  TraceText t;
  const double length = 2100 + own;
  for (int i = 0; i < 3; ++i) {
    const double at = length * i;
    t.Annotation(fmt::format("ProfilerStep#{}", i), at, length);
    t.Annotation("forward", at + 10, 900);
    t.OpWithKernel("aten::mm", at + 20, 50, "ampere_sgemm_128x64_tn", at + 100, 800, 2 * i + 1);
    t.Annotation("update", at + 1000, 900);
    t.OpWithKernel("aten::add", at + 1010, 50, "vectorized_elementwise_kernel", at + 1100, 800,
                   2 * i + 2);
    t.OpWithKernel("aten::sum", at + 2000, 20, "reduce_kernel", at + 2050, own, 2 * i + 100);
  }
  return t;
}

// Of "−0.700 ms".
double MsOf(std::string text) {
  const std::string minus = "−";
  if (text.starts_with(minus)) text.replace(0, minus.size(), "-");
  return std::stod(text);
}

TEST_CASE("the rows of phases add up to the unit") {
  const Compared pair(WithPhases(50), WithPhases(750));
  const std::vector<PhaseRow> rows = PairPhaseRows(pair.facts());
  REQUIRE(rows.size() > 3);
  double sum = 0;
  for (const PhaseRow& row : rows)
    sum += MsOf(row.difference);
  CHECK(sum == doctest::Approx(pair.facts().pair.verdict.ms).epsilon(0.01));
  CHECK(rows.back().name == "in none of these");
}

// Ten calls of an op with one kernel, among products, of one recording.
TraceText Calls(const char* op, const char* kernel, double us) {
  TraceText t;
  t.OpWithKernel("aten::addmm", 0, 4, "ampere_sgemm_128x128_tn", 100, 2000, 999);
  double at = 2100;
  for (int i = 0; i < 10; ++i) {
    t.OpWithKernel("aten::mm", 10 + 20.0 * i, 8, "ampere_sgemm_128x64_tn", at, 100, 2 * i + 1,
                   testing::Shapes("[[64,64],[64,64]]", "float"));
    t.OpWithKernel(op, 20 + 20.0 * i, 8, kernel, at + 100, us, 2 * i + 2);
    at += 100 + us;
  }
  return t;
}

TEST_CASE("a slower exchange is advice to go back, a faster one is none") {
  const auto levers = [](const TraceText& a, const TraceText& b) {
    const Compared pair(a, b);
    std::string text;
    for (const LeverText& lever : PairLevers(pair.facts()))
      text += lever.title + ": " + ActionText(lever) + "\n";
    return text;
  };
  const TraceText copies = Calls("aten::copy_", "direct_copy_kernel_cuda", 5);
  const TraceText aligned = Calls("my::align", "_tma_align_input_scale_kernel", 40);
  const std::string slower = levers(aligned, copies);
  CAPTURE(slower);
  CHECK(Has(slower, "Slower than in the baseline"));
  CHECK(Has(slower,
            "go back to `direct_copy_kernel_cuda` in place of "
            "`_tma_align_input_scale_kernel`"));
  CHECK_FALSE(Has(levers(copies, aligned), "Slower than in the baseline"));
  // Too little to be worth it.
  CHECK_FALSE(Has(levers(Calls("my::align", "_tma_align_input_scale_kernel", 6), copies),
                  "Slower than in the baseline"));
}

// Steps whose host calls `ops` ops beside the product, while the GPU idles for `idle` microseconds.
TraceText Ops(int ops, double idle) {
  TraceText t;
  const double length = 1000 + idle;
  for (int i = 0; i < 3; ++i) {
    const double at = length * i;
    t.Annotation(fmt::format("ProfilerStep#{}", i), at, length);
    t.OpWithKernel("aten::mm", at + 10, 50, "ampere_sgemm_128x64_tn", at + 100, 600, i + 1);
    for (int k = 0; k < ops; ++k)
      t.Op("aten::empty", at + 100 + k, 0.5);
  }
  return t;
}

TEST_CASE("more recorded ops slow the host more") {
  const auto limits = [](const TraceText& a, const TraceText& b) {
    return fmt::format("{}", fmt::join(PairLimits(Compared(a, b).facts()), "\n"));
  };
  const std::string many = limits(Ops(20, 100), Ops(100, 400));
  CAPTURE(many);
  CHECK(Has(many, "The baseline has 101 recorded ops a step, the candidate 21"));
  // About as many, and more ops with less idle time: nothing to say.
  CHECK_FALSE(Has(limits(Ops(80, 100), Ops(100, 400)), "recorded ops"));
  CHECK_FALSE(Has(limits(Ops(100, 100), Ops(20, 400)), "recorded ops"));
}

TEST_CASE("the same file has no verdict to prove") {
  const TraceText text = TwoKernels(1, 1, 1);
  const Said same(text, text);
  CHECK(same.verdict == "Both are the same file, so every difference is 0.");
  CHECK(same.split.empty());
  CHECK(same.changes.empty());
}

}  // namespace
}  // namespace jarvis::documents
