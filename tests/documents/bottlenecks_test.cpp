// What stands first on a report: the host's, the network's and the GPU's time in one order, and
// what bears on the figures.
#include "documents/bottlenecks.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "documents/base_text.h"
#include "documents/lever_table.h"
#include "documents/limits_text.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "documents/report_parts.h"
#include "documents/saving_base.h"
#include "documents/trust_text.h"
#include "findings/one/quality_absent.h"

namespace jarvis::documents {
namespace {

using findings::Analysis;

findings::Operation Work(std::string id, std::string name, double ms, std::string kernel) {
  findings::Operation operation;
  operation.id = std::move(id);
  operation.name = std::move(name);
  operation.gpu_us = ms * 1000;
  operation.count = 1;
  operation.kernels.push_back({std::move(kernel), "", 7, 1, ms * 1000});
  return operation;
}

// A step of 100 ms: 40 of products, 30 of an all-reduce of which computing hides 25, 20 idle.
Analysis Step() {
  Analysis analysis;
  analysis.base.unit = "step";
  analysis.base.total_ms = 100;
  analysis.base.balance.computation_ns = 60'000'000;
  analysis.base.balance.exposed_comm_ns = 5'000'000;
  findings::CategoryAnalysis category;
  category.operations.push_back(Work("gemm.1", "aten::mm", 40, "gemm"));
  category.operations.push_back(
      Work("gemm.2", "record_param_comms", 30, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
  category.operations.push_back(Work("gemm.3", "cudaLaunchKernel", 8, "void sort_rows<float>()"));
  analysis.categories.push_back(std::move(category));
  findings::CollectiveRow row;
  row.name = "allreduce";
  row.count = 6;
  row.total_us = 30'000;
  row.exposed_us = 5'000;
  analysis.multi_kernel.collectives.push_back(std::move(row));
  auto host = std::make_shared<findings::HostCause>();
  host->kind = findings::HostCauseKind::kSection;
  host->loading = true;
  host->count = 1;
  host->total_ms = 20;
  host->idle_ms = 90;  // what it could save of a host that is late for all that follows
  findings::Finding finding;
  finding.tier = findings::Tier::kSystem;
  finding.category = "cpu_idle";
  finding.host = host;
  analysis.findings.push_back(std::move(finding));
  return analysis;
}

TEST_CASE("bottlenecks: idle time by its cause, of collectives what nothing hides") {
  const std::string table = BottleneckTable(Step(), 5);
  const auto at = [&](std::string_view part) { return table.find(part); };
  CHECK(at("| 1 | `aten::mm` | 40.0 ms | 66.7% | 40.0% |") != std::string::npos);
  CHECK(at("| 2 | The GPU is idle for 20.0 ms of the step while data is loaded | 20.0 ms | ") !=
        std::string::npos);
  CHECK(at("| 3 | Kernels launched outside any op, mostly `sort_rows") != std::string::npos);
  CHECK(at("| 4 | `allreduce`, 6 calls, the exposed part of their 30.0 ms | 5.00 ms | ") !=
        std::string::npos);
  CHECK(at("record_param_comms") == std::string::npos);
}

TEST_CASE("bottlenecks: kernels that the host hides several times over have no row") {
  Analysis analysis = Step();
  analysis.multi_kernel.collectives.clear();
  analysis.base.balance = {};
  analysis.base.balance.computation_ns = 15'000'000;
  analysis.wall.known = true;
  analysis.wall.host_floor_ms = 99;
  analysis.wall.gpu_floor_ms = 16;
  const std::string hidden = BottleneckTable(analysis, 5);
  CHECK(hidden.find("| 1 | The GPU is idle for ") != std::string::npos);
  CHECK(hidden.find("aten::mm") == std::string::npos);
  // No row has a rate or a part of computing.
  CHECK(hidden.starts_with("| Rank | Operation | Time | Share of the step |"));
  analysis.wall.gpu_floor_ms = 60;  // what it waits for itself counts as well
  CHECK(BottleneckTable(analysis, 5).find("aten::mm") != std::string::npos);
}

TEST_CASE("bottlenecks: a copy between memories is no computing, a kernel that copies is") {
  Analysis analysis = Step();
  analysis.categories[0].operations.push_back(
      Work("copy.1", "aten::copy_", 30, "Memcpy HtoD (Pageable -> Device)"));
  analysis.categories[0].operations.back().exclusive_us = 29'000;
  analysis.categories[0].operations.push_back(Work("copy.2", "aten::clone", 12, "copy_kernel"));
  const std::string table = BottleneckTable(analysis, 8);
  CHECK(table.find("| `aten::copy_` | 29.0 ms | \xE2\x80\x94 | 29.0% |") != std::string::npos);
  CHECK(table.find("| `aten::clone` | 12.0 ms | 20.0% | 12.0% |") != std::string::npos);
}

TEST_CASE("bottlenecks: of a copy counts what nothing hides") {
  Analysis analysis = Step();
  analysis.categories[0].operations.push_back(
      Work("copy.1", "aten::copy_", 30, "Memcpy HtoD (Pageable -> Device)"));
  analysis.categories[0].operations.back().exclusive_us = 2'000;
  const std::string table = BottleneckTable(analysis, 8);
  CHECK(table.find("`aten::copy_`, the exposed part of its 30.0 ms | 2.00 ms |") !=
        std::string::npos);
}

TEST_CASE("where shapes are missing no model is") {
  Analysis analysis = Step();
  findings::Finding finding;
  finding.category = "gemm";
  finding.subject = "aten::mm";
  finding.bound = findings::Bound::kUnmodeled;
  finding.members = {"gemm.1"};
  CHECK(DraftText(analysis, finding).insight.find("no performance model") != std::string::npos);
  analysis.categories[0].key = "gemm";
  analysis.categories[0].operations[0].has_model = true;
  CHECK(DraftText(analysis, finding).insight.find("shapes were not recorded") != std::string::npos);
}

TEST_CASE("bottlenecks: what is small and in no finding has no row") {
  Analysis analysis = Step();
  analysis.categories.front().operations.push_back(Work("gemm.4", "aten::small", 0.9, "small"));
  analysis.categories.front().operations.push_back(Work("gemm.5", "aten::enough", 1.1, "enough"));
  const std::string table = BottleneckTable(analysis, 9);
  CHECK(table.find("aten::enough") != std::string::npos);
  CHECK(table.find("aten::small") == std::string::npos);
}

TEST_CASE("what savings are of is named where it is not what times are of") {
  Analysis analysis = Step();
  analysis.wall.known = true;
  analysis.wall.wall_ms = 70;
  analysis.wall.profiler_ms = 30;
  CHECK(OfSavingBase(analysis) == "of the step without profiler overhead");
  CHECK(SavingShare(analysis, 7) == "10.0% of 70.0 ms");
  // A step of which first calls are a large part says nothing of the next one.
  analysis.wall.profiler_ms = 0;
  analysis.wall.wall_ms = 60;
  analysis.wall.first_calls_ms = 40;
  CHECK(OfSavingBase(analysis) == "of the step without one-time initialization");
  CHECK(SavingShare(analysis, 6) == "10.0% of 60.0 ms");
  analysis.wall.wall_ms = 80;
  analysis.wall.first_calls_ms = 20;
  CHECK(OfSavingBase(analysis).empty());
  CHECK(SavingShare(analysis, 8) == "8.0% of the step");
}

TEST_CASE("no rate is told at the launch floor or above a roof") {
  findings::Efficiency one;
  one.percent = 40;
  one.bound = findings::Bound::kMemory;
  one.tb_per_s = 2.12;
  one.peak_tb_per_s = 5.3;
  CHECK(AchievedText(one) == "2.12 TB/s");
  const auto text = [](const findings::Efficiency& efficiency) {
    findings::Operation operation;
    operation.efficiency = efficiency;
    return EfficiencyText(operation);
  };
  CHECK(text(one) == "40.00% of 5.30 TB/s");
  findings::Efficiency floor = one;
  floor.launch_floor = true;
  CHECK(AchievedText(floor).find("TB/s") == std::string::npos);
  CHECK(text(floor).find("launch floor") != std::string::npos);
  findings::Efficiency above = one;
  above.percent = 103;
  above.anomaly = true;
  CHECK(AchievedText(above).find("2.12") == std::string::npos);
  findings::Operation named;  // by the sizes in its kernels' names
  named.least_percent = 68.25;
  CHECK(EfficiencyText(named) == "≥ 68.25% of peak bandwidth");
  named.least_by_grid = true;  // and by their grids
  CHECK(EfficiencyText(named) == "≥ 68.25% of the roofline");
}

TEST_CASE("trust: what bears on the figures, and the replay only where it is off") {
  Analysis analysis = Step();
  analysis.wall.known = true;
  analysis.wall.replay_error_percent = 0.1;
  CHECK(TrustList(analysis).empty());
  CHECK(SavingsNote(analysis).find("off by 0.1") != std::string::npos);
  analysis.wall.replay_error_percent = 7;
  CHECK(TrustList(analysis).find("to within 7.0%") != std::string::npos);
  findings::Quality quality;
  quality.code = "one_pass";
  quality.text = "One step is recorded.";
  quality.record = "three steps";
  analysis.quality = {quality};
  // That one step is recorded limits nothing; that it is a cold one does.
  CHECK(TrustList(analysis).find("One step") == std::string::npos);
  analysis.quality[0].ms = 0.09;
  CHECK(TrustList(analysis).find("- One step is recorded. Record next: three steps.\n") !=
        std::string::npos);
}

TEST_CASE("trust: what was not recorded is one line with all that is to be recorded for it") {
  Analysis analysis = Step();
  analysis.wall.known = true;
  const auto lacks = [&](const char* code, const char* text, const char* record) {
    findings::Quality& quality = analysis.quality.emplace_back();
    quality.code = code;
    quality.text = text;
    quality.record = record;
  };
  analysis.findings.clear();
  CHECK(NotRecordedText(analysis).empty());
  lacks("no_shapes", "Ops were recorded without shapes.", "shapes");
  lacks("no_stacks", "No Python stacks were recorded.", "stacks");
  // Without a recommendation no line of code is missed, and without computing no shape.
  const std::string alone = NotRecordedText(analysis);
  CHECK(alone.starts_with("No shapes were recorded: "));
  CHECK(alone.ends_with("Record next: the same steps with `record_shapes=True`."));
  lacks(findings::kNotRecorded, "Not recorded: a second step.", "three steps");
  analysis.findings.emplace_back();
  const std::string all = NotRecordedText(analysis);
  CHECK(all.starts_with("Not recorded: a second step. No shapes were recorded: "));
  CHECK(
      all.ends_with("names a line of code. Record next: three steps; the same with "
                    "`record_shapes=True`; one more short run with `with_stack=True`."));
  CHECK(TrustLines(analysis).front() == all);
  // Kernels of replays have neither, whatever is switched on.
  findings::Quality& replay = analysis.quality.emplace_back();
  replay.code = "gpu_graph_replay";
  replay.severity = findings::Severity::kWarning;
  replay.value = 98;
  CHECK(NotRecordedText(analysis) == "Not recorded: a second step. Record next: three steps.");
  analysis.quality.back().value = 50;
  CHECK(NotRecordedText(analysis) == all);
  analysis.base.balance.computation_ns = 0;
  CHECK(NotRecordedText(analysis).find("shapes") == std::string::npos);
}

// A finding that saves much, about operations of the step above.
findings::Finding Lever(std::vector<std::string> members, findings::Pattern rule, double ms) {
  findings::Finding finding;
  finding.id = "f1";
  finding.global_rank = 1;
  finding.members = std::move(members);
  finding.rule = rule;
  finding.time_ms = ms;
  finding.wall_b = findings::WallSaving{{ms / 4, ms / 3, ms / 2}, ms / 3};
  return finding;
}

TEST_CASE("limits: what the first recommendations hang on, each by its kind") {
  Analysis analysis = Step();
  analysis.wall.known = true;
  analysis.findings = {Lever({"gemm.1"}, findings::Pattern::kRepeatedPass, 40)};
  auto limits = RecommendationLimits(analysis);
  REQUIRE(limits.size() == 1);
  CHECK(limits[0].find("the passes get the same input") != std::string::npos);
  CHECK(limits[0].starts_with("Check before priority 1, as a trace cannot show it: whether"));
  CHECK(limits[0].ends_with("Record next: a hash and the shape of each pass's inputs."));
  analysis.findings[0].rule = findings::Pattern::kSumOfOne;
  CHECK(RecommendationLimits(analysis).empty());
  // An action may have such a condition, too.
  analysis.findings[0].rule.reset();
  analysis.findings[0].path_b = {{findings::Advice::kLoaderWorkers, {}, {}}};
  limits = RecommendationLimits(analysis);
  REQUIRE(limits.size() == 1);
  CHECK(limits[0].find("CPU cores are free for workers") != std::string::npos);
  analysis.findings[0].path_b.clear();
  // What saves next to nothing limits nothing.
  analysis.findings = {Lever({"gemm.1"}, findings::Pattern::kRepeatedPass, 2)};
  CHECK(RecommendationLimits(analysis).empty());
}

TEST_CASE("limits: equal products of unlike times, and not those that are short or alike") {
  Analysis analysis = Step();
  analysis.categories[0].kind = findings::Kind::kGemm;
  findings::Operation& product = analysis.categories[0].operations[0];
  product.count = 8;
  product.efficiency.bound = findings::Bound::kCompute;
  product.min_us = 557;
  product.max_us = 598;
  CHECK(EqualCallsOf(analysis) == &product);
  product.max_us = 570;
  CHECK(EqualCallsOf(analysis) == nullptr);
  product.min_us = 20;
  product.max_us = 25;
  CHECK(EqualCallsOf(analysis) == nullptr);
}

TEST_CASE("bottlenecks: a finding about several operations is one row, and none of theirs") {
  Analysis analysis = Step();
  analysis.categories[0].key = "gemm";
  auto& operations = analysis.categories[0].operations;
  operations.push_back(Work("gemm.4", "aten::bmm", 12, "bmm"));
  operations[0].gpu = {1, 2};
  operations[2].gpu = {3};
  operations[3].gpu = {4};
  findings::Finding lever = Lever({"gemm.1", "gemm.4"}, findings::Pattern::kTf32Off, 52);
  lever.subject = "aten::mm";
  lever.global_rank = 2;
  analysis.findings.push_back(lever);
  const std::string table = BottleneckTable(analysis, 5);
  CHECK(table.find("| 1 | ") < table.find("52.0 ms"));
  CHECK(table.find("| 52.0 ms | 86.7% | 52.0% |") != std::string::npos);
  CHECK(table.find("| `aten::bmm` |") == std::string::npos);
  CHECK(table.find("| 40.0 ms |") == std::string::npos);
}

TEST_CASE("a title's beginning names a finding, unless it is a name of the trace alone") {
  CHECK(ShortTitle("Fp32 products without TF32: `aten::mm` and 2 operations more") ==
        "Fp32 products without TF32");
  CHECK(ShortTitle("`Layer`, chains of ops") == "`Layer`, chains of ops");
  CHECK(ShortTitle("`a, b`, chains of ops, 3 ms") == "`a, b`, chains of ops");
  CHECK(ShortTitle("Late in `f(a): b`, GPU idle 3 ms") == "Late in `f(a): b`");
}

// Three findings, the last of which shows only once the first is done.
Analysis Levers() {
  Analysis analysis = Step();
  analysis.wall.known = true;
  analysis.wall.wall_ms = 100;
  analysis.findings.clear();
  for (int i = 1; i <= 3; ++i) {
    findings::Finding finding = Lever({"gemm.1"}, findings::Pattern::kRepeatedPass, 12.0 * i);
    finding.id = "f" + std::to_string(i);
    finding.global_rank = i;
    analysis.findings.push_back(std::move(finding));
  }
  analysis.findings[2].shows_after = "f1";
  return analysis;
}

TEST_CASE("of a line without a fix it is told what its sizes need, as exactly as they are known") {
  const auto row_of = [](const findings::UncoveredLine& line) {
    Analysis analysis = Levers();
    analysis.uncovered.push_back(line);
    return FixTable(analysis, FixRows(analysis, {}, ActionGroups(analysis, 3), 3));
  };
  findings::UncoveredLine line{ledger::WorkKind::kProduct, 40, 20, 20};
  CHECK(row_of(line).find("of which memory traffic takes 20.0 ms at 90% of the peak bandwidth") !=
        std::string::npos);
  line.by_grids = true;
  CHECK(row_of(line).find("of which at least 20.0 ms are needed at 90% of the device's peaks") !=
        std::string::npos);
  line.most_ms = 32;
  CHECK(row_of(line).find("of which 20.0 to 32.0 ms are needed at 90% of the device's peaks") !=
        std::string::npos);
}

TEST_CASE("one action is one row, with what all of its findings save") {
  Analysis analysis = Levers();
  using findings::Advice;
  for (const auto& [at, advice] : {std::pair{0u, Advice::kCompileGraphs},
                                   {1u, Advice::kTuneMissing},
                                   {2u, Advice::kCompile}}) {
    analysis.findings[at].rule.reset();
    analysis.findings[at].path_b = {{advice, {}, {}}};
  }
  const auto groups = ActionGroups(analysis, 3);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].size() == 2);
  CHECK(groups[0][1]->id == "f3");
  // What shows once the first is done shows with it; after those above each has its own part.
  CHECK(AloneOf(groups[0]).mid == doctest::Approx(4 + 12));
  CHECK(AfterOf(groups[0]).mid == doctest::Approx(4 + 12));
  const std::string table = FixTable(analysis, FixRows(analysis, {}, groups, 3));
  CHECK(table.find("| [1](#detail-f1), [3](#detail-f3) | Compile the model") != std::string::npos);
}

TEST_CASE("the keys of two fixes make them one action, and so do equal facts of one fix") {
  Analysis analysis = Levers();
  const auto rule = [&](std::size_t at, findings::Pattern pattern, const char* sizes) {
    findings::Finding& finding = analysis.findings[at];
    finding.rule = pattern;
    finding.patterns = {{pattern,
                         {{"sizes", std::string(sizes), "words"},
                          {"padded", std::string("1024"), "words"},
                          {"tuning", std::string("Tune it"), "words"}}}};
    finding.wall_a = finding.wall_b;
  };
  using findings::Pattern;
  rule(0, Pattern::kUnalignedKernel, "1023");
  rule(1, Pattern::kUnalignedKernel, "1021");
  rule(2, Pattern::kUnalignedKernel, "1023");
  auto groups = ActionGroups(analysis, 3);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].size() == 2);
  rule(0, Pattern::kLayoutKernels, "");
  rule(1, Pattern::kPlanarBatchNorm, "");
  analysis.findings[1].wall_b.reset();
  CHECK(DraftText(analysis, analysis.findings[1]).chosen == 'A');
  CHECK(ActionGroups(analysis, 3)[0].size() == 2);
  analysis = Levers();
  // What the finder tells of the way out goes before what its fix says.
  for (const auto& [at, pattern] : {std::pair{0u, Pattern::kSlowerThanSiblings},
                                    {1u, Pattern::kBelowLargeProducts},
                                    {2u, Pattern::kWeightBound}}) {
    rule(at, pattern, "");
    analysis.findings[at].wall_a.reset();
    analysis.findings[at].change_b = findings::Change{};
    analysis.findings[at].action_b = "tunable_op";
  }
  CHECK(DraftText(analysis, analysis.findings[0]).chosen == 'B');
  CHECK(ActionGroups(analysis, 2).size() == 1);
}

TEST_CASE("slow GEMMs in fewer bits are an alternative on the first screen, where that shows") {
  const auto row_of = [](double option_ms, bool training, double host_floor_ms) {
    Analysis analysis = Levers();
    analysis.context.training = training;
    analysis.wall.wall_ms = 100;
    analysis.wall.gpu_floor_ms = 90;
    analysis.wall.host_floor_ms = host_floor_ms;
    analysis.findings[1].rule = findings::Pattern::kBelowLargeProducts;
    analysis.findings[1].patterns = {
        {findings::Pattern::kBelowLargeProducts, {{"option_ms", option_ms, "ms"}}}};
    const std::string table =
        FixTable(analysis, FixRows(analysis, {}, ActionGroups(analysis, 3), 3));
    const std::size_t at = table.find("in fp8");
    return at == std::string::npos ? "" : table.substr(at, table.find('\n', at) - at);
  };
  const std::string row = row_of(20, false, 30);
  CHECK(row.find("up to 20.0 ms") != std::string::npos);
  CHECK(row.find("an alternative to priority 2, not in the total") != std::string::npos);
  CHECK(row_of(20, false, 80).find("up to 10.0 ms") != std::string::npos);  // then the host is next
  CHECK(row_of(20, false, 89).empty());
  CHECK(row_of(20, true, 30).empty());
  CHECK(row_of(2, false, 30).empty());
}

TEST_CASE("words of an agent's change no row") {
  const Analysis analysis = Levers();
  TextEdits edits;
  edits["f1"]["action"] = "Compile the model (`torch.compile(model)`).";
  edits["f3"]["action"] = "Wrap the module that holds these ops, `Layer`, in `torch.compile`.";
  const auto groups = ActionGroups(analysis, 3);
  const std::string ours = FixTable(analysis, FixRows(analysis, {}, groups, 3));
  const std::string theirs = FixTable(analysis, FixRows(analysis, edits, groups, 3));
  CHECK(std::count(ours.begin(), ours.end(), '\n') ==
        std::count(theirs.begin(), theirs.end(), '\n'));
  CHECK(theirs.find("Compile the model") != std::string::npos);
}

}  // namespace
}  // namespace jarvis::documents
