// Which category an operation belongs to: GEMM, SDPA_fwd, CONV_bwd, elementwise, reduce...
#pragma once

#include <string_view>

namespace jarvis::perf {

// The registered category of an op; for an op that is not registered, what its name's prefix or
// its first kernel in time tells; else "other". `first_kernel` may be empty. The result is static.
std::string_view CategoryOfOp(std::string_view op, std::string_view first_kernel);

}  // namespace jarvis::perf
