// The style sheet and the script of our pages, as the build put them into the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/embedded_file.h"

namespace jarvis::output {

std::span<const EmbeddedFile> PageFiles();  // page_style.css, page_script.js

}  // namespace jarvis::output
