// Shows a file to the person at the desktop, in whatever program opens its kind.
#pragma once

#include <string>

namespace jarvis::launch {

// By xdg-open, which gets nothing of ours and is not waited for longer than a few seconds. False:
// there is no desktop, or nothing that opens it.
bool OpenFile(const std::string& path);

}  // namespace jarvis::launch
