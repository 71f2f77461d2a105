// Text files of the sweep runner, as the build put them into the program.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace jarvis::launch {

std::span<const EmbeddedFile> KnobFiles();    // knobs.json
std::span<const EmbeddedFile> ScriptFiles();  // run_script.sh

}  // namespace jarvis::launch
