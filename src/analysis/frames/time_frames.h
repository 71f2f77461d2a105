// Whose time it is: the step that the user waits for, and what in it the GPU did, what it did for
// others, and when nothing was recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jarvis::analysis {

// How the steps of a trace were found; best evidence first.
enum class StepSource : std::uint8_t { kNone, kMarks, kAnnotation, kModule, kKernelPeriod };
std::string_view StepSourceText(StepSource source);

}  // namespace jarvis::analysis
