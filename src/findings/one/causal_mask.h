// Whether the mask of attention in separate kernels is causal, told by the ops that make it.
#pragma once

#include "findings/one/fusion_calls.h"

namespace jarvis::findings {

// REQUIRES: an instance of attention. One mask alone goes into the scores, between the product that
// makes them and the softmax, and it is `tril` or `triu` of ones (or of minus infinity) of as many
// rows as columns: each query sees its own key and those before. False also where another mask is
// joined with it, or where a step of its making is not known.
bool HasCausalMask(const FusionCalls& in, const FusionInstance& attention);

}  // namespace jarvis::findings
