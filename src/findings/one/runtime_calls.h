// What runtime and driver calls do, by their names: waiting, allocating, setting up, replaying.
#pragma once

#include <string_view>

namespace jarvis::findings {

// The host waits for the GPU: synchronisations, and copies that return when they are done.
bool IsSyncCall(std::string_view name);
// Memory is taken or given back.
bool IsMemoryCall(std::string_view name);
// Code is loaded or a library set up.
bool IsSetUpCall(std::string_view name);
// A recorded graph is replayed: the calls of its kernels are not in the trace.
bool IsGraphLaunch(std::string_view name);

}  // namespace jarvis::findings
