// Which schema a recorded call is of, and the values of its arguments by that schema.
#pragma once

#include <string>
#include <vector>

#include "replay/op_schema.h"
#include "replay/profiled_call.h"

namespace jarvis::replay {

struct MatchedArg {
  const SchemaArg* schema = nullptr;
  Json value;  // null, bool, number, list, text, tensor or list of tensors
};

struct Match {
  std::vector<MatchedArg> args;       // in the schema's order
  std::vector<std::string> warnings;  // what had to be assumed
};

struct MatchHints {
  // Of the elements of tensor lists, whose types the profiler does not record.
  std::string list_type = "float";
  bool list_type_known = false;
};

// kBadValue: the call is not of this schema; the message says which argument does not fit. The
// schema must outlive the match.
Result<Match> MatchCall(const OpSchema& schema, const ProfiledCall& call, const MatchHints& hints);

}  // namespace jarvis::replay
