// Names as the alignment of two traces compares them: without what differs from run to run.
#pragma once

#include <string>
#include <string_view>

namespace jarvis::analysis {

// "0x1f" -> "0xXXXX", ".py(12):" -> ".py:"; the two module launch calls become one.
std::string DiffName(std::string_view name);

// Also without a trailing ": word", and of a Python file without its directory: how a frame is
// found again when the code was moved. "/src/train.py(128): forward" -> "train.py".
std::string StrippedDiffName(std::string_view name);

// What the default compares: also without the numbers of module instances and steps, and kernels
// however their recorder spells them.
std::string FoldedDiffName(std::string_view name);

}  // namespace jarvis::analysis
