// What the names of GEMM kernels tell: the operands' transposition and the tile.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jarvis::perf {

// Flags as the BLAS library sees them, that is for the swapped operands of a row-major product.
struct GemmKernelName {
  std::optional<bool> transpose_a;
  std::optional<bool> transpose_b;
  std::optional<std::int64_t> tile_m;
  std::optional<std::int64_t> tile_n;
  std::optional<std::int64_t> depth;
  bool malformed = false;  // an nvjet name whose last part is too short to tell
};

// Tensile (ROCm) names: C???_A???_B??? index triplets, tile MT<m>x<n>x<depth>. nvjet (NVIDIA)
// names: the first two letters of the last part. Absent: another kind of name.
std::optional<GemmKernelName> ParseGemmKernelName(std::string_view name);

}  // namespace jarvis::perf
