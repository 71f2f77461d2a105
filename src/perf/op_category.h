// Which category an operation belongs to: GEMM, SDPA_fwd, CONV_bwd, elementwise, reduce...
#pragma once

#include <string_view>

#include "perf/model_rows.h"

namespace jarvis::perf {

// The category that the rows register for an op; for an op that they do not list, what its name's
// prefix or its first kernel in time tells; else "other". `first_kernel` may be empty. The result
// lives as long as the rows.
std::string_view CategoryOfOp(const ModelRows& rows, std::string_view op,
                              std::string_view first_kernel);

// Ops that answer whether values are as they should be (`aten::allclose`): nothing else computes
// with what they compute.
bool IsValueCheck(std::string_view op);

}  // namespace jarvis::perf
