// What chains are for, by their ops and by what stands beside them.
#include "findings/one/chain_works.h"

#include <doctest/doctest.h>

#include "findings/one/embedding_causes.h"

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
  CHECK(NameOfChain(rms, {&rms}).by_hand == "`torch.nn.functional.rms_norm`");
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
  backward.mean_us = 100;
  backward.gpu_us = 200;
  backward.kernels = {{"DeviceRadixSortOnesweepKernel", "", 0, 2, 50}};
  Operation half = backward;
  half.args = "(1024,64) bf16";
  categories[0].operations = {backward, half};
  FindEmbeddings(&categories);
  const auto& cause = categories[0].operations[0].cause;
  REQUIRE(cause);
  CHECK(cause->pattern == Pattern::kEmbeddingBackward);
  CHECK(cause->a->saved_part.high == doctest::Approx(0.5 * 0.75 + 0.25));
  CHECK_FALSE(categories[0].operations[1].cause);
}

}  // namespace
}  // namespace jarvis::findings
