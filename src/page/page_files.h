// The names of our pages, and what they show and do in the browser, as the build put it into the
// program.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/embedded_file.h"

namespace jarvis::page {

// Of an analysis, a comparison of two traces, the ranks of a job; relative to the output directory.
inline constexpr std::string_view kPageFile = "report.html";
inline constexpr std::string_view kPairPageFile = "comparison.html";
inline constexpr std::string_view kRanksPageFile = "ranks.html";

std::span<const EmbeddedFile> BrowserFiles();  // browser/*.css, browser/*.js

// Those of these names, one after the other.
std::string BrowserText(std::initializer_list<std::string_view> names);

}  // namespace jarvis::page
