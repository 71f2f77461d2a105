// The processes and GPUs of a recording of several, and what a trace calls them.
//
// Threads: ids may be asked for by any number at once, before Settle().
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/metadata.h"

namespace jarvis::trace {

// A process, or a GPU as one process sees it.
using OwnerId = std::uint32_t;
inline constexpr OwnerId kGpuOwner = 0x80000000u;
inline bool IsGpuOwner(OwnerId id) {
  return (id & kGpuOwner) != 0;
}

struct ProcessOwner {
  std::int64_t key = 0;  // in whose order processes are
  std::int64_t pid = 0;
  std::int64_t apart = 0;  // tells it from others of that pid: of other hosts, in containers
  std::string name;        // may be empty
  std::optional<std::int64_t> rank;
  // After Settle().
  std::uint32_t ordinal = 0;
  std::string pid_text;
};

struct GpuOwner {
  OwnerId process = 0;
  std::int64_t device = 0;               // the process's number for it
  std::optional<std::int64_t> physical;  // the machine's, where it is known
  std::optional<Device> about;
  bool by_queue = false;  // lanes are queues, not streams
  // After Settle().
  std::int64_t index = 0;
  std::string pid_text;
};

class Owners {
 public:
  OwnerId ProcessOf(std::int64_t key, std::int64_t pid);
  OwnerId GpuOf(OwnerId process, std::int64_t device);
  // That GPU, if there is one already; else the process's only one.
  std::optional<OwnerId> KnownGpuOf(OwnerId process, std::int64_t device);

  // Numbers and texts of all. `use_physical`: where two processes call different GPUs by one
  // number, GPUs go by the machine's numbers.
  void Settle(bool use_physical);
  // Whether several processes have work on one GPU each, and none on another's: ranks of a job.
  bool IsOneGpuEach() const;
  // Whether a GPU has work of several processes.
  bool HasSharedGpu() const;

  std::vector<ProcessOwner>& processes() { return processes_; }
  const std::vector<ProcessOwner>& processes() const { return processes_; }
  std::vector<GpuOwner>& gpus() { return gpus_; }
  const std::vector<GpuOwner>& gpus() const { return gpus_; }
  const GpuOwner& gpu(OwnerId id) const { return gpus_[id & ~kGpuOwner]; }
  // In the order of their numbers.
  std::vector<const GpuOwner*> GpusInOrder() const;
  std::vector<const ProcessOwner*> ProcessesInOrder() const;
  // "rank 3: python"; "process" without a name. A rank is named where there are several processes.
  std::string NameOf(const ProcessOwner& process) const;

 private:
  std::mutex mutex_;
  std::vector<ProcessOwner> processes_;
  std::vector<GpuOwner> gpus_;
  std::map<std::int64_t, OwnerId> process_of_;
  std::map<std::pair<OwnerId, std::int64_t>, OwnerId> gpu_of_;
};

}  // namespace jarvis::trace
