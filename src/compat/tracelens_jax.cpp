#include "compat/tracelens_jax.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/clock.h"
#include "analysis/attribution/stats.h"
#include "base/interval.h"
#include "base/text.h"
#include "compat/tracelens_jax_kernels.h"
#include "compat/tracelens_jax_models.h"
#include "table/py_text.h"

namespace jarvis::compat {
namespace {

using analysis::GroupMoments;
using analysis::KahanSum;
using analysis::Moments;
using analysis::PairwiseSum;

constexpr std::string_view kUncategorized = "Uncategorized Events/XLA";

using Times = std::vector<std::pair<const char*, double>>;  // type, microseconds

Times TimesOf(const trace::EventStore& events, const JaxGpu& gpu) {
  using Set = IntervalSet<double>;
  std::vector<trace::EventIndex> computing, communicating;
  for (const trace::EventIndex e : gpu.kernels)
    (analysis::IsCollectiveName(events.name(e)) ? communicating : computing).push_back(e);
  const auto set = [&](const std::vector<trace::EventIndex>& which) {
    return Union(analysis::IntervalsOf<double>(events, which));
  };
  const Set computation = set(computing);
  const Set communication = set(communicating);
  const Set copies = set(gpu.copies);
  const Set all = set(gpu.all);
  const double busy = Length(all);
  const double total = all.back().end - all.front().start;
  return {{"computation_time", Length(computation)},
          {"exposed_comm_time", Length(Subtract(communication, computation))},
          {"exposed_memcpy_time", Length(Subtract(Subtract(copies, computation), communication))},
          {"busy_time", busy},
          {"idle_time", total - busy},
          {"total_time", total},
          {"total_comm_time", Length(communication)},
          {"total_memcpy_time", Length(copies)}};
}

constexpr std::size_t kTotalTime = 5;

void AddTimelines(const JaxProfile& profile, std::vector<Table>* tables) {
  Table each{"gpu_timeline", {"type", "time ms", "percent", "gpu_pid"}, {}};
  Table mean{"gpu_events_averages", {"type", "time ms", "percent"}, {}};
  std::vector<Times> all;
  for (const JaxGpu& gpu : profile.gpus()) {
    all.push_back(TimesOf(profile.events(), gpu));
    for (const auto& [type, us] : all.back()) {
      each.rows.push_back(
          {std::string(type), us / 1000, us / all.back()[kTotalTime].second * 100, gpu.pid});
    }
  }
  // Of milliseconds that were made microseconds again, as the reference takes them.
  const auto averaged = [&](std::size_t i) {
    double sum = 0;
    for (const Times& times : all)
      sum += times[i].second / 1000 * 1000;
    return sum / static_cast<double>(all.size());
  };
  for (std::size_t i = 0; !all.empty() && i < all.front().size(); ++i) {
    mean.rows.push_back({std::string(all.front()[i].first), averaged(i) / 1000,
                         averaged(i) / averaged(kTotalTime) * 100});
  }
  tables->push_back(std::move(each));
  tables->push_back(std::move(mean));
}

std::string OpMembers(const JaxOp* op) {
  std::string operands = "'NA'";
  if (op != nullptr && !op->operands.empty()) {
    operands = "[";
    for (const std::string& operand : op->operands)
      operands += (operands.size() == 1 ? "" : ", ") + PyString(operand);
    operands += "]";
  }
  const auto or_none = [](const std::string& text) { return PyString(text.empty() ? "NA" : text); };
  const JaxOp none;
  const JaxOp& told = op == nullptr ? none : *op;
  return fmt::format("'custom_call_target': {}, 'operands': {}, 'outputs': 'NA', 'metadata': {}",
                     or_none(told.target), operands, or_none(told.metadata));
}

std::vector<Cell> LauncherRow(const JaxProfile& profile, const JaxKernel& kernel) {
  const trace::EventStore& events = profile.events();
  const double us = profile.DurUs(kernel);
  const std::string name(events.name(kernel.event));
  const auto tid = ParseInt(events.tracks[events[kernel.event].track].tid);
  return {name,
          kernel.uid,
          std::string(kernel.category),
          us,
          us,
          std::int64_t{1},
          kernel.gpu_pid,
          tid ? Cell(*tid) : Cell(),
          kernel.dims,
          kernel.types,
          std::string("()"),
          kernel.concrete,
          fmt::format("[{{'name': {}, 'dur': {}, {}}}]", PyString(name), PyFloat(us),
                      OpMembers(kernel.op)),
          CellOf(kernel.latency_us)};
}

const std::vector<std::string>& LauncherColumns() {
  static const std::vector<std::string> columns = {"name",
                                                   "UID",
                                                   "op category",
                                                   "total_direct_kernel_time",
                                                   "total_subtree_kernel_time",
                                                   "direct_kernel_count",
                                                   "pid",
                                                   "tid",
                                                   "Input Dims",
                                                   "Input type",
                                                   "Input Strides",
                                                   "Concrete Inputs",
                                                   "kernel_details",
                                                   "GPU_kernel_launch_latency"};
  return columns;
}

using Kernels = std::vector<const JaxKernel*>;

struct Group {
  std::string key;
  Kernels kernels;
  double sum = 0;
};

// By falling sum; of equal sums by key, or as they were first seen.
std::vector<Group> GroupBy(const JaxProfile& profile, const Kernels& kernels,
                           const std::function<std::string(const JaxKernel&)>& key,
                           bool as_seen = false) {
  std::map<std::string, Kernels> by_key;
  for (const JaxKernel* kernel : kernels)
    by_key[key(*kernel)].push_back(kernel);
  std::vector<Group> groups;
  for (auto& [name, members] : by_key) {
    std::vector<double> times;
    for (const JaxKernel* kernel : members)
      times.push_back(profile.DurUs(*kernel));
    groups.push_back({name, std::move(members), KahanSum(times)});
  }
  std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    if (a.sum != b.sum) return a.sum > b.sum;
    return as_seen && a.kernels.front()->uid < b.kernels.front()->uid;
  });
  return groups;
}

// Shares of the column's sum, and what they add up to.
std::vector<std::pair<double, double>> SharesOf(const std::vector<double>& values) {
  const double all = PairwiseSum(values);
  std::vector<std::pair<double, double>> shares;
  double so_far = 0;
  for (const double value : values) {
    const double share = value / all * 100;
    so_far += share;
    shares.emplace_back(share, so_far);
  }
  return shares;
}

double PidsOf(const JaxProfile& profile) {
  std::map<std::int64_t, bool> pids;
  for (const JaxKernel& kernel : profile.kernels())
    pids[kernel.gpu_pid] = true;
  return static_cast<double>(pids.size());
}

Table SummaryByName(const JaxProfile& profile, const char* title, const Kernels& kernels,
                    const std::function<std::string(const JaxKernel&)>& name) {
  Table table{title,
              {"name", "total_direct_kernel_time_sum", "total_subtree_kernel_time_sum",
               "total_direct_kernel_time_ms", "total_subtree_kernel_time_ms", "Count", "Categories",
               "Percentage (%)", "Cumulative Percentage (%)", "time ms per gpu"},
              {}};
  const std::vector<Group> groups = GroupBy(profile, kernels, name);
  std::vector<double> in_ms;
  for (const Group& group : groups)
    in_ms.push_back(group.sum / 1000);
  const auto shares = SharesOf(in_ms);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    std::string categories;
    std::vector<std::string_view> seen;
    for (const JaxKernel* kernel : group.kernels) {
      if (std::ranges::find(seen, kernel->category) != seen.end()) continue;
      seen.push_back(kernel->category);
      categories += (categories.empty() ? "" : ", ") + PyString(kernel->category);
    }
    const double ms = in_ms[i];
    table.rows.push_back({group.key, group.sum, group.sum, ms, ms,
                          static_cast<std::int64_t>(group.kernels.size()), "[" + categories + "]",
                          shares[i].first, shares[i].second, ms / PidsOf(profile)});
  }
  return table;
}

Table SummaryByCategory(const JaxProfile& profile, const Kernels& kernels) {
  Table table{"kernel_launchers_summary_by_category",
              {"op category", "Count", "total_direct_kernel_time_ms", "Percentage (%)",
               "Cumulative Percentage (%)", "time ms per gpu"},
              {}};
  const std::vector<Group> groups =
      GroupBy(profile, kernels, [](const JaxKernel& one) { return std::string(one.category); });
  std::vector<double> ms;
  for (const Group& group : groups)
    ms.push_back(group.sum / 1000);
  const auto shares = SharesOf(ms);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    table.rows.push_back({groups[i].key, static_cast<std::int64_t>(groups[i].kernels.size()), ms[i],
                          shares[i].first, shares[i].second, ms[i] / PidsOf(profile)});
  }
  return table;
}

Table UniqueArguments(const JaxProfile& profile, const Kernels& kernels) {
  Table table{"kernel_launchers_unique_args",
              {"name", "op category", "Input Dims", "Input type", "Input Strides",
               "Concrete Inputs", "operation_count"},
              {}};
  for (const char* metric : {"mean", "median", "std", "min", "max", "sum"}) {
    for (const char* part : {"direct", "subtree"})
      table.columns.push_back(fmt::format("total_{}_kernel_time_{}", part, metric));
  }
  for (const char* column :
       {"ex_UID", "kernel_details_summary", "Percentage (%)", "Cumulative Percentage (%)"})
    table.columns.emplace_back(column);
  const trace::EventStore& events = profile.events();
  const auto key = [&](const JaxKernel& one) {
    return fmt::format("{}\n{}\n{}\n{}\n{}", events.name(one.event), one.category, one.dims,
                       one.types, one.concrete);
  };
  const std::vector<Group> groups = GroupBy(profile, kernels, key, true);
  std::vector<double> sums;
  for (const Group& group : groups)
    sums.push_back(group.sum);
  const auto shares = SharesOf(sums);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const JaxKernel& first = *groups[i].kernels.front();
    std::vector<double> times;
    for (const JaxKernel* kernel : groups[i].kernels)
      times.push_back(profile.DurUs(*kernel));
    const Moments moments = GroupMoments(times);
    std::vector<Cell> row = {std::string(events.name(first.event)),
                             std::string(first.category),
                             first.dims,
                             first.types,
                             std::string("()"),
                             first.concrete,
                             static_cast<std::int64_t>(times.size())};
    for (const Cell& cell : {Cell(moments.mean), Cell(moments.median), CellOf(moments.std),
                             Cell(moments.min), Cell(moments.max), Cell(moments.sum)})
      row.insert(row.end(), {cell, cell});
    row.emplace_back(first.uid);
    row.emplace_back(fmt::format("[{{'name': {}, {}, {}}}]", PyString(events.name(first.event)),
                                 OpMembers(first.op), JaxTimesText(times)));
    row.insert(row.end(), {Cell(shares[i].first), Cell(shares[i].second)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Bytes of the operands whose types the reference knows; of scalars none.
std::int64_t InputBytes(const JaxKernel& kernel) {
  static const std::map<std::string_view, std::int64_t> kSizes = {
      {"f32", 4}, {"bf16", 2}, {"s32", 4}, {"u32", 4}, {"fp16", 2},
      {"f16", 2}, {"u64", 8},  {"s8", 1},  {"pred", 1}};
  std::int64_t bytes = 0;
  if (kernel.op == nullptr) return bytes;
  for (const std::string& text : kernel.op->operands) {
    const JaxOperand operand = OperandOf(text);
    if (operand.type.empty() || operand.dims.empty()) continue;
    const auto known = kSizes.find(operand.type);
    std::int64_t size = known != kSizes.end()            ? known->second
                        : operand.type.starts_with("f8") ? 1
                                                         : 0;
    for (const std::int64_t dim : JaxNumbers(operand.dims)) {
      if (__builtin_mul_overflow(size, dim, &size)) size = 0;
    }
    bytes += size;
  }
  return bytes;
}

void AddXlaTables(const JaxProfile& profile, std::vector<Table>* tables) {
  Table rows{"df_xla_perf", LauncherColumns(), {}};
  rows.columns.emplace_back("total_input_bytes");
  Kernels kernels;
  for (const JaxKernel& kernel : profile.kernels()) {
    if (kernel.category != kUncategorized) continue;
    kernels.push_back(&kernel);
    rows.rows.push_back(LauncherRow(profile, kernel));
    rows.rows.back().emplace_back(InputBytes(kernel));
  }
  tables->push_back(std::move(rows));
  tables->push_back(SummaryByName(profile, "xla_summary", kernels, [&](const JaxKernel& one) {
    std::string name(profile.events().name(one.event));
    std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
    return name;
  }));
}

}  // namespace

bool IsJaxProfile(const trace::EventStore& events) {
  return events.dialect.Name().starts_with("xplane");
}

std::vector<Table> TraceLensJaxReport(const trace::EventStore& events,
                                      const std::vector<trace::TrackNames>& names) {
  const JaxProfile profile(events);
  std::vector<Table> tables;
  AddTimelines(profile, &tables);
  Kernels kernels;
  Table launchers{"kernel_launchers", LauncherColumns(), {}};
  for (const JaxKernel& kernel : profile.kernels()) {
    kernels.push_back(&kernel);
    launchers.rows.push_back(LauncherRow(profile, kernel));
  }
  tables.push_back(std::move(launchers));
  tables.push_back(
      SummaryByName(profile, "kernel_launchers_summary", kernels,
                    [&](const JaxKernel& one) { return std::string(events.name(one.event)); }));
  tables.push_back(SummaryByCategory(profile, kernels));
  tables.push_back(UniqueArguments(profile, kernels));
  AddXlaTables(profile, &tables);
  AddJaxModelTables(profile, names, &tables);
  return tables;
}

}  // namespace jarvis::compat
