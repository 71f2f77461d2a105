#include "documents/prose.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/added_prose.h"
#include "documents/base_text.h"
#include "documents/copy_text.h"
#include "documents/host_prose.h"
#include "documents/impact_text.h"
#include "documents/markdown_text.h"
#include "documents/remedy_text.h"
#include "documents/subjects.h"
#include "findings/one/chain_works.h"
#include "findings/one/estimates.h"
#include "findings/one/rule_text.h"

namespace jarvis::documents {
namespace {

// "127.4 ms of the step (33.3%)"
std::string TimeText(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.one_off) return Ms(finding.time_ms);
  const double own_ms = finding.OwnMs();
  // Work of several streams at a time may add up to more than there is.
  if (analysis.base.total_ms > 0 && own_ms > analysis.base.total_ms) {
    return fmt::format("{} {}, summed over concurrent streams", EachMs(analysis, own_ms),
                       UnitPhrase(analysis));
  }
  return fmt::format("{} {} ({})", EachMs(analysis, own_ms), UnitPhrase(analysis),
                     BaseShare(analysis, own_ms));
}

// The pattern that says most: the first notable one, else the first.
const findings::PatternInfo* LeadingPattern(const findings::Analysis& analysis,
                                            const findings::Finding& finding) {
  const findings::PatternInfo* first = nullptr;
  for (const findings::PatternHit& hit : finding.patterns) {
    const findings::PatternInfo& info = analysis.Texts().Of(hit.pattern);
    if (info.notable) return &info;
    if (first == nullptr) first = &info;
  }
  return first;
}

bool HasPattern(const findings::Finding& finding, findings::Pattern pattern) {
  return std::any_of(finding.patterns.begin(), finding.patterns.end(),
                     [&](const findings::PatternHit& hit) { return hit.pattern == pattern; });
}

bool HasWarning(const findings::Finding& finding, std::string_view code) {
  return std::find(finding.warnings.begin(), finding.warnings.end(), code) !=
         finding.warnings.end();
}

// Facts of the rule that found it, as the evidence and the ways out cite them.
std::string WriteFact(const findings::Fact& fact) {
  const auto* text = std::get_if<std::string>(&fact.value);
  if (text == nullptr) return FactText(fact);
  if (fact.unit == "words") return *text;  // ours
  if (fact.unit == "place") return text->empty() ? "" : " at " + Code(*text, 120);
  return FactText(fact);
}

std::span<const findings::Fact> RuleFacts(const findings::Finding& finding) {
  for (const findings::PatternHit& hit : finding.patterns) {
    if (finding.rule && hit.pattern == *finding.rule) return hit.facts;
  }
  return {};
}

const findings::RuleRow* RowOf(const findings::Analysis& analysis,
                               const findings::Finding& finding) {
  return finding.rule ? analysis.Texts().RuleOf(*finding.rule) : nullptr;
}

std::string RuleTitle(const findings::Analysis& analysis, const findings::Finding& finding) {
  return fmt::format("{} ({})", Capitalised(analysis.Texts().Of(*finding.rule).what),
                     SubjectsText(analysis, finding, true));
}

// "device copies around X", "fp32 products": of words, by the last one before a preposition.
bool IsPlural(const findings::Finding& finding) {
  if (finding.tier != findings::Tier::kSystem) return false;
  if (finding.other_kernels) return *finding.other_kernels > 0;
  std::string_view head = finding.subject;
  for (const std::string_view preposition : {" around ", " on ", " of ", " in ", " behind "})
    head = head.substr(0, head.find(preposition));
  return head.ends_with('s') && !head.ends_with("ss");
}

std::string RuleInsight(const findings::Analysis& analysis, const findings::Finding& finding) {
  const bool several = IsOfSeveral(finding);
  // Several chains, of which its subject is one.
  const bool chains = finding.rule == findings::Pattern::kShortKernelChain;
  const std::string sizes = several ? SubjectSizes(finding) : "";
  return fmt::format(
      "{} {} {}{} {}.",
      chains ? "Chains of short kernels" : Capitalised(SubjectsInProse(analysis, finding, true)),
      several || chains || IsPlural(finding) ? "take" : "takes", TimeText(analysis, finding),
      !several        ? std::string()
      : sizes.empty() ? ". The largest runs"
                      : fmt::format(". The largest ({}) runs", sizes),
      findings::FillRule(RowOf(analysis, finding)->evidence, RuleFacts(finding), &WriteFact));
}

// What a way out saves alone, of the wall time where that is known.
// A rule's target and its source stand with the saving; the roof needs no source.
std::string SavesText(const findings::Analysis& analysis, const findings::Finding& finding,
                      const std::optional<findings::Change>& change,
                      const std::optional<findings::WallSaving>& wall) {
  if (wall && ShowsLater(finding)) return LaterText(analysis, finding);
  if (finding.by_hand != nullptr) return AddedSaves(analysis, finding, wall);
  if (change && RowOf(analysis, finding) != nullptr) {
    if (change->savings_ms.high <= 0) return "";
    return fmt::format(
        "Saves {} {} {}.",
        EachRange(analysis,
                  wall ? wall->ms : findings::Scaled(change->savings_ms, finding.own_part)),
        wall ? UnitPhrase(analysis) : "of GPU time", TargetText(*change));
  }
  // What of it is waiting for others no way out of this rank changes.
  if (!wall && finding.bound_ms && finding.joint_ms) {
    const double bound_ms = BoundOfAction(finding, &wall == &finding.wall_b);
    if (SavesNothingAlone(analysis, bound_ms)) return "";
    return fmt::format("Saves at most {} {}.", EachMs(analysis, bound_ms), UnitPhrase(analysis));
  }
  if (!wall || wall->ms.high <= 0 || finding.one_off) return "";
  const bool unknown = std::any_of(
      finding.path_b.begin(), finding.path_b.end(),
      [](const findings::Remedy& one) { return one.advice == findings::Advice::kFindHostWork; });
  return fmt::format("On its own it saves {} {}{}.", EachRange(analysis, wall->ms),
                     UnitPhrase(analysis), unknown ? ", if all of this work can be avoided" : "");
}

// What goes further at a price, of the step where the GPU sets its pace: "up to 6.25 ms a step".
std::string OptionText(const findings::Analysis& analysis, double ms) {
  const findings::WallBase& wall = analysis.wall;
  const bool by_gpu = wall.known && wall.host_floor_ms < wall.gpu_floor_ms - ms;
  return fmt::format("up to {} {}", EachMs(analysis, ms),
                     by_gpu ? UnitPhrase(analysis) : "of GPU time");
}

std::string RulePath(const findings::Analysis& analysis, const findings::Finding& finding,
                     const std::string findings::RuleRow::*path) {
  const auto known = RuleFacts(finding);
  std::vector<findings::Fact> facts(known.begin(), known.end());
  constexpr double kLaunchesTold = 0.001;  // of the wall time
  const auto ms_of = [&](std::string_view key) {
    return findings::NumberOf(known, key).value_or(0);
  };
  for (findings::Fact& fact : facts) {
    auto* words = std::get_if<std::string>(&fact.value);
    if (words == nullptr || words->empty()) continue;
    const double merge_ms = ms_of("merge_ms");
    if (fact.key == "option") *words = OptionText(analysis, ms_of("option_ms"));
    if (fact.key == "merge" && merge_ms > kLaunchesTold * analysis.wall.wall_ms)
      *words += ", " + OptionText(analysis, merge_ms) + " from fewer launches alone";
  }
  const auto fill = [&](const findings::RuleRow& row) {
    return std::string(Trim(findings::FillRule(row.*path, facts, &WriteFact)));
  };
  const findings::RuleRow& row = *RowOf(analysis, finding);
  std::string filled = fill(row);
  // Words of a user's that say nothing with these facts; no words are those of no way out.
  if (filled.empty() && !(row.*path).empty()) filled = fill(*findings::RuleOf(*finding.rule));
  // Of a sentence that is left out the spaces around it stay.
  for (std::size_t at = filled.find("  "); at != std::string::npos; at = filled.find("  ", at))
    filled.erase(at, 1);
  if (!filled.empty() && !filled.ends_with('.')) filled += '.';
  return filled;
}

// "memory roofline"; of grids that leave units idle neither side is the limit.
std::string RooflineText(findings::Bound bound) {
  return bound == findings::Bound::kFewBlocks
             ? std::string("roofline")
             : fmt::format("{} roofline", findings::BoundText(bound));
}

// A kernel that stays one: its time is held against the bandwidth.
bool IsOwnKernel(const findings::Finding& finding) {
  return finding.tier == findings::Tier::kFusion && finding.efficiency.has_value();
}

// "aten::add, aten::mul": no module.
bool NamesOps(std::string_view subject) {
  return subject.find("::") != std::string_view::npos;
}

std::string TitleOf(const findings::Analysis& analysis, const findings::Finding& finding) {
  // A rule that has a change of the host's time says what it is in its own words.
  if (RowOf(analysis, finding) != nullptr && finding.tier != findings::Tier::kFusion)
    return RuleTitle(analysis, finding);
  if (finding.host != nullptr) return HostTitle(analysis, finding);
  const std::string about = finding.tier == findings::Tier::kSystem
                                ? Capitalised(SubjectText(finding))
                                : SubjectText(finding);
  if (finding.tier != findings::Tier::kCompute) {
    const findings::PatternInfo* pattern = LeadingPattern(analysis, finding);
    if (IsOwnKernel(finding)) return about + " runs below memory bandwidth";
    if (pattern == nullptr) return about;
    if (finding.tier == findings::Tier::kFusion)
      return Capitalised(pattern->what) +
             (NamesOps(finding.subject) ? " (" + about + ")" : " in " + about);
    if (IsCopy(pattern->pattern))
      return CopiesText(finding.subject) + " take " + TimeText(analysis, finding);
    return about + ", " + pattern->what;
  }
  const std::string subjects = SubjectsText(analysis, finding, false);
  if (!finding.efficiency && finding.least_percent) {
    return fmt::format("{} at {} of the {} or more", subjects, Pct(*finding.least_percent),
                       finding.least_by_grid ? "roofline" : "memory bandwidth");
  }
  if (!finding.efficiency) return subjects + ", efficiency unknown";
  const std::string text = fmt::format("{} at {} of the {}", subjects, Pct(*finding.efficiency),
                                       RooflineText(finding.bound));
  const findings::PatternInfo* pattern = LeadingPattern(analysis, finding);
  const bool tells = pattern != nullptr && pattern->notable;
  return tells ? text + " (" + pattern->what + ")" : text;
}

// Why it has no efficiency, of its costliest operation.
std::string_view NotKnownBecause(const findings::Analysis& analysis,
                                 const findings::Finding& finding) {
  if (finding.bound != findings::Bound::kUnmodeled)
    return "; the GPU is unknown, so its efficiency is unknown.";
  const findings::Operation* first =
      finding.members.empty() ? nullptr : analysis.FindOperation(finding.members.front());
  return first != nullptr && findings::LacksShapes(*first)
             ? "; shapes were not recorded, so its efficiency is unknown."
             : "; no performance model covers it, so its efficiency is unknown.";
}

std::string ComputeInsight(const findings::Analysis& analysis, const findings::Finding& finding) {
  const bool several = finding.members.size() > 1;
  const std::string takes = fmt::format("{} {} {}", SubjectsInProse(analysis, finding, false),
                                        several ? "take" : "takes", TimeText(analysis, finding));
  if (!finding.efficiency && finding.least_percent) {
    return fmt::format(
        "{} at {} of {} or more, by the sizes {} of {} kernels{}.{}{}", takes,
        Pct(*finding.least_percent),
        finding.least_by_grid ? "the roofline" : "peak memory bandwidth",
        finding.least_by_grid ? "that the names" : "in the names", several ? "their" : "its",
        finding.least_by_grid ? " and their grids give" : "",
        HasWarning(finding, "routing_assumed") ? " All experts are assumed to have tokens." : "",
        HasWarning(finding, "keys_assumed")
            ? " Attention is assumed to have as many keys as queries."
            : "");
  }
  if (!finding.efficiency) {
    if (HasPattern(finding, findings::Pattern::kUnlinked)) {
      return takes + "; its launch is not in the trace, so its op and efficiency are unknown.";
    }
    if (HasPattern(finding, findings::Pattern::kGraphLaunch)) {
      return takes +
             (several
                  ? ". They run in a replayed GPU graph, so their ops and efficiency are unknown."
                  : ". It runs in a replayed GPU graph, so its op and efficiency are unknown.");
    }
    return takes + std::string(NotKnownBecause(analysis, finding));
  }
  return fmt::format("{} at {} of {} {}{}.", takes, Pct(*finding.efficiency),
                     several ? "their" : "its", RooflineText(finding.bound),
                     *finding.efficiency > 100 ? " (anomaly)" : "");
}

const findings::FusionCandidate* CandidateOf(const findings::Analysis& analysis,
                                             const findings::Finding& finding) {
  for (const findings::FusionCandidate& candidate : analysis.fusion.candidates) {
    if (!finding.members.empty() && candidate.id == finding.members[0]) return &candidate;
  }
  return nullptr;
}

// "norm 5.67 ms, rotary 6.10 ms, copies 1.20 ms and more": the most time first.
std::string ChainsText(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr std::size_t kWorksShown = 3;
  const std::vector<findings::ChainWork> works = findings::ChainWorksOf(analysis, finding);
  std::string text;
  for (std::size_t i = 0; i < std::min(works.size(), kWorksShown); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", works[i].what.name,
                        EachMs(analysis, finding.own_part * works[i].ms));
  }
  return works.size() > kWorksShown ? text + " and more" : text;
}

std::string InstancesTake(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.count <= 1)
    return fmt::format("This one instance takes {}.", TimeText(analysis, finding));
  const bool attention = finding.rule == findings::Pattern::kUnfusedAttention;
  return fmt::format("All {} {} take {}.", EachCalls(analysis, finding.count),
                     attention ? "instances" : "unfused chains", TimeText(analysis, finding));
}

std::string FusionInsight(const findings::Analysis& analysis, const findings::Finding& finding) {
  const std::string subject = SubjectText(finding);
  const std::string runs =
      NamesOps(finding.subject) ? "Chains such as " + subject + " run" : subject + " runs";
  if (RowOf(analysis, finding) != nullptr) {
    const auto known = RuleFacts(finding);
    std::vector<findings::Fact> facts(known.begin(), known.end());
    facts.push_back({"parts", ChainsText(analysis, finding), "words"});
    return fmt::format("{} {}. {}", runs,
                       findings::FillRule(RowOf(analysis, finding)->evidence, facts, &WriteFact),
                       InstancesTake(analysis, finding));
  }
  const findings::FusionCandidate* candidate = CandidateOf(analysis, finding);
  if (candidate == nullptr || finding.members.size() > 1)
    return fmt::format("{} as separate kernels. {}", runs, InstancesTake(analysis, finding));
  if (IsOwnKernel(finding)) {
    return fmt::format("{} takes {} in {} after its GEMM, at {} of the bandwidth.", subject,
                       TimeText(analysis, finding), Calls(candidate->instances, "instances"),
                       Pct(*finding.efficiency));
  }
  if (candidate->kind == findings::FusionKind::kEpilogue) {
    return fmt::format("{} follows its GEMM with {} of its own in {}, {} in all.", subject,
                       Calls(candidate->kernels.size(), "kernels"),
                       Calls(candidate->instances, "instances"), TimeText(analysis, finding));
  }
  return fmt::format("{} runs as {} in each of {}, {} in all; one kernel could do it.", subject,
                     Calls(candidate->kernels.size(), "kernels"),
                     Calls(candidate->instances, "instances"), TimeText(analysis, finding));
}

std::string CallsText(const findings::Analysis& analysis, const findings::Finding& finding) {
  const auto ms = CopyCallsMs(finding);
  return ms ? fmt::format("; the calls block the host for {}", EachMs(analysis, *ms)) : "";
}

// What uploads that could stay move, and how fast; empty: they could not, or it is not known.
std::string MovedText(const findings::Analysis& analysis, const findings::Finding& finding) {
  const auto moved_gb = findings::NumberOf(finding.patterns.front().facts, "moved");
  const auto rate = findings::NumberOf(finding.patterns.front().facts, "rate");
  if (!moved_gb || !rate) return "";
  return fmt::format(
      ". They move {} GB {} at {} GB/s; what stays on the GPU has to fit there beside all else",
      ThreeDigits(*moved_gb), UnitPhrase(analysis), ThreeDigits(*rate));
}

std::string SystemInsight(const findings::Analysis& analysis, const findings::Finding& finding) {
  const findings::PatternInfo* pattern = LeadingPattern(analysis, finding);
  if (finding.category == "cpu_idle") {
    const std::string gaps = finding.count > 0 ? " in " + Calls(finding.count, "gaps") : "";
    return fmt::format("The GPU waits for {}{}{}{}.", TimeText(analysis, finding), gaps,
                       pattern == nullptr ? "" : ": " + pattern->what,
                       HasWarning(finding, "graph_replay")
                           ? "; unreliable, because launches come from a GPU graph"
                           : "");
  }
  // Of the whole recording: beside a time of one of several steps it would mislead.
  const bool told = finding.count > 0 && analysis.base.count <= 1;
  const std::string count = told ? InCalls(finding) : "";
  const std::string what =
      pattern == nullptr || IsCopy(pattern->pattern) ? "" : ", " + pattern->what + ",";
  return fmt::format("{}{} {} {}{}{}{}.", CopiesText(finding.subject), what,
                     IsPlural(finding) ? "take" : "takes", TimeText(analysis, finding), count,
                     CallsText(analysis, finding), MovedText(analysis, finding));
}

// Where the costliest of its operations is called; empty: no frames, or a finding that says so.
std::string PlaceSentence(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.tier != findings::Tier::kCompute || finding.members.empty()) return "";
  const findings::Operation* operation = analysis.FindOperation(finding.members.front());
  if (operation == nullptr) return "";
  if (!operation->entry_point.empty())
    return " Called at " + Code(operation->entry_point, 120) + ".";
  return operation->module_path.empty() ? ""
                                        : " Called in " + Code(operation->module_path, 120) + ".";
}

std::string InsightOf(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (RowOf(analysis, finding) != nullptr && finding.tier != findings::Tier::kFusion)
    return RuleInsight(analysis, finding);
  if (finding.host != nullptr) return HostInsight(analysis, finding);
  switch (finding.tier) {
    case findings::Tier::kFusion: return FusionInsight(analysis, finding);
    case findings::Tier::kSystem: return SystemInsight(analysis, finding);
    case findings::Tier::kCompute: break;
  }
  return ComputeInsight(analysis, finding);
}

bool HasWay(const std::vector<findings::Remedy>& path) {
  return std::any_of(path.begin(), path.end(),
                     [](const findings::Remedy& remedy) { return IsToldAsWay(remedy.advice); });
}

// Where to start: the best of both (BestWall).
char ChosenPath(const findings::Finding& finding, const FindingText& text) {
  const bool a = !text.path_a.empty();
  // What only names the work is none beside a way that the reader can take.
  const bool b =
      !text.path_b.empty() && (!a || finding.path_b.empty() || findings::HasAction(finding.path_b));
  if (a && b) {
    // A way that has a saving goes before one that nobody can size.
    if (finding.change_a && !finding.change_b && finding.rule) return 'A';
    const findings::WallSaving* best = findings::BestWall(finding);
    const bool first = finding.wall_a && best == &*finding.wall_a && best->ms.mid > 0;
    return first ? 'A' : 'B';
  }
  return a ? 'A' : b ? 'B' : '\0';
}

// What to do where no path leads out.
std::string ActionWithoutPath(const findings::Finding& finding) {
  if (HasPattern(finding, findings::Pattern::kGraphLaunch)) {
    return "Record the capture of the graph, and put its trace in a folder `capture` beside this "
           "one: it supplies op names and shapes for these kernels.";
  }
  if (HasWarning(finding, "graph_replay")) {
    return "Record the same step without GPU graphs; its ops and gaps can then be analyzed.";
  }
  if (HasPattern(finding, findings::Pattern::kUnlinked)) {
    return "Start recording before the work is launched; its op, shapes and callers are then "
           "known.";
  }
  return "The trace alone suggests no fix.";
}

std::string IdentificationOf(const findings::Finding& finding) {
  const std::string how = [&]() -> std::string {
    switch (finding.method) {
      case findings::EstimateMethod::kRoof:
        return "Found by its gap to the roofline of the platform";
      case findings::EstimateMethod::kMeasured: return "Found by time measured in the trace";
      case findings::EstimateMethod::kTraffic:
        return "Found as a chain of kernels that pass data to each other";
      case findings::EstimateMethod::kTarget: return "Found by a rule (docs/rules.md)";
      case findings::EstimateMethod::kNone: break;
    }
    return "Found by its share of the time";
  }();
  return fmt::format("{}. (source: {} \xE2\x86\x92 {})", how, Code(finding.source_file),
                     Code(finding.source_cell));
}

// Said by the pattern already.
bool IsPattern(std::string_view code) {
  const auto all = levers::Shipped().patterns();
  return std::any_of(all.begin(), all.end(),
                     [&](const findings::PatternInfo& info) { return info.key == code; });
}

// Empty: nothing but what the title says.
std::string ReasoningOf(const findings::Analysis& analysis, const findings::Finding& finding,
                        std::string_view title) {
  const std::string told = LowerAscii(title);
  std::string text;
  // Launches may be late and still come faster than kernels run.
  const bool faster = finding.host != nullptr && finding.host->launch_us < finding.host->kernel_us;
  for (const findings::PatternHit& hit : finding.patterns) {
    const std::string& what = hit.pattern == findings::Pattern::kLaunchBound && faster
                                  ? analysis.Texts().Of(findings::Pattern::kHostBound).what
                                  : analysis.Texts().Of(hit.pattern).what;
    if (text.find(Capitalised(what)) == std::string::npos && !IsCopy(hit.pattern) &&
        told.find(LowerAscii(what)) == std::string::npos)
      text += Capitalised(what) + ". ";
  }
  if (finding.method == findings::EstimateMethod::kRoof && finding.efficiency.value_or(0) > 100)
    text += "Anomaly: faster than the roofline allows; verify the platform, dtype and model. ";
  // The impact says it.
  const bool waits = finding.bound_ms && !SavesNothingAlone(analysis, *finding.bound_ms);
  for (const std::string& warning : finding.warnings) {
    if (waits && warning == "one_rank") continue;
    const std::string sentence = WarningText(warning);
    if (text.find(sentence) == std::string::npos && !IsPattern(warning)) text += sentence + " ";
  }
  return std::string(Trim(text));
}

std::string PathText(const findings::Analysis& analysis,
                     const std::vector<findings::Remedy>& path) {
  if (!HasWay(path)) return "";
  std::string text;
  for (const findings::Remedy& remedy : path) {
    if (!IsToldAsWay(remedy.advice)) continue;
    const std::string what = AdviceSentence(analysis, remedy);
    text += (text.empty() ? "" : " ") + what + (what.ends_with('.') ? "" : ".");
  }
  return text;
}

}  // namespace

bool IsToldAsWay(findings::Advice advice) {
  return advice != findings::Advice::kNoneKnown && advice != findings::Advice::kReplay &&
         advice != findings::Advice::kProfileCounters;
}

std::string LeftOpen(const findings::Analysis& analysis, const findings::Finding& finding) {
  const findings::RuleRow* row = RowOf(analysis, finding);
  return row == nullptr ? "" : findings::FillRule(row->open, RuleFacts(finding), &WriteFact);
}

std::string AdviceSentence(const findings::Analysis& analysis, const findings::Remedy& remedy) {
  return Capitalised(
      findings::FillRule(analysis.Texts().Of(remedy.advice).what, remedy.facts, &WriteFact));
}

std::string SubjectText(const findings::Finding& finding) {
  if (finding.by_hand != nullptr) return ProseOfText(finding.subject);
  if (finding.other_kernels) {
    const std::size_t others = *finding.other_kernels;
    return Code(finding.subject, 80) +
           (others == 0 ? ""
                        : fmt::format(" and {} more kernel{}", others, others == 1 ? "" : "s"));
  }
  const bool op =
      finding.tier != findings::Tier::kSystem || finding.subject.find("::") != std::string::npos;
  return op ? Code(finding.subject, 80) : Words(finding.subject);
}

namespace {

// A recording that would name the work is no way out of it.
bool OnlyNamesWork(const findings::Finding& finding) {
  return finding.path_b.size() == 1 &&
         finding.path_b.front().advice == findings::Advice::kFindHostWork;
}

bool OnlyRecords(const std::vector<findings::Remedy>& path) {
  return std::all_of(path.begin(), path.end(), [](const findings::Remedy& remedy) {
    return remedy.advice == findings::Advice::kRecordRanks ||
           remedy.advice == findings::Advice::kSplitWaits;
  });
}

// The words without what the ways out save.
FindingText OwnText(const findings::Analysis& analysis, const findings::Finding& finding) {
  FindingText text;
  text.title = TitleOf(analysis, finding);
  text.insight = InsightOf(analysis, finding) + PlaceSentence(analysis, finding);
  text.identification = IdentificationOf(finding);
  text.reasoning = ReasoningOf(analysis, finding, text.title);
  text.resolution = WhyTheyHelp(analysis.Texts(), finding.path_a, finding.path_b);
  const findings::RuleRow* row = RowOf(analysis, finding);
  text.path_a = row != nullptr ? RulePath(analysis, finding, &findings::RuleRow::path_a)
                               : PathText(analysis, finding.path_a);
  text.path_b = row != nullptr ? RulePath(analysis, finding, &findings::RuleRow::path_b)
                               : PathText(analysis, finding.path_b);
  return text;
}

}  // namespace

FindingText DraftText(const findings::Analysis& analysis, const findings::Finding& finding) {
  const bool added = finding.by_hand != nullptr;
  FindingText text = added ? AddedText(finding) : OwnText(analysis, finding);
  const std::string given_action = text.action;
  text.chosen = ChosenPath(finding, text);
  text.way_a = !text.path_a.empty();
  if (text.chosen == 'A' && OnlyNamesWork(finding)) {
    text.path_b.clear();
    text.resolution = WhyTheyHelp(analysis.Texts(), finding.path_a, {});
    text.insight += fmt::format(" The trace does not name this work; record with {}.",
                                analysis.context.how->stacks);
  }
  text.way_b = !text.path_b.empty();
  if (text.path_a.empty()) {
    text.path_a = NoWayText(finding.path_a);
  } else {
    text.saves_a = SavesText(analysis, finding, finding.change_a, finding.wall_a);
  }
  if (text.path_b.empty()) {
    text.path_b = NoWayText(finding.path_b);
  } else {
    text.saves_b = SavesText(analysis, finding, finding.change_b, finding.wall_b);
  }
  if (finding.bound_ms && OnlyRecords(finding.path_b) && !text.saves_b.empty())
    text.saves_b = "Saves nothing by itself: it shows whether this is waiting or transfer.";
  text.action = !given_action.empty() ? given_action
                : text.chosen == 'A'  ? text.path_a
                : text.chosen == 'B'  ? text.path_b
                                      : ActionWithoutPath(finding);
  for (std::string FindingText::*part :
       {&FindingText::insight, &FindingText::action, &FindingText::path_a, &FindingText::path_b,
        &FindingText::saves_a, &FindingText::saves_b})
    text.*part = InDeviceWords(analysis, std::move(text.*part));
  return text;
}

FindingText TextOf(const findings::Analysis& analysis, const findings::Finding& finding,
                   const TextEdits& edits) {
  FindingText text = DraftText(analysis, finding);
  const auto found = edits.find(finding.id);
  if (found == edits.end()) return text;
  for (const TextField& field : kTextFields) {
    const auto edit = found->second.find(std::string(field.name));
    if (edit != found->second.end()) text.*field.member = ProseOfText(edit->second);
  }
  if (found->second.count("action") == 0 && text.chosen != '\0')
    text.action = text.chosen == 'A' ? text.path_a : text.path_b;
  return text;
}

}  // namespace jarvis::documents
