#include "findings/one/kernel_categories.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "base/text.h"

namespace jarvis::findings {
namespace {

bool NamesAny(std::string_view kernel, std::initializer_list<std::string_view> lower_parts) {
  return std::any_of(lower_parts.begin(), lower_parts.end(),
                     [&](std::string_view part) { return ContainsNoCase(kernel, part); });
}

bool NamesConvolution(std::string_view kernel) {
  return NamesAny(kernel, {"igemm_", "implicit_gemm", "implicitgemm", "convolve", "conv2d",
                           "conv3d", "convolution", "winograd", "fprop", "dgrad", "wgrad"});
}

std::string_view ConvolutionCategory(std::string_view kernel) {
  if (NamesAny(kernel, {"wrw", "wgrad", "bwd_weight", "bwdweight", "backward_filter"}))
    return kConvBackwardWeights;
  if (NamesAny(kernel, {"igemm_bwd", "dgrad", "bwd_data", "bwddata", "backward_data"}))
    return kConvBackwardData;
  if (NamesAny(kernel, {"igemm_fwd", "fprop", "convfwd", "conv_fwd", "_forward"}))
    return kConvForward;
  return "convolution";
}

std::string_view BatchNormCategory(std::string_view kernel) {
  if (NamesAny(kernel, {"backward", "bwd", "_bw_"})) return kBatchNormBackward;
  if (NamesAny(kernel, {"collect_statistics", "transform_input", "fwd", "forward", "_fw_"}))
    return kBatchNormForward;
  return "batch norm";
}

}  // namespace

bool IsLayoutKernel(std::string_view kernel) {
  return NamesAny(kernel,
                  {"batched_transpose", "nchwtonhwc", "nhwctonchw", "nchw2nhwc", "nhwc2nchw"});
}

bool IsSumOfTensors(std::string_view kernel) {
  constexpr std::string_view kParts[] = {"CUDAFunctor_add<", "AddFunctor<", "add_kernel_cuda"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return kernel.find(part) != kernel.npos; });
}

std::string_view CategoryByName(std::string_view kernel) {
  if (IsLayoutKernel(kernel)) return kLayoutTransposes;
  // MIOpen's own, around weight gradients.
  if (NamesAny(kernel, {"subtensorop"})) return "fills and casts";
  if (NamesAny(kernel, {"batch_norm", "batchnorm"})) return BatchNormCategory(kernel);
  if (NamesConvolution(kernel)) return ConvolutionCategory(kernel);
  if (NamesAny(kernel, {"max_pool", "avg_pool", "maxpool", "avgpool"})) return "pooling";
  if (NamesAny(kernel, {"elementwise"})) return "elementwise";
  if (NamesAny(kernel, {"multi_tensor_apply"})) return "multi_tensor_apply";
  if (NamesAny(kernel, {"reduce_kernel"})) return "reduce";
  return {};
}

std::string_view WithoutDirection(std::string_view category) {
  if (category == "CONV_fwd") return "convolution";
  return category == "NORM_fwd" ? "norm" : category;
}

}  // namespace jarvis::findings
