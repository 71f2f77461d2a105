// The rows of one trace that are held against those of another, and which goes with which.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/job.h"
#include "findings/two/own_work.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

struct CompareGroup {
  std::string shape;
  double us = 0;
  double communication_us = 0;  // of it in collectives
  double kernels = 0;           // GPU events
  double calls = 0;
  std::vector<std::uint32_t> launchers;

  void Add(const CompareGroup& other);
};
// By name and the arguments' signature; the latter is empty but for ops.
using CompareGroups = std::map<std::pair<std::string, std::string>, CompareGroup>;
CompareGroups GroupsOf(const session::LoadedTrace& trace, const OwnWork& own, analysis::GroupBy by);

struct CompareMatch {
  std::string name;
  std::string shape;
  bool arguments_differ = false;  // matched by name alone, or kernels of different names together
  std::optional<CompareGroup> primary;
  std::optional<CompareGroup> comparison;
};

struct CompareInput {
  const session::LoadedTrace& trace;
  const OwnWork& own;  // what of it counts
};

// Every group of both is in exactly one match. In this order:
//   the same name and arguments
//   kernels: the same short name; what differs is the compiler's or the device's
//   ops: the same name, with other arguments, if both have such calls
//   ops: another name for the same role: one category and FLOPs per call that agree within 2 % (the
//   convolutions of two vendors, two attention backends); named "a ~ b"
//   unlinked kernels of other names: all together
// Exchanging the traces exchanges the sides of each match.
Result<std::vector<CompareMatch>> MatchGroups(const CompareInput& primary,
                                              const CompareInput& comparison, analysis::GroupBy by,
                                              Job& job);

}  // namespace jarvis::findings
