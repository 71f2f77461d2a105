// Values for arguments that an old profiler did not record. They make a call of the right size,
// not the call of the workload, and the entry says so.
#pragma once

#include "replay/op_schema.h"
#include "replay/profiled_call.h"

namespace jarvis::replay {

// For a number, a flag or a list of them; null where there is nothing sensible.
Json AssumedValue(const OpSchema& schema, const SchemaArg& arg, const ProfiledCall& call);

// The element type of a tensor whose type was not recorded.
std::string AssumedType(const SchemaArg& arg);

}  // namespace jarvis::replay
