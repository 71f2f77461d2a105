// What kernels are to their neighbours on a stream: what a fix of a line may ask of them beside
// their names. Internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "ledger/kinds/kinds_of_work.h"
#include "trace/event.h"

namespace jarvis::findings {

// By event; false for all that is no GPU work.
struct KernelRoles {
  std::vector<bool> beside_attention;  // attention is one of its neighbours
  // A convolution's library runs it with the convolution: the zero fill of a buffer that is summed
  // into, the cast of that sum. By the library that the name tells; a memset where (nearly) every
  // call of a kernel has one right before it.
  std::vector<bool> helps_convolution;
  // Adds a gradient to what the parameter's gradient was: by the op around it; without ops where
  // nearly all kernels that make gradients of weights or of norms have their sums behind them.
  std::vector<bool> adds_gradient;
};

// `streams`: as WorkByStream has them. Linear in events.
KernelRoles FindKernelRoles(const Calls& calls, const ledger::KindsOfWork& kinds,
                            const std::vector<std::vector<trace::EventIndex>>& streams);

}  // namespace jarvis::findings
