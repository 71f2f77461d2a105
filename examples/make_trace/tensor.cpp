#include "tensor.h"

#include <utility>

#include "text.h"

namespace make_trace {
namespace {

void AppendNumbers(std::string& out, const Tensor& tensor,
                   const std::array<std::int64_t, 4>& numbers) {
  out += '[';
  for (int i = 0; i < tensor.rank; ++i) {
    if (i > 0) out += ", ";
    AppendInt(out, numbers[static_cast<std::size_t>(i)]);
  }
  out += ']';
}

}  // namespace

std::int64_t Tensor::elements() const {
  std::int64_t product = 1;
  for (int i = 0; i < rank; ++i)
    product *= dim[static_cast<std::size_t>(i)];
  return product;
}

double Tensor::bytes() const {
  const int size = dtype == kBf16 ? 2 : dtype == kFloat ? 4 : dtype == kLong ? 8 : 1;
  return static_cast<double>(elements() * size);
}

Tensor Tensor::Transposed() const {
  Tensor result = *this;
  const auto last = static_cast<std::size_t>(rank - 1);
  std::swap(result.dim[last], result.dim[last - 1]);
  std::swap(result.stride[last], result.stride[last - 1]);
  return result;
}

Tensor Tensor::As(std::string_view type) const {
  Tensor result = *this;
  result.dtype = type;
  return result;
}

Tensor Shape(std::initializer_list<std::int64_t> dims, std::string_view dtype) {
  Tensor result;
  result.dtype = dtype;
  for (const std::int64_t size : dims)
    result.dim[static_cast<std::size_t>(result.rank++)] = size;
  std::int64_t step = 1;
  for (int i = result.rank - 1; i >= 0; --i) {
    result.stride[static_cast<std::size_t>(i)] = step;
    step *= result.dim[static_cast<std::size_t>(i)];
  }
  return result;
}

std::string DimsText(const Tensor& tensor) {
  std::string out;
  AppendNumbers(out, tensor, tensor.dim);
  return out;
}

void Arg::AppendValue(std::string& out) const {
  AppendQuoted(out, text_);
}

void Arg::AppendType(std::string& out) const {
  switch (kind_) {
    case Kind::kNothing: out += "\"\""; return;
    case Kind::kTensor: AppendQuoted(out, tensor_.dtype); return;
    case Kind::kTensors: out += "\"TensorList\""; return;
    case Kind::kScalar: out += "\"Scalar\""; return;
    case Kind::kList: out += "\"ScalarList\""; return;
  }
}

void Arg::AppendDims(std::string& out, bool strides) const {
  if (kind_ == Kind::kTensor) {
    AppendNumbers(out, tensor_, strides ? tensor_.stride : tensor_.dim);
    return;
  }
  out += '[';
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (i > 0) out += ", ";
    AppendNumbers(out, tensors_[i], strides ? tensors_[i].stride : tensors_[i].dim);
  }
  out += ']';
}

void AppendInputs(std::string& out, std::span<const Arg> args) {
  const auto append = [&](std::string_view key, const auto& one) {
    out += key;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (i > 0) out += ", ";
      one(args[i]);
    }
  };
  append("\"Concrete Inputs\": [", [&](const Arg& arg) { arg.AppendValue(out); });
  append("], \"Input type\": [", [&](const Arg& arg) { arg.AppendType(out); });
  append("], \"Input Strides\": [", [&](const Arg& arg) { arg.AppendDims(out, true); });
  append("], \"Input Dims\": [", [&](const Arg& arg) { arg.AppendDims(out, false); });
  out += ']';
}

}  // namespace make_trace
