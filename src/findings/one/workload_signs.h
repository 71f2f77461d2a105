// Names by which frameworks and parallel wrappers are known; internal to the layer.
#pragma once

#include <cstdint>
#include <string_view>

namespace jarvis::findings {

enum class Source : std::uint8_t { kFrame, kOp, kAnnotation, kKernel };

// What shows that a framework is at work. The first row of a framework that is found counts.
struct Sign {
  std::string_view framework;
  Source source;
  std::string_view lower_part;
};
inline constexpr Sign kSigns[] = {
    {"SGLang", Source::kFrame, "sglang/"},
    {"SGLang", Source::kOp, "sglang"},
    {"SGLang", Source::kAnnotation, "step[decode"},
    {"SGLang", Source::kAnnotation, "step[extend"},
    {"vLLM", Source::kFrame, "vllm/"},
    {"vLLM", Source::kOp, "vllm::"},
    {"vLLM", Source::kOp, "_c_cache_ops::"},
    {"vLLM", Source::kKernel, "vllm::"},
    {"LightLLM", Source::kFrame, "lightllm/"},
    {"LightLLM", Source::kKernel, "_fwd_kernel_copy_kv_index_to_req"},
    {"TGI", Source::kFrame, "text_generation_server/"},
    {"TensorRT-LLM", Source::kFrame, "tensorrt_llm/"},
    {"TensorRT-LLM kernels", Source::kKernel, "tensorrt_llm::"},
    {"FlashInfer", Source::kFrame, "flashinfer/"},
    {"FlashInfer", Source::kOp, "flashinfer"},
    {"FlashInfer", Source::kKernel, "flashinfer::"},
    {"DeepGEMM", Source::kKernel, "deep_gemm::"},
    {"DeepEP", Source::kFrame, "deep_ep/"},
    {"DeepEP", Source::kKernel, "deep_ep::"},
    {"aiter", Source::kOp, "aiter::"},
    {"aiter", Source::kKernel, "aiter"},
    {"xDiT", Source::kFrame, "xfuser/"},
    {"diffusers", Source::kFrame, "diffusers/"},
    {"transformers", Source::kFrame, "transformers/models/"},
    {"transformers", Source::kFrame, "transformers/pipelines/"},
    {"timm", Source::kFrame, "timm/models/"},
    {"torchvision", Source::kFrame, "torchvision/models/"},
    {"Megatron", Source::kFrame, "megatron/"},
    {"Megatron", Source::kOp, "_reducefrommodelparallelregion"},
    {"Megatron", Source::kOp, "linearwithgradaccumulationandasynccommunication"},
    {"DeepSpeed", Source::kFrame, "deepspeed/"},
    {"Transformer Engine", Source::kFrame, "transformer_engine/"},
    {"Transformer Engine", Source::kKernel, "transformer_engine::"},
    {"TorchRec", Source::kAnnotation, "all2all_data:"},
    {"TorchRec", Source::kFrame, "torchrec/"},
    {"FBGEMM", Source::kOp, "fbgemm"},
    {"FBGEMM", Source::kKernel, "split_embedding"},
    {"torchao", Source::kFrame, "torchao/"},
    {"torchao", Source::kKernel, "torchao"},
    {"Lightning", Source::kFrame, "lightning/"},
    {"FSDP", Source::kFrame, "torch/distributed/fsdp/"},
    {"FSDP", Source::kAnnotation, "fsdp::"},
    {"FSDP", Source::kAnnotation, "fullyshardeddataparallel"},
    {"DDP", Source::kAnnotation, "distributeddataparallel"},
    {"DDP", Source::kOp, "torch::distributed::reducer"},
    {"Apex", Source::kOp, "fusedlayernormaffinefunction"},
    {"Apex", Source::kKernel, "adamfunctor"},
};

}  // namespace jarvis::findings
