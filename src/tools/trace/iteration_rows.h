// Rows of ops_summary by iteration: the steps of an inference server.
#pragma once

#include <cstdint>
#include <string>

#include "session/trace_frames.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

// Fills in what the answer says; its offset is where it begins. `filter`: in lower case, of names;
// empty: all.
void AddIterationRows(const session::TraceFrames& frames, const std::string& filter,
                      std::uint64_t limit, Answer* answer);

}  // namespace jarvis::tools
