#include "findings/one/library.h"

#include "base/text.h"

namespace jarvis::findings {
namespace {

struct Rule {
  std::string_view part;
  std::string_view library;
};

// In lower case.
constexpr Rule kOps[] = {
    {"aiter::", "AITER"},
    {"rocm_aiter", "AITER"},
    {"fbgemm", "FBGEMM"},
    {"miopen", "MIOpen"},
    {"cudnn", "cuDNN"},
    {"triton", "Triton"},
    {"flashinfer", "FlashInfer"},
    {"flash_attn::", "FlashAttention"},
    {"deep_gemm", "DeepGEMM"},
    {"trtllm", "TensorRT-LLM"},
    {"tensorrt_llm", "TensorRT-LLM"},
    {"xformers", "xFormers"},
};

// As written in kernel names; the first that occurs. Communication first, then the most special.
constexpr Rule kKernels[] = {
    {"rcclGenericKernel", "RCCL"},
    {"rccl", "RCCL"},
    {"ncclDevKernel", "NCCL"},
    {"ncclKernel", "NCCL"},
    {"nccl", "NCCL"},
    {"aiter", "AITER"},
    {"paged_attention_ll4mi", "AITER and vLLM"},
    {"ck_tile::", "CK"},
    {"ck_tile6kentry", "CK"},
    {"FmhaFwd", "CK"},
    {"FmhaBwd", "CK"},
    {"ck::", "CK"},
    {"2ck", "CK"},
    {"Cijk_", "Tensile"},
    {"wvSplitK", "rocBLAS"},
    {"splitKreduce", "rocBLAS"},
    {"rocblas", "rocBLAS"},
    {"rocprim::", "rocPRIM"},
    {"miopen", "MIOpen"},
    {"MIOpen", "MIOpen"},
    {"batched_transpose_", "MIOpen"},
    {"igemm_", "MIOpen"},
    {"naive_conv", "MIOpen"},
    {"nvjet", "cuBLASLt"},
    {"cublasLt", "cuBLASLt"},
    {"flash::", "FlashAttention"},
    {"flash_fwd", "FlashAttention"},
    {"flash_bwd", "FlashAttention"},
    {"attn_fwd", "AOTriton"},
    {"bwd_kernel_dk_dv", "AOTriton"},
    {"fmha_cutlass", "CUTLASS"},
    {"flashinfer", "FlashInfer"},
    {"tensorrt_llm", "TensorRT-LLM"},
    {"deep_gemm", "DeepGEMM"},
    {"cudnn", "cuDNN"},
    {"xmma_gemm", "cuBLAS"},
    {"xmma_", "cuDNN"},
    {"implicit_convolve", "cuDNN"},
    {"cublas", "cuBLAS"},
    {"gemmSN", "cuBLAS"},
    {"gemv2", "cuBLAS"},
    {"gemmk1", "cuBLAS"},
    {"sgemm_", "cuBLAS"},
    {"ampere_", "cuBLAS"},
    {"volta_", "cuBLAS"},
    {"turing_", "cuBLAS"},
    {"sm90_xmma", "cuBLAS"},
    {"sm80_xmma", "cuBLAS"},
    {"cutlass", "CUTLASS"},
    {"cub::", "CUB"},
    {"3cub", "CUB"},
    {"triton_", "Triton"},
    {"vllm::", "vLLM"},
    {"sgl_kernel", "SGLang"},
    {"at::native", "PyTorch Native"},
    {"at6native", "PyTorch Native"},
    {"at_cuda_detail", "CUB"},
};

}  // namespace

std::string_view LibraryOfOp(std::string_view op) {
  for (const Rule& rule : kOps) {
    if (ContainsNoCase(op, rule.part)) return rule.library;
  }
  return {};
}

std::string_view LibraryOfKernel(std::string_view kernel) {
  for (const Rule& rule : kKernels) {
    if (kernel.find(rule.part) != std::string_view::npos) return rule.library;
  }
  return {};
}

}  // namespace jarvis::findings
