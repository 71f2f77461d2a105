// What titles and sentences call the operations that a finding is about.
#pragma once

#include <string>
#include <string_view>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// Whether its subject is a set of kernels, not one of the operations that they belong to.
bool IsOfKernels(const findings::Finding& finding);
// Whether it is about several operations, of which its subject is the largest.
bool IsOfSeveral(const findings::Finding& finding);

// "(8,4) bf16 x (4,2) bf16", of a GEMM "8x4x2 bf16".
std::string SizesText(std::string_view op, std::string_view args);
// What tells its subject from others of its name so; empty: not known, or too long.
std::string SubjectSizes(const findings::Finding& finding);
// "`aten::mm` 8x4x2 bf16"; of several "4 shapes of `aten::mm`", "14 shapes of `aten::copy_` and
// other ops", "3 kernels such as `topk_kernel`". `sizes`: whether one tells its sizes.
std::string SubjectsText(const findings::Analysis& analysis, const findings::Finding& finding,
                         bool sizes);
// The same in a sentence, which has room to name them: "`aten::mm` and `aten::add` (4 shapes in
// all)", "3 kernels, the largest `topk_kernel`,".
std::string SubjectsInProse(const findings::Analysis& analysis, const findings::Finding& finding,
                            bool sizes);

// The text with the device's own word for its compute units: "SMs" on NVIDIA.
std::string InDeviceWords(const findings::Analysis& analysis, std::string text);

}  // namespace jarvis::documents
