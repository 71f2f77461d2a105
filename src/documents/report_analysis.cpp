#include "documents/report_analysis.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "documents/added_prose.h"
#include "documents/base_text.h"
#include "documents/category_table.h"
#include "documents/cpu_text.h"
#include "documents/impact_text.h"
#include "documents/markdown_text.h"
#include "documents/remedy_text.h"
#include "documents/report_parts.h"
#include "documents/report_tables.h"
#include "documents/same_action.h"

namespace jarvis::documents {
namespace {

struct TierWords {
  findings::Tier tier;
  std::string_view name;     // in markers
  std::string_view heading;  // of the details
};
constexpr TierWords kTiers[] = {{findings::Tier::kCompute, "compute", "Compute Kernel Insights"},
                                {findings::Tier::kFusion, "fusion", "Kernel Fusion Insights"},
                                {findings::Tier::kSystem, "system", "System-Level Insights"}};

std::string TwoDecimals(double value) {
  return fmt::format("{:.2f}", value);
}

// "low=1.20 mid=2.00 high=2.40"; nothing told: null.
std::string Marks(const std::optional<findings::Range>& impact) {
  if (!impact) return "low=null mid=null high=null";
  return fmt::format("low={} mid={} high={}", TwoDecimals(impact->low), TwoDecimals(impact->mid),
                     TwoDecimals(impact->high));
}

// Nothing where there is nothing to say.
std::string Bold(std::string_view label, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("**{}**: {}\n\n", label, text);
}

std::string WithSaving(const std::string& path, const std::string& saves) {
  return saves.empty() ? path : path + " " + saves;
}

std::string Library(const findings::Finding& finding) {
  if (finding.tier != findings::Tier::kCompute || finding.library.empty()) return "";
  return fmt::format(" ({})", CellOfText(finding.library));
}

std::string DetailAnchor(const TierWords& tier, int number) {
  return fmt::format("detailed-analysis-{}-p{}", tier.name, number);
}

const TierWords& WordsOf(findings::Tier tier) {
  return *std::find_if(std::begin(kTiers), std::end(kTiers),
                       [&](const TierWords& words) { return words.tier == tier; });
}

class Cards {
 public:
  explicit Cards(const ReportSources& sources) : sources_(sources), analysis_(sources.analysis) {
    for (const findings::Finding& finding : analysis_.findings)
      actions_.push_back(ActionHead(TextOf(analysis_, finding, sources_.edits).action));
  }

  // Its number is the plan's, as in all other documents.
  std::string Card(const findings::Finding& finding) const {
    const TierWords& tier = WordsOf(finding.tier);
    const int number = finding.global_rank;
    const FindingText text = TextOf(analysis_, finding, sources_.edits);
    std::string card = fmt::format("### {} P{}: {}{}\n\n", Icon(finding, number), number,
                                   text.title, Library(finding));
    card += Bold("Insight", text.insight) + Bold("Action", ActionText(finding, text));
    if (text.path_a != kNoPath) card += Bold("Path A", PathLine(analysis_, finding, text, 'A'));
    if (text.path_b != kNoPath || text.path_a == kNoPath)  // one of them is always there
      card += Bold("Path B", PathLine(analysis_, finding, text, 'B'));
    card += fmt::format("<!-- impact-begin kind=p_item category={} {} -->\n", finding.category,
                        Marks(finding.impact_percent));
    card += fmt::format("**Impact**: {}\n", Impact(finding));
    card += "<!-- impact-end -->\n\n";
    return card +
           fmt::format("\xE2\x86\x92 [Detailed analysis](#{})\n\n", DetailAnchor(tier, number));
  }

  std::string Detail(const findings::Finding& finding) const {
    const TierWords& tier = WordsOf(finding.tier);
    const int number = finding.global_rank;
    const FindingText text = TextOf(analysis_, finding, sources_.edits);
    std::string block = fmt::format("<a id=\"{}\"></a>\n", DetailAnchor(tier, number));
    block += fmt::format("<!-- reasoning-candidate tier={} rank={} -->\n", tier.name, number);
    block += fmt::format("#### {} P{}: {}\n\n", Icon(finding, number), number, text.title);
    block += Bold("Identification", text.identification);
    block += "**Data:**\n\n";
    if (finding.tier == findings::Tier::kCompute) block += MembersTable(finding);
    if (finding.tier == findings::Tier::kFusion) block += KernelsTable(finding);
    block += NumbersTable(analysis_, finding, std::nullopt);
    if (finding.tier == findings::Tier::kSystem) block += EvidenceTable(finding);
    block += InnerKernels(analysis_, finding);
    block += PatternTable(finding) + ProjectionTable(finding, analysis_);
    block += Bold("Reasoning for Slowdown", text.reasoning);
    block += Bold("Resolution", text.resolution);
    return block + Estimate(finding) + "\n";
  }

  // Of a tier, or of one category, by rank.
  std::vector<const findings::Finding*> Of(findings::Tier tier) const {
    std::vector<const findings::Finding*> found;
    for (const findings::Finding& finding : analysis_.findings) {
      if (finding.tier == tier) found.push_back(&finding);
    }
    return found;
  }
  std::vector<const findings::Finding*> Of(std::string_view category) const {
    std::vector<const findings::Finding*> found;
    for (const findings::Finding& finding : analysis_.findings) {
      if (finding.category == category) found.push_back(&finding);
    }
    return found;
  }

 private:
  // What is done: "Run once with X" of "Run once with X: it ...".
  static std::string ActionHead(const std::string& action) {
    const std::string clause = FirstClause(action);
    return clause.substr(0, clause.find(": "));
  }

  // One setting for two findings is one thing to do.
  std::string ActionText(const findings::Finding& finding, const FindingText& text) const {
    if (text.chosen == '\0' || finding.host != nullptr) return text.action;  // places differ
    const auto at = static_cast<std::size_t>(&finding - analysis_.findings.data());
    const auto first = std::find(actions_.begin(), actions_.end(), ActionHead(text.action));
    const auto before = static_cast<std::size_t>(first - actions_.begin());
    if (before >= at) return text.action;
    return fmt::format("As for priority {}: {}.", analysis_.findings[before].global_rank,
                       ActionHead(text.action));
  }

  // Nobody reads thousands of rows, and the tables have them all.
  std::string MembersTable(const findings::Finding& finding) const {
    const std::vector<const findings::Operation*> members = MembersOf(analysis_, finding);
    const std::size_t shown = std::min(members.size(), findings::kListedMost);
    std::string text = DataTable(std::span(members).first(shown));
    if (shown < members.size()) {
      text += fmt::format("The first {} of {} are shown; `category_data/{}_ops.csv` has all.\n\n",
                          shown, members.size(), finding.category);
    }
    return text;
  }

  std::string Impact(const findings::Finding& finding) const {
    if (finding.tier == findings::Tier::kSystem && !finding.impact_percent && !finding.bound_ms) {
      return "Not quantifiable from trace data";
    }
    return ImpactSentence(analysis_, finding, nullptr);
  }

  std::string KernelsTable(const findings::Finding& finding) const {
    MarkdownTable table({"Kernel", "Type", "Duration (us)", "Perf model"});
    for (const findings::FusionCandidate& candidate : analysis_.fusion.candidates) {
      if (finding.members.empty() || candidate.id != finding.members[0]) continue;
      for (const findings::FusionKernel& kernel : candidate.kernels) {
        table.Row({Code(analysis::ShortKernelName(kernel.name)), Code(kernel.op, 60),
                   Digits(kernel.mean_us), kernel.bytes ? "yes" : "no"});
      }
      MarkdownTable whole({"Instances", "Kernels each", "Data flow", "Confidence"});
      whole.Row(
          {fmt::format("{}", candidate.instances), fmt::format("{}", candidate.kernels.size()),
           std::string(findings::DependencyText(candidate.dependency)), candidate.confidence});
      return table.text() + "\n" + whole.text() + "\n";
    }
    return table.text() + "\n";
  }

  static std::string Estimate(const findings::Finding& finding) {
    if (!finding.impact_percent) {
      return "**Impact estimate:** not quantifiable from trace data\n";
    }
    const findings::Range& impact = *finding.impact_percent;
    return fmt::format(
        "**Impact estimate:**\n\n<!-- impact-begin kind=detail_estimate low={0} high={1} -->\n"
        "| Estimate | impact_score (% E2E) |\n| --- | --- |\n| Low end | {0} |\n| High end | {1} "
        "|\n<!-- impact-end -->\n",
        TwoDecimals(impact.low), TwoDecimals(impact.high));
  }

  const ReportSources& sources_;
  const findings::Analysis& analysis_;
  std::vector<std::string> actions_;  // of the findings, as far as they say what is done
};

std::string TopCategory(const findings::Analysis& analysis) {
  if (analysis.categories.empty()) return std::string(kAbsentText);
  const findings::CategoryAnalysis& top = *std::max_element(
      analysis.categories.begin(), analysis.categories.end(), [](const auto& a, const auto& b) {
        return a.percent_of_computation.value_or(0) < b.percent_of_computation.value_or(0);
      });
  return fmt::format("{} ({})", CellOfText(top.display_name),
                     PctOrDash(top.percent_of_computation));
}

std::string Summary(const ReportSources& sources) {
  const findings::Analysis& analysis = sources.analysis;
  const findings::Totals& totals = analysis.totals;
  std::string text = "## Executive Summary\n\n";
  if (analysis.cpu) {
    text += CpuSentence(analysis) + "\n\n" + CpuTable(analysis);
  } else if (!totals.has_gpu_work) {
    text += "The trace has no GPU work, so nothing can be said about the GPU.\n\n";
  } else {
    text += BaseSentence(analysis);
    text += analysis.findings.empty()
                ? " " + NothingText(analysis)
                : fmt::format(" Priority 1: {}.",
                              TextOf(analysis, analysis.findings[0], sources.edits).title);
    text += fmt::format(
        " The table below covers the whole recording, {} from the first to the last GPU "
        "operation.\n\n",
        Ms(totals.window_ms));
  }
  MarkdownTable table({"Metric", "Value"});
  table.Row({"Total Time", totals.has_gpu_work ? Ms(totals.window_ms) : std::string(kAbsentText)});
  table.Row({"Compute %", PctOrDash(totals.Percent(totals.computation_ms))});
  table.Row({"Idle %", PctOrDash(totals.Percent(totals.idle_ms))});
  table.Row({"Exposed Communication %", PctOrDash(totals.Percent(totals.exposed_comm_ms))});
  table.Row({"Top Bottleneck Category", TopCategory(analysis)});
  return text + table.text() +
         fmt::format("\n![Where the time goes, and what could be saved]({})\n\n", kChartFile);
}

std::string Warnings(const findings::Analysis& analysis) {
  MarkdownTable table({"Code", "What it means"});
  for (const findings::Quality& quality : analysis.quality) {
    if (quality.severity == findings::Severity::kNote) continue;
    table.Row({Code(quality.code), CellOfText(quality.text)});
  }
  return table.empty() ? "" : "## Warnings\n\n" + table.text() + "\n";
}

// Without the copies of its ops, which are no part of the computing time.
double ComputingMs(const findings::Analysis& analysis, const findings::CategoryPriority& row) {
  if (!row.percent_of_computation) return row.gpu_ms;
  return std::min(row.gpu_ms, *row.percent_of_computation / 100 * analysis.totals.computation_ms);
}

std::string TopOps(const findings::Analysis& analysis) {
  std::string text = "### Top Operations\n\n";
  if (!analysis.priorities.empty())
    text += "Sorted by what the category's recommendations save, then by GPU time.\n\n";
  text += "<!-- impact-begin kind=top_ops -->\n";
  text +=
      "| Rank | Category | Time (ms) | % of Compute Time | Ops |\n| --- | --- | --- | --- | --- "
      "|\n";
  for (const findings::CategoryPriority& row : analysis.priorities) {
    text += fmt::format("| {} | {} | {} | {} | {} | <!-- top-ops-row low={} high={} -->\n",
                        row.rank, CellOfText(row.display_name), Digits(ComputingMs(analysis, row)),
                        PctOrDash(row.percent_of_computation), row.operations,
                        row.impact_percent ? TwoDecimals(row.impact_percent->low) : "null",
                        row.impact_percent ? TwoDecimals(row.impact_percent->high) : "null");
  }
  return text + "<!-- impact-end -->\n\n";
}

// What other sections have found to fuse, where this one has nothing: "priorities 2 and 4".
std::string NoFusion(const findings::Analysis& analysis) {
  constexpr findings::Pattern kFused[] = {
      findings::Pattern::kShortKernelChain,  findings::Pattern::kEagerChains,
      findings::Pattern::kPassesInARow,      findings::Pattern::kEpilogueLeft,
      findings::Pattern::kUnfusedAttention,  findings::Pattern::kUnfusedChains,
      findings::Pattern::kUnfusedNorm,       findings::Pattern::kUnfusedRotary,
      findings::Pattern::kUnfusedActivation, findings::Pattern::kUnderFused};
  std::vector<std::string> ranks;
  for (const findings::Finding& finding : analysis.findings) {
    const bool fuses = std::ranges::any_of(finding.patterns, [&](const auto& hit) {
      return std::ranges::find(kFused, hit.pattern) != std::end(kFused);
    });
    if (fuses) ranks.push_back(fmt::format("{}", finding.global_rank));
  }
  if (ranks.empty()) return "No kernel fusion opportunities detected.";
  return fmt::format("No further kernel fusion opportunities detected; see {} {}.",
                     ranks.size() == 1 ? "priority" : "priorities", Enumerated(ranks));
}

// What other sections have found for kernels, where this one has nothing.
std::string NoKernels(const findings::Analysis& analysis) {
  constexpr std::string_view kNone = "compute kernel optimization opportunities identified";
  if (analysis.findings.empty()) return fmt::format("No {}. {}", kNone, NothingText(analysis));
  std::vector<std::string> ranks;
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.tier != findings::Tier::kCompute && !finding.lines.work.empty() && !finding.minor)
      ranks.push_back(fmt::format("{}", finding.global_rank));
  }
  if (ranks.empty()) return fmt::format("No {}.", kNone);
  return fmt::format("No further {}; see {} {}.", kNone,
                     ranks.size() == 1 ? "priority" : "priorities", Enumerated(ranks));
}

std::string TierSection(const Cards& cards, findings::Tier tier, std::string_view none) {
  std::string text;
  for (const findings::Finding* finding : cards.Of(tier))
    text += cards.Card(*finding);
  return text.empty() ? std::string(none) + "\n\n" : text;
}

// The first part of a findings file, in the users' format.
std::string UsersPart(const ReportSources& sources, const findings::CategoryAnalysis& category,
                      const std::vector<const findings::Finding*>& findings) {
  const std::string name = CellOfText(category.display_name);
  std::string text = fmt::format("# {} Analysis Summary\n\n## Overview\n\n", name);
  text += fmt::format("{} operations account for {} of compute time. ", name,
                      PctOrDash(category.percent_of_computation));
  text += category.efficiency
              ? fmt::format("Average efficiency: {}.\n\n", Pct(*category.efficiency))
              : std::string("Average efficiency: not known.\n\n");
  MarkdownTable table({"Metric", "Value"});
  table.Row({"Time", Ms(category.gpu_us / 1000)});
  table.Row({"Share of compute time", PctOrDash(category.percent_of_computation)});
  table.Row({"Average efficiency", PctOrDash(category.efficiency)});
  table.Row({"Time with a roof", Ms(category.modeled_us / 1000)});
  table.Row({"Calls", fmt::format("{}", category.calls)});
  for (const findings::Fact& fact : category.specifics)
    table.Row({Words(fact.key), FactText(fact)});
  text += table.text() + "\n## Key Bottlenecks\n\n";
  int number = 0;
  for (const findings::Finding* finding : findings) {
    if (++number > 5) break;
    const FindingText words = TextOf(sources.analysis, *finding, sources.edits);
    text += fmt::format("### {}. {}\n\n", number, SubjectText(*finding));
    text += fmt::format("- **Time:** {} ({} of compute)\n", Ms(finding->time_ms),
                        PctOrDash(finding->percent_of_computation));
    text +=
        fmt::format("- **Efficiency:** {}\n",
                    finding->efficiency ? Pct(*finding->efficiency) + " of peak MAF or bandwidth"
                                        : "not known");
    text += fmt::format(
        "- **Issue:** {}\n- **Path A:** {}\n- **Path B:** {}\n- **Priority:** {}\n\n",
        words.insight, WithSaving(words.path_a, words.saves_a),
        WithSaving(words.path_b, words.saves_b), findings::PriorityText(finding->priority));
  }
  if (findings.empty()) text += "None.\n\n";
  return text;
}

std::string UsersNotes(const levers::Fixes& texts, const findings::CategoryAnalysis& category) {
  std::string text = "## Additional Notes\n\n";
  std::string missing;
  for (const findings::Operation& operation : category.operations) {
    if (operation.has_model) continue;
    missing += (missing.empty() ? "" : ", ") + Code(operation.name, 60);
    if (missing.size() > 400) break;
  }
  text += "- Missing perf models: " + (missing.empty() ? "none" : missing) + "\n";
  for (const findings::PatternHit& hit : category.patterns)
    text += fmt::format("- Pattern: {}\n", texts.Of(hit.pattern).what);
  for (const std::string& note : category.notes)
    text += "- " + WarningText(note) + "\n";
  for (const findings::Anomaly& anomaly : category.anomalies) {
    text += fmt::format("- Anomaly: {} measures more than its roof allows; verify before use\n",
                        Code(anomaly.name, 80));
  }
  return text + "\n";
}

std::string NoSystemFinding(const findings::Analysis& analysis, std::string_view key) {
  std::string text = "Nothing that is large enough to be a finding.";
  if (key == "kernel_fusion") {
    text = "No kernel fusion opportunities detected.";
    for (const std::string& note : analysis.fusion.notes)
      text += " " + WarningText(note);
  } else if (key == "cpu_idle" && !analysis.idle.reliable) {
    text += " Gaps are not reliable here: " + WarningText(analysis.idle.unreliable_because);
  }
  return text + "\n\n";
}

}  // namespace

std::string RenderCategoryFindings(const ReportSources& sources,
                                   const findings::CategoryAnalysis& category) {
  const Cards cards(sources);
  const std::vector<const findings::Finding*> findings = cards.Of(category.key);
  std::string text = UsersPart(sources, category, findings);
  std::vector<const findings::Operation*> shown;
  for (std::size_t i = 0; i < category.operations.size() && i < 10; ++i)
    shown.push_back(&category.operations[i]);
  text += UsersNotes(sources.analysis.Texts(), category) + "## Operations\n\n" +
          OperationsTable(sources.analysis, shown);
  std::string details;
  text += "## Recommendations\n\n";
  for (const findings::Finding* finding : findings) {
    text += cards.Card(*finding);
    details += cards.Detail(*finding);
  }
  return text + "## Detailed Analysis\n\n" + details;
}

std::string RenderSystemFindings(const ReportSources& sources, std::string_view key) {
  const Cards cards(sources);
  const findings::Analysis& analysis = sources.analysis;
  std::string text;
  if (analysis.cpu) {
    text = fmt::format("# {}\n\n", key == "cpu_idle" ? "CPU Analysis Summary"
                                                     : "Communication Analysis Summary") +
           CpuTable(analysis);
  } else if (key == "cpu_idle") {
    text = "# CPU / Idle Analysis Summary\n\n" + TimeTable(analysis) + IdleTables(analysis);
  } else if (key == "multi_kernel") {
    text =
        "# Multi-Kernel Analysis Summary\n\n" + TimeTable(analysis) + MultiKernelTables(analysis);
  } else {
    text = "# Kernel Fusion Analysis Summary\n\n" + FusionTables(analysis, 20);
  }
  if (cards.Of(key).empty()) text += NoSystemFinding(analysis, key);
  std::string details;
  text += "## Recommendations\n\n";
  for (const findings::Finding* finding : cards.Of(key)) {
    text += cards.Card(*finding);
    details += cards.Detail(*finding);
  }
  return text + "## Detailed Analysis\n\n" + details;
}

std::string RenderAnalysis(const ReportSources& sources) {
  const findings::Analysis& analysis = sources.analysis;
  const Cards cards(sources);
  std::string text =
      fmt::format("# {} - {} Standalone Analysis\n\n", ModelName(analysis), PlatformName(analysis));
  text += Summary(sources) + Warnings(analysis);
  text += "## Compute Kernel Optimizations\n\n" + TopOps(analysis);
  const bool judged = analysis.totals.has_gpu_work;
  text += TierSection(cards, findings::Tier::kCompute, NoKernels(analysis));
  text += "## Kernel Fusion Opportunities (Experimental)\n\n";
  text += TierSection(cards, findings::Tier::kFusion, NoFusion(analysis));
  text += "## System-Level Optimizations\n\n";
  text += TierSection(cards, findings::Tier::kSystem,
                      judged ? "\xE2\x9C\x85 No system-level bottlenecks detected."
                             : "No system-level bottlenecks can be told: there is no GPU work.");
  text += "## Detailed Analysis\n\n";
  for (const TierWords& tier : kTiers) {
    text += fmt::format("### {}\n\n", tier.heading);
    const auto findings = cards.Of(tier.tier);
    for (const findings::Finding* finding : findings)
      text += cards.Detail(*finding);
    if (findings.empty()) text += "None.\n\n";
  }
  text +=
      "## Appendix\n\n### Where the time goes\n\n" + TimeTable(analysis) + CategoryTable(analysis);
  text += "### Workload\n\n" + WorkloadTable(analysis);
  if (const std::string derived = DerivedTable(analysis); !derived.empty())
    text += "### Figures worked out of the tables\n\n" + derived;
  return text + "### Hardware Reference\n\n" + HardwareTable(sources);
}

}  // namespace jarvis::documents
