// src/perf/platforms.json, as the build put it into the program.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace jarvis::perf {

std::span<const EmbeddedFile> PlatformFiles();

}  // namespace jarvis::perf
