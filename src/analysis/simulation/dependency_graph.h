// The dependencies of a trace: what could not happen before what, and by how much.
//
// Nodes are begins and ends of calls, other points of threads, starts and ends of GPU work. A
// node's time is the latest of its edges' origins plus their delays, so one pass over the nodes in
// order replays the whole trace. Flat arrays; edges lie by the node that they lead to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/simulation/calibration.h"
#include "analysis/simulation/hidden_waits.h"
#include "analysis/simulation/host_points.h"
#include "analysis/simulation/host_waits.h"
#include "analysis/simulation/launch_queue.h"
#include "analysis/simulation/recorded_work.h"
#include "analysis/simulation/stream_waits.h"

namespace jarvis::analysis {

// Why something could not happen earlier than it did.
enum class EdgeKind : std::uint8_t {
  kStart,        // of the recording: nothing recorded explains it
  kHostSegment,  // the thread was between two calls
  kHostCall,     // in a call
  kLaunch,       // the way from the call to the GPU
  kStream,       // after the work before it on the stream
  kGpuWork,      // it takes this long
  kReturn,       // a call returned after the work that it waited for
  kStreamWait,   // after work of another stream
  kRoom,         // there was no room on the GPU beside other work
  kHandOver,     // another thread had to do something first
  kHiddenWait,   // a wait that no call shows
  kQueueFull,    // the launch queue had no room
  kArrival,      // workers made the batch: no sooner after the one before
};

// Edges that another defensible reading of the trace would not have, or would have.
enum class Assumption : std::uint8_t {
  kNone,             // holds in every reading
  kHiddenWait,       // accepted
  kHiddenCandidate,  // not accepted
  kInferredWait,     // between streams, without a call that shows it
  kHandOver,         // between threads
  kCollectiveEnd,    // other ranks decide when a collective ends: no earlier than it did
  kAnchor,  // the first work of a stream that nothing recorded held up: it starts when it did
};

enum class NodeKind : std::uint8_t { kStart, kHostPoint, kWake, kWorkStart, kWorkEnd };

struct GraphEdge {
  std::uint32_t from;
  std::uint32_t item;  // a call, a work, or kNoPlace, as the kind has it
  EdgeKind kind;
  Assumption assumption;
};

struct DependencyGraph {
  // By node, each after all that it depends on; node 0 is the start of the recording.
  std::vector<double> observed;  // us from there
  std::vector<NodeKind> kinds;
  std::vector<std::uint32_t> items;       // the work; of host points the thread
  std::vector<std::uint32_t> first_edge;  // and one more
  // By edge, by the node that it leads to.
  std::vector<GraphEdge> edges;
  std::vector<double> delays;             // the constants of the trace
  std::vector<std::uint32_t> room_edges;  // those of kind kRoom
  // Places of things.
  std::vector<std::uint32_t> call_begin;  // nodes
  std::vector<std::uint32_t> call_end;
  std::vector<std::uint32_t> work_start;
  std::vector<std::uint32_t> work_end;
  std::vector<std::uint32_t> work_edge;             // a work's own time
  std::vector<std::vector<std::uint32_t>> threads;  // nodes in order of time
  double start = 0;                                 // of node 0, us of RecordedWork
  std::uint32_t dropped_edges = 0;                  // inferred ones that contradicted others

  std::size_t nodes() const { return observed.size(); }
  std::uint32_t EdgesBegin(std::uint32_t node) const { return first_edge[node]; }
  std::uint32_t EdgesEnd(std::uint32_t node) const { return first_edge[node + 1]; }
};

// What is known of the dependencies, from the stages before.
struct Dependencies {
  const RecordedWork& recorded;
  const Calibration& calibration;
  const HostWaits& host_waits;
  const std::vector<StreamWait>& stream_waits;
  const LaunchQueue& queue;
  const HostPoints& points;
  const std::vector<HandOver>& hand_overs;
  const std::vector<HiddenWait>& hidden_waits;
};

DependencyGraph MakeGraph(const Dependencies& dependencies);

}  // namespace jarvis::analysis
