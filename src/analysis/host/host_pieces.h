// Silent stretches of host threads: time inside (or between) calls in which nothing else begins or
// ends, and what is usual for calls of that name. Where a call is slow for once, its stretch says
// how long, whatever it contains.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tree/call_tree.h"

namespace jarvis::analysis {

struct SilentPiece {
  // The innermost host event around it; kNoEvent: between the outermost events of its thread.
  trace::EventIndex owner = trace::kNoEvent;
  std::uint32_t track = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t ns() const { return end_ns - begin_ns; }
};

// Of all calls of a name.
struct UsualCall {
  std::uint64_t count = 0;
  double self_ns = 0;  // median of the time outside of recorded children
};

struct HostPieces {
  std::vector<SilentPiece> pieces;  // by thread as in the tree, then by begin
  std::unordered_map<StringId, UsualCall> usual;

  UsualCall UsualOf(StringId name) const {
    const auto found = usual.find(name);
    return found == usual.end() ? UsualCall() : found->second;
  }
};

// Pieces of at least `min_ns`. Pure; n log n in host events.
HostPieces FindHostPieces(const trace::EventStore& events, const tree::CallTree& tree,
                          std::int64_t min_ns);

}  // namespace jarvis::analysis
