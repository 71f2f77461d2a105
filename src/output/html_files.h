// The style sheet and the script of our pages, as the build put them into the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/embedded_file.h"

namespace jarvis::output {

std::span<const EmbeddedFile> PageFiles();  // page_style.css, page_script.js

// What a page may load and run: this style and this script, nothing else and nothing from
// elsewhere.
std::string PagePolicy(std::string_view style, std::string_view script);

}  // namespace jarvis::output
