// Which agent of a process a dispatch ran on.
#pragma once

#include <string_view>
#include <vector>

#include "rocprof/read/records.h"

namespace jarvis::rocprof {

// Counts the agents of each kind (Agent::type_index), in node order.
void NumberByType(std::vector<Agent>* agents);

// The place of the agent that a text names, or -1. "Agent 4": by logical id, else by node id; the
// file does not say which, and the ids are equal unless agents are hidden. "GPU 0", "CPU 1": the
// n-th of its kind. "handle 9002": of results.json. A bare number: as after "Agent".
std::int32_t FindAgent(const std::vector<Agent>& agents, std::string_view text);

}  // namespace jarvis::rocprof
