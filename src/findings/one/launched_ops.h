// The ops of a trace that launch GPU work themselves, thread by thread, for rules about what
// follows what; internal to the layer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "findings/one/calls.h"
#include "findings/one/shapes.h"

namespace jarvis::findings {

struct LaunchedOp {
  trace::EventIndex op = trace::kNoEvent;
  std::span<const trace::EventIndex> gpu;  // what it launched itself, by start
};

// Of each thread by start. Wrappers that only call other ops are not among them.
std::vector<std::vector<LaunchedOp>> LaunchedOpsByThread(const Calls& calls);

// What was recorded of an op's arguments; all empty: nothing was.
struct OpArguments {
  std::vector<Shape> shapes;
  std::vector<std::string> types;   // "fp32"; where lists of tensors are, not one per shape
  std::vector<std::string> values;  // "True"; of scalars
};
OpArguments ArgumentsOf(const trace::EventStore& events, trace::EventIndex op);

// Whether the argument holds floats; `otherwise`: the answer where its type is not known.
bool HoldsFloats(const OpArguments& arguments, std::size_t at, bool otherwise);

// Whether an autograd node called the op.
bool IsBackwardOp(const Calls& calls, trace::EventIndex op);

}  // namespace jarvis::findings
