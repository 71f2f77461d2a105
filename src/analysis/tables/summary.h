// Where GPU time went, by op, category, kernel, module, stream or step: the rows that tools show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/module_paths.h"
#include "analysis/attribution/steps.h"
#include "trace/metadata.h"

namespace jarvis::analysis {

enum class GroupBy : std::uint8_t { kOp, kCategory, kKernel, kModule, kStream, kStep };

struct SummaryRow {
  std::string id;    // "op3", "k7": by rank in the whole table, so that equal traces have equal ids
  std::string name;  // full
  std::string category;  // of an op: its first call's; of a kernel: the one with most of its time
  std::string shape;     // of ops: Input Dims of the costliest signature, as a tuple; may be empty
  double gpu_us = 0;     // see Summarize
  std::uint64_t count = 0;
  std::vector<std::uint32_t>
      launchers;                // indices into Attribution::launchers with work in this row
  std::vector<EventIndex> gpu;  // the row's GPU events
};

struct Summary {
  std::vector<SummaryRow> rows;  // the longest first, ties by name; steps and streams in order
  double gpu_us = 0;             // sum of the rows
};

struct SummaryInput {
  const EventStore& events;
  const tree::CallTree& tree;
  const std::vector<trace::TrackNames>& track_names;
  const Attribution& attribution;
  const std::vector<Step>& steps;
  ChainTree* chains = nullptr;  // one to share; null: made where it is needed
};

// The time of a row is, by op, category or module: the sum of its launchers' busy times; by kernel:
// the sum of durations; by stream or step: the busy time of its GPU work. Count is calls by op,
// category and module, else GPU events.
Summary Summarize(const SummaryInput& input, GroupBy by);

std::string_view IdPrefix(GroupBy by);  // "op", "cat", "k", "m", "s", "step"

// A kernel's name for people and models: without return type, namespaces, parameters and most
// template arguments, at most 64 bytes; tile codes and the functor of an elementwise kernel stay.
std::string ShortKernelName(std::string_view name);

}  // namespace jarvis::analysis
