#include "documents/report_fair.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/attribution/gpu_timeline.h"
#include "documents/claims.h"
#include "documents/frame_text.h"
#include "documents/markdown_text.h"
#include "documents/remedy_text.h"
#include "documents/replay_table.h"
#include "documents/report_parts.h"
#include "documents/report_tables.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kBottlenecks = 5;
constexpr std::size_t kCardsMax = 8;         // further findings are rows of a table
constexpr std::size_t kOperationsShown = 6;  // of a category
constexpr double kCategoryShown = 1;         // percent of compute time, without a finding
constexpr double kMovingShown = 0.5;         // percent of the window: communication and copies

// Whether the most of its time is that of communication kernels, which are no part of computing.
bool IsCommunication(const findings::Operation& operation) {
  return !operation.kernels.empty() &&
         analysis::ClassOf(trace::EventKind::kKernel, operation.kernels.front().name,
                           analysis::Communicators::kAll) == analysis::WorkClass::kCommunication;
}

// What the better way saves of wall time alone; absent: not known.
std::optional<std::string> WallCell(const findings::Finding& finding) {
  const findings::WallSaving* best = findings::BestWall(finding);
  return best == nullptr ? std::nullopt : std::optional(RangeMs(best->ms));
}

class Fair {
 public:
  explicit Fair(const ReportSources& sources)
      : sources_(sources), analysis_(sources.analysis), additional_(AdditionalSavings(analysis_)) {}

  std::string Render() {
    std::string text = fmt::format("# {} - {} Standalone Analysis\n\n", ModelName(analysis_),
                                   PlatformName(analysis_));
    text += Summary() + "---\n\n" + Trust() + Recommendations() + "---\n\n" + Details() + "---\n\n";
    return text + Appendix();
  }

 private:
  std::string Summary() const;
  std::string SummaryParagraph() const;
  std::string Trust() const;
  std::string Recommendations() const;
  std::string Card(const findings::Finding& finding) const;
  std::string Details();
  std::string CategorySection(const findings::CategoryAnalysis& category);
  std::string SystemSection(std::string_view title, std::string_view category,
                            const std::string& tables);
  std::string FindingBlock(const findings::Finding& finding) const;
  std::string Appendix() const;
  std::string Heading(std::string_view title) {
    return fmt::format("### {}. {}\n\n", ++sections_, title);
  }
  std::optional<findings::Range> AdditionalOf(const findings::Finding& finding) const {
    return additional_[static_cast<std::size_t>(&finding - analysis_.findings.data())];
  }
  // Findings of a category, as they stand in the ranking.
  std::vector<const findings::Finding*> FindingsOf(std::string_view category) const {
    std::vector<const findings::Finding*> found;
    for (const findings::Finding& finding : analysis_.findings) {
      if (finding.category == category) found.push_back(&finding);
    }
    return found;
  }

  const ReportSources& sources_;
  const findings::Analysis& analysis_;
  const std::vector<std::optional<findings::Range>> additional_;
  int sections_ = 0;
};

std::string Fair::SummaryParagraph() const {
  const findings::Totals& totals = analysis_.totals;
  if (!totals.has_gpu_work) {
    return "The trace has no GPU work, so nothing can be said about the GPU. Record with "
           "`activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]`.";
  }
  std::string text = StepSentence(analysis_.frames->frames) + " ";
  text += fmt::format("The GPU is busy for {} of a window of {} ({})", Ms(totals.busy_ms),
                      Ms(totals.window_ms), PctOrDash(totals.Percent(totals.busy_ms)));
  const double beside = totals.busy_ms - totals.computation_ms;
  text +=
      totals.Percent(beside).value_or(0) < 0.5
          ? ", all of it computing."
          : fmt::format(" and computes for {}.", PctOrDash(totals.Percent(totals.computation_ms)));
  if (!analysis_.findings.empty()) {
    const findings::Finding& first = analysis_.findings[0];
    text += " The first thing to work on: " + TextOf(analysis_, first, sources_.edits).insight;
  } else {
    text += " " + NothingText(analysis_);
  }
  if (analysis_.wall.together_ms) {
    text += fmt::format(" All recommendations together save {} of {} of wall time.",
                        RangeMs(*analysis_.wall.together_ms), Ms(analysis_.wall.wall_ms));
  } else if (analysis_.combined.savings_ms.high > 0) {
    text += fmt::format(" All recommendations together save at most {}{} of GPU time.",
                        Ms(analysis_.combined.savings_ms.high),
                        analysis_.combined.percent
                            ? " (" + Pct(analysis_.combined.percent->high) + " of the window)"
                            : "");
  }
  const auto unlinked = totals.busy_ms > 0 ? totals.unlinked_ms / totals.busy_ms * 100 : 0;
  if (unlinked > findings::limits::kUnlinkedWarn) {
    text += fmt::format(
        " {} of GPU work has no launch in the trace, so its ops and callers are not known.",
        Ms(totals.unlinked_ms));
  }
  const bool several = std::any_of(analysis_.quality.begin(), analysis_.quality.end(),
                                   [](const auto& one) { return one.code == "multi_device"; });
  if (several) {
    text +=
        " The file holds the work of several devices: the window and busy time are of all "
        "together, "
        "and times of operations add up over them. Each rank's own trace says more.";
  }
  for (const findings::Quality& quality : analysis_.quality) {
    if (quality.severity != findings::Severity::kHard) continue;
    text += fmt::format(" The trace is limited ({}); see the appendix.", Code(quality.code));
    break;
  }
  return text;
}

std::string Fair::Summary() const {
  const findings::Totals& totals = analysis_.totals;
  std::string text =
      "## Executive Summary\n\n" + WorkloadParagraph(analysis_) + SummaryParagraph() + "\n\n";
  if (!totals.has_gpu_work) return text;
  MarkdownTable metrics({"Metric", "Value"});
  const analysis::TimeFrames& frames = analysis_.frames->frames;
  if (frames.step_ns > 0 && !frames.steps.empty()) {
    metrics.Row(
        {frames.steps.size() == 1 ? "Step" : "Step (mean)", FrameMs(frames.step_ns) + " ms"});
  }
  metrics.Row({"Recorded", FrameMs(frames.whole.total_ns) + " ms"});
  metrics.Row({"Total Time", Ms(totals.window_ms)});
  metrics.Row(
      {"Total Compute Time", fmt::format("{} ({})", Ms(totals.computation_ms),
                                         PctOrDash(totals.Percent(totals.computation_ms)))});
  metrics.Row({"GPU Utilization", PctOrDash(totals.Percent(totals.busy_ms))});
  if (totals.Percent(totals.exposed_comm_ms).value_or(0) >= kMovingShown)
    metrics.Row({"Exposed Communication", PctOrDash(totals.Percent(totals.exposed_comm_ms))});
  if (analysis_.wall.together_ms) {
    metrics.Row({"Possible saving, all together",
                 fmt::format("{} ({}) of wall time", RangeMs(*analysis_.wall.together_ms),
                             Pct(analysis_.wall.together_ms->mid / analysis_.wall.wall_ms * 100))});
  } else if (analysis_.combined.savings_ms.high > 0) {
    metrics.Row({"Possible saving, all together",
                 fmt::format("{} ({})", RangeMs(analysis_.combined.savings_ms),
                             analysis_.combined.percent ? RangePct(*analysis_.combined.percent)
                                                        : std::string(kAbsentText))});
  }
  text += metrics.text() + "\n### Top Bottlenecks\n\n";
  MarkdownTable table({"Rank", "Operation", "Time", "% Compute"});
  int rank = 0;
  for (const findings::Operation* op : TopOperations(analysis_, kBottlenecks)) {
    table.Row(
        {fmt::format("{}", ++rank), Code(op->name, 80), Ms(op->gpu_us / 1000),
         IsCommunication(*op) ? std::string(kAbsentText) : PctOrDash(op->percent_of_computation)});
  }
  return text + table.text() +
         fmt::format("\n![Where the time goes, and what could be saved]({})\n\n", kChartFile);
}

// What the reader has to know before any figure, and how far savings of wall time can be believed.
std::string Fair::Trust() const {
  if (!analysis_.totals.has_gpu_work) return "";
  constexpr std::size_t kTold = 2;
  std::string text;
  const auto leading = findings::LeadingQualities(analysis_.quality);
  for (std::size_t i = 0; i < std::min(kTold, leading.size()); ++i) {
    const findings::Quality& one = *leading[i];
    text += fmt::format("- {} ({})", CellOfText(one.text), findings::ShareOf(one));
    if (!one.consequence.empty()) text += " " + CellOfText(one.consequence);
    if (!one.record.empty()) text += " Record next: " + CellOfText(one.record) + ".";
    text += "\n";
  }
  const findings::WallBase& wall = analysis_.wall;
  if (!wall.known) {
    text += "- Savings are of GPU time: " + CellOfText(wall.why_not) + "\n";
  } else {
    text += fmt::format(
        "- Savings are of wall time: the trace's dependencies replayed with the change made "
        "(replayed unchanged it is off by {}; {} of the host's waits are explained{}).",
        Pct(std::abs(wall.replay_error_percent)), Pct(wall.matched_waits_percent),
        wall.wall_ms < wall.recorded_ms
            ? fmt::format("; of {} recorded {} are without the profiler's cost and unrecorded "
                          "work: that is "
                          "what savings are of",
                          Ms(wall.recorded_ms), Ms(wall.wall_ms))
            : "");
    text += "\n";
  }
  return "## How far to trust it\n\n" + text + "\n---\n\n";
}

std::string Fair::Card(const findings::Finding& finding) const {
  const FindingText text = TextOf(analysis_, finding, sources_.edits);
  const std::optional<findings::Range> additional = AdditionalOf(finding);
  std::string card = fmt::format("### {} Priority {}: {}\n\n", Icon(finding.global_rank),
                                 finding.global_rank, text.title);
  card += fmt::format("**Issue**: {}  \n", text.insight);
  card += fmt::format("**Action**: {}  \n", text.action);
  card += fmt::format("**Path A** (the model may change): {}  \n", text.path_a);
  card += fmt::format("**Path B** (the torch code stays): {}  \n", text.path_b);
  card += fmt::format("**Impact**: {} Class {}.  \n",
                      ImpactSentence(analysis_, finding, additional ? &*additional : nullptr),
                      findings::PriorityText(finding.priority));
  card += fmt::format("\xE2\x86\x92 *See [Detailed Analysis: {}](#{}) for details*\n\n",
                      CellOfText(finding.category_name), Anchor(finding.id));
  return card;
}

std::string Fair::Recommendations() const {
  std::string text = "## Recommendations\n\n";
  if (analysis_.findings.empty()) {
    return text + NothingText(analysis_) + "\n\n";
  }
  MarkdownTable more({"Priority", "Finding", "Path A", "Path B", "Possible saving"});
  for (std::size_t i = 0; i < analysis_.findings.size(); ++i) {
    const findings::Finding& finding = analysis_.findings[i];
    if (i < kCardsMax) {
      text += Card(finding);
      continue;
    }
    const FindingText words = TextOf(analysis_, finding, sources_.edits);
    const std::optional<findings::Range> additional = AdditionalOf(finding);
    more.Row({fmt::format("[{}](#{})", finding.global_rank, Anchor(finding.id)), words.title,
              words.path_a, words.path_b,
              WallCell(finding)    ? *WallCell(finding)
              : additional         ? RangeMs(*additional)
              : finding.savings_ms ? RangeMs(*finding.savings_ms)
                                   : std::string(kAbsentText)});
  }
  if (!more.empty()) text += "### Further findings\n\n" + more.text() + "\n";
  return text;
}

std::string Fair::FindingBlock(const findings::Finding& finding) const {
  const FindingText text = TextOf(analysis_, finding, sources_.edits);
  std::string block = AnchorTag(finding.id) +
                      fmt::format("#### Priority {}: {}\n\n", finding.global_rank, text.title);
  block += NumbersTable(analysis_, finding, AdditionalOf(finding));
  if (finding.tier == findings::Tier::kSystem) block += EvidenceTable(finding);
  block += InnerKernels(analysis_, finding);
  block += PatternTable(finding);
  block += Paragraph(text.reasoning) + Paragraph(text.resolution);
  if (!finding.overlaps_with.empty()) {
    std::string others;
    for (const std::string& other : finding.overlaps_with)
      others += fmt::format("{}[{}](#{})", others.empty() ? "" : ", ", other, Anchor(other));
    block += "Claims some of the same kernels as " + others + ".\n\n";
  }
  block += CallSites(analysis_, finding);
  return block + ProjectionTable(finding, analysis_);
}

std::string Fair::CategorySection(const findings::CategoryAnalysis& category) {
  std::string text = Heading(CellOfText(category.display_name));
  std::vector<const findings::Operation*> shown;
  const std::vector<const findings::Finding*> findings = FindingsOf(category.key);
  for (const findings::Operation& operation : category.operations) {
    const bool member =
        std::any_of(findings.begin(), findings.end(), [&](const findings::Finding* finding) {
          return std::find(finding->members.begin(), finding->members.end(), operation.id) !=
                 finding->members.end();
        });
    const bool large =
        operation.percent_of_total.value_or(0) >= findings::limits::kSignificantShare;
    if (shown.size() < (member || large ? 2 * kOperationsShown : kOperationsShown)) {
      shown.push_back(&operation);
    }
  }
  text += OperationsTable(shown);
  if (shown.size() < category.operations.size()) {
    text += fmt::format("The longest are shown; all stand in `category_data/{}_ops.csv`.\n\n",
                        category.key);
  }
  for (const findings::Anomaly& anomaly : category.anomalies) {
    text += fmt::format(
        "Anomaly: {} measures more than its roof allows; verify platform, dtype and model before "
        "anything is read into it.\n\n",
        Code(anomaly.name, 80));
    break;
  }
  for (const findings::Finding* finding : findings)
    text += FindingBlock(*finding);
  if (findings.empty()) {
    text += "No finding.";
    for (const std::string& note : category.notes)
      text += " " + WarningText(note);
    text += "\n\n";
  }
  return text;
}

std::string Fair::SystemSection(std::string_view title, std::string_view category,
                                const std::string& tables) {
  const std::vector<const findings::Finding*> findings = FindingsOf(category);
  if (findings.empty() && tables.empty()) return "";
  std::string text = Heading(title) + tables;
  for (const findings::Finding* finding : findings)
    text += FindingBlock(*finding);
  return text;
}

std::string Fair::Details() {
  std::string text = "## Detailed Analysis\n\n";
  text += Heading("Where the time goes") + PhaseTable(analysis_) + ReplayTable(analysis_) +
          WallTable(analysis_) + TimeTable(analysis_) + CategoryTable(analysis_);
  for (const findings::CategoryAnalysis& category : analysis_.categories) {
    const bool large = category.percent_of_computation.value_or(0) >= kCategoryShown;
    if (large || !FindingsOf(category.key).empty()) text += CategorySection(category);
  }
  const findings::IdleAnalysis& idle = analysis_.idle;
  std::string idle_text = IdleTables(analysis_);
  if (!idle.reliable && idle.has_gpu_work) {
    idle_text += "Gaps are not reliable here: " + WarningText(idle.unreliable_because) + "\n\n";
  }
  text += SystemSection("Idle time", "cpu_idle", idle_text);
  const findings::Totals& totals = analysis_.totals;
  const bool moves =
      totals.Percent(totals.exposed_comm_ms + totals.exposed_copy_ms).value_or(0) >= kMovingShown ||
      analysis_.multi_kernel.comm_count > 0;
  text += SystemSection("Communication and copies", "multi_kernel",
                        moves ? MultiKernelTables(analysis_) : "");
  text += SystemSection("Fusion opportunities", "kernel_fusion", FusionTables(analysis_, 20));
  return text;
}

std::string Fair::Appendix() const {
  std::string text = "## Appendix\n\n### Hardware Reference\n\n" + HardwareTable(sources_);
  text += "### Workload\n\n" + WorkloadTable(analysis_);
  text += "### Replay Artifacts\n\n";
  if (sources_.replay_files.empty()) {
    std::string rows;
    for (const findings::Finding& finding : analysis_.findings) {
      if (!finding.replay_recommended) continue;
      for (std::size_t i = 0; i < finding.row_ids.size() && i < 3; ++i)
        rows += (rows.empty() ? "" : ", ") + Code(finding.row_ids[i]);
    }
    text += rows.empty()
                ? "None is recommended: no finding is both large and far from its roof.\n\n"
                : "Not made yet. Recommended: `make_replay` with rows " + rows + ".\n\n";
  } else {
    for (const std::string& file : sources_.replay_files)
      text += fmt::format("- [{}]({})\n", file, file);
    text += "\n";
  }
  text += "### Files\n\n";
  for (const findings::CategoryAnalysis& category : analysis_.categories) {
    if (category.findings.empty()) continue;
    text += fmt::format(
        "- [category_findings/{0}_findings.md](category_findings/{0}_findings.md)\n", category.key);
  }
  for (const auto& [report, file] :
       {std::pair{"analysis", kAnalysisFile}, std::pair{"rough", kRoughFile}}) {
    const auto& there = sources_.reports;
    if (std::find(there.begin(), there.end(), report) != there.end()) {
      text += fmt::format("- [{0}]({0})\n", file);
    }
  }
  text += "\n";
  const std::string quality = QualityTable(analysis_);
  if (!quality.empty()) text += "### Trace quality\n\n" + quality;
  text += "### What this trace cannot show\n\n";
  MarkdownTable limits({"Not observable", "Why", "Instead"});
  for (const ClaimRule& rule : ClaimRules()) {
    if (rule.why.starts_with("Needs")) {
      limits.Row({std::string(rule.what), std::string(rule.why), std::string(rule.instead)});
    }
  }
  return text + limits.text();
}

}  // namespace

std::string RenderFair(const ReportSources& sources) {
  return Fair(sources).Render();
}

}  // namespace jarvis::documents
