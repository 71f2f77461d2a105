// What a trace holds, computed from the events as they were made: an independent answer for tests.
// Times are nanoseconds. Each step is added up by itself, which is exact because no GPU work of
// one step overlaps that of another.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kineto_writer.h"
#include "options.h"
#include "step.h"

namespace make_trace {

struct Interval {
  Ns begin = 0;
  Ns end = 0;
};

struct Share {
  std::int64_t count = 0;
  Ns time_ns = 0;  // sum of durations
};

struct BusyTimes {
  Ns computation_ns = 0;
  Ns communication_ns = 0;
  Ns memcpy_ns = 0;
  Ns exposed_communication_ns = 0;
  Ns exposed_memcpy_ns = 0;
  Ns busy_ns = 0;
};

struct StepTruth {
  int number = 0;
  Ns ts = 0;
  Ns dur = 0;
  std::int64_t kernels = 0;
  Ns gpu_begin = 0;
  Ns gpu_end = 0;
  BusyTimes times;
};

struct PlantedTruth {
  std::int64_t count = 0;
  Ns actual_ns = 0;
  Ns ideal_ns = 0;
  Ns kernel_sum_ns = 0;
  std::set<std::string_view> kernels;
  std::set<std::string_view> ops;
};

class Truth {
 public:
  void AddStep(const Step& step);
  // The text of <name>.truth.json.
  std::string Json(const Options& options, int rank, const KinetoWriter& writer) const;

 private:
  void AddShares(const GpuEvent& event);
  void AddPlanted(const Step& step, const std::vector<Interval>& compute);

  BusyTimes times_;
  Ns gpu_begin_ = 0;
  Ns gpu_end_ = 0;
  std::int64_t kernels_ = 0;
  std::map<std::string_view, Share> by_op_;
  std::map<std::string_view, Share> by_group_;
  std::map<std::string_view, Share> by_category_;
  std::map<std::string_view, Share> by_kernel_;
  std::map<std::string_view, Share> by_module_forward_;
  std::map<std::string_view, Share> by_module_backward_;
  std::vector<StepTruth> steps_;
  std::array<PlantedTruth, kPlantedCount> planted_;
};

}  // namespace make_trace
