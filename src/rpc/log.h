// One line of log on stderr. It never waits: a line that stderr cannot take at once, or that
// comes too fast after others, is dropped and counted in the next one.
//
// Threads: any.
#pragma once

#include <string_view>

namespace jarvis::rpc {

// `text` and `detail` one after the other; control characters are printed as '?'. Takes no memory.
void LogWarning(std::string_view text, std::string_view detail = {}) noexcept;

}  // namespace jarvis::rpc
