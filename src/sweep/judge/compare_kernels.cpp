#include "sweep/judge/compare_kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace jarvis::sweep {
namespace {

using KernelKey = std::tuple<std::string, std::string, std::string>;  // op, shapes, kernel
// One value per configuration and rank: its mean there.
struct KernelValues {
  RankValues means;
};
using Kernels = std::map<KernelKey, KernelValues>;
// Kernels by op and shapes.
using KeysOfWork = std::map<std::pair<std::string, std::string>, std::vector<const KernelKey*>>;

Kernels KernelsOf(const ComparedSweeps& compared, std::size_t s) {
  Kernels kernels;
  for (const ConfigFacts* config : compared.Compared(s)) {
    for (const RankFacts& rank : config->ranks) {
      for (const GemmKernel& gemm : rank.gemms) {
        RankValues durations;
        for (const GemmInstance& one : gemm.instances)
          durations.push_back(one.dur_us);
        kernels[{gemm.op, gemm.dims, gemm.kernel}].means.push_back(RankMean(durations));
      }
    }
  }
  return kernels;
}

PageKernel KernelOf(const KernelKey& key) {
  PageKernel kernel;
  std::tie(kernel.op, kernel.shapes, kernel.kernel) = key;
  return kernel;
}

void Keep(std::vector<PageKernel> kernels, std::size_t kernels_max, PageKernelList* list) {
  if (kernels.size() > kernels_max) {
    list->more = kernels.size() - kernels_max;
    kernels.resize(kernels_max);
  }
  list->kernels = std::move(kernels);
}

// The same op and shapes with another kernel is a change of selection.
void AddOnly(const Kernels& base, const Kernels& test, const KeysOfWork& base_only,
             const KeysOfWork& test_only, const CompareOptions& options,
             PageKernelChanges* changes) {
  std::vector<PageKernel> selection;
  std::vector<PageKernel> gone;
  std::vector<PageKernel> come;
  for (const auto& [work, keys] : base_only) {
    const auto others = test_only.find(work);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      PageKernel kernel = KernelOf(*keys[i]);
      kernel.base_us = RankMean(base.at(*keys[i]).means);
      if (others == test_only.end() || i >= others->second.size()) {
        gone.push_back(std::move(kernel));
        continue;
      }
      const KernelKey& other = *others->second[i];
      const auto change = ChangeOf(base.at(*keys[i]).means, test.at(other).means);
      kernel.other_kernel = std::get<2>(other);
      kernel.test_us = RankMean(test.at(other).means);
      if (*kernel.base_us > 0) kernel.change_pct = 100 * (*kernel.test_us / *kernel.base_us - 1);
      kernel.verdict = VerdictOf(change, options.threshold_pct);
      kernel.why = WhyOf(change);
      selection.push_back(std::move(kernel));
    }
  }
  for (const auto& [work, keys] : test_only) {
    const auto others = base_only.find(work);
    const std::size_t paired = others == base_only.end() ? 0 : others->second.size();
    for (std::size_t i = paired; i < keys.size(); ++i) {
      PageKernel kernel = KernelOf(*keys[i]);
      kernel.test_us = RankMean(test.at(*keys[i]).means);
      come.push_back(std::move(kernel));
    }
  }
  Keep(std::move(selection), options.kernels_max, &changes->selection);
  Keep(std::move(gone), options.kernels_max, &changes->only_base);
  Keep(std::move(come), options.kernels_max, &changes->only_test);
}

}  // namespace

PageKernelChanges CompareKernels(const ComparedSweeps& compared, std::size_t sweep) {
  const Kernels base = KernelsOf(compared, compared.options.baseline);
  const Kernels test = KernelsOf(compared, sweep);
  PageKernelChanges changes;
  changes.sweep = sweep;
  std::vector<PageKernel> regressed;
  std::vector<PageKernel> improved;
  KeysOfWork base_only;
  KeysOfWork test_only;
  for (const auto& [key, values] : base) {
    const auto other = test.find(key);
    if (other == test.end()) {
      base_only[{std::get<0>(key), std::get<1>(key)}].push_back(&key);
      continue;
    }
    ++changes.matched;
    const auto change = ChangeOf(values.means, other->second.means);
    PageKernel kernel = KernelOf(key);
    kernel.base_us = RankMean(values.means);
    kernel.test_us = RankMean(other->second.means);
    if (*kernel.base_us > 0) kernel.change_pct = 100 * (*kernel.test_us / *kernel.base_us - 1);
    kernel.verdict = VerdictOf(change, compared.options.threshold_pct);
    kernel.why = WhyOf(change);
    if (kernel.verdict == PageVerdict::kWorse)
      regressed.push_back(std::move(kernel));
    else if (kernel.verdict == PageVerdict::kBetter)
      improved.push_back(std::move(kernel));
  }
  for (const auto& [key, values] : test) {
    if (!base.contains(key)) test_only[{std::get<0>(key), std::get<1>(key)}].push_back(&key);
  }
  AddOnly(base, test, base_only, test_only, compared.options, &changes);
  const auto cost = [](const PageKernel& kernel) {
    return std::abs(*kernel.test_us - *kernel.base_us);
  };
  for (auto* list : {&regressed, &improved}) {
    std::stable_sort(list->begin(), list->end(),
                     [&](const auto& a, const auto& b) { return cost(a) > cost(b); });
  }
  Keep(std::move(regressed), compared.options.kernels_max, &changes.regressed);
  Keep(std::move(improved), compared.options.kernels_max, &changes.improved);
  return changes;
}

}  // namespace jarvis::sweep
