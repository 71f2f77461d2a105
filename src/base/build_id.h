// Which build of the program this is.
#pragma once

#include <string>

namespace jarvis {

// The id that the linker gave the running program, in hex digits: another one for every build that
// differs. Empty where it has none.
std::string BuildId();

}  // namespace jarvis
