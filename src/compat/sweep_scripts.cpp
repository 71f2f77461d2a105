#include "compat/sweep_scripts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/join/report_compare.h"
#include "trace/event.h"

namespace jarvis::compat {
namespace {

// What is proportional to the size of the batch.
constexpr const char* kOfBatch[] = {"GFLOPS_first", "Data Moved (MB)_first"};

// Ops that had no category then.
constexpr std::string_view kUncategorised[] = {"aten::native_layer_norm",
                                               "aten::upsample_nearest1d"};

void ForgetCategories(Table* table) {
  const std::size_t op = analysis::ColumnOf(*table, "Parent cpu_op");
  const std::size_t category = analysis::ColumnOf(*table, "Parent op category");
  for (auto& row : table->rows) {
    if (op >= row.size() || category >= row.size()) continue;
    const auto* name = std::get_if<std::string>(&row[op]);
    if (name != nullptr && std::find(std::begin(kUncategorised), std::end(kUncategorised), *name) !=
                               std::end(kUncategorised)) {
      row[category] = std::string("other");
    }
  }
}

void DivideByBatch(Table* table) {
  const std::size_t name = analysis::ColumnOf(*table, "name");
  const std::size_t batch = analysis::ColumnOf(*table, "param: B");
  for (auto& row : table->rows) {
    if (name >= row.size() || batch >= row.size()) continue;
    const auto* op = std::get_if<std::string>(&row[name]);
    if (op == nullptr || (*op != "aten::bmm" && *op != "aten::baddbmm")) continue;
    std::optional<double> count = analysis::NumberOf(row[batch]);
    if (!count) {
      if (const auto* text = std::get_if<std::string>(&row[batch]))
        count = std::strtod(text->c_str(), nullptr);
    }
    if (!count || *count <= 0) continue;
    row[batch] = std::int64_t{1};
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string& column = table->columns[c];
      const bool of_batch =
          std::find(std::begin(kOfBatch), std::end(kOfBatch), column) != std::end(kOfBatch) ||
          column.starts_with("TB/s_") || column.starts_with("TFLOPS/s_");
      if (!of_batch) continue;
      if (const auto value = analysis::NumberOf(row[c])) row[c] = *value / *count;
    }
  }
}

}  // namespace

std::string FirstKernelName(std::string_view details) {
  constexpr std::string_view kKey = "'name': '";
  const std::size_t at = details.find(kKey);
  if (at == std::string_view::npos) return {};
  details.remove_prefix(at + kKey.size());
  const std::size_t end = details.find('\'');
  return end == std::string_view::npos ? std::string() : std::string(details.substr(0, end));
}

std::optional<KernelExtremes> ExtremesByNamePrefix(const trace::EventStore& events,
                                                   std::string_view prefix) {
  std::optional<KernelExtremes> found;
  std::unordered_map<StringId, bool> fits;
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if (event.kind != trace::EventKind::kKernel) continue;
    const auto [known, added] = fits.try_emplace(event.name, false);
    if (added) known->second = events.name(e).starts_with(prefix);
    if (!known->second) continue;
    const double start = events.ts_us(e);
    const double dur = events.dur_us(e);
    if (!found) {
      found = KernelExtremes{start, start, dur, dur};
      continue;
    }
    if (dur < found->min_us) {
      found->min_us = dur;
      found->min_start_us = start;
    }
    if (dur >= found->max_us) {  // of equals the last, as in a sorted list
      found->max_us = dur;
      found->max_start_us = start;
    }
  }
  return found;
}

void ShapeAsOf2025(std::vector<Table>* tables) {
  for (Table& table : *tables) {
    if (table.name == "GEMM") {
      analysis::DropColumns(
          {"process_name_first", "process_label_first", "thread_name_first", "Compute Spec"},
          &table);
      DivideByBatch(&table);
    } else if (table.name == "ops_summary") {
      analysis::DropColumns(
          {"total_subtree_kernel_time_sum", "total_subtree_kernel_time_ms", "Categories"}, &table);
    } else if (table.name == "kernel_summary") {
      ForgetCategories(&table);
    }
  }
}

double ReadBack(double value) {
  constexpr int kDigitsMax = 17;
  const std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("0123456789.") != std::string::npos) return value;
  double number = 0;
  int digits = 0;
  int decimals = 0;
  bool fraction = false;
  for (const char c : text) {
    if (c == '.') {
      fraction = true;
    } else if (digits < kDigitsMax) {
      number = number * 10 + (c - '0');
      ++digits;
      if (fraction) ++decimals;
    } else if (!fraction) {
      return value;
    }
  }
  return number / std::pow(10.0, decimals);
}

std::string OperationName(double megabytes) {
  if (megabytes < 0.01) return fmt::format("tiny_{:.3f}KB", megabytes * 1000);
  return fmt::format("{}_{:.2f}MB", megabytes < 100 ? "medium" : "large", megabytes);
}

}  // namespace jarvis::compat
