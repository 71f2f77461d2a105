// A part of the merged tree for reading: both traces side by side, equal siblings as one line, the
// lines that matter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/align/diff.h"

namespace jarvis::analysis {

struct DiffLine {
  int depth = 0;
  std::string name;   // "a | b" if the traces call it differently; modules without numbers
  bool more = false;  // what was left out below the line above: `count` nodes
  bool present[2] = {false, false};
  std::uint64_t count = 1;  // equal siblings, or calls, that this line is about
  double us[2] = {0, 0};    // durations of the GPU work below, added up
};

// Which nodes of the merged tree something is, and what is below them. Built once for a diff, which
// must outlive it.
class DiffView {
 public:
  explicit DiffView(const TraceDiff& diff);

  // The nodes of events of one side; an event that was passed over is seen in its caller.
  std::vector<std::uint32_t> NodesOf(int side, std::span<const EventIndex> events) const;
  // The topmost nodes that either trace calls so: an op's name, a module's class, a frame.
  std::vector<std::uint32_t> NodesNamed(std::string_view name) const;

  // From these nodes down, seen as one: at most `lines_max` lines, opened where the traces differ
  // most. Plain Python frames are passed over. The parts of a line always add up to it.
  std::vector<DiffLine> Lines(const std::vector<std::uint32_t>& nodes, std::size_t lines_max) const;

  // Durations of the GPU work below a node, in microseconds.
  double Us(std::uint32_t node, int side) const;

 private:
  friend class LinePicker;
  std::vector<std::uint32_t> Shown(const std::vector<std::uint32_t>& parents) const;
  std::string NameOf(std::uint32_t node) const;

  const TraceDiff& diff_;
  std::vector<std::uint32_t> merged_of_[2];  // by node of a side's tree; kNoMerged: passed over
  std::vector<double> us_before_[2];         // by node, and one more: durations of leaves before it
};

// "trace 2 takes 1.5 ms longer", "equal", "in trace 1 only": `unit` after numbers as they are.
std::string DifferenceInWords(double first, double second, bool in_first, bool in_second,
                              std::string_view unit);

}  // namespace jarvis::analysis
