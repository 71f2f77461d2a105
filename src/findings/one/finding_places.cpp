#include "findings/one/finding_places.h"

#include <fmt/format.h>

namespace jarvis::findings {
namespace {

class Evidence {
 public:
  explicit Evidence(std::vector<Fact>* out) : out_(*out) {}
  void Add(std::string key, double value, std::string_view unit) {
    out_.push_back({std::move(key), value, unit});
  }
  void Add(std::string key, const std::optional<double>& value, std::string_view unit) {
    if (value) Add(std::move(key), *value, unit);
  }
  void Add(const std::string& key, const std::optional<Range>& range, std::string_view unit) {
    if (!range) return;
    Add(key + "_low", range->low, unit);
    Add(key, range->mid, unit);
    Add(key + "_high", range->high, unit);
  }
  void Count(std::string key, std::uint64_t value) {
    out_.push_back({std::move(key), static_cast<std::int64_t>(value), {}});
  }

 private:
  std::vector<Fact>& out_;
};

void AddEvidence(const Analysis& analysis, Finding* f) {
  f->evidence.clear();
  Evidence evidence(&f->evidence);
  evidence.Add("time_ms", f->time_ms, "ms");
  evidence.Add("exclusive_ms", f->exclusive_ms, "ms");
  evidence.Add("upper_bound_ms", f->upper_bound_ms, "ms");
  evidence.Add("percent_of_total", f->percent_of_total, "%");
  evidence.Add("percent_of_computation", f->percent_of_computation, "%");
  evidence.Add("efficiency_percent", f->efficiency, "%");
  evidence.Add(f->least_by_grid ? "roof_percent_least" : "bandwidth_percent_least",
               f->least_percent, "%");
  evidence.Add("starved_percent", f->starved_percent, "%");
  evidence.Add("impact_score", f->impact_percent, "%");
  evidence.Add("savings_ms", f->savings_ms, "ms");
  evidence.Count("count", f->count);
  evidence.Count("member_count", f->members.size());
  const Operation* first = f->tier == Tier::kCompute && !f->members.empty()
                               ? analysis.FindOperation(f->members.front())
                               : nullptr;
  if (first == nullptr) return;
  const Efficiency& e = first->efficiency;
  evidence.Add("first_time_ms", first->gpu_us / 1000, "ms");
  evidence.Add("first_mean_us", first->mean_us, "us");
  evidence.Count("first_count", first->count);
  evidence.Add("first_efficiency_percent", e.percent, "%");
  evidence.Add(first->least_by_grid ? "first_roof_percent_least" : "first_bandwidth_percent_least",
               first->least_percent, "%");
  evidence.Add("tflops_achieved", e.tflops_per_s, "TFLOPS/s");
  evidence.Add("tb_s_achieved", e.tb_per_s, "TB/s");
  evidence.Add("flops_per_byte", e.flops_per_byte, "FLOP/B");
  evidence.Add("resolved_peak_maf", e.peak_tflops, "TFLOPS/s");
  evidence.Add("resolved_peak_hbm_bw", e.peak_tb_per_s, "TB/s");
}

void PlaceFinding(const Analysis& analysis, Finding* f) {
  AddEvidence(analysis, f);
  f->source_file = fmt::format("category_data/{}_metrics.json", f->category);
  f->source_cell = fmt::format("/category_findings/{}", f->rank - 1);
}

}  // namespace

void PlaceFindings(Analysis* analysis) {
  for (Finding& finding : analysis->findings)
    PlaceFinding(*analysis, &finding);
  for (CategoryAnalysis& category : analysis->categories) {
    for (Finding& finding : category.findings)
      PlaceFinding(*analysis, &finding);
  }
}

}  // namespace jarvis::findings
