// Names of GPU work as the rows of names/*.json expect them.
#pragma once

#include <string>
#include <string_view>

namespace jarvis::ledger {

// The signature that Triton 2 puts behind the name of a kernel, "triton__0d1d2d3de": its arguments
// by number, each with what was known of it: d: a multiple of 16, e: of 8, c: it is 1. Pointers are
// "d"; sizes are "de", "c", or have no "d".
struct TritonSignature {
  int arguments = 0;  // 0: the name has no signature
  int sizes = 0;
  bool marks_sizes = false;  // there is an "e"; later versions have none, and sizes may be "d"
};
TritonSignature TritonSignatureOf(std::string_view name);

// The name without what says nothing about the work: the parameter list at the end, the return
// type, anonymous namespaces, "[clone ...]" and ".kd", Triton's signature behind a name; lambdas
// and constants spelled as CUPTI does where Nsight Systems has "[lambda() (instance 1)]" and
// "(int)4". Of a name that was left mangled: its identifiers, path<arguments>.
std::string NormalisedKernelName(std::string_view name);

}  // namespace jarvis::ledger
