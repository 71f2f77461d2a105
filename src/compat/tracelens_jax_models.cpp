#include "compat/tracelens_jax_models.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/attribution/stats.h"
#include "base/text.h"
#include "perf/gemm_kernel_name.h"
#include "table/py_text.h"

namespace jarvis::compat {
namespace {

using analysis::GroupMoments;
using analysis::Moments;

// A kernel's work as the reference has it. Parameters are columns, in order.
struct JaxWork {
  std::vector<std::pair<std::string, Cell>> parameters;
  double flops = 0, bytes = 0;
};

std::optional<double> SizeOf(std::string_view type) {
  if (type == "f32") return 4;
  if (type == "bf16" || type == "f16") return 2;
  if (type.starts_with("f8") || type.starts_with("fp8")) return 1;
  return std::nullopt;
}

std::string TupleText(std::span<const std::int64_t> numbers) {
  return fmt::format("({}{})", fmt::join(numbers, ", "), numbers.size() == 1 ? "," : "");
}

double Elements(std::span<const std::int64_t> dims) {
  double product = 1;
  for (const std::int64_t dim : dims)
    product *= static_cast<double>(dim);
  return product;
}

Cell Whole(double value) {
  return static_cast<std::int64_t>(value);
}

std::optional<JaxWork> GemmWork(const JaxKernel& kernel, std::string_view name) {
  const JaxOp& op = *kernel.op;
  constexpr std::size_t kDimensions = 4;
  if (op.product.size() != kDimensions || op.operands.empty()) return std::nullopt;
  const bool fp8 = JaxHas(op.target, "f8");
  const std::string_view type = fp8 ? "fp8" : OperandOf(op.operands[0]).type;
  const auto size = SizeOf(type);
  if (!size) return std::nullopt;
  // M and N are exchanged where the output is row-major.
  const std::string_view layout =
      std::string_view(op.output).substr(std::min(op.output.find('{'), op.output.size()));
  const bool column = JaxHas(layout.substr(0, layout.find('}')), "0,1");
  const auto m = static_cast<double>(op.product[column ? 0 : 1]);
  const auto n = static_cast<double>(op.product[column ? 1 : 0]);
  const auto k = static_cast<double>(op.product[2]);
  const auto b = static_cast<double>(op.product[3]);
  JaxWork work;
  work.parameters = {{"B", Whole(b)},
                     {"M", Whole(m)},
                     {"N", Whole(n)},
                     {"K", Whole(k)},
                     {"bias", op.bias},
                     {"dtype_A_B", fmt::format("('{}', '{}')", type, type)},
                     {"simulation_dtype", std::string(type == "f32"   ? "fp32"
                                                      : type == "f16" ? "fp16"
                                                                      : type)}};
  const auto transposed = perf::ParseGemmKernelName(name);
  if (transposed && transposed->transpose_a && transposed->transpose_b) {
    const auto text = [](bool flag) { return flag ? "True" : "False"; };
    work.parameters.emplace_back(
        "transpose",
        fmt::format("({}, {})", text(*transposed->transpose_a), text(*transposed->transpose_b)));
  }
  work.flops = b * (2 * m * n * k + (op.bias ? m * n : 0));
  work.bytes = b * (m * k + k * n + m * n + (op.bias ? n : 0)) * *size;
  return work;
}

std::optional<JaxWork> AttentionWork(const JaxKernel& kernel, bool backward) {
  const JaxOp& op = *kernel.op;
  constexpr std::size_t kTensors = 3, kRank = 4;
  std::vector<std::vector<std::int64_t>> tensors;
  for (std::size_t i = 0; i < std::min(op.operands.size(), kTensors); ++i)
    tensors.push_back(JaxNumbers(OperandOf(op.operands[i]).dims));
  // Packed ones end the reference's report; here they have no model.
  if (tensors.size() < kTensors ||
      std::ranges::any_of(tensors, [](const auto& dims) { return dims.size() != kRank; }))
    return std::nullopt;
  const std::string_view type = OperandOf(op.operands[0]).type;
  const std::string name = type == "bf16" ? "c10::bfloat16" : type == "f16" ? "c10::half" : "float";
  const auto& q = tensors[0];
  const auto& k = tensors[1];
  const auto& v = tensors[2];
  JaxWork work;
  work.parameters = {{"B", q[0]},    {"N_Q", q[1]},    {"H_Q", q[2]},  {"N_KV", k[1]},
                     {"H_KV", k[2]}, {"d_h_qk", q[3]}, {"d_h_v", v[3]}};
  if (kernel.concrete != "()") work.parameters.emplace_back("bias", kernel.concrete);
  work.parameters.emplace_back("dtype_A_B", fmt::format("('{}', '{}')", name, name));
  work.parameters.emplace_back("causal", false);
  work.parameters.emplace_back("flash_impl", true);
  work.parameters.emplace_back("fused", true);
  work.parameters.emplace_back("bytes_per_element", std::int64_t{2});
  const auto d = [](std::int64_t n) { return static_cast<double>(n); };
  const double queries = d(q[0]) * d(q[1]) * d(q[2]);
  const double keys = d(k[0]) * d(k[1]) * d(k[2]);
  const double qk = d(q[3]), vv = d(v[3]);
  constexpr double kBytes = 2;
  if (backward) {
    work.flops = queries * 2 * d(k[1]) * (3 * qk + 2 * vv) +
                 d(q[0]) * d(k[1]) * (qk + vv) *
                     static_cast<double>(q[2] / std::max<std::int64_t>(k[2], 1) - 1);
    work.bytes = (2 * queries * qk + queries * vv + 2 * keys * (qk + vv)) * kBytes;
  } else {
    work.flops = queries * 2 * d(k[1]) * (qk + vv);
    work.bytes = (queries * (qk + vv) + keys * (qk + vv)) * kBytes;
  }
  return work;
}

std::optional<JaxWork> ConvolutionWork(const JaxKernel& kernel, bool backward) {
  const JaxOp& op = *kernel.op;
  constexpr std::size_t kSpatialFrom = 2, kRankMax = 5;
  if (op.operands.size() < 2) return std::nullopt;
  std::string_view first_output = op.output;
  if (first_output.starts_with('(')) first_output.remove_prefix(1);
  const std::vector<std::int64_t> input = JaxNumbers(OperandOf(op.operands[0]).dims);
  const std::vector<std::int64_t> output =
      JaxNumbers(OperandOf(first_output.substr(0, first_output.find('}') + 1)).dims);
  std::vector<std::int64_t> filter = backward ? output : JaxNumbers(OperandOf(op.operands[1]).dims);
  const auto size = SizeOf(OperandOf(op.operands[0]).type);
  if (!size || input.size() <= kSpatialFrom || input.size() > kRankMax ||
      filter.size() <= kSpatialFrom || output.empty())
    return std::nullopt;
  // Of the filter the spatial part alone is taken.
  filter.erase(filter.begin(), filter.begin() + kSpatialFrom);
  JaxWork work;
  work.parameters = {{"convNd", fmt::format("conv{}d", input.size() - kSpatialFrom)},
                     {"input_shape", TupleText(input)},
                     {"filter_shape", TupleText(filter)},
                     {"output_shape", TupleText(output)},
                     {"bias", false},
                     {"bytes_per_element", Whole(*size)},
                     {"transposed_conv", false}};
  const double products =
      2 * Elements(output) *
      Elements(std::span(filter).subspan(std::min<std::size_t>(1, filter.size())));
  const double bytes = (Elements(input) + Elements(filter) + Elements(output)) * *size;
  work.flops = backward ? 2 * products : products;
  work.bytes = backward ? 2 * bytes : bytes;
  return work;
}

std::optional<JaxWork> WorkOf(const JaxKernel& kernel, std::string_view name) {
  if (kernel.op == nullptr) return std::nullopt;
  const std::string_view target = kernel.op->target;
  if (kernel.category == "GEMM" && (JaxHas(target, "matmul") || JaxHas(target, "cublas")))
    return GemmWork(kernel, name);
  if (JaxHas(target, "te_fused_attn_forward_ffi")) return AttentionWork(kernel, false);
  if (JaxHas(target, "te_fused_attn_backward_ffi")) return AttentionWork(kernel, true);
  if (kernel.category != "Conv") return std::nullopt;
  if (JaxHas(target, "cudnn$convForward") || JaxHas(target, "cudnn$convBiasActivationForward"))
    return ConvolutionWork(kernel, false);
  if (JaxHas(target, "cudnn$convBackward")) return ConvolutionWork(kernel, true);
  return std::nullopt;
}

struct JaxModelRow {
  std::vector<const JaxKernel*> kernels;
  std::vector<double> times;
  JaxWork work;
};

std::string CellText(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *number);
  const auto* flag = std::get_if<bool>(&cell);
  return flag != nullptr && *flag ? "True" : "False";
}

std::vector<JaxModelRow> RowsOf(const JaxProfile& profile, std::string_view category) {
  std::map<std::string, JaxModelRow> by_key;
  for (const JaxKernel& kernel : profile.kernels()) {
    if (kernel.category != category) continue;
    const std::string_view name = profile.events().name(kernel.event);
    const auto work = WorkOf(kernel, name);
    if (!work) continue;
    std::string key(name);
    for (const auto& [parameter, value] : work->parameters)
      key += fmt::format("\n{}={}", parameter, CellText(value));
    JaxModelRow& row = by_key[key];
    row.kernels.push_back(&kernel);
    row.times.push_back(profile.DurUs(kernel));
    row.work = *work;
  }
  std::vector<JaxModelRow> rows;
  for (auto& [key, row] : by_key)
    rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(), [](const JaxModelRow& a, const JaxModelRow& b) {
    return analysis::KahanSum(a.times) > analysis::KahanSum(b.times);
  });
  return rows;
}

void AddMoments(const std::vector<double>& values, std::vector<Cell>* cells) {
  const Moments moments = GroupMoments(values);
  cells->insert(cells->end(), {Cell(moments.mean), Cell(moments.median), CellOf(moments.std),
                               Cell(moments.min), Cell(moments.max)});
}

std::vector<std::string> ColumnsOf(const std::vector<std::string>& parameters) {
  std::vector<std::string> columns = {"name"};
  for (const std::string& parameter : parameters)
    columns.push_back("param: " + parameter);
  for (const char* column : {"GFLOPS_first", "Data Moved (MB)_first", "FLOPS/Byte_first"})
    columns.emplace_back(column);
  const auto moments = [&](const char* of) {
    for (const char* moment : {"mean", "median", "std", "min", "max"})
      columns.push_back(fmt::format("{}_{}", of, moment));
  };
  moments("TB/s");
  moments("TFLOPS/s");
  for (const char* column :
       {"process_name_first", "process_label_first", "thread_name_first",
        "kernel_details__summarize_kernel_stats", "Input Dims_first", "Input type_first"})
    columns.emplace_back(column);
  moments("Kernel Time (µs)");
  for (const char* column : {"Kernel Time (µs)_sum", "name_count", "UID_first"})
    columns.emplace_back(column);
  return columns;
}

std::vector<Cell> CellsOf(const JaxProfile& profile, const std::vector<trace::TrackNames>& names,
                          const JaxModelRow& row, const std::vector<std::string>& parameters) {
  const JaxKernel& first = *row.kernels.front();
  const trace::EventStore& events = profile.events();
  const std::string name(events.name(first.event));
  std::vector<Cell> cells = {name};
  for (const std::string& parameter : parameters) {
    const auto found =
        std::ranges::find(row.work.parameters, parameter, &std::pair<std::string, Cell>::first);
    cells.push_back(found == row.work.parameters.end() ? Cell() : found->second);
  }
  constexpr double kMegabyte = 1024.0 * 1024.0;
  const double gflops = row.work.flops / 1e9;
  cells.insert(cells.end(), {Cell(gflops), Cell(row.work.bytes / kMegabyte),
                             row.work.bytes > 0 ? Cell(gflops * 1e9 / row.work.bytes) : Cell()});
  std::vector<double> bandwidth, rate;
  for (const double us : row.times) {
    bandwidth.push_back((row.work.bytes / 1e12) / (us / 1e6));
    rate.push_back((gflops / 1e3) / (us / 1e6));
  }
  AddMoments(bandwidth, &cells);
  AddMoments(rate, &cells);
  cells.insert(
      cells.end(),
      {std::string("Unknown"), std::string("Unknown"), names[events[first.event].track].thread_name,
       fmt::format("[{{'name': {}, {}}}]", PyString(name), JaxTimesText(row.times)), first.dims,
       first.types});
  AddMoments(row.times, &cells);
  cells.insert(cells.end(), {Cell(GroupMoments(row.times).sum),
                             Cell(static_cast<std::int64_t>(row.times.size())), Cell(first.uid)});
  return cells;
}

}  // namespace

std::string JaxTimesText(std::span<const double> times) {
  const double total = analysis::PairwiseSum(times);
  const std::vector<double> all(times.begin(), times.end());
  return fmt::format(
      "'count': {}, 'total_duration_us': {}, 'mean_duration_us': {}, 'median_duration_us': {}, "
      "'std_dev_duration_us': {}, 'min_duration_us': {}, 'max_duration_us': {}",
      times.size(), PyFloat(total), PyFloat(total / static_cast<double>(times.size())),
      PyFloat(analysis::Median(all)), PyFloat(analysis::PopulationStd(times)),
      PyFloat(*std::ranges::min_element(times)), PyFloat(*std::ranges::max_element(times)));
}

std::vector<std::int64_t> JaxNumbers(std::string_view dims) {
  std::vector<std::int64_t> numbers;
  while (!dims.empty()) {
    const std::size_t comma = std::min(dims.find(','), dims.size());
    numbers.push_back(ParseInt(dims.substr(0, comma)).value_or(0));
    dims.remove_prefix(std::min(dims.size(), comma + 1));
  }
  return numbers;
}

void AddJaxModelTables(const JaxProfile& profile, const std::vector<trace::TrackNames>& names,
                       std::vector<Table>* tables) {
  constexpr std::string_view kCategories[] = {
      "GEMM", "FA BWD", "FA FWD", "FA V3", "Conv", "TE", "Communication rccl/nccl"};
  for (const std::string_view category : kCategories) {
    const std::vector<JaxModelRow> rows = RowsOf(profile, category);
    if (rows.empty()) continue;
    std::vector<std::string> parameters;
    for (const JaxModelRow& row : rows) {
      for (const auto& [parameter, value] : row.work.parameters)
        if (std::ranges::find(parameters, parameter) == parameters.end())
          parameters.push_back(parameter);
    }
    std::string title = "op_" + LowerAscii(category);
    std::ranges::replace(title, ' ', '_');
    Table table{std::move(title), ColumnsOf(parameters), {}};
    for (const JaxModelRow& row : rows)
      table.rows.push_back(CellsOf(profile, names, row, parameters));
    tables->push_back(std::move(table));
  }
}

}  // namespace jarvis::compat
