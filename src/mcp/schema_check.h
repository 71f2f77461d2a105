// A schema about schemas, small enough to be code.
#pragma once

#include "base/result.h"
#include "json/json.h"

namespace jarvis::mcp {

// Is this a schema of the subset that schema.h describes?
Status CheckSchema(const Json& schema);

}  // namespace jarvis::mcp
