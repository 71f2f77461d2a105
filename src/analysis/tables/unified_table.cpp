#include "analysis/tables/unified_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "analysis/attribution/call_stack.h"
#include "analysis/attribution/group.h"
#include "analysis/attribution/kernel_cells.h"
#include "analysis/attribution/stats.h"
#include "analysis/tables/table_parts.h"
#include "perf/value.h"

namespace jarvis::analysis {
namespace {

constexpr const char* kKernelTime = "Kernel Time (µs)";

class Unified {
 public:
  Unified(const TableInput& input, std::span<const WorkCall> calls, const WorkTableOptions& options)
      : in_(input), calls_(calls), options_(options), texts_(input.events) {
    metrics_.reserve(calls.size());
    for (const WorkCall& call : calls) {
      metrics_.push_back(MetricsOf(call.work, call.kernel_us, options.metrics));
      with_metrics_ = with_metrics_ || metrics_.back().gflops.has_value();
      with_roof_ = with_roof_ || metrics_.back().roof_us.has_value();
    }
  }

  Table Make() {
    Group();
    Table table{
        options_.overlaps != nullptr ? "unified_perf_summary_kl_overlap" : "unified_perf_summary",
        Columns(),
        {}};
    const auto sum =
        std::find(table.columns.begin(), table.columns.end(), std::string(kKernelTime) + "_sum");
    const auto sum_column = static_cast<std::size_t>(sum - table.columns.begin());
    AppendRows(
        rows_.size(), table.columns.size() + kPercentageColumns,
        [&](std::size_t i, std::vector<Cell>* cells) { FillRow(rows_[i], cells); }, &table);
    AddPercentages(&table, sum_column);
    return table;
  }

 private:
  static constexpr std::size_t kArgumentTexts = 4;
  struct Row {
    std::vector<std::size_t> calls;
    std::array<StringId, kArgumentTexts> arguments;  // dims, types, strides, concrete inputs
  };

  std::string NameOf(const WorkCall& call) const {
    return call.name.empty() ? std::string(in_.OpName(call.op)) : call.name;
  }
  trace::Args ArgsOf(const WorkCall& call) const {
    return call.recorded_arguments ? in_.OpArgs(call.op) : trace::Args();
  }

  void Group() {
    constexpr std::size_t kBase = 10;
    constexpr std::size_t kArguments = 5;  // where their texts are in a key
    Grouping<kBase + 1> groups;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const WorkCall& call = calls_[i];
      const trace::TrackNames& names = in_.track_names[in_.events[call.op].track];
      const trace::Args args = ArgsOf(call);
      groups.Add(
          {texts_.Text(NameOf(call)), texts_.Text(call.category), texts_.Text(names.process_name),
           texts_.Text(names.process_label), texts_.Text(names.thread_name), texts_.Of(args.dims),
           texts_.Of(args.types), texts_.Of(args.strides), texts_.Of(args.concrete),
           in_.Recomputed(call.op),
           options_.overlaps == nullptr ? 0 : texts_.Text((*options_.overlaps)[i].NamesText())},
          i);
    }
    struct Entry {
      double base_sum;
      std::uint32_t base_uid;
      double sum;
      Row row;
    };
    std::vector<Entry> entries;
    // Rows of one call with other partners stay together: sorted by what they have in common.
    std::map<std::array<std::uint32_t, kBase>, std::vector<std::size_t>> base;
    for (const auto& group : groups.groups()) {
      std::array<std::uint32_t, kBase> key;
      std::copy_n(group.key.begin(), kBase, key.begin());
      auto& all = base[key];
      all.insert(all.end(), group.rows.begin(), group.rows.end());
    }
    for (const auto& group : groups.groups()) {
      std::array<std::uint32_t, kBase> key;
      std::copy_n(group.key.begin(), kBase, key.begin());
      std::vector<std::size_t>& all = base[key];
      std::sort(all.begin(), all.end());
      std::uint32_t uid = calls_[all.front()].uid;
      for (const std::size_t i : all)
        uid = std::min(uid, calls_[i].uid);
      if (options_.overlaps == nullptr) uid = calls_[group.rows.front()].uid;
      entries.push_back({Sum(all), uid, Sum(group.rows), {group.rows, {}}});
      std::copy_n(group.key.begin() + kArguments, kArgumentTexts,
                  entries.back().row.arguments.begin());
    }
    std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      if (a.base_sum != b.base_sum) return a.base_sum > b.base_sum;
      if (a.base_uid != b.base_uid) return a.base_uid < b.base_uid;
      if (a.sum != b.sum) return a.sum > b.sum;
      return calls_[a.row.calls.front()].uid < calls_[b.row.calls.front()].uid;
    });
    for (Entry& entry : entries)
      rows_.push_back(std::move(entry.row));
  }

  double Sum(const std::vector<std::size_t>& rows) const {
    std::vector<double> values;
    for (const std::size_t i : rows)
      values.push_back(calls_[i].kernel_us);
    return KahanSum(values);
  }

  std::vector<std::string> Columns() const {
    std::vector<std::string> out = {"name"};
    const auto add = [&](std::initializer_list<const char*> names) {
      out.insert(out.end(), names.begin(), names.end());
    };
    const auto moments = [&](const char* name, std::initializer_list<const char*> which) {
      for (const char* moment : which)
        out.push_back(std::string(name) + "_" + moment);
    };
    if (options_.overlaps != nullptr) add({"overlapping_kernel_names"});
    add({"op category", "process_name", "process_label", "thread_name", "Input Dims", "Input type",
         "Input Strides", "Concrete Inputs"});
    if (in_.recompute != nullptr) add({"is_recompute"});
    add({"ex_UID", "operation_count", "total_duration_us", "mean_duration_us", "std_duration_us"});
    if (with_metrics_) add({"GFLOPS", "Data Moved (MB)", "FLOPS/Byte", "Compute Spec"});
    if (with_roof_) add({"Roofline Bound"});
    if (with_metrics_) {
      moments("TB/s", {"mean", "std"});
      moments("TFLOPS/s", {"mean", "std"});
    }
    moments(kKernelTime, {"mean", "std", "sum"});
    if (options_.extra != nullptr) {
      out.insert(out.end(), options_.extra->names.begin(), options_.extra->names.end());
    }
    moments("duration_us", {"median", "min", "max"});
    if (with_metrics_) {
      moments("TB/s", {"median", "min", "max"});
      moments("TFLOPS/s", {"median", "min", "max"});
    }
    if (with_roof_) {
      add({"Roofline Time (µs)_first"});
      moments("Pct Roofline", {"mean", "median", "std", "min", "max"});
    }
    moments(kKernelTime, {"median", "min", "max"});
    add({"kernel_details_summary", "trunc_kernel_details"});
    if (options_.overlaps != nullptr) {
      const std::vector<std::string> more = OverlapColumns();
      out.insert(out.end(), more.begin(), more.end());
    }
    add({"perf_params", "has_perf_model"});
    if (options_.call_stacks) add({"entry_point", "call_stack_full"});
    return out;
  }

  template <typename Value>
  std::vector<std::optional<double>> Values(const std::vector<std::size_t>& row,
                                            Value value) const {
    std::vector<std::optional<double>> out;
    for (const std::size_t i : row)
      out.push_back(value(i));
    return out;
  }

  // The first value of a group that is there.
  template <typename Value>
  Cell First(const std::vector<std::size_t>& row, Value value) const {
    for (const std::size_t i : row) {
      Cell cell = value(i);
      if (!std::holds_alternative<Absent>(cell)) return cell;
    }
    return {};
  }

  void FillRow(const Row& of, std::vector<Cell>* out) const {
    std::vector<Cell>& cells = *out;
    const std::vector<std::size_t>& row = of.calls;
    const WorkCall& first = calls_[row.front()];
    const trace::TrackNames& names = in_.track_names[in_.events[first.op].track];
    cells.emplace_back(NameOf(first));
    const auto moments_of = [&](std::optional<double> Metrics::*member) {
      return MomentsOf(Values(row, [&](std::size_t i) { return metrics_[i].*member; }));
    };
    const auto add = [&](const std::optional<Moments>& moments,
                         std::initializer_list<const char*> which) {
      for (const std::string_view moment : which) {
        cells.push_back(moment == "std"
                            ? StdCell(moments)
                            : MomentCell(moments, moment == "mean"     ? &Moments::mean
                                                  : moment == "median" ? &Moments::median
                                                  : moment == "min"    ? &Moments::min
                                                  : moment == "max"    ? &Moments::max
                                                                       : &Moments::sum));
      }
    };
    if (options_.overlaps != nullptr) {
      const std::string text = (*options_.overlaps)[row.front()].NamesText();
      cells.push_back(text.empty() ? Cell() : Cell(text));
    }
    cells.insert(cells.end(), {std::string(first.category), names.process_name, names.process_label,
                               names.thread_name});
    for (const StringId text : of.arguments)
      cells.push_back(texts_.CellOf(text));
    if (in_.recompute != nullptr) cells.emplace_back(in_.Recomputed(first.op));
    const auto host = MomentsOf(Values(row, [&](std::size_t i) { return calls_[i].host_us; }));
    cells.insert(
        cells.end(),
        {static_cast<std::int64_t>(first.uid), static_cast<std::int64_t>(row.size()),
         host || !in_.rules.empty_sums_are_zero ? MomentCell(host, &Moments::sum) : Cell(0.0),
         MomentCell(host, &Moments::mean), StdCell(host)});
    const auto tb = moments_of(&Metrics::tb_per_s);
    const auto tflops = moments_of(&Metrics::tflops_per_s);
    const auto pct = moments_of(&Metrics::pct_roof);
    const auto kernel =
        MomentsOf(Values(row, [&](std::size_t i) { return std::optional(calls_[i].kernel_us); }));
    AddWork(row, &cells);
    if (with_metrics_) {
      add(tb, {"mean", "std"});
      add(tflops, {"mean", "std"});
    }
    add(kernel, {"mean", "std", "sum"});
    if (options_.extra != nullptr) AddExtra(row, kernel ? kernel->sum : 0, &cells);
    add(host, {"median", "min", "max"});
    if (with_metrics_) {
      add(tb, {"median", "min", "max"});
      add(tflops, {"median", "min", "max"});
    }
    if (with_roof_) {
      cells.push_back(First(row, [&](std::size_t i) { return CellOf(metrics_[i].roof_us); }));
      add(pct, {"mean", "median", "std", "min", "max"});
    }
    add(kernel, {"median", "min", "max"});
    const std::vector<KernelCell> kernels = KernelsOf(row);
    AddKernels(row, kernels, &cells);
    cells.push_back(First(row, [&](std::size_t i) {
      return metrics_[i].gflops ? Cell(perf::DictText(calls_[i].work->parameters)) : Cell();
    }));
    cells.emplace_back(first.has_model);
    if (options_.call_stacks) AddStacks(row, kernels, &cells);
  }

  // What one call has to do, and what binds it.
  void AddWork(const std::vector<std::size_t>& row, std::vector<Cell>* cells) const {
    if (with_metrics_) {
      cells->push_back(First(row, [&](std::size_t i) { return CellOf(metrics_[i].gflops); }));
      cells->push_back(First(row, [&](std::size_t i) {
        const auto& bytes = metrics_[i].bytes;
        return bytes ? Cell(*bytes / in_.rules.megabyte) : Cell();
      }));
      cells->push_back(
          First(row, [&](std::size_t i) { return CellOf(metrics_[i].flops_per_byte); }));
      cells->push_back(First(row, [&](std::size_t i) {
        return metrics_[i].gflops ? Cell(std::string(metrics_[i].spec)) : Cell();
      }));
    }
    if (with_roof_) {
      cells->push_back(First(row, [&](std::size_t i) {
        const auto& bound = metrics_[i].bound;
        return bound ? Cell(std::string(perf::BoundText(*bound))) : Cell();
      }));
    }
  }

  void AddExtra(const std::vector<std::size_t>& row, double kernel_us,
                std::vector<Cell>* cells) const {
    std::vector<EventIndex> kernels;
    for (const std::size_t i : row)
      kernels.insert(kernels.end(), calls_[i].kernels.begin(), calls_[i].kernels.end());
    for (Cell& cell : options_.extra->cells(kernels, kernel_us))
      cells->push_back(std::move(cell));
  }

  std::vector<KernelCell> KernelsOf(const std::vector<std::size_t>& row) const {
    std::vector<std::span<const EventIndex>> lists;
    for (const std::size_t i : row)
      lists.push_back(calls_[i].kernels);
    return SummarizeKernels(in_.events, lists, in_.rules);
  }

  void AddKernels(const std::vector<std::size_t>& row, std::vector<KernelCell> kernels,
                  std::vector<Cell>* cells) const {
    const WorkCall* owner = Template(row);
    if (options_.stacks_in_kernel_cells && owner != nullptr && owner->owns_stack) {
      // The cells are sorted; which kernel of the list each is, its name and stream tell.
      const std::vector<std::string> frames = FramesOf(*owner);
      std::vector<char> used(owner->kernels.size(), 0);
      for (KernelCell& cell : kernels) {
        for (std::size_t k = 0; k < owner->kernels.size(); ++k) {
          if (used[k] != 0 || in_.events.name(owner->kernels[k]) != cell.name) continue;
          used[k] = 1;
          std::vector<std::string> stack = frames;
          for (std::string& name : Below(*owner, owner->kernels[k])) {
            stack.push_back(std::move(name));
          }
          cell.more = "'call_stack': " + ListText(stack);
          break;
        }
      }
    }
    cells->emplace_back(KernelSummaryText(kernels));
    cells->emplace_back(KernelShortText(kernels));
    if (options_.overlaps != nullptr) {
      std::vector<const Overlap*> overlaps;
      for (const std::size_t i : row)
        overlaps.push_back(&(*options_.overlaps)[i]);
      for (Cell& cell :
           OverlapCells(overlaps, {.share_of_first_call = in_.rules.skip_deviating_kernel_lists,
                                  .two_decimals = true})) {
        cells->push_back(std::move(cell));
      }
    }
  }

  // The call whose kernels a row's cells are made after.
  const WorkCall* Template(const std::vector<std::size_t>& row) const {
    for (const std::size_t i : row) {
      if (!calls_[i].kernels.empty()) return &calls_[i];
    }
    return nullptr;
  }

  // The event that a call stands for, or that the part of an op stands below.
  static EventIndex PlaceOf(const WorkCall& call) {
    return call.pseudo == nullptr ? call.op : call.pseudo->at;
  }

  // From the root down to the call, itself included.
  std::vector<std::string> FramesOf(const WorkCall& call) const {
    std::vector<std::string> out;
    if (call.pseudo != nullptr) out.push_back(call.pseudo->name);
    for (EventIndex up = PlaceOf(call); up != kNoEvent; up = options_.parent(up)) {
      const std::string_view name = in_.OpName(up);
      if (StandsOnCallStack(in_.events[up].kind, name)) out.push_back(WithoutNumbers(name));
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  // Strictly between the call and a kernel, top-down.
  std::vector<std::string> Below(const WorkCall& call, EventIndex kernel) const {
    const bool to_root = call.pseudo != nullptr && options_.parts_repeat_callers;
    const EventIndex end = to_root ? kNoEvent : PlaceOf(call);
    std::vector<std::string> out;
    for (EventIndex up = options_.parent(kernel); up != kNoEvent && up != end;
         up = options_.parent(up)) {
      const std::string_view name = in_.OpName(up);
      if (StandsOnCallStack(in_.events[up].kind, name)) out.push_back(WithoutNumbers(name));
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  void AddStacks(const std::vector<std::size_t>& row, std::span<const KernelCell> cells_of_kernels,
                 std::vector<Cell>* cells) const {
    const WorkCall* call = Template(row);
    std::vector<KernelStack> kernels;
    std::vector<std::string> frames;
    if (call != nullptr) {
      if (call->owns_stack) frames = FramesOf(*call);
      // In the order of the kernel cells.
      std::unordered_map<std::string_view, std::vector<EventIndex>> of_name;
      for (const EventIndex kernel : call->kernels)
        of_name[in_.events.name(kernel)].push_back(kernel);
      for (const KernelCell& cell : cells_of_kernels) {
        const auto same = of_name.find(cell.name);
        if (same == of_name.end() || cell.nth >= same->second.size()) continue;
        const EventIndex kernel = same->second[cell.nth];
        kernels.push_back({call->owns_stack ? Below(*call, kernel) : std::vector<std::string>(),
                           in_.events.name(kernel)});
      }
    }
    CallStack stack = JoinCallStacks(frames, kernels);
    if (in_.rules.empty_stack_tail && kernels.size() > 1 && stack.tails.empty())
      stack.tails.emplace_back();
    const EntryPoint entry = FindEntryPoint(stack.Flat(), NameOf(calls_[row.front()]));
    cells->insert(cells->end(), {entry.frame, stack.Text(in_.rules.stack_frames_max)});
  }

  const TableInput& in_;
  std::span<const WorkCall> calls_;
  const WorkTableOptions& options_;
  ArgumentTexts texts_;
  std::vector<Metrics> metrics_;  // by call
  bool with_metrics_ = false;
  bool with_roof_ = false;
  std::vector<Row> rows_;
};

bool Communicates(const EventStore& events, const WorkCall& call) {
  return std::all_of(call.kernels.begin(), call.kernels.end(),
                     [&](EventIndex kernel) { return IsCollectiveName(events.name(kernel)); });
}

}  // namespace

Table UnifiedPerfSummary(const TableInput& input, std::span<const WorkCall> calls,
                         const WorkTableOptions& options) {
  return Unified(input, calls, options).Make();
}

Table ModelCoverage(const TableInput& input, std::span<const WorkCall> calls) {
  struct Part {
    std::int64_t calls = 0;
    double time_us = 0;
  };
  Part modelled, all;
  std::map<std::pair<std::string, std::string>, Part> without;  // op, reason
  for (const WorkCall& call : calls) {
    Part* part = &modelled;
    const bool evaluated = call.work != nullptr &&
                           call.work->failure == perf::OpWork::Failure::kNone &&
                           (call.work->flops || call.work->bytes);
    if (!evaluated) {
      const std::string name =
          call.recorded_arguments ? std::string(input.OpName(call.op)) : std::string("(unlinked)");
      const trace::EventKind kind = input.events[call.op].kind;
      std::string reason = !call.recorded_arguments ? "no launch call, so no op and no arguments"
                           : trace::IsLaunchCall(kind)
                               ? "launched outside of any op, so no arguments"
                           : call.work == nullptr && Communicates(input.events, call)
                               ? "a collective: coll_analysis has it"
                           : call.work == nullptr ? "no model"
                           : call.work->failure == perf::OpWork::Failure::kNone
                               ? "the work cannot be told from the arguments"
                               : call.work->reason;
      part = &without[{name, std::move(reason)}];
    }
    for (Part* p : {part, &all}) {
      ++p->calls;
      p->time_us += call.kernel_us;
    }
  }
  Table table{"model_coverage", {"op", "why not", "calls", "time ms", "share of time (%)"}, {}};
  const auto add = [&](const std::string& op, const std::string& why, const Part& part) {
    table.rows.push_back({op, why.empty() ? Cell() : Cell(why), part.calls, part.time_us / 1000,
                          all.time_us > 0 ? Cell(part.time_us / all.time_us * 100) : Cell()});
  };
  add("(with a model)", "", modelled);
  std::vector<std::pair<std::pair<std::string, std::string>, Part>> rest(without.begin(),
                                                                         without.end());
  std::stable_sort(rest.begin(), rest.end(), [](const auto& a, const auto& b) {
    return a.second.time_us > b.second.time_us;
  });
  for (const auto& [key, part] : rest)
    add(key.first, key.second, part);
  return table;
}

}  // namespace jarvis::analysis
