// Call stacks of the report: the frames from the outermost caller down to a kernel, several
// kernels' stacks as one, the place in the code where an op enters it, and the modules around it.
//
// Pure functions on lists of names, so that any tree can be asked.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::analysis {

using trace::EventIndex;

inline constexpr std::string_view kNotFound = "Not found";

// The name with every "_<digits>" removed: "nn.Module: Linear_3" -> "nn.Module: Linear".
std::string WithoutNumbers(std::string_view name);

// Which nodes on the way down a tree stand on a call stack: cpu_ops, and names that hold
// "nn.Module", "::" or "/" (modules, C++ scopes, Python files). They stand there without numbers.
bool StandsOnCallStack(trace::EventKind kind, std::string_view name);

// The caller of an event, or kNoEvent.
using ParentFunction = std::function<EventIndex(EventIndex)>;

// From the outermost caller down to an op, itself included: the nodes that stand on call stacks.
std::vector<std::string> FramesDownTo(const trace::EventStore& events, EventIndex op,
                                      const ParentFunction& parent);

// The stack of an op with its kernels.
struct CallStack {
  std::vector<std::string> frames;              // common to all, outermost first
  std::vector<std::vector<std::string>> tails;  // where kernels part; empty for one kernel

  // "['a', 'b', ['c', 'kernel'], ['kernel2']]"; "Not found" without any frame. Of a list of more
  // frames than `frames_max` both ends, and between them how many are left out.
  std::string Text(std::size_t frames_max) const;
  std::vector<std::string> Flat() const;  // the frames, then every tail
};

// What lies below an op: the frames strictly between it and a kernel, top-down, and the kernel's
// name as recorded.
struct KernelStack {
  std::vector<std::string> below;
  std::string_view kernel;
};

// The nodes between an op and a kernel that it or something below it launched.
KernelStack StackBelow(const trace::EventStore& events, EventIndex op, EventIndex kernel,
                       const ParentFunction& parent);

// `op`: the frames down to the op, itself included; empty for rows that own no stack. With one
// kernel the stack is flat, as with several of one name and place; with others, their longest
// common beginning is followed by each distinct rest, in order of first sight. No kernels: no
// stack.
CallStack JoinCallStacks(std::span<const std::string> op, std::span<const KernelStack> kernels);

// Where the code enters an op: searched inward from the op for a Python function of the op's name,
// then outward for the nearest Python frame that is no wrapper of a framework.
struct EntryPoint {
  enum class Direction { kNone, kInward, kOutward };
  std::string frame;  // kNotFound if there is none
  Direction direction = Direction::kNone;
  int wrappers = -1;  // frames between the op and the entry point; -1: none found
};
// `flat`: a call stack, flattened; the op is looked for from its end.
EntryPoint FindEntryPoint(std::span<const std::string> flat, std::string_view op);
// A frame that only passes a call on: parts of torch's and triton's own dispatch, built-ins.
bool IsWrapperFrame(std::string_view frame);

// The modules around an event: the name that it is shown by, then each caller's that holds
// "nn.Module", innermost first, instance numbers kept.
std::vector<std::string> ModuleStack(const trace::EventStore& events, EventIndex e,
                                     std::string_view name, const ParentFunction& parent);
// The innermost module of such a stack without its number, or "NA".
std::string ParentModule(std::span<const std::string> module_stack);

// "['a', 'b']"
std::string ListText(std::span<const std::string> names);

}  // namespace jarvis::analysis
