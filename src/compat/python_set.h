// The order in which CPython (3.7 and later) lists a set of small integers: columns of the
// reference that go through such a set depend on it (T14).
#pragma once

#include <cstdint>
#include <vector>

namespace jarvis::compat {

// `values`: distinct, not negative, in the order in which they were added.
std::vector<std::uint64_t> InPythonSetOrder(const std::vector<std::uint64_t>& values);

}  // namespace jarvis::compat
