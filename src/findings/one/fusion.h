// Kernels that could be one: chains of ops that hand memory traffic on to each other. Candidates
// share no kernel, and their times are true sums over all instances.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/fact.h"
#include "trace/event.h"

namespace jarvis::findings {

enum class FusionKind : std::uint8_t {
  kAttention,   // scores, softmax and values as separate kernels
  kNorm,        // a normalisation written out in elementwise ops
  kActivation,  // gates and activations: silu * up, gelu
  kRotary,      // rotary position embedding
  kEpilogue,    // what follows a GEMM or convolution elementwise
  kOptimizer,   // parameter by parameter updates
  kChain,       // any other run of memory-bound ops
};
std::string_view FusionText(FusionKind kind);  // "attention", "norm", ...

enum class Dependency : std::uint8_t {
  kProven,     // the trace names the same storage
  kPlausible,  // shapes and types fit, adjacent on one stream, in one module
  kUnknown,    // nothing speaks for a flow of data: never more than low confidence
};
std::string_view DependencyText(Dependency dependency);

struct FusionKernel {
  std::string name;  // whole
  std::string op;
  std::string operation;        // Operation id
  double mean_us = 0;           // over the instances
  std::optional<double> bytes;  // of its op, per call
};

struct FusionCandidate {
  std::string id;  // "fusion.1": by saving
  FusionKind kind = FusionKind::kChain;
  Dependency dependency = Dependency::kUnknown;
  std::string confidence;    // "high", "medium", "low": name and composition agree, one, none
  std::string module_path;   // "GPT2 / Block[*] / RMSNorm"; empty: no modules recorded
  std::string module_class;  // "RMSNorm", or the op around; may be empty
  std::vector<FusionKernel> kernels;  // of one instance, in order
  std::vector<std::int64_t> scores;   // of attention: the shape of what softmax reads
  double head_size = 0;               // of attention
  bool after_bias = false;            // its first op takes what a convolution added its bias to
  bool causal_mask = false;           // of attention: its only mask is made by tril or triu of ones
  std::string unaligned_kernel;  // of attention, for operands that are not aligned; empty: none
  std::string target, source;    // of the saving, where it is no traffic
  std::uint64_t instances = 0;
  double total_us = 0;  // true durations, all instances
  double exclusive_us = 0;
  double instance_min_us = 0, instance_median_us = 0, instance_max_us = 0;
  std::uint64_t modeled_kernels = 0;    // of one instance
  std::optional<double> bytes_now;      // an instance, what the models say is moved
  std::optional<double> bytes_fused;    // without the intermediates
  std::optional<Range> savings_ms;      // all instances; never above total or exclusive time
  std::optional<Range> impact_percent;  // of the window
  std::uint32_t example_uid = 0;        // first op of the first instance
  std::vector<std::string> operations;  // Operation ids that lose kernels to it
  std::vector<trace::EventIndex> gpu;   // its GPU events, instance after instance
  std::vector<std::size_t> ends;        // of each instance in `gpu`
};

struct FusionAnalysis {
  std::vector<FusionCandidate> candidates;  // most saving first; disjoint
  double total_us = 0;                      // of all candidates
  std::vector<std::string> notes;           // "no_ops", "no_shapes", "graph_replay"
};

}  // namespace jarvis::findings
