#include "sweep/judge/compare_sweeps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"
#include "analysis/join/report_compare.h"
#include "base/check.h"
#include "sweep/judge/comms.h"
#include "sweep/judge/plot_data.h"
#include "sweep/judge/recommend.h"
#include "sweep/judge/spread.h"
#include "sweep/judge/stability.h"
#include "sweep/judge/timeline.h"

namespace jarvis::sweep {
namespace {

using Values = std::vector<double>;  // one a rank

double Mean(const Values& values) {
  return analysis::PairwiseSum(values) / static_cast<double>(values.size());
}

Values StepTimes(const ConfigFacts& config) {
  Values values;
  for (std::size_t r = 0; r < config.ranks.size(); ++r)
    if (const auto one = StepTimeMs(config.set->ranks[r], config.ranks[r])) values.push_back(*one);
  return values;
}

Values GemmMeans(const ConfigFacts& config) {
  Values values;
  for (const RankFacts& rank : config.ranks) {
    Values mine;
    for (const GemmKernel& gemm : rank.gemms) {
      for (const GemmInstance& one : gemm.instances)
        mine.push_back(one.dur_us);
    }
    if (!mine.empty()) values.push_back(Mean(mine));
  }
  return values;
}

Values Slowdowns(const ConfigFacts& config) {
  Values values;
  for (const RankFacts& rank : config.ranks) {
    Values mine;
    for (const GemmKernel& gemm : rank.gemms) {
      if (const auto one = StabilityOf(gemm.instances).slowdown_percent) mine.push_back(*one);
    }
    if (!mine.empty()) values.push_back(Mean(mine));
  }
  return values;
}

struct Metric {
  const char* name;
  const char* unit;
  Values (*values)(const ConfigFacts& config);
};
constexpr Metric kMetrics[] = {
    {"Step time", "ms", &StepTimes},
    {"Computation", "ms", [](const ConfigFacts& c) { return TimesMs(c, "computation_time"); }},
    {"Exposed communication", "ms",
     [](const ConfigFacts& c) { return TimesMs(c, "exposed_comm_time"); }},
    {"Total communication", "ms",
     [](const ConfigFacts& c) { return TimesMs(c, "total_comm_time"); }},
    {"Idle", "ms", [](const ConfigFacts& c) { return TimesMs(c, "idle_time"); }},
    {"Mean GEMM launch", "us", &GemmMeans},
    {"GEMM slowdown below collectives", "%", &Slowdowns},
};

using KernelKey = std::tuple<std::string, std::string, std::string>;  // op, shapes, kernel
// One value a configuration and rank: its mean there.
struct KernelValues {
  Values means;
};
using Kernels = std::map<KernelKey, KernelValues>;

// What makes an operation of collectives: name, type, elements, group size.
using OperationKey = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
struct OperationValues {
  std::int64_t count = 0;
  double latency_us = 0;  // sum over collectives
  double bandwidth = 0;   // sum of those that have one
  std::int64_t with_bandwidth = 0;
  Values latencies;  // of each collective
};

std::string DateIn(const std::string& name) {
  // sweep_YYYYMMDD_HHMMSS
  for (std::size_t at = 0; at + 15 <= name.size(); ++at) {
    const std::string_view part = std::string_view(name).substr(at, 15);
    const auto digits = [](std::string_view text) {
      return text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (digits(part.substr(0, 8)) && part[8] == '_' && digits(part.substr(9))) {
      return fmt::format("{}-{}-{} {}:{}:{}", part.substr(0, 4), part.substr(4, 2),
                         part.substr(6, 2), part.substr(9, 2), part.substr(11, 2),
                         part.substr(13, 2));
    }
  }
  return {};
}

class Comparer {
 public:
  Comparer(const std::vector<SweepFacts>& sweeps, const std::vector<std::string>& labels,
           const CompareOptions& options)
      : sweeps_(sweeps), labels_(labels), options_(options) {}

  ComparisonPage Run() {
    page_.baseline = options_.baseline;
    for (std::size_t s = 0; s < sweeps_.size(); ++s)
      other_work_.push_back(WorkDiffers(sweeps_[options_.baseline], sweeps_[s]));
    for (std::size_t s = 0; s < sweeps_.size(); ++s)
      AddSweep(s);
    FindConfigs();
    for (const Metric& metric : kMetrics)
      AddMetric(metric);
    for (std::size_t s = 0; s < sweeps_.size(); ++s) {
      if (s != options_.baseline) AddKernels(s);
    }
    AddCollectives();
    AddMethod();
    return std::move(page_);
  }

 private:
  void AddSweep(std::size_t s) {
    const SweepFacts& facts = sweeps_[s];
    PageSweep shown;
    shown.label = labels_[s];
    shown.path = facts.sweep.path;
    shown.complete = facts.complete();
    Provenance(facts, &shown);
    for (const Warning& one : facts.warnings) {
      shown.warnings.push_back(
          {one.config, one.rank ? std::to_string(*one.rank) : "", one.file, one.code, one.message});
    }
    if (other_work_[s]) {
      shown.warnings.push_back({"", "", "", "WORK_DIFFERS",
                                "its ranks run other GEMM work than the baseline's: times of steps "
                                "are not held against it"});
    }
    AddBest(facts, &shown);
    shown.plots = PlotDataOf(facts);
    page_.sweeps.push_back(std::move(shown));
  }

  static void Provenance(const SweepFacts& facts, PageSweep* shown) {
    const auto add = [&](const char* name, std::string text) {
      if (!text.empty()) shown->provenance.emplace_back(name, std::move(text));
    };
    add("Date", DateIn(facts.sweep.name));
    std::set<std::string> devices;
    std::map<std::string, std::set<std::string>> versions;
    std::set<std::size_t> ranks;
    std::set<std::size_t> steps;
    std::size_t traces = 0;
    for (const ConfigFacts& config : facts.configs) {
      if (config.ranks.empty()) continue;
      ranks.insert(config.ranks.size());
      for (const RankFacts& rank : config.ranks) {
        ++traces;
        steps.insert(rank.steps);
        if (!rank.device.empty()) devices.insert(rank.device);
        for (const auto& [name, value] : rank.versions)
          versions[name].insert(value);
      }
    }
    const auto joined = [](const std::set<std::string>& texts) {
      std::string all;
      for (const std::string& one : texts)
        all += (all.empty() ? "" : ", ") + one;
      return all;
    };
    add("GPU", joined(devices));
    for (const auto& [name, values] : versions)
      add(name.c_str(), joined(values));
    std::string grid;
    for (std::size_t a = 0; a < facts.sweep.axes.size(); ++a) {
      std::vector<std::string> values;
      for (const Config& config : facts.sweep.configs) {
        const std::string& text = config.values[a].text;
        if (std::find(values.begin(), values.end(), text) == values.end()) values.push_back(text);
      }
      if (!grid.empty()) grid += "; ";
      grid += facts.sweep.axes[a] + " ";
      for (std::size_t i = 0; i < values.size(); ++i)
        grid += (i == 0 ? "" : ", ") + values[i];
    }
    add("Configurations", grid);
    const auto range = [](const std::set<std::size_t>& numbers) {
      if (numbers.empty()) return std::string();
      return *numbers.begin() == *numbers.rbegin()
                 ? std::to_string(*numbers.begin())
                 : fmt::format("{} to {}", *numbers.begin(), *numbers.rbegin());
    };
    add("Ranks a run", range(ranks));
    add("Profiler steps", range(steps));
    add("Traces read", std::to_string(traces));
  }

  static void AddBest(const SweepFacts& facts, PageSweep* shown) {
    constexpr std::pair<Objective, const char*> kObjectives[] = {
        {Objective::kStepTime, "step time"},
        {Objective::kExposedComm, "exposed communication"},
        {Objective::kGemmStability, "GEMM slowdown"}};
    for (const auto& [objective, name] : kObjectives) {
      const Recommendation found = Recommend(facts, objective, {});
      if (found.ranked.empty() || !found.ranked.front().score) continue;
      const Candidate& best = found.ranked.front();
      PageBest line{name, ConfigText(facts.sweep, facts.sweep.configs[best.metrics.config]),
                    fmt::format("{:.3f} {}", *best.score,
                                objective == Objective::kGemmStability ? "%" : "ms"),
                    fmt::format("confidence {}", ConfidenceName(found.confidence))};
      if (!found.why.empty()) line.note += ": " + found.why.front();
      shown->best.push_back(std::move(line));
      if (objective != Objective::kStepTime) continue;
      for (const Candidate& one : found.ranked) {
        if (one.pareto)
          shown->pareto.push_back(ConfigText(facts.sweep, facts.sweep.configs[one.metrics.config]));
      }
    }
    double least = 0;
    std::string config;
    for (const ConfigMetrics& one : MetricsOfConfigs(facts)) {
      if (!one.gemm_us || (!config.empty() && *one.gemm_us >= least)) continue;
      least = *one.gemm_us;
      config = ConfigText(facts.sweep, facts.sweep.configs[one.config]);
    }
    if (!config.empty())
      shown->best.push_back({"mean GEMM launch", config, fmt::format("{:.3f} us", least), ""});
    const auto stragglers = Stragglers(facts, nullptr);
    if (stragglers.size() > 1) {
      shown->best.push_back({"straggler", fmt::format("rank {}", stragglers.front().rank),
                             fmt::format("{:.0f} %", stragglers.front().last_share),
                             "of the collectives it arrives last in"});
    }
  }

  // Configurations of all sweeps by label, in the order of the sweep that has most.
  void FindConfigs() {
    for (std::size_t s = 0; s < sweeps_.size(); ++s) {
      for (std::size_t c = 0; c < sweeps_[s].configs.size(); ++c) {
        if (sweeps_[s].configs[c].ranks.empty()) continue;
        const Config& config = sweeps_[s].sweep.configs[c];
        const std::string text = ConfigText(sweeps_[s].sweep, config);
        const auto [found, added] = places_.try_emplace(text);
        if (added) order_.push_back(text);
        found->second[s] = &sweeps_[s].configs[c];
      }
    }
    for (const std::string& text : order_) {
      for (std::size_t s = 0; s < sweeps_.size(); ++s) {
        if (!places_.at(text).contains(s))
          page_.missing.push_back(fmt::format("{}: {}", labels_[s], text));
      }
      if (places_.at(text).size() == sweeps_.size()) common_.push_back(text);
    }
  }

  const ConfigFacts* At(const std::string& text, std::size_t s) const {
    const auto& of_sweeps = places_.at(text);
    const auto found = of_sweeps.find(s);
    return found == of_sweeps.end() ? nullptr : found->second;
  }

  // GEMM launches of the ranks that have fewest and most: of the same job they are nearly alike.
  static std::pair<std::size_t, std::size_t> LaunchesOf(const SweepFacts& facts) {
    std::pair<std::size_t, std::size_t> range = {SIZE_MAX, 0};
    for (const ConfigFacts& config : facts.configs) {
      for (const RankFacts& rank : config.ranks) {
        std::size_t launches = 0;
        for (const GemmKernel& gemm : rank.gemms)
          launches += gemm.instances.size();
        launches /= std::max<std::size_t>(1, rank.steps);
        range = {std::min(range.first, launches), std::max(range.second, launches)};
      }
    }
    return range;
  }

  static bool WorkDiffers(const SweepFacts& base, const SweepFacts& test) {
    constexpr double kAlike = 1.1;
    const auto [base_least, base_most] = LaunchesOf(base);
    const auto [test_least, test_most] = LaunchesOf(test);
    return static_cast<double>(test_least) > kAlike * static_cast<double>(base_most) ||
           static_cast<double>(base_least) > kAlike * static_cast<double>(test_most);
  }

  PageVerdict VerdictOf(const std::optional<Change>& change) const {
    if (!change) return PageVerdict::kUnknown;
    if (!change->significant || std::abs(change->percent) < options_.threshold_pct)
      return PageVerdict::kNoise;
    return change->percent < 0 ? PageVerdict::kBetter : PageVerdict::kWorse;
  }

  static std::string WhyOf(const std::optional<Change>& change) {
    if (!change) return "too few values to tell noise";
    return fmt::format("95 % interval {:+.2f} to {:+.2f} %", change->low, change->high);
  }

  void AddMetric(const Metric& metric) {
    PageMetric shown{metric.name, metric.unit, {}};
    std::vector<std::optional<double>> best(sweeps_.size());
    std::vector<std::vector<Values>> values;  // by configuration and sweep
    for (const std::string& text : order_) {
      auto& row = values.emplace_back(sweeps_.size());
      for (std::size_t s = 0; s < sweeps_.size(); ++s) {
        const ConfigFacts* config = At(text, s);
        if (config != nullptr) row[s] = metric.values(*config);
        if (!row[s].empty()) best[s] = std::min(best[s].value_or(1e300), Mean(row[s]));
      }
    }
    bool any = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      PageMetric::Row row{order_[i], {}};
      for (std::size_t s = 0; s < sweeps_.size(); ++s) {
        PageValue value;
        const Values& mine = values[i][s];
        const Values& base = values[i][options_.baseline];
        if (!mine.empty()) {
          any = true;
          value.mean = Mean(mine);
          value.worst = *std::max_element(mine.begin(), mine.end());
          if (*best[s] > 0) value.behind_best_pct = 100 * (*value.mean / *best[s] - 1);
          if (s == options_.baseline) {
            value.verdict = PageVerdict::kBaseline;
          } else if (!base.empty()) {
            const auto change = ChangeOf(base, mine);
            if (Mean(base) != 0) value.change_pct = 100 * (*value.mean / Mean(base) - 1);
            if (other_work_[s]) {
              value.why = "not the same work";
            } else {
              value.verdict = VerdictOf(change);
              value.why = WhyOf(change);
            }
          }
        }
        row.sweeps.push_back(std::move(value));
      }
      shown.rows.push_back(std::move(row));
    }
    if (any) page_.metrics.push_back(std::move(shown));
  }

  // Configurations that are compared: those that all have; all of each if they share none.
  std::vector<const ConfigFacts*> Compared(std::size_t s) const {
    std::vector<const ConfigFacts*> list;
    for (const std::string& text : common_.empty() ? order_ : common_) {
      if (const ConfigFacts* config = At(text, s)) list.push_back(config);
    }
    return list;
  }

  Kernels KernelsOf(std::size_t s) const {
    Kernels kernels;
    for (const ConfigFacts* config : Compared(s)) {
      for (const RankFacts& rank : config->ranks) {
        for (const GemmKernel& gemm : rank.gemms) {
          Values durations;
          for (const GemmInstance& one : gemm.instances)
            durations.push_back(one.dur_us);
          kernels[{gemm.op, gemm.dims, gemm.kernel}].means.push_back(Mean(durations));
        }
      }
    }
    return kernels;
  }

  static PageKernel KernelOf(const KernelKey& key) {
    PageKernel kernel;
    std::tie(kernel.op, kernel.shapes, kernel.kernel) = key;
    return kernel;
  }

  void Keep(std::vector<PageKernel> kernels, PageKernelList* list) const {
    if (kernels.size() > options_.kernels_max) {
      list->more = kernels.size() - options_.kernels_max;
      kernels.resize(options_.kernels_max);
    }
    list->kernels = std::move(kernels);
  }

  void AddKernels(std::size_t s) {
    const Kernels base = KernelsOf(options_.baseline);
    const Kernels test = KernelsOf(s);
    PageKernelChanges changes;
    changes.sweep = s;
    std::vector<PageKernel> regressed;
    std::vector<PageKernel> improved;
    std::map<std::pair<std::string, std::string>, std::vector<const KernelKey*>> base_only;
    std::map<std::pair<std::string, std::string>, std::vector<const KernelKey*>> test_only;
    for (const auto& [key, values] : base) {
      const auto other = test.find(key);
      if (other == test.end()) {
        base_only[{std::get<0>(key), std::get<1>(key)}].push_back(&key);
        continue;
      }
      ++changes.matched;
      const auto change = ChangeOf(values.means, other->second.means);
      PageKernel kernel = KernelOf(key);
      kernel.base_us = Mean(values.means);
      kernel.test_us = Mean(other->second.means);
      if (*kernel.base_us > 0) kernel.change_pct = 100 * (*kernel.test_us / *kernel.base_us - 1);
      kernel.verdict = VerdictOf(change);
      kernel.why = WhyOf(change);
      if (kernel.verdict == PageVerdict::kWorse)
        regressed.push_back(std::move(kernel));
      else if (kernel.verdict == PageVerdict::kBetter)
        improved.push_back(std::move(kernel));
    }
    for (const auto& [key, values] : test) {
      if (!base.contains(key)) test_only[{std::get<0>(key), std::get<1>(key)}].push_back(&key);
    }
    AddOnly(base, test, base_only, test_only, &changes);
    const auto cost = [](const PageKernel& kernel) {
      return std::abs(*kernel.test_us - *kernel.base_us);
    };
    for (auto* list : {&regressed, &improved}) {
      std::stable_sort(list->begin(), list->end(),
                       [&](const auto& a, const auto& b) { return cost(a) > cost(b); });
    }
    Keep(std::move(regressed), &changes.regressed);
    Keep(std::move(improved), &changes.improved);
    page_.kernels.push_back(std::move(changes));
  }

  // The same op and shapes with another kernel is a change of selection.
  void AddOnly(const Kernels& base, const Kernels& test, auto& base_only, auto& test_only,
               PageKernelChanges* changes) const {
    std::vector<PageKernel> selection;
    std::vector<PageKernel> gone;
    std::vector<PageKernel> come;
    for (const auto& [work, keys] : base_only) {
      const auto others = test_only.find(work);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        PageKernel kernel = KernelOf(*keys[i]);
        kernel.base_us = Mean(base.at(*keys[i]).means);
        if (others == test_only.end() || i >= others->second.size()) {
          gone.push_back(std::move(kernel));
          continue;
        }
        const KernelKey& other = *others->second[i];
        const auto change = ChangeOf(base.at(*keys[i]).means, test.at(other).means);
        kernel.other_kernel = std::get<2>(other);
        kernel.test_us = Mean(test.at(other).means);
        if (*kernel.base_us > 0) kernel.change_pct = 100 * (*kernel.test_us / *kernel.base_us - 1);
        kernel.verdict = VerdictOf(change);
        kernel.why = WhyOf(change);
        selection.push_back(std::move(kernel));
      }
    }
    for (const auto& [work, keys] : test_only) {
      const auto others = base_only.find(work);
      const std::size_t paired = others == base_only.end() ? 0 : others->second.size();
      for (std::size_t i = paired; i < keys.size(); ++i) {
        PageKernel kernel = KernelOf(*keys[i]);
        kernel.test_us = Mean(test.at(*keys[i]).means);
        come.push_back(std::move(kernel));
      }
    }
    Keep(std::move(selection), &changes->selection);
    Keep(std::move(gone), &changes->only_base);
    Keep(std::move(come), &changes->only_test);
  }

  std::map<OperationKey, OperationValues> OperationsOf(std::size_t s) const {
    std::map<OperationKey, OperationValues> operations;
    const auto whole = [](const Cell& cell) {
      const auto number = analysis::NumberOf(cell);
      return number ? static_cast<std::int64_t>(*number) : std::int64_t{-1};
    };
    const auto text = [](const Cell& cell) {
      const auto* value = std::get_if<std::string>(&cell);
      return value != nullptr ? *value : std::string();
    };
    for (const ConfigFacts* config : Compared(s)) {
      if (!config->with_collectives) continue;
      const auto& calls = config->collectives.matching.calls;
      for (const analysis::SyncedCollective& one : config->collectives.synced) {
        if (one.ranks.empty()) continue;
        const analysis::CollectiveKeys& keys = calls[one.ranks.front().call].keys;
        OperationValues& values =
            operations[{text(keys[analysis::kCollective]), text(keys[analysis::kDtype]),
                        whole(keys[analysis::kIn]), whole(keys[analysis::kGroupSize])}];
        ++values.count;
        values.latency_us += one.latency;
        values.latencies.push_back(one.latency);
        if (one.bus_gb_s) {
          values.bandwidth += *one.bus_gb_s;
          ++values.with_bandwidth;
        }
      }
    }
    return operations;
  }

  void AddCollectives() {
    std::vector<std::map<OperationKey, OperationValues>> all;
    std::map<OperationKey, double> time;  // in the baseline, else in any
    for (std::size_t s = 0; s < sweeps_.size(); ++s) {
      all.push_back(OperationsOf(s));
      for (const auto& [key, values] : all.back())
        time[key] = std::max(time[key], values.latency_us);
    }
    std::vector<OperationKey> order;
    for (const auto& [key, us] : time)
      order.push_back(key);
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto& a, const auto& b) { return time[a] > time[b]; });
    if (order.size() > options_.collectives_max) {
      page_.more_collectives = order.size() - options_.collectives_max;
      order.resize(options_.collectives_max);
    }
    for (const OperationKey& key : order) {
      const auto& [name, dtype, elements, ranks] = key;
      PageCollective shown{
          name,
          fmt::format("{} elements {}{}", elements < 0 ? "?" : std::to_string(elements), dtype,
                      ranks < 0 ? "" : fmt::format(", {} ranks", ranks)),
          {}};
      const auto base = all[options_.baseline].find(key);
      for (std::size_t s = 0; s < sweeps_.size(); ++s) {
        PageCollective::Side side;
        const auto found = all[s].find(key);
        if (found != all[s].end()) {
          const OperationValues& values = found->second;
          side.count = values.count;
          side.latency_us = values.latency_us / static_cast<double>(values.count);
          if (values.with_bandwidth > 0)
            side.bus_gbps = values.bandwidth / static_cast<double>(values.with_bandwidth);
          if (s == options_.baseline) {
            side.verdict = PageVerdict::kBaseline;
          } else if (base != all[options_.baseline].end()) {
            const double before = base->second.latency_us / static_cast<double>(base->second.count);
            if (before > 0) side.latency_change_pct = 100 * (*side.latency_us / before - 1);
            side.verdict = VerdictOf(ChangeOf(base->second.latencies, values.latencies));
          }
        }
        shown.sweeps.push_back(side);
      }
      page_.collectives.push_back(std::move(shown));
    }
  }

  void AddMethod() {
    page_.method = {
        "Change: (test - base) / base * 100; of all metrics here less is better.",
        fmt::format("A change is marked if it is at least {} % and 0 is outside the interval that "
                    "holds 95 % of 2,000 resamplings of both sets of ranks; else it is within "
                    "noise.",
                    options_.threshold_pct),
        "Step time: first to last GPU work of a rank, over the profiler's steps; the slowest rank "
        "sets it in a synchronous job.",
        "GEMM slowdown: launches during more than 50 % of which a collective of the same rank ran, "
        "against those with less than 5 %; the mean over ops, shapes and kernels.",
        "Kernels are matched by op, shapes and name; one value a configuration and rank.",
        "Collectives: latency is that of the last rank to arrive, which waits for nobody.",
        "What a trace cannot show (occupancy, clocks, cache) is not claimed."};
    if (common_.empty()) {
      page_.method.emplace_back(
          "The sweeps share no configuration: kernels and collectives are compared over all of "
          "each.");
    } else if (common_.size() < order_.size()) {
      page_.method.push_back(fmt::format(
          "Kernels and collectives are compared over the {} configurations that all sweeps have.",
          common_.size()));
    }
  }

  const std::vector<SweepFacts>& sweeps_;
  const std::vector<std::string>& labels_;
  const CompareOptions& options_;
  ComparisonPage page_;
  std::vector<bool> other_work_;     // by sweep: not the baseline's
  std::vector<std::string> order_;   // configurations
  std::vector<std::string> common_;  // those that all have
  std::map<std::string, std::map<std::size_t, const ConfigFacts*>> places_;
};

}  // namespace

ComparisonPage CompareSweeps(const std::vector<SweepFacts>& sweeps,
                             const std::vector<std::string>& labels,
                             const CompareOptions& options) {
  JV_CHECK(labels.size() == sweeps.size() && options.baseline < sweeps.size());
  return Comparer(sweeps, labels, options).Run();
}

}  // namespace jarvis::sweep
