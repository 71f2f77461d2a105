// What a report's page shows and does in the browser, as the build put it into the program.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace jarvis::page {

std::span<const EmbeddedFile> BrowserFiles();  // browser/*.css, browser/*.js

}  // namespace jarvis::page
