// Pseudo-ops: operations that a trace does not name but that its kernels and frames give away, such
// as the two matrix products inside a fused mixture-of-experts op. A performance model can then
// judge each part by itself.
//
// Nothing in the trace or its tree is changed: a list says which pseudo-ops there are and where
// they would stand, and whoever walks the tree asks it on the way.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/attribution/call_stack.h"
#include "trace/event_store.h"

namespace jarvis::analysis {

struct PseudoOp {
  enum class Place : std::uint8_t {
    // Between an op and one of its launches: the last child of the op `at`, with the launch below
    // it. The launch's own parent stays the op, so that launchers are the ops that were recorded.
    kBelowOp,
    // The only child of the frame `at`, around all that the frame has below it.
    kAroundChildren,
    // Between the frame `at` and its caller.
    kAbove,
  };
  std::string name;
  Place place = Place::kBelowOp;
  EventIndex at = trace::kNoEvent;
  EventIndex donor = trace::kNoEvent;   // the event whose recorded arguments it shows
  EventIndex launch = trace::kNoEvent;  // of kBelowOp: the call that moves below it
  std::vector<EventIndex> kernels;      // the GPU work below it, in order of the launches
  std::uint32_t uid = 0;                // after all elements of traceEvents, counting up
  // Further args, as raw JSON: {"MoE topk", "4"}.
  std::vector<std::pair<std::string, std::string>> more;

  bool HasTimes() const { return place != Place::kBelowOp; }  // those of `at`
  std::string_view More(std::string_view key) const;          // empty: it has none
};

// A tree as the rules walk it.
struct PseudoTree {
  const trace::EventStore& events;
  std::vector<EventIndex> hosts;                         // by start
  std::vector<std::pair<EventIndex, EventIndex>> links;  // launch call, GPU event
  ParentFunction parent;                                 // of host events
};

struct PseudoOpRules {
  // A trace with certain paged-attention ops gets no pseudo-op of any kind.
  bool none_with_paged_attention = false;
};

class PseudoOps {
 public:
  // In the order of the rules, and by start within one.
  const std::vector<PseudoOp>& ops() const { return ops_; }
  bool empty() const { return renamed_.empty() && ops_.empty(); }
  // The op's name, without the running number that some profilers put behind it.
  std::string_view NameOf(const trace::EventStore& events, EventIndex op) const {
    if (renamed_.empty() && frames_.empty()) return events.name(op);
    return RenamedOf(events, op);
  }
  // The pseudo-op around or in a Python frame, or null. Such a frame's event stands for it where an
  // op is asked for.
  const PseudoOp* AtFrame(EventIndex frame) const;

 private:
  friend PseudoOps FindPseudoOps(const PseudoTree& tree, const PseudoOpRules& rules);
  std::string_view RenamedOf(const trace::EventStore& events, EventIndex op) const;
  std::vector<PseudoOp> ops_;
  std::unordered_map<EventIndex, std::size_t> frames_;
  std::unordered_map<StringId, std::string> renamed_;
};

// The rules, by the names that occur: sglang_profiler ops lose their number; fused experts of vLLM
// (AITER, Triton, GPTQ/AWQ) and AITER (FlyDSL), MLA decode and prefill, DeepSeek-V4 paged decode.
PseudoOps FindPseudoOps(const PseudoTree& tree, const PseudoOpRules& rules);

// The kernel of a fused mixture of experts: "aiter::...fmoe...", no sorting and no quantisation.
bool IsFusedMoeKernel(trace::EventKind kind, std::string_view name);
// A Triton kernel that ends in a gated activation.
bool IsGatedKernel(std::string_view name);

}  // namespace jarvis::analysis
