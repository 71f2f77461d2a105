#include "analysis/tables/kernel_tables.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/attribution/group.h"
#include "analysis/attribution/stats.h"
#include "analysis/tables/table_parts.h"
#include "base/text.h"
#include "perf/op_category.h"

namespace jarvis::analysis {
namespace {

Cell PercentOf(double part, std::optional<double> whole) {
  return whole && *whole > 0 ? Cell(part / *whole * 100) : Cell();
}

// The first kernel of each op's own kernels decides the category of an op that is not registered.
std::unordered_map<EventIndex, EventIndex> FirstKernels(const Attribution& attribution) {
  std::unordered_map<EventIndex, EventIndex> first;
  first.reserve(attribution.launchers.size());
  for (const Launcher& launcher : attribution.launchers) {
    if (launcher.op != kNoEvent) first[launcher.op] = attribution.kernels[launcher.first];
  }
  return first;
}

// Category and op of a kernel as kernel_summary shows them.
class KernelOwner {
 public:
  explicit KernelOwner(const TableInput& input)
      : in_(input), first_(FirstKernels(input.attribution)) {}

  // `op`: the number of Op(place), which other places of that name have, too.
  std::string_view Category(const KernelPlace& place, StringId op) {
    if (place.op != kNoEvent) {
      const auto first = first_.find(place.op);
      const StringId kernel = first == first_.end() ? kNoString : in_.events[first->second].name;
      const auto [known, added] = category_of_.try_emplace({op, kernel});
      if (added) {
        const StringId known_as = in_.events.args_of(place.op).known_as;
        known->second = perf::CategoryOfOp(
            *in_.rules.models,
            known_as == kNoString ? in_.OpName(place.op) : in_.events.strings[known_as],
            kernel == kNoString ? std::string_view() : in_.events.strings[kernel]);
      }
      return known->second;
    }
    if (place.launch == kNoEvent) return {};
    const std::string_view launch = in_.events.name(place.launch);
    return ContainsNoCase(launch, "cudagraph") || ContainsNoCase(launch, "graphlaunch") ? "graph"
                                                                                        : "runtime";
  }
  std::string_view Op(const KernelPlace& place) const {
    if (place.op != kNoEvent) return in_.OpName(place.op);
    return place.launch == kNoEvent ? std::string_view() : in_.events.name(place.launch);
  }

 private:
  const TableInput& in_;
  std::unordered_map<EventIndex, EventIndex> first_;
  std::map<std::pair<StringId, StringId>, std::string_view> category_of_;  // by op, first kernel
};

Cell TextOrAbsent(std::string_view text) {
  return text.empty() ? Cell() : Cell(std::string(text));
}

// Ascending, absent last.
bool KeyLess(const Cell& a, const Cell& b) {
  const bool absent_a = std::holds_alternative<Absent>(a);
  const bool absent_b = std::holds_alternative<Absent>(b);
  if (absent_a || absent_b) return !absent_a && absent_b;
  return a < b;
}

std::vector<const KernelPlace*> ShortKernels(const TableInput& input, double threshold_us) {
  std::vector<const KernelPlace*> kernels;
  for (const KernelPlace& place : input.attribution.places) {
    if (DurationUs(input.events, place.kernel, input.rules.clock) < threshold_us) {
      kernels.push_back(&place);
    }
  }
  return kernels;
}

}  // namespace

Table KernelSummary(const TableInput& input, std::optional<double> total_us) {
  std::span<const KernelPlace> places = input.attribution.places;
  KernelOwner owner(input);
  StringPool texts;
  Grouping<4> groups;
  std::vector<double> durations;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const KernelPlace& place = places[i];
    durations.push_back(DurationUs(input.events, place.kernel, input.rules.clock));
    const std::int64_t stream = input.events.args_of(place.kernel).stream;
    const StringId op = texts.Intern(owner.Op(place));
    groups.Add(
        {texts.Intern(owner.Category(place, op)), op, texts.Intern(input.events.name(place.kernel)),
         stream == trace::kAbsent ? kNoString : texts.Intern(std::to_string(stream))},
        i);
  }
  const bool with_op = input.attribution.cpu_ops;
  Table table{"kernel_summary", {"Parent op category"}, {}};
  if (with_op) table.columns.push_back("Parent cpu_op");
  table.columns.insert(
      table.columns.end(),
      {"Kernel name", "Kernel stream", "Kernel duration (µs)_sum", "Kernel duration (µs)_count",
       "Kernel duration (µs)_mean", "Kernel duration (µs)_min", "Kernel duration (µs)_max",
       "Percent of kernels time (%)", "Percent of total time (%)"});
  const std::size_t keys = with_op ? 4 : 3;
  const double kernels_us = PairwiseSum(durations);
  for (const auto& group : groups.groups()) {
    std::vector<double> values;
    for (const std::size_t row : group.rows)
      values.push_back(durations[row]);
    const Moments m = GroupMoments(values);
    std::vector<Cell> cells = {TextOrAbsent(texts[group.key[0]])};
    if (with_op) cells.push_back(TextOrAbsent(texts[group.key[1]]));
    cells.push_back(std::string(texts[group.key[2]]));
    cells.push_back(group.key[3] == kNoString ? Cell() : Cell(*ParseInt(texts[group.key[3]])));
    cells.insert(cells.end(), {m.sum, static_cast<std::int64_t>(values.size()), m.mean, m.min,
                               m.max, PercentOf(m.sum, kernels_us), PercentOf(m.sum, total_us)});
    table.rows.push_back(std::move(cells));
  }
  std::sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(keys),
                                        b.begin(), b.begin() + static_cast<std::ptrdiff_t>(keys),
                                        KeyLess);
  });
  std::vector<double> sums;
  for (const auto& row : table.rows)
    sums.push_back(std::get<double>(row[keys]));
  std::vector<std::vector<Cell>> sorted;
  for (const std::size_t row : input.rules.descending(sums))
    sorted.push_back(std::move(table.rows[row]));
  table.rows = std::move(sorted);
  return table;
}

Table ShortKernelHistogram(const TableInput& input, const ShortKernelOptions& options) {
  Table table{"short_kernel_histogram", {"bin_start", "bin_end", "count"}, {}};
  std::vector<double> durations;
  for (const KernelPlace* place : ShortKernels(input, options.threshold_us)) {
    durations.push_back(DurationUs(input.events, place->kernel, input.rules.clock));
  }
  if (durations.empty() || options.bins < 1) return table;
  double low = *std::min_element(durations.begin(), durations.end());
  double high = *std::max_element(durations.begin(), durations.end());
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const auto bins = static_cast<std::size_t>(options.bins);
  const double width = (high - low) / static_cast<double>(bins);
  std::vector<double> edges(bins + 1);
  for (std::size_t i = 0; i < bins; ++i)
    edges[i] = low + static_cast<double>(i) * width;
  edges[bins] = high;
  std::vector<std::int64_t> counts(bins, 0);
  for (const double value : durations) {
    const auto above = std::upper_bound(edges.begin(), edges.end(), value) - edges.begin();
    ++counts[std::min(static_cast<std::size_t>(above), bins) - 1];
  }
  for (std::size_t i = 0; i < bins; ++i)
    table.rows.push_back({edges[i], edges[i + 1], counts[i]});
  return table;
}

Table ShortKernelsSummary(const TableInput& input, const ShortKernelOptions& options,
                          std::optional<double> total_us) {
  const EventStore& events = input.events;
  const bool with_op = input.attribution.cpu_ops;
  Grouping<5> groups;
  ArgumentTexts texts(events);
  const std::vector<const KernelPlace*> kernels = ShortKernels(input, options.threshold_us);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelPlace& place = *kernels[i];
    const StringId kernel = texts.Text(events.name(place.kernel));
    if (!with_op) {
      groups.Add({kNoString, kNoString, kNoString, kNoString, kernel}, i);
      continue;
    }
    const trace::Args args = place.op == kNoEvent ? trace::Args() : input.OpArgs(place.op);
    const StringId op = place.op == kNoEvent ? kNoString : texts.Text(input.OpName(place.op));
    const std::array<std::uint32_t, 5> key = {op, texts.Of(args.dims), texts.Of(args.strides),
                                              texts.Of(args.concrete), kernel};
    const bool null_key = std::find(key.begin(), key.end(), kNoString) != key.end();
    if (!null_key || !input.rules.drop_null_keys) groups.Add(key, i);
  }
  Table table{"short_kernels_summary", {}, {}};
  if (with_op) table.columns = {"Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs"};
  table.columns.insert(
      table.columns.end(),
      {"Kernel name", "Short Kernel duration (µs) sum", "Short Kernel count",
       "Short Kernel duration (µs) mean", "Short Kernel duration (µs) percent of total time"});
  const std::size_t first = with_op ? 0 : 4;
  const std::size_t sum_column = 5 - first;
  for (const auto& group : groups.groups()) {
    std::vector<double> values;
    for (const std::size_t row : group.rows) {
      values.push_back(DurationUs(events, kernels[row]->kernel, input.rules.clock));
    }
    std::vector<Cell> cells;
    for (std::size_t k = first; k < 5; ++k) {
      cells.push_back(group.key[k] == kNoString ? Cell() : Cell(std::string(texts[group.key[k]])));
    }
    const double sum = KahanSum(values);
    const auto count = static_cast<double>(values.size());
    cells.insert(cells.end(), {sum, static_cast<std::int64_t>(values.size()), sum / count,
                               PercentOf(sum, total_us)});
    table.rows.push_back(std::move(cells));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    if (a[sum_column] != b[sum_column]) return a[sum_column] > b[sum_column];
    return std::tie(a[sum_column + 1], a[sum_column + 2], a[sum_column + 3]) <
           std::tie(b[sum_column + 1], b[sum_column + 2], b[sum_column + 3]);
  });
  if (options.topk && *options.topk >= 0 &&
      table.rows.size() > static_cast<std::size_t>(*options.topk)) {
    table.rows.resize(static_cast<std::size_t>(*options.topk));
  }
  return table;
}

}  // namespace jarvis::analysis
