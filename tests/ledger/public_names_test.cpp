// Names of GPU work that people published in profiles and sources, with what each does: a line each
// of data/public_names.tsv, kind and name.
//
// From: kernel tables in issues and pull requests of sgl-project/sglang, vllm-project/vllm,
// NVIDIA/TensorRT-LLM, SemiAnalysisAI/InferenceX, ROCm/aiter; nsys, rocprofv3 and XLA summaries in
// public repositories; sources of ggml-org/llama.cpp, bitsandbytes, deepseek-ai/DeepEP,
// fla-org/flash-linear-attention, state-spaces/mamba, ROCm/MIOpen, microsoft/onnxruntime,
// pytorch/FBGEMM, NVIDIA/TransformerEngine, NVlabs/tiny-cuda-nn, pyg-team, PaddlePaddle.
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "ledger/kinds/work_kind.h"

namespace jarvis::ledger {
namespace {

TEST_CASE("names from public profiles have the kinds of what they do") {
  std::ifstream lines(JARVIS_SOURCE_DIR "/tests/ledger/data/public_names.tsv");
  std::string kind;
  std::string name;
  int names = 0;
  while (std::getline(lines, kind, '\t') && std::getline(lines, name)) {
    CAPTURE(name);
    CHECK(WorkKindText(ClassifyKernelName(name).kind) == kind);
    ++names;
  }
  CHECK(names > 400);
}

}  // namespace
}  // namespace jarvis::ledger
