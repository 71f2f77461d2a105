// Names of GPU work as the rows of names/*.json expect them.
#pragma once

#include <string>
#include <string_view>

namespace jarvis::ledger {

// The name without what says nothing about the work: the parameter list at the end, the return
// type, anonymous namespaces, "[clone ...]" and ".kd"; lambdas and constants spelled as CUPTI does
// where Nsight Systems has "[lambda() (instance 1)]" and "(int)4". Of a name that was left mangled:
// its identifiers, path<arguments>.
std::string NormalisedKernelName(std::string_view name);

}  // namespace jarvis::ledger
