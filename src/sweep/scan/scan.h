// What lies in a sweep directory: one run a configuration, one trace a rank. Nothing is opened.
//
//   <sweep>/256thread/nccl_28channels/torch_profiler/rank0/trace_step10.json.gz
//
// Where no directory is named so, every directory with a torch_profiler folder (or rank folders) is
// a run, and each part of its path is an axis: "<n>thread", "nccl_<n>channels", "algo_ring" and
// "proto=LL" are {thread: n}, {channels: n}, {algo: ring} and {proto: LL}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/file_policy.h"
#include "sweep/scan/warning.h"

namespace jarvis::sweep {

inline constexpr std::size_t kConfigsMax = 4096;

struct TraceFile {
  std::string path;                       // absolute
  std::string name;                       // below the sweep
  std::uint64_t bytes = 0;                // on disk
  std::optional<std::int64_t> path_rank;  // that its directory or its name speaks of
};

struct AxisValue {
  std::string text;                    // "256", "ring"
  std::optional<std::int64_t> number;  // absent: not a number
};

struct Config {
  std::vector<AxisValue> values;   // by Sweep::axes
  std::string label;               // "256thread_28ch"
  std::string folder;              // below the sweep: "256thread/nccl_28channels"
  std::vector<TraceFile> traces;   // one per rank as far as paths tell, in the order of ranks
  std::optional<std::string> log;  // below the sweep: run_output.log
  bool rocprof = false;            // there is a rocprof_traces folder
};

struct Sweep {
  std::string path;                  // absolute
  std::string name;                  // the directory's
  std::vector<std::string> axes;     // "threads", "channels"
  bool threads_by_channels = false;  // the layout of the axes threads and channels
  std::vector<Config> configs;       // in the order of their values, numbers by value
  std::vector<std::string> other;    // names below the sweep that are no part of it
  std::vector<Warning> warnings;
};

// Errors: kTraceNotFound if there is no such directory or no run in it, kNotAllowed, kTooLarge.
Result<Sweep> ScanSweep(const io::FilePolicy& files, const std::string& given);

// One run: the directory with torch_profiler in it, or torch_profiler itself. Its only
// configuration has no axes and is labelled as the directory is named.
Result<Sweep> ScanRun(const io::FilePolicy& files, const std::string& given);

// The value of the axis as a number, if it has that axis: for what is said of channels or threads.
std::optional<std::int64_t> NumberOn(const Sweep& sweep, const Config& config,
                                     std::string_view axis);

}  // namespace jarvis::sweep
