// Which platform a tool's numbers are held against: the one that the caller names, a file of the
// caller's, or the device that the trace was recorded on.
#pragma once

#include <optional>
#include <string>

#include "perf/platform.h"
#include "session/workspace.h"

namespace jarvis::tools {

struct PlatformChoice {
  std::optional<perf::Platform> platform;
  std::string note;  // where it comes from, or why there is none and how to give one
};

// `wanted`: a name such as "MI300X" or the path of a JSON file; empty: the device of `trace`,
// which may be null. An unknown name, or a file that is bad or that `files` does not allow, is an
// error; an unknown device is not.
Result<PlatformChoice> ChoosePlatform(const io::FilePolicy& files, const std::string& wanted,
                                      const session::LoadedTrace* trace);

}  // namespace jarvis::tools
