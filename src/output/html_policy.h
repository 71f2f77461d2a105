// The content security policy of our pages.
#pragma once

#include <string>
#include <string_view>

namespace jarvis::output {

// What a page may load and run: this style and this script, nothing else and nothing from
// elsewhere.
std::string PagePolicy(std::string_view style, std::string_view script);

}  // namespace jarvis::output
