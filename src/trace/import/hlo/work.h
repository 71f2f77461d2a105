// The work of an instruction that its shapes tell: FLOPs and bytes of fusions, products,
// convolutions.
//
// FLOPs of a fusion: one an element for each arithmetic instruction in it, of reductions one an
// element that goes in; so transcendental functions count as one. Bytes: every operand once, of one
// that is only sliced the slices, and the output. Products: 2 M N K for each of B.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/import/hlo/module.h"

namespace jarvis::hlo {

struct Product {
  double b = 1, m = 1, n = 1, k = 1;
  std::string_view type_a, type_b, type_out;
  bool bias = false;
};
// Of a dot, a library's product, or a fusion that holds one dot. Absent: it is none, or its
// dimensions are not known.
std::optional<Product> ProductOf(const Module& module, const Instruction& instruction);

// The dot in what an instruction calls; null: there is none.
const Instruction* FindInside(const Module& module, const Instruction& instruction,
                              std::string_view opcode);

// Absent: not known.
std::optional<double> FusedFlops(const Module& module, const Instruction& fusion);
std::optional<double> MovedBytes(const Module& module, const Instruction& instruction);

// 2 x elements of the output x elements of the filter / its output features. `direction`: which of
// the three tensors the call writes: its output, its input's gradient, its filter's.
enum class ConvolutionPart : std::uint8_t { kForward, kInputGradient, kFilterGradient };
std::optional<double> ConvolutionFlops(const Module& module, const Instruction& call,
                                       ConvolutionPart part);

}  // namespace jarvis::hlo
