#include "findings/one/baseline.h"

#include <algorithm>

#include "base/text.h"
#include "findings/one/calls.h"
#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

bool IsSimple(std::string_view name) {
  constexpr std::string_view kSimple[] = {"aten::add", "aten::add_", "aten::mul", "aten::mul_",
                                          "aten::copy_"};
  return std::find(std::begin(kSimple), std::end(kSimple), name) != std::end(kSimple);
}

bool AllDense(std::string_view raw_dims, std::string_view raw_strides) {
  const std::vector<Shape> dims = ParseShapes(raw_dims);
  const std::vector<Shape> strides = ParseShapes(raw_strides);
  for (std::size_t i = 0; i < std::min(dims.size(), strides.size()); ++i) {
    if (!IsDense(dims[i], strides[i])) return false;
  }
  return true;
}

struct Sample {
  double tb_per_s;
  double us;
  std::string operation;
  std::uint64_t calls;
};

std::string VerdictOf(double percent_of_baseline, const Baseline& baseline, bool dense,
                      std::optional<double> percent_of_peak) {
  if (!dense) return "strided";
  const bool good = baseline.percent_of_peak.value_or(0) >= limits::kBaselineGood;
  if (good && percent_of_peak && *percent_of_peak < limits::kFarBelowPeak)
    return "kernel_not_hardware";
  return percent_of_baseline < limits::kBelowBaseline ? "below_baseline" : "at_baseline";
}

}  // namespace

Baseline FindBaseline(const Calls& calls, const std::vector<CategoryAnalysis>& categories) {
  Baseline out;
  const trace::EventStore& events = calls.events();
  std::optional<double> peak;
  if (calls.platform != nullptr && calls.platform->mem_bw_gbps)
    peak = *calls.platform->mem_bw_gbps / 1000;
  const auto dense = [&](const Operation& operation) {
    const trace::Args& args = events.args_of(operation.example);
    return AllDense(events.text(args.dims), events.text(args.strides));
  };
  std::vector<Sample> samples;
  for (const CategoryAnalysis& category : categories) {
    if (category.kind != Kind::kElementwise) continue;
    for (const Operation& operation : category.operations) {
      const Efficiency& e = operation.efficiency;
      if (!IsSimple(operation.name) || !e.tb_per_s || !e.bytes) continue;
      // What is faster than memory was not moved through memory.
      if (*e.bytes < limits::kBaselineBytes || e.impossible || !dense(operation)) continue;
      samples.push_back({*e.tb_per_s, operation.gpu_us, operation.id, operation.count});
    }
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.tb_per_s < b.tb_per_s; });
  double all_us = 0;
  for (const Sample& sample : samples)
    all_us += sample.us;
  double so_far = 0;
  for (const Sample& sample : samples) {
    so_far += sample.us;
    out.calls += sample.calls;
    out.operations.push_back(sample.operation);
    if (!out.tb_per_s && so_far >= limits::kBaselinePercentile * all_us)
      out.tb_per_s = sample.tb_per_s;
  }
  if (!samples.empty()) {
    out.min_tb_per_s = samples.front().tb_per_s;
    out.max_tb_per_s = samples.back().tb_per_s;
  } else if (peak) {
    out.tb_per_s = *peak * limits::kBaselineGood / 100;
    out.assumed = true;
  }
  if (!out.tb_per_s) return out;
  if (peak) out.percent_of_peak = *out.tb_per_s / *peak * 100;
  std::vector<std::pair<double, Baseline::Row>> rows;
  for (const CategoryAnalysis& category : categories) {
    for (const Operation& operation : category.operations) {
      const Efficiency& e = operation.efficiency;
      if (e.bound != Bound::kMemory || !e.tb_per_s || *e.tb_per_s <= 0) continue;
      Baseline::Row row{operation.id, *e.tb_per_s, *e.tb_per_s / *out.tb_per_s * 100, {}};
      std::optional<double> of_peak;
      if (peak) of_peak = *e.tb_per_s / *peak * 100;
      row.verdict = VerdictOf(row.percent_of_baseline, out, dense(operation), of_peak);
      rows.emplace_back(operation.gpu_us, std::move(row));
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [us, row] : rows)
    out.rows.push_back(std::move(row));
  return out;
}

}  // namespace jarvis::findings
