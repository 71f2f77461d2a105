// Loops that wait, series of idle stretches, the end of a run, and copies that compute nothing.
#include <algorithm>
#include <numeric>
#include <variant>

#include <doctest/doctest.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

const HostCause& CauseOf(const Analyzed& one, std::string_view subject) {
  const Finding* finding = one.Find("cpu_idle", subject);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->host != nullptr);
  return *finding->host;
}

// Sixty times 100 us of GPU work that the host waits for in an op by number; one pass.
template <typename OpOf>
Analyzed Waits(const OpOf& op_of) {
  constexpr int kTimes = 60;
  TraceText text;
  text.Annotation("ProfilerStep#1", 0, 200.0 * kTimes);
  for (int i = 0; i < kTimes; ++i) {
    const double at = 200.0 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 100, i + 1);
    text.Op(op_of(i), at + 14, 102).Runtime("cudaStreamSynchronize", at + 15, 100, 1000 + i);
  }
  return Analyze(text);
}

TEST_CASE("waits of one loop are told as its rounds") {
  const char* kLoop[] = {"aten::item", "aten::nonzero", "aten::to"};
  const Analyzed loop = Waits([&](int i) { return kLoop[i % 3]; });
  const HostCause& cause = CauseOf(loop, "synchronisation");
  CHECK(cause.rounds == 20);
  CHECK(cause.waits_a_round == 3);
  // The places' counts are of the same waits as the sum.
  const auto of_places =
      std::accumulate(cause.places.begin(), cause.places.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const HostPlace& one) { return sum + one.count; });
  CHECK(of_places == cause.count);
}

TEST_CASE("of several ways out each ends its own waits, and together they save what they end") {
  // Nobody has a way out of the third kind: it only waits.
  const char* kSeveral[] = {"aten::item", "aten::nonzero", "aten::to"};
  const Analyzed several = Waits([&](int i) { return kSeveral[i % 3]; });
  const Finding& finding = *several.Find("cpu_idle", "synchronisation");
  REQUIRE(finding.path_a.size() == 2);
  REQUIRE(finding.wall_a.has_value());
  const HostCause& cause = *finding.host;
  CHECK(cause.ended_part == doctest::Approx(2.0 / 3).epsilon(0.1));
  CHECK(finding.wall_a->ms.high <= cause.ended_part * cause.idle_ms + cause.gpu_ms + 1e-6);
  // The first way alone leaves the GPU idle behind the waits of the second.
  REQUIRE(cause.least.size() == 1);
  CHECK(std::get<analysis::RemoveWaits>(cause.least.front()).calls.size() == 20);
  // One way is all that there is: its low end is of all its waits.
  const Analyzed one = Waits([](int) { return "aten::item"; });
  const Finding& alone = *one.Find("cpu_idle", "synchronisation");
  REQUIRE(alone.wall_a.has_value());
  CHECK(alone.host->ended_part == 1);
  CHECK(alone.wall_a->ms.low > 2 * finding.wall_a->ms.low);
  CHECK(alone.wall_a->ms.high <= alone.host->idle_ms + alone.host->gpu_ms + 1e-6);
}

// Thirty rounds of `kernels` kernels and two waits each.
Analyzed RoundsThatCompute(int kernels) {
  TraceText text;
  int id = 0;
  for (int round = 0; round < 30; ++round) {
    const double at = 600.0 * round;
    for (int k = 0; k < kernels; ++k)
      text.OpWithKernel("aten::eq", at + 30 * k, 10, "k", at + 30 * k + 12, 5, ++id);
    const char* kReads[] = {"aten::is_nonzero", "aten::nonzero"};
    for (int read = 0; read < 2; ++read) {
      const double from = at + 300 + 120 * read;
      text.OpWithKernel("aten::mm", from, 10, "k", from + 12, 80, ++id);
      text.Op(kReads[read], from + 14, 82)
          .Runtime("cudaStreamSynchronize", from + 15, 80, 9000 + id);
    }
  }
  text.Annotation("ProfilerStep#1", 0, 600.0 * 30);
  return Analyze(text);
}

TEST_CASE("rounds that compute are done at once, rounds that read alone are read back once") {
  const auto first = [](const Analyzed& one) {
    const Finding* finding = one.Find("cpu_idle", "synchronisation");
    REQUIRE(finding != nullptr);
    REQUIRE_FALSE(finding->path_a.empty());
    return finding->path_a.front().advice;
  };
  CHECK(first(RoundsThatCompute(6)) == Advice::kLoopAtOnce);
  const char* kLoop[] = {"aten::item", "aten::nonzero", "aten::to"};
  CHECK(first(Waits([&](int i) { return kLoop[i % 3]; })) != Advice::kLoopAtOnce);
  // One place that waits again and again is told by its name.
  CHECK(first(Waits([](int) { return "aten::item"; })) != Advice::kLoopAtOnce);
}

TEST_CASE("waits of one place, and waits in no order, are no loop") {
  CHECK(CauseOf(Waits([](int) { return "aten::item"; }), "synchronisation").rounds == 0);
  // One place after the other, and an order that does not repeat.
  const Analyzed after = Waits([](int i) { return i < 30 ? "aten::item" : "aten::nonzero"; });
  CHECK(CauseOf(after, "synchronisation").rounds == 0);
  const char* kPlaces[] = {"aten::item", "aten::nonzero", "aten::to", "aten::unique"};
  const Analyzed mixed = Waits([&](int i) { return kPlaces[(i * i + i / 7) % 4]; });
  CHECK(CauseOf(mixed, "synchronisation").rounds < 20);
}

// GPU work of 300 ms each, with so many milliseconds of a silent host behind it.
TraceText Stretches(std::initializer_list<double> silent_ms) {
  TraceText text;
  double at = 0;
  int id = 0;
  for (const double ms : silent_ms) {
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 300'000, ++id);
    at += 300'012 + 1000 * ms;
  }
  text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 300'000, ++id);
  return text;
}

// A pass of twenty blocks of eighty launches, one every 30 us, behind a wait for all before.
// The first kernels of a block take `first_us`, the others `us`.
Analyzed Blocks(double first_us, double us) {
  constexpr int kBlocks = 20, kLaunches = 80, kFirst = 6;
  TraceText text;
  double at = 0, free = 0;
  int correlation = 0;
  for (int block = 0; block < kBlocks; ++block) {
    const double back = std::max(at + 5, free + 5);
    text.Op("aten::to", at, back - at + 1)
        .Runtime("cudaStreamSynchronize", at + 1, back - at - 1, ++correlation);
    at = back + 10;
    for (int i = 0; i < kLaunches; ++i, at += 30) {
      const double start = std::max(at + 8, free + 1);
      const double took = i < kFirst ? first_us : us;
      text.OpWithKernel("aten::mul", at, 20, "k", start, took, ++correlation);
      free = start + took;
    }
  }
  text.Annotation("ProfilerStep#1", 0, std::max(at, free));
  return Analyze(text);
}

TEST_CASE("idle time later on, for the lead that a wait cost, is that of the wait") {
  // The host needs 2400 us for a block, the GPU 4470: it would be ahead.
  const Analyzed lost = Blocks(5, 60);
  const HostCause& cause = CauseOf(lost, "synchronisation");
  CHECK(cause.count == 19);
  CHECK(cause.idle_ms > cause.behind_ms + 19 * 5 * 0.02);
  CHECK(lost.Find("cpu_idle", "launch_bound") == nullptr);
  // Here it is late whatever it waits for, and waits for next to nothing.
  const Analyzed slow = Blocks(5, 10);
  const Finding* launches = slow.Find("cpu_idle", "launch_bound");
  REQUIRE(launches != nullptr);
  CHECK(launches->host->idle_ms > 10);
}

TEST_CASE("a series of idle stretches is not cut where they grow shorter") {
  const Analyzed one = Analyze(Stretches({30, 20, 10, 6, 3, 1.5, 0.7}));
  const HostCause& cause = CauseOf(one, "host_section");
  CHECK(cause.count == 7);
  CHECK(cause.total_ms == doctest::Approx(71.2).epsilon(0.01));
  CHECK(cause.shortest_ms == doctest::Approx(0.7).epsilon(0.1));
  CHECK(cause.longest_ms == doctest::Approx(30).epsilon(0.01));
  CHECK_FALSE(cause.alike());
}

TEST_CASE("stretches between the same ops in which different ops run are not one") {
  TraceText text = Stretches({40, 40});
  // In the first a loop over elements takes a part of the time, in the second nothing is recorded.
  for (int i = 0; i < 60; ++i)
    text.Op("aten::slice", 301'000 + 600.0 * i, 120);
  const Analyzed one = Analyze(text);
  const HostCause& cause = CauseOf(one, "host_section");
  CHECK(cause.count == 1);
  CHECK(cause.total_ms == doctest::Approx(40).epsilon(0.01));
}

// Host work of 2 ms between pieces of GPU work, and 12 ms of some after the last; in steps or not.
Analyzed WithEnd(const char* last, bool steps) {
  TraceText text;
  const auto times = 5;
  for (int i = 0; i < times; ++i) {
    const double at = 4000.0 * i;
    const bool end = i + 1 == times;
    // Of a run, each piece of GPU work is another.
    const std::string kernel = steps ? "k" : "k" + std::to_string(i);
    text.OpWithKernel("aten::mm", at, 10, kernel, at + 12, 988, i + 1);
    text.Python(end ? last : "masks.py(7): prepare", at + 1001, end ? 12'000 : 2000);
    if (end) text.Op("aten::slice", at + 12'900, 50);
    if (steps) {
      text.Annotation("ProfilerStep#" + std::to_string(i + 1), at, end ? 13'002 : 3002);
    }
  }
  return Analyze(text);
}

bool Has(const Analyzed& one, Advice advice) {
  return std::any_of(one.analysis.findings.begin(), one.analysis.findings.end(),
                     [&](const Finding& finding) { return Advises(finding.path_a, advice); });
}

TEST_CASE("no GPU work is left to hide what follows the last of a run; a step has a next one") {
  const Analyzed run = WithEnd("masks.py(12): encode", false);
  CHECK(Has(run, Advice::kShortenLastWork));
  CHECK(Has(run, Advice::kOverlapHostWork));  // what comes before
  CHECK_FALSE(Has(WithEnd("masks.py(12): encode", true), Advice::kShortenLastWork));
  // The same function as between the pieces: the loop may go on.
  CHECK_FALSE(Has(WithEnd("masks.py(7): prepare", false), Advice::kShortenLastWork));
}

TEST_CASE("ops that send data compute nothing, whatever else runs under their name") {
  TraceText text;
  const char* kArgs = R"("Input Dims":[[64,64],[64,64]],"Input type":["float","float"])";
  for (int i = 0; i < 10; ++i) {
    const double at = 1000.0 * i;
    text.Op("aten::copy_", at, 20, kArgs).Runtime("cudaMemcpyAsync", at + 5, 10, 3 * i + 1);
    text.Memcpy("Memcpy HtoD (Pageable -> Device)", at + 30, 100, 3 * i + 1, 7, R"("bytes":16384)");
    text.OpWithKernel("aten::copy_", at + 140, 20, "direct_copy_kernel", at + 170, 30, 3 * i + 2,
                      kArgs);
    text.OpWithKernel("aten::mul", at + 210, 20, "mul_kernel", at + 240, 60, 3 * i + 3, kArgs);
  }
  const Analyzed one = Analyze(text);
  const CategoryAnalysis* elementwise = one.analysis.FindCategory("elementwise");
  REQUIRE(elementwise != nullptr);
  CHECK(elementwise->gpu_us == doctest::Approx(1900));
  REQUIRE(elementwise->percent_of_computation.has_value());
  CHECK(*elementwise->percent_of_computation == doctest::Approx(100));
}

// Five replays of a graph with a GEMM and an element-wise kernel, beside a product that the
// compiler generated and timed.
Analyzed Replays(const char* product) {
  TraceText text;
  for (int i = 0; i < 5; ++i) {
    const double at = 2000.0 * i;
    text.Annotation("timed", at, 1990).Runtime("cudaGraphLaunch", at, 10, i + 1);
    text.Kernel(product, at + 20, 1500, i + 1);
    text.Kernel("triton_tem_fused_mm_0_0d1d2d", at + 1530, 20, i + 1);
    text.Kernel("triton_poi_fused_gelu_7_0d1d2de", at + 1560, 300, i + 1);
  }
  return Analyze(text, "A100-SXM4-40GB");
}

TEST_CASE("a line that no fix sizes is told as not assessed, whatever advice there is") {
  const Analyzed one = Replays("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn");
  const auto kinds = one.analysis.UnassessedKinds();
  CHECK(std::find(kinds.begin(), kinds.end(), ledger::WorkKind::kProduct) != kinds.end());
  // More tiles of the compiler's own change nothing where the library's kernel was faster.
  CHECK(std::none_of(
      one.analysis.findings.begin(), one.analysis.findings.end(),
      [](const Finding& finding) { return Advises(finding.path_b, Advice::kSearchTiles); }));
}

}  // namespace
}  // namespace jarvis::findings
