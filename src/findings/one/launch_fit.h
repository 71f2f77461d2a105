// How far compiling or capturing the launches of a step goes: whether each step launches the same
// again, and whether one op launches them that no compiler looks into.
#pragma once

#include <string>

#include "analysis/host/host_summary.h"
#include "session/loaded_trace.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

struct LaunchFit {
  // Sizes differ from step to step: an op with two of its sizes, "`aten::mm`: (300,64) and
  // (282,64)". Empty: they are the same, or not recorded, or there is one step.
  std::string sizes;
  // A few sizes differ in each step, as keys do that grow token by token.
  bool grows = false;
  // The op whose single calls launch most of what is launched: a library's function, such as a
  // recurrent network of cuDNN. Empty: none.
  std::string library_op;
};

// Of the launches of kernels in all steps or passes, one by one. A pass over the launches.
LaunchFit LaunchFitOf(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                      const session::TraceFrames& frames);

}  // namespace jarvis::findings
