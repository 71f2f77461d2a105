// Sizes of a model from the recorded shapes of its operations. Absent is what they do not tell.
// Internal to the layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "findings/one/workload_facts.h"

namespace jarvis::findings {

// An attention with its sizes, fused into one op or made of two batched products and a softmax.
struct AttentionSizes {
  std::optional<std::int64_t> batch;  // absent: requests of different lengths in one
  std::int64_t queries = 0, keys = 0;
  std::int64_t heads = 0, kv_heads = 0, head = 0;  // heads 0: not known
  std::uint64_t calls = 0;
  double gpu_us = 0;
  bool fused = true;
  std::optional<bool> causal;
  std::string op;

  // A few prompt tokens that attend to a whole image.
  bool IsOfPrompts() const { return queries > 0 && queries <= 16 && keys >= 64 * queries; }
};

// Of a pyramid of stages, whose heads are of one size and twice as many in each stage.
struct AttentionStages {
  std::int64_t heads_least = 0, heads_most = 0;
  std::int64_t queries_least = 0, queries_most = 0;
};
// Those that an attention is one of; absent: it is one of none.
std::optional<AttentionStages> StagesOf(std::span<const AttentionSizes> attentions,
                                        const AttentionSizes& main);
// "2 to 16", or the one number that both are.
std::string FromTo(std::int64_t least, std::int64_t most);

struct GemmSizes {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::uint64_t calls = 0;
  double gpu_us = 0;
};

// The first convolution of a vision model.
struct ImageSizes {
  std::int64_t images = 0, frames = 0;  // frames 0: no video; else images are videos
  std::int64_t height = 0, width = 0;
  std::int64_t patch = 0;     // 0: the convolution does not cut patches
  std::int64_t channels = 0;  // that it makes
};

struct WorkloadSizes {
  std::vector<AttentionSizes> attentions;  // the longest first
  std::vector<GemmSizes> gemms;            // without those of attention, the longest first
  std::optional<std::size_t> main;         // of attentions: the model's own
  std::optional<std::int64_t> hidden;
  std::optional<std::int64_t> ffn;         // width between the two products of an MLP
  std::optional<std::int64_t> tokens;      // rows of the products of the longest time
  std::optional<std::int64_t> vocabulary;  // columns of the last product, on this rank
  std::string vocabulary_evidence;
  std::optional<std::int64_t> experts, local_experts, top_k;
  bool has_experts = false;
  bool rows_are_no_batch = false;  // but nodes, time steps or places
  std::uint64_t model_calls = 0;   // of a model that no module is of; 0: not known
  std::optional<ImageSizes> image;
  std::optional<std::pair<std::int64_t, std::int64_t>>
      made;  // height, width of images that are made

  // Null: there is none.
  const AttentionSizes* Attention() const { return main ? &attentions[*main] : nullptr; }
};

WorkloadSizes FindWorkloadSizes(const WorkloadFacts& facts);

}  // namespace jarvis::findings
