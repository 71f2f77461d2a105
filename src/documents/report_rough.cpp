#include "documents/report_rough.h"

#include <fmt/format.h>

#include "base/text.h"
#include "documents/base_text.h"
#include "documents/category_table.h"
#include "documents/claims.h"
#include "documents/markdown_text.h"
#include "documents/phase_table.h"
#include "documents/remedy_text.h"
#include "documents/report_parts.h"
#include "documents/report_tables.h"
#include "documents/start_text.h"
#include "documents/time_parts.h"
#include "documents/trust_text.h"
#include "findings/one/thresholds.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kCallsShown = 60;
constexpr std::size_t kRoughOperationsShown = 20;
constexpr std::size_t kTreesShown = 10;

std::string Process(const ReportSources& sources) {
  std::string text = "## Analysis Process Summary\n\n";
  text += fmt::format("Trace {}, id {}.\n\n", Code(sources.trace_name),
                      Code(sources.analysis.trace_id));
  int step = 0;
  for (const CallRecord& call : sources.calls) {
    if (step == static_cast<int>(kCallsShown)) {
      text += "Further calls stand in [run_log.jsonl](run_log.jsonl).\n\n";
      break;
    }
    text += fmt::format("### Step {}: {}\n\n", ++step, CellOfText(call.tool));
    MarkdownTable table({"Called with", call.failed ? "Failed" : "Answered", "Rows", "Bytes"});
    table.Row({Code(call.arguments, 300), CellOfText(Utf8Prefix(call.answer, 400)),
               fmt::format("{}", call.rows), fmt::format("{}", call.bytes)});
    text += table.text() + "\n";
  }
  text += fmt::format("### Step {}: whole analysis\n\n", ++step);
  text +=
      "The server analysed every category, the gaps, communication, copies and fusion "
      "candidates, ranked the findings and wrote drafts of their texts.\n\n";
  return text;
}

std::string RawData(const ReportSources& sources) {
  const findings::Analysis& analysis = sources.analysis;
  std::string text = "## Raw Data Exploration\n\n### The step\n\n" + WallTimeTable(analysis) +
                     PhaseTable(analysis) + WallTable(analysis) + ToldTable(analysis) +
                     StartTable(analysis);
  text += "### GPU timeline\n\n" + TimeTable(analysis);
  text += "### Categories\n\n" + CategoryTable(analysis);
  text += "### Operations\n\n" + DataTable(TopOperations(analysis, kRoughOperationsShown));
  text += "### Elementwise baseline\n\n";
  const findings::Baseline& baseline = analysis.baseline;
  if (!baseline.tb_per_s) {
    text += "No simple elementwise op moves enough to tell what bandwidth is within reach.\n\n";
  } else {
    MarkdownTable table({"Baseline", "% of peak", "Lowest", "Highest", "Calls", "Assumed"});
    const auto seen = [&](double tb_per_s) {
      return baseline.assumed ? std::string(kAbsentText) : Digits(tb_per_s) + " TB/s";
    };
    table.Row({Digits(*baseline.tb_per_s) + " TB/s", PctOrDash(baseline.percent_of_peak),
               seen(baseline.min_tb_per_s), seen(baseline.max_tb_per_s),
               fmt::format("{}", baseline.calls), baseline.assumed ? "yes" : "no"});
    text += table.text() + "\n";
    MarkdownTable rows({"Operation", "TB/s", "% of baseline", "Verdict"});
    for (std::size_t i = 0; i < baseline.rows.size() && i < 10; ++i) {
      const findings::Baseline::Row& row = baseline.rows[i];
      const findings::Operation* operation = analysis.FindOperation(row.operation);
      rows.Row({operation == nullptr ? Code(row.operation) : Code(operation->name, 80),
                Digits(row.tb_per_s), Pct(row.percent_of_baseline), Words(row.verdict)});
    }
    if (!rows.empty()) text += rows.text() + "\n";
  }
  const std::string idle = IdleTables(analysis);
  if (!idle.empty()) text += "### Gaps\n\n" + idle;
  const std::string kernels = MultiKernelTables(analysis);
  if (!kernels.empty()) text += "### Communication and copies\n\n" + kernels;
  const std::string fusion = FusionTables(analysis, 20);
  if (!fusion.empty()) text += "### Fusion candidates\n\n" + fusion;
  text += "### Priorities\n\n";
  MarkdownTable table({"Rank", "Finding", "Category", "Class", "Time", "Possible saving",
                       "Estimate", "Overlaps with"});
  for (const findings::Finding& finding : analysis.findings) {
    std::string overlaps;
    for (const std::string& other : finding.overlaps_with)
      overlaps += (overlaps.empty() ? "" : ", ") + other;
    table.Row({fmt::format("{}", finding.global_rank), SubjectText(finding),
               CellOfText(finding.category_name),
               std::string(findings::PriorityText(finding.priority)), Ms(finding.time_ms),
               finding.savings_ms ? RangeMs(*finding.savings_ms) : std::string(kAbsentText),
               Words(findings::MethodText(finding.method)), CellOfText(overlaps)});
  }
  text += table.empty() ? NothingText(analysis) + "\n\n" : table.text() + "\n";
  for (const findings::Finding& finding : analysis.findings) {
    text += fmt::format("Finding {}, {}:\n\n", finding.global_rank, SubjectText(finding)) +
            FiguresTable(analysis, finding) + HostTable(analysis, finding) +
            PlacesTable(analysis, finding);
  }
  MarkdownTable combined({"All together", "Value"});
  combined.Row({"Savings added up (middle)", Ms(analysis.combined.sum_of_parts_ms)});
  combined.Row({"Each kernel once", RangeMs(analysis.combined.savings_ms)});
  combined.Row({"Limit", Ms(analysis.combined.cap_ms)});
  return text + combined.text() + "\n";
}

std::string Trees(const findings::Analysis& analysis) {
  std::string text = "## Tree Analysis\n\n";
  std::size_t shown = 0;
  for (const findings::Operation* operation : TopOperations(analysis, kTreesShown)) {
    if (operation->call_chain.empty() && operation->module_path.empty()) continue;
    ++shown;
    text += fmt::format("### {}. {}\n\n", shown, Code(operation->name, 80));
    if (!operation->module_path.empty()) text += "Module: " + Code(operation->module_path) + "\n\n";
    std::string chain;
    for (const std::string& frame : operation->call_chain)
      chain += (chain.empty() ? "" : " > ") + OneLine(ValidUtf8(frame));
    if (!chain.empty()) text += "Parent chain: " + Code(chain, 1200) + "\n\n";
    for (std::size_t i = 0; i < operation->kernels.size() && i < 5; ++i)
      text += "- " + Code(operation->kernels[i].name, 400) + "\n";
    if (!operation->kernels.empty()) text += "\n";
  }
  if (shown == 0) {
    text += fmt::format("No modules and no Python frames were recorded; profile with {}.\n\n",
                        analysis.context.how->modules);
  }
  return text;
}

std::string Gaps(const findings::Analysis& analysis) {
  std::string text = "## TraceLens Gaps\n\nWhat would have helped and is not there.\n\n";
  text += QualityTable(analysis);
  MarkdownTable table({"Operation without a model", "Time", "Why"});
  for (const findings::CategoryAnalysis& category : analysis.categories) {
    for (const findings::Operation& operation : category.operations) {
      const bool matters = operation.percent_of_total.value_or(0) >= 1;
      if (operation.efficiency.bound != findings::Bound::kUnmodeled || !matters) continue;
      table.Row(
          {Code(operation.name, 80), Ms(operation.gpu_us / 1000),
           CellOfText(operation.has_model ? operation.model_failure : "no model of this op")});
    }
  }
  if (!table.empty()) text += table.text() + "\n";
  text += "What no trace shows, whatever was recorded:\n\n";
  MarkdownTable limits({"Not observable", "Why", "Instead"});
  for (const ClaimRule& rule : ClaimRules()) {
    if (rule.why.starts_with("Needs")) {
      limits.Row({std::string(rule.what), std::string(rule.why), std::string(rule.instead)});
    }
  }
  return text + limits.text() + "\n";
}

std::string Questions(const findings::Analysis& analysis) {
  std::string text = "## Questions for Further Investigation\n\n";
  const std::size_t before = text.size();
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.replay_recommended && !finding.row_ids.empty()) {
      text += fmt::format("- Does {} take as long when it is replayed alone (rows {})?\n",
                          SubjectText(finding), Code(finding.row_ids[0]));
    }
    if (finding.starved_percent.value_or(0) > 50) {
      text +=
          fmt::format("- Would a faster {} shorten the step, or only let the GPU wait longer?\n",
                      SubjectText(finding));
    }
  }
  for (const findings::CategoryAnalysis& category : analysis.categories) {
    for (const findings::Anomaly& anomaly : category.anomalies) {
      text += fmt::format("- Anomaly: which of platform, dtype and model is wrong for {}?\n",
                          Code(anomaly.name, 80));
    }
  }
  for (const findings::Quality& quality : analysis.quality) {
    if (!quality.record.empty())
      text += "- Would a new trace answer more? " + quality.record + "\n";
  }
  if (!analysis.totals.unlinked_count && text.size() == before) text += "- None.\n";
  if (analysis.totals.unlinked_count > 0) {
    text += "- Which ops launched the kernels whose launch is not in the trace?\n";
  }
  return text;
}

}  // namespace

std::string RenderRough(const ReportSources& sources) {
  const findings::Analysis& analysis = sources.analysis;
  return fmt::format("# {} - {} Standalone Analysis (Rough)\n\n", ModelName(analysis),
                     PlatformName(analysis)) +
         Process(sources) + RawData(sources) + Trees(analysis) + Gaps(analysis) +
         Questions(analysis);
}

}  // namespace jarvis::documents
