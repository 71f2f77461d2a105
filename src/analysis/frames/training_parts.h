// The phases of a training step by well-known names: loader, forward, zero_grad, backward,
// optimizer.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/frames/step_parts.h"

namespace jarvis::analysis {

// What a name says: "Optimizer.step#SGD.step" is the optimizer, "dataloader.py(630): __next__" the
// loader.
PhaseKind PhaseKindOf(std::string_view name, PhaseSource source);

// The span cut by loader and optimizer scopes and by the work of autograd's own threads; what
// launches or computes before a backward pass is its forward pass. Empty if there is no backward
// pass in it.
std::vector<FramePart> TrainingPartsOf(const FrameFacts& facts, TimeSpan span);

}  // namespace jarvis::analysis
