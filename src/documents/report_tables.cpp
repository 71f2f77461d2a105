#include "documents/report_tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/markdown_text.h"
#include "documents/remedy_text.h"
#include "documents/report_parts.h"

namespace jarvis::documents {
namespace {

std::string Gigabytes(std::optional<double> bytes) {
  if (!bytes) return std::string(kAbsentText);
  if (*bytes >= 1e9) return Digits(*bytes / 1e9) + " GB";
  return *bytes >= 1e4 ? Digits(*bytes / 1e6) + " MB" : ThreeDigits(*bytes) + " bytes";
}

std::string GroupTable(std::string name, const std::vector<findings::GapGroup>& groups,
                       std::size_t max) {
  MarkdownTable table({std::move(name), "Gaps", "Time", "% of idle", "Longest", "Saved if gone"});
  for (std::size_t i = 0; i < groups.size() && i < max; ++i) {
    const findings::GapGroup& group = groups[i];
    table.Row({CellOfText(group.name.empty() ? "(none)" : Words(group.name)),
               fmt::format("{}", group.count), Ms(group.total_us / 1000),
               PctOrDash(group.percent_of_idle), Ms(group.max_us / 1000),
               Ms(group.saved_us / 1000)});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string CopyTables(const findings::MultiKernelAnalysis& kernels) {
  MarkdownTable table({"Direction", "Copies", "Time", "Exposed", "% of window", "Bytes", "TB/s",
                       "From pageable memory"});
  for (const findings::CopyGroup& group : kernels.copies) {
    table.Row({std::string(findings::DirectionText(group.direction)),
               fmt::format("{}", group.count), Ms(group.total_us / 1000),
               Ms(group.exposed_us / 1000), PctOrDash(group.percent_of_total),
               Gigabytes(group.bytes),
               group.tb_per_s ? Digits(*group.tb_per_s) : std::string(kAbsentText),
               fmt::format("{}", group.pageable)});
  }
  MarkdownTable sites({"Direction", "Op", "Module", "Code", "Copies", "Time", "Host waited"});
  for (std::size_t i = 0; i < kernels.copy_sites.size() && i < 8; ++i) {
    const findings::CopySite& site = kernels.copy_sites[i];
    sites.Row({std::string(findings::DirectionText(site.direction)), Code(site.op, 80),
               Code(site.module_path, 120), Code(site.code.empty() ? "" : site.code[0], 120),
               fmt::format("{}", site.count), Ms(site.total_us / 1000),
               site.blocking ? "yes" : "no"});
  }
  return (table.empty() ? "" : table.text() + "\n") + (sites.empty() ? "" : sites.text() + "\n");
}

}  // namespace

std::string IdleTables(const findings::Analysis& analysis) {
  const findings::IdleAnalysis& idle = analysis.idle;
  std::string text = GroupTable("Class of gap", idle.by_class, 8);
  text += GroupTable("Module of the next op", idle.by_module, 6);
  MarkdownTable gaps({"Gap", "Class", "After", "Before", "Module", "Host did"});
  for (std::size_t i = 0; i < idle.gaps.size() && i < 6; ++i) {
    const findings::Gap& gap = idle.gaps[i];
    gaps.Row({Ms(gap.dur_us / 1000), Words(findings::GapText(gap.kind)),
              Code(gap.previous_op.empty() ? gap.previous_kernel : gap.previous_op, 60),
              Code(gap.next_op.empty() ? gap.next_kernel : gap.next_op, 60),
              Code(gap.module_path, 100), Code(gap.dominant, 60)});
  }
  if (!gaps.empty()) text += gaps.text() + "\n";
  return text;
}

std::string MultiKernelTables(const findings::Analysis& analysis) {
  const findings::MultiKernelAnalysis& kernels = analysis.multi_kernel;
  std::string text = CopyTables(kernels);
  MarkdownTable table({"Collective", "Size", "Calls", "Time", "Exposed", "Bus GB/s"});
  for (std::size_t i = 0; i < kernels.collectives.size() && i < 10; ++i) {
    const findings::CollectiveRow& row = kernels.collectives[i];
    table.Row({Code(row.name, 80), Gigabytes(row.bytes), fmt::format("{}", row.count),
               Ms(row.total_us / 1000), Ms(row.exposed_us / 1000),
               row.bus_gb_per_s ? Digits(*row.bus_gb_per_s) : std::string(kAbsentText)});
  }
  if (!table.empty()) text += table.text() + "\n";
  if (!table.empty() && kernels.one_rank) {
    text += fmt::format(
        "One rank shows collective types, sizes and times, but not which part is waiting for other "
        "ranks and which is transfer. {}.\n\n",
        kernels.ranks_in_file ? "`jarvis collectives` on this same file splits them"
                              : "Compare all ranks with `collectives`");
  }
  return text;
}

std::string FusionTables(const findings::Analysis& analysis, std::size_t candidates_max) {
  const auto& candidates = analysis.fusion.candidates;
  MarkdownTable table({"Candidate", "Kind", "Module", "Instances", "Kernels each", "Time",
                       "Possible saving", "Data flow", "Confidence"});
  for (std::size_t i = 0; i < candidates.size() && i < candidates_max; ++i) {
    const findings::FusionCandidate& one = candidates[i];
    table.Row({Code(one.id), Words(findings::FusionText(one.kind)), Code(one.module_path, 100),
               fmt::format("{}", one.instances), fmt::format("{}", one.kernels.size()),
               Ms(one.total_us / 1000),
               one.savings_ms ? RangeMs(*one.savings_ms) : std::string(kAbsentText),
               Words(findings::DependencyText(one.dependency)), CellOfText(one.confidence)});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string HardwareTable(const ReportSources& sources) {
  MarkdownTable table({"Metric", "Value"});
  const std::string& held = sources.analysis.platform;
  table.Row({"Platform", held.empty() ? PlatformName(sources.analysis) : CellOfText(held)});
  if (!sources.analysis.device.empty()) table.Row({"Device", CellOfText(sources.analysis.device)});
  const perf::Platform* platform = sources.platform;
  if (platform == nullptr) {
    if (!sources.analysis.cpu)
      table.Row({"Limits", "not known; name a platform to get efficiencies"});
    return table.text() + "\n";
  }
  if (platform->mem_bw_gbps) {
    table.Row({"Peak HBM bandwidth", Digits(*platform->mem_bw_gbps / 1000) + " TB/s"});
  }
  if (platform->memory_gb) table.Row({"Memory", ThreeDigits(*platform->memory_gb) + " GB"});
  for (const auto& [spec, rate] : platform->maf_tflops)
    table.Row({"Achievable " + Words(spec), ThreeDigits(rate.tflops) + " TFLOPS/s"});
  for (const auto& [spec, rate] : platform->peak_tflops) {
    if (platform->maf_tflops.contains(spec)) continue;
    table.Row({"Peak " + Words(spec), ThreeDigits(rate.tflops) + " TFLOPS/s"});
  }
  return table.text() + "\n";
}

std::string WorkloadTable(const findings::Analysis& analysis) {
  MarkdownTable table({"Field", "Value", "Certainty", "Evidence"});
  for (std::size_t i = 0; i < findings::kWorkloadParts; ++i) {
    const auto part = static_cast<findings::WorkloadPart>(i);
    const findings::WorkloadField& field = analysis.workload[part];
    if (!field.known()) continue;
    std::string evidence;
    for (std::size_t e = 0; e < field.evidence.size() && e < 3; ++e)
      evidence += (evidence.empty() ? "" : "; ") + field.evidence[e];
    table.Row({std::string(findings::WorkloadTitle(part)), CellOfText(field.value),
               std::string(findings::CertaintyText(field.certainty)), CellOfText(evidence)});
  }
  if (table.empty()) return "Nothing that the trace records tells what it is of.\n\n";
  return table.text() + "\n";
}

}  // namespace jarvis::documents
