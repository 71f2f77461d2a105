// Chains of ops between which values are checked: the checks are no part of them.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

// Thirty rounds of a product, an add, something between and a mul; `between` compares values.
Analyzed Rounds(const std::string& between) {
  TraceText text;
  const std::string sizes = Shapes("[[4096,4096],[4096,4096]]", "float", 2);
  double at = 10, gpu = 10;
  int id = 0;
  const auto kernel = [&](const std::string& name, double us) {
    text.Runtime("cudaLaunchKernel", at + 1, 2, ++id);
    gpu = std::max(gpu, at + 4);
    text.Kernel(name, gpu, us, id);
    gpu += us + 1;
  };
  const auto op = [&](const std::string& name, const std::string& kernel_name, double us) {
    text.Op(name, at, 8, sizes);
    kernel(kernel_name, us);
    at += 10;
  };
  for (int round = 0; round < 30; ++round) {
    op("aten::mm", "ampere_sgemm_128x128_tn", 400);
    op("aten::add", "vectorized_elementwise_kernel<add>", 100);
    const double begin = at;
    const std::size_t inner = 3;
    for (std::size_t i = 0; i < inner; ++i) {
      at += 2;
      const std::string names[] = {"aten::abs", "aten::sub", "aten::le"};
      op(names[i], "vectorized_elementwise_kernel<" + names[i] + ">", 90);
    }
    const double done = std::max(at, gpu);
    text.Op("aten::item", at, done + 8 - at);
    text.Runtime("cudaStreamSynchronize", at + 2, done + 4 - at, ++id);
    at = done + 10;
    text.Op(between, begin, at - begin, sizes);
    at += 5;
    op("aten::mul", "vectorized_elementwise_kernel<mul>", 100);
    op("aten::sigmoid", "vectorized_elementwise_kernel<sigmoid>", 100);
  }
  return Analyze(text, "A100-SXM4-40GB");
}

std::vector<std::string> OpsOf(const FusionCandidate& chain) {
  std::vector<std::string> names;
  for (const FusionKernel& one : chain.kernels)
    names.push_back(one.op);
  return names;
}

TEST_CASE("a value check between two ops of a chain neither joins nor breaks it") {
  const Analyzed one = Rounds("aten::allclose");
  REQUIRE(!one.analysis.fusion.candidates.empty());
  for (const FusionCandidate& chain : one.analysis.fusion.candidates) {
    const std::vector<std::string> ops = OpsOf(chain);
    CHECK(std::find(ops.begin(), ops.end(), "aten::le") == ops.end());
  }
  CHECK(OpsOf(one.analysis.fusion.candidates.front()) ==
        std::vector<std::string>{"aten::add", "aten::mul", "aten::sigmoid"});
}

TEST_CASE("near: a function of the program's own is no check") {
  const Analyzed one = Rounds("mine::compare");
  const auto& chains = one.analysis.fusion.candidates;
  CHECK(std::any_of(chains.begin(), chains.end(), [](const FusionCandidate& chain) {
    const std::vector<std::string> ops = OpsOf(chain);
    return std::find(ops.begin(), ops.end(), "aten::le") != ops.end();
  }));
}

}  // namespace
}  // namespace jarvis::findings
