// One program from start to end: in a process group of its own, with nothing of ours (no stdin, no
// stdout, no other descriptor), its output in a log, a time limit, a stop that reaches all that it
// started.
//
// Threads: any number of children at once, each from one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "launch/knobs.h"

namespace jarvis::launch {

struct ChildRequest {
  std::vector<std::string> command;  // found in PATH; nothing is evaluated by a shell
  Environment env;                   // beside that of this process
  std::string workdir;               // empty: ours
  int log = -1;                      // a file for stdout and stderr
  std::uint64_t log_bytes_max = std::uint64_t{64} << 20;  // beyond it only the end is kept
  std::optional<double> timeout_s;
  std::chrono::milliseconds grace{3000};  // between asking to end and ending
};

struct ChildEnd {
  int exit_code = 0;  // as a shell tells it: 128 and the signal's number
  bool timed_out = false;
  bool cancelled = false;          // by the job
  std::size_t left_behind = 0;     // processes that the program left and that were ended
  std::uint64_t log_left_out = 0;  // bytes of output that are not in the log
};

// Calls `tick` some times per second. Error: the program cannot be started (kIo).
Result<ChildEnd> RunChild(const ChildRequest& request, Job& job, const std::function<void()>& tick);

}  // namespace jarvis::launch
