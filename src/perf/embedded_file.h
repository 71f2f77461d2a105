// The platform table and the models' text files, as the build put them into the program.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace jarvis::perf {

std::span<const EmbeddedFile> PlatformFiles();      // platforms.json
std::span<const EmbeddedFile> ModelFiles();         // models/*.json
std::span<const EmbeddedFile> LuaFiles();           // plan.lua, prelude.lua
std::span<const EmbeddedFile> OperatorNameFiles();  // operator_names.txt

}  // namespace jarvis::perf
