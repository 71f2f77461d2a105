// The catalogue's files, as the build put them into the program.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace jarvis::levers {

std::span<const EmbeddedFile> FixFiles();     // catalogue/*.json
std::span<const EmbeddedFile> ActionFiles();  // actions/*.json

}  // namespace jarvis::levers
