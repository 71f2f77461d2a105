// The GEMM kernels of a sweep against those of the baseline.
#pragma once

#include <cstddef>

#include "sweep/draw/page.h"
#include "sweep/judge/compared_sweeps.h"

namespace jarvis::sweep {

// Kernels are matched by op, shapes and name. REQUIRES: `sweep` is not the baseline.
PageKernelChanges CompareKernels(const ComparedSweeps& compared, std::size_t sweep);

}  // namespace jarvis::sweep
