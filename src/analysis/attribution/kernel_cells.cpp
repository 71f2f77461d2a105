#include "analysis/attribution/kernel_cells.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/attribution/stats.h"
#include "base/text.h"
#include "table/py_text.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventStore;

KernelCell CellFor(const EventStore& events, EventIndex kernel, std::uint32_t nth) {
  return {events.name(kernel), events.args_of(kernel).stream, {}, {}, nth};
}

std::vector<KernelCell> ByPosition(const EventStore& events,
                                   std::span<const std::span<const EventIndex>> calls,
                                   const TableRules& rules) {
  std::vector<KernelCell> cells;
  std::map<StringId, std::uint32_t> seen;
  for (const auto call : calls) {
    if (call.empty()) continue;
    if (cells.empty()) {
      for (const EventIndex kernel : call)
        cells.push_back(CellFor(events, kernel, seen[events[kernel].name]++));
    }
    if (call.size() != cells.size()) continue;
    for (std::size_t i = 0; i < call.size(); ++i) {
      cells[i].durations_us.push_back(DurationUs(events, call[i], rules.clock));
    }
  }
  return cells;
}

std::vector<KernelCell> ByName(const EventStore& events,
                               std::span<const std::span<const EventIndex>> calls,
                               const TableRules& rules) {
  std::vector<KernelCell> cells;
  std::map<std::pair<StringId, std::uint32_t>, std::size_t> places;  // name, how manieth -> cell
  std::map<StringId, std::uint32_t> seen;
  for (const auto call : calls) {
    seen.clear();
    for (const EventIndex kernel : call) {
      const StringId name = events[kernel].name;
      const std::uint32_t nth = seen[name]++;
      const auto [place, added] = places.try_emplace({name, nth}, cells.size());
      if (added) cells.push_back(CellFor(events, kernel, nth));
      cells[place->second].durations_us.push_back(DurationUs(events, kernel, rules.clock));
    }
  }
  return cells;
}

std::string StreamText(std::int64_t stream) {
  return stream == trace::kAbsent ? "None" : std::to_string(stream);
}

}  // namespace

std::vector<KernelCell> SummarizeKernels(const EventStore& events,
                                         std::span<const std::span<const EventIndex>> calls,
                                         const TableRules& rules) {
  std::vector<KernelCell> cells = rules.skip_deviating_kernel_lists
                                      ? ByPosition(events, calls, rules)
                                      : ByName(events, calls, rules);
  SortKernelCells(&cells);
  return cells;
}

void SortKernelCells(std::vector<KernelCell>* cells) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < cells->size(); ++i) {
    order.emplace_back(PairwiseSum((*cells)[i].durations_us), i);
  }
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return std::tie(a.first, (*cells)[a.second].name) < std::tie(b.first, (*cells)[b.second].name);
  });
  std::vector<KernelCell> sorted;
  for (const auto& [total, i] : order)
    sorted.push_back(std::move((*cells)[i]));
  *cells = std::move(sorted);
}

namespace {

void AppendFloat(std::string_view key, double value, std::string* out) {
  *out += ", '";
  *out += key;
  *out += "': ";
  AppendPyFloat(value, out);
}

void BeginKernel(const KernelCell& kernel, std::string_view name, std::string* out) {
  if (out->size() > 1) *out += ", ";
  *out += "{'name': ";
  AppendPyString(name, out);
  *out += ", 'stream': ";
  *out += StreamText(kernel.stream);
}

}  // namespace

std::string KernelSummaryText(std::span<const KernelCell> kernels) {
  std::string out = "[";
  for (const KernelCell& kernel : kernels) {
    const std::vector<double>& d = kernel.durations_us;
    BeginKernel(kernel, kernel.name, &out);
    if (!kernel.more.empty()) out.append(", ").append(kernel.more);
    out.append(", 'count': ").append(std::to_string(d.size()));
    const double total = PairwiseSum(d);
    AppendFloat("total_duration_us", total, &out);
    AppendFloat("mean_duration_us", total / static_cast<double>(d.size()), &out);
    AppendFloat("median_duration_us", Median(d), &out);
    AppendFloat("std_dev_duration_us", PopulationStd(d), &out);
    AppendFloat("min_duration_us", *std::min_element(d.begin(), d.end()), &out);
    AppendFloat("max_duration_us", *std::max_element(d.begin(), d.end()), &out);
    out += '}';
  }
  return out + "]";
}

std::string KernelShortText(std::span<const KernelCell> kernels) {
  constexpr std::size_t kNameLength = 64;
  if (kernels.empty()) return {};
  std::string out = "[";
  for (const KernelCell& kernel : kernels) {
    std::string name(Utf8Characters(kernel.name, kNameLength));
    if (name.size() < kernel.name.size()) name += "...";
    const double mean =
        PairwiseSum(kernel.durations_us) / static_cast<double>(kernel.durations_us.size());
    BeginKernel(kernel, name, &out);
    AppendFloat("mean_duration_us", std::rint(mean * 100) / 100, &out);
    out += '}';
  }
  return out + "]";
}

}  // namespace jarvis::analysis
