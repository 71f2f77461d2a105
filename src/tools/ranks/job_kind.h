// What a job's ranks divide among them, as far as advice depends on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

enum class JobKind : std::uint8_t {
  kExperts,     // tokens go to the ranks of their experts and back
  kEmbeddings,  // tables, or parts of them
  kTensor,      // parts of each layer
  kPipeline,    // layers
  kData,        // the batch
  kUnknown,
};
JobKind JobKindOf(const JobView& job);

// Whether the name of any communication kernel has a part, whatever its case.
bool HasCommKernel(const JobView& job, std::string_view part);
// Whether what is known of the workload speaks of it.
bool SpeaksOf(const JobView& job, std::string_view part);

// Whether a rank has an annotation whose name has a part: what says that a feature is on.
bool HasMark(const JobView& job, std::string_view part);

// Switches of serving engines.
enum class EngineFeature : std::uint8_t { kTwoBatches, kBalanceExperts };
// " (vLLM `--enable-dbo`)": of the engine that is recorded; empty: none is, or it has none.
std::string EngineSwitch(const JobView& job, EngineFeature feature);

}  // namespace jarvis::tools
