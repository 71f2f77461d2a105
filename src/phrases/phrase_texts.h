// The texts of phrases, by file and key.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/embedded_file.h"
#include "base/result.h"

namespace jarvis::phrases {

using PhraseTexts =
    std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>>;

// An error names the file, the key and what was expected.
Result<PhraseTexts> ReadPhrases(std::span<const EmbeddedFile> files);
// Ours, read when they are first asked for. Threads: any.
const PhraseTexts& ShippedPhrases();

}  // namespace jarvis::phrases
