// What an XPlane profile says beside its events: its devices, and what it lacks.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/import/xplane/device_lines.h"
#include "trace/import/xplane/signs.h"
#include "trace/import/xplane/space.h"
#include "trace/metadata.h"

namespace jarvis::trace::xplane {

inline constexpr std::string_view kRecorder = "xplane (XLA)";

// What was found on the way, for what is said about the recording.
struct Found {
  std::uint64_t work = 0, linked = 0;        // pieces of work; those with a launch
  std::uint64_t drawn = 0, drawn_alone = 0;  // ops around launches; ops without any
  std::uint64_t unresolved = 0;              // ops that no program has
  std::uint64_t totals = 0, allocations = 0;
  std::uint64_t drawn_lines = 0;  // events of lines that converters draw
  bool host = false, ops = false, programs = false, step_marks = false, python = false;
  bool tpu = false;
  Signs signs;
  Recording::Runs runs;
  std::set<std::string> ran_on;  // devices with work of that program
};

// The members that a trace's metadata is read from.
std::vector<TopLevelValue> ValuesOf(const Space& space, const std::vector<DevicePlane>& devices,
                                    const Found& found);

}  // namespace jarvis::trace::xplane
