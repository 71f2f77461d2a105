#include "tools/compare/job_change.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/tables/summary.h"
#include "documents/markdown_text.h"
#include "findings/two/pair_verdict.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kKernelsNamed = 3;
constexpr std::size_t kKernelNameShown = 60;
// A kernel that changed by less of all kernels' time is not worth a word.
constexpr double kKernelShare = 0.01;

std::optional<double> NumberIn(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  return std::nullopt;
}

// The columns of a table, in the order asked for; nothing: the table or one of them is not there.
std::optional<std::vector<std::size_t>> PlacesIn(const std::vector<Table>& tables,
                                                 const std::string& name,
                                                 const std::vector<std::string>& columns,
                                                 const Table** table) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& one) { return one.name == name; });
  if (found == tables.end()) return std::nullopt;
  *table = &*found;
  std::vector<std::size_t> places;
  for (const std::string& column : columns) {
    const auto at = std::find(found->columns.begin(), found->columns.end(), column);
    if (at == found->columns.end()) return std::nullopt;
    places.push_back(static_cast<std::size_t>(at - found->columns.begin()));
  }
  return places;
}

// The middle, the upper one of two.
std::optional<double> MiddleOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string InsteadText(double now, double before) {
  std::string text = fmt::format("{} instead of {}", documents::Ms(now), documents::Ms(before));
  if (!(before > 0)) return text;
  const double change = (now / before - 1) * 100;
  return text + fmt::format(" ({:.{}f} % {})", std::abs(change), std::abs(change) < 10 ? 1 : 0,
                            change < 0 ? "less" : "more");
}

// The middle rank's unit, by the ledgers of a job.
struct JobUnit {
  std::string name;
  double ms = 0;
  double own_ms = 0;  // without exposed communication
  double exposed_ms = 0;
  std::optional<double> wait_ms, transfer_ms;  // of it; absent: the ranks' calls are not matched
};

// A unit's part of a column of the ledgers, of the middle rank.
std::optional<double> MiddleOfColumn(const std::vector<Table>& tables, const std::string& column) {
  const Table* table = nullptr;
  const auto places = PlacesIn(tables, "ledger", {"units", column}, &table);
  if (!places) return std::nullopt;
  std::vector<double> values;
  for (const auto& row : table->rows) {
    if (std::max((*places)[0], (*places)[1]) >= row.size()) continue;
    const auto count = NumberIn(row[(*places)[0]]);
    const auto ms = NumberIn(row[(*places)[1]]);
    if (count && *count > 0 && ms) values.push_back(*ms / *count);
  }
  return MiddleOf(std::move(values));
}

std::optional<JobUnit> UnitOf(const std::vector<Table>& tables) {
  const Table* table = nullptr;
  const auto places = PlacesIn(
      tables, "ledger", {"unit", "units", "unit (ms)", "exposed communication (ms)"}, &table);
  if (!places) return std::nullopt;
  JobUnit unit;
  std::vector<double> length;
  std::vector<double> own;
  std::vector<double> exposed;
  for (const auto& row : table->rows) {
    if (*std::max_element(places->begin(), places->end()) >= row.size()) continue;
    const auto* name = std::get_if<std::string>(&row[(*places)[0]]);
    const auto count = NumberIn(row[(*places)[1]]);
    const auto ms = NumberIn(row[(*places)[2]]);
    const auto all = NumberIn(row[(*places)[3]]);
    if (name == nullptr || !count || !(*count > 0) || !ms || !all) continue;
    unit.name = *name;
    length.push_back(*ms);
    exposed.push_back(*all / *count);
    own.push_back(*ms - exposed.back());
  }
  if (length.empty()) return std::nullopt;
  unit.wait_ms = MiddleOfColumn(tables, "of it waiting (ms)");
  unit.transfer_ms = MiddleOfColumn(tables, "of it transfer (ms)");
  unit.ms = *MiddleOf(std::move(length));
  unit.own_ms = *MiddleOf(std::move(own));
  unit.exposed_ms = *MiddleOf(std::move(exposed));
  return unit;
}

std::string StepChange(const std::vector<Table>& primary, const std::vector<Table>& comparison) {
  const auto now = UnitOf(primary);
  const auto before = UnitOf(comparison);
  if (!now || !before || now->name != before->name) return {};
  std::string split;
  if (now->wait_ms && before->wait_ms && now->transfer_ms && before->transfer_ms)
    split = fmt::format(": waiting for other ranks {}, transfer {}",
                        InsteadText(*now->wait_ms, *before->wait_ms),
                        InsteadText(*now->transfer_ms, *before->transfer_ms));
  const bool usual = std::abs(now->ms - before->ms) <= findings::kUsualWall * before->ms;
  return fmt::format("A {} takes {}: own time {}, exposed communication {}{}.{}", now->name,
                     InsteadText(now->ms, before->ms), InsteadText(now->own_ms, before->own_ms),
                     InsteadText(now->exposed_ms, before->exposed_ms), split,
                     usual ? fmt::format(" The difference is no more than the about {:.0f} % by "
                                         "which runs of unchanged code differ: not proven.",
                                         findings::kUsualWall * 100)
                           : "");
}

// Time by kernel; of a name that is there twice the sum.
std::optional<std::map<std::string, double>> KernelTimes(const std::vector<Table>& tables) {
  const Table* table = nullptr;
  const auto places = PlacesIn(tables, "fleet_kernels", {"kernel", "median of ranks (ms)"}, &table);
  if (!places) return std::nullopt;
  std::map<std::string, double> times;
  for (const auto& row : table->rows) {
    if (std::max((*places)[0], (*places)[1]) >= row.size()) continue;
    const auto* name = std::get_if<std::string>(&row[(*places)[0]]);
    const auto ms = NumberIn(row[(*places)[1]]);
    if (name != nullptr && ms) times[analysis::ShortKernelName(*name)] += *ms;
  }
  return times;
}

std::string KernelChange(const std::vector<Table>& primary, const std::vector<Table>& comparison) {
  const auto now = KernelTimes(primary);
  const auto before = KernelTimes(comparison);
  if (!now || !before) return {};
  std::map<std::string, std::pair<double, double>> both;
  double all = 0;
  for (const auto& [name, ms] : *now)
    both[name].first = ms;
  for (const auto& [name, ms] : *before) {
    both[name].second = ms;
    all += ms;
  }
  std::vector<std::pair<double, std::string>> changes;  // the largest first
  for (const auto& [name, ms] : both) {
    const double change = ms.first - ms.second;
    if (std::abs(change) >= kKernelShare * all) changes.emplace_back(-std::abs(change), name);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (changes.size() > kKernelsNamed) changes.resize(kKernelsNamed);
  std::vector<std::string> texts;
  for (const auto& [order, name] : changes) {
    const auto& [ms, was] = both[name];
    texts.push_back(
        fmt::format("{} {}", documents::Code(name, kKernelNameShown), InsteadText(ms, was)));
  }
  if (texts.empty()) return "No kernel's time changed by 1 % of all.";
  return fmt::format("Kernels of a rank that changed most, over its recording: {}.",
                     fmt::join(texts, "; "));
}

}  // namespace

std::string JobChange(const std::vector<Table>& primary, const std::vector<Table>& comparison) {
  const std::string steps = StepChange(primary, comparison);
  const std::string kernels = KernelChange(primary, comparison);
  return steps + (steps.empty() || kernels.empty() ? "" : " ") + kernels;
}

}  // namespace jarvis::tools
