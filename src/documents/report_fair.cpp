#include "documents/report_fair.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/attribution/gpu_timeline.h"
#include "base/text.h"
#include "documents/added_prose.h"
#include "documents/base_text.h"
#include "documents/bottlenecks.h"
#include "documents/category_table.h"
#include "documents/cpu_text.h"
#include "documents/front.h"
#include "documents/impact_text.h"
#include "documents/lever_table.h"
#include "documents/markdown_text.h"
#include "documents/phase_table.h"
#include "documents/prose.h"
#include "documents/remedy_text.h"
#include "documents/replay_table.h"
#include "documents/report_parts.h"
#include "documents/report_tables.h"
#include "documents/saving_base.h"
#include "documents/time_parts.h"
#include "documents/trust_text.h"
#include "documents/validate.h"
#include "findings/one/advice_rules.h"
#include "findings/one/thresholds.h"
#include "findings/one/wall_plan.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kBottlenecks = 5;
constexpr double kSizeTold = 1;              // percent of the base that is told for its size
constexpr std::size_t kOperationsShown = 4;  // of a category
constexpr double kCategoryShown = 5;         // percent of the base, without a finding

// The section of the details that a finding stands in: that of its op's category, else of its kind.
std::string SectionOf(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.category == "cpu_idle")
    return analysis.cpu ? "The host's time" : "The host and idle time";
  if (finding.category == "kernel_fusion") return "Fusion opportunities";
  return MovesData(finding) ? "Communication and copies" : finding.category_name;
}

class Fair {
 public:
  explicit Fair(const ReportSources& sources)
      : sources_(sources), analysis_(sources.analysis), shown_(FindingsToShow(analysis_)) {}

  std::string Render() {
    std::string text = fmt::format("# {} - {} Standalone Analysis\n\n", ModelName(analysis_),
                                   PlatformName(analysis_));
    text += Summary() + "---\n\n" + Recommendations() + "---\n\n" + Details() + "---\n\n";
    return text + Appendix();
  }

 private:
  std::string Summary() const;
  std::string SummaryParagraph() const;
  std::string Trust() const;
  std::string FirstSentence() const;
  std::string Recommendations() const;
  std::vector<std::string> NothingRow() const;
  std::string Further() const;
  std::string BoundCell(const findings::Finding& finding) const;
  std::string Dismissed() const;
  std::string Card(const findings::Finding& finding) const;
  std::string Details();
  std::string CategorySection(const findings::CategoryAnalysis& category);
  std::string AnomalyText(const findings::Anomaly& anomaly) const;
  std::string FindingsSection(std::string_view title);
  std::string FindingBlock(const findings::Finding& finding) const;
  std::string Appendix() const;
  std::string Heading(std::string_view title) {
    return fmt::format("### {}. {}\n\n", ++sections_, title);
  }
  FindingText WordsOf(const findings::Finding& finding) const {
    return TextOf(analysis_, finding, sources_.edits);
  }
  // The first of those whose action does this one's, too.
  const findings::Finding& HeadOf(const findings::Finding& finding) const {
    for (const ActionGroup& group : shown_.groups) {
      if (std::find(group.begin(), group.end(), &finding) != group.end()) return *group.front();
    }
    return finding;
  }
  // The host hides what it saves, yet it takes a part of the step that a reader asks about.
  bool ToldForItsSize(const findings::Finding& finding) const {
    return ShowsLater(finding) && analysis_.base.Percent(finding.OwnMs()) >= kSizeTold;
  }
  bool HasCard(const findings::Finding& finding) const {
    return static_cast<std::size_t>(&finding - analysis_.findings.data()) < shown_.cards;
  }
  // Findings of a section that have cards, as they stand in the ranking.
  std::vector<const findings::Finding*> CardsOf(std::string_view section) const {
    std::vector<const findings::Finding*> found;
    for (const findings::Finding& finding : analysis_.findings) {
      if (HasCard(finding) && SectionOf(analysis_, finding) == section) found.push_back(&finding);
    }
    return found;
  }

  const ReportSources& sources_;
  const findings::Analysis& analysis_;
  const ShownFindings shown_;  // findings with a card
  int sections_ = 0;
};

std::string Fair::SummaryParagraph() const {
  const std::string text = fmt::format("{}", fmt::join(SummarySentences(analysis_), " "));
  return analysis_.findings.empty() ? text : text + FirstSentence();
}

// How many bottlenecks there is room for below the lines of a summary, whose heading is none.
std::size_t BottlenecksBelow(const std::string& summary) {
  constexpr std::size_t kTableHead = 3;  // its heading, columns and rule
  std::size_t lines = 0;
  for (std::string_view rest = summary; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (!line.empty()) ++lines;
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  const std::size_t taken = lines - 1 + kTableHead;
  return taken < limits::kSummaryLines ? std::min(kBottlenecks, limits::kSummaryLines - taken) : 0;
}

std::string Fair::Summary() const {
  std::string text =
      "## Executive Summary\n\n" + WorkloadParagraph(analysis_) + SummaryParagraph() + "\n\n";
  if (!analysis_.cpu && !analysis_.totals.has_gpu_work) return text;
  text += analysis_.cpu ? CpuTable(analysis_) : WallTimeTable(analysis_);
  const std::size_t shown = BottlenecksBelow(text);
  text += "### Top Bottlenecks\n\n";
  return text +
         (analysis_.cpu ? CpuOperations(analysis_, shown) : BottleneckTable(analysis_, shown));
}

std::string Fair::Trust() const {
  if (!analysis_.totals.has_gpu_work && !analysis_.cpu) return "";
  const std::string text = TrustList(analysis_);
  return text.empty() ? text : "### How far to trust it\n\n" + text + "\n";
}

// What comes first and how much it is; what to do about it stands in the table.
std::string Fair::FirstSentence() const {
  constexpr std::size_t kFirst = 3;
  constexpr double kAsAlone = 0.9;  // what is left of a saving and still told as its own
  std::string text;
  std::size_t told = 0;
  for (const ActionGroup& group : shown_.groups) {
    if (told == kFirst) break;
    const findings::Finding& finding = *group.front();
    const findings::WallSaving* best = findings::BestWall(finding);
    const FindingText words = WordsOf(finding);
    if ((best == nullptr && !finding.bound_ms) || words.chosen == '\0') continue;
    if (IsPaidOnce(finding)) continue;
    ++told;
    const std::string saves =
        best == nullptr
            ? "at most " + EachMs(analysis_, BoundOfAction(finding, words.chosen == 'B'))
        : finding.one_off  ? Ms(OnceMs(finding)) + " once"
        : group.size() > 1 ? SumRange(analysis_, AfterOf(group))
                           : LikelyAfter(analysis_, *best);
    const bool less = best != nullptr && !finding.one_off && group.size() == 1 &&
                      best->after_others_ms < kAsAlone * best->ms.mid;
    std::string ranks;
    for (const findings::Finding* one : group)
      ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", one->global_rank);
    text += fmt::format("{}({}) {}, {}{}", told == 1 ? " First: " : "; ", ranks,
                        FirstClause(words.action), saves,
                        less ? " once the previous ones are done" : "");
  }
  return text.empty() ? text : text + ".";
}

// Of a finding that stands in the row of one before it.
std::string SameAction(const findings::Finding& head) {
  return fmt::format("The same as for priority {}.", head.global_rank);
}

std::string Fair::Card(const findings::Finding& finding) const {
  const FindingText text = WordsOf(finding);
  const findings::Finding& head = HeadOf(finding);
  std::string card = fmt::format("### {} Priority {}: {}\n\n", Icon(finding, finding.global_rank),
                                 finding.global_rank, text.title);
  card += fmt::format("**Issue**: {}  \n", text.insight);
  card += fmt::format("**Action**: {}  \n", &head == &finding ? text.action : SameAction(head));
  if (text.path_a != kNoPath)
    card += fmt::format("**Path A** (the model's code may change): {}  \n",
                        PathLine(analysis_, finding, text, 'A'));
  if (text.path_b != kNoPath || text.path_a == kNoPath)  // one of them is always there
    card += fmt::format("**Path B** (the model stays as it is): {}  \n",
                        PathLine(analysis_, finding, text, 'B'));
  card += fmt::format("**Impact**: {}  \n", ImpactSentence(analysis_, finding, nullptr));
  card += fmt::format("\xE2\x86\x92 *See [Detailed Analysis: {}](#{}) for details*\n\n",
                      CellOfText(SectionOf(analysis_, finding)), Anchor(finding.id));
  return card;
}

// Of what has a bound and no saving.
std::string Fair::BoundCell(const findings::Finding& finding) const {
  constexpr double kNothing = 0.005;  // of the steps
  if (!finding.bound_ms) return std::string(kAbsentText);
  if (*finding.bound_ms >= kNothing * analysis_.wall.wall_ms)
    return "at most " + EachMs(analysis_, BoundOfAction(finding, TakesPathB(finding)));
  return fmt::format("almost nothing alone; at most {} of GPU time",
                     EachMs(analysis_, finding.exclusive_ms));
}

// What saves next to nothing once those above are done, in one row: nobody is to do it first.
std::vector<std::string> Fair::NothingRow() const {
  std::vector<std::string> ranks, titles, alone;
  for (std::size_t i = shown_.cards; i < analysis_.findings.size(); ++i) {
    const findings::Finding& finding = analysis_.findings[i];
    if (!LeavesNothing(analysis_, finding) || ToldForItsSize(finding)) continue;
    ranks.push_back(fmt::format("{}", finding.global_rank));
    titles.push_back(WordsOf(finding).title);
    alone.push_back(AloneText(analysis_, finding));
  }
  if (ranks.size() < 2) return {};  // by itself it has its own, with its way out
  return {fmt::format("{}", fmt::join(ranks, ", ")), fmt::format("{}", fmt::join(titles, "; ")),
          std::string(kAbsentText), fmt::format("{}", fmt::join(alone, ", ")), "almost nothing"};
}

std::string Fair::Further() const {
  const std::vector<std::string> nothing = NothingRow();
  MarkdownTable more(
      {"Priority", "Finding", "Fix", SavingTitle(analysis_), std::string(kExtraSavingTitle)});
  std::size_t left = 0;
  for (std::size_t i = shown_.cards; i < analysis_.findings.size(); ++i) {
    const findings::Finding& finding = analysis_.findings[i];
    if (!nothing.empty() && LeavesNothing(analysis_, finding) && !ToldForItsSize(finding)) continue;
    if (more.rows() == limits::kFurtherFindings) {
      ++left;
      continue;
    }
    const findings::WallSaving* best = findings::BestWall(finding);
    const FindingText words = WordsOf(finding);
    more.Row({fmt::format("{}", finding.global_rank), words.title,
              TakesPathB(finding) ? words.path_b : words.path_a,
              best == nullptr   ? BoundCell(finding)
              : finding.one_off ? OnceCell(finding)
                                : AloneText(analysis_, finding),
              best == nullptr || finding.one_off  ? std::string(kAbsentText)
              : LeavesNothing(analysis_, finding) ? "almost nothing"
                                                  : AfterRange(analysis_, *best)});
  }
  if (!nothing.empty()) more.Row(nothing);
  if (more.empty()) return "";
  std::string text = "### Further findings\n\n" + more.text() + "\n";
  if (left > 0)
    text += fmt::format("{} more stand in `priority_data.json`.\n\n", Calls(left, "findings"));
  return text;
}

std::string Fair::Dismissed() const {
  MarkdownTable table({"Finding", "Left out because"});
  for (const findings::DismissedFinding& one : analysis_.dismissed)
    table.Row({WordsOf(one.finding).title, CellOfText(one.reason)});
  std::string text;
  if (!analysis_.order_because.empty())
    text = fmt::format("The order was chosen: {}\n\n", analysis_.order_because);
  if (table.empty()) return text;
  return text + "### Findings that were dismissed\n\n" + table.text() + "\n";
}

std::string Fair::Recommendations() const {
  std::string text = "## Recommendations\n\n";
  if (analysis_.findings.empty())
    return text + NothingText(analysis_) + "\n\n" + Trust() + Dismissed();
  text += FixTable(analysis_, FixRows(analysis_, sources_.edits, shown_.groups, shown_.cards)) +
          Trust();
  for (std::size_t i = 0; i < shown_.cards; ++i)
    text += Card(analysis_.findings[i]);
  return text + Further() + Dismissed();
}

std::string Fair::FindingBlock(const findings::Finding& finding) const {
  const FindingText text = WordsOf(finding);
  std::string block = AnchorTag(finding.id) +
                      fmt::format("#### Priority {}: {}\n\n", finding.global_rank, text.title);
  block += FiguresTable(analysis_, finding);
  block += PlacesTable(analysis_, finding);
  block += InnerKernels(analysis_, finding);
  return block + CallSites(analysis_, finding);
}

// Which row it is, by how much, and what that usually is.
std::string Fair::AnomalyText(const findings::Anomaly& anomaly) const {
  const findings::Operation* operation = analysis_.FindOperation(anomaly.operation);
  if (operation == nullptr) return "";
  std::string args = CellOfText(operation->args);
  args = args.substr(0, args.find("<br>"));
  return fmt::format(
      "Anomaly: {} {} takes {} {}, less than its roofline allows: it probably does not read or "
      "compute all of its operands (a window, a mask, a broadcast), so it has no rate and no "
      "saving.\n\n",
      Code(operation->name, 80), args, EachMs(analysis_, OwnMs(*operation)), UnitPhrase(analysis_));
}

std::string Fair::CategorySection(const findings::CategoryAnalysis& category) {
  std::string text = Heading(CellOfText(category.display_name));
  const std::vector<const findings::Finding*> findings = CardsOf(category.display_name);
  std::unordered_set<std::string_view> told;  // ids of the operations that findings are about
  for (const findings::Finding* finding : findings)
    told.insert(finding->members.begin(), finding->members.end());
  std::vector<const findings::Operation*> shown;
  // What findings are about goes first, then what takes most.
  for (const bool members : {true, false}) {
    for (const findings::Operation& operation : category.operations) {
      if (shown.size() == kOperationsShown) break;
      if ((told.count(operation.id) != 0) == members) shown.push_back(&operation);
    }
  }
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto* a, const auto* b) { return a->gpu_us > b->gpu_us; });
  text += OperationsTable(analysis_, shown);
  for (const findings::Anomaly& anomaly : category.anomalies) {
    if (analysis_.base.Percent(anomaly.time_ms) < kSizeTold) continue;
    text += AnomalyText(anomaly);
    break;
  }
  for (const findings::Finding* finding : findings)
    text += FindingBlock(*finding);
  return text;
}

std::string Fair::FindingsSection(std::string_view title) {
  const std::vector<const findings::Finding*> findings = CardsOf(title);
  if (findings.empty()) return "";
  std::string text = Heading(CellOfText(title));
  for (const findings::Finding* finding : findings)
    text += FindingBlock(*finding);
  return text;
}

std::string Fair::Details() {
  std::string text = "## Detailed Analysis\n\n";
  text += Heading("Where the time goes") + PhaseTable(analysis_) + ReplayTable(analysis_) +
          CategoryTable(analysis_);
  std::set<std::string, std::less<>> done;
  for (const findings::CategoryAnalysis& category : analysis_.categories) {
    const bool large = analysis_.base.Percent(OwnMs(category)) >= kCategoryShown;
    if (large || !CardsOf(category.display_name).empty()) text += CategorySection(category);
    done.insert(category.display_name);
  }
  // Then what belongs to no category, each kind where its first stands.
  for (std::size_t i = 0; i < shown_.cards; ++i) {
    const std::string section = SectionOf(analysis_, analysis_.findings[i]);
    if (done.insert(section).second) text += FindingsSection(section);
  }
  return text;
}

std::string Fair::Appendix() const {
  std::string text = "## Appendix\n\n### Hardware Reference\n\n" + HardwareTable(sources_);
  text += "### Workload\n\n" + WorkloadTable(analysis_);
  if (const std::string derived = DerivedTable(analysis_); !derived.empty())
    text += "### Derived figures\n\n" + derived;
  text += "### Replay Artifacts\n\n";
  if (sources_.replay_files.empty()) {
    std::string rows;
    for (const findings::Finding& finding : analysis_.findings) {
      if (!finding.replay_recommended) continue;
      for (std::size_t i = 0; i < finding.row_ids.size() && i < 3; ++i)
        rows += (rows.empty() ? "" : ", ") + Code(finding.row_ids[i]);
    }
    text += rows.empty() ? "None. `make_replay` packs the row of a kernel that is to be run on its "
                           "own.\n\n"
                         : "Not made yet: `make_replay` with rows " + rows + " makes them.\n\n";
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
  const std::string note = SavingsNote(analysis_);
  if (!note.empty()) text += "### How savings are computed\n\n" + note + "\n\n";
  const std::string quality = QualityTable(analysis_);
  if (!quality.empty()) text += "### Trace quality\n\n" + quality;
  return text;
}

}  // namespace

std::string RenderFair(const ReportSources& sources) {
  return Fair(sources).Render();
}

}  // namespace jarvis::documents
