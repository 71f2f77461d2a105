// Two small traces compared, for tests of both modes.
#pragma once

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/align/tables.h"
#include "support/trace_builder.h"

namespace jarvis::testing {

// "lca: k1 k2 | k3; ...": each group's GPU work of either trace.
inline std::string Groups(const analysis::TraceDiff& diff) {
  std::string text;
  for (const analysis::DiffGroup& group : diff.groups) {
    text += text.empty() ? "" : "; ";
    text += diff.LcaName(group) + ":";
    for (const int side : {0, 1}) {
      for (const trace::EventIndex e : group.gpu[side])
        text += " " + std::string(diff.sides[side].events->name(e));
      text += side == 0 ? " |" : "";
    }
  }
  return text;
}

inline void Align(analysis::TraceDiff* diff) {
  Job job;
  REQUIRE(analysis::AlignTraces(diff, job).has_value());
}

}  // namespace jarvis::testing
