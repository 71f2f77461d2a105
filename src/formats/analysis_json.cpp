#include "formats/analysis_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "findings/one/thresholds.h"
#include "formats/json_parts.h"

namespace jarvis::formats {

namespace {

Json CellJson(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return Number(*number);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag;
  return nullptr;
}

Json PatternsJson(const std::vector<findings::PatternHit>& patterns) {
  Json out = Json::array();
  for (const findings::PatternHit& hit : patterns) {
    const findings::PatternInfo& info = findings::Info(hit.pattern);
    out.push_back({{"pattern", info.key}, {"what", info.what}, {"facts", FactsJson(hit.facts)}});
  }
  return out;
}

// Milliseconds of wall time: alone, and after what is ranked before it.
Json WallJson(const std::optional<findings::WallSaving>& saving) {
  if (!saving) return nullptr;
  return {{"low", Number(saving->ms.low)},
          {"mid", Number(saving->ms.mid)},
          {"high", Number(saving->ms.high)},
          {"after_others", Number(saving->after_others_ms)}};
}

Json PathJson(const std::vector<findings::Remedy>& path) {
  Json out = Json::array();
  for (const findings::Remedy& remedy : path) {
    const findings::AdviceInfo& info = findings::Info(remedy.advice);
    out.push_back({{"advice", info.key},
                   {"what", info.what},
                   {"savings_ms", RangeJson(remedy.savings_ms)},
                   {"facts", FactsJson(remedy.facts)}});
  }
  return out;
}

Json EfficiencyJson(const findings::Efficiency& e) {
  Json out = {{"tflops_achieved", Number(e.tflops_per_s)},
              {"tb_s_achieved", Number(e.tb_per_s)},
              {"efficiency_percent", Number(e.percent)},
              {"band", findings::BandText(e.band)},
              {"bound_type", findings::BoundText(e.bound)},
              {"bound_source", findings::BoundSourceText(e.source)},
              {"flops_per_byte", Number(e.flops_per_byte)},
              {"compute_spec", TextOrNull(e.spec)},
              {"resolved_peak_maf", Number(e.peak_tflops)},
              {"peak_source", TextOrNull(e.peak_source)},
              {"resolved_peak_hbm_bw", Number(e.peak_tb_per_s)},
              {"roofline_us", Number(e.roof_us)},
              {"is_anomaly", e.anomaly},
              {"assumption", TextOrNull(e.assumption)}};
  out["warning"] = e.impossible
                       ? Json("[ANOMALY] faster than the roof allows; no saving is claimed")
                   : e.anomaly ? Json("[WARNING] above the roof by less than a tenth")
                               : Json(nullptr);
  return out;
}

Json EstimateJson(const findings::Operation& operation) {
  Json out = {{"operation", operation.name},
              {"operation_id", operation.id},
              {"category", operation.category},
              {"type", operation.quantified ? "kernel_tuning" : "unmodeled_significant"},
              {"estimate_method", operation.quantified ? "quantified" : "heuristic"},
              {"efficiency_pct", Number(operation.efficiency.percent)},
              {"bound_type", findings::BoundText(operation.efficiency.bound)},
              {"library", TextOrNull(operation.library)},
              {"time_ms", Number(operation.gpu_us / 1000)},
              {"exclusive_ms", Number(operation.exclusive_us / 1000)},
              {"savings_ms", RangeJson(operation.savings_ms)},
              {"percent_of_total", Number(operation.percent_of_total)}};
  AddImpact(operation.impact_percent, &out);
  return out;
}

Json EstimatesJson(const findings::CategoryAnalysis& category) {
  Json out = Json::array();
  for (const findings::Operation& operation : category.operations) {
    if (operation.impact_percent &&
        operation.impact_percent->high >= findings::limits::kEstimateMin)
      out.push_back(EstimateJson(operation));
  }
  return out;
}

}  // namespace

Json FactsJson(const std::vector<findings::Fact>& facts) {
  Json out = Json::object();
  for (const findings::Fact& fact : facts)
    out[fact.key] = CellJson(fact.value);
  return out;
}

Json RangeJson(const std::optional<findings::Range>& range) {
  if (!range) return nullptr;
  return {{"low", Number(range->low)}, {"mid", Number(range->mid)}, {"high", Number(range->high)}};
}

Json OperationJson(const findings::Operation& o) {
  Json kernels = Json::array();
  for (const findings::KernelShare& kernel : o.kernels) {
    kernels.push_back(
        {{"name", kernel.name},
         {"row_id", TextOrNull(kernel.row_id)},
         {"stream", kernel.stream == trace::kAbsent ? Json(nullptr) : Json(kernel.stream)},
         {"count", kernel.count},
         {"total_us", Number(kernel.total_us)}});
  }
  return {{"id", o.id},
          {"row_id", TextOrNull(o.row_id)},
          {"ex_uid", o.uid},
          {"name", o.name},
          {"count", o.count},
          {"time_ms", Number(o.gpu_us / 1000)},
          {"exclusive_ms", Number(o.exclusive_us / 1000)},
          {"mean_us", Number(o.mean_us)},
          {"min_us", Number(o.min_us)},
          {"max_us", Number(o.max_us)},
          {"cov", Number(o.variation)},
          {"starved_percent", Number(o.starved_percent)},
          {"percent_of_category", Number(o.percent_of_category)},
          {"percent_of_total", Number(o.percent_of_total)},
          {"percent_of_computation", Number(o.percent_of_computation)},
          {"efficiency", EfficiencyJson(o.efficiency)},
          {"Input Dims", TextOrNull(o.dims)},
          {"Input type", TextOrNull(o.types)},
          {"Input Strides", TextOrNull(o.strides)},
          {"has_perf_model", o.has_model},
          {"perf_params", TextOrNull(o.parameters)},
          {"model_failure", TextOrNull(o.model_failure)},
          {"args", o.args},
          {"classification", o.classification},
          {"library", TextOrNull(o.library)},
          {"fusion_flagged", !o.fusion_candidate.empty()},
          {"fusion_candidate_name", TextOrNull(o.fusion_candidate)},
          {"launcher_path", TextOrNull(o.entry_point)},
          {"module_path", TextOrNull(o.module_path)},
          {"call_chain", TextList(o.call_chain)},
          {"kernels", std::move(kernels)},
          {"patterns", PatternsJson(o.patterns)},
          {"details", FactsJson(o.details)},
          {"sync_ms", Number(o.sync_us / 1000)},
          {"sync_calls", o.sync_calls}};
}

Json FindingJson(const findings::Finding& f) {
  Json out = {{"rank", f.rank},
              {"global_rank", f.global_rank},
              {"id", f.id},
              {"category", f.category},
              {"tier", findings::TierText(f.tier)},
              {"subject", f.subject},
              {"args", f.subject_args},
              {"bound_type", findings::BoundText(f.bound)},
              {"library", f.library.empty() ? "Unknown" : f.library},
              {"eff_bucket", f.bucket.empty() ? "unknown" : f.bucket},
              {"band", findings::BandText(f.band)},
              {"efficiency_percent", Number(f.efficiency)},
              {"estimate_method", findings::MethodText(f.method)},
              {"priority_class", findings::PriorityText(f.priority)},
              {"priority", static_cast<int>(f.priority)},
              {"time_ms", Number(f.time_ms)},
              {"exclusive_ms", Number(f.exclusive_ms)},
              {"upper_bound_ms", Number(f.upper_bound_ms)},
              {"bound_ms", Number(f.bound_ms)},
              {"savings_ms", RangeJson(f.savings_ms)},
              {"wall_savings_ms",
               {{"path_a", WallJson(f.wall_a)},
                {"path_b", WallJson(f.wall_b)},
                {"shows_after", f.shows_after.empty() ? Json(nullptr) : Json(f.shows_after)},
                {"one_off", f.one_off},
                {"minor", f.minor}}},
              {"percent_of_total", Number(f.percent_of_total)},
              {"percent_of_computation", Number(f.percent_of_computation)},
              {"starved_percent", Number(f.starved_percent)},
              {"count", f.count},
              {"member_count", f.members.size()},
              {"members", Beginning(f.members)},
              {"row_ids", Beginning(f.row_ids)},
              {"module_paths", TextList(f.module_paths)},
              {"patterns", PatternsJson(f.patterns)},
              {"path_a", PathJson(f.path_a)},
              {"path_b", PathJson(f.path_b)},
              {"replay_recommended", f.replay_recommended},
              {"overlaps_with", TextList(f.overlaps_with)},
              {"warnings", TextList(f.warnings)},
              {"evidence", FactsJson(f.evidence)}};
  AddImpact(f.impact_percent, &out);
  return out;
}

Json CombinedJson(const findings::Combined& combined) {
  return {{"savings_ms", RangeJson(combined.savings_ms)},
          {"percent", RangeJson(combined.percent)},
          {"new_total_ms", RangeJson(combined.new_total_ms)},
          {"sum_of_parts_ms", Number(combined.sum_of_parts_ms)},
          {"cap_ms", Number(combined.cap_ms)},
          {"capped", combined.capped},
          {"findings", TextList(combined.findings)}};
}

namespace {

// Where there are thousands, those that take the most time; the table beside has all.
void AddOperations(const findings::CategoryAnalysis& category, Json* out) {
  const auto& all = category.operations;
  const std::size_t listed = std::min(all.size(), findings::kListedMost);
  Json& operations = (*out)["operations"] = Json::array();
  for (std::size_t i = 0; i < listed; ++i)
    operations.push_back(OperationJson(all[i]));
  if (listed == all.size()) return;
  double us = 0;
  for (std::size_t i = listed; i < all.size(); ++i)
    us += all[i].gpu_us;
  (*out)["operations_left_out"] = {{"count", all.size() - listed},
                                   {"time_ms", Number(us / 1000)},
                                   {"file", "category_data/" + category.key + "_ops.csv"}};
}

}  // namespace

Json CategoryMetricsJson(const findings::CategoryAnalysis& c) {
  Json out = MetricsHead(c.key, c.status == findings::Status::kOk);
  out["display_name"] = c.display_name;
  out["kind"] = findings::KindText(c.kind);
  out["total_time_ms"] = Number(c.gpu_us / 1000);
  out["exclusive_ms"] = Number(c.exclusive_us / 1000);
  // Of the window: the name is older than the meaning.
  out["percent_of_compute"] = Number(c.percent_of_total);
  out["percent_of_total"] = Number(c.percent_of_total);
  out["percent_of_computation"] = Number(c.percent_of_computation);
  out["efficiency_percent"] = Number(c.efficiency);
  out["modeled_ms"] = Number(c.modeled_us / 1000);
  out["worth_work"] = c.worth_work;
  out["operation_count"] = c.calls;
  AddOperations(c, &out);
  out["category_specific"] = FactsJson(c.specifics);
  out["patterns"] = PatternsJson(c.patterns);
  out["impact_estimates"] = EstimatesJson(c);
  out["category_findings"] = Json::array();
  for (const findings::Finding& finding : c.findings)
    out["category_findings"].push_back(FindingJson(finding));
  out["anomalies"] = Json::array();
  for (const findings::Anomaly& anomaly : c.anomalies) {
    out["anomalies"].push_back({{"operation_id", anomaly.operation},
                                {"name", anomaly.name},
                                {"args", anomaly.args},
                                {"efficiency_percent", Number(anomaly.efficiency)},
                                {"time_ms", Number(anomaly.time_ms)},
                                {"impossible", anomaly.impossible},
                                {"assumption", TextOrNull(anomaly.assumption)}});
  }
  out["notes"] = TextList(c.notes);
  return out;
}

Json WorkloadJson(const findings::Workload& workload) {
  Json out = {{"line", TextOrNull(findings::WorkloadLine(workload))}, {"fields", Json::object()}};
  for (std::size_t i = 0; i < findings::kWorkloadParts; ++i) {
    const auto part = static_cast<findings::WorkloadPart>(i);
    const findings::WorkloadField& field = workload[part];
    if (!field.known()) continue;
    out["fields"][std::string(findings::WorkloadKey(part))] = {
        {"value", field.value},
        {"certainty", findings::CertaintyText(field.certainty)},
        {"evidence", TextList(field.evidence)}};
  }
  return out;
}

Json QualityJson(const findings::Analysis& analysis) {
  Json out = Json::array();
  for (const findings::Quality& one : analysis.quality) {
    out.push_back({{"code", one.code},
                   {"severity", findings::SeverityText(one.severity)},
                   {"value", Number(one.value)},
                   {"threshold", Number(one.threshold)},
                   {"unit", TextOrNull(one.unit)},
                   {"message", one.text},
                   {"evidence", TextOrNull(one.evidence)},
                   {"cannot_say", TextOrNull(one.consequence)},
                   {"record_next_time", TextOrNull(one.record)},
                   {"ms", Number(one.ms)},
                   {"ms_high", Number(one.ms_high)},
                   {"percent", Number(one.percent)},
                   {"percent_high", Number(one.percent_high)},
                   {"percent_of", TextOrNull(one.base)},
                   {"count", one.count},
                   {"gpu_percent", Number(one.gpu_percent)},
                   {"first_uid", one.first_uid ? Json(*one.first_uid) : Json(nullptr)},
                   {"done", one.remedy}});
  }
  return out;
}

Json PriorityJson(const findings::Analysis& a) {
  Json out = {{"schema_version", 1},
              {"status", a.totals.has_gpu_work || a.cpu ? "OK" : "NO_DATA"},
              {"trace_id", a.trace_id},
              {"platform", TextOrNull(a.platform)},
              {"baseline_ms", Number(a.totals.window_ms)},
              {"recorded_ms", a.wall.known ? Number(a.wall.recorded_ms) : Json(nullptr)},
              {"wall_ms", a.wall.known ? Number(a.wall.wall_ms)
                          : a.cpu      ? Number(a.base.total_ms)
                                       : Json(nullptr)},
              {"wall_of", {{"unit", a.base.unit}, {"count", a.base.count}}},
              {"findings", Json::array()},
              {"priorities", Json::array()},
              {"recommendations", Json::array()},
              {"all_estimates", Json::array()},
              {"combined", CombinedJson(a.combined)},
              {"nothing_because", TextList(a.nothing_because)}};
  for (const findings::Finding& finding : a.findings) {
    Json entry = FindingJson(finding);
    entry["category_rank"] = finding.rank;
    entry["source"] = {{"file", finding.source_file}, {"cell", finding.source_cell}};
    out["findings"].push_back(std::move(entry));
  }
  for (const findings::CategoryPriority& row : a.priorities) {
    Json entry = {{"rank", row.rank},
                  {"category", row.category},
                  {"display_name", row.display_name},
                  {"gpu_kernel_time_ms", Number(row.gpu_ms)},
                  {"percent_of_computation", Number(row.percent_of_computation)},
                  {"operation_count", row.operations},
                  {"source", row.source},
                  {"why_not", TextOrNull(row.why_not)}};
    AddImpact(row.impact_percent, &entry);
    if (row.impact_percent) {
      Json plot = {{"category", row.category},
                   {"operation_count", row.operations},
                   {"type", "kernel_tuning"}};
      AddImpact(row.impact_percent, &plot);
      out["recommendations"].push_back(std::move(plot));
    }
    out["priorities"].push_back(std::move(entry));
  }
  for (const findings::CategoryAnalysis& category : a.categories) {
    for (Json& estimate : EstimatesJson(category))
      out["all_estimates"].push_back(std::move(estimate));
  }
  return out;
}

namespace {

// Whether somebody outside can replace the kernel: sealed libraries' cannot be.
std::pair<bool, std::string> Routable(const findings::Operation& o) {
  for (const char* sealed :
       {"cuBLAS", "cuBLASLt", "cuDNN", "NCCL", "RCCL", "Tensile", "rocBLAS", "MIOpen"}) {
    if (o.library == sealed) return {false, "a kernel of " + o.library};
  }
  if (o.dims.empty()) return {false, "no shapes to reproduce it with"};
  return {true, ""};
}

}  // namespace

Json KernelCandidatesJson(const findings::Analysis& a) {
  std::vector<const findings::Operation*> operations;
  for (const findings::CategoryAnalysis& category : a.categories) {
    for (const findings::Operation& operation : category.operations) {
      if (operation.gpu_us > 0) operations.push_back(&operation);
    }
  }
  std::stable_sort(operations.begin(), operations.end(),
                   [](const findings::Operation* x, const findings::Operation* y) {
                     const double p = x->savings_ms ? x->savings_ms->mid : 0;
                     const double q = y->savings_ms ? y->savings_ms->mid : 0;
                     return p != q ? p > q : x->gpu_us > y->gpu_us;
                   });
  constexpr std::size_t kMost = 100;
  Json out = Json::array();
  for (std::size_t i = 0; i < operations.size() && i < kMost; ++i) {
    const findings::Operation& o = *operations[i];
    const auto [routable, reason] = Routable(o);
    Json entry = {
        {"rank", i + 1},
        {"kernel", o.kernels.empty() ? Json(nullptr) : Json(o.kernels[0].name)},
        {"kernel_id", o.kernels.empty() ? Json(nullptr) : TextOrNull(o.kernels[0].row_id)},
        {"op", o.name},
        {"operation_id", o.id},
        {"row_id", TextOrNull(o.row_id)},
        {"category", o.category},
        {"time_ms", Number(o.gpu_us / 1000)},
        {"percent_e2e", Number(o.percent_of_total)},
        {"count", o.count},
        {"bound", findings::BoundText(o.efficiency.bound)},
        {"efficiency", Number(o.efficiency.percent)},
        {"roofline_us", Number(o.efficiency.roof_us)},
        {"shapes", Json::array({{{"call_num", o.count}, {"shape", o.args}}})},
        {"launcher", TextOrNull(o.entry_point)},
        {"module_path", TextOrNull(o.module_path)},
        {"library", TextOrNull(o.library)},
        {"routable", routable},
        {"routable_reason", TextOrNull(reason)},
        {"replay", nullptr},
        {"pairs_with", TextOrNull(o.fusion_candidate)},
        {"savings_ms", RangeJson(o.savings_ms)}};
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace jarvis::formats
