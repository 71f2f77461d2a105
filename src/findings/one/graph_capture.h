// What a GPU graph of a whole step would meet: calls inside it that wait for the GPU, which no
// capture survives, and copies from the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/host/host_summary.h"
#include "analysis/simulation/change.h"
#include "base/interval.h"
#include "findings/one/finding.h"
#include "findings/one/launch_fit.h"
#include "findings/one/time_scope.h"
#include "findings/one/work_context.h"
#include "session/loaded_trace.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

// Clauses that go on after the advice; empty where nothing is known.
struct CaptureText {
  std::string before;     // what has to be done first to capture the step, without an end
  std::string step;       // of the step captured as it is
  bool part = false;      // no steps are known: what is captured is a part of the recording
  std::string model;      // of the model compiled: waits outside of its modules are no obstacle
  double waits = 0;       // a step: calls inside that wait, of modules where these are recorded
  double sizes_made = 0;  // a step: ops inside that make sizes from values
  std::string maker;      // the most frequent of these ops
};

// `sizes`: that differ from step to step, LaunchFit::sizes.
// Looked at is what lies between the first and the last kernel that each step launches; where no
// steps are known, in each of `launching`, of which only obstacles are told then.
CaptureText CaptureWords(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                         const session::TraceFrames& frames, const TimeScope& scope,
                         const IntervalSet<std::int64_t>& launching, const WorkContext& context,
                         const std::string& sizes);

// Tells ways out that are graphs what one of the step would meet, and what has to go first.
// `generates`: token by token.
void SayCapture(const LaunchFit& fit, const CaptureText& text, bool generates,
                std::vector<Remedy>* ways);

// Where values make sizes again and again inside the model (CaptureText::sizes_made), padding its
// inputs fixes none of them: a graph holds the modules without such ops, which places of a
// launch-bound finding are; where these are not recorded, the ops have to go first, and the model
// changes.
void FitToMadeSizes(const CaptureText& text, Finding* finding);

// Launches of each span as a graph: one pass of the simulation each, so that of very many spans it
// is all between the first and the last.
std::vector<analysis::Change> LaunchedAsGraphs(const IntervalSet<std::int64_t>& spans);

}  // namespace jarvis::findings
