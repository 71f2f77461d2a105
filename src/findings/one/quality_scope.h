// Qualities of what was chosen to be recorded: one pass only, an engine's step cut out of its loop,
// a host whose work left no trace. And which of all qualities bear on what an analysis says.
#pragma once

#include <vector>

#include "findings/one/quality.h"

namespace jarvis::findings {

// Adds them, and says of the others what they mean for this analysis' verdict.
void AddScopeQualities(const session::LoadedTrace& trace, const Analysis& analysis,
                       std::vector<Quality>* list);

// What a GPU could do, and where Python stands, changes no decision: the GPU hardly works, or what
// happens once comes first.
bool IsOfStart(const Analysis& analysis);

// Those that a reader has to know before any figure of this analysis, what weighs most first.
std::vector<const Quality*> BearingQualities(const Analysis& analysis);

}  // namespace jarvis::findings
