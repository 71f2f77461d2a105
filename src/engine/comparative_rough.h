// The working notes behind the fair report: what was looked at, all the numbers, the arithmetic.
#pragma once

#include <string>

#include "engine/comparative_facts.h"

namespace jarvis::engine {

std::string RoughReport(const ComparativeFacts& facts);

}  // namespace jarvis::engine
