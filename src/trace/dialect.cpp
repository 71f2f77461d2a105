#include "trace/dialect.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace jarvis::trace {
namespace {

using K = EventKind;
using F = FlowKind;

// Sources: Kineto's ActivityType names, and the files of each era.
constexpr CategoryRule kRules[] = {
    {"cpu_op", K::kCpuOp, F::kNone, Rule::kKineto},
    {"user_annotation", K::kUserAnnotation, F::kNone, Rule::kKineto},
    {"python_function", K::kPythonFunction, F::kNone, Rule::kKineto},
    {"cuda_runtime", K::kRuntime, F::kNone, Rule::kKineto},
    {"cuda_driver", K::kDriver, F::kNone, Rule::kKineto},
    {"kernel", K::kKernel, F::kNone, Rule::kKineto},
    {"gpu_memcpy", K::kMemcpy, F::kNone, Rule::kKineto},
    {"gpu_memset", K::kMemset, F::kNone, Rule::kKineto},
    {"gpu_user_annotation", K::kGpuAnnotation, F::kNone, Rule::kKineto},
    {"cuda_sync", K::kSync, F::kNone, Rule::kKineto},
    {"cuda_event", K::kSync, F::kNone, Rule::kKineto},
    {"cuda_profiler_range", K::kOther, F::kNone, Rule::kKineto},
    {"cpu_instant_event", K::kOther, F::kNone, Rule::kKineto},
    {"overhead", K::kOverhead, F::kNone, Rule::kKineto},
    {"Trace", K::kOther, F::kNone, Rule::kKineto},
    {"collective_comm", K::kOther, F::kNone, Rule::kKineto},
    {"ac2g", K::kOther, F::kLaunch, Rule::kKineto},
    {"async_cpu_to_gpu", K::kOther, F::kLaunch, Rule::kKineto},
    {"fwdbwd", K::kOther, F::kForwardBackward, Rule::kKineto},
    {"forward_backward", K::kOther, F::kForwardBackward, Rule::kKineto},
    // ROCm back-ends of Kineto that name their own runtime.
    {"hip_runtime", K::kRuntime, F::kNone, Rule::kKineto},
    {"hip_driver", K::kDriver, F::kNone, Rule::kKineto},
    // PyTorch 1.8 to 1.11.
    {"Operator", K::kCpuOp, F::kNone, Rule::kKineto18},
    {"Runtime", K::kRuntime, F::kNone, Rule::kKineto18},
    {"Kernel", K::kKernel, F::kNone, Rule::kKineto18},
    {"Memcpy", K::kMemcpy, F::kNone, Rule::kKineto18},
    {"Memset", K::kMemset, F::kNone, Rule::kKineto18},
    {"Python function", K::kPythonFunction, F::kNone, Rule::kKineto18},
    {"async", K::kOther, F::kLaunch, Rule::kKineto18},
    // Meta's MTIA.
    {"mtia_runtime", K::kRuntime, F::kNone, Rule::kMtia},
    {"mtia_ccp_events", K::kKernel, F::kNone, Rule::kMtia},
    {"mtia_insight", K::kOther, F::kNone, Rule::kMtia},
    {"mtia_workloadd", K::kOther, F::kNone, Rule::kMtia},
    // Intel.
    {"xpu_runtime", K::kRuntime, F::kNone, Rule::kXpu},
    {"xpu_driver", K::kDriver, F::kNone, Rule::kXpu},
    {"hpu_op", K::kRuntime, F::kNone, Rule::kXpu},
    // Out-of-tree devices.
    {"privateuse1_runtime", K::kRuntime, F::kNone, Rule::kPrivateUse},
    {"privateuse1_driver", K::kDriver, F::kNone, Rule::kPrivateUse},
    // Ascend: arrows have categories, device events do not (the decoder knows them by "Task Type").
    {"async_npu", K::kOther, F::kLaunch, Rule::kNpu},
    {"HostToDevice", K::kOther, F::kLaunch, Rule::kNpu},
    {"async_task_queue", K::kOther, F::kNone, Rule::kNpu},
    {"enqueue", K::kRuntime, F::kNone, Rule::kNpu},
    {"dequeue", K::kRuntime, F::kNone, Rule::kNpu},
    {"npu_runtime", K::kRuntime, F::kNone, Rule::kNpu},
};

}  // namespace

std::string_view RuleName(Rule rule) {
  switch (rule) {
    case Rule::kKineto: return "kineto";
    case Rule::kKineto18: return "kineto 1.8 categories";
    case Rule::kCaseVariant: return "categories in other letters";
    case Rule::kMtia: return "mtia";
    case Rule::kXpu: return "xpu";
    case Rule::kPrivateUse: return "privateuse1";
    case Rule::kNpu: return "npu";
    case Rule::kUnknown: return "unknown categories";
    case Rule::kCount: break;
  }
  return "unknown categories";
}

std::span<const CategoryRule> CategoryRules() {
  return kRules;
}

CategoryRule FindCategory(std::string_view category) {
  for (const CategoryRule& rule : kRules) {
    if (rule.category == category) return rule;
  }
  for (const CategoryRule& rule : kRules) {
    if (EqualsNoCase(rule.category, category)) {
      return {category, rule.kind, rule.flow, Rule::kCaseVariant};
    }
  }
  return {category, EventKind::kOther, FlowKind::kNone, Rule::kUnknown};
}

void Dialect::SetRecorder(std::string_view name) {
  const std::string fits = ValidUtf8(Utf8Prefix(name, recorder.size() - 1));
  recorder = {};
  std::copy_n(fits.begin(), std::min(fits.size(), recorder.size() - 1), recorder.begin());
}

void Dialect::Merge(const Dialect& other) {
  for (std::size_t i = 0; i < std::size(rules); ++i)
    rules[i] = rules[i] || other.rules[i];
  arrows_async = arrows_async || other.arrows_async;
  arrows_async_cpu_to_gpu = arrows_async_cpu_to_gpu || other.arrows_async_cpu_to_gpu;
  arrows_ac2g = arrows_ac2g || other.arrows_ac2g;
  text_timestamps = text_timestamps || other.text_timestamps;
  begin_end_pairs = begin_end_pairs || other.begin_end_pairs;
  bare_array = bare_array || other.bare_array;
  if (recorder[0] == '\0') recorder = other.recorder;
}

std::string Dialect::Name() const {
  if (recorder[0] != '\0') return recorder.data();
  const auto used = [&](Rule rule) { return rules[static_cast<std::size_t>(rule)]; };
  std::string name = "chrome trace";
  if (used(Rule::kNpu)) {
    name = "ascend";
  } else if (used(Rule::kKineto)) {
    name = arrows_async_cpu_to_gpu ? "kineto 1.12" : "kineto 1.13+";
  } else if (used(Rule::kKineto18)) {
    name = "kineto 1.8";
  }
  for (const Rule rule : {Rule::kMtia, Rule::kXpu, Rule::kPrivateUse, Rule::kCaseVariant}) {
    if (used(rule)) name.append("; ").append(RuleName(rule));
  }
  if (used(Rule::kKineto) && used(Rule::kKineto18)) {
    name.append("; ").append(RuleName(Rule::kKineto18));
  }
  if (text_timestamps) name += "; timestamps as text";
  if (begin_end_pairs) name += "; begin/end pairs";
  if (bare_array) name += "; bare array";
  return name;
}

}  // namespace jarvis::trace
