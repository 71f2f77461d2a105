// Which process launched which GPU work. Files into which a tool merged several ranks hold several
// processes, whose correlation and External ids are often the same: an id then says nothing until
// it is known whose it is. GPU work is filed under a place of its own (a device, with or without
// the label of its rank), and a place belongs to the process
//   - whose name carries the same label ("[TP01] 1001" and "[TP01] 0"), else
//   - whose calls alone have the ids of the place's work and come before it, else
//   - between whose calls the work lies in a file that was put together rank after rank.
// Where none of these is sure, the place has no launcher.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::tree {

inline constexpr std::uint32_t kNoProcess = 0xFFFFFFFFu;

// A number for the pid of each track, counted from 0 in the order of tracks.
std::vector<std::uint32_t> ProcessesOfTracks(const trace::EventStore& events);

struct LaunchProcesses {
  // Numbers of processes by track. Empty: one process makes all calls, and launched all work.
  std::vector<std::uint32_t> of_track;
  // By process (a place is one of them): who launched the GPU work that is filed there.
  std::vector<std::uint32_t> launcher;

  bool several() const { return !of_track.empty(); }
};

// A call, or a piece of GPU work with its place.
struct IdentifiedEvent {
  std::int64_t id;
  std::int64_t ts_ns;
  trace::EventIndex event;
  std::uint32_t process;
};
// By id, process and start.
bool ById(const IdentifiedEvent& a, const IdentifiedEvent& b);

// `calls`: of two processes at least, sorted ById. `works`: all GPU work that has an id.
LaunchProcesses FindLaunchProcesses(const trace::EventStore& events,
                                    std::vector<std::uint32_t> of_track,
                                    std::span<const IdentifiedEvent> calls,
                                    std::vector<IdentifiedEvent> works);

}  // namespace jarvis::tree
