// What rocprofv3 wrote about the kernels of a job: agents, dispatches and their counters.
//
// Units: times are ns on the device clock that all files of one process share, sizes are
// work-items, bytes and registers as rocprofv3 gives them. Absent is kUnknown or an empty optional,
// never 0: files of older versions lack whole columns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/interval.h"
#include "base/part_warning.h"

namespace jarvis::rocprof {

inline constexpr std::int64_t kUnknown = -1;

// A CPU or GPU of the machine.
struct Agent {
  bool gpu = false;
  std::int64_t node_id = kUnknown;
  std::int64_t logical_id = kUnknown;
  std::int64_t handle = kUnknown;      // of results.json
  std::int64_t type_index = kUnknown;  // 0-based among the agents of its kind
  std::int64_t cus = kUnknown;
  std::int64_t xccs = kUnknown;
  std::int64_t simds_per_cu = kUnknown;
  std::int64_t waves_per_cu = kUnknown;
  std::int64_t waves_per_simd = kUnknown;
  std::int64_t wave_size = kUnknown;
  std::int64_t shader_engines = kUnknown;  // Num_Shader_Banks
  std::int64_t lds_kib = kUnknown;         // a CU
  std::int64_t clock_mhz = kUnknown;       // the highest engine clock
  std::string name;                        // gfx942
  std::string product;
};

// Already summed over the instances of the hardware block.
struct CounterValue {
  std::uint32_t counter = 0;  // of Capture::counters
  std::int32_t pass = 0;      // in which it was collected
  double value = 0;
};

struct Dispatch {
  std::uint32_t kernel = 0;  // of Capture::kernels
  std::int32_t agent = -1;   // of Process::agents; -1: not known
  std::int64_t id = kUnknown;
  std::int64_t correlation = kUnknown;
  std::int64_t start_ns = kUnknown;
  std::int64_t end_ns = kUnknown;
  std::int64_t grid = kUnknown;       // work-items, all dimensions
  std::int64_t workgroup = kUnknown;  // work-items, all dimensions
  std::array<std::int64_t, 3> grid_xyz{kUnknown, kUnknown, kUnknown};
  std::array<std::int64_t, 3> workgroup_xyz{kUnknown, kUnknown, kUnknown};
  std::int64_t lds = kUnknown;      // bytes of a work-group
  std::int64_t scratch = kUnknown;  // bytes of a work-item
  std::int64_t vgpr = kUnknown;
  std::int64_t agpr = kUnknown;
  std::int64_t sgpr = kUnknown;
  std::int64_t stream = kUnknown;
  std::int64_t thread = kUnknown;
  std::vector<CounterValue> counters;

  std::optional<std::int64_t> duration_ns() const {
    if (start_ns == kUnknown || end_ns < start_ns) return std::nullopt;
    return end_ns - start_ns;
  }
  CounterValue* Find(std::uint32_t counter) {
    for (CounterValue& one : counters) {
      if (one.counter == counter) return &one;
    }
    return nullptr;
  }
  const CounterValue* Find(std::uint32_t counter) const {
    for (const CounterValue& one : counters) {
      if (one.counter == counter) return &one;
    }
    return nullptr;
  }
};

// A row of a statistics file: timing alone.
struct KernelStats {
  bool domain = false;  // of a kind of calls (KERNEL_DISPATCH, HIP_API...), not of a kernel
  std::string name;
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::optional<double> min_ns;
  std::optional<double> max_ns;
};

// Which run of a sweep a file belongs to, read from the directories <T>thread/nccl_<C>channels.
struct Config {
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> channels;
  std::string run;  // the directory of the run, absolute: tells runs apart that have no numbers

  friend auto operator<=>(const Config&, const Config&) = default;
  // "256thread_28ch", else the name of the run's directory.
  std::string name() const;
};

// The files with one prefix in one directory: what one process of one execution wrote.
struct Process {
  Config config;
  std::string folder;  // absolute
  std::string host;    // the directory's name
  std::string prefix;  // "41284"; empty: the files have none
  std::optional<std::int64_t> pid;
  std::int32_t pass = 0;  // of pass_<n>; 0: there is only one
  std::string command;    // as recorded, in one line
  std::optional<std::int64_t> rank;
  std::string rank_source;  // name, command, agent, order; of RankOf
  std::optional<std::int64_t> init_ns;
  std::optional<std::int64_t> fini_ns;
  std::vector<Agent> agents;
  std::vector<Dispatch> dispatches;            // in the order of the file
  std::vector<KernelStats> stats;              // only if there is nothing better
  std::vector<Interval<std::int64_t>> copies;  // memory copies of results.json
  std::vector<std::string> files;              // that were read, absolute

  // The rank that a dispatch belongs to: the process's, or the GPU's where one process has several.
  std::optional<std::int64_t> RankOf(const Dispatch& dispatch) const {
    if (rank || dispatch.agent < 0) return rank;
    return agents[static_cast<std::size_t>(dispatch.agent)].type_index;
  }
  const Agent* AgentOf(const Dispatch& dispatch) const {
    return dispatch.agent < 0 ? nullptr : &agents[static_cast<std::size_t>(dispatch.agent)];
  }
};

using Warning = PartWarning;

// All that was read below a path.
struct Capture {
  std::vector<std::string> kernels;   // names without ".kd"
  std::vector<std::string> counters;  // names
  std::vector<Process> processes;     // by config, host, rank, pass
  std::vector<Warning> warnings;
  bool complete = true;        // false: something could not be read
  std::int32_t passes = 1;     // executions that were joined
  std::uint64_t joined = 0;    // dispatches of later passes that found their partner
  std::uint64_t unjoined = 0;  // and that did not: they stand as dispatches of their own
};

}  // namespace jarvis::rocprof
