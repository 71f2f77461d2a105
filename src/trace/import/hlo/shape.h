// Shapes of XLA arrays: from their message, and from the text that HLO writes.
// Messages: xla/xla_data.proto (ShapeProto, LayoutProto, PrimitiveType).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::hlo {

struct Shape {
  std::string_view type;             // "bf16"; "tuple" of several; empty: of a number nobody knows
  std::vector<std::int64_t> dims{};  // elements; >= 0
  std::vector<std::int64_t> layout{};  // dimensions from the fastest on; empty: not known
  std::vector<Shape> parts{};          // of a tuple

  bool is_tuple() const { return type == "tuple"; }
  // The array itself; of a tuple, which a call returns with its scratch memory, the first.
  const Shape& First() const { return is_tuple() && !parts.empty() ? parts.front() : *this; }
};

// ShapeProto. Absent: it cannot be read, or tuples are nested more than 64 deep.
std::optional<Shape> ReadShape(std::string_view message);
// "bf16[4096,8192]{1,0:T(8,128)}" at the begin of the text, which is moved behind it. Absent: no
// array is there; the text stays.
std::optional<Shape> TakeShape(std::string_view* text);

// Bytes of an element; absent: not known, or it has none (token). Types of four bits have half.
std::optional<double> BytesOfType(std::string_view type);
// Absent where a product goes beyond 2^53, or a type is not known. Of tuples: all parts.
std::optional<double> ElementsOf(const std::vector<std::int64_t>& dims);
std::optional<double> BytesOf(const Shape& shape);
// Elements from one to the next in each dimension, by the layout; empty: it is not known.
std::vector<std::int64_t> StridesOf(const Shape& shape);

// "bf16[4096,8192]{1,0}", "(f32[], s8[4]{0})".
std::string TextOf(const Shape& shape);
// "[4096,8192]".
std::string ListText(const std::vector<std::int64_t>& numbers);

}  // namespace jarvis::hlo
