// Plans of findings, and what is decided about findings: the figures are those of the findings
// themselves, whoever asks, and follow what is left out or comes first.
#include "findings/one/wall_plan.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "base/job.h"
#include "findings/one/choices.h"
#include "session/trace_simulation.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

// 40 products of 300 us in `type`, each after 200 us of a Python function, as the host waits for
// every product.
Analyzed ProductsIn(std::string_view kernel, std::string_view type) {
  TraceText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 600.0 * i;
    text.Python("prepare.py(3): prepare", at, 200);
    text.OpWithKernel("aten::mm", at + 202, 10, kernel, at + 215, 300, i + 1,
                      Shapes("[[1024,1024],[1024,1024]]", type));
    text.Runtime("cudaStreamSynchronize", at + 214, 308, 1000 + i);
  }
  return Analyze(text, "A100-SXM4-80GB");
}

TEST_CASE("what keeps every bit is told beside the total, where something does not") {
  const Analyzed one = ProductsIn("ampere_sgemm_128x64_tn", "float");
  const WallBase& wall = one.analysis.wall;
  REQUIRE(wall.together_ms.has_value());
  REQUIRE(wall.exact_ms.has_value());
  CHECK(wall.exact_ms->high < wall.together_ms->high);
  CHECK(wall.exact_ms->mid > 7.9);    // the function's 40 x 200 us ...
  CHECK(wall.exact_ms->high < 12.1);  // ... and all that the GPU is idle for
  CHECK_FALSE(ProductsIn("ampere_bf16_s16816gemm_bf16_128x64_tn", "c10::BFloat16")
                  .analysis.wall.exact_ms.has_value());
}

// 40 products of 300 us far below their roof, each after 200 us of a Python function in which the
// GPU has nothing to do, as the host waits for every product: two levers, one of the host.
TraceText TwoLevers() {
  TraceText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 600.0 * i;
    text.Python("prepare.py(3): prepare", at, 200);
    text.OpWithKernel("aten::mm", at + 202, 10, "gemm", at + 215, 300, i + 1,
                      Shapes("[[2048,2048],[2048,2048]]", "c10::BFloat16"));
    text.Runtime("cudaStreamSynchronize", at + 214, 308, 1000 + i);
  }
  return text;
}

struct Simulated {
  Analyzed one = Analyze(TwoLevers());
  Job job;
  std::shared_ptr<const analysis::Simulation> simulation = *session::SimulationOf(*one.trace, job);
};

const PlanStep& StepNamed(const WallPlan& plan, const std::string& name) {
  const auto found = std::find_if(plan.steps.begin(), plan.steps.end(),
                                  [&](const PlanStep& step) { return step.name == name; });
  REQUIRE(found != plan.steps.end());
  return *found;
}

TEST_CASE("what is left after others is no more than alone, and a wide range has no lower end") {
  const Range alone{4, 5, 6};
  CHECK(AfterOthers(alone, 5) == Range{4, 5, 6});
  CHECK(AfterOthers(alone, 2.5).high == doctest::Approx(3));
  CHECK(AfterOthers(alone, 2.5).low == doctest::Approx(2));
  CHECK(AfterOthers(alone, 7).high == doctest::Approx(6));
  // What hardly shows before others do is told as it comes out.
  CHECK(AfterOthers(alone, 20).high == doctest::Approx(20));
  CHECK(AfterOthers({0.5, 5, 6}, 5).low == 0);
  CHECK(AfterOthers(alone, -1).high == 0);
}

TEST_CASE("a plan of all findings in their order saves what they say") {
  const Simulated it;
  const Analysis& analysis = it.one.analysis;
  REQUIRE(analysis.wall.known);
  std::vector<PlanItem> items;
  for (const Finding& finding : analysis.findings) {
    if (finding.way != nullptr) items.push_back({finding.id, {}});
  }
  REQUIRE(items.size() >= 2);
  const auto plan = AskPlan(analysis, *it.simulation, items);
  REQUIRE(plan.has_value());
  REQUIRE(plan->steps.size() == items.size());
  for (std::size_t k = 0; k < items.size(); ++k) {
    const WallSaving* best = BestWall(*analysis.FindFinding(items[k].finding));
    CHECK(plan->steps[k].alone_ms.mid == doctest::Approx(best->ms.mid));
    CHECK(plan->after_ms[k] == doctest::Approx(best->after_others_ms));
  }
  CHECK(plan->together_ms.mid == doctest::Approx(analysis.wall.together_ms->mid));
  CHECK(plan->together_ms.low == doctest::Approx(analysis.wall.together_ms->low));
  CHECK(plan->together_ms.high == doctest::Approx(analysis.wall.together_ms->high));
}

TEST_CASE("a plan: targets, doubles, and what cannot be asked") {
  const Simulated it;
  const Analysis& analysis = it.one.analysis;
  const Operation& product = it.one.First("gemm");
  REQUIRE(product.efficiency.percent.has_value());
  const double half = *product.efficiency.percent * 2;
  REQUIRE(half < 100);
  // Twice as fast: the host waits for every product, so half of its 12 ms shows on the clock.
  const std::vector<PlanItem> twice = {{product.id, half}, {product.id, half}};
  const auto plan = AskPlan(analysis, *it.simulation, twice);
  REQUIRE(plan.has_value());
  CHECK(plan->steps.size() == 1);
  CHECK(StepNamed(*plan, product.id).alone_ms.mid == doctest::Approx(6).epsilon(0.05));
  // At what it has now there is nothing to save.
  const std::vector<PlanItem> same = {{product.id, *product.efficiency.percent}};
  const auto nothing = AskPlan(analysis, *it.simulation, same);
  REQUIRE(nothing.has_value());
  CHECK(nothing->steps.empty());
  CHECK(nothing->nothing == std::vector<std::string>{product.id});
  CHECK_FALSE(AskPlan(analysis, *it.simulation, std::vector<PlanItem>{{"f99", {}}}).has_value());
  CHECK_FALSE(AskPlan(analysis, *it.simulation, std::vector<PlanItem>{{"f1", 0.0}}).has_value());
}

TEST_CASE("what is dismissed is in no sum, and the others keep their names") {
  const Simulated it;
  const Analysis& analysis = it.one.analysis;
  REQUIRE(analysis.findings.size() >= 2);
  const Finding first = analysis.findings[0];
  FindingChoices choices;
  choices.dismissed.push_back({first.id, first.subject, "measured on purpose"});
  const Analysis left = WithChoices(analysis, it.simulation.get(), choices);
  CHECK(left.findings.size() == analysis.findings.size() - 1);
  CHECK(left.FindFinding(first.id) == nullptr);
  REQUIRE(left.dismissed.size() == 1);
  CHECK(left.dismissed[0].reason == "measured on purpose");
  CHECK(left.findings[0].id == analysis.findings[1].id);
  CHECK(left.findings[0].global_rank == 1);
  REQUIRE(left.wall.together_ms.has_value());
  CHECK(left.wall.together_ms->mid < analysis.wall.together_ms->mid);
  // Nothing comes before it any more, so that it saves what it saves alone.
  const WallSaving* best = BestWall(left.findings[0]);
  REQUIRE(best != nullptr);
  CHECK(best->after_others_ms == doctest::Approx(best->ms.mid).epsilon(0.02));
  // Another finding with the same id is not meant.
  choices.dismissed[0].subject = "something else";
  const Analysis all = WithChoices(analysis, it.simulation.get(), choices);
  CHECK(all.findings.size() == analysis.findings.size());
  CHECK(all.dismissed.empty());
}

TEST_CASE("another order: each saves what is left after those before it, the sum stays") {
  const Simulated it;
  const Analysis& analysis = it.one.analysis;
  REQUIRE(analysis.findings.size() >= 2);
  FindingChoices choices;
  choices.order = {analysis.findings[1].id};
  const Analysis turned = WithChoices(analysis, it.simulation.get(), choices);
  REQUIRE(turned.findings.size() == analysis.findings.size());
  CHECK(turned.findings[0].id == analysis.findings[1].id);
  CHECK(turned.findings[1].id == analysis.findings[0].id);
  CHECK(turned.findings[0].global_rank == 1);
  CHECK(turned.wall.together_ms->mid ==
        doctest::Approx(analysis.wall.together_ms->mid).epsilon(0.02));
  for (const CategoryAnalysis& category : turned.categories) {
    for (const Finding& finding : category.findings)
      CHECK(finding.global_rank == turned.FindFinding(finding.id)->global_rank);
  }
}

// The product at so many times its time, with words for a change of the model.
Addition Added(const Operation& product, double factor, std::string id = "a1") {
  Addition one;
  one.id = std::move(id);
  one.subject = "Products that a cache could spare";
  one.texts = {{"title", one.subject}, {"path_a", "Keep what is computed."}};
  one.change = "gemm x 0";
  one.changes.emplace_back(analysis::ScaleGpu{product.gpu, {factor}});
  return one;
}

TEST_CASE("what somebody adds is simulated, ranked and in the sums") {
  const Simulated it;
  const Analysis& analysis = it.one.analysis;
  const Operation& product = it.one.First("gemm");
  FindingChoices choices;
  choices.added.push_back(Added(product, 0));
  const Analysis more = WithChoices(analysis, it.simulation.get(), choices);
  REQUIRE(more.findings.size() == analysis.findings.size() + 1);
  const Finding* added = more.FindFinding("a1");
  REQUIRE(added != nullptr);
  // All 40 x 300 us go, which is more than any other finding saves.
  CHECK(BestWall(*added)->ms.mid == doctest::Approx(12).epsilon(0.05));
  CHECK(added->wall_a.has_value());
  CHECK_FALSE(added->wall_b.has_value());
  CHECK(added->global_rank == 1);
  CHECK(added->category == "gemm");
  CHECK(added->members == std::vector<std::string>{product.id});
  CHECK(added->row_ids == std::vector<std::string>{product.row_id});
  // The others keep their ids, and what the same products save is not counted twice.
  for (const Finding& finding : analysis.findings)
    CHECK(more.FindFinding(finding.id) != nullptr);
  REQUIRE(more.wall.together_ms.has_value());
  CHECK(more.wall.together_ms->mid > analysis.wall.together_ms->mid);
  CHECK(more.wall.together_ms->mid <= more.wall.wall_ms);
  // It can be dismissed, and taken as the second.
  choices.dismissed.push_back({"a1", added->subject, "It is cached."});
  CHECK(WithChoices(analysis, it.simulation.get(), choices).findings.size() ==
        analysis.findings.size());
  choices.dismissed.clear();
  choices.order = {analysis.findings[0].id};
  const Analysis turned = WithChoices(analysis, it.simulation.get(), choices);
  CHECK(turned.findings[0].id == analysis.findings[0].id);
}

TEST_CASE("what is added and saves nothing more comes after what saves it, or last") {
  const Simulated it;
  const Analysis& analysis = it.one.analysis;
  const Operation& product = it.one.First("gemm");
  FindingChoices choices;
  choices.added.push_back(Added(product, 0.999));
  choices.added.push_back(Added(product, 0, "a2"));
  choices.added.back().changes.clear();  // nobody knows what it would save
  const Analysis more = WithChoices(analysis, it.simulation.get(), choices);
  REQUIRE(more.findings.size() == analysis.findings.size() + 2);
  CHECK(more.findings[0].id == analysis.findings[0].id);
  CHECK(more.findings.back().id == "a2");
  CHECK(BestWall(more.findings.back()) == nullptr);
  // Without a simulation nothing is told of either.
  const Analysis blind = WithChoices(analysis, nullptr, choices);
  CHECK(BestWall(*blind.FindFinding("a1")) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
