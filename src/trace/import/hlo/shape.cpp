#include "trace/import/hlo/shape.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "trace/import/proto/wire.h"

namespace jarvis::hlo {
namespace {

constexpr int kDepthMax = 64;
constexpr double kExactMax = 9007199254740992.0;  // 2^53

struct Type {
  int number;
  std::string_view name;
  double bytes;  // 0: none
};
// PrimitiveType of xla_data.proto.
constexpr Type kTypes[] = {
    {1, "pred", 1},
    {2, "s8", 1},
    {3, "s16", 2},
    {4, "s32", 4},
    {5, "s64", 8},
    {6, "u8", 1},
    {7, "u16", 2},
    {8, "u32", 4},
    {9, "u64", 8},
    {10, "f16", 2},
    {11, "f32", 4},
    {12, "f64", 8},
    {13, "tuple", 0},
    {14, "opaque", 0},
    {15, "c64", 8},
    {16, "bf16", 2},
    {17, "token", 0},
    {18, "c128", 16},
    {19, "f8e5m2", 1},
    {20, "f8e4m3fn", 1},
    {21, "s4", 0.5},
    {22, "u4", 0.5},
    {23, "f8e4m3b11fnuz", 1},
    {24, "f8e5m2fnuz", 1},
    {25, "f8e4m3fnuz", 1},
    {26, "s2", 0.25},
    {27, "u2", 0.25},
    {28, "f8e4m3", 1},
    {29, "f8e3m4", 1},
    {30, "s1", 0.125},
    {31, "u1", 0.125},
    {32, "f4e2m1fn", 0.5},
    {33, "f8e8m0fnu", 1},
};

const Type* TypeOfName(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &Type::name);
  return found == std::end(kTypes) ? nullptr : found;
}

bool ReadLayout(std::string_view message, std::vector<std::int64_t>* layout) {
  proto::Cursor cursor(message);
  proto::Field field;
  while (cursor.Next(&field)) {
    if (field.number == 1 && !proto::AppendIntegers(field, layout)) return false;
  }
  return !cursor.broken();
}

bool ReadInto(std::string_view message, int depth, Shape* shape) {
  if (depth > kDepthMax) return false;
  proto::Cursor cursor(message);
  proto::Field field;
  while (cursor.Next(&field)) {
    if (field.IsVarint(2)) {
      const auto* type = std::ranges::find(kTypes, static_cast<int>(field.value), &Type::number);
      shape->type = type == std::end(kTypes) ? "" : type->name;
    } else if (field.number == 3) {
      if (!proto::AppendIntegers(field, &shape->dims)) return false;
    } else if (field.IsBytes(4)) {
      if (!ReadInto(field.bytes, depth + 1, &shape->parts.emplace_back())) return false;
    } else if (field.IsBytes(5)) {
      if (!ReadLayout(field.bytes, &shape->layout)) return false;
    }
  }
  const auto negative = [](std::int64_t n) { return n < 0; };
  return !cursor.broken() && std::ranges::none_of(shape->dims, negative);
}

// Numbers with commas up to `end`, which is passed over; false: something else is there.
bool TakeNumbers(std::string_view* text, char end, std::vector<std::int64_t>* numbers) {
  const std::size_t close = text->find(end);
  if (close == std::string_view::npos) return false;
  std::string_view list = text->substr(0, close);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    if (one.starts_with("<=")) one.remove_prefix(2);  // at most so many
    const auto number = ParseInt(one);
    if (!number || *number < 0) return false;
    numbers->push_back(*number);
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
  text->remove_prefix(close + 1);
  return true;
}

}  // namespace

std::optional<Shape> ReadShape(std::string_view message) {
  Shape shape;
  if (!ReadInto(message, 0, &shape)) return std::nullopt;
  return shape;
}

std::optional<Shape> TakeShape(std::string_view* text) {
  std::string_view left = *text;
  const std::size_t open = left.find('[');
  if (open == std::string_view::npos) return std::nullopt;
  const Type* type = TypeOfName(left.substr(0, open));
  if (type == nullptr) return std::nullopt;
  Shape shape{.type = type->name};
  left.remove_prefix(open + 1);
  if (!TakeNumbers(&left, ']', &shape.dims)) return std::nullopt;
  if (left.starts_with('{')) {
    const std::size_t close = left.find('}');
    if (close == std::string_view::npos) return std::nullopt;
    // Behind a colon stand tiles and memory spaces.
    std::string layout(left.substr(1, std::min(left.find(':'), close) - 1));
    std::string_view numbers = layout += '}';
    if (!TakeNumbers(&numbers, '}', &shape.layout)) shape.layout.clear();
    left.remove_prefix(close + 1);
  }
  *text = left;
  return shape;
}

std::optional<double> BytesOfType(std::string_view type) {
  const Type* known = TypeOfName(type);
  if (known == nullptr || known->bytes == 0) return std::nullopt;
  return known->bytes;
}

std::optional<double> ElementsOf(const std::vector<std::int64_t>& dims) {
  double elements = 1;
  for (const std::int64_t dim : dims)
    elements *= static_cast<double>(dim);
  if (elements > kExactMax) return std::nullopt;
  return elements;
}

std::optional<double> BytesOf(const Shape& shape) {
  if (shape.is_tuple()) {
    double sum = 0;
    for (const Shape& part : shape.parts) {
      const auto bytes = BytesOf(part);
      if (!bytes) return std::nullopt;
      sum += *bytes;
    }
    return sum;
  }
  const auto elements = ElementsOf(shape.dims);
  const auto size = BytesOfType(shape.type);
  if (!elements || !size) return std::nullopt;
  return *elements * *size;
}

std::vector<std::int64_t> StridesOf(const Shape& shape) {
  const std::size_t rank = shape.dims.size();
  if (shape.layout.size() != rank) return {};
  std::vector<std::int64_t> strides(rank, 0);
  std::int64_t stride = 1;
  for (const std::int64_t at : shape.layout) {
    if (at < 0 || static_cast<std::size_t>(at) >= rank ||
        strides[static_cast<std::size_t>(at)] != 0)
      return {};
    strides[static_cast<std::size_t>(at)] = stride;
    if (__builtin_mul_overflow(
            stride, std::max<std::int64_t>(shape.dims[static_cast<std::size_t>(at)], 1), &stride))
      return {};
  }
  return strides;
}

std::string TextOf(const Shape& shape) {
  if (shape.is_tuple()) {
    std::string text = "(";
    for (const Shape& part : shape.parts) {
      if (text.size() > 1) text += ", ";
      text += TextOf(part);
    }
    return text + ")";
  }
  if (shape.type == "token" || shape.type == "opaque") return fmt::format("{}[]", shape.type);
  std::string text =
      fmt::format("{}[{}]", shape.type.empty() ? "?" : shape.type, fmt::join(shape.dims, ","));
  if (!shape.layout.empty() && !shape.dims.empty())
    text += fmt::format("{{{}}}", fmt::join(shape.layout, ","));
  return text;
}

std::string ListText(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

}  // namespace jarvis::hlo
