// The names of Tensile's matrix products: rocBLAS (Tensile) and hipBLASLt (tensilelite).
//
//   [Custom_]C<indices>_A<indices>_B<indices>_<types>_<flags>_MT<m>x<n>x<depth>_MI..._<parameters>
//
// Pieces are parted by "_"; a piece of digits alone belongs to the list value before it (WG32_8_1).
// m, n and transposition are those of column-major BLAS: a row-major product X W has its sides
// exchanged, so that m is its N.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::perf {

struct TensileParameter {
  std::string key;                  // "PGR"
  std::vector<std::string> values;  // as written: "2", "n1" is -1, "0p5" is 0.5; may be empty
};

struct TensileName {
  bool hipblaslt = false;  // tensilelite's dialect, else rocBLAS's
  bool custom = false;     // a hand-written kernel
  std::optional<bool> transpose_a;
  std::optional<bool> transpose_b;
  std::string types;  // short, "BBS"; "S" where input, output and arithmetic are the same
  std::string in_a;   // "bf16", "fp8"...; empty: a letter that is not known
  std::string in_b;
  std::string out;
  std::string compute;
  std::vector<std::string> flags;  // as written, between the types and the tile: "BH", "Bias"...
  std::array<std::int64_t, 3> tile{};  // macro tile m, n and depth of the K loop
  // The matrix instruction: m, n, k, blocks. hipBLASLt leaves k out: it follows from type and
  // architecture, and is absent where that leaves a choice.
  std::optional<std::int64_t> mi_m, mi_n, mi_k, mi_blocks;
  std::vector<TensileParameter> parameters;  // after the tile, in order

  // The first value of a parameter as a whole number; absent: not there, or no number.
  std::optional<std::int64_t> Number(std::string_view key) const;
  const TensileParameter* Find(std::string_view key) const;

  std::optional<std::int64_t> threads() const;  // of a work-group: the product of WG
  std::int64_t wave_size() const { return Number("WS").value_or(64); }
  // Parts of K that work-groups add up. Absent: an argument of the launch.
  std::optional<std::int64_t> split() const;
  // Work-groups take pieces of a stream of tiles: their number does not follow from the sizes.
  bool stream_k() const { return Number("SK").value_or(0) > 0; }
  std::string label() const;  // "TN BBS MT256x192x64 MI16x16 SK0"
};

// Absent: no such name, or one without a macro tile.
std::optional<TensileName> ParseTensileName(std::string_view kernel);

// Floating-point operations of one matrix instruction of one wave, 2 m n k blocks.
std::optional<double> FlopPerMfma(const TensileName& name);

}  // namespace jarvis::perf
