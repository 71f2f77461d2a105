// A workload in TF32 on a device that computes 16 bits twice as fast: one change for the whole of
// it, products, convolutions and the bytes of all that memory bounds.
#pragma once

#include <optional>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"
#include "ledger/kinds/kinds_of_work.h"

namespace jarvis::findings {

// Absent: another precision, no such device, or too little of the time. Pure; linear in GPU work.
std::optional<Finding> FindNarrowerPrecision(const Calls& calls, const ledger::KindsOfWork& kinds,
                                             const WorkContext& context);

}  // namespace jarvis::findings
