// What the name of a matrix product's kernel tells, whatever library it is of, and what follows
// from it for a product of given sizes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "perf/tensile_name.h"

namespace jarvis::perf {

struct GemmKernel {
  // hipblaslt, tensile (rocBLAS), nvjet, xmma, cublas, cutlass, ck, aiter, triton, other.
  std::string_view family;
  std::optional<bool> transpose_a;  // as BLAS sees the operands; see TensileName
  std::optional<bool> transpose_b;
  std::string in_a, in_b, out, compute;  // empty: the name does not tell
  std::optional<std::int64_t> tile_m, tile_n, tile_k;
  std::optional<std::int64_t> stages;                // of the software pipeline
  std::optional<std::int64_t> cluster_m, cluster_n;  // work-groups that share loads
  std::optional<TensileName> tensile;
  std::string label;  // short, for plots and tables
};

// Absent: no name of a matrix product. A family whose names tell no more has nothing but the
// family.
std::optional<GemmKernel> DecodeGemmKernel(std::string_view kernel);

// By the reference's rule: a Tensile name, or one with gemm, nvjet or cublas in it.
bool IsGemmKernel(std::string_view kernel);

// A row-major product Y(M,N) = A(M,K) B(K,N), batch of them.
struct GemmSizes {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
};

// tile_m lies along N and tile_n along M, since BLAS sees the transposed product. Absent parts: the
// name does not tell; work-groups of stream-K kernels do not follow from the sizes.
//
//   work-groups       = ceil(N / tile_m) ceil(M / tile_n) batch split
//   tile efficiency   = M N / (elements of all tiles)
//   K efficiency      = K / (K rounded up to the tile's depth)
//   rounds            = work-groups / CUs, one work-group a CU at a time
//   round efficiency  = rounds / rounds rounded up
struct GemmLaunch {
  std::optional<std::int64_t> threads;  // of a work-group
  std::optional<std::int64_t> waves;    // of a work-group
  std::optional<std::int64_t> work_groups;
  bool split_assumed = false;  // the split of K is an argument of the launch; taken as 1
  std::optional<double> tile_efficiency;
  std::optional<double> k_efficiency;
  std::optional<double> rounds;
  std::optional<std::int64_t> tail;  // work-groups of the last round, if it is not full
  std::optional<double> round_efficiency;
};
// `sizes`: all positive. `cus` 0: not known.
GemmLaunch LaunchOf(const GemmKernel& kernel, const std::optional<GemmSizes>& sizes,
                    std::int64_t cus);

}  // namespace jarvis::perf
