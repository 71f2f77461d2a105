// What changed between two traces: each change netted, work that moved told as the same work, and
// what the recordings prove.
#include "findings/two/pair_changes.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/two/pair.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using ledger::WorkKind;
using testing::Analyze;
using testing::Shapes;
using testing::TraceText;

struct Call {
  const char* op;
  const char* kernel;
  double us;
};

// Work of its own that no repetition holds, so that figures are of the whole recording.
constexpr double kPrologueUs = 600;
TraceText Prologue() {
  TraceText text;
  text.OpWithKernel("aten::addmm", 0, 4, "ampere_sgemm_128x128_tn", 400, kPrologueUs, 9'999);
  return text;
}

// These calls in a row, one launch each, the GPU without a gap.
TraceText Program(const std::vector<Call>& calls) {
  TraceText text = Prologue();
  double at = 1000;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    text.OpWithKernel(calls[i].op, 5 + 5.0 * static_cast<double>(i), 4, calls[i].kernel, at,
                      calls[i].us, static_cast<std::int64_t>(i) + 1,
                      Shapes("[[64,64],[64,64]]", "float"));
    at += calls[i].us;
  }
  return text;
}

std::vector<Call> Times(std::size_t n, const std::vector<Call>& calls) {
  std::vector<Call> all;
  for (std::size_t i = 0; i < n; ++i)
    all.insert(all.end(), calls.begin(), calls.end());
  return all;
}

ComparedPair Compare(const TraceText& candidate, const TraceText& baseline) {
  static std::vector<testing::Analyzed> kept;  // what a pair refers to
  kept.reserve(64);
  Job job;
  const auto side = [](const testing::Analyzed& of) {
    return CompareSide{*of.trace, *perf::FindPlatform("H100")};
  };
  static std::vector<CompareSide> sides;
  sides.clear();
  sides.reserve(2);
  for (const TraceText* text : {&candidate, &baseline}) {
    kept.push_back(Analyze(*text, "H100"));
    sides.push_back(side(kept.back()));
  }
  auto pair = ComparePair(sides[0], sides[1], job);
  REQUIRE(pair.has_value());
  double sum = pair->changes.rest_ms;
  for (const PairChange& change : pair->changes.changes)
    sum += change.ms;
  CHECK(sum == doctest::Approx(pair->verdict.ms));
  return std::move(*pair);
}

const PairChange* Of(const ComparedPair& pair, ChangeKind kind) {
  for (const PairChange& change : pair.changes.changes) {
    if (change.kind == kind) return &change;
  }
  return nullptr;
}

const Call kMmCall = {"aten::mm", "ampere_sgemm_128x64_tn", 100};
const Call kCast = {"my::quant", "_per_token_group_quant_fp8", 20};
const Call kOtherCast = {"my::quant", "per_token_group_quant_8bit_kernel", 10};
const Call kCopy = {"aten::copy_", "direct_copy_kernel_cuda", 4};

TEST_CASE("a faster cast that needs copies is one change") {
  const ComparedPair pair = Compare(Program(Times(10, {kCopy, kOtherCast, kMmCall})),
                                    Program(Times(10, {kCast, kMmCall})));
  const PairChange* change = Of(pair, ChangeKind::kReplaced);
  REQUIRE(change != nullptr);
  CHECK(change->ms == doctest::Approx(-0.06));
  REQUIRE(change->kernels.size() == 3);
  CHECK(change->kernels[0].difference_ms() == doctest::Approx(-0.2));
  CHECK(Of(pair, ChangeKind::kMoreCalls) == nullptr);
  // The same kernels as often are no exchange, and equal ones no change.
  const ComparedPair slower = Compare(Program(Times(10, {{kCast.op, kCast.kernel, 30}, kMmCall})),
                                      Program(Times(10, {kCast, kMmCall})));
  CHECK(Of(slower, ChangeKind::kReplaced) == nullptr);
  REQUIRE(Of(slower, ChangeKind::kSameCalls) != nullptr);
  CHECK(Of(slower, ChangeKind::kSameCalls)->ms == doctest::Approx(0.1));
  const TraceText same = Program(Times(10, {kCast, kMmCall}));
  CHECK(Compare(same, same).changes.changes.empty());
}

TEST_CASE("work that a compiler's kernels took moved; what is gone is gone") {
  const std::vector<Call> chain = {{"aten::add", "vectorized_elementwise_kernel", 60},
                                   {"aten::native_layer_norm", "layer_norm_kernel", 60},
                                   kMmCall};
  const std::vector<Call> fused = {{"CompiledFunction", "triton_poi_fused_add_layer_norm_0", 70},
                                   kMmCall};
  const ComparedPair moved = Compare(Program(Times(10, fused)), Program(Times(10, chain)));
  REQUIRE(Of(moved, ChangeKind::kGenerated) != nullptr);
  CHECK(Of(moved, ChangeKind::kGenerated)->ms == doctest::Approx(-0.5));
  CHECK(moved.changes.generated_ms[0] == doctest::Approx(0.7));
  CHECK(moved.moved.rows.size() == 2);
  CHECK(moved.moved.holders.size() == 1);
  // Without such kernels the ops are not called any more.
  const ComparedPair gone =
      Compare(Program(Times(10, {chain[0], kMmCall})), Program(Times(10, chain)));
  CHECK(Of(gone, ChangeKind::kGenerated) == nullptr);
  REQUIRE(Of(gone, ChangeKind::kFewerCalls) != nullptr);
  CHECK(gone.moved.rows.empty());
  REQUIRE(gone.changes.calls.size() == 1);
  CHECK(gone.changes.calls[0].name == "aten::native_layer_norm");
}

TEST_CASE("kernels that all run twice as often are parts of a batch, or twice the work") {
  const std::vector<Call> step = {
      kMmCall, kCopy, {"aten::add", "vectorized_elementwise_kernel", 30}};
  const ComparedPair twice = Compare(Program(Times(20, step)), Program(Times(10, step)));
  CHECK(twice.changes.times_as_often == 2);
  const ComparedPair half = Compare(Program(Times(10, step)), Program(Times(20, step)));
  CHECK(half.changes.times_as_often == doctest::Approx(0.5));
  // One kind of kernel twice as often is no such thing.
  std::vector<Call> more = Times(10, step);
  for (int i = 0; i < 10; ++i)
    more.push_back(kCopy);
  CHECK(Compare(Program(more), Program(Times(10, step))).changes.times_as_often == 1);
}

TEST_CASE("of calls whose number changed the outermost are told") {
  const auto checked = [](bool checks) {
    TraceText text = Prologue();
    for (int i = 0; i < 10; ++i) {
      const double at = 1000 + 100.0 * i;
      text.OpWithKernel("aten::mm", at, 9, "ampere_sgemm_128x64_tn", at + 20, 30, 3 * i + 1);
      if (!checks) continue;
      text.Op("aten::allclose", at + 40, 40);
      text.OpWithKernel("aten::isclose", at + 41, 20, "vectorized_elementwise_kernel", at + 60, 20,
                        3 * i + 2);
    }
    return text;
  };
  const ComparedPair pair = Compare(checked(false), checked(true));
  REQUIRE(pair.changes.calls.size() == 1);
  CHECK(pair.changes.calls[0].name == "aten::allclose");
  CHECK(pair.changes.calls[0].calls[1] == 10);
  CHECK(Compare(checked(true), checked(true)).changes.calls.empty());
}

// Ten results read back: a copy, and a synchronization so many microseconds after it, by the same
// caller or by the one around it.
TraceText ReadsBack(double gap, bool same_caller) {
  TraceText text = Prologue();
  for (int i = 0; i < 10; ++i) {
    const double at = 1000 + 1000.0 * i;
    text.OpWithKernel("aten::mm", at, 9, "ampere_sgemm_128x64_tn", at + 20, 300, 3 * i + 1);
    text.Op("aten::to", at + 30, same_caller ? 500 : 320);
    text.Runtime("cudaMemcpyAsync", at + 40, 300, 3 * i + 2);
    text.Memcpy("Memcpy DtoH (Device -> Pageable)", at + 325, 10, 3 * i + 2);
    text.Runtime("cudaStreamSynchronize", at + 340 + gap, 20, 3 * i + 3);
  }
  return text;
}

TEST_CASE("a copy that is waited for and its own synchronization are one wait") {
  const TraceText base = ReadsBack(5, true);
  CHECK(Compare(base, base).syncs[0] * Compare(base, base).balance.units[0] == doctest::Approx(10));
  // Later, or by another caller, it is a wait of its own.
  for (const TraceText& text : {ReadsBack(100, true), ReadsBack(15, false)}) {
    const ComparedPair apart = Compare(text, text);
    CHECK(apart.syncs[0] * apart.balance.units[0] == doctest::Approx(20));
  }
}

TEST_CASE("waiting in calls whose number changed is told apart from the host's own time") {
  const auto program = [](int reads) {
    TraceText text = Prologue();
    for (int i = 0; i < 40; ++i) {
      const double at = 1000 + 1000.0 * i;
      text.OpWithKernel("aten::mm", at, 9, "ampere_sgemm_128x64_tn", at + 20, 900, 3 * i + 1);
      if (i % (40 / reads) != 0) continue;
      text.Op("aten::item", at + 30, 895);
      text.Runtime("cudaStreamSynchronize", at + 40, 880, 3 * i + 2);
    }
    return text;
  };
  const ComparedPair pair = Compare(program(10), program(40));
  REQUIRE(pair.changes.calls.size() == 1);
  const ChangedCall& call = pair.changes.calls[0];
  for (int i = 0; i < 2; ++i) {
    CHECK(call.wait_ms[i] / call.calls[i] == doctest::Approx(0.88));
    CHECK(call.own_ms(i) / call.calls[i] == doctest::Approx(0.015));
  }
}

TEST_CASE("kernels that one side alone quantizes with are told") {
  const Call norm = {"CompiledFunction",
                     "triton_per_fused__to_copy_add_amax_amin_clamp_div_mul_native_layer_norm_"
                     "reciprocal_zeros_like_13",
                     60};
  const Call plain = {"CompiledFunction", "triton_per_fused_add_native_layer_norm_13", 40};
  const ComparedPair pair =
      Compare(Program(Times(10, {norm, kMmCall})), Program(Times(10, {plain, kMmCall})));
  REQUIRE(pair.changes.quantises);
  CHECK(*pair.changes.quantises == 0);
  CHECK(pair.changes.quantised_calls[0] == 10);
  CHECK(pair.changes.quantised_ms[0] == doctest::Approx(0.6));
  const ComparedPair undone =
      Compare(Program(Times(10, {plain, kMmCall})), Program(Times(10, {norm, kMmCall})));
  REQUIRE(undone.changes.quantises);
  CHECK(*undone.changes.quantises == 1);
  // Both do, by whatever kernels; a softmax has a largest value as well; and weights that are
  // expanded were quantized before.
  const Call softmax = {"CompiledFunction", "triton_per_fused__softmax_amax_div_exp_sub_sum_3", 60};
  const Call expand = {"my::expand", "_dequantize_rowwise", 60};
  CHECK_FALSE(
      Compare(Program(Times(10, {norm, kMmCall})), Program(Times(10, {kCast, plain, kMmCall})))
          .changes.quantises);
  for (const Call& other : {softmax, expand}) {
    CHECK_FALSE(Compare(Program(Times(10, {other, kMmCall})), Program(Times(10, {plain, kMmCall})))
                    .changes.quantises);
  }
}

TEST_CASE("steps prove a difference that their spread does not explain") {
  CHECK(DifferBySteps({5, 100, 1}, {5, 110, 1}));
  CHECK_FALSE(DifferBySteps({5, 100, 10}, {5, 105, 10}));
  // Two steps a side say little: 12 times the error is needed at worst.
  CHECK_FALSE(DifferBySteps({2, 155, 1.3}, {2, 156, 5.8}));
  CHECK_FALSE(DifferBySteps({1, 100, 0}, {5, 200, 1}));
  CHECK(DifferBySteps({3, 100, 0}, {3, 101, 0}));
}

TEST_CASE("one run a side is held against what runs of unchanged code differ by") {
  const auto run = [](double us) { return Program(Times(10, {{kMmCall.op, kMmCall.kernel, us}})); };
  CHECK(Compare(run(80), run(100)).verdict.proof == Proof::kAboveUsual);
  const ComparedPair near = Compare(run(98), run(100));
  CHECK(near.verdict.proof == Proof::kWithinUsual);
  CHECK(near.verdict.work_changed);
  CHECK(near.verdict.work_ms == doctest::Approx(-0.02));
  CHECK_FALSE(Compare(run(100), run(100)).verdict.work_changed);
}

TEST_CASE("communication is alike if its calls are, and without sizes nearly its time") {
  const auto job = [](double all_to_all, int calls) {
    std::vector<Call> program = Times(10, {kMmCall});
    for (int i = 0; i < calls; ++i)
      program.push_back({"deep_ep::combine", "deep_ep::internode_ll::combine", all_to_all});
    return Program(program);
  };
  CHECK(Compare(job(104, 10), job(100, 10)).verdict.comm == CommLikeness::kCalls);
  CHECK(Compare(job(60, 10), job(100, 10)).verdict.comm == CommLikeness::kUnlike);
  CHECK(Compare(job(100, 20), job(100, 10)).verdict.comm == CommLikeness::kUnlike);
  const ComparedPair skew = Compare(job(104, 10), job(100, 10));
  CHECK(skew.verdict.comm_ms == doctest::Approx(0.04));
  CHECK(skew.verdict.work_ms == doctest::Approx(0));
}

// Steps of a loader, a forward and a backward pass.
TraceText LoaderSteps(double loader_us, const char* last = "backward") {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    const double at = 2000.0 * i;
    text.Annotation(fmt::format("ProfilerStep#{}", i), at, 2000);
    text.Annotation("load", at + 1, loader_us);
    text.Annotation("forward", at + 800, 500);
    text.OpWithKernel("aten::mm", at + 810, 50, "ampere_sgemm_128x64_tn", at + 900, 300, 2 * i + 1);
    text.Annotation(last, at + 1310, 600);
    text.OpWithKernel("aten::add", at + 1320, 50, "vectorized_elementwise_kernel", at + 1400, 400,
                      2 * i + 2);
  }
  return text;
}

TEST_CASE("phases that both sides name stand side by side") {
  const ComparedPair pair = Compare(LoaderSteps(100), LoaderSteps(700));
  CHECK_FALSE(pair.phases.by_order);
  REQUIRE(pair.phases.phases.size() >= 3);
  for (const PairPhase& phase : pair.phases.phases) {
    if (phase.name == "forward") CHECK(phase.busy_ms[0] == doctest::Approx(0.3));
  }
  // A large part that one side alone has: nothing is told.
  CHECK(Compare(LoaderSteps(100, "update"), LoaderSteps(100)).phases.phases.empty());
}

// A product, then a chain of ops or a replay of their graph, three times; then a reduction.
TraceText GraphSteps(bool graph) {
  TraceText text = Prologue();
  double gpu = 1000;
  std::int64_t id = 1;
  const auto call = [&](const char* op, const char* kernel, double us, const char* shapes) {
    text.OpWithKernel(op, 10.0 * static_cast<double>(id), 8, kernel, gpu, us, id,
                      Shapes(shapes, "float"));
    gpu += us;
    ++id;
  };
  for (int i = 0; i < 3; ++i) {
    call("aten::mm", "ampere_sgemm_128x64_tn", 100, "[[64,64],[64,64]]");
    if (graph) {
      text.Runtime("cudaGraphLaunch", 10.0 * static_cast<double>(id), 5, id);
      text.Kernel("triton_poi_fused_add_0", gpu, 150, id);
      text.Arrow(id);
      gpu += 150;
      ++id;
    } else {
      for (int k = 0; k < 4; ++k)
        call("aten::add", "vectorized_elementwise_kernel", 100, "[[32,32],[32,32]]");
    }
    call("aten::sum", "reduce_kernel", 50, "[[64,64],[64]]");
  }
  return text;
}

// Products of 4096 x 4096 x 4096 in fp16, far from the roof: ops, or a replay of their graph.
TraceText SlowProducts(bool graph, const char* kernel = "sm90_xmma_gemm_f16f16_f16f32") {
  TraceText text = Prologue();
  std::int64_t id = 1;
  for (int i = 0; i < 6; ++i) {
    const double at = 1000 + 2000.0 * i;
    const double host = 50.0 * i + 10;
    if (graph) {
      text.Runtime("cudaGraphLaunch", host, 5, id);
      text.Kernel(kernel, at, 1900, id);
      text.Arrow(id);
    } else {
      text.OpWithKernel("aten::mm", host, 8, kernel, at, 1900, id,
                        Shapes("[[4096,4096],[4096,4096]]", "c10::Half"));
    }
    ++id;
    // What surrounds it is the same on both sides.
    for (int k = 0; k < 3; ++k, ++id)
      text.OpWithKernel("aten::add", host + 10 + 10 * k, 8, "vectorized_elementwise_kernel",
                        at + 1900 + 20 * k, 20, id, Shapes("[[64,64],[64,64]]", "float"));
  }
  return text;
}

TEST_CASE("what the baseline's shapes tell of work that moved is told of the candidate") {
  const ComparedPair moved = Compare(SlowProducts(true), SlowProducts(false));
  REQUIRE_FALSE(moved.moved.rows.empty());
  REQUIRE_FALSE(moved.of_moved.empty());
  CHECK(moved.of_moved.front().saved_ms > 1);
  CHECK(moved.of_moved.front().saved_ms < moved.balance.ms[0]);
  // Where the ops are on both sides the candidate's own analysis tells.
  CHECK(Compare(SlowProducts(false), SlowProducts(false)).of_moved.empty());
}

TEST_CASE("a graph's replays are held against the ops in their place") {
  const ComparedPair pair = Compare(GraphSteps(true), GraphSteps(false));
  REQUIRE(pair.phases.by_order);
  double sum = 0;
  for (const PairPhase& phase : pair.phases.phases)
    sum += phase.ms[0] - phase.ms[1];
  CHECK(sum == doctest::Approx(pair.verdict.ms));
  REQUIRE(pair.phases.phases.size() == 3);
  CHECK(pair.phases.phases[0].ms[0] == doctest::Approx(pair.phases.phases[0].ms[1]));
  CHECK(pair.phases.phases[1].busy_ms[0] == doctest::Approx(0.45));
  CHECK(pair.phases.phases[1].busy_ms[1] == doctest::Approx(1.2));
  // Where both replay, or none does, order tells no phase.
  CHECK_FALSE(Compare(GraphSteps(true), GraphSteps(true)).phases.by_order);
  CHECK_FALSE(Compare(GraphSteps(false), GraphSteps(false)).phases.by_order);
}

}  // namespace
}  // namespace jarvis::findings
