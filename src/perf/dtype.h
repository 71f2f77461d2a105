// Dtypes by the names that PyTorch and serving libraries record: "float", "c10::Half", "long int",
// "fp8". Case does not matter.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace jarvis::perf {

struct Dtype {
  enum Kind { kBool, kInteger, kFloat, kComplex };
  std::string_view name;  // in lower case
  int bytes = 0;          // an element; 0: its size is not known
  // Absent: it counts as no kind of its own ("scalar").
  std::optional<Kind> kind;
  std::string_view precision;  // "fp16"; empty: no unit computes in it
};

// Null: no dtype that is known.
const Dtype* FindDtype(std::string_view name);

// One argument of an operator.
struct PromotedArgument {
  // Tensors with dimensions decide; tensors of none count only with a higher kind, Python's numbers
  // likewise and with their default dtype.
  enum Rank { kTensor, kZeroDimensional, kNumber };
  std::string_view dtype;
  Rank rank = kTensor;
};
// PyTorch's type promotion: the dtype of an operator's result; empty: there is none, or an
// argument's dtype is not known. Source: torch.result_type, c10/core/ScalarType.h promoteTypes.
std::string_view Promote(std::span<const PromotedArgument> arguments);

}  // namespace jarvis::perf
