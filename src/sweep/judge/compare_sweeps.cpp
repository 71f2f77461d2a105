#include "sweep/judge/compare_sweeps.h"

#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "sweep/judge/compare_collectives.h"
#include "sweep/judge/compare_kernels.h"
#include "sweep/judge/compare_metrics.h"
#include "sweep/judge/compared_sweeps.h"
#include "sweep/judge/describe_sweep.h"

namespace jarvis::sweep {
namespace {

std::vector<std::string> MethodOf(const ComparedSweeps& compared) {
  std::vector<std::string> method = {
      "Change: (test - base) / base * 100; of all metrics here less is better.",
      fmt::format("A change is marked if it is at least {} % and 0 is outside the interval that "
                  "holds 95 % of 2,000 resamplings of both sets of ranks; else it is within "
                  "noise.",
                  compared.options.threshold_pct),
      "Step time: first to last GPU work of a rank, over the profiler's steps; the slowest rank "
      "sets it in a synchronous job.",
      "GEMM slowdown: launches during more than 50 % of which a collective of the same rank ran, "
      "against those with less than 5 %; the mean over ops, shapes and kernels.",
      "Kernels are matched by op, shapes and name; one value a configuration and rank.",
      "Collectives: latency is that of the last rank to arrive, which waits for nobody.",
      "What a trace cannot show (occupancy, clocks, cache) is not claimed."};
  if (compared.common.empty()) {
    method.emplace_back(
        "The sweeps share no configuration: kernels and collectives are compared over all of "
        "each.");
  } else if (compared.common.size() < compared.order.size()) {
    method.push_back(fmt::format(
        "Kernels and collectives are compared over the {} configurations that all sweeps have.",
        compared.common.size()));
  }
  return method;
}

// Which sweep lacks which of the configurations.
std::vector<std::string> MissingOf(const ComparedSweeps& compared,
                                   const std::vector<std::string>& labels) {
  std::vector<std::string> missing;
  for (const std::string& text : compared.order) {
    for (std::size_t s = 0; s < compared.sweeps.size(); ++s) {
      if (compared.At(text, s) == nullptr)
        missing.push_back(fmt::format("{}: {}", labels[s], text));
    }
  }
  return missing;
}

}  // namespace

ComparisonPage CompareSweeps(const std::vector<SweepFacts>& sweeps,
                             const std::vector<std::string>& labels,
                             const CompareOptions& options) {
  JV_CHECK(labels.size() == sweeps.size() && options.baseline < sweeps.size());
  const ComparedSweeps compared = ArrangeSweeps(sweeps, options);
  ComparisonPage page;
  page.baseline = options.baseline;
  for (std::size_t s = 0; s < sweeps.size(); ++s)
    page.sweeps.push_back(DescribeSweep(sweeps[s], labels[s], compared.other_work[s]));
  page.missing = MissingOf(compared, labels);
  page.metrics = CompareMetrics(compared);
  for (std::size_t s = 0; s < sweeps.size(); ++s) {
    if (s != options.baseline) page.kernels.push_back(CompareKernels(compared, s));
  }
  ComparedCollectives collectives = CompareCollectives(compared);
  page.collectives = std::move(collectives.collectives);
  page.more_collectives = collectives.more;
  page.method = MethodOf(compared);
  return page;
}

}  // namespace jarvis::sweep
