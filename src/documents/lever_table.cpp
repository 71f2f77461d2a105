#include "documents/lever_table.h"

#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/base_text.h"
#include "documents/further_row.h"
#include "documents/host_prose.h"
#include "documents/impact_text.h"
#include "documents/markdown_text.h"
#include "documents/report_parts.h"
#include "documents/time_parts.h"
#include "findings/one/advice_rules.h"
#include "findings/one/wall_plan.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kUncoveredMost = 3;
constexpr double kJointShare = 5;  // percent of the wall time
constexpr std::string_view kPathLegend =
    "Path A: the model's code may change. Path B: the model stays as it is; only settings, "
    "environment, compilation or the code around it change.";

// " once priority 1 is done": why it saves more after others than alone.
std::string ShowsAfter(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.shows_after.empty()) return "";
  return fmt::format(" once priority {} is done", PlaceOf(analysis, finding.shows_after));
}

class LeverRows {
 public:
  LeverRows(const findings::Analysis& analysis, const TextEdits& edits)
      : analysis_(analysis), edits_(edits) {}

  std::vector<std::string> Row(const findings::Finding& finding) const;
  std::vector<std::string> Row(const ActionGroup& group) const;
  // With communication that nothing hides: empty where the host does not bind without it.
  std::vector<std::string> Joint(const findings::Finding& finding) const;
  // What hardly saves more once `of` is done, and something where that cannot be done.
  std::vector<std::string> Instead(const findings::Finding& of,
                                   const findings::Finding& finding) const;

 private:
  bool HasJoint(const findings::Finding& finding) const;
  std::string WhyWide(const findings::Finding& finding) const;
  FindingText WordsOf(const findings::Finding& finding) const {
    return TextOf(analysis_, finding, edits_);
  }

  const findings::Analysis& analysis_;
  const TextEdits& edits_;
};

// Why what it saves alone has a wide range, if it has one.
std::string LeverRows::WhyWide(const findings::Finding& finding) const {
  const findings::Range& ms = findings::BestWall(finding)->ms;
  if (ms.low == ms.high || !findings::IsWide(ms)) return "";
  if (finding.host == nullptr) return finding.shows_after.empty() ? " (upper bound; untested)" : "";
  return findings::BestWall(finding)->low_by_recording
             ? " (upper bound; includes profiler overhead)"
             : " (upper bound)";
}

// "about 110 ms", of a range whose ends are far apart; else empty.
std::string Expected(const findings::Analysis& analysis, const findings::Range& ms) {
  constexpr double kApart = 1.4;   // the high end over the low one
  constexpr double kAtEnd = 0.15;  // of the range: an end says it already
  if (findings::IsWide(ms) || ms.high < kApart * ms.low) return "";
  if (std::min(ms.high - ms.mid, ms.mid - ms.low) < kAtEnd * (ms.high - ms.low)) return "";
  return fmt::format("about {}", EachMs(analysis, ms.mid));
}

// "about 110 ms (90.0 to 160 ms, 9.0% to 16.0%)", or "90.0 to 110 ms (9.0% to 11.0%)".
std::string AfterText(const std::string& expected, const std::string& range,
                      const std::string& share) {
  return expected.empty() ? fmt::format("{} ({})", range, share)
                          : fmt::format("{} ({}, {})", expected, range, share);
}

// Of communication that nothing hides: without it the host binds.
bool LeverRows::HasJoint(const findings::Finding& finding) const {
  if (!finding.bound_ms || !finding.joint_ms || findings::BestWall(finding) != nullptr)
    return false;
  return analysis_.wall.wall_ms > 0 && HostSetsPaceAfter(analysis_, *finding.bound_ms) &&
         100 * (*finding.joint_ms - *finding.bound_ms) >= kJointShare * analysis_.wall.wall_ms;
}

// What saves nothing by itself, and much once the finding's own way out is taken.
std::vector<std::string> LeverRows::Joint(const findings::Finding& finding) const {
  if (!HasJoint(finding)) return {};
  const std::vector<findings::Remedy> ways =
      findings::WaysToLaunchFaster(analysis_.context, false, true);
  if (ways.empty()) return {};
  return {
      fmt::format("with {}", finding.global_rank),
      FirstClause(AdviceSentence(analysis_, ways.front())),
      fmt::format("The host ({}) becomes the bottleneck once {} is done",
                  EachMs(analysis_, analysis_.wall.host_floor_ms), finding.global_rank),
      std::string(kAbsentText),
      fmt::format("both together at most {} ({}); not in the total",
                  EachMs(analysis_, *finding.joint_ms), SavingShare(analysis_, *finding.joint_ms)),
      "B"};
}

std::vector<std::string> LeverRows::Instead(const findings::Finding& of,
                                            const findings::Finding& finding) const {
  std::vector<std::string> cells = Row(finding);
  cells[0] = kAbsentText;
  cells[4] = fmt::format("alternative to {}; adds almost nothing after it", of.global_rank);
  return cells;
}

std::vector<std::string> LeverRows::Row(const findings::Finding& finding) const {
  const findings::WallSaving* best = findings::BestWall(finding);
  std::string alone(kAbsentText), after(kAbsentText), path(kAbsentText);
  if (finding.one_off && best != nullptr) {
    alone = Ms(OnceMs(finding)) + ", once";
  } else if (best != nullptr) {
    alone = ShowsLater(finding)
                ? "almost nothing"
                : EachRange(analysis_, findings::BestWall(finding)->ms) + WhyWide(finding);
    after = AfterText(Expected(analysis_, findings::AfterOthers(*best)),
                      AfterRange(analysis_, *best), AfterShare(analysis_, *best)) +
            ShowsAfter(analysis_, finding);
    path = finding.wall_a && finding.wall_b ? "A, B" : finding.wall_a ? "A" : "B";
  } else if (finding.bound_ms) {
    const double bound_ms = BoundOfAction(finding, TakesPathB(finding));
    alone = fmt::format("at most {} ({})", EachMs(analysis_, bound_ms),
                        SavingShare(analysis_, bound_ms));
    after = "upper bound; not in the total";
    path = findings::HasAction(finding.path_a) && findings::HasAction(finding.path_b) ? "A, B"
           : TakesPathB(finding)                                                      ? "B"
                                                                                      : "A";
  } else if (finding.savings_ms && !analysis_.wall.known) {
    alone = EachRange(analysis_, *finding.savings_ms) + " of GPU time";
  }
  const FindingText words = WordsOf(finding);
  if (finding.one_off && best != nullptr) path = words.chosen == 'B' ? "B" : "A";
  std::string action = FirstClause(words.action);
  const std::string a = FirstClause(words.path_a), b = FirstClause(words.path_b);
  const bool both = finding.wall_a && finding.wall_b && words.way_a && words.way_b && a != b;
  // The one that is recommended stands first.
  const auto in_order = [&](const std::string& of_a, const std::string& of_b) {
    return words.chosen == 'B' ? fmt::format("B: {}; A: {}", of_b, of_a)
                               : fmt::format("A: {}; B: {}", of_a, of_b);
  };
  if (both) action = in_order(a, b);
  if (both && !ShowsLater(finding) && !finding.one_off) {
    const std::string of_a = EachRange(analysis_, finding.wall_a->ms);
    const std::string of_b = EachRange(analysis_, finding.wall_b->ms);
    if (of_a != of_b) alone = in_order(of_a, of_b);
  }
  return {fmt::format("[{}](#{})", finding.global_rank, Anchor(finding.id)),
          std::move(action),
          WithoutDirectories(words.title),
          alone,
          after,
          path};
}

// One action for several findings: what all of them save.
std::vector<std::string> LeverRows::Row(const ActionGroup& group) const {
  std::vector<std::string> cells = Row(*group.front());
  if (group.size() == 1) return cells;
  std::vector<std::string> numbers, titles;
  bool later = true;
  for (const findings::Finding* one : group) {
    numbers.push_back(fmt::format("[{}](#{})", one->global_rank, Anchor(one->id)));
    std::string title = ShortTitle(WithoutDirectories(WordsOf(*one).title));
    if (std::find(titles.begin(), titles.end(), title) == titles.end())
      titles.push_back(std::move(title));
    later = later && ShowsLater(*one);
  }
  const findings::Range after = AfterOf(group);
  cells[0] = fmt::format("{}", fmt::join(numbers, ", "));
  cells[2] = fmt::format("{}", fmt::join(titles, "; "));
  const findings::Range alone = AloneOf(group);
  // A sum with a low end is no upper bound.
  if (!later)
    cells[3] = SumRange(analysis_, alone) + (alone.low > 0 ? "" : WhyWide(*group.front()));
  cells[4] = AfterText(Expected(analysis_, after), SumRange(analysis_, after),
                       SumShare(analysis_, after)) +
             ShowsAfter(analysis_, *group.front());
  return cells;
}

// What spares the host work where a finding above spares it nearly all: for whoever cannot do that.
bool IsInstead(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr double kLeast = 0.02;      // of the step, alone
  constexpr double kHardlyLeft = 0.2;  // of that, once those above are done
  const findings::WallSaving* best = findings::BestWall(finding);
  return best != nullptr && !finding.one_off && best->ms.mid >= kLeast * analysis.wall.wall_ms &&
         best->after_others_ms <= kHardlyLeft * best->ms.mid;
}

// The first finding about the host that a row has; null: none.
const findings::Finding* HostLever(const std::vector<ActionGroup>& groups) {
  for (const ActionGroup& group : groups) {
    const findings::Finding& head = *group.front();
    if (head.host != nullptr && !head.one_off && findings::BestWall(head) != nullptr) return &head;
  }
  return nullptr;
}

// Where the host is alone for most of the time, several inputs cost it as much as one.
std::vector<std::string> BatchRow(const findings::Analysis& analysis, double times) {
  const std::string dash(kAbsentText);
  return {dash,
          "Batch inputs: collect several and run them in one pass",
          fmt::format(
              "The GPU is busy for {} of the {}; host time is per pass, whatever the batch size",
              BaseShare(analysis, MillisOf(analysis.base.balance.busy_ns())), analysis.base.unit),
          "latency stays the same",
          fmt::format("up to about {:.0f} times the throughput", times),
          "B"};
}

// Large lines of the base that no recommendation is about are said to be none.
std::vector<std::string> UncoveredRow(const findings::Analysis& analysis) {
  const std::string dash(kAbsentText);
  std::vector<std::string> names;
  double bound_ms = 0;
  bool assessed = true, kernels = true;
  for (const findings::UncoveredLine& line : analysis.uncovered) {
    assessed = assessed && line.bound_ms;
    kernels = kernels && line.work && *line.work != ledger::WorkKind::kHostCopy &&
              !ledger::IsCommunication(*line.work);
    bound_ms += line.bound_ms.value_or(0);
    if (names.size() == kUncoveredMost) continue;
    names.push_back(fmt::format(
        "{}, {} ({})", line.work ? LineWords(*line.work) : "GPU idle, waiting for the host",
        EachMs(analysis, line.ms), BaseShare(analysis, line.ms)));
  }
  if (analysis.uncovered.size() > names.size()) names.push_back("others");
  return {dash,
          !assessed ? "Not assessed: see below what to record"
          : kernels ? "No recommendation covers these kernels: profile them with hardware counters"
                    : "No recommendation covers this time",
          fmt::format("{}", fmt::join(names, "; ")),
          assessed ? fmt::format("at most {}", EachMs(analysis, bound_ms)) : "not assessed",
          "not in the total",
          dash};
}

}  // namespace

bool TakesPathB(const findings::Finding& finding) {
  const findings::WallSaving* best = findings::BestWall(finding);
  if (best != nullptr) return finding.wall_b && best == &*finding.wall_b;
  if (findings::HasAction(finding.path_a)) return false;
  return findings::HasAction(finding.path_b) || !finding.path_b.empty();
}

std::string LeverTable(const findings::Analysis& analysis, const TextEdits& edits,
                       const std::vector<ActionGroup>& groups, std::size_t cards) {
  const LeverRows rows(analysis, edits);
  const std::string base = OfSavingBase(analysis);
  MarkdownTable table(
      {"#", "What to do", "Because of", SavingTitle(analysis),
       std::string(kExtraSavingTitle) + (base.empty() ? "" : " (shares:" + base + ")"), "Path"});
  for (const ActionGroup& group : groups) {
    table.Row(rows.Row(group));
    if (std::vector<std::string> joint = rows.Joint(*group.front()); !joint.empty())
      table.Row(joint);
    const bool host = group.front() == HostLever(groups);
    if (const auto times = host ? BatchTimes(analysis) : std::nullopt)
      table.Row(BatchRow(analysis, *times));
  }
  if (table.empty()) return "";
  if (const findings::Finding* host = HostLever(groups)) {
    constexpr std::size_t kInsteadMax = 2;
    std::size_t told = 0;
    for (std::size_t i = cards; i < analysis.findings.size() && told < kInsteadMax; ++i) {
      if (!IsInstead(analysis, analysis.findings[i])) continue;
      table.Row(rows.Instead(*host, analysis.findings[i]));
      ++told;
    }
  }
  if (!analysis.uncovered.empty()) table.Row(UncoveredRow(analysis));
  if (analysis.wall.together_ms) {
    const std::string dash(kAbsentText);
    const auto further = findings::TogetherOf(std::span(analysis.findings).subspan(cards));
    if (further && further->high > 0) {
      table.Row({dash, std::string(kFurtherRow), dash, dash, SumRange(analysis, *further), dash});
    }
    table.Row({dash, "All of the above", dash, dash,
               fmt::format("{} ({})", TogetherRange(analysis), TogetherShare(analysis)), dash});
  }
  return table.text() + "\n" + std::string(kPathLegend) + "\n\n";
}

}  // namespace jarvis::documents
