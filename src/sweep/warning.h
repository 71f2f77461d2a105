// What was wrong with a part of a sweep: it costs that part, never the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace jarvis::sweep {

// Codes: NO_CONFIGS, TRACE_UNREADABLE, TRACE_TRUNCATED, TRACE_EMPTY, RANK_CONFLICT, RANK_MISSING,
// WORLD_SIZE_MISMATCH, COLLECTIVE_METADATA_MISMATCH, NO_GEMM, NO_COLLECTIVES, CONFIG_MISMATCH,
// MULTIPLE_TRACES and those of analysis::RankWarning; stable.
struct Warning {
  std::string config;                // its label; empty: the sweep as a whole
  std::optional<std::int64_t> rank;  // absent: not of one rank
  std::string file;                  // below the sweep; empty: of none
  std::string code;
  std::string message;  // one sentence
};

}  // namespace jarvis::sweep
