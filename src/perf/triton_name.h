// Names of kernels that Inductor generates with Triton.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jarvis::perf {

// The operators in "triton_poi_fused_<operators>_<digits>", in order, without a namespace. The part
// between is split at underscores into names of known operators; where that is possible in several
// ways, the last name is the longest. Empty: no such name, or no such split. `skip_unknown`: parts
// that are no operator are passed over instead (as few as possible).
std::vector<std::string_view> FusedOpsOf(std::string_view kernel, bool skip_unknown);

}  // namespace jarvis::perf
