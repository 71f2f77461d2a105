#include "findings/one/cpu_findings.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/text.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

Fact CpuWords(std::string key, std::string value) {
  return {std::move(key), std::move(value), "words"};
}

std::string MsRange(double low, double high) {
  if (high < 1.05 * low) return ThreeDigits(high) + " ms";
  return fmt::format("{} to {} ms", ThreeDigits(low), ThreeDigits(high));
}

// "gloo:all_reduce" -> "gloo all-reduce".
std::string WordsOfName(std::string name) {
  while (name.ends_with('_'))
    name.pop_back();
  const std::size_t colon = name.find(':');
  const std::size_t call = name.find_first_not_of(':', colon);
  if (colon != std::string::npos && call != std::string::npos)
    name.replace(colon, call - colon, " ");
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

class CpuFindingMaker {
 public:
  CpuFindingMaker(const CpuSteps& steps, const StepBase& base, const WorkContext& context)
      : steps_(steps), base_(base), context_(context) {}

  std::vector<Finding> Run() {
    Waiting();
    Loading();
    Optimizer();
    std::stable_sort(out_.begin(), out_.end(), [](const Finding& a, const Finding& b) {
      return a.bound_ms.value_or(0) > b.bound_ms.value_or(0);
    });
    return std::move(out_);
  }

 private:
  bool IsEnough(CpuPart part, double percent) const {
    return base_.Percent(steps_.Of(part)) >= percent;
  }

  void Add(Pattern rule, const char* category, const char* name, std::string subject, CpuPart part,
           std::vector<Fact> facts) {
    Finding f;
    f.category = category;
    f.category_name = name;
    f.tier = Tier::kSystem;
    f.subject = std::move(subject);
    f.method = EstimateMethod::kMeasured;
    f.rule = rule;
    f.time_ms = steps_.Of(part);
    f.exclusive_ms = f.time_ms;
    f.bound_ms = f.time_ms;
    f.percent_of_total = base_.Percent(f.time_ms);
    f.priority = PriorityOfSaving(*f.percent_of_total);
    f.patterns.push_back({rule, std::move(facts)});
    out_.push_back(std::move(f));
  }

  void Waiting() {
    if (steps_.collectives.empty() || !IsEnough(CpuPart::kWaiting, limits::kCpuWait)) return;
    const CpuCollective& most = steps_.collectives.front();
    std::vector<Fact> facts = {CpuWords("calls", CallsText(most))};
    if (const std::string pace = PaceText(most); !pace.empty())
      facts.push_back(CpuWords("pace", pace));
    if (steps_.odd_wait_ms > 0) {
      facts.push_back(
          CpuWords("odd", ThreeDigits(steps_.odd_wait_ms) + " ms in the steps left out"));
    }
    if (steps_.data_parallel) facts.push_back(CpuWords("kth", "k-th"));
    Add(Pattern::kCpuCollectives, "multi_kernel", "Communication and copies",
        WordsOfName(most.name), CpuPart::kWaiting, std::move(facts));
    if (steps_.data_parallel) out_.back().path_a = {{Advice::kRule, {}, {}}};
    out_.back().path_b = {{Advice::kRecordRanks, {}, {}}};
    out_.back().count = most.count;
  }

  // "2 calls a step of 1.29 to 8.33 MB, 157 to 180 ms each"
  std::string CallsText(const CpuCollective& one) const {
    const double each = base_.Each(static_cast<double>(one.count));
    std::string text = fmt::format("{} calls a {}", ThreeDigits(each), base_.unit);
    if (one.most_bytes > 0) {
      text +=
          one.least_bytes == one.most_bytes
              ? " of " + BytesText(one.most_bytes)
              : fmt::format(" of {} to {}", BytesText(one.least_bytes), BytesText(one.most_bytes));
    }
    return text + ", " + MsRange(one.least_ms, one.most_ms) + " each";
  }

  // What does not grow with the bytes is no bandwidth.
  static std::string PaceText(const CpuCollective& one) {
    constexpr double kSizesDiffer = 3;
    constexpr double kTimesAlike = 1.3;
    if (one.bytes <= 0 || one.union_ms <= 0) return "";
    const double rate = one.bytes / one.union_ms / 1e3;  // MB/s
    const bool differ = one.most_bytes >= kSizesDiffer * one.least_bytes;
    const bool alike = one.large_ms <= kTimesAlike * one.small_ms;
    // Those that run at the same time wait for each other: equal times tell nothing then.
    constexpr double kAtOnce = 1.2;
    const bool at_once = static_cast<double>(one.count) * one.least_ms > kAtOnce * one.union_ms;
    if (!differ || !alike || at_once) return fmt::format("that is {} MB/s", ThreeDigits(rate));
    return fmt::format(
        "the largest has {} times the bytes of the smallest and takes about as long "
        "({} MB/s in all), so latency or a late rank sets the time, not bandwidth",
        ThreeDigits(one.most_bytes / one.least_bytes), ThreeDigits(rate));
  }

  void Loading() {
    if (!IsEnough(CpuPart::kLoading, limits::kCpuLoading)) return;
    Add(Pattern::kCpuLoading, "cpu_idle", "The host's time", "data loading", CpuPart::kLoading, {});
    // The rule is about a loader without workers.
    if (context_.worker_loader) {
      out_.back().path_b = {{Advice::kPrefetchData, {}, {}}};
    } else {
      out_.back().path_a = {{Advice::kRule, {}, {}}};
    }
  }

  // Many small ops, some for each parameter.
  void Optimizer() {
    const double ops = base_.Each(static_cast<double>(steps_.optimizer_ops));
    if (steps_.optimizer_together || ops < limits::kCpuUpdateOps ||
        !IsEnough(CpuPart::kOptimizer, limits::kCpuOptimizer)) {
      return;
    }
    Add(Pattern::kCpuOptimizer, "cpu_idle", "The host's time",
        steps_.optimizer.empty() ? "the optimizer" : steps_.optimizer, CpuPart::kOptimizer,
        {CpuWords("ops", fmt::format("{:.0f}", ops))});
    out_.back().path_b = {{Advice::kRule, {}, {}}};
    out_.back().count = steps_.optimizer_ops;
  }

  const CpuSteps& steps_;
  const StepBase& base_;
  const WorkContext& context_;
  std::vector<Finding> out_;
};

bool IsCpuProduct(std::string_view name) {
  constexpr std::string_view kNames[] = {"aten::mm",     "aten::addmm",
                                         "aten::bmm",    "aten::mkldnn_linear",
                                         "aten::linear", "aten::_convolution"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         name.find("convolution") != std::string_view::npos;
}

// The types of products by their time: "fp32", "bf16 80 %, ..." would need more than is known here.
std::string TypeOfProducts(const CpuSteps& steps) {
  std::map<std::string, double> by_type;
  for (const CpuOperation& one : steps.operations) {
    if (!IsCpuProduct(one.name)) continue;
    const std::string first = one.args.substr(0, one.args.find("<br>"));
    const std::size_t space = first.rfind(' ');
    if (space != std::string::npos) by_type[first.substr(space + 1)] += one.self_ms;
  }
  const auto most =
      std::max_element(by_type.begin(), by_type.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == by_type.end() ? std::string() : most->first;
}

// The rows of the layers' inputs, "(706,) fp32<br>(32,1377) fp32<br>...": equal in all of them.
std::string BatchOf(const CpuSteps& steps) {
  std::string batch;
  for (const CpuOperation& one : steps.operations) {
    if (one.name != "aten::addmm") continue;
    const std::size_t second = one.args.find("<br>(");
    if (second == std::string::npos) return "";
    const std::size_t begin = second + std::string_view("<br>(").size();
    const std::string rows = one.args.substr(begin, one.args.find(',', begin) - begin);
    if (!batch.empty() && rows != batch) return "";
    batch = rows;
  }
  return batch;
}

}  // namespace

std::vector<Finding> CpuFindings(const CpuSteps& steps, const StepBase& base,
                                 const WorkContext& context) {
  return CpuFindingMaker(steps, base, context).Run();
}

void TellCpuWorkload(const CpuSteps& steps, bool shows_gpu, Workload* workload) {
  if (const std::string type = TypeOfProducts(steps); !type.empty())
    workload->Set(WorkloadPart::kPrecision, type, Certainty::kRecorded, "inputs of GEMMs");
  const auto product = std::find_if(steps.operations.begin(), steps.operations.end(),
                                    [](const CpuOperation& one) { return IsCpuProduct(one.name); });
  // A single op tells nothing of what it is for.
  const bool model =
      product != steps.operations.end() || !steps.optimizer.empty() || !steps.collectives.empty();
  if (!shows_gpu && model) {
    workload->Set(WorkloadPart::kDevice, "CPU", Certainty::kRecorded,
                  "no device properties, no runtime call");
  }
  const bool convolutions = std::any_of(
      steps.operations.begin(), steps.operations.end(),
      [](const CpuOperation& one) { return one.name.find("convolution") != std::string::npos; });
  const bool attention =
      std::any_of(steps.operations.begin(), steps.operations.end(), [](const CpuOperation& one) {
        return one.name.find("softmax") != std::string::npos ||
               one.name.find("attention") != std::string::npos;
      });
  if (product != steps.operations.end() && !convolutions && !attention)
    workload->Set(WorkloadPart::kFamily, "dense layers", Certainty::kInferred, product->name);
  if (const std::string rows = BatchOf(steps); !rows.empty())
    workload->Set(WorkloadPart::kBatch, "batch " + rows, Certainty::kInferred,
                  "rows of aten::addmm");
  WorkloadField& parallel = (*workload)[WorkloadPart::kParallelism];
  const std::string_view library =
      steps.collectives.empty() ? std::string_view() : steps.collectives.front().name;
  const std::size_t at = parallel.value.find("data parallel");
  if (library.starts_with("gloo:") && at != std::string::npos)
    parallel.value.insert(at + std::string_view("data parallel").size(), " over gloo");
}

}  // namespace jarvis::findings
