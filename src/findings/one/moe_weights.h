// What a mixture of experts has to read at least: the weights of the experts that its rows go to.
//
// Ops that run all of it are recorded without the weights' sizes. Grouped products of Triton's and
// TensorRT-LLM's kernels tell them: the tiles stand in the kernels' names, their number in the
// grids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/one/calls.h"

namespace jarvis::findings {

// Holds such operations that no model knows against the bandwidth, where the rows of an expert are
// so few that its weights are what is read. Where grids and sizes do not fit each other, nothing is
// said.
void RateMoeByWeights(const Calls& calls, std::vector<CategoryAnalysis>* categories);

// Of a call's two products, by the second's kernel and their times: how fast they read the weights
// where that can be told, and what it would be worth if both read them as fast as other products
// do.
void AddExpertReads(const Calls& calls, trace::EventIndex down, double up_us, double down_us,
                    Cause* cause);

// How to make the second product's kernel faster. Splitting K makes more blocks, which a grid of
// two or more for each compute unit does not lack.
std::string KnobOfDown(const Calls& calls, trace::EventIndex down);

}  // namespace jarvis::findings
