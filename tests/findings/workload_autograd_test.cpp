// What is said of a forward pass without its backward pass.
#include <algorithm>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/quality_scope.h"
#include "findings/workload_script.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;

}  // namespace

TEST_CASE("a forward pass with autograd on is no inference until somebody says so") {
  const auto phase = [](int with, int without) {
    Script script;
    for (int i = 0; i < with + without; ++i)
      script.Op("aten::mm", "gemm", 120, "[[1024,512],[512,2048]]", kBf16, 2,
                i < with ? fmt::format(R"(,"Sequence number":{})", i) : std::string());
    const Analyzed one = Analyze(script.text());
    const auto absent = std::find_if(one.analysis.quality.begin(), one.analysis.quality.end(),
                                     [](const Quality& q) { return q.code == kNotRecorded; });
    REQUIRE(absent != one.analysis.quality.end());
    const bool said =
        absent->text.find("a backward pass, although autograd is on") != std::string::npos;
    return std::pair(one.analysis.workload[WorkloadPart::kPhase].value, said);
  };
  CHECK(phase(20, 10) == std::pair(std::string("forward only, autograd on"), true));
  // A few ops of a library's own say nothing of the model.
  CHECK(phase(1, 29) == std::pair(std::string("forward only (inference)"), false));
  CHECK(phase(0, 30) == std::pair(std::string("forward only (inference)"), false));
}

}  // namespace jarvis::findings
