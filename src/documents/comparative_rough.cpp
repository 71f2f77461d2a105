#include "documents/comparative_rough.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/tables/callers.h"
#include "documents/comparative_words.h"
#include "findings/one/quality.h"
#include "findings/two/compare_table.h"
#include "output/number_format.h"

namespace jarvis::documents {
namespace {

using analysis::GroupBy;

constexpr std::size_t kRowsMax = 40;
constexpr std::size_t kWorkedMax = 10;
constexpr std::size_t kCallersMax = 2;

class RoughWriter {
 public:
  explicit RoughWriter(const ComparativeFacts& facts) : f_(facts) {}

  std::string Write() {
    Line("# {} Performance Comparison: {} vs {} (Rough)\n", f_.model, f_.baseline_name,
         f_.candidate_name);
    Process();
    RawData();
    Worked();
    Trees();
    Gaps();
    Questions();
    return std::move(out_);
  }

 private:
  template <typename... T>
  void Line(fmt::format_string<T...> format, T&&... values) {
    out_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  void Process() {
    Line("## Analysis Process Summary\n");
    Line("### Step 1: Identify Traces & Setup\n");
    Side("Baseline", f_.baseline, f_.ops().units[1]);
    Side("Candidate", f_.candidate, f_.ops().units[0]);
    Line("\n### Step 2: Comparability\n");
    Line("{}: {} of 100.\n", f_.comparability().verdict, f_.comparability().score);
    for (const std::string& reason : f_.comparability().reasons)
      Line("* {}", Md(reason, 400));
    Line("\n### Step 3: Overall Timing\n");
    Line("| Part | Baseline | Candidate | Δ |\n|---|---|---|---|");
    Line("| GPU time of all rows | {} | {} | {} |", Ms(f_.ops().comparison_ms),
         Ms(f_.ops().primary_ms), Delta(f_.ops().primary_ms, f_.ops().comparison_ms));
    for (const WindowPart& part : WindowParts(f_)) {
      Line("| {} | {} | {} | {} |", part.name, Ms(part.baseline_ms), Ms(part.candidate_ms),
           Delta(part.candidate_ms, part.baseline_ms));
    }
    Line(
        "\nThe table and the rows below are of one unit of each base; work launched before the "
        "recording is left out.\n");
    Line("### Step 4: Match Operations\n");
    Line("{} rows; {} only in the candidate ({}), {} only in the baseline ({}).\n",
         f_.ops().rows.size(), f_.ops().only_primary_rows, Ms(f_.ops().only_primary_ms),
         f_.ops().only_comparison_rows, Ms(f_.ops().only_comparison_ms));
    Line("### Step 5: Expected vs Actual\n");
    Line(
        "Judged: {} of the candidate's {}. Slower than expected: {}; faster: {} (rows of at least "
        "0.2 % of the candidate's GPU time).\n",
        Ms(f_.ops().expected_known_ms), Ms(f_.ops().primary_ms), f_.slower.size(),
        f_.faster.size());
  }

  void Side(const char* name, const ComparativeSide& side, double parts) {
    const session::LoadedTrace& trace = side.side.trace;
    const std::string device = findings::DeviceNames(trace);
    Line("* {}: `{}`, trace {}, {} steps (divided by {}), device {}, figures of {}", name,
         MdCode(trace.path(), 300), trace.id(), trace.steps().size(), parts,
         device.empty() ? "not recorded" : Md(device),
         side.side.platform ? Md(side.side.platform->name) : "no known platform");
  }

  void RawData() {
    Line("## Raw Data Exploration\n");
    Rows("By operation", findings::CompareTable(f_.ops(), GroupBy::kOp), "compare_by_op.csv");
    Rows("By category", findings::CompareTable(f_.categories, GroupBy::kCategory),
         "compare_by_category.csv");
    Rows("By module", findings::CompareTable(f_.modules, GroupBy::kModule),
         "compare_by_module.csv");
  }

  void Rows(const char* title, const Table& table, const char* file) {
    Line("### {}\n", title);
    std::string header;
    std::string rule;
    for (const std::string& column : table.columns) {
      header += "| " + column + " ";
      rule += "|---";
    }
    Line("{}|\n{}|", header, rule);
    for (std::size_t r = 0; r < table.rows.size() && r < kRowsMax; ++r) {
      std::string line;
      for (const Cell& cell : table.rows[r])
        line += "| " + Md(output::CellText(cell)) + " ";
      Line("{}|", line);
    }
    if (table.rows.size() > kRowsMax) Line("\n{} more in {}.", table.rows.size() - kRowsMax, file);
    Line("");
  }

  void Worked() {
    Line("## Expected vs Actual Calculations\n");
    if (f_.slower.empty() && f_.faster.empty()) Line("No row is beyond what is expected.");
    for (const auto* rows : {&f_.slower, &f_.faster}) {
      for (std::size_t i = 0; i < rows->size() && i < kWorkedMax; ++i)
        Calculation(*(*rows)[i]);
    }
    Line("");
  }

  void Calculation(const findings::CompareRow& row) {
    const auto text = [](double value) { return output::CellText(Cell(value)); };
    Line(
        "* {}: actual {} / {} = {}; expected {} by rates, {} with fixed costs; unexpected {} - "
        "{} × {} = {}: {}",
        TitleOf(row), Ms(row.primary_ms), Ms(row.comparison_ms), text(*row.ratio),
        text(*row.expected), text(row.expected_with_fixed_cost.value_or(*row.expected)),
        Ms(row.primary_ms), text((*row.primary_ms - *row.unexpected_ms) / *row.comparison_ms),
        Ms(row.comparison_ms), Ms(row.unexpected_ms), findings::VerdictText(row.verdict));
  }

  void Trees() {
    Line("## Tree Analysis\n");
    if (f_.slower.empty()) Line("No row to follow up.");
    for (std::size_t i = 0; i < f_.slower.size() && i < kWorkedMax; ++i) {
      const findings::CompareRow& row = *f_.slower[i];
      Line("### {}\n", TitleOf(row));
      Callers("Baseline", f_.baseline.side.trace, row.comparison_launchers);
      Callers("Candidate", f_.candidate.side.trace, row.primary_launchers);
      Line("");
    }
  }

  // Of the op with all its shapes.
  void Callers(const char* name, const session::LoadedTrace& trace,
               const std::vector<std::uint32_t>& launchers) {
    const analysis::SummaryRow* summary = trace.FindRow(RowIdOf(trace, launchers));
    if (summary == nullptr) return;
    const auto& callers = trace.CallersOf(*summary);
    Line("* {} ({}, {} chains of callers):", name, summary->id, callers.size());
    for (std::size_t i = 0; i < callers.size() && i < kCallersMax; ++i) {
      const auto places = analysis::CodePlaces(callers[i].frames, 2);
      Line("  * {}, {} calls: {}{}", Ms(callers[i].gpu_us / 1000), callers[i].count,
           Md(analysis::OpPath(callers[i].frames), 200),
           places.empty() ? ""
                          : ", called at " + Md(fmt::format("{}", fmt::join(places, ", ")), 200));
    }
  }

  void Gaps() {
    Line("## TraceLens Gaps\n");
    Line("What the traces do not show, and how much of the time it touches:\n");
    for (const auto& [name, side] :
         {std::pair("Baseline", &f_.baseline), std::pair("Candidate", &f_.candidate)}) {
      // Nobody can stop this one, so that it cannot fail.
      for (const findings::Quality& item : *findings::QualityOf(side->side.trace, Job()).value()) {
        Line("* {}: [{}] {}{}", name, item.code, Md(item.text, 300),
             item.gpu_percent ? fmt::format(" ({:.1f} % of GPU time)", *item.gpu_percent) : "");
      }
    }
    double unknown_ms = 0;
    for (const findings::CompareRow& row : f_.ops().rows) {
      if (row.verdict == findings::CompareVerdict::kUnknown)
        unknown_ms += row.primary_ms.value_or(0);
    }
    Line(
        "* Not judged: {} of the candidate's {}: no performance model, no op, or other "
        "arguments.\n",
        Ms(unknown_ms), Ms(f_.ops().primary_ms));
  }

  void Questions() {
    Line("## Questions for Further Investigation\n");
    for (std::size_t i = 0; i < f_.slower.size() && i < kWorkedMax; ++i) {
      const findings::CompareRow& row = *f_.slower[i];
      Line(
          "* {}: which kernel would the candidate need to lose {}? A replay on both devices tells "
          "the kernel's share from the rest.",
          TitleOf(row), Ms(row.unexpected_ms));
    }
    if (f_.ops().only_primary_ms + f_.ops().only_comparison_ms > 0) {
      Line("* Do the operations that only one trace has do the same work under other names?");
    }
    if (!f_.ops().expected) {
      Line(
          "* Which devices were these? With their figures (`platform`, `baseline_platform`) "
          "expected ratios can be told.");
    }
    Line("* Would further runs of both show the same differences? One trace has no noise.");
  }

  const ComparativeFacts& f_;
  std::string out_;
};

}  // namespace

std::string RoughReport(const ComparativeFacts& facts) {
  return RoughWriter(facts).Write();
}

}  // namespace jarvis::documents
