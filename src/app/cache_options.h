// Where the program keeps traces that it has read, by the user's environment:
//
//   JARVIS_CACHE        a directory, or "off"; default: jarvis in the user's cache directory
//   JARVIS_CACHE_LIMIT  bytes of all that is kept, such as 20G; default 8G
#pragma once

#include <string_view>

#include "session/trace_cache.h"

namespace jarvis::app {

// `given`: a value in place of that of JARVIS_CACHE; empty: none. A folder that cannot be used is
// told on stderr, and nothing is kept.
session::TraceCacheOptions CacheOptions(std::string_view given = {});

// For every command that follows in this process: nothing is kept, nothing that was kept is used.
void TurnCacheOff();

}  // namespace jarvis::app
