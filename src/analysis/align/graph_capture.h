// Replays of GPU graphs held against recordings of their capture: which recorded launch each kernel
// of a replay comes from.
//
// While a graph is captured the host runs as it always does, and its launches are recorded with
// their ops, shapes and callers; a replay is one call, and its kernels come in the same order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

// One capture: what ran between the calls that begin and end it.
struct CapturedGraph {
  std::vector<trace::EventIndex> events;    // its launches and all that is around them, by place
  std::vector<trace::EventIndex> modules;   // those that it is a piece of, the outermost first
  std::vector<trace::EventIndex> launches;  // of kernels, copies, memsets, by start
  std::vector<std::string> kernels;  // by launch; empty: not recorded, as is usual outside of HIP
  std::int64_t begin_ns = 0, end_ns = 0;
  std::optional<std::int64_t> batch;  // rows that it was captured for
  bool batch_told = false;            // by an annotation, not by the shapes of its ops
};
// By start. Captures that launch nothing are left out.
std::vector<CapturedGraph> FindCapturedGraphs(const trace::EventStore& events,
                                              const tree::CallTree& tree);

struct ReplayedGraph {
  trace::EventIndex launch = trace::kNoEvent;
  std::vector<trace::EventIndex> gpu;  // its GPU work, by start
  // The engine step around the launch; kNoEvent: none was recorded. It may be of another thread.
  trace::EventIndex iteration = trace::kNoEvent;
  std::optional<std::int64_t> batch;  // rows of that step
};
std::vector<ReplayedGraph> FindReplayedGraphs(const trace::EventStore& events,
                                              const tree::CallTree& tree);

// By GPU event of the replay: the place of its launch in the capture. Empty: they do not agree.
// On one stream position by position where the names are those of the capture, else name by name
// where each occurs equally often; of a capture that launches more (by at most a tenth), what the
// replay runs, in order.
// On several streams each stream's kernels in the order of their launches. Where the capture does
// not name its kernels, by number, kind and order, on one stream alone.
std::vector<std::uint32_t> AlignReplay(const trace::EventStore& replay_events,
                                       const ReplayedGraph& replay,
                                       const trace::EventStore& capture_events,
                                       const CapturedGraph& capture);

}  // namespace jarvis::analysis
