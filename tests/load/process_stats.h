// What a running process holds, as the kernel counts it.
#pragma once

#include <cstddef>

namespace jarvis::load {

struct ProcessStats {
  std::size_t rss_bytes = 0;
  std::size_t threads = 0;
  std::size_t descriptors = 0;
  double cpu_s = 0;  // of all its threads, since its start
};
// Throws std::runtime_error if there is no such process.
ProcessStats ReadProcessStats(int pid);

}  // namespace jarvis::load
