#include "analysis/tables/family_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "analysis/attribution/arg_text.h"
#include "analysis/attribution/group.h"
#include "analysis/attribution/kernel_cells.h"
#include "analysis/attribution/stats.h"
#include "analysis/tables/table_parts.h"
#include "base/string_pool.h"
#include "table/py_text.h"

namespace jarvis::analysis {
namespace {

constexpr const char* kMoments[] = {"mean", "median", "std", "min", "max"};

class Family {
 public:
  Family(const TableInput& input, const std::string& name, std::span<const WorkCall* const> calls,
         const WorkTableOptions& options)
      : in_(input), name_(name), calls_(calls), options_(options) {
    for (const WorkCall* call : calls) {
      metrics_.push_back(MetricsOf(call->work, call->kernel_us, options.metrics));
      with_roof_ = with_roof_ || metrics_.back().roof_us.has_value();
    }
  }

  Table Make() {
    ParameterColumns();
    Group();
    Table table{options_.overlaps != nullptr ? name_ + "_kl_overlap" : name_, Columns(), {}};
    AppendRows(
        rows_.size(), table.columns.size(),
        [&](std::size_t i, std::vector<Cell>* cells) { FillRow(rows_[i], cells); }, &table);
    return table;
  }

 private:
  // The union of the calls' parameters in order of first sight, and the texts of each work: calls
  // with the same arguments share one.
  void ParameterColumns() {
    std::unordered_map<const perf::OpWork*, std::size_t> places;
    std::vector<const perf::OpWork*> works;
    std::map<std::string, std::size_t, std::less<>> index;
    for (const WorkCall* call : calls_) {
      const auto [place, added] = places.try_emplace(call->work, works.size());
      work_of_.push_back(place->second);
      if (!added) continue;
      works.push_back(call->work);
      for (const perf::Parameter& parameter : call->work->parameters) {
        if (index.try_emplace(parameter.key, parameters_.size()).second) {
          parameters_.push_back(parameter.key);
        }
      }
    }
    std::vector<char> numbers(parameters_.size(), 1);  // all values that are there are numbers
    std::vector<char> fractions(parameters_.size(), 0);
    std::vector<const perf::Value*> values;  // of one work
    const auto read = [&](const perf::OpWork& work) {
      values.assign(parameters_.size(), nullptr);
      for (const perf::Parameter& parameter : work.parameters)
        values[index.find(parameter.key)->second] = &parameter.value;
    };
    for (const perf::OpWork* work : works) {
      read(*work);
      for (std::size_t p = 0; p < parameters_.size(); ++p) {
        const perf::Value* value = values[p];
        if (value == nullptr || value->kind == perf::Value::Kind::kFloat) fractions[p] = 1;
        if (value != nullptr && !value->is_number()) numbers[p] = 0;
      }
    }
    for (const perf::OpWork* work : works) {
      read(*work);
      std::vector<std::string>& texts = texts_.emplace_back();
      texts.reserve(parameters_.size());
      for (std::size_t p = 0; p < parameters_.size(); ++p) {
        const perf::Value* value = values[p];
        const bool as_float =
            in_.rules.float_parameter_columns && numbers[p] != 0 && fractions[p] != 0;
        texts.push_back(value == nullptr ? "nan"
                        : as_float       ? PyFloat(*value->as_double())
                                         : value->Str());
      }
    }
  }

  std::string NameOf(const WorkCall& call) const {
    return call.name.empty() ? std::string(in_.OpName(call.op)) : call.name;
  }

  double Sum(const std::vector<std::size_t>& rows) const {
    std::vector<double> values;
    for (const std::size_t i : rows)
      values.push_back(calls_[i]->kernel_us);
    return KahanSum(values);
  }

  // Other works may have the same texts.
  std::vector<StringId> WorkKeys(StringPool* pool) const {
    std::vector<StringId> keys;
    for (const std::vector<std::string>& texts : texts_) {
      std::string all;
      for (const std::string& text : texts)
        all += std::to_string(text.size()) + ':' + text;
      keys.push_back(pool->Intern(all));
    }
    return keys;
  }

  void Group() {
    constexpr std::size_t kBase = 4;
    struct Entry {
      std::vector<std::size_t> rows;
      double base_sum = 0;
      std::uint32_t base_uid = 0;
      double sum = 0;
    };
    StringPool pool;
    const std::vector<StringId> work_keys = WorkKeys(&pool);
    Grouping<kBase + 1> groups;
    // Rows of one call with other partners stay together: sorted by what they have in common.
    std::map<std::array<std::uint32_t, kBase>, std::vector<std::size_t>> base;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const WorkCall& call = *calls_[i];
      const std::array<std::uint32_t, kBase> key = {
          pool.Intern(NameOf(call)), work_keys[work_of_[i]],
          options_.num_kernels ? static_cast<std::uint32_t>(call.kernels.size()) : 0,
          in_.recompute != nullptr && in_.Recomputed(call.op) ? 1u : 0u};
      std::uint32_t overlap = 0;
      if (options_.overlaps != nullptr) {
        base[key].push_back(i);
        overlap = pool.Intern((*options_.overlaps)[i].NamesText());
      }
      groups.Add({key[0], key[1], key[2], key[3], overlap}, i);
    }
    std::vector<Entry> entries;
    for (const auto& group : groups.groups()) {
      Entry entry{group.rows, 0, calls_[group.rows.front()]->uid, Sum(group.rows)};
      entry.base_sum = entry.sum;
      if (options_.overlaps != nullptr) {
        const std::vector<std::size_t>& all =
            base[{group.key[0], group.key[1], group.key[2], group.key[3]}];
        entry.base_sum = Sum(all);
        for (const std::size_t i : all)
          entry.base_uid = std::min(entry.base_uid, calls_[i]->uid);
      }
      entries.push_back(std::move(entry));
    }
    std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      if (a.base_sum != b.base_sum) return a.base_sum > b.base_sum;
      if (a.base_uid != b.base_uid) return a.base_uid < b.base_uid;
      if (a.sum != b.sum) return a.sum > b.sum;
      return calls_[a.rows.front()]->uid < calls_[b.rows.front()]->uid;
    });
    for (Entry& entry : entries)
      rows_.push_back(std::move(entry.rows));
  }

  std::vector<std::string> Columns() const {
    std::vector<std::string> out = {"name"};
    const auto add = [&](std::initializer_list<const char*> names) {
      out.insert(out.end(), names.begin(), names.end());
    };
    const auto moments = [&](const char* name) {
      for (const char* moment : kMoments)
        out.push_back(std::string(name) + "_" + moment);
    };
    if (options_.overlaps != nullptr) add({"overlapping_kernel_names_first"});
    for (const std::string& key : parameters_)
      out.push_back("param: " + key);
    if (options_.num_kernels) add({"num_kernels"});
    if (in_.recompute != nullptr) add({"is_recompute"});
    add({"GFLOPS_first", "Data Moved (MB)_first", "FLOPS/Byte_first"});
    moments("TB/s");
    moments("TFLOPS/s");
    add({"process_name_first", "process_label_first", "thread_name_first", "Compute Spec"});
    if (with_roof_) {
      add({"Roofline Time (µs)_first", "Roofline Bound_first"});
      moments("Pct Roofline");
    }
    add({"kernel_details__summarize_kernel_stats", "trunc_kernel_details"});
    if (options_.overlaps != nullptr) {
      std::vector<std::string> more = OverlapColumns();
      more[0] = "overlapping_kernels_details__summarize_kernel_stats";
      out.insert(out.end(), more.begin(), more.end());
    }
    add({"Input Dims_first", "Input type_first", "Input Strides_first", "Concrete Inputs_first"});
    moments("Kernel Time (µs)");
    add({"Kernel Time (µs)_sum", "name_count", "UID_first"});
    return out;
  }

  // The first that is known.
  Cell BoundOf(const std::vector<std::size_t>& row) const {
    for (const std::size_t i : row) {
      if (metrics_[i].bound) return std::string(perf::BoundText(*metrics_[i].bound));
    }
    return {};
  }

  void AddKernels(const std::vector<std::size_t>& row, std::vector<Cell>* cells) const {
    std::vector<std::span<const EventIndex>> lists;
    for (const std::size_t i : row)
      lists.push_back(calls_[i]->kernels);
    const std::vector<KernelCell> kernels = SummarizeKernels(in_.events, lists, in_.rules);
    cells->emplace_back(KernelSummaryText(kernels));
    cells->emplace_back(KernelShortText(kernels));
    if (options_.overlaps == nullptr) return;
    std::vector<const Overlap*> overlaps;
    for (const std::size_t i : row)
      overlaps.push_back(&(*options_.overlaps)[i]);
    for (Cell& cell :
         OverlapCells(overlaps, {.share_of_first_call = in_.rules.skip_deviating_kernel_lists,
                                .two_decimals = true})) {
      cells->push_back(std::move(cell));
    }
  }

  void FillRow(const std::vector<std::size_t>& row, std::vector<Cell>* out) const {
    std::vector<Cell>& cells = *out;
    const std::size_t at = row.front();
    const WorkCall& first = *calls_[at];
    const Metrics& metrics = metrics_[at];
    const trace::TrackNames& names = in_.track_names[in_.events[first.op].track];
    const trace::Args args = in_.OpArgs(first.op);
    cells.emplace_back(NameOf(first));
    const auto add_moments = [&](const std::vector<std::optional<double>>& values) {
      const std::optional<Moments> moments = MomentsOf(values);
      cells.insert(cells.end(),
                   {MomentCell(moments, &Moments::mean), MomentCell(moments, &Moments::median),
                    StdCell(moments), MomentCell(moments, &Moments::min),
                    MomentCell(moments, &Moments::max)});
      return moments;
    };
    const auto of = [&](std::optional<double> Metrics::*member) {
      std::vector<std::optional<double>> values;
      for (const std::size_t i : row)
        values.push_back(metrics_[i].*member);
      return values;
    };
    const auto arguments = [&](StringId raw) {
      return raw == kNoString ? Cell() : Cell(ListLiteral(in_.events.strings[raw]));
    };
    // The first value of the group that is there.
    const auto first_of = [&](std::optional<double> Metrics::*member) -> std::optional<double> {
      for (const std::size_t i : row) {
        if (metrics_[i].*member) return metrics_[i].*member;
      }
      return std::nullopt;
    };
    if (options_.overlaps != nullptr) {
      const std::string text = (*options_.overlaps)[at].NamesText();
      cells.push_back(text.empty() ? Cell() : Cell(text));
    }
    for (const std::string& text : texts_[work_of_[at]])
      cells.emplace_back(text);
    if (options_.num_kernels) cells.emplace_back(static_cast<std::int64_t>(first.kernels.size()));
    if (in_.recompute != nullptr) cells.emplace_back(in_.Recomputed(first.op));
    const std::optional<double> bytes = first_of(&Metrics::bytes);
    cells.insert(cells.end(), {CellOf(first_of(&Metrics::gflops)),
                               bytes ? Cell(*bytes / in_.rules.megabyte) : Cell(),
                               CellOf(first_of(&Metrics::flops_per_byte))});
    add_moments(of(&Metrics::tb_per_s));
    add_moments(of(&Metrics::tflops_per_s));
    cells.insert(cells.end(), {names.process_name, names.process_label, names.thread_name,
                               std::string(metrics.spec)});
    if (with_roof_) {
      cells.insert(cells.end(), {CellOf(first_of(&Metrics::roof_us)), BoundOf(row)});
      add_moments(of(&Metrics::pct_roof));
    }
    AddKernels(row, &cells);
    std::vector<std::optional<double>> times;
    for (const std::size_t i : row)
      times.emplace_back(calls_[i]->kernel_us);
    cells.insert(cells.end(), {arguments(args.dims), arguments(args.types), arguments(args.strides),
                               arguments(args.concrete)});
    const std::optional<Moments> time = add_moments(times);
    cells.insert(cells.end(),
                 {MomentCell(time, &Moments::sum), static_cast<std::int64_t>(row.size()),
                  static_cast<std::int64_t>(first.uid)});
  }

  const TableInput& in_;
  std::string name_;
  std::span<const WorkCall* const> calls_;
  const WorkTableOptions& options_;
  std::vector<Metrics> metrics_;                 // by call
  std::vector<std::string> parameters_;          // columns
  std::vector<std::size_t> work_of_;             // by call: the place of its work
  std::vector<std::vector<std::string>> texts_;  // by work, by column
  bool with_roof_ = false;
  std::vector<std::vector<std::size_t>> rows_;
};

}  // namespace

Table FamilyTable(const TableInput& input, const std::string& name,
                  std::span<const WorkCall* const> calls, const WorkTableOptions& options) {
  return Family(input, name, calls, options).Make();
}

std::span<const std::string_view> FamilyOrder() {
  static constexpr std::array<std::string_view, 22> kOrder = {"GEMM",
                                                              "SDPA",
                                                              "CONV",
                                                              "InferenceAttention",
                                                              "BinaryElementwise",
                                                              "GroupedGEMM",
                                                              "MoE_comm",
                                                              "SSM",
                                                              "RoPE",
                                                              "CrossEntropy",
                                                              "UnaryElementwise",
                                                              "MoE_fused",
                                                              "MoE_unfused",
                                                              "MoE_aux",
                                                              "RMSNorm",
                                                              "elementwise",
                                                              "GroupQuant",
                                                              "FusedRoPE",
                                                              "CustomCollective",
                                                              "mHC",
                                                              "Normalization",
                                                              "Reduce"};
  return kOrder;
}

}  // namespace jarvis::analysis
