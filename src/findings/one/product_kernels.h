// What the names of product kernels tell.
#pragma once

#include <string_view>

namespace jarvis::findings {

// Which matrix arithmetic a kernel's name tells. "sgemm" is fp32; "s1688" with fp32 operands TF32.
bool IsFp32ProductKernel(std::string_view kernel);
// align1 or align2, or of an architecture below 80 where the trace has newer ones.
bool IsUnalignedKernel(std::string_view kernel, int newest_architecture);
// The compute capability in a kernel's name ("cutlass_75", "sm90_xmma": 75, 90); 0: none.
int ArchitectureOf(std::string_view kernel);

}  // namespace jarvis::findings
