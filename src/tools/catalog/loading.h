// The answer of any tool whose trace is not there yet: a result, not an error, so that an agent
// asks again.
#pragma once

#include "tools/shared/answer.h"

namespace jarvis::tools {

// REQUIRES: the error is kLoading, from OpenTrace.
Answer LoadingAnswer(const Error& error);

// The call that a hint spells, "tool {...}"; nothing: it is words.
std::optional<NextCall> CallOf(const std::string& hint);

}  // namespace jarvis::tools
