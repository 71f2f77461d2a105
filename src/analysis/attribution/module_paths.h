// Where in the model and in the code a host event stands: its chain of callers, folded so that the
// instances of a layer are one place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tree/call_tree.h"

namespace jarvis::analysis {

using trace::EventIndex;

// The argument of ops that holds their Python frames, innermost first, in files of profilers that
// recorded no frames as events.
inline constexpr std::string_view kCallStackArg = "Call stack";

// Whether a frame is a call of a pipeline of transformers or diffusers: a request, with all its
// passes and the work before and behind them.
// "transformers/pipelines/zero_shot_object_detection.py(65): __call__"
bool IsPipelineCall(std::string_view frame);

// "nn.Module: DecoderLayer_3" -> "DecoderLayer"; empty if the name is no module frame's.
std::string_view ModuleClass(std::string_view frame);
// The name with the digits of a module instance, a step or a replay folded: "DecoderLayer[*]",
// "ProfilerStep#*". Other names stay as they are.
std::string FoldedName(std::string_view name);

// All chains of callers in a trace as one tree of folded names: two events have the same chain if
// and only if they have the same node.
//
// Python frames are events around an op, or the op's own text ("Call stack"); the latter only
// around the outermost op. A chain goes from an event outward through its callers. From a backward
// node it goes on with the forward op, so that backward work is found in the module that caused it.
class ChainTree {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;

  struct Frame {
    trace::EventKind kind;
    std::string_view name;  // folded; lives as long as the tree
    bool forward_link;      // the step to this frame went from a backward node to its forward op
  };

  ChainTree(const trace::EventStore& events, const tree::CallTree& tree);

  // The chain of a host event, the event itself included. Chains once found are remembered.
  Node Of(EventIndex event);
  std::size_t MemoryBytes() const { return known_.size() * sizeof(Node) + entries_.size() * 96; }
  // Its frames, the event first.
  std::vector<Frame> Frames(Node node) const;

 private:
  struct Entry {
    Node parent;
    StringId name;
    trace::EventKind kind;
    bool forward_link;
  };
  static constexpr Node kUnknown = 0xFFFFFFFFu;
  Node Child(Node parent, StringId name, trace::EventKind kind, bool forward_link);
  StringId Fold(StringId name);
  // Below the Python frames that the op itself names: profilers before 1.9 wrote them into its
  // arguments.
  Node OfStack(Node node, EventIndex op);

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  StringPool names_;
  std::unordered_map<StringId, StringId> folded_;
  std::vector<Node> known_;  // by place in the tree's preorder; kUnknown: not asked for yet
  std::unordered_map<std::uint64_t, std::vector<Node>> children_;
  std::vector<Entry> entries_;
};

// The nn.Module part of a chain, outermost first: "GPT2 / DecoderLayer[*] / MLP", with "
// (backward)" if the event is part of the backward pass. Empty if there is none.
std::string ModulePath(const std::vector<ChainTree::Frame>& frames);

}  // namespace jarvis::analysis
