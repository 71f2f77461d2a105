// Where the program keeps traces that it has read, by the user's environment:
//
//   JARVIS_CACHE        a directory, or "off"; default: jarvis in the user's cache directory
//   JARVIS_CACHE_LIMIT  bytes of all that is kept, such as 20G; default 8G
#pragma once

#include <string>
#include <string_view>

#include "session/trace_cache.h"

namespace jarvis::app {

session::TraceCacheOptions CacheOptions();

// The folder that a value of JARVIS_CACHE or --cache means; empty: none.
std::string CacheFolderOf(std::string_view value);

// For every command that follows in this process: nothing is kept, nothing that was kept is used.
void TurnCacheOff();

}  // namespace jarvis::app
