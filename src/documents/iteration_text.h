// What the steps of an inference server mean for its users: tokens, and the time of one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/frames/iterations.h"

namespace jarvis::documents {

// Of the phase that most iterations are of.
struct IterationPace {
  std::string phase;
  std::size_t count = 0;                                                // iterations of the phase
  std::size_t periods = 0;                                              // of them, with a next one
  std::int64_t context_requests = 0, context_tokens = 0, requests = 0;  // of the usual one
  double busy_ms = 0;                           // GPU work of the usual one: no step follows faster
  std::optional<double> period_ms, between_ms;  // medians; absent: not two that follow each other
  // Tokens that are generated, a second: by the period, or at most, by the GPU's work.
  std::optional<double> per_second;
};
// Absent: no iterations.
std::optional<IterationPace> PaceOf(const std::vector<analysis::Iteration>& iterations);

// One or two sentences; empty without iterations.
std::string IterationSentence(const std::vector<analysis::Iteration>& iterations);

// "3280": as the sentence shows tokens a second.
std::string PerSecond(double value);

}  // namespace jarvis::documents
