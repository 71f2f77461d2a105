// What a sweep can turn: environment variables by vendor, their usual values, the directory of a
// value. Data: knobs.json has ours, an axis of the user names any other variable.
//
// Threads: const after the first use.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace jarvis::launch {

enum class Vendor { kAmd, kNvidia };
Result<Vendor> VendorOf(std::string_view name);  // "amd", "nvidia"

// An axis as the user names it; what is empty is taken from the knob of that name or variable.
struct AxisRequest {
  std::string name;  // of a knob, or any
  std::vector<std::string> env;
  std::vector<std::string> values;
  std::string directory;  // pattern with "{value}"
};

// An axis with everything known.
struct Axis {
  std::string name;
  std::vector<std::string> env;  // variables that get the value; at least one
  std::vector<std::string> values;
  std::string directory;
  std::string note;  // what to know about it; may be empty
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// "NAME=VALUE,VALUE"; values are cut at "|" where there is one, else at commas. A name without
// values has those of its knob.
Result<AxisRequest> ParseAxis(std::string_view text);

// kBadValue: a name that is neither a knob nor a variable, bad values, a pattern without {value}.
Result<Axis> ResolveAxis(const AxisRequest& request, Vendor vendor);

// Set for every run, whatever the axes.
const Environment& CommonEnvironment(Vendor vendor);

std::vector<std::string> KnobNames();

// A name that a shell and execve take for a variable.
bool IsVariableName(std::string_view name);

}  // namespace jarvis::launch
