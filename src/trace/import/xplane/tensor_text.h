// The inputs of an op as TensorFlow's executor writes them: "(half[4,384,1024];float[])".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace jarvis::trace::xplane {

// As args of an op have them: JSON lists with one entry an input.
struct TensorInputs {
  std::string dims, types;
};
// Absent: the text is something else, or names no input. An input that is not known (a resource)
// has no dimensions and no type.
std::optional<TensorInputs> ReadTensorInputs(std::string_view text);

}  // namespace jarvis::trace::xplane
