#include "findings/two/compare_gate.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "findings/two/comparability.h"
#include "findings/two/compare_groups.h"
#include "findings/two/compare_table.h"
#include "findings/two/gate_condition.h"
#include "findings/two/noise.h"
#include "findings/two/own_work.h"
#include "output/number_format.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using analysis::GroupBy;
using ledger::WorkKind;

constexpr std::size_t kGrownMax = 5;

using Values = std::vector<double>;  // one per run

// Is the text one that the pattern, in which * is any text, describes?
bool Fits(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star);
  // Each piece between stars at its first place, the last one at the end.
  while (!pattern.empty()) {
    pattern.remove_prefix(1);
    const std::size_t next = pattern.find('*');
    const std::string_view piece = pattern.substr(0, next);
    if (next == std::string_view::npos) return text.ends_with(piece);
    const std::size_t at = text.find(piece);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + piece.size());
    pattern.remove_prefix(next);
  }
  return true;
}

GroupBy ByOf(const std::string& metric) {
  if (metric == "category") return GroupBy::kCategory;
  if (metric == "kernel") return GroupBy::kKernel;
  if (metric == "module") return GroupBy::kModule;
  return GroupBy::kOp;
}

// What a run's metrics are of: the base of its ledger, as every headline.
class GateSide {
 public:
  GateSide(const session::LoadedTrace& trace, const session::TraceFrames& frames)
      : trace_(trace), frames_(frames), own_(trace, frames.frames) {}

  double units() const { return static_cast<double>(frames_.frames.base.parts()); }
  // Of all its units, milliseconds.
  double WholeOf(const std::string& metric) const {
    const ledger::Books& books = frames_.books;
    std::int64_t ns = 0;
    if (metric == "total") {
      for (const ledger::GpuLine& line : books.gpu.kinds)
        ns += line.ns;
    } else if (metric == "busy") {
      ns = books.gpu.busy_ns;
    } else if (metric == "idle") {
      ns = std::accumulate(books.wall.idle_ns.begin(), books.wall.idle_ns.end(), ns);
    } else if (metric == "exposed_comm") {
      ns = books.wall.communication_ns();
    } else if (metric == "exposed_copy") {
      ns = books.wall.Of(WorkKind::kHostCopy);
    } else {
      ns = frames_.frames.base.ns();
    }
    return static_cast<double>(ns) / 1e6;
  }
  CompareGroups Rows(GroupBy by) const { return GroupsOf(trace_, own_, by); }

 private:
  const session::LoadedTrace& trace_;
  const session::TraceFrames& frames_;
  const OwnWork own_;
};

class Judge {
 public:
  explicit Judge(const GateInput& input) : input_(input) {}

  Result<GateResult> Run(const std::vector<GateCondition>& conditions, Job& job) {
    JV_TRY(Collect(job));
    const session::LoadedTrace& primary = *input_.runs.front();
    const session::LoadedTrace& comparison = *input_.baseline.front();
    comparability_ = AssessComparability(primary, comparison);
    if (comparability_.verdict == "not comparable") {
      constexpr std::size_t kReasons = 4;
      std::vector<std::string> reasons = comparability_.reasons;
      if (reasons.size() > kReasons) reasons.resize(kReasons);
      result_.refusal = fmt::format("the runs are not comparable ({} of 100: {}), so none passes",
                                    comparability_.score, fmt::join(reasons, "; "));
    }
    JV_ASSIGN(pair_, CompareTraces({primary, input_.platform},
                                   {comparison, input_.comparison_platform}, GroupBy::kOp, job));
    bool whole = false;
    for (const GateCondition& condition : conditions) {
      JV_TRY(job.Check());
      JV_ASSIGN(std::vector<GateRow> rows, RowsOf(condition));
      const bool broken =
          std::any_of(rows.begin(), rows.end(), [](const GateRow& row) { return row.broken; });
      if (broken) {
        ++result_.broken;
        whole = whole || condition.name.empty();
        std::erase_if(rows, [](const GateRow& row) { return !row.broken; });
      } else {
        rows.resize(1);
      }
      std::move(rows.begin(), rows.end(), std::back_inserter(result_.rows));
    }
    if (whole) FindGrown();
    return std::move(result_);
  }

 private:
  jarvis::Status Collect(const Job& job) {
    const TraceRuns* runs[2] = {&input_.baseline, &input_.runs};
    std::set<std::string_view> units;
    for (int side = 0; side < 2; ++side) {
      for (const auto& trace : *runs[side]) {
        JV_ASSIGN(auto made, session::FramesOf(*trace, job));
        units.insert(analysis::TimeUnitText(made->frames.base.unit));
        sides_[side].emplace_back(*trace, *made);
        frames_.push_back(std::move(made));
      }
    }
    if (units.size() > 1)
      result_.refusal = fmt::format("the runs have units of different kinds ({}), so none passes",
                                    fmt::join(units, ", "));
    return {};
  }

  Result<std::vector<GateRow>> RowsOf(const GateCondition& condition) {
    if (condition.metric == "comparability") {
      return std::vector<GateRow>{Single(condition, comparability_.score)};
    }
    if (condition.metric == "unexpected") {
      double sum = 0;
      for (const CompareRow& row : pair_.rows) {
        if (row.verdict == CompareVerdict::kSlower) sum += row.unexpected_ms.value_or(0);
      }
      return std::vector<GateRow>{Single(condition, sum)};
    }
    if (condition.name.empty()) {
      Values sides[2];
      for (int side = 0; side < 2; ++side) {
        for (const GateSide& run : sides_[side])
          sides[side].push_back(run.WholeOf(condition.metric) / run.units());
      }
      return std::vector<GateRow>{RowOf(condition, "", sides[0], sides[1])};
    }
    return NamedRows(condition);
  }

  // A value that is of the first pair alone.
  static GateRow Single(const GateCondition& condition, double value) {
    GateRow row;
    row.condition = condition.text;
    row.value = value;
    row.broken = std::all_of(condition.limits.begin(), condition.limits.end(),
                             [&](const GateLimit& limit) { return Passes(limit, value, 0); });
    return row;
  }

  Result<std::vector<GateRow>> NamedRows(const GateCondition& condition) const {
    // By name: one value per run, 0 where the run has no such row.
    std::map<std::string, std::array<Values, 2>> values;
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t run = 0; run < sides_[side].size(); ++run) {
        const GateSide& of = sides_[side][run];
        for (const auto& [key, group] : of.Rows(ByOf(condition.metric))) {
          if (!Fits(condition.name, key.first)) continue;
          Values& of_side = values[key.first][side];
          of_side.resize(sides_[side].size());
          of_side[run] += group.us / 1000 / of.units();
        }
      }
    }
    if (values.empty()) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("condition \"{}\": no run has a {} of that name",
                              OneLine(Utf8Prefix(condition.text, 80)), condition.metric),
                  "compare with --by lists the names; * stands for any text");
    }
    std::vector<GateRow> rows;
    for (const auto& [name, of] : values)
      rows.push_back(RowOf(condition, name, of[0], of[1]));
    // The nearest to its limit, or the furthest beyond it, first.
    const bool above = condition.limits.front().above;
    std::stable_sort(rows.begin(), rows.end(), [&](const GateRow& a, const GateRow& b) {
      const double x = a.value.value_or(0) - a.baseline.value_or(0);
      const double y = b.value.value_or(0) - b.baseline.value_or(0);
      return above ? x > y : x < y;
    });
    return rows;
  }

  GateRow RowOf(const GateCondition& condition, const std::string& name, const Values& baseline,
                const Values& runs) const {
    GateRow row;
    row.condition = condition.text;
    row.name = name;
    const Sample sides[2] = {SampleOf(baseline), SampleOf(runs)};
    if (sides[0].count > 0) row.baseline = sides[0].mean;
    if (sides[1].count > 0) row.value = sides[1].mean;
    const double before = row.baseline.value_or(0);
    const double now = row.value.value_or(0);
    const double change = now - before;
    const auto noise = NoiseOf(sides[0], sides[1]);
    if (before > 0) row.change_percent = change / before * 100;
    if (before > 0 && noise) row.noise_percent = *noise / before * 100;
    row.broken =
        std::all_of(condition.limits.begin(), condition.limits.end(), [&](const GateLimit& limit) {
          if (limit.unit == GateUnit::kMs) return Passes(limit, now, 0);
          if (limit.unit == GateUnit::kChangeMs) return Passes(limit, change, noise.value_or(0));
          // What was not there before has grown beyond every percentage.
          if (!(before > 0)) return limit.above && now > 0;
          return Passes(limit, *row.change_percent, row.noise_percent.value_or(0));
        });
    return row;
  }

  // Is the value beyond the limit by more than the noise?
  static bool Passes(const GateLimit& limit, double value, double noise) {
    const double sure = limit.above ? value - noise : value + noise;
    if (limit.inclusive && sure == limit.limit) return true;
    return limit.above ? sure > limit.limit : sure < limit.limit;
  }

  void FindGrown() {
    const auto growth = [](const CompareRow& row) {
      return row.primary_ms.value_or(0) - row.comparison_ms.value_or(0);
    };
    std::vector<CompareRow> rows = pair_.rows;
    std::erase_if(rows, [&](const CompareRow& row) { return !(growth(row) > 0); });
    std::stable_sort(rows.begin(), rows.end(), [&](const CompareRow& a, const CompareRow& b) {
      return growth(a) > growth(b);
    });
    if (rows.size() > kGrownMax) rows.resize(kGrownMax);
    result_.grown = std::move(rows);
  }

  const GateInput& input_;
  std::vector<std::shared_ptr<const session::TraceFrames>> frames_;  // what sides_ point into
  std::vector<GateSide> sides_[2];                                   // baseline, runs
  Comparability comparability_;
  TraceComparison pair_;
  GateResult result_;
};

std::string Ms(const std::optional<double>& value) {
  return value ? output::CellText(Cell(*value)) + " ms" : "none";
}

std::string LineOf(const GateRow& row) {
  std::string text = fmt::format("{} {}", row.broken ? "FAIL" : "ok  ", row.condition);
  if (!row.name.empty()) text += fmt::format(": {}", OneLine(row.name));
  if (!row.baseline && row.name.empty()) {
    return text + fmt::format(": {}", output::CellText(CellOf(row.value)));
  }
  text += fmt::format(": {}, baseline {}", Ms(row.value), Ms(row.baseline));
  if (row.change_percent) text += fmt::format(", {:+.2f} %", *row.change_percent);
  if (row.noise_percent) text += fmt::format(" (noise {:.2f} %)", *row.noise_percent);
  return text;
}

}  // namespace

Result<GateResult> JudgeGate(const GateInput& input, const std::vector<GateCondition>& conditions,
                             Job& job) {
  return Judge(input).Run(conditions, job);
}

std::string GateText(const GateResult& result) {
  std::string text;
  if (!result.refusal.empty()) text += "FAIL " + OneLine(result.refusal) + "\n";
  for (const GateRow& row : result.rows)
    text += LineOf(row) + "\n";
  for (const CompareRow& row : result.grown) {
    text += fmt::format("     grew: {}{}{}: {}, baseline {}, {}\n", OneLine(row.name),
                        row.shape.empty() ? "" : " ", OneLine(ShortShape(row.shape)),
                        Ms(row.primary_ms), Ms(row.comparison_ms), VerdictText(row.verdict));
  }
  text += "     times are of one unit of the base, as in the headline\n";
  text.pop_back();
  return text;
}

}  // namespace jarvis::findings
