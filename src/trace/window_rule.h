// Which events belong to a part of a recording:
// - what has some of its time in it,
// - GPU work that a call in it launched, whenever it ran,
// - the call that launched GPU work in it, whenever that was, and the host events around that call,
//   so that the work is known by its op and its callers.
// Marks of steps that are not all in it belong to it no more: a part of a step is no step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "trace/event_decoder.h"
#include "trace/event_store.h"
#include "trace/survey.h"
#include "trace/window.h"

namespace jarvis::trace {

// What links a window to work and calls outside of it. Filled in two passes, then const: any number
// of threads may ask.
class WindowLinks {
 public:
  explicit WindowLinks(const TraceWindow& window) : window_(window) {}

  // First pass: which calls and which work lie in the window.
  void NoteInside(const DecodedSlice& slice);
  void EndInside();
  // Second pass: all calls that share a correlation with these.
  void NoteLaunches(const DecodedSlice& slice);
  void EndLaunches();

  // Whether one of the correlations that matter lies in a range.
  bool AnyOf(const Range& range) const;
  bool Matters(std::int64_t correlation) const;
  // Whether GPU work outside the window was launched inside of it.
  bool LaunchedInside(std::int64_t correlation, std::int64_t ts_ns) const;

  // The calls outside of the window that launched work in it: their starts, sorted, by the key of
  // their thread as slices have it.
  const std::vector<std::int64_t>* OuterLaunchesOf(std::string_view track_key) const;
  // The window, and as far beyond it as these calls reach.
  const Range& hull() const { return hull_; }

 private:
  struct Launch {
    std::int64_t id;
    std::int64_t ts_ns;
    std::int64_t end_ns;
    std::uint32_t track;    // in track_keys_
    std::uint32_t process;  // in pids_
  };
  struct Work {
    std::int64_t id;
    std::int64_t ts_ns;
  };
  // The calls that may have launched work: of each process that uses the id one.
  template <typename Use>
  void EachLaunchOf(std::int64_t id, std::int64_t ts_ns, const Use& use) const;

  const TraceWindow window_;
  std::vector<std::int64_t> ids_;  // correlations that matter, sorted
  std::vector<Work> works_;        // in the window; empty after the second pass
  std::vector<Launch> launches_;   // by id, process and start
  StringPool track_keys_;
  StringPool pids_;
  std::vector<std::vector<std::int64_t>> outer_;  // by track
  Range hull_;
};

// Decides about the events of one slice, or of a store.
class WindowRule {
 public:
  WindowRule(const TraceWindow& window, const WindowLinks& links)
      : window_(window), links_(links) {}

  // Leaves out of the slice what does not belong to the window, and what the survey has counted for
  // the whole file. Begin and end events stay: which of them are pairs is not known yet.
  void Select(DecodedSlice* slice) const;
  // The same for a store whose begin and end events are paired.
  void Select(EventStore* store) const;

  // Sets the ends of what goes on beyond the window, but for GPU work, and counts that.
  void Cut(EventStore* store) const;

 private:
  bool Keeps(const Event& event, std::int64_t correlation, std::string_view name,
             const std::vector<std::int64_t>* outer) const;
  bool KeepsHost(const Event& event, std::string_view name,
                 const std::vector<std::int64_t>* outer) const;

  const TraceWindow& window_;
  const WindowLinks& links_;
};

}  // namespace jarvis::trace
