// What actions need to do anything: of each need a trace that has it, one that has not, and one
// that does not tell.
#include "findings/one/needs.h"

#include <string>

#include <doctest/doctest.h>

#include "findings/one/advice_rules.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

Fit FitOfSize(int architecture, double bytes, int ranks) {
  WorkContext context;
  context.architecture = architecture;
  return FitOf(Info(Advice::kFuseAllReduceVllm).needs, context, {bytes, ranks});
}

TEST_CASE("an all-reduce is fused on some devices, up to a size that its ranks decide") {
  constexpr double kMiB = 1024 * 1024;
  CHECK(FitOfSize(100, kMiB, 8) == Fit::kFits);
  CHECK(FitOfSize(100, 5.11e6, 8) == Fit::kNot);
  CHECK(FitOfSize(100, 5.11e6, 4) == Fit::kFits);
  CHECK(FitOfSize(90, kMiB, 8) == Fit::kNot);
  CHECK(FitOfSize(90, kMiB / 2, 8) == Fit::kFits);
  CHECK(FitOfSize(80, 1000, 8) == Fit::kNot);  // an A100, whatever the size
  CHECK(FitOfSize(90, 1000, 3) == Fit::kNot);
  CHECK(FitOfSize(0, 1000, 8) == Fit::kUnknown);
  WorkContext context;
  context.architecture = 90;
  const levers::Needs& needs = Info(Advice::kFuseAllReduceVllm).needs;
  CHECK(FitOf(needs, context, {1000.0, std::nullopt}) == Fit::kUnknown);
  CHECK(FitOf(needs, context, {}) == Fit::kUnknown);
  context.amd = true;
  CHECK(FitOf(needs, context, {}) == Fit::kNot);
}

TEST_CASE("a switch of one model is none of another's") {
  const levers::Needs& needs = Info(Advice::kQkNormRopeSglang).needs;
  WorkContext context;
  CHECK(FitOf(needs, context) == Fit::kUnknown);
  context.model_files = {"qwen3.py", "utils.py"};
  CHECK(FitOf(needs, context) == Fit::kNot);
  context.model_files = {"qwen3_moe.py", "utils.py"};
  CHECK(FitOf(needs, context) == Fit::kFits);
  context.amd = true;
  CHECK(FitOf(needs, context) == Fit::kNot);
}

TEST_CASE("FlashInfer has no kernels for devices before Turing") {
  WorkContext context;
  for (const auto& [architecture, fit] :
       {std::pair(70, Fit::kNot), std::pair(75, Fit::kFits), std::pair(0, Fit::kUnknown)}) {
    context.architecture = architecture;
    CHECK(FitOf(Info(Advice::kActivationFlashinfer).needs, context) == fit);
  }
}

TEST_CASE("a step of more tokens than the fusion takes") {
  const levers::Needs& needs = Info(Advice::kFuseAllReduceSglang).needs;
  WorkContext context;
  context.architecture = 100;
  CHECK(FitOf(needs, context) == Fit::kUnknown);
  context.step_tokens = 2048;
  CHECK(FitOf(needs, context) == Fit::kFits);
  context.step_tokens = 2049;
  CHECK(FitOf(needs, context) == Fit::kNot);
}

TEST_CASE("ways for communication name what fits, and say where that is not known") {
  WorkContext context;
  context.engine = Engine::kVllm;
  ExposedCollectives exposed = {"allreduce", false, true};
  const auto remedy = [&] { return WaysForCommunication(context, exposed).b; };
  REQUIRE(remedy().size() == 1);
  CHECK(remedy().front().facts.size() == 1);  // if this build supports it
  context.architecture = 100;
  exposed.message = {1e6, 8};
  REQUIRE(remedy().size() == 1);
  CHECK(remedy().front().facts.empty());
  exposed.message = {5e6, 8};
  CHECK(remedy().empty());
}

TEST_CASE("a collective's message is its op's operand, its ranks the groups' that are alike") {
  TraceText text;
  text.OpWithKernel("symm_mem::multimem_all_reduce_", 0, 10, "multimem_all_reduce_kernel", 20, 30,
                    1, Shapes("[[2557440],[],[]]", "c10::BFloat16", 3));
  const auto message = [&](const char* groups) {
    const Analyzed one =
        Analyze(text, "B200",
                std::string(R"("distributedInfo":{"world_size":8,"pg_config":[)") + groups + "]}");
    return MessageOf(*one.trace, one.trace->attribution().timeline.front());
  };
  constexpr const char* kEight = R"({"pg_name":"0","pg_desc":"a","pg_size":8})";
  CHECK(message(kEight).bytes == doctest::Approx(2 * 2557440));
  CHECK(message(kEight).ranks == 8);
  CHECK_FALSE(message(R"({"pg_name":"0","pg_desc":"a","pg_size":8},)"
                      R"({"pg_name":"1","pg_desc":"b","pg_size":4})")
                  .ranks.has_value());
}

TEST_CASE("files that define a model are told by stacks") {
  TraceText text;
  text.Python("/opt/engine/models/qwen3_moe.py(263): forward", 0, 100);
  text.Python("torch/nn/modules/module.py(7): _call_impl", 1, 90);
  text.OpWithKernel("aten::relu", 5, 10, "k", 20, 100, 1);
  CHECK(Analyze(text).analysis.context.model_files == std::vector<std::string>{"qwen3_moe.py"});
}

}  // namespace
}  // namespace jarvis::findings
