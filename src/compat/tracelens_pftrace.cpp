#include "compat/tracelens_pftrace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"
#include "base/interval.h"
#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::compat {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::EventStore;
using PftraceSpans = IntervalSet<std::int64_t>;

constexpr std::int64_t kMinEventNs = 5000;
constexpr std::string_view kCommunication = "rccl";

// The first that has a part which occurs in the name, whatever its case; else of XLA.
std::string_view PftraceCategory(std::string_view name) {
  struct Parts {
    std::string_view category;
    std::initializer_list<std::string_view> parts;
  };
  static const Parts kCategories[] = {
      {kCommunication, {"nccl", "rccl"}},
      {"gemm", {"cublaslt", "cijk", "gemm", "nvjet"}},
      {"ckbwd", {"fmhabwd", "kernel_func", "flash_bprop"}},
      {"ckfwd", {"fmhafwd", "flash_fprop"}},
      {"memcpy/memset", {"copy", "memcpy", "memset"}},
      {"te", {"transformer_engine"}},
      {"aiterfwd", {"aiter::fmha_fwd"}},
      {"aiterbwd", {"aiter::fmha_bwd"}},
      {"fillBuffer", {"fillbuffer"}},
  };
  for (const Parts& one : kCategories) {
    for (const std::string_view part : one.parts)
      if (ContainsNoCase(name, part)) return one.category;
  }
  return "xla";
}

// "3.280 ms".
std::string PrettyTime(double ns) {
  if (ns >= 1e9) return fmt::format("{:.3f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.3f} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.3f} μs", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

struct TimeStats {
  double total = 0, mean = 0, median = 0, std = 0;
  std::int64_t least = 0, most = 0;
};

TimeStats StatsOf(const std::vector<double>& ns) {
  TimeStats stats;
  for (const double one : ns)
    stats.total += one;
  stats.mean = stats.total / static_cast<double>(ns.size());
  stats.median = analysis::Median(ns);
  stats.std = analysis::PopulationStd(ns);
  stats.least = static_cast<std::int64_t>(*std::ranges::min_element(ns));
  stats.most = static_cast<std::int64_t>(*std::ranges::max_element(ns));
  return stats;
}

class PftraceTables {
 public:
  explicit PftraceTables(const EventStore& events) : events_(events) {
    for (EventIndex e = 0; e < events.size(); ++e) {
      const trace::Event& event = events[e];
      if (event.kind == EventKind::kRuntime) calls_.push_back(e);
      if (event.kind == EventKind::kMemcpy) copies_.push_back(e);
      if (event.kind != EventKind::kKernel) continue;
      kernels_.push_back(e);
      const std::string agent = TextAt(e, "agent");
      if (std::ranges::find(agents_, agent) == agents_.end()) agents_.push_back(agent);
    }
  }

  std::vector<Table> Run() {
    std::vector<Table> tables;
    tables.push_back(ApiKernels());
    tables.push_back(Categories());
    tables.push_back(XlaTop());
    tables.push_back(KernelSummary());
    tables.push_back(HipSummary());
    tables.push_back(Copies());
    return tables;
  }

 private:
  std::string TextAt(EventIndex e, std::string_view key) const {
    return trace::Unescape(
        trace::Unquoted(trace::MemberOf(events_.text(events_.args_of(e).other), key)));
  }
  std::int64_t NumberAt(EventIndex e, std::string_view key) const {
    return trace::IntegerOf(trace::MemberOf(events_.text(events_.args_of(e).other), key))
        .value_or(0);
  }
  std::int64_t DeviceOf(EventIndex kernel) const {
    const auto found = std::ranges::find(agents_, TextAt(kernel, "agent"));
    return found - agents_.begin();
  }

  static bool Launches(std::string_view name) {
    if (IsOneOf(name, {"hipMemset", "hipMemcpyHtoDAsync", "hipMemcpyDtoHAsync", "hipMemsetD32Async",
                       "hipModuleLaunchCooperativeKernel"}))
      return true;
    const std::size_t launch = name.find("Launch");
    return launch != std::string_view::npos &&
           name.find("Kernel", launch) != std::string_view::npos;
  }

  Table ApiKernels() const {
    Table table{"api_kernel_summary", {"PID", "TID", "DevId", "Count", "QCount"}, {}};
    for (const char* part : {"T", "A", "Q", "K"}) {
      for (const char* of : {"Avg", "Med", "Min", "Max", "StdDev"})
        table.columns.push_back(fmt::format("{}{}_ns", part, of));
    }
    table.columns.insert(table.columns.end(), {"API Name", "Kernel Name"});
    std::map<std::int64_t, EventIndex> first_kernel;  // by correlation: the earliest
    for (const EventIndex e : kernels_) {
      const std::int64_t id = events_.args_of(e).correlation;
      if (id == trace::kAbsent ||
          events_.name(e).find("redzone_checker_kernel") != std::string::npos)
        continue;
      const auto [found, added] = first_kernel.try_emplace(id, e);
      if (!added && events_[e].ts_ns < events_[found->second].ts_ns) found->second = e;
    }
    struct Parts {
      std::vector<double> all, api, queue, kernel;
    };
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string, std::string>, Parts>
        rows;
    for (const EventIndex e : calls_) {
      const auto kernel = first_kernel.find(events_.args_of(e).correlation);
      if (kernel == first_kernel.end() || !Launches(events_.name(e))) continue;
      const trace::Event& call = events_[e];
      const trace::Event& work = events_[kernel->second];
      // Threads that are no track of their own have their process's number.
      const std::int64_t pid = ParseInt(events_.tracks[call.track].pid).value_or(0);
      Parts& parts = rows[{pid, pid, DeviceOf(kernel->second), std::string(events_.name(e)),
                           std::string(events_.name(kernel->second))}];
      const std::int64_t queued = std::max<std::int64_t>(0, work.ts_ns - call.end_ns());
      parts.api.push_back(static_cast<double>(call.dur_ns));
      parts.queue.push_back(static_cast<double>(queued));
      parts.kernel.push_back(static_cast<double>(work.dur_ns));
      parts.all.push_back(static_cast<double>(call.dur_ns + queued + work.dur_ns));
    }
    for (const auto& [key, parts] : rows) {
      const auto count = static_cast<std::int64_t>(parts.all.size());
      std::vector<Cell> row = {std::get<0>(key), std::get<1>(key), std::get<2>(key), count, count};
      for (const auto* values : {&parts.all, &parts.api, &parts.queue, &parts.kernel}) {
        const TimeStats stats = StatsOf(*values);
        row.insert(row.end(), {Cell(stats.mean), Cell(stats.median), Cell(stats.least),
                               Cell(stats.most), Cell(stats.std)});
      }
      row.insert(row.end(), {Cell(std::get<3>(key)), Cell(std::get<4>(key))});
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  // Runtime in ns and count, in the table's order.
  using Shares = std::vector<std::tuple<std::string, double, double>>;

  Shares SharesOf(std::int64_t device) const {
    static constexpr std::string_view kOrder[] = {
        "xla",   "aiterfwd", "aiterbwd",      "gemm",       "ckbwd",
        "ckfwd", "te",       "memcpy/memset", "fillBuffer", kCommunication};
    std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> sums;
    std::vector<Interval<std::int64_t>> compute, communication;
    for (const EventIndex e : kernels_) {
      const trace::Event& event = events_[e];
      if (DeviceOf(e) != device || event.dur_ns < kMinEventNs) continue;
      const std::string_view category = PftraceCategory(events_.name(e));
      sums[category].first += event.dur_ns;
      ++sums[category].second;
      (category == kCommunication ? communication : compute)
          .push_back({event.ts_ns, event.end_ns()});
    }
    const PftraceSpans computing = Union(std::move(compute));
    const PftraceSpans talking = Union(std::move(communication));
    Shares shares;
    const auto add = [&](std::string_view category, std::int64_t ns, std::int64_t count) {
      shares.emplace_back(category, static_cast<double>(ns), static_cast<double>(count));
    };
    for (const std::string_view category : kOrder)
      add(category, sums[category].first, sums[category].second);
    const std::int64_t apart = Length(Subtract(talking, computing));
    add("overlapped_comm", Length(talking) - apart, 0);
    add("non_overlapped_comm", apart, 0);
    add("compute_total", Length(computing), 0);
    add("total_incl_comm", Length(computing) + apart, 0);
    return shares;
  }

  Table Categories() const {
    Table table{"category_summary",
                {"GPU ID", "Category", "Total runtime (ms)", "Total count",
                 "Fraction of compute runtime", "Fraction of total runtime"},
                {}};
    constexpr std::size_t kComputeFromEnd = 2;
    std::map<std::string, std::vector<std::array<double, 4>>> of_all;
    for (std::size_t device = 0; device < agents_.size(); ++device) {
      const Shares shares = SharesOf(static_cast<std::int64_t>(device));
      const double compute = std::get<1>(shares[shares.size() - kComputeFromEnd]);
      const double total = std::get<1>(shares.back());
      for (const auto& [category, ns, count] : shares) {
        const double of_compute = compute > 0 ? ns / compute : 0;
        const double of_total = total > 0 ? ns / total : 0;
        const double ms = ns / 1e6;
        table.rows.push_back(
            {fmt::format("{}", device), category, ms, count, of_compute, of_total});
        of_all[category].push_back({ms, count, of_compute, of_total});
      }
    }
    for (const auto& [category, values] : of_all) {
      std::vector<Cell> row = {std::string("Avg"), category};
      for (std::size_t i = 0; i < 4; ++i) {
        double sum = 0;
        for (const auto& one : values)
          sum += one[i];
        row.emplace_back(sum / static_cast<double>(values.size()));
      }
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  struct Named {
    std::string name;
    std::vector<EventIndex> events;
    std::vector<double> ns;
    double total = 0;
  };

  // By name, the longest in all first.
  template <typename Wanted>
  std::vector<Named> ByName(const std::vector<EventIndex>& which, const Wanted& wanted) const {
    std::map<std::string, Named> by_name;
    for (const EventIndex e : which) {
      if (!wanted(e)) continue;
      Named& named = by_name[std::string(events_.name(e))];
      named.name = events_.name(e);
      named.events.push_back(e);
      named.ns.push_back(static_cast<double>(events_[e].dur_ns));
      named.total += named.ns.back();
    }
    std::vector<Named> list;
    for (auto& [name, named] : by_name)
      list.push_back(std::move(named));
    std::ranges::stable_sort(list, std::ranges::greater{}, &Named::total);
    return list;
  }

  Table XlaTop() const {
    constexpr std::size_t kTop = 30;
    Table table{"xla_top", {"Kernel", "Total time (ms)", "Count", "Fraction of XLA"}, {}};
    std::vector<Named> list =
        ByName(kernels_, [&](EventIndex e) { return PftraceCategory(events_.name(e)) == "xla"; });
    double total = 0;
    for (const Named& named : list)
      total += named.total;
    if (list.size() > kTop) list.resize(kTop);
    for (const Named& named : list) {
      table.rows.push_back({named.name, named.total / 1e6,
                            static_cast<std::int64_t>(named.ns.size()), named.total / total});
    }
    return table;
  }

  static void AddPretty(const TimeStats& stats, double percent, std::size_t count,
                        std::vector<Cell>* row) {
    *row = {fmt::format("{:.1f}%", percent),
            PrettyTime(stats.total),
            static_cast<std::int64_t>(count),
            PrettyTime(stats.mean),
            PrettyTime(stats.median),
            PrettyTime(static_cast<double>(stats.least)),
            PrettyTime(static_cast<double>(stats.most)),
            PrettyTime(stats.std)};
  }
  static void AddRaw(const TimeStats& stats, double percent, std::vector<Cell>* row) {
    row->insert(row->end(),
                {Cell(percent), Cell(static_cast<std::int64_t>(stats.total)), Cell(stats.mean),
                 Cell(stats.median), Cell(stats.least), Cell(stats.most), Cell(stats.std)});
  }

  // Communication counts in the shares, and has no row.
  Table KernelSummary() const {
    Table table{
        "kernel_summary",
        {"Time",     "Total Time", "Instances", "Avg",      "Med",         "Min",
         "Max",      "StdDev",     "GridXYZ",   "BlockXYZ", "VGPR",        "AccumVGPR",
         "SGPR",     "LDS",        "Scratch",   "Name",     "Time %",      "Total Time (ns)",
         "Avg (ns)", "Med (ns)",   "Min (ns)",  "Max (ns)", "StdDev (ns)", "GridX",
         "GridY",    "GridZ",      "BlockX",    "BlockY",   "BlockZ"},
        {}};
    const std::vector<Named> list =
        ByName(kernels_, [&](EventIndex e) { return events_[e].dur_ns >= kMinEventNs; });
    double all = 0;
    for (const Named& named : list)
      all += named.total;
    for (const Named& named : list) {
      if (PftraceCategory(named.name) == kCommunication) continue;
      const TimeStats stats = StatsOf(named.ns);
      const double percent = named.total / all * 100;
      std::vector<Cell> row;
      AddPretty(stats, percent, named.ns.size(), &row);
      const EventIndex first = named.events.front();
      // The trace has products of the three sizes alone.
      const std::int64_t grid = NumberAt(first, "grid_size");
      const std::int64_t block = NumberAt(first, "workgroup_size");
      for (const std::int64_t size : {grid, block})
        row.emplace_back(fmt::format("{:7} {:4} {:4}", size, 1, 1));
      for (const char* key :
           {"VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "LDS_Block_Size", "Scratch_Size"})
        row.emplace_back(NumberAt(first, key));
      row.emplace_back(named.name);
      AddRaw(stats, percent, &row);
      for (const std::int64_t size : {grid, block})
        row.insert(row.end(), {Cell(size), Cell(std::int64_t{1}), Cell(std::int64_t{1})});
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Table HipSummary() const {
    Table table{
        "hip_summary",
        {"Time", "Total Time", "Instances", "Avg", "Med", "Min", "Max", "StdDev", "Name", "Time %",
         "Total Time (ns)", "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)"},
        {}};
    const std::vector<Named> list =
        ByName(calls_, [&](EventIndex e) { return events_.name(e).starts_with("hip"); });
    double all = 0;
    for (const Named& named : list)
      all += named.total;
    for (const Named& named : list) {
      const TimeStats stats = StatsOf(named.ns);
      const double percent = named.total / all * 100;
      std::vector<Cell> row;
      AddPretty(stats, percent, named.ns.size(), &row);
      row.emplace_back(named.name);
      AddRaw(stats, percent, &row);
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Table Copies() const {
    Table table{"memory_copy_by_copy_bytes", {"copy_bytes", "direction", "count"}, {}};
    std::map<std::pair<std::int64_t, std::string>, std::int64_t> counts;
    for (const EventIndex e : copies_) {
      const auto bytes =
          trace::IntegerOf(trace::MemberOf(events_.text(events_.args_of(e).other), "copy_bytes"));
      if (!bytes) continue;
      const std::string_view name = events_.name(e);
      const std::string from = TextAt(e, "src_agent");
      const std::string to = TextAt(e, "dst_agent");
      const auto is = [&](std::string_view part) {
        return name.find(part) != std::string_view::npos;
      };
      const std::string direction = is("HOST_TO_DEVICE")   ? fmt::format("h2d (GPU {})", to)
                                    : is("DEVICE_TO_HOST") ? fmt::format("d2h (GPU {})", from)
                                    : is("DEVICE_TO_DEVICE")
                                        ? fmt::format("d2d (GPU {} -> GPU {})", from, to)
                                        : "other";
      ++counts[{*bytes, direction}];
    }
    for (const auto& [key, count] : counts)
      table.rows.push_back({key.first, key.second, count});
    return table;
  }

  const EventStore& events_;
  std::vector<EventIndex> calls_, copies_, kernels_;
  std::vector<std::string> agents_;  // as they are seen first
};

}  // namespace

bool IsRocprofTrace(const EventStore& events) {
  return events.dialect.Name() == "perfetto (rocprofv3)";
}

std::vector<Table> TraceLensPftraceReport(const EventStore& events) {
  return PftraceTables(events).Run();
}

}  // namespace jarvis::compat
