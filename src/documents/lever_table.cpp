#include "documents/lever_table.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/simulation/change.h"
#include "base/interval.h"
#include "base/number_text.h"
#include "base/text.h"
#include "documents/added_prose.h"
#include "documents/base_text.h"
#include "documents/batch_rows.h"
#include "documents/host_prose.h"
#include "documents/impact_text.h"
#include "documents/markdown_text.h"
#include "documents/report_parts.h"
#include "documents/saving_base.h"
#include "documents/time_parts.h"
#include "findings/one/advice_rules.h"
#include "findings/one/fact.h"
#include "findings/one/wall_classes.h"
#include "findings/one/wall_plan.h"
#include "phrases/ids/base.h"
#include "phrases/ids/front.h"
#include "phrases/phrase.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kUncoveredMost = 3;
constexpr double kJointShare = 5;  // percent of the wall time
constexpr double kThenShare = 10;  // the same, of what a host without cost would save then
constexpr std::string_view kPathLegend =
    "Path A: the model's code may change. Path B: the model stays as it is; only settings, "
    "environment, compilation or the code around it change.";

// The first letter small, unless it begins an abbreviation ("GEMMs").
std::string InSentence(std::string words) {
  if (words.size() > 1 && LowerAscii(words.substr(1, 1)) == words.substr(1, 1))
    words[0] = LowerAscii(words.substr(0, 1))[0];
  return words;
}

// What is expected, else the range.
std::string BriefOf(const findings::Analysis& analysis, const findings::Range& ms) {
  const std::string expected = Expected(analysis, ms);
  return expected.empty() ? EachRange(analysis, ms) : expected;
}

class LeverRows {
 public:
  LeverRows(const findings::Analysis& analysis, const TextEdits& edits)
      : analysis_(analysis), edits_(edits) {}

  FixRow Row(const findings::Finding& finding) const;
  FixRow Row(const ActionGroup& group) const;
  // With communication that nothing hides: absent where the host does not bind without it.
  std::optional<FixRow> Joint(const findings::Finding& finding) const;
  std::optional<FixRow> HostThen() const;
  // What hardly saves more once `of` is done, and something where that cannot be done.
  FixRow Instead(const findings::Finding& of, const findings::Finding& finding) const;

 private:
  bool HasJoint(const findings::Finding& finding) const;
  std::vector<FixWay> Ways(const findings::Finding& finding, const FindingText& words) const;
  std::vector<FixWay> WaysOfExchange(const findings::Finding& finding) const;
  std::string ActionOf(const findings::Finding& finding, const FindingText& words) const;
  std::string WhyWide(const findings::Finding& finding) const;
  std::string AtMost(double ms) const {
    return fmt::format("at most {} ({})", EachMs(analysis_, ms), SavingShare(analysis_, ms));
  }
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
  const bool recorder =
      findings::BestWall(finding)->low_by_recording || finding.host->mostly_recorder();
  return recorder ? " (upper bound; includes profiler overhead)" : " (upper bound)";
}

// Of communication that nothing hides: without it the host binds.
bool LeverRows::HasJoint(const findings::Finding& finding) const {
  return TellsJoint(analysis_, finding) && findings::BestWall(finding) == nullptr &&
         analysis_.wall.wall_ms > 0 &&
         100 * (*finding.joint_ms - *finding.bound_ms) >= kJointShare * analysis_.wall.wall_ms;
}

// What the host does as a bottleneck once the GPU is faster.
std::string_view BecomesOrRemains(const findings::Analysis& analysis) {
  return analysis.bound.kind == ledger::BoundKind::kHost ? "remains" : "becomes";
}

// What saves nothing by itself, and much once the finding's own way out is taken.
std::optional<FixRow> LeverRows::Joint(const findings::Finding& finding) const {
  if (!HasJoint(finding)) return std::nullopt;
  const std::vector<findings::Remedy> ways =
      findings::WaysToLaunchFaster(analysis_.context, false, true);
  if (ways.empty()) return std::nullopt;
  FixRow row{{},
             fmt::format("with {}", finding.global_rank),
             {{'B', FirstClause(AdviceSentence(analysis_, ways.front())), {}}},
             fmt::format("The host ({}) {} the bottleneck once priority {} is done",
                         EachMs(analysis_, analysis_.wall.host_floor_ms),
                         BecomesOrRemains(analysis_), finding.global_rank),
             std::string(kAbsentText),
             fmt::format("at most {} ({}) with priority {}; not in the total",
                         EachMs(analysis_, *finding.joint_ms),
                         SavingShare(analysis_, *finding.joint_ms), finding.global_rank),
             "B"};
  row.brief = "at most " + EachMs(analysis_, *finding.joint_ms);
  return row;
}

FixRow LeverRows::Instead(const findings::Finding& of, const findings::Finding& finding) const {
  FixRow row = Row(finding);
  row.number = kAbsentText;
  row.after =
      fmt::format("an alternative to priority {}, almost nothing on top of it", of.global_rank);
  row.until.clear();
  row.brief = BriefOf(analysis_, findings::BestWall(finding)->ms);
  return row;
}

FixRow LeverRows::Row(const findings::Finding& finding) const {
  const findings::WallSaving* best = findings::BestWall(finding);
  const std::string dash(kAbsentText);
  FixRow row{{&finding}, fmt::format("{}", finding.global_rank), {}, {}, dash, dash, dash};
  if (finding.one_off && best != nullptr) {
    row.alone = OnceCell(finding);
    row.brief = Ms(OnceMs(finding)) + " once";
    row.costs = IsPaidOnce(finding);
  } else if (best != nullptr) {
    row.alone = AloneText(analysis_, finding);
    if (!ShowsLater(finding)) row.alone += WhyWide(finding);
    row.after = AfterText(analysis_, *best);
    row.brief = BriefOf(analysis_, findings::AfterOthers(*best));
    row.alike = !ShowsLater(finding) && AreAlike(best->ms, findings::AfterOthers(*best));
    if (!finding.shows_after.empty()) row.until = PlaceOf(analysis_, finding.shows_after);
    row.paths = finding.wall_a && finding.wall_b ? "A, B" : finding.wall_a ? "A" : "B";
  } else if (finding.bound_ms) {
    const double bound_ms = BoundOfAction(finding, TakesPathB(finding));
    const bool nothing = SavesNothingAlone(analysis_, bound_ms);
    const bool host = findings::HostSetsPaceAfter(analysis_, bound_ms);
    row.alone = !nothing ? AtMost(bound_ms) : host ? "nothing while host-bound" : dash;
    if (!nothing) row.brief = "at most " + EachMs(analysis_, bound_ms);
    if (!nothing && analysis_.wall.together_ms) row.after = "not in the total";
    row.paths = findings::HasAction(finding.path_a) && findings::HasAction(finding.path_b) ? "A, B"
                : TakesPathB(finding)                                                      ? "B"
                                                                                           : "A";
  } else if (finding.savings_ms && !analysis_.wall.known) {
    row.alone = EachRange(analysis_, finding.OwnSavingsMs()) + " of GPU time";
    row.brief = BriefOf(analysis_, finding.OwnSavingsMs());
  }
  const FindingText words = WordsOf(finding);
  row.because = WithoutDirectories(words.title);
  // Its title tells the idle time.
  if (const std::string beyond = BeyondText(analysis_, finding);
      !beyond.empty() && finding.host != nullptr &&
      row.because.find(EachMs(analysis_, findings::IdleMs(analysis_, *finding.host))) !=
          std::string::npos)
    row.because += ". " + beyond.substr(0, beyond.size() - 1);
  if (finding.one_off && best != nullptr) row.paths = words.chosen == 'B' ? "B" : "A";
  row.ways = Ways(finding, words);
  if (words.chosen == 'A' && AddsLaunches(analysis_, finding)) row.alone = kSlower;
  return row;
}

// Where ranks wait for each other, what hides transfer is a way of its own.
std::vector<FixWay> LeverRows::WaysOfExchange(const findings::Finding& finding) const {
  const std::vector<findings::Remedy>& path = findings::ExchangePath(finding);
  if (!IsBound(finding) || path.size() < 2 || !findings::BalancesExchange(finding)) return {};
  const char letter = &path == &finding.path_a ? 'A' : 'B';
  const double hidden_ms = std::min(finding.OwnMs(), findings::MostHidden(analysis_, finding));
  std::vector<FixWay> ways;
  for (const findings::Remedy& remedy : path) {
    const bool balances = remedy.advice == findings::Advice::kBalanceExchange;
    const double most_ms = balances ? *finding.bound_ms : hidden_ms;
    ways.push_back({letter, FirstClause(AdviceSentence(analysis_, remedy)), AtMost(most_ms)});
  }
  return ways;
}

// Waits of several kinds go by several changes, and the saving is of all of them.
std::string LeverRows::ActionOf(const findings::Finding& finding, const FindingText& words) const {
  std::string action = FirstClause(words.action);
  const auto& path = finding.path_a;
  const bool several = finding.host != nullptr && path.size() > 1 &&
                       finding.host->kind == findings::HostCauseKind::kWaits &&
                       findings::WaitsEndedBy(path.front().advice);
  if (!several || action != FirstClause(AdviceSentence(analysis_, path.front()))) return action;
  for (const findings::Remedy& remedy : std::span(path).subspan(1))
    action += "; " + InSentence(FirstClause(AdviceSentence(analysis_, remedy)));
  return action;
}

// The recommended one first; both only where both are ways and unlike.
std::vector<FixWay> LeverRows::Ways(const findings::Finding& finding,
                                    const FindingText& words) const {
  if (std::vector<FixWay> ways = WaysOfExchange(finding); !ways.empty()) return ways;
  FixWay a{'A', FirstClause(words.path_a), {}}, b{'B', FirstClause(words.path_b), {}};
  const bool both =
      finding.wall_a && finding.wall_b && words.way_a && words.way_b && a.action != b.action;
  if (!both) return {{words.chosen, ActionOf(finding, words), {}}};
  if (words.chosen == 'B' && AddsLaunches(analysis_, finding)) a.action += " (slower on its own)";
  if (!ShowsLater(finding) && !finding.one_off) {
    a.saves = EachRange(analysis_, finding.wall_a->ms);
    b.saves = EachRange(analysis_, finding.wall_b->ms);
    if (a.saves == b.saves) a.saves = b.saves = "";
  }
  return words.chosen == 'B' ? std::vector<FixWay>{b, a} : std::vector<FixWay>{a, b};
}

// One action for several findings: what all of them save.
FixRow LeverRows::Row(const ActionGroup& group) const {
  FixRow row = Row(*group.front());
  if (group.size() == 1) return row;
  row.findings = group;
  std::vector<std::pair<std::string, double>> titles;  // with the time of their work
  std::vector<int> numbers;
  bool later = true;
  for (const findings::Finding* one : group) {
    numbers.push_back(one->global_rank);
    std::string title = ShortTitle(WithoutDirectories(WordsOf(*one).title));
    const auto told = std::ranges::find(titles, title, &std::pair<std::string, double>::first);
    if (told == titles.end()) {
      titles.emplace_back(std::move(title), one->OwnMs());
    } else {
      told->second += one->OwnMs();
    }
    later = later && ShowsLater(*one);
  }
  const findings::Range after = AfterOf(group);
  row.number = fmt::format("{}", fmt::join(numbers, ", "));
  row.because.clear();
  for (const auto& [title, ms] : titles) {
    row.because += (row.because.empty() ? "" : "; ") + title;
    if (const std::string told = EachMs(analysis_, ms);
        titles.size() > 1 && title.find(told) == std::string::npos)
      row.because += fmt::format(" ({})", told);
  }
  const findings::Range alone = AloneOf(group);
  // A sum with a low end is no upper bound.
  if (!later)
    row.alone = SumRange(analysis_, alone) + (alone.low > 0 ? "" : WhyWide(*group.front()));
  for (FixWay& way : row.ways)
    way.saves.clear();
  row.after = SumCell(analysis_, after);
  row.brief = Expected(analysis_, after);
  if (row.brief.empty()) row.brief = SumRange(analysis_, after);
  row.alike = !later && AreAlike(alone, after);
  return row;
}

// What spares the host work where a finding above spares it nearly all: for whoever cannot do that.
bool IsInstead(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr double kLeast = 0.02;      // of the step, alone
  constexpr double kHardlyLeft = 0.2;  // of that, once those above are done
  constexpr double kNothing = 0.01;    // of the step: more is a saving of its own
  const findings::WallSaving* best = findings::BestWall(finding);
  return best != nullptr && !finding.one_off && best->ms.mid >= kLeast * analysis.wall.wall_ms &&
         best->after_others_ms <= kHardlyLeft * best->ms.mid &&
         best->after_others_ms <= kNothing * analysis.wall.wall_ms;
}

// Leaves the GPU, and with it all that makes launching cheaper.
bool LeavesGpu(const findings::Finding& finding) {
  return finding.rule == findings::Pattern::kSmallForGpu;
}

// The first finding that spares the host its launches that a row has; null: none.
const findings::Finding* HostLever(const std::vector<ActionGroup>& groups) {
  for (const ActionGroup& group : groups) {
    const findings::Finding& head = *group.front();
    const bool host = head.host != nullptr || LeavesGpu(head);
    if (host && !head.one_off && findings::BestWall(head) != nullptr) return &head;
  }
  return nullptr;
}

// The host's time that a finding's way out takes away.
IntervalSet<std::int64_t> HostTimeOf(const findings::Finding& finding) {
  IntervalSet<std::int64_t> times;
  if (finding.way == nullptr) return times;
  for (const analysis::Change& change : finding.way->changes) {
    if (const auto* scale = std::get_if<analysis::ScaleHost>(&change)) {
      for (const analysis::HostStretch& one : scale->stretches)
        times.push_back({one.begin_ns, one.end_ns});
    } else if (const auto* graph = std::get_if<analysis::GraphLaunches>(&change)) {
      times.push_back({graph->begin_ns, graph->end_ns});
    }
  }
  return Union(std::move(times));
}

// The row that spares the host the most of what this one would; none does: `host`.
const findings::Finding* SameHostTime(const std::vector<ActionGroup>& groups,
                                      const findings::Finding& host,
                                      const findings::Finding& finding) {
  const IntervalSet<std::int64_t> own = HostTimeOf(finding);
  const findings::Finding* best = &host;
  std::int64_t most_ns = 0;
  for (const ActionGroup& group : groups) {
    const std::int64_t same_ns = Length(Intersect(own, HostTimeOf(*group.front())));
    if (same_ns <= most_ns) continue;
    most_ns = same_ns;
    best = group.front();
  }
  return best;
}

// The row that takes its saving: the first that is about most of its kernels, else the host's.
const findings::Finding* InsteadOf(const findings::Analysis& analysis,
                                   const std::vector<ActionGroup>& groups,
                                   const findings::Finding& host,
                                   const findings::Finding& finding) {
  if (LeavesGpu(host)) return &host;
  if (findings::SparesHost(finding)) return SameHostTime(groups, host, finding);
  const std::vector<trace::EventIndex> own = analysis.WorkOf(finding);
  for (const ActionGroup& group : groups) {
    std::vector<trace::EventIndex> same, others = analysis.WorkOf(*group.front());
    std::set_intersection(own.begin(), own.end(), others.begin(), others.end(),
                          std::back_inserter(same));
    if (2 * same.size() > own.size()) return group.front();
  }
  return &host;
}

// Once the GPU is as fast as the rows above make it, the host may bind; absent: it does not, or a
// row above is about its launches.
std::optional<FixRow> LeverRows::HostThen() const {
  const double then_ms = analysis_.wall.host_then_ms;
  if (then_ms <= 0 || 100 * then_ms < kThenShare * analysis_.wall.wall_ms) return std::nullopt;
  for (const findings::Finding& finding : analysis_.findings) {
    const bool launches =
        finding.host != nullptr && (finding.host->kind == findings::HostCauseKind::kLaunchBound ||
                                    finding.host->kind == findings::HostCauseKind::kReplayGap);
    if (launches || finding.joint_ms) return std::nullopt;
  }
  const std::vector<findings::Remedy> ways =
      findings::WaysToLaunchFaster(analysis_.context, false, true);
  if (ways.empty()) return std::nullopt;
  FixRow row = Beside('B', FirstClause(AdviceSentence(analysis_, ways.front())),
                      fmt::format("The host {} the bottleneck once the rows above are done",
                                  BecomesOrRemains(analysis_)),
                      AtMost(then_ms), "not in the total");
  row.brief = "at most " + EachMs(analysis_, then_ms);
  return row;
}

// GEMMs that are slow for their precision: a narrower one instead of a faster kernel. Training asks
// for more than a cast.
std::optional<FixRow> NarrowerRow(const findings::Analysis& analysis, std::size_t cards) {
  constexpr double kLeast = 0.03;  // of the wall time
  const findings::WallBase& wall = analysis.wall;
  if (analysis.context.training || !wall.known) return std::nullopt;
  double ms = 0;
  std::vector<std::string> ranks;
  for (const findings::Finding& finding : std::span(analysis.findings).first(cards)) {
    if (finding.rule != findings::Pattern::kBelowLargeProducts &&
        finding.rule != findings::Pattern::kSlowerThanSiblings)
      continue;
    const auto option_ms = findings::NumberOf(finding.patterns.front().facts, "option_ms");
    if (!option_ms) continue;
    ms += *option_ms;
    ranks.push_back(fmt::format("{}", finding.global_rank));
  }
  ms = std::min(ms, wall.gpu_floor_ms - wall.host_floor_ms);  // then the host sets the pace
  if (ms < kLeast * wall.wall_ms) return std::nullopt;
  FixRow row = Beside(
      'A', Say(phrases::front::kNarrower), Say(phrases::front::kNarrowerReason),
      fmt::format("up to {} ({})", EachMs(analysis, ms), SavingShare(analysis, ms)),
      Say(phrases::front::kNarrowerSaves, {{"count", ranks.size()}, {"ranks", Enumerated(ranks)}}));
  row.brief = "up to " + EachMs(analysis, ms);
  return row;
}

// Of the findings that have no row: with less the rows add up all the same.
bool IsWorthALine(const findings::Analysis& analysis, const findings::Range& further) {
  constexpr double kFurther = 0.01;
  const findings::Range& all = *analysis.wall.together_ms;
  return further.high >= kFurther * analysis.wall.wall_ms || further.high > kFurther * all.high ||
         further.low > kFurther * all.low;
}

// Of a line without recommendation, what kernel names tell that it needs; empty: nothing.
std::string NeededText(const findings::Analysis& analysis, const findings::UncoveredLine& line) {
  if (!line.least_ms) return "";
  const std::string least = EachMs(analysis, *line.least_ms);
  if (!line.by_grids) {
    return fmt::format(
        ", of which memory traffic takes {} at 90% of the peak bandwidth (sizes from kernel names)",
        least);
  }
  const findings::Range needed{*line.least_ms, *line.least_ms, line.most_ms.value_or(0)};
  return fmt::format(
      ", of which {} are needed at 90% of the device's peaks (sizes from kernel names and grids)",
      line.most_ms && !findings::IsWide(needed) ? EachRange(analysis, needed)
                                                : "at least " + least);
}

// Large lines of the base that no recommendation is about are said to be none; GPU work that the
// host hides is none to shorten. Absent: there is none.
std::optional<FixRow> UncoveredRow(const findings::Analysis& analysis) {
  constexpr double kRest = 0.05;  // of a line: with less in fixes it is the line
  std::vector<std::string> names, kinds;
  bool assessed = true, kernels = true;
  std::size_t lines = 0;
  const bool hidden = HostHidesGpu(analysis);
  for (const findings::UncoveredLine& line : analysis.uncovered) {
    if (hidden && line.work) continue;
    ++lines;
    assessed = assessed && line.bound_ms;
    kernels = kernels && line.work && *line.work != ledger::WorkKind::kHostCopy &&
              !ledger::IsCommunication(*line.work);
    if (kinds.size() == kUncoveredMost) continue;
    const bool rest = line.work && analysis.covered[static_cast<std::size_t>(*line.work)] > kRest;
    std::string name =
        line.work ? InSentence(std::string(LineName(*line.work))) : "GPU waits for the host";
    kinds.push_back(name);
    const std::string needed = NeededText(analysis, line);
    // The first paragraph says what is not assessed, and the table of time how much it is.
    if (!line.bound_ms && line.op.empty() && needed.empty() && !rest) continue;
    if (rest) name += " that no priority covers";
    names.push_back(fmt::format("{} ({}, {}{}){}", name, EachMs(analysis, line.ms),
                                BaseShare(analysis, line.ms),
                                line.op.empty() ? "" : ", mostly " + Code(line.op, 60), needed));
  }
  if (lines == 0) return std::nullopt;
  if (lines > kinds.size()) kinds.emplace_back("other work");
  return Beside(
      '\0',
      kernels && !assessed
          ? fmt::format(
                "Profile {} with hardware counters; no performance model covers most of this time",
                Enumerated(kinds))
      : !assessed
          ? fmt::format("Record what \"How far to trust it\" asks for; {} {} no verdict yet",
                        Enumerated(kinds), kinds.size() == 1 ? "has" : "have")
      : kernels
          ? fmt::format(
                "Profile {} with hardware counters; no recommendation covers most of this time",
                Enumerated(kinds))
          : fmt::format("No recommendation covers most of the time of {}", Enumerated(kinds)),
      names.empty()
          ? std::string(kAbsentText)
          : fmt::format("{} {}", names.size() < kinds.size() ? "Among these:" : "The time goes to",
                        fmt::join(names, "; ")),
      // A bound says what a line's work needs, not that something is known to get it there.
      "no saving known", analysis.wall.together_ms ? "not in the total" : std::string(kAbsentText));
}

// How many more findings save something, with the largest named, where it has a way out.
std::string FurtherAction(const findings::Analysis& analysis, const TextEdits& edits,
                          std::size_t cards, std::size_t* count) {
  constexpr double kTold = 0.01;  // of the wall time
  const findings::Finding* largest = nullptr;
  double most = 0;
  for (const findings::Finding& finding : std::span(analysis.findings).subspan(cards)) {
    const findings::WallSaving* best = findings::BestWall(finding);
    if (best == nullptr || finding.one_off) continue;
    const double high = findings::AfterOthers(*best).high;
    if (high <= 0) continue;
    ++*count;
    if (finding.host != nullptr && finding.host->mostly_recorder()) continue;
    if (largest != nullptr && high <= most) continue;
    largest = &finding;
    most = high;
  }
  std::string words = largest == nullptr || most < kTold * analysis.wall.wall_ms
                          ? ""
                          : FirstClause(TextOf(analysis, *largest, edits).action);
  words = InSentence(std::move(words));
  return Say(phrases::front::kFurther, {{"count", *count}, {"largest", words}});
}

FixRow FurtherRow(const findings::Analysis& analysis, const TextEdits& edits, std::size_t cards,
                  const findings::Range& saving) {
  const std::string dash(kAbsentText);
  std::size_t count = 0;
  std::string action = FurtherAction(analysis, edits, cards, &count);
  return Beside('\0', std::move(action), dash, dash,
                SumRange(analysis, saving) + (count > 1 ? " together" : ""));
}

// "[1](#detail-f1), [2](#detail-f2)"; of a row about no finding, its text.
std::string LinkedNumber(const FixRow& row) {
  if (row.findings.empty() || row.number == kAbsentText) return row.number;
  std::vector<std::string> numbers;
  for (const findings::Finding* one : row.findings)
    numbers.push_back(fmt::format("[{}](#{})", one->global_rank, Anchor(one->id)));
  return fmt::format("{}", fmt::join(numbers, ", "));
}

// "A: ...; B: ...", or the one without its letter, which stands in a column of its own.
template <typename Member>
std::string WaysCell(const FixRow& row, Member member) {
  if (row.ways.size() == 1) return row.ways.front().*member;
  std::vector<std::string> cells;
  for (const FixWay& way : row.ways)
    cells.push_back(fmt::format("{}: {}", way.path, way.*member));
  return fmt::format("{}", fmt::join(cells, "; "));
}

}  // namespace

bool TakesPathB(const findings::Finding& finding) {
  const findings::WallSaving* best = findings::BestWall(finding);
  if (best != nullptr) return finding.wall_b && best == &*finding.wall_b;
  if (findings::HasAction(finding.path_a)) return false;
  return findings::HasAction(finding.path_b) || !finding.path_b.empty();
}

std::vector<FixRow> FixRows(const findings::Analysis& analysis, const TextEdits& edits,
                            const std::vector<ActionGroup>& groups, std::size_t cards) {
  const LeverRows rows(analysis, edits);
  std::vector<FixRow> out;
  for (const ActionGroup& group : groups) {
    out.push_back(rows.Row(group));
    if (std::optional<FixRow> joint = rows.Joint(*group.front())) out.push_back(std::move(*joint));
    const bool host = group.front() == HostLever(groups);
    std::optional<FixRow> batch = host ? BatchRow(analysis) : std::nullopt;
    if (batch) out.push_back(std::move(*batch));
  }
  if (out.empty()) return out;
  if (std::optional<FixRow> then = rows.HostThen()) out.push_back(std::move(*then));
  const findings::Finding* const host = HostLever(groups);
  if (std::optional<FixRow> batch = host == nullptr ? BatchRow(analysis) : std::nullopt)
    out.push_back(std::move(*batch));
  constexpr std::size_t kInsteadMax = 2;
  std::size_t told = 0;
  for (std::size_t i = cards; i < analysis.findings.size() && told < kInsteadMax; ++i) {
    const findings::Finding& finding = analysis.findings[i];
    if (host == nullptr || !IsInstead(analysis, finding)) continue;
    out.push_back(rows.Instead(*InsteadOf(analysis, groups, *host, finding), finding));
    ++told;
  }
  if (auto narrower = NarrowerRow(analysis, cards)) out.push_back(std::move(*narrower));
  if (auto uncovered = UncoveredRow(analysis)) out.push_back(std::move(*uncovered));
  const auto further = findings::TogetherOf(std::span(analysis.findings).subspan(cards));
  if (analysis.wall.together_ms && further && IsWorthALine(analysis, *further))
    out.push_back(FurtherRow(analysis, edits, cards, *further));
  return out;
}

std::string FixTable(const findings::Analysis& analysis, const std::vector<FixRow>& rows) {
  MarkdownTable table({"#", "What to do", "Because of", SavingTitle(analysis),
                       std::string(kExtraSavingTitle), "Path"});
  for (const FixRow& row : rows) {
    const bool each = row.ways.size() > 1 && !row.ways.front().saves.empty();
    table.Row({LinkedNumber(row), WaysCell(row, &FixWay::action), row.because,
               each ? WaysCell(row, &FixWay::saves) : row.alone,
               row.after + (row.until.empty() ? "" : " once priority " + row.until + " is done"),
               row.paths});
  }
  if (table.empty()) return "";
  if (analysis.wall.together_ms) {
    const std::string dash(kAbsentText);
    table.Row(
        {dash, "All of the above", dash, dash, SumCell(analysis, TogetherMs(analysis)), dash});
  }
  return table.text() + "\n" + std::string(kPathLegend) + "\n\n";
}

}  // namespace jarvis::documents
