#include "rocprof/report/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/attribution/stats.h"
#include "base/check.h"
#include "base/text.h"

namespace jarvis::rocprof {
namespace {

using Times = std::map<std::string, std::vector<double>>;  // durations by name, in column units
using Spans = std::vector<Interval<std::int64_t>>;

constexpr double kNsPerMs = 1e6;

std::optional<double> Share(double part, double whole) {
  if (!(whole > 0)) return std::nullopt;
  return 100 * part / whole;
}

Cell Known(std::int64_t value) {
  return value == kUnknown ? Cell() : Cell(value);
}

class Report {
 public:
  Report(const Capture& capture, const Process& process, const ReportOptions& options)
      : capture_(capture), process_(process), options_(options) {
    for (const Dispatch& dispatch : process.dispatches) {
      const auto ns = dispatch.duration_ns();
      if (!ns) continue;
      kernels_.push_back({dispatch.start_ns, dispatch.end_ns});
      const double time = Column(static_cast<double>(*ns));
      times_[capture.kernels[dispatch.kernel]].push_back(time);
      all_ += time;
    }
  }

  std::vector<Table> Make() const {
    return {Timeline(), Summary(), ByCategory(), Details(), ShortKernels(), Histogram()};
  }

 private:
  double Column(double ns) const { return options_.rules.nanoseconds ? ns : ns / 1000; }

  // What the timeline calls total_time, ns.
  std::optional<std::int64_t> Total() const {
    if (options_.rules.tool_span) {
      if (!process_.init_ns || !process_.fini_ns) return std::nullopt;
      return *process_.fini_ns - *process_.init_ns;
    }
    std::optional<Interval<std::int64_t>> all;
    for (const Spans* spans : {&kernels_, &process_.copies}) {
      for (const auto& span : *spans) {
        if (!all) all = span;
        all->start = std::min(all->start, span.start);
        all->end = std::max(all->end, span.end);
      }
    }
    if (!all) return std::nullopt;
    return all->end - all->start;
  }

  Table Timeline() const {
    const std::int64_t kernel = Length(Union(kernels_));
    const std::int64_t memory = Length(Union(process_.copies));
    Spans busy_spans = kernels_;
    busy_spans.insert(busy_spans.end(), process_.copies.begin(), process_.copies.end());
    const std::int64_t busy = Length(Union(busy_spans));
    const std::optional<std::int64_t> total = Total();
    Table table{"gpu_timeline", {"type", "time ms", "percent"}, {}};
    if (!total) return table;
    const auto whole = static_cast<double>(*total);
    for (const auto& [name, ns] : {std::pair("total_time", *total), std::pair("kernel", kernel),
                                   std::pair("memory", memory), std::pair("busy_time", busy),
                                   std::pair("idle", std::max<std::int64_t>(0, *total - busy))}) {
      const auto time = static_cast<double>(ns);
      table.rows.push_back({std::string(name), time / kNsPerMs, CellOf(Share(time, whole))});
    }
    return table;
  }

  // Rows of a name and a total at `total`, in the order of names: adds shares behind it, and sorts.
  void AddShares(std::size_t total, std::size_t share, double scale, Table* table) const {
    const auto by_time = [&](const auto& a, const auto& b) {
      return std::get<double>(a[total]) > std::get<double>(b[total]);
    };
    if (!options_.rules.cumulate_by_name)
      std::stable_sort(table->rows.begin(), table->rows.end(), by_time);
    double sum = 0;
    for (auto& row : table->rows) {
      const double time = std::get<double>(row[total]) * scale;
      sum += time;
      row[share] = CellOf(Share(time, all_));
      row[share + 1] = CellOf(Share(sum, all_));
    }
    if (options_.rules.cumulate_by_name)
      std::stable_sort(table->rows.begin(), table->rows.end(), by_time);
  }

  Table Summary() const {
    Table table{
        "kernel_summary",
        {"name", "Count", "Mean Kernel Time (µs)", "Median Kernel Time (µs)",
         "Std Kernel Time (µs)", "Min Kernel Time (µs)", "Max Kernel Time (µs)", "Percentage (%)",
         "Cumulative Percentage (%)", "Total Kernel Time (ms)", "Category"},
        {}};
    for (const auto& [name, times] : times_) {
      const analysis::Moments moments = analysis::GroupMoments(times);
      table.rows.push_back({name, static_cast<std::int64_t>(times.size()), moments.mean,
                            moments.median, CellOf(moments.std), moments.min, moments.max, Cell(),
                            Cell(), moments.sum / 1000, std::string(CategoryOfKernel(name))});
    }
    AddShares(9, 7, 1000, &table);
    return table;
  }

  Table ByCategory() const {
    std::map<std::string_view, std::vector<double>> categories;
    for (const auto& [name, times] : times_) {
      std::vector<double>& own = categories[CategoryOfKernel(name)];
      own.insert(own.end(), times.begin(), times.end());
    }
    Table table{"kernel_summary_by_category",
                {"op category", "Count", "total_direct_kernel_time_ms", "Percentage (%)",
                 "Cumulative Percentage (%)"},
                {}};
    for (const auto& [category, times] : categories) {
      table.rows.push_back({std::string(category), static_cast<std::int64_t>(times.size()),
                            analysis::KahanSum(times) / 1000, Cell(), Cell()});
    }
    AddShares(2, 3, 1000, &table);
    return table;
  }

  Table Details() const {
    Table table{"kernel_details",
                {"name", "Kernel duration (µs)", "stream", "dispatch_id", "grid_x", "grid_y",
                 "grid_z", "block_x", "block_y", "block_z", "agent_id", "thread_id"},
                {}};
    for (const Dispatch& one : process_.dispatches) {
      const auto ns = one.duration_ns();
      if (!ns) continue;
      const Agent* agent = process_.AgentOf(one);
      table.rows.push_back(
          {capture_.kernels[one.kernel], Column(static_cast<double>(*ns)), Known(one.stream),
           Known(one.id), Known(one.grid_xyz[0]), Known(one.grid_xyz[1]), Known(one.grid_xyz[2]),
           Known(one.workgroup_xyz[0]), Known(one.workgroup_xyz[1]), Known(one.workgroup_xyz[2]),
           agent == nullptr ? Cell()
                            : Known(agent->handle == kUnknown ? agent->logical_id : agent->handle),
           Known(one.thread)});
    }
    std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
      return std::get<double>(a[1]) > std::get<double>(b[1]);
    });
    return table;
  }

  Table ShortKernels() const {
    Table table{
        "short_kernels_summary",
        {"name", "Short Kernel count", "Short Kernel duration (µs) sum",
         "Short Kernel duration (µs) mean", "Short Kernel duration (µs) percent of total time"},
        {}};
    const double total_us = static_cast<double>(Total().value_or(0)) / 1000;
    for (const auto& [name, times] : times_) {
      const std::vector<double> own = ShortOf(times);
      if (own.empty()) continue;
      const double sum = analysis::KahanSum(own);
      table.rows.push_back({name, static_cast<std::int64_t>(own.size()), sum,
                            sum / static_cast<double>(own.size()), CellOf(Share(sum, total_us))});
    }
    std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
      if (a[2] != b[2]) return a[2] > b[2];
      return std::tie(a[1], a[3]) < std::tie(b[1], b[3]);
    });
    return table;
  }

  // Equal bins from the shortest to the longest of the short kernels; a value belongs to the last
  // bin whose printed start is not above it.
  Table Histogram() const {
    Table table{"short_kernel_histogram", {"bin_start", "bin_end", "count"}, {}};
    std::vector<double> values;
    for (const auto& [name, times] : times_) {
      const std::vector<double> own = ShortOf(times);
      values.insert(values.end(), own.begin(), own.end());
    }
    const std::size_t bins = options_.histogram_bins;
    if (values.empty() || bins == 0) return table;
    auto [low, high] = std::minmax_element(values.begin(), values.end());
    const bool flat = *low == *high;
    const double first = flat ? *low - 0.5 : *low;
    const double last = flat ? *high + 0.5 : *high;
    std::vector<double> edges;
    for (std::size_t i = 0; i < bins; ++i)
      edges.push_back(first +
                      static_cast<double>(i) * ((last - first) / static_cast<double>(bins)));
    edges.push_back(last);
    std::vector<std::int64_t> counts(bins);
    for (const double value : values) {
      const auto above = std::upper_bound(edges.begin(), edges.end(), value);
      const auto bin = static_cast<std::size_t>(above - edges.begin());
      ++counts[std::min(std::max<std::size_t>(bin, 1), bins) - 1];
    }
    for (std::size_t i = 0; i < bins; ++i)
      table.rows.push_back({edges[i], edges[i + 1], counts[i]});
    return table;
  }

  std::vector<double> ShortOf(const std::vector<double>& times) const {
    std::vector<double> own;
    for (const double time : times) {
      if (time < options_.short_kernel_us) own.push_back(time);
    }
    return own;
  }

  const Capture& capture_;
  const Process& process_;
  const ReportOptions& options_;
  Spans kernels_;
  Times times_;
  double all_ = 0;
};

}  // namespace

std::string_view CategoryOfKernel(std::string_view kernel) {
  struct Rule {
    std::string_view word;
    std::string_view category;
  };
  constexpr Rule kRules[] = {{"gemm", "GEMM"},        {"matmul", "GEMM"},
                             {"cijk", "GEMM"},        {"elementwise", "Elementwise"},
                             {"reduce", "Reduction"}, {"sum", "Reduction"},
                             {"conv", "Convolution"}, {"norm", "Normalization"},
                             {"flash", "Attention"},  {"attn", "Attention"},
                             {"fmha", "Attention"},   {"copy", "Memory"},
                             {"memcpy", "Memory"},    {"rccl", "COMM"},
                             {"nccl", "COMM"},        {"cross_device_reduce", "COMM"}};
  for (const Rule& rule : kRules) {
    if (ContainsNoCase(kernel, rule.word)) return rule.category;
  }
  return "Other";
}

std::vector<Table> MakeReport(const Capture& capture, const Process& process,
                              const ReportOptions& options) {
  for (const Dispatch& dispatch : process.dispatches)
    JV_CHECK(dispatch.kernel < capture.kernels.size());
  return Report(capture, process, options).Make();
}

}  // namespace jarvis::rocprof
