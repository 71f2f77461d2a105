#include "findings/one/least_times.h"

namespace jarvis::findings {

void FindLeastTimes(const ledger::KindsOfWork& kinds, const session::NameFloors& floors,
                    std::vector<CategoryAnalysis>* categories) {
  for (CategoryAnalysis& category : *categories) {
    for (Operation& operation : category.operations) {
      if (operation.efficiency.percent || operation.gpu_us <= 0) continue;
      double least_ns = 0;
      bool groups = false;
      for (const trace::EventIndex e : operation.gpu) {
        const auto floor = floors.Of(e);
        least_ns += static_cast<double>(floor.value_or(0));
        groups = groups || (floor && kinds.Of(e).sizes.groups > 1);
      }
      const double percent = least_ns / 10 / operation.gpu_us;
      if (percent < 100 * session::kLeastShare) continue;
      operation.least_percent = percent;
      if (groups) operation.efficiency.assumption = "uniform_routing";
    }
  }
}

}  // namespace jarvis::findings
