// Recorded shapes and types as values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::findings {

using Shape = std::vector<std::int64_t>;

// One entry per argument: [[4, 8], [], [2]] as raw JSON; arguments without a shape are empty. Lists
// of tensors ([[[4], [4]], ...]) are entries of their own, in order.
std::vector<Shape> ParseShapes(std::string_view raw);
// ["c10::BFloat16", "", "Scalar"]: the texts.
std::vector<std::string> ParseTypes(std::string_view raw);

// Whether a tensor lies in memory without gaps, whatever the order of its axes. Unknown strides:
// taken as dense.
bool IsDense(const Shape& shape, const Shape& strides);

double Elements(const Shape& shape);  // 1 for a shape without axes

// "bf16", "fp32", "fp8", "int64"...; an unknown name as it is.
std::string ShortType(std::string_view type);
// Of one element; 0: not known.
double TypeBytes(std::string_view short_type);

// "141x512x30522 bf16", M x K x N: of an op that is one GEMM of matrices, by its name and the text
// of its arguments; a bias is no factor. Empty: another op, or other sizes.
std::string ProductSizes(std::string_view op, std::string_view args);

// "(4096,4096) bf16<br>(4096,11008) bf16": scalars left out; a tensor without axes is "()".
std::string ArgsText(std::string_view raw_shapes, std::string_view raw_types);

}  // namespace jarvis::findings
