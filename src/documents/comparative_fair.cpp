#include "documents/comparative_fair.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "documents/comparative_base.h"
#include "documents/comparative_changes.h"
#include "documents/comparative_levers.h"
#include "documents/comparative_phases.h"
#include "documents/comparative_verdict.h"
#include "documents/comparative_words.h"
#include "documents/markdown_text.h"
#include "output/number_format.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kChangesMax = 5;
constexpr std::size_t kDetailedMax = 2;  // rows with a section of their own
constexpr std::size_t kListedMax = 4;
constexpr std::size_t kKernelsMax = 2;
constexpr std::size_t kPartsMax = 3;
// Rows below this share of a unit are not listed; parts below the other are told as one.
constexpr double kListedShare = 0.005;
constexpr double kPartShare = 0.02;

std::string Number(const std::optional<double>& value) {
  return value ? output::CellText(Cell(*value)) : "–";
}

std::string_view ComparativeIcon(std::size_t priority) {
  return priority == 1 ? "🔴" : priority == 2 ? "🟡" : "🟢";
}

std::optional<double> Over(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b || !(*b > 0)) return std::nullopt;
  return *a / *b;
}

std::string Percent(const std::optional<double>& part, const std::optional<double>& whole) {
  const auto share = Over(part, whole);
  return share ? fmt::format("{:.1f} %", *share * 100) : "–";
}

std::string_view BoundWord(perf::Bound bound) {
  return bound == perf::Bound::kMemory ? "memory" : "compute";
}

class FairWriter {
 public:
  explicit FairWriter(const ComparativeFacts& facts)
      : f_(facts), balance_(facts.pair.balance), levers_(PairLevers(facts)) {}

  std::string Write() {
    ChooseDetailed();
    Summary();
    Recommendations();
    Trust();
    Details();
    Appendix();
    return std::move(out_);
  }

 private:
  template <typename... T>
  void Line(fmt::format_string<T...> format, T&&... values) {
    out_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  const session::LoadedTrace& Candidate() const { return f_.candidate.side.trace; }
  const session::LoadedTrace& Baseline() const { return f_.baseline.side.trace; }
  double ListedMs() const { return kListedShare * balance_.ms[0]; }

  void Summary() {
    Line("# {} Performance Comparison: {} vs {}\n", f_.model, f_.baseline_name, f_.candidate_name);
    Line("## Executive Summary\n");
    Line("{}\n", PairVerdict(f_));
    if (const std::string split = PairSplit(f_); !split.empty()) Line("{}\n", split);
    WhatChanged();
    Workloads();
    for (const std::string& line : PairBases(f_))
      Line("* {}", line);
    Line("");
    ChangesTable();
    MetricTable();
    BalanceTable();
    PhaseTable();
    Line("### Key Findings\n");
    const std::vector<std::string> findings = KeyFindings(f_);
    for (std::size_t i = 0; i < findings.size(); ++i)
      Line("{}. {}", i + 1, findings[i]);
    if (findings.empty()) Line("{}", WithoutFindings());
    Line("\n---\n");
  }

  // What differs without being judged, so that nobody reads that nothing does.
  std::string WithoutFindings() const {
    if (!PairChangeLines(f_).empty())
      return "What differs is listed above, under \"What changed\"; nothing beyond it is judged.";
    std::vector<std::string> parts;
    for (const WindowPart& part : WindowParts(f_)) {
      const double ms = part.candidate_ms - part.baseline_ms;
      if (std::abs(ms) >= kPartShare * balance_.ms[0])
        parts.push_back(fmt::format("{} {}", part.name, SignedMs(ms)));
    }
    return parts.empty()
               ? std::string("No part of the time differs by 2 % of it.")
               : fmt::format("Nothing is judged beyond the first lines; what differs: {}.",
                             fmt::join(parts, ", "));
  }

  void Workloads() {
    const auto line = [](const findings::Analysis& analysis) {
      const std::string text = findings::WorkloadLine(analysis.workload);
      return text.empty() ? std::string("not known") : Md(text, 500);
    };
    Line("* Candidate: {}", line(*f_.pair.primary));
    Line("* Baseline: {}", line(*f_.pair.comparison));
    if (!f_.shared.empty()) Line("* {}", Capitalised(f_.shared));
    if (!f_.differences.empty()) Line("* What differs: {}", fmt::join(f_.differences, "; "));
    Line("");
  }

  void WhatChanged() {
    const std::vector<std::string> lines = PairChangeLines(f_);
    if (lines.empty()) return;
    Line("What changed, net, by size:\n");
    for (const std::string& line : lines)
      Line("* {}", line);
    Line("");
  }

  void PhaseTable() {
    const std::vector<PhaseRow> rows = PairPhaseRows(f_);
    if (rows.empty()) return;
    Line("### By phase\n\n| Phase, {} (busy + idle) | Baseline | Candidate | Difference |",
         PhaseRowsOf(f_));
    Line("|---|---|---|---|");
    for (const PhaseRow& row : rows)
      Line("| {} | {} | {} | {} |", row.name, row.baseline, row.candidate, row.difference);
    Line("");
  }

  // The answer in a few lines; the recommendations say more.
  void ChangesTable() {
    if (levers_.empty()) return;
    Line(
        "| # | What to do | Why | Saves of wall time | Of GPU time | Path |\n"
        "|---|---|---|---|---|---|");
    for (std::size_t i = 0; i < levers_.size() && i < kChangesMax; ++i) {
      const LeverText& lever = levers_[i];
      Line("| {} | {} | {} | {} | {} | {} |", i + 1, ChangeClause(lever), lever.why,
           lever.saves.empty() ? "not known" : lever.saves,
           lever.gpu_ms > 0 ? "up to " + Ms(lever.gpu_ms) : "–",
           lever.ways.empty() ? "–" : std::string(1, lever.ways.front().path));
    }
    Line("");
    if (const std::string order = LeverOrderText(levers_); !order.empty()) Line("{}\n", order);
    if (const std::string sum = LeverSumText(f_, levers_); !sum.empty()) Line("{}\n", sum);
  }

  void MetricTable() {
    const std::vector<WindowPart> parts = WindowParts(f_);
    if (parts.empty()) return;
    Line("| Metric{} | Baseline | Candidate | Δ |\n|---|---|---|---|", UnitsText());
    for (const WindowPart& part : parts) {
      Line("| {} | {} | {} | {} ({}) |", part.name, Ms(part.baseline_ms), Ms(part.candidate_ms),
           SignedMs(part.candidate_ms - part.baseline_ms),
           Delta(part.candidate_ms, part.baseline_ms));
    }
    Line("");
  }

  // " (mean of 10 and 9)": what times are averages of.
  std::string UnitsText() const {
    if (balance_.units[0] <= 1 && balance_.units[1] <= 1) return "";
    return fmt::format(" ({}, mean of {} and {})", UnitText(f_), Number(balance_.units[1]),
                       Number(balance_.units[0]));
  }

  // What the difference of a unit is made of.
  void BalanceTable() {
    if (balance_.lines.empty() || f_.comparability().verdict == "same file") return;
    const bool expected = std::any_of(balance_.lines.begin(), balance_.lines.end(),
                                      [](const auto& line) { return line.expected_ms; });
    Line("### Where the difference comes from\n");
    Line("| Line of the ledger | Baseline | Candidate | Difference |{} GPU time | Mostly |",
         expected ? " By the hardware |" : "");
    Line("|---|---|---|---|{}---|---|", expected ? "---|" : "");
    double rest[2] = {0, 0};
    for (const findings::BalanceLine& line : balance_.lines) {
      if (std::max(std::abs(line.ms[0]), std::abs(line.ms[1])) < kPartShare * balance_.ms[0]) {
        for (int i = 0; i < 2; ++i)
          rest[i] += line.ms[i];
        continue;
      }
      Line("| {} | {} | {} | {} |{} {} | {} |", LineName(line), Ms(line.ms[1]), Ms(line.ms[0]),
           SignedMs(line.difference_ms()),
           expected ? (line.expected_ms ? " " + Ms(*line.expected_ms) + " |" : " – |") : "",
           line.work ? SignedMs(line.gpu_ms[0] - line.gpu_ms[1]) : "–", MostlyText(line));
    }
    if (rest[0] != 0 || rest[1] != 0) {
      Line("| all else | {} | {} | {} |{} – | |", Ms(rest[1]), Ms(rest[0]),
           SignedMs(rest[0] - rest[1]), expected ? " – |" : "");
    }
    Line("| **{}** | {} | {} | **{}** |{} – | |", balance_.unit, Ms(balance_.ms[1]),
         Ms(balance_.ms[0]), SignedMs(balance_.ms[0] - balance_.ms[1]), expected ? " – |" : "");
    Line("\nWall time; every line and kernel is in ledger.csv.\n");
  }

  // The kernels that carry a line's difference; of one side's idle time nothing more is known.
  std::string MostlyText(const findings::BalanceLine& line) const {
    return PartsText(balance_, line, kPartsMax,
                     std::max(ListedMs(), 0.05 * std::abs(line.difference_ms())));
  }

  void Recommendations() {
    Line("## Recommendations for {}\n", f_.candidate_device);
    if (levers_.empty()) {
      Line("{}\n\n---\n",
           f_.pair.comparable()
               ? "None: nothing of the candidate is slower than the baseline shows to be possible, "
                 "and its own analysis finds nothing to fix."
               : "None: the traces are not comparable.");
      return;
    }
    for (std::size_t i = 0; i < levers_.size(); ++i) {
      const LeverText& lever = levers_[i];
      Line("### {} Priority {}: {}\n", ComparativeIcon(i + 1), i + 1, lever.title);
      Line("**Gap**: {}  ", lever.gap);
      if (const std::string action = ActionText(lever); !action.empty())
        Line("**Action**: {}  ", action);
      Line("**Impact**: {}", lever.impact.empty() ? "not known from the trace." : lever.impact);
      if (const std::size_t place = PlaceOfRow(lever.row); place > 0)
        Line("→ *See [Detailed Comparison {0}](#row-{0})*", place);
      Line("");
    }
    Line("---\n");
  }

  void Trust() {
    Line("## How far to trust it, and what to record next\n");
    for (const std::string& text : PairLimits(f_))
      Line("* {}", text);
    for (const std::string& text : PairNextRecordings(f_))
      Line("* Next: {}", text);
    Line("\n---\n");
  }

  // Rows of levers first, then what else is slower, then what is faster.
  void ChooseDetailed() {
    if (!f_.pair.comparable()) return;
    const auto add = [&](const findings::CompareRow* row) {
      if (row == nullptr || detailed_.size() == kDetailedMax ||
          std::find(detailed_.begin(), detailed_.end(), row) != detailed_.end())
        return;
      detailed_.push_back(row);
    };
    for (const LeverText& lever : levers_)
      add(lever.row);
    for (const auto* rows : {&f_.slower, &f_.faster}) {
      for (const findings::CompareRow* row : *rows) {
        if (std::abs(*row->unexpected_ms) >= 2 * ListedMs()) add(row);
      }
    }
  }

  std::size_t PlaceOfRow(const findings::CompareRow* row) const {
    const auto found = std::find(detailed_.begin(), detailed_.end(), row);
    return row == nullptr || found == detailed_.end()
               ? 0
               : static_cast<std::size_t>(found - detailed_.begin()) + 1;
  }

  void Details() {
    Line("## Detailed Comparison\n");
    for (std::size_t i = 0; i < detailed_.size(); ++i)
      Detail(*detailed_[i], i + 1);
    const auto listed = [&](const findings::CompareRow& row) {
      return PlaceOfRow(&row) == 0 && !f_.pair.moved.Has(row) &&
             std::max(row.primary_ms.value_or(0), row.comparison_ms.value_or(0)) >= ListedMs();
    };
    using findings::CompareVerdict;
    List(
        f_.ops().same_device ? "As on the baseline" : "As the hardware explains",
        [&](const auto& row) { return row.verdict == CompareVerdict::kAsExpected && listed(row); });
    List("Slower, or faster, than that", [&](const auto& row) {
      return (row.verdict == CompareVerdict::kSlower || row.verdict == CompareVerdict::kFaster) &&
             listed(row);
    });
    // Collectives of other sizes or kinds are no pair; the findings tell each.
    List("Matched, not judged", [&](const auto& row) {
      const bool exchanged = row.arguments_differ && IsCommunication(row);
      return row.verdict == CompareVerdict::kUnknown && listed(row) && !exchanged;
    });
    Moved();
    List("In the candidate only", [&](const auto& row) {
      return row.verdict == CompareVerdict::kOnlyInPrimary && listed(row);
    });
    List("In the baseline only", [&](const auto& row) {
      return row.verdict == CompareVerdict::kOnlyInComparison && listed(row);
    });
    Line("---\n");
  }

  // Ops of one side whose work the other does where no op is recorded: the kinds of work agree.
  void Moved() {
    const findings::MovedWork& moved = f_.pair.moved;
    if (moved.rows.empty()) return;
    std::vector<std::string> holders;
    for (const findings::CompareRow* row : moved.holders) {
      if (std::max(row->primary_ms.value_or(0), row->comparison_ms.value_or(0)) >= ListedMs() &&
          holders.size() < kListedMax)
        holders.push_back(fmt::format("{} ({})", TitleOf(*row),
                                      Ms(row->primary_ms ? row->primary_ms : row->comparison_ms)));
    }
    Line("### Moved into a graph or compiled kernels\n");
    Line("The other side does this work where no op is recorded{}; it is not gone.\n",
         holders.empty() ? "" : fmt::format(", in {}", fmt::join(holders, ", ")));
    Line("| Operation | Baseline | Candidate | Its kind of work, baseline → candidate |");
    Line("|---|---|---|---|");
    std::size_t listed = 0;
    for (const findings::CompareRow* row : moved.rows) {
      const double ms = std::max(row->primary_ms.value_or(0), row->comparison_ms.value_or(0));
      if (ms < ListedMs()) continue;
      if (++listed > kListedMax) continue;
      Line("| {} | {} | {} | {} |", TitleOf(*row), Ms(row->comparison_ms), Ms(row->primary_ms),
           LineOfRow(*row));
    }
    if (listed > kListedMax) Line("\n{} more in compare_by_op.csv.", listed - kListedMax);
    Line("");
  }

  // "GPU: GEMMs 350.5 ms → 270.4 ms".
  std::string LineOfRow(const findings::CompareRow& row) const {
    const bool candidate = row.primary_ms.value_or(0) > row.comparison_ms.value_or(0);
    const ledger::WorkKind work = findings::KindOfLaunchers(
        candidate ? findings::AnalysedSide{f_.candidate.side, *f_.pair.primary}
                  : findings::AnalysedSide{f_.baseline.side, *f_.pair.comparison},
        candidate ? row.primary_launchers : row.comparison_launchers);
    for (const findings::BalanceLine& line : balance_.lines) {
      if (line.work == work || (line.folded && findings::FoldsTogether(work)))
        return fmt::format("{} {} → {}", LineName(line), Ms(line.gpu_ms[1]), Ms(line.gpu_ms[0]));
    }
    return "–";
  }

  bool IsCommunication(const findings::CompareRow& row) const {
    return !row.primary_launchers.empty() &&
           ledger::IsCommunication(findings::KindOfLaunchers({f_.candidate.side, *f_.pair.primary},
                                                             row.primary_launchers));
  }

  void Detail(const findings::CompareRow& row, std::size_t number) {
    Line("<a id=\"row-{0}\"></a>\n### {0}. {1}\n", number, TitleOf(row));
    const auto& candidate = row.primary_ms;
    const auto& baseline = row.comparison_ms;
    const bool as_expected = row.verdict == findings::CompareVerdict::kAsExpected;
    Line("| Metric | Baseline | Candidate | Δ | Expected? |\n|---|---|---|---|---|");
    Line("| Time | {} | {} | {} | {}: {} |", Ms(baseline), Ms(candidate),
         Delta(candidate, baseline), as_expected ? "Yes" : "No", ExpectedText(row));
    const auto of_baseline = Over(row.comparison_ms, row.comparison_calls);
    const auto of_candidate = Over(row.primary_ms, row.primary_calls);
    Line("| Time a call ({} and {} calls) | {} | {} | {} | – |", Number(row.comparison_calls),
         Number(row.primary_calls), Ms(of_baseline), Ms(of_candidate),
         Delta(of_candidate, of_baseline));
    if (row.primary_roof_ms && row.comparison_roof_ms && !f_.ops().same_device &&
        !ToldByOtherMeasure(row)) {
      Line("| Share of the roof | {} | {} | – | – |",
           Percent(row.comparison_roof_ms, row.comparison_ms),
           Percent(row.primary_roof_ms, row.primary_ms));
    }
    Line("");
    Kernels("Baseline", Baseline(), row.comparison_launchers, f_.ops().units[1]);
    Kernels("Candidate", Candidate(), row.primary_launchers, f_.ops().units[0]);
    Line("\n{}\n", Analysis(row));
  }

  // Whether the findings tell the row's kind of work by the arithmetic's rate, while bytes bound
  // it: two shares of one row would be read as a contradiction.
  bool ToldByOtherMeasure(const findings::CompareRow& row) const {
    for (const findings::PairLever& lever : f_.pair.levers) {
      if (std::find(lever.rows.begin(), lever.rows.end(), &row) == lever.rows.end()) continue;
      const findings::BalanceLine* line = balance_.Find(lever.work);
      return line != nullptr && line->told_by_arithmetic() &&
             row.primary_bound == perf::Bound::kMemory;
    }
    return false;
  }

  void Kernels(const char* side, const session::LoadedTrace& trace,
               const std::vector<std::uint32_t>& launchers, double parts) {
    std::size_t rest = 0;
    std::string text;
    for (const RowKernel& kernel : KernelsOf(trace, launchers, parts, kKernelsMax, &rest)) {
      text += fmt::format("{}`{}` ({}, {} times)", text.empty() ? "" : ", ", MdCode(kernel.name),
                          Ms(kernel.ms), Number(kernel.count));
    }
    if (rest > 0) text += fmt::format(" and {} others", rest);
    Line("* {} kernels: {}", side, text);
  }

  std::string Analysis(const findings::CompareRow& row) const {
    std::string text;
    if (f_.ops().same_device) {
      text = "The devices are the same, so the same time is expected.";
    } else if (!row.expected || !row.primary_bound || !row.comparison_bound) {
      text = "What the devices explain of it is not known.";
    } else if (row.far_from_roofs) {
      text =
          "Neither side is near its roof, so the devices do not explain the difference: the "
          "baseline's time is what is known to be possible.";
    } else {
      const std::string bound =
          *row.primary_bound == *row.comparison_bound
              ? fmt::format("{} bound on both", BoundWord(*row.primary_bound))
              : fmt::format("{} bound on the baseline, {} bound on the candidate",
                            BoundWord(*row.comparison_bound), BoundWord(*row.primary_bound));
      text = fmt::format(
          "By its shapes this work is {}: the devices explain {} of the baseline's time, {}.",
          bound, ThreeDigits(*row.expected), Ms(*row.expected * *row.comparison_ms));
    }
    if (row.primary_calls != row.comparison_calls)
      text += " The numbers of calls differ, which is part of it.";
    const std::string id = RowIdOf(Candidate(), row.primary_launchers);
    if (row.verdict == findings::CompareVerdict::kSlower && !id.empty()) {
      text +=
          fmt::format(" Reproducer: `make_replay` with trace {} and row {}.", Candidate().id(), id);
    }
    return text;
  }

  // The rows that `wanted` names, the most time first.
  template <typename Wanted>
  void List(const char* title, const Wanted& wanted) {
    std::vector<const findings::CompareRow*> rows;
    for (const findings::CompareRow& row : f_.ops().rows) {
      if (wanted(row)) rows.push_back(&row);
    }
    if (rows.empty()) return;
    const auto weight = [](const findings::CompareRow* row) {
      return std::max(row->primary_ms.value_or(0), row->comparison_ms.value_or(0));
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const findings::CompareRow* a, const findings::CompareRow* b) {
                       return weight(a) > weight(b);
                     });
    const bool both = rows.front()->primary_ms && rows.front()->comparison_ms;
    Line("### {}\n", title);
    if (both) {
      Line("| Operation | Baseline | Candidate | Δ | Expected |\n|---|---|---|---|---|");
    } else {
      Line("| Operation | Time | Calls |\n|---|---|---|");
    }
    for (std::size_t i = 0; i < rows.size() && i < kListedMax; ++i)
      ListRow(*rows[i], both);
    if (rows.size() > kListedMax) {
      Line("\n{} more in compare_by_op.csv.", rows.size() - kListedMax);
    }
    Line("");
  }

  void ListRow(const findings::CompareRow& row, bool both) {
    const std::string title = TitleOf(row) + (row.arguments_differ ? " (other arguments)" : "");
    const auto& candidate = row.primary_ms;
    const auto& baseline = row.comparison_ms;
    if (!both) {
      Line("| {} | {} | {} |", title, Ms(candidate ? candidate : baseline),
           Number(row.primary_calls ? row.primary_calls : row.comparison_calls));
      return;
    }
    const bool fixed = row.not_judged == findings::NotJudged::kShort;
    Line("| {} | {} | {} | {} | {} |", title, Ms(baseline), Ms(candidate),
         Delta(candidate, baseline),
         fixed ? "– (mostly a kernel's fixed cost)"
         : row.expected && row.not_judged == findings::NotJudged::kNo ? ExpectedText(row)
                                                                      : "–");
  }

  void Appendix() {
    Line("## Appendix\n");
    if (!f_.ops().same_device) Hardware();
    Line("### Methodology\n");
    Line(
        "* Rows are an op with its input shapes and types; calls whose arguments the other trace "
        "does not have are matched by name and not judged, nor is communication. \"a ~ b\" are two "
        "names for the same kind and amount of work.");
    if (f_.ops().same_device) {
      Line("* Expected is the baseline's time; a row is as expected within 15 % of it.");
      return;
    }
    Line(
        "* Expected = the least time that the work can take on the candidate over that on the "
        "baseline: of bandwidths where traffic is the limit, of FLOP rates at the work's "
        "precision "
        "where arithmetic is. Rates of the same kind are held against each other: measured ones "
        "where both devices have them, else the peaks of both.");
    Line(
        "* Where both take more than twice their roofs, the devices explain nothing by themselves: "
        "any ratio from 1 to theirs is then let pass. Up to 3 µs of a kernel count as fixed cost; "
        "a "
        "row is as expected within 15 %.");
  }

  // The figures that rows of this comparison were held against.
  void Hardware() {
    Line("### Hardware specs used for \"expected\"\n");
    const auto& candidate = f_.candidate.side.platform;
    const auto& baseline = f_.baseline.side.platform;
    if (!candidate || !baseline) {
      Line("None: the figures of {} are not known.\n",
           candidate ? "the baseline" : "the candidate");
      return;
    }
    const auto [a, b] = perf::LikeWithLike(*candidate, *baseline);
    Line("| Metric | Candidate Platform | Baseline Platform |\n|---|---|---|");
    Line("| Platform | {} | {} |", Md(candidate->name), Md(baseline->name));
    Line("| HBM bandwidth (GB/s, peak) | {} | {} |", Number(candidate->mem_bw_gbps),
         Number(baseline->mem_bw_gbps));
    for (const std::string& spec : Specs()) {
      Line("| {} (TFLOPS/s) | {} | {} |", spec, CeilingText(a, spec), CeilingText(b, spec));
      const auto practical = perf::CeilingFor(*candidate, spec);
      if (practical && practical->source == perf::Source::kAchievable &&
          perf::CeilingFor(a, spec) != practical)
        Line("| {}, measured (TFLOPS/s) | {} | – |", spec, Number(practical->tflops));
    }
    Line("");
  }

  std::vector<std::string> Specs() const {
    std::set<std::string> specs;
    for (const findings::CategoryAnalysis& category : f_.pair.primary->categories) {
      for (const findings::Operation& operation : category.operations) {
        if (operation.efficiency.bound == findings::Bound::kCompute &&
            !operation.efficiency.spec.empty())
          specs.insert(operation.efficiency.spec);
      }
    }
    return {specs.begin(), specs.end()};
  }

  static std::string CeilingText(const perf::Platform& platform, const std::string& spec) {
    const auto rate = perf::CeilingFor(platform, spec);
    return rate ? fmt::format("{} ({})", Number(rate->tflops), perf::SourceText(rate->source))
                : "–";
  }

  const ComparativeFacts& f_;
  const findings::Balance& balance_;
  std::vector<LeverText> levers_;
  std::vector<const findings::CompareRow*> detailed_;
  std::string out_;
};

}  // namespace

std::string FairReport(const ComparativeFacts& facts) {
  return FairWriter(facts).Write();
}

}  // namespace jarvis::documents
