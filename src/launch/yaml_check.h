// What is likely to go wrong with a YAML file for rocprofv3, by a look at its lines: it is checked
// before a sweep of hours runs with it, not parsed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jarvis::launch {

// A sentence for each doubt; empty: none.
std::vector<std::string> DoubtsAboutRocprofYaml(std::string_view text);

}  // namespace jarvis::launch
