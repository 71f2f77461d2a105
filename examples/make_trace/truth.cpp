#include "truth.h"

#include <algorithm>

namespace make_trace {
namespace {

// Time covered by at least one interval. Sorts.
Ns Covered(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Ns covered = 0;
  Ns reached = 0;
  for (const Interval& interval : intervals) {
    const Ns begin = std::max(interval.begin, reached);
    if (interval.end > begin) covered += interval.end - begin;
    reached = std::max(reached, interval.end);
  }
  return covered;
}

std::vector<Interval> Joined(std::vector<Interval> a, const std::vector<Interval>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool IsCollective(const GpuEvent& event) {
  return event.name.find("nccl") != std::string_view::npos ||
         event.name.find("rccl") != std::string_view::npos;
}

std::string_view GroupOf(const GpuEvent& event) {
  switch (event.kind) {
    case GpuKind::kKernel: return event.info->group;
    case GpuKind::kMemcpy: return "memcpy";
    case GpuKind::kMemset: return "memset";
  }
  return {};
}

std::string_view CategoryOf(const GpuEvent& event) {
  switch (event.kind) {
    case GpuKind::kKernel: return "kernel";
    case GpuKind::kMemcpy: return "gpu_memcpy";
    case GpuKind::kMemset: return "gpu_memset";
  }
  return {};
}

void Add(Share& share, const GpuEvent& event) {
  ++share.count;
  share.time_ns += event.dur;
}

}  // namespace

void Truth::AddShares(const GpuEvent& event) {
  Add(by_op_[event.op], event);
  Add(by_group_[GroupOf(event)], event);
  Add(by_category_[CategoryOf(event)], event);
  Add(by_kernel_[event.name], event);
  const std::string_view module = event.module.empty() ? "(none)" : event.module;
  Add(event.backward ? by_module_backward_[module] : by_module_forward_[module], event);
}

void Truth::AddPlanted(const Step& step, const std::vector<Interval>& compute) {
  const Ns computed = Covered(compute);
  for (const GpuEvent& event : step.gpu) {
    if (event.planted == Planted::kNo) continue;
    PlantedTruth& planted = planted_[static_cast<std::size_t>(event.planted)];
    ++planted.count;
    planted.kernel_sum_ns += event.dur;
    planted.kernels.insert(event.name);
    planted.ops.insert(event.op);
    if (event.planted == Planted::kAllReduce) {
      const std::vector<Interval> own = {{event.ts, event.ts + event.dur}};
      planted.actual_ns += Covered(Joined(compute, own)) - computed;
    } else if (event.planted == Planted::kLaunchBound) {
      planted.ideal_ns += event.dur;
    } else {
      planted.actual_ns += event.dur;
    }
  }
  for (std::size_t i = 0; i < kPlantedCount; ++i)
    planted_[i].ideal_ns += step.planted_ideal[i];
  planted_[static_cast<std::size_t>(Planted::kLaunchBound)].actual_ns +=
      step.launch_bound_end - step.launch_bound_begin;
}

void Truth::AddStep(const Step& step) {
  std::vector<Interval> compute;
  std::vector<Interval> collective;
  std::vector<Interval> copies;
  StepTruth truth;
  truth.number = step.number;
  truth.ts = step.ts;
  truth.dur = step.dur;
  for (const GpuEvent& event : step.gpu) {
    const Interval interval = {event.ts, event.ts + event.dur};
    if (event.kind == GpuKind::kMemcpy) {
      copies.push_back(interval);
    } else if (IsCollective(event)) {
      collective.push_back(interval);
    } else {
      compute.push_back(interval);
    }
    if (event.kind == GpuKind::kKernel) ++truth.kernels;
    truth.gpu_begin = truth.gpu_begin == 0 ? event.ts : std::min(truth.gpu_begin, event.ts);
    truth.gpu_end = std::max(truth.gpu_end, interval.end);
    AddShares(event);
  }
  const std::vector<Interval> both = Joined(compute, collective);
  BusyTimes& times = truth.times;
  times.computation_ns = Covered(compute);
  times.communication_ns = Covered(collective);
  times.memcpy_ns = Covered(copies);
  times.exposed_communication_ns = Covered(both) - times.computation_ns;
  times.busy_ns = Covered(Joined(both, copies));
  times.exposed_memcpy_ns = times.busy_ns - Covered(both);
  AddPlanted(step, compute);
  times_.computation_ns += times.computation_ns;
  times_.communication_ns += times.communication_ns;
  times_.memcpy_ns += times.memcpy_ns;
  times_.exposed_communication_ns += times.exposed_communication_ns;
  times_.exposed_memcpy_ns += times.exposed_memcpy_ns;
  times_.busy_ns += times.busy_ns;
  gpu_begin_ = gpu_begin_ == 0 ? truth.gpu_begin : std::min(gpu_begin_, truth.gpu_begin);
  gpu_end_ = std::max(gpu_end_, truth.gpu_end);
  kernels_ += truth.kernels;
  steps_.push_back(truth);
}

}  // namespace make_trace
