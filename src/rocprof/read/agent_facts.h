// What rocprofv3 says of an agent's hardware, in JSON of either form.
#pragma once

#include <simdjson.h>

#include "rocprof/read/records.h"

namespace jarvis::rocprof {

// REQUIRES: agent->gpu is known.
void AddHardware(const simdjson::dom::object& one, Agent* agent);

}  // namespace jarvis::rocprof
