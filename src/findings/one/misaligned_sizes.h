// Sizes of a product that rule out the kernels with the widest memory accesses.
#pragma once

#include <string>

namespace jarvis::findings {

// Whether rows of so many elements begin at odd places of an access of `unit` elements. Shorter
// rows than an access have kernels of their own.
bool IsMisaligned(double size, double unit);

struct PaddedSizes {
  std::string sizes;   // "141, 30522"; empty: none is misaligned
  std::string padded;  // "144, 30528"
};

// Of an M x K by K x N product, in elements; 0: not known. `unit`: elements of one access. Rows of
// operands are as long as N and K. How many rows there are aligns nothing, unless an operand is
// transposed: then neither of the two is at fault.
PaddedSizes MisalignedSizes(double m, double n, double k, double unit);

}  // namespace jarvis::findings
