// What kernels are for in a recording without ops, by their names alone. A direction is told only
// where the name tells it.
#pragma once

#include <string_view>

namespace jarvis::findings {

inline constexpr std::string_view kConvForward = "conv forward";
inline constexpr std::string_view kConvBackwardData = "conv backward data";
inline constexpr std::string_view kConvBackwardWeights = "conv backward weights";
inline constexpr std::string_view kBatchNormForward = "batch norm forward";
inline constexpr std::string_view kBatchNormBackward = "batch norm backward";
inline constexpr std::string_view kLayoutTransposes = "layout transposes";

// Between NCHW and NHWC, as convolutions ask for it.
bool IsLayoutKernel(std::string_view kernel);

// PyTorch's own kernel that adds two tensors.
bool IsSumOfTensors(std::string_view kernel);

// The category of a kernel that its name tells of; empty: its part in a model must.
std::string_view CategoryByName(std::string_view kernel);
// A category of models without the direction that nothing proves: "CONV_fwd" is "convolution".
std::string_view WithoutDirection(std::string_view category);

}  // namespace jarvis::findings
