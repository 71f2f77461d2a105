// What chains are for, by their ops and by what stands beside them.
#include "findings/one/chain_works.h"

#include <algorithm>
#include <memory>

#include <doctest/doctest.h>

#include "findings/one/analysis.h"
#include "findings/one/embedding_causes.h"
#include "findings/one/fusion_facts.h"
#include "findings/one/merge_findings.h"
#include "findings/one/wall_classes.h"

namespace jarvis::findings {
namespace {

FusionCandidate ChainOf(FusionKind kind, std::vector<std::string> ops, std::string path) {
  FusionCandidate chain;
  chain.kind = kind;
  chain.module_path = std::move(path);
  for (std::string& op : ops)
    chain.kernels.push_back({"kernel", std::move(op), "", 0, {}});
  return chain;
}

TEST_CASE("a norm without a mean that is taken away is an RMS norm") {
  const auto rms = ChainOf(FusionKind::kNorm, {"aten::pow", "aten::mean", "aten::rsqrt"}, "M");
  CHECK(NameOfChain(rms, {&rms})
            .by_hand.starts_with("`torch.nn.functional.rms_norm` of PyTorch 2.9 or newer"));
  const auto layer = ChainOf(FusionKind::kNorm, {"aten::mean", "aten::sub", "aten::pow"}, "M");
  CHECK(NameOfChain(layer, {&layer}).by_hand == "`torch.nn.functional.layer_norm`");
  // Called as one op already: nothing to replace.
  const auto op = ChainOf(FusionKind::kNorm, {"aten::add", "aten::layer_norm"}, "M");
  CHECK(NameOfChain(op, {&op}).by_hand.empty());
}

TEST_CASE("an activation and the product with what stands beside it are one gate") {
  const auto silu = ChainOf(FusionKind::kEpilogue, {"aten::silu"}, "M / MLP / SiLU");
  const auto gate = ChainOf(FusionKind::kEpilogue, {"aten::mul"}, "M / MLP");
  CHECK(NameOfChain(silu, {&silu, &gate}).by_hand == "Liger's `LigerSiLUMulFunction`");
  CHECK(NameOfChain(gate, {&silu, &gate}).name == "activation and gate");
  // Without a gate there is no such function.
  CHECK(NameOfChain(silu, {&silu}).by_hand.empty());
  const auto far = ChainOf(FusionKind::kEpilogue, {"aten::mul"}, "M / Attention");
  CHECK(NameOfChain(far, {&silu, &far}).name == "`aten::mul`");
}

TEST_CASE("a norm's function replaces neither the add before it nor the activation behind it") {
  auto norm =
      ChainOf(FusionKind::kNorm,
              {"aten::add_", "aten::mean", "aten::sub", "aten::pow", "aten::mean", "aten::add",
               "aten::sqrt", "aten::div", "aten::mul", "aten::add", "aten::gelu"},
              "M / LayerNorm2d");
  for (FusionKernel& kernel : norm.kernels)
    kernel.mean_us = 10;
  norm.total_us = 110;
  norm.savings_ms = Range{0.055, 0.088, 0.099};
  for (trace::EventIndex e = 0; e < norm.kernels.size(); ++e)
    norm.gpu.push_back(e);
  norm.ends = {norm.gpu.size()};
  const FusionCandidate named = NamedPart(norm);
  CHECK(named.gpu == std::vector<trace::EventIndex>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(named.total_us == doctest::Approx(90));
  CHECK(named.savings_ms->high == doctest::Approx(0.081));
  // In an RMS norm, the sum with epsilon and the product with the weight are its own.
  const auto rms =
      ChainOf(FusionKind::kNorm,
              {"aten::pow", "aten::mean", "aten::add", "aten::rsqrt", "aten::mul"}, "M / RMSNorm");
  CHECK(NamedPart(rms).kernels.size() == 5);
  // One op that is a norm already is nothing to replace.
  const auto op = ChainOf(FusionKind::kNorm, {"aten::add", "aten::layer_norm"}, "M");
  CHECK(NamedPart(op).kernels.size() == 2);
}

TEST_CASE("copies behind a rotation are none of it, copies in another chain are the chain's") {
  auto rotary = ChainOf(FusionKind::kRotary,
                        {"aten::mul", "aten::add", "aten::copy_", "aten::clone"}, "M / Attention");
  for (FusionKernel& kernel : rotary.kernels)
    kernel.mean_us = 10;
  rotary.total_us = 80;
  rotary.savings_ms = Range{0.02, 0.04, 0.06};
  rotary.gpu = {1, 2, 3, 4, 5, 6, 7, 8};
  rotary.ends = {4, 8};
  const FusionCandidate left = NamedPart(rotary);
  CHECK(left.gpu == std::vector<trace::EventIndex>{1, 2, 5, 6});
  CHECK(left.ends == std::vector<std::size_t>{2, 4});
  CHECK(left.total_us == doctest::Approx(40));
  CHECK(left.savings_ms->mid == doctest::Approx(0.02));
  auto chain = rotary;
  chain.kind = FusionKind::kChain;
  CHECK(NamedPart(chain).gpu.size() == 8);
  // Times are told apart as well.
  rotary.id = "fusion.1";
  Analysis analysis;
  analysis.fusion.candidates = {rotary};
  Finding finding;
  finding.members = {"fusion.1"};
  const std::vector<ChainWork> works = ChainWorksOf(analysis, finding);
  REQUIRE(works.size() == 2);
  CHECK(works[0].ms == doctest::Approx(0.04));
  CHECK(works[1].ms == doctest::Approx(0.04));
}

TEST_CASE("frames that share a sequence are told where the model cuts a video into several") {
  const auto frames = [](std::vector<std::int64_t> scores) {
    Analysis analysis;
    analysis.workload.Set(
        WorkloadPart::kBatch,
        "batch 1 x 128 frames, attention over 3137 tokens (a frame has 196 patches: "
        "16 frames in one sequence)",
        Certainty::kRecorded, "");
    FusionCandidate candidate;
    candidate.kind = FusionKind::kAttention;
    candidate.scores = std::move(scores);
    candidate.total_us = 1000;
    const std::vector<Fact> facts = FusionFacts(analysis, candidate);
    return std::count_if(facts.begin(), facts.end(),
                         [](const Fact& fact) { return fact.key == "frames"; });
  };
  CHECK(frames({8, 12, 3137, 3137}) == 1);
  // One sequence of all that there is: attention over space and time together, by design.
  CHECK(frames({1, 12, 3137, 3137}) == 0);
  CHECK(frames({8, 12, 577, 577}) == 0);
}

Finding OfOperation(const char* category, double time_ms, Advice advice) {
  Finding finding;
  finding.category = category;
  finding.time_ms = time_ms;
  finding.members = {std::string(category) + ".op"};
  finding.savings_ms = Range{time_ms / 4, time_ms / 2, time_ms};
  (PathOf(advice) == Path::kA ? finding.path_a : finding.path_b).push_back({advice, {}, {}});
  return finding;
}

TEST_CASE("findings with one way out are one, those with another are not") {
  std::vector<Finding> all = {OfOperation("reduce", 1, Advice::kCompile),
                              OfOperation("elementwise", 3, Advice::kCompile),
                              OfOperation("other", 2, Advice::kPreallocate)};
  MergeByAction(&all);
  REQUIRE(all.size() == 2);
  CHECK(all[0].category == "elementwise");
  CHECK(all[0].time_ms == doctest::Approx(4));
  CHECK(all[0].savings_ms->high == doctest::Approx(4));
  CHECK(all[0].members.size() == 2);
  CHECK(all[1].path_a.front().advice == Advice::kPreallocate);
}

TEST_CASE("what only a compiler makes faster goes with what says so already") {
  Finding chains = OfOperation("kernel_fusion", 5, Advice::kCompile);
  chains.tier = Tier::kFusion;
  chains.rule = Pattern::kEagerChains;
  std::vector<Finding> all = {chains, OfOperation("reduce", 1, Advice::kCompile),
                              OfOperation("other", 2, Advice::kPreallocate)};
  MergeByAction(&all);
  CHECK(all.size() == 2);
  Finding few = OfOperation("norm_bwd", 2, Advice::kRule);
  few.rule = Pattern::kFewRowsNorm;
  all = {few, OfOperation("norm_fwd", 1, Advice::kCompile),
         OfOperation("reduce", 1, Advice::kCompile)};
  MergeByAction(&all);
  REQUIRE(all.size() == 2);
  CHECK(all[0].rule == Pattern::kFewRowsNorm);
  CHECK(all[0].time_ms == doctest::Approx(3));
  // Another kind of normalisation has no part in the cause.
  few.subject = "aten::native_layer_norm_backward";
  Finding other = OfOperation("norm_fwd", 1, Advice::kCompile);
  other.subject = "aten::batch_norm";
  all = {few, other};
  MergeByAction(&all);
  REQUIRE(all.size() == 2);
  CHECK(all[0].time_ms == doctest::Approx(2));
}

TEST_CASE("idle time saves no more than it is told with") {
  const Analysis analysis;
  HostCause cause;
  cause.kind = HostCauseKind::kReplayGap;
  cause.total_ms = 31;
  cause.idle_ms = 32;
  Finding finding;
  finding.time_ms = 40;
  finding.host = std::make_shared<const HostCause>(cause);
  CHECK(MostOfHost(analysis, finding) == doctest::Approx(31));
  // An optimizer's launches hold up what comes after it, too.
  cause.kind = HostCauseKind::kOptimizer;
  finding.host = std::make_shared<const HostCause>(cause);
  CHECK(MostOfHost(analysis, finding) == doctest::Approx(32));
  // Repeated work takes its GPU work with it.
  finding.rule = Pattern::kRecompute;
  CHECK(MostOfHost(analysis, finding) == doctest::Approx(40));
}

TEST_CASE("other chains are named by their ops, in whatever order") {
  const auto one = ChainOf(FusionKind::kChain, {"aten::copy_", "aten::add"}, "M");
  const auto two = ChainOf(FusionKind::kChain, {"aten::add", "aten::copy_"}, "M");
  CHECK(NameOfChain(one, {&one, &two}).name == NameOfChain(two, {&one, &two}).name);
  const auto copies = ChainOf(FusionKind::kEpilogue, {"aten::copy_"}, "M");
  CHECK(NameOfChain(copies, {&copies}).name == "copies");
}

TEST_CASE("an embedding's backward pass in fp32 has a cause, one in 16 bits has none") {
  std::vector<CategoryAnalysis> categories(1);
  Operation backward;
  backward.name = "aten::embedding_dense_backward";
  backward.args = "(1024,64) fp32";
  backward.dims = "((1024, 64), (1024,))";
  backward.mean_us = 100;
  backward.gpu_us = 200;
  backward.kernels = {{"DeviceRadixSortOnesweepKernel", "", 0, 2, 50}};
  Operation half = backward;
  half.args = "(1024,64) bf16";
  categories[0].operations = {backward, half};
  FindEmbeddings(std::nullopt, &categories);
  const auto& cause = categories[0].operations[0].cause;
  REQUIRE(cause);
  CHECK(cause->pattern == Pattern::kEmbeddingBackward);
  CHECK(cause->a->saved_part.high == doctest::Approx(0.5 * 0.75 + 0.25));
  CHECK_FALSE(categories[0].operations[1].cause);
  // Far below the bandwidth: 2 x 256 KiB need 0.5 us at 1 TB/s, and it takes 100.
  categories[0].operations[0].cause.reset();
  FindEmbeddings(1.0, &categories);
  CHECK(categories[0].operations[0].cause->a->saved_part.mid > 0.95);
}

}  // namespace
}  // namespace jarvis::findings
