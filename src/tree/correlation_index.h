// Looks up host events by an id that GPU events repeat.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::tree {

class CorrelationIndex {
 public:
  enum class Key : std::uint8_t {
    kCorrelation,        // of runtime and driver calls
    kExternalIdOfOps,    // of cpu_ops
    kExternalIdOfCalls,  // of runtime and driver calls
  };

  CorrelationIndex(const trace::EventStore& events, Key key);

  // The host event with that id that started last before `before_ns` (ids are reused in merged
  // files and by nested calls); if all start later (skewed clocks), the first. kNoEvent if none.
  trace::EventIndex Find(std::int64_t id, std::int64_t before_ns) const;

 private:
  struct Entry {
    std::int64_t id;
    std::int64_t ts_ns;
    trace::EventIndex event;
  };
  std::vector<Entry> entries_;        // by id, then start
  std::vector<std::uint32_t> first_;  // of each id from id_min_ on, if ids are dense
  std::int64_t id_min_ = 0;
};

}  // namespace jarvis::tree
