// What is told of a product that is held against another one of its trace.
#pragma once

#include <string>
#include <vector>

#include "findings/one/fact.h"
#include "findings/one/operation.h"

namespace jarvis::findings {

// One kernel, one shape, and yet other times: nothing that a choice of kernels would change.
void AddSpread(const Operation& o, std::vector<Fact>* facts);

// "aten::mm (8,16) bf16 x (16,32) bf16"
std::string SiblingText(const Operation& o);

}  // namespace jarvis::findings
