// The threads of the host: every line is one. Launches become work of an op: the op's own event
// where the profiler recorded one around them, else one that is drawn around them, as a profile of
// XLA names the op of a launch but need not mark its begin and end.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/import/xplane/device_lines.h"
#include "trace/import/xplane/id_table.h"
#include "trace/import/xplane/op_table.h"
#include "trace/import/xplane/space.h"
#include "trace/metadata.h"

namespace jarvis::trace::xplane {

// The planes with threads of the host, in the order of the file.
std::vector<const Plane*> HostPlanes(const Space& space);

struct LaunchedWork {
  const Op* op = nullptr;    // null: none is named, or work of several ops has it (a graph)
  std::uint64_t kernel = 0;  // hash of its first work's name
  std::size_t device = 0;    // of its first work, in DevicesOf()
};
// What was launched, by correlation.
struct LaunchedWorks {
  IdTable correlations;
  std::vector<LaunchedWork> works;  // by their places

  const LaunchedWork* Find(std::int64_t correlation) const {
    const std::size_t place = correlations.PlaceOf(correlation);
    return place == IdTable::kNone ? nullptr : &works[place];
  }
};

struct HostThread {
  const Plane* plane = nullptr;
  const Line* line = nullptr;
  std::string pid;
  bool amd = false;
};

struct HostLine {
  LineEvents events;
  std::vector<std::int64_t> launches;  // correlations of its calls
  std::uint64_t drawn = 0;             // ops around launches, with no event of their own
  std::uint64_t allocations = 0;
  bool step_marks = false, python = false;
  std::map<std::string_view, std::vector<std::int64_t>> launched;  // by program: when, its work
  // Runs of programs, as the host marks them: events of the slice.
  std::vector<std::uint32_t> executions;
  bool executor = false;  // a thread that XLA keeps for one device
  // By device: how many of the thread's first allocations are its memory.
  std::map<std::int64_t, std::uint64_t> memory_of;
  // By number of a group of events, which converters give to all that a step does: from its first
  // event to the end of its last.
  struct Span {
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  std::map<std::int64_t, Span> groups;
  std::map<std::size_t, std::uint64_t> launches_of;  // by device
};

// Marks groups of events as steps, on each thread that launches most of the work of one of
// `devices`; `numbers`: those of the steps, by group. False: no thread has them one after the
// other.
bool MarkGroupsAsSteps(const std::map<std::int64_t, std::int64_t>& numbers,
                       const std::set<std::size_t>& devices, std::vector<HostLine>* lines);

// What the host ran of a program, on the thread that launches most of its work and on how many
// devices.
Recording::Runs RunsOf(std::string_view program, const std::vector<HostLine>& lines);

// Makes the runs of a program steps, those on the thread that launches most of its work that
// launched some, and those after them: for profiles that mark none. Where it did not run twice
// there nothing changes.
void MarkRunsAsSteps(std::string_view program, std::vector<HostLine>* lines);

HostLine ReadHostLine(const HostThread& thread, const LaunchedWorks& launched, OpTable* ops);

}  // namespace jarvis::trace::xplane
