// Names of the annotations that inference servers put around one engine step (vLLM, SGLang, ATOM,
// diffusion), and of graph captures.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace jarvis::perf {

// Over the requests of a step: q = tokens computed in it, k = tokens attended to. c: context
// (prefill), g: generation (decode).
struct IterationSums {
  std::string_view format;  // vllm_detailed, vllm_native, sglang_detailed...
  std::int64_t context_requests = 0;
  std::int64_t generation_requests = 0;
  std::int64_t c_sq = 0, c_sk = 0, c_sqsq = 0, c_sqsk = 0;
  std::int64_t g_sq = 0, g_sk = 0, g_sqsq = 0, g_sqsk = 0;
  std::int64_t context_sum = 0;
  std::int64_t generation_sum = 0;
  std::int64_t batch_size = 0;
  bool has_products = false;  // the q*q and q*k sums are given

  std::array<std::pair<const char*, std::int64_t>, 10> Fields() const {
    return {{{"c_sq", c_sq},
             {"c_sk", c_sk},
             {"c_sqsq", c_sqsq},
             {"c_sqsk", c_sqsk},
             {"g_sq", g_sq},
             {"g_sk", g_sk},
             {"g_sqsq", g_sqsq},
             {"g_sqsk", g_sqsk},
             {"c_requests", context_requests},
             {"g_requests", generation_requests}}};
  }
};

// Absent: another name.
std::optional<IterationSums> ParseIteration(std::string_view name);
// Also names that only begin as vLLM's do and end in other sums: requests and computed tokens are
// known of them, and nothing else. Not of image generation.
std::optional<IterationSums> TellIteration(std::string_view name);
// "prefill", "decode" or "mixed".
std::string_view PhaseOf(const IterationSums& sums);
// The same as ParseIteration, if the name gives the sums of products that attention models need.
std::optional<IterationSums> SumsOf(std::string_view name);

// "capture_<batch>_<mode>" with mode decode, prefill or mixed_prefill.
struct CaptureName {
  std::int64_t batch_size = 0;
  std::string_view mode;
};
std::optional<CaptureName> ParseCapture(std::string_view name);

}  // namespace jarvis::perf
