#include "trace/framework_signs.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace jarvis::trace {
namespace {

// The first row that any name holds counts: frameworks that call others' kernels stand before them.
struct FrameworkSign {
  std::string_view framework;
  std::string_view part;  // of a name
};
constexpr FrameworkSign kFrameworkSigns[] = {
    {"PyTorch", "at::native"},
    {"PyTorch", "at_cuda_detail"},
    {"PyTorch", "aten::"},
    {"PyTorch", "c10::"},
    {"PyTorch", "c10d::"},
    {"PyTorch", "torch::"},
    {"PyTorch", "pytorch_"},
    {"PyTorch", "triton_poi_"},
    {"PyTorch", "triton_red_"},
    {"PyTorch", "triton_per_"},
    {"PyTorch", "triton_tem_"},
    {"PyTorch", "autograd::"},
    {"PyTorch", "ProfilerStep#"},
    {"PyTorch", "Optimizer.step#"},
    {"PyTorch", "Optimizer.zero_grad#"},
    {"PyTorch", "DistributedDataParallel."},
    {"PyTorch", "FullyShardedDataParallel."},
    {"PyTorch", "vllm::"},
    {"PyTorch", "sglang"},
    {"PyTorch", "fbgemm"},
    {"TensorFlow", "tensorflow::"},
    {"TensorFlow", "gradient_tape/"},
    {"JAX", "hlo_module=jit_"},
    {"JAX", "PjitFunction("},
    {"XLA", "hlo_module="},
    {"XLA", "XlaModule:"},
    {"XLA", "xla::"},
    {"ggml", "ggml_"},
    {"ONNX Runtime", "onnxruntime::"},
    {"PaddlePaddle", "phi::funcs::"},
    {"PaddlePaddle", "paddle::"},
    {"MXNet", "mxnet::"},
    {"CuPy", "cupy_"},
    {"TensorRT", "nvinfer1::"},
    {"TensorRT", "tensorrt_llm::"},
    {"TensorRT", "ExecutionContext::enqueue"},
};
constexpr std::size_t kNoSign = std::size(kFrameworkSigns);

std::size_t SignIn(std::string_view name) {
  const auto* sign = std::ranges::find_if(kFrameworkSigns, [&](const FrameworkSign& one) {
    return name.find(one.part) != std::string_view::npos;
  });
  return static_cast<std::size_t>(sign - std::begin(kFrameworkSigns));
}

}  // namespace

std::string_view FrameworkOf(const EventStore& events) {
  std::vector<bool> seen(events.strings.size());
  std::size_t first = kNoSign;
  for (EventIndex e = 0; e < events.size() && first > 0; ++e) {
    const StringId name = events[e].name;
    if (name == kNoString || seen[name]) continue;
    seen[name] = true;
    first = std::min(first, SignIn(events.strings[name]));
  }
  return first == kNoSign ? std::string_view() : kFrameworkSigns[first].framework;
}

}  // namespace jarvis::trace
