#include "findings/one/shapes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::findings {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

}  // namespace

std::vector<Shape> ParseShapes(std::string_view raw) {
  std::vector<Shape> shapes;
  int depth = 0;
  bool open = false;  // the innermost list is a shape that is being read
  Shape shape;
  std::size_t i = 0;
  while (i < raw.size()) {
    const char c = raw[i];
    if (c == '[') {
      ++depth;
      open = depth >= 2;
      shape.clear();
      ++i;
    } else if (c == ']') {
      if (open) shapes.push_back(std::move(shape));
      shape.clear();
      open = false;
      --depth;
      ++i;
    } else if (c == ',' || IsSpace(c)) {
      ++i;
    } else {
      std::size_t end = i;
      while (end < raw.size() && raw[end] != ',' && raw[end] != ']' && !IsSpace(raw[end]))
        ++end;
      if (open) {
        if (const auto number = ParseInt(raw.substr(i, end - i))) shape.push_back(*number);
      } else if (depth == 1) {
        shapes.emplace_back();  // null, a number: no tensor
      }
      i = std::max(end, i + 1);
    }
  }
  return shapes;
}

std::vector<std::string> ParseTypes(std::string_view raw) {
  std::vector<std::string> types;
  std::size_t i = 0;
  while ((i = raw.find('"', i)) != std::string_view::npos) {
    const std::size_t end = raw.find('"', i + 1);
    if (end == std::string_view::npos) break;
    types.emplace_back(raw.substr(i + 1, end - i - 1));
    i = end + 1;
  }
  return types;
}

bool IsDense(const Shape& shape, const Shape& strides) {
  if (strides.size() != shape.size()) return true;
  // The largest extent ends where the elements do.
  double extent = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (strides[axis] == 0 && shape[axis] > 1) return false;
    extent += static_cast<double>(shape[axis] - 1) * static_cast<double>(strides[axis]);
  }
  constexpr double kRoom = 1.05;  // rows that are padded
  return extent <= kRoom * Elements(shape);
}

double Elements(const Shape& shape) {
  double n = 1;
  for (const std::int64_t size : shape)
    n *= static_cast<double>(size);
  return n;
}

std::string ShortType(std::string_view type) {
  std::string name = LowerAscii(type);
  if (name.starts_with("c10::")) name.erase(0, 5);
  if (name.starts_with("torch.")) name.erase(0, 6);
  struct Known {
    std::string_view name;
    std::string_view text;
  };
  static constexpr Known kKnown[] = {
      {"bfloat16", "bf16"},       {"half", "fp16"},   {"float16", "fp16"},     {"float", "fp32"},
      {"float32", "fp32"},        {"double", "fp64"}, {"float64", "fp64"},     {"long", "int64"},
      {"long int", "int64"},      {"int64", "int64"}, {"int", "int32"},        {"int32", "int32"},
      {"short", "int16"},         {"char", "int8"},   {"signed char", "int8"}, {"int8", "int8"},
      {"unsigned char", "uint8"}, {"byte", "uint8"},  {"uint8", "uint8"},      {"bool", "bool"},
      {"half8", "fp8"},
  };
  for (const Known& known : kKnown) {
    if (name == known.name) return std::string(known.text);
  }
  if (name.starts_with("float8")) return "fp8";
  if (name.starts_with("float4")) return "fp4";
  return std::string(type);
}

double TypeBytes(std::string_view type) {
  if (type == "fp4") return 0.5;
  if (type == "fp8" || type == "int8" || type == "uint8" || type == "bool") return 1;
  if (type == "bf16" || type == "fp16" || type == "int16") return 2;
  if (type == "fp32" || type == "int32") return 4;
  if (type == "fp64" || type == "int64") return 8;
  return 0;
}

std::string ArgsText(std::string_view raw_shapes, std::string_view raw_types) {
  const std::vector<Shape> shapes = ParseShapes(raw_shapes);
  const std::vector<std::string> types = ParseTypes(raw_types);
  std::string text;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    // With lists of tensors the two do not have one entry per argument.
    const std::string type = shapes.size() == types.size() ? ShortType(types[i]) : std::string();
    const bool tensor = !shapes[i].empty() || TypeBytes(type) > 0;
    if (!tensor || type == "Scalar" || type == "ScalarList") continue;
    text += text.empty() ? "(" : "<br>(";
    for (std::size_t axis = 0; axis < shapes[i].size(); ++axis)
      text += (axis == 0 ? "" : ",") + std::to_string(shapes[i][axis]);
    if (shapes[i].size() == 1) text += ",";
    text += ")";
    if (!type.empty()) text += " " + type;
  }
  return text;
}

std::string ProductSizes(std::string_view op, std::string_view args) {
  const bool bias = op == "aten::addmm";
  if (!bias && op != "aten::mm" && op != "aten::_int_mm") return "";
  constexpr std::string_view kBreak = "<br>";
  std::vector<std::pair<Shape, std::string_view>> operands;
  while (!args.empty()) {
    const std::size_t end = std::min(args.find(kBreak), args.size());
    const std::string_view one = args.substr(0, end);
    args.remove_prefix(std::min(args.size(), end + kBreak.size()));
    const std::size_t close = one.find(')');
    if (!one.starts_with('(') || close == std::string_view::npos) return "";
    std::vector<Shape> shapes = ParseShapes(fmt::format("[[{}]]", one.substr(1, close - 1)));
    if (shapes.size() != 1) return "";
    operands.emplace_back(std::move(shapes[0]), one.substr(close + 1));
  }
  const std::size_t first = bias ? 1 : 0;
  if (operands.size() < first + 2 || operands.size() > first + 3) return "";
  const auto& [a, type] = operands[first];
  const auto& [b, other] = operands[first + 1];
  if (a.size() != 2 || b.size() != 2 || a[1] != b[0] || type != other) return "";
  // Behind them the tensor that the result goes to.
  if (operands.size() > first + 2 && operands.back().first != Shape{a[0], b[1]}) return "";
  return fmt::format("{}x{}x{}{}", a[0], a[1], b[1], type);
}

}  // namespace jarvis::findings
