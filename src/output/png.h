// Our SVG as PNG, by librsvg. The library is loaded when the first picture is asked for: linked, it
// would make every start of the program three times as long (some 9 ms more, fonts and all).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace jarvis::output {

inline constexpr double kPngPixelsMax = 64e6;

// The bytes of a PNG file. `scale`: pixels per user unit of the SVG; 2 is sharp on dense screens.
// kIo: librsvg is not on this machine, the message names its package; kTooLarge: over
// kPngPixelsMax; kBadValue: not an SVG document of a natural size. From any thread.
Result<std::string> RenderPng(std::string_view svg, double scale);

}  // namespace jarvis::output
