// What recording single events cost, as far as the times between them show it.
//
// A profiler's work lies outside of what it times: an op's time begins when its record is opened
// and ends before it is closed. So the price of an op is in the stretches beside its edges, and two
// edges with nothing but the inside of the framework between them are the purest ones: the begin of
// an op in an op (opening a record, with shapes copied), and its end (closing one). Calls are
// recorded around the driver's own code, which also writes the instructions that time the GPU's
// work: their price is on both sides and inside, and a call's inside is never charged with more
// than what a launch takes. All of it is read from the trace, as it grows with how slow the
// host is and how much of each event is recorded.
//
// It is a range, as the program works in such stretches too. By the usual ones, each stretch is the
// profiler's as far as the median of its kind goes: that is too much by the program's own work in
// it, and too little by what records cost elsewhere, as they push the program's data out of the
// host's caches. By the shortest, it is half of the 5th percentile of what lies beside an edge, and
// nothing of what lies in a call, as a driver needs as long for the shortest of them. On eight
// host-bound workloads that were measured with and without the profiler (PyTorch 2.11, CUDA 13,
// H200, a slow virtual host) the cost was 0.7 to 1.25 of what the usual stretches say on six, 0.4
// on one that launches tens of thousands of kernels from a library's loop, and 1.5 on one with
// Python frames: the upper end is 1.25 of it, of no stretch more than it lasts, and 0.85 are
// expected. No event is charged with more than recorders were ever measured to cost (an op 4 us, a
// frame 2, a call 12): where stretches are longer, the program works in them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/host/host_cost.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

// The price of the recorded events of a kind; of one: the mean.
struct EventCost {
  std::uint64_t events = 0;
  std::uint64_t samples = 0;  // stretches that the price was read from
  double low_us = 0;
  double high_us = 0;
  double low_ms() const { return low_us * static_cast<double>(events) / 1000; }
  double high_ms() const { return high_us * static_cast<double>(events) / 1000; }
};

struct EventPrices {
  // Absent: not recorded, or too few to tell.
  std::optional<EventCost> python;
  std::optional<EventCost> ops;
  std::optional<EventCost> runtime;
  // Where it was paid, thread by thread; what lies between two runtime calls is one or more.
  std::vector<HostCost> stretches;
};

// Pure. Linear in events.
EventPrices PriceEvents(const trace::EventStore& events, const tree::CallTree& tree);

}  // namespace jarvis::analysis
