// The arguments of one recorded call, as the profiler wrote them, checked: whatever is here is
// typed data of bounded depth that may go into a package.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "trace/event_store.h"

namespace jarvis::replay {

struct ProfiledArg {
  Json dims;         // a list of sizes; of a tensor list a list of such lists; [] for anything else
  std::string type;  // "c10::BFloat16", "Scalar", "TensorList"...; empty: not recorded or None
  Json strides;      // as dims; null: not recorded
  std::string text;  // "True", "[1, 1]"; empty: a tensor, None or not recorded
};

struct ProfiledCall {
  std::vector<ProfiledArg> args;
  bool types_recorded = false;
  bool strides_recorded = false;
  bool values_recorded = false;  // "Concrete Inputs"
};

// kNoShapes: the trace has no Input Dims for the call. kBadValue: the lists are damaged.
Result<ProfiledCall> ReadProfiledCall(const trace::EventStore& events, const trace::Args& args);

// "c10::Half", "long int"...: a type that the profiler writes for a tensor.
bool IsTensorType(std::string_view type);
// Bytes of one element; 0: unknown type.
int ElementBytes(std::string_view type);

}  // namespace jarvis::replay
