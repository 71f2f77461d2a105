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
// It is a range, as the program works in such stretches too, and as records cost time elsewhere:
// they push the program's data out of the host's caches. What it is was measured on eight
// host-bound workloads with and without the profiler (PyTorch 2.11, CUDA 13, H200, a slow virtual
// host; shapes recorded, two of them with Python frames). The usual stretches (median) beside the
// edges of ops and frames alone, times 2.3, give 0.6 to 1.4 of it, each workload left out of the
// fit in turn. Those at calls hardly add: with a tenth of them it is 2.1 times the others, a split
// that rests on one workload which launches from a library's loop. So the cost is that, at most 1.8
// times that, and at least half of it, or half of the 5th percentile of the stretches where that is
// less. No event is charged with more than any of these recorders cost: where stretches are longer,
// the program works in them. None costs more than its stretch lasts.
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
