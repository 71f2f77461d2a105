#include "analysis/frames/launch_sequence.h"

#include <algorithm>

namespace jarvis::analysis {
namespace {

// Between a launch and its op lie a few frames; a bound for traces that nest without end.
constexpr int kMostFrames = 256;

// The kernel, and the op with its shapes that launched it, as one number.
std::uint64_t KeyOf(const FrameFacts& facts, const LaunchedWork& work) {
  EventIndex op = work.launch;
  int left = kMostFrames;
  while (op != trace::kNoEvent && facts.events[op].kind != trace::EventKind::kCpuOp)
    op = left-- > 0 ? facts.tree.parent(op) : trace::kNoEvent;
  const StringId kernel = facts.events[work.event].name;
  const StringId name = op == trace::kNoEvent ? kNoString : facts.events[op].name;
  const StringId dims = op == trace::kNoEvent ? kNoString : facts.events.args_of(op).dims;
  std::uint64_t key = kernel;
  for (const StringId part : {name, dims})
    key = (key ^ (key >> 29)) * 0x9E3779B97F4A7C15ULL + part;
  return key;
}

}  // namespace

LaunchSequence LaunchesIn(const FrameFacts& facts, TimeSpan span) {
  LaunchSequence out;
  const auto [first, past] = facts.LaunchedIn(span);
  for (std::size_t i = first; i < past; ++i) {
    out.items.push_back({KeyOf(facts, facts.launched[i]), facts.launched[i].launch_ns});
    out.work.push_back(facts.launched[i]);
  }
  return out;
}

}  // namespace jarvis::analysis
