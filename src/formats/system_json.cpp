#include "formats/system_json.h"

#include <algorithm>

#include "findings/one/thresholds.h"
#include "formats/analysis_json.h"
#include "formats/json_parts.h"

namespace jarvis::formats {

namespace {

Json GroupsJson(const std::vector<findings::GapGroup>& groups) {
  Json out = Json::array();
  for (const findings::GapGroup& group : groups) {
    out.push_back({{"name", group.name},
                   {"count", group.count},
                   {"total_ms", Number(group.total_us / 1000)},
                   {"percent_of_idle", Number(group.percent_of_idle)},
                   {"p50_us", Number(group.median_us)},
                   {"max_us", Number(group.max_us)},
                   {"saved_ms", Number(group.saved_us / 1000)},
                   {"saved_low_ms", Number(group.saved_low_us / 1000)}});
  }
  return out;
}

Json GapJson(const findings::Gap& gap) {
  return {{"start_us", Number(gap.start_us)},
          {"dur_us", Number(gap.dur_us)},
          {"class", findings::GapText(gap.kind)},
          {"drain", gap.drained ? "sync_drain" : "starved"},
          {"prev_kernel", gap.previous_kernel},
          {"prev_op", TextOrNull(gap.previous_op)},
          {"next_kernel", gap.next_kernel},
          {"next_op", TextOrNull(gap.next_op)},
          {"next_uid", gap.next_uid},
          {"module_path", TextOrNull(gap.module_path)},
          {"call_stack", TextList(gap.call_stack)},
          {"dominant", TextOrNull(gap.dominant)},
          {"dominant_us", Number(gap.dominant_us)},
          {"thread", TextOrNull(gap.thread)},
          {"step", gap.step < 0 ? Json(nullptr) : Json(gap.step)},
          {"saved_us", Number(gap.saved_us)}};
}

}  // namespace

Json IdleGapsJson(const findings::IdleAnalysis& idle) {
  Json out = {{"schema_version", 1},
              {"status", idle.has_gpu_work ? "OK" : "NO_DATA"},
              {"window_ms", Number(idle.window_us / 1000)},
              {"idle_ms", Number(idle.idle_us / 1000)},
              {"idle_percent", Number(idle.idle_percent)},
              {"idle_flagged", idle.flagged},
              {"reliable", idle.reliable},
              {"unreliable_because", TextOrNull(idle.unreliable_because)},
              {"graph_replay_percent", Number(idle.graph_percent)},
              {"micro_gap_ms", Number(idle.micro_us / 1000)},
              {"micro_gap_count", idle.micro_count},
              {"queued_gap_us", Number(idle.queued_gap_us)},
              {"gap_count", idle.gap_count},
              {"summary", GroupsJson(idle.by_class)},
              {"by_module", GroupsJson(idle.by_module)},
              {"by_step", GroupsJson(idle.by_step)}};
  out["top_gaps"] = Json::array();
  for (const findings::Gap& gap : idle.gaps)
    out["top_gaps"].push_back(GapJson(gap));
  return out;
}

Json IdleMetricsJson(const findings::Analysis& a) {
  Json out = MetricsHead("cpu_idle", a.idle.has_gpu_work);
  const findings::Totals& t = a.totals;
  out["idle_flagged"] = a.idle.flagged;
  out["reliable"] = a.idle.reliable;
  out["gpu_utilization"] = {{"total_time_ms", Number(t.window_ms)},
                            {"idle_time_ms", Number(t.idle_ms)},
                            {"idle_time_percent", Number(t.Percent(t.idle_ms))},
                            {"computation_percent", Number(t.Percent(t.computation_ms))},
                            {"communication_percent", Number(t.Percent(t.exposed_comm_ms))},
                            {"memcpy_percent", Number(t.Percent(t.exposed_copy_ms))}};
  out["kernel_analysis"] = {{"short_kernel_count", a.idle.short_kernels},
                            {"total_kernel_count", a.idle.kernels},
                            {"avg_kernel_time_us", Number(a.idle.mean_kernel_us)}};
  out["classes"] = GroupsJson(a.idle.by_class);
  out["impact_estimates"] = Json::array();
  out["category_findings"] = FindingsOf(a, "cpu_idle");
  return out;
}

Json MultiKernelDataJson(const findings::MultiKernelAnalysis& m) {
  Json copies = {{"total_count", m.copy_count},
                 {"total_time_us", Number(m.copy_us)},
                 {"by_direction", Json::object()}};
  for (const findings::CopyGroup& group : m.copies) {
    const double count = static_cast<double>(std::max<std::uint64_t>(1, group.count));
    copies["by_direction"][std::string(findings::DirectionText(group.direction))] = {
        {"count", group.count},
        {"total_time_us", Number(group.total_us)},
        {"exposed_us", Number(group.exposed_us)},
        {"avg_time_us", Number(group.total_us / count)},
        {"max_time_us", Number(group.max_us)},
        {"total_bytes", Number(group.bytes)},
        {"tb_per_s", Number(group.tb_per_s)},
        {"pageable_count", group.pageable},
        {"percent_of_total", Number(group.percent_of_total)},
        {"flagged", group.flagged}};
  }
  Json sites = Json::array();
  for (const findings::CopySite& site : m.copy_sites) {
    sites.push_back({{"direction", findings::DirectionText(site.direction)},
                     {"op", TextOrNull(site.op)},
                     {"row_id", TextOrNull(site.row_id)},
                     {"module_path", TextOrNull(site.module_path)},
                     {"code", TextList(site.code)},
                     {"count", site.count},
                     {"total_us", Number(site.total_us)},
                     {"bytes", Number(site.bytes)},
                     {"blocking", site.blocking},
                     {"ex_uid", site.uid}});
  }
  Json collectives = Json::array();
  for (const findings::CollectiveRow& row : m.collectives) {
    collectives.push_back({{"name", row.name},
                           {"dtype", TextOrNull(row.dtype)},
                           {"bytes", Number(row.bytes)},
                           {"group_size", row.group_size ? Json(*row.group_size) : Json(nullptr)},
                           {"count", row.count},
                           {"total_us", Number(row.total_us)},
                           {"exposed_us", Number(row.exposed_us)},
                           {"algorithm_gb_per_s", Number(row.algorithm_gb_per_s)},
                           {"bus_gb_per_s", Number(row.bus_gb_per_s)},
                           {"computation_beneath", TextList(row.beneath)},
                           {"op", TextOrNull(row.op)},
                           {"ex_uid", row.uid}});
  }
  const auto percent = [&](double us) {
    return m.window_us > 0 ? Number(us / m.window_us * 100) : Json(nullptr);
  };
  return {{"schema_version", 1},
          {"status", m.has_gpu_work ? "OK" : "NO_DATA"},
          {"memcpy_summary", std::move(copies)},
          {"copy_sites", std::move(sites)},
          {"nccl_summary", {{"total_count", m.comm_count}, {"total_time_us", Number(m.comm_us)}}},
          {"collectives", std::move(collectives)},
          {"overlap_analysis",
           {{"total_time_us", Number(m.window_us)},
            {"computation_time_us", Number(m.computation_us)},
            {"total_comm_time_us", Number(m.comm_us)},
            {"exposed_comm_time_us", Number(m.exposed_comm_us)},
            {"total_memcpy_time_us", Number(m.copy_us)},
            {"exposed_memcpy_time_us", Number(m.exposed_copy_us)},
            {"comm_overlap_ratio", Number(m.comm_overlap_ratio)},
            {"memcpy_overlap_ratio", Number(m.copy_overlap_ratio)},
            {"comm_percent_of_total", percent(m.exposed_comm_us)},
            {"memcpy_percent_of_total", percent(m.exposed_copy_us)}}},
          {"one_rank", m.one_rank}};
}

Json MultiKernelMetricsJson(const findings::Analysis& a) {
  const findings::MultiKernelAnalysis& m = a.multi_kernel;
  const Json data = MultiKernelDataJson(m);
  Json out = MetricsHead("multi_kernel", m.has_gpu_work);
  out["total_time_ms"] = Number(a.totals.window_ms);
  for (const char* key : {"memcpy_summary", "nccl_summary", "overlap_analysis"})
    out[key] = data[key];
  bool copies = false;
  for (const findings::CopyGroup& group : m.copies)
    copies = copies || group.flagged;
  out["memcpy_assessment"] = {{"flagged", copies}, {"total_count", m.copy_count}};
  out["nccl_blocking_assessment"] = {
      {"flagged", m.comm_flagged},
      {"exposed_comm_time_ms", Number(m.exposed_comm_us / 1000)},
      {"exposed_percent_of_total", data["overlap_analysis"]["comm_percent_of_total"]}};
  out["overlap_assessment"] = {{"flagged", m.overlap_flagged},
                               {"overlap_ratio", Number(m.comm_overlap_ratio)},
                               {"target_percent", findings::limits::kOverlapRatio * 100}};
  out["patterns_detected"] = TextList(m.patterns);
  out["impact_estimates"] = Json::array();
  out["category_findings"] = FindingsOf(a, "multi_kernel");
  return out;
}

Json FusionCandidatesJson(const findings::FusionAnalysis& fusion) {
  Json out = Json::array();
  for (const findings::FusionCandidate& c : fusion.candidates) {
    Json kernels = Json::array();
    for (const findings::FusionKernel& kernel : c.kernels) {
      kernels.push_back({{"name", kernel.name},
                         {"op", kernel.op},
                         {"operation_id", kernel.operation},
                         {"mean_us", Number(kernel.mean_us)},
                         {"bytes", Number(kernel.bytes)}});
    }
    Json entry = {{"id", c.id},
                  {"kind", findings::FusionText(c.kind)},
                  {"module_name", c.module_path},
                  {"base_name", c.module_class},
                  {"instance_count", c.instances},
                  {"kernel_count", c.kernels.size()},
                  {"modeled_kernel_count", c.modeled_kernels},
                  {"kernels", std::move(kernels)},
                  {"dependency", findings::DependencyText(c.dependency)},
                  {"confidence", c.confidence},
                  {"total_kernel_time_us", Number(c.total_us)},
                  {"exclusive_us", Number(c.exclusive_us)},
                  {"instance_us",
                   {{"min", Number(c.instance_min_us)},
                    {"p50", Number(c.instance_median_us)},
                    {"max", Number(c.instance_max_us)}}},
                  {"upper_bound_ms", Number(c.total_us / 1000)},
                  {"bytes_now", Number(c.bytes_now)},
                  {"bytes_fused", Number(c.bytes_fused)},
                  {"savings_ms", RangeJson(c.savings_ms)},
                  {"operations", TextList(c.operations)},
                  {"ex_uid", c.example_uid}};
    AddImpact(c.impact_percent, &entry);
    out.push_back(std::move(entry));
  }
  return out;
}

Json FusionMetricsJson(const findings::Analysis& a) {
  Json out = MetricsHead("kernel_fusion", !a.fusion.candidates.empty());
  out["total_time_ms"] = Number(a.fusion.total_us / 1000);
  out["candidate_count"] = a.fusion.candidates.size();
  out["platform"] = TextOrNull(a.platform);
  out["peak_hbm_bw_tbs"] = Number(a.peak_tb_per_s);
  out["impact_estimates"] = Json::array();
  out["category_findings"] = FindingsOf(a, "kernel_fusion");
  out["warnings"] = TextList(a.fusion.notes);
  return out;
}

Json CpuStepsJson(const findings::Analysis& a) {
  const findings::CpuSteps& cpu = *a.cpu;
  const findings::StepBase& base = a.base;
  const auto each = [&](double ms) { return Number(base.Each(ms)); };
  Json out = {{"schema_version", 1},
              {"unit", base.unit},
              {"unit_count", base.count},
              {"unit_ms", Number(base.unit_ms())},
              {"ops_ms_each", each(cpu.ops_ms)},
              {"optimizer", TextOrNull(cpu.optimizer)},
              {"optimizer_ops_each", each(static_cast<double>(cpu.optimizer_ops))},
              {"wait_ms_in_steps_left_out", Number(cpu.odd_wait_ms)},
              {"parts", Json::array()},
              {"collectives", Json::array()},
              {"operations", Json::array()}};
  for (std::size_t i = 0; i < findings::kCpuParts; ++i) {
    const auto part = static_cast<findings::CpuPart>(i);
    out["parts"].push_back({{"part", findings::CpuPartText(part)},
                            {"ms_each", each(cpu.Of(part))},
                            {"percent", Number(base.Percent(cpu.Of(part)))}});
  }
  for (const findings::CpuCollective& one : cpu.collectives) {
    // 0 bytes: not recorded.
    const bool sized = one.most_bytes > 0;
    out["collectives"].push_back({{"name", one.name},
                                  {"count", one.count},
                                  {"union_ms_each", each(one.union_ms)},
                                  {"wait_ms_each", each(one.wait_ms)},
                                  {"call_ms_min", Number(one.least_ms)},
                                  {"call_ms_max", Number(one.most_ms)},
                                  {"call_bytes_min", sized ? Number(one.least_bytes) : Json()},
                                  {"call_bytes_max", sized ? Number(one.most_bytes) : Json()}});
  }
  for (const findings::CpuOperation& one : cpu.operations) {
    out["operations"].push_back({{"name", one.name},
                                 {"args", TextOrNull(one.args)},
                                 {"count", one.count},
                                 {"self_ms_each", each(one.self_ms)},
                                 {"percent", Number(base.Percent(one.self_ms))}});
  }
  return out;
}

}  // namespace jarvis::formats
