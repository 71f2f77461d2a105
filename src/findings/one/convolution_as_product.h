// A transposed convolution whose stride equals its kernel size as one GEMM and a pixel shuffle.
#pragma once

#include <optional>

#include "findings/one/calls.h"
#include "findings/one/operation.h"

namespace jarvis::findings {

// The GEMM computes what the convolution does; its output goes through memory once where its
// kernel stores the pixels in their places, and three times where a shuffle copies them. Fp32
// operands are multiplied by fp32 units unless TF32 is allowed for GEMMs, too (PyTorch allows it
// for convolutions alone). Absent: another stride, groups, or sizes that were not recorded.
std::optional<Target> AsProductAndShuffle(const Calls& calls, const Operation& convolution);

}  // namespace jarvis::findings
