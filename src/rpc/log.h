// One line of log on stderr. It never waits: a line that stderr cannot take at once, or that
// comes too fast after others, is dropped and counted in the next one.
//
// Threads: any.
#pragma once

#include <string_view>

namespace jarvis::rpc {

// Control characters in the text are printed as '?'.
void LogWarning(std::string_view text);

}  // namespace jarvis::rpc
