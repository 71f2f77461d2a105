// Traces that are valid JSON and may mean anything: what a fuzzer changes are the steps of a
// recipe, not brackets and quotes, so that nearly every input gets through to the analyses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jarvis::testing {

// One element of traceEvents each. The same bytes give the same elements; no two host events of a
// thread begin at the same time unless the recipe says so.
std::vector<std::string> ElementsOf(std::span<const std::uint8_t> recipe);

// A whole document of them.
std::string DocumentOf(const std::vector<std::string>& elements);

}  // namespace jarvis::testing
