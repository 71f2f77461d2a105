// Looks up host events by an id that GPU events repeat.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/event_store.h"
#include "tree/launch_processes.h"

namespace jarvis::tree {

class CorrelationIndex {
 public:
  enum class Key : std::uint8_t {
    kCorrelation,        // of runtime and driver calls
    kExternalIdOfOps,    // of cpu_ops
    kExternalIdOfCalls,  // of runtime and driver calls
  };

  // `events` must outlive the index.
  CorrelationIndex(const trace::EventStore& events, Key key);

  // The host event with the id of the GPU event that started last before it (ids are reused by
  // nested calls and in long recordings); if all start later (skewed clocks), the first. Of several
  // processes, the one that launched the work; kNoEvent if there is none or nothing says which it
  // is.
  trace::EventIndex Find(trace::EventIndex work) const;
  // Whether calls of several processes have the id of the GPU event, and nothing says whose it is.
  bool IsAmbiguous(trace::EventIndex work) const;

  // All events of the id, by process and start.
  std::span<const IdentifiedEvent> WithId(std::int64_t id) const;

  const LaunchProcesses& processes() const { return processes_; }

 private:
  std::int64_t IdOf(trace::EventIndex e) const;
  bool IsKeyed(const trace::Event& event) const;
  void FindProcesses();
  static bool OfOne(std::span<const IdentifiedEvent> found) {
    return found.front().process == found.back().process;
  }

  const trace::EventStore& events_;
  Key key_;
  LaunchProcesses processes_;
  std::vector<IdentifiedEvent> entries_;  // by id, process and start
  std::vector<std::uint32_t> first_;      // of each id from id_min_ on, if ids are dense
  std::int64_t id_min_ = 0;
};

}  // namespace jarvis::tree
