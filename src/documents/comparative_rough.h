// The working notes behind the fair report: what was looked at, all the numbers, the arithmetic.
#pragma once

#include <string>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

std::string RoughReport(const ComparativeFacts& facts);

}  // namespace jarvis::documents
