// Shapes and arguments of ops, and how the profiler writes them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace make_trace {

inline constexpr std::string_view kBf16 = "c10::BFloat16";
inline constexpr std::string_view kFloat = "float";
inline constexpr std::string_view kLong = "long int";
inline constexpr std::string_view kBool = "bool";

struct Tensor {
  std::array<std::int64_t, 4> dim{};
  std::array<std::int64_t, 4> stride{};
  int rank = 0;
  std::string_view dtype = kBf16;

  std::int64_t elements() const;
  double bytes() const;
  // The last two dimensions exchanged, without copying.
  Tensor Transposed() const;
  Tensor As(std::string_view type) const;
};

// Contiguous.
Tensor Shape(std::initializer_list<std::int64_t> dims, std::string_view dtype = kBf16);

// "[4, 2048]"
std::string DimsText(const Tensor& tensor);

// A scalar argument, a list of numbers, a list of tensors or nothing.
struct Scalar {
  std::string_view text;
};
struct List {
  std::string text;
};
struct None {};

class Arg {
 public:
  // Implicit: an op's arguments are written as a braced list.
  Arg(const Tensor& tensor) : kind_(Kind::kTensor), tensor_(tensor) {}
  Arg(std::span<const Tensor> tensors) : kind_(Kind::kTensors), tensors_(tensors) {}
  Arg(Scalar scalar) : kind_(Kind::kScalar), text_(scalar.text) {}
  Arg(List list) : kind_(Kind::kList), text_(std::move(list.text)) {}
  Arg(None) {}

  void AppendValue(std::string& out) const;
  void AppendType(std::string& out) const;
  void AppendDims(std::string& out, bool strides) const;

 private:
  enum class Kind { kNothing, kTensor, kTensors, kScalar, kList };

  Kind kind_ = Kind::kNothing;
  Tensor tensor_;
  std::span<const Tensor> tensors_;
  std::string text_;
};

// "Concrete Inputs": ..., "Input type": ..., "Input Strides": ..., "Input Dims": ...
void AppendInputs(std::string& out, std::span<const Arg> args);

}  // namespace make_trace
