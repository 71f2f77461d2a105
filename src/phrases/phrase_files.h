// The files of phrases, as the build put them into the program.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace jarvis::phrases {

std::span<const EmbeddedFile> PhraseFiles();  // texts/*.json

}  // namespace jarvis::phrases
