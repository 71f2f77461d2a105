// The configuration as the reference's generator writes it, byte for byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rocprof/job/yaml.h"

namespace jarvis::rocprof {

inline constexpr std::string_view kCuCounters[] = {"SQ_BUSY_CU_CYCLES", "SQ_WAVES",
                                                   "SQ_WAVE_CYCLES", "SQ_INSTS_MFMA"};

// The characters that mean something in a regular expression behind backslashes.
std::string EscapeRegex(std::string_view text);

// Fills yaml, kernel_list, regex and patterns. REQUIRES: passes are there. The reference drops what
// makes template instances differ, so that all of them match one pattern; that is said in warnings.
void WriteShort(const std::vector<std::string>& names, const std::string& source,
                const std::string& range, const std::vector<std::string>& formats, YamlFile* file);

}  // namespace jarvis::rocprof
