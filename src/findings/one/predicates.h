// What a fix of a line (levers::LineRule) may ask of a trace and of a kernel, by name: one table
// of each. A fix that asks for a name which is not there never holds; a test refuses it.
//
// Errors: none. Threads: any; pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "findings/one/work_context.h"
#include "perf/platform.h"

namespace jarvis::findings {

struct TraceFacts {
  const WorkContext& context;
  const perf::Platform* platform = nullptr;  // null: none known
  int architecture =
      0;  // NVIDIA's, by the device or the newest that kernels' names tell: 90; 0: unknown
};

struct KernelFacts {
  bool replayed = false;          // launched by a graph's replay
  bool rated = false;             // how far it is from what the device can do is known
  bool beside_attention = false;  // these three: see KernelRoles
  bool of_convolution = false;    // or it is one
  bool adds_gradient = false;
  bool generated = false;   // a compiler wrote it, which may have put other ops into it
  bool few_blocks = false;  // fewer than the GPU has compute units, for long
};

// Whether all hold; "!" before a name: whether it does not. False where one is not known.
bool AllHold(const std::vector<std::string>& names, const TraceFacts& facts);
bool AllHold(const std::vector<std::string>& names, const KernelFacts& facts);

// For tests and the page of rules.
std::vector<std::string_view> TracePredicates();
std::vector<std::string_view> KernelPredicates();

}  // namespace jarvis::findings
