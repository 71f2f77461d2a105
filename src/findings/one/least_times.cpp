#include "findings/one/least_times.h"

#include <string_view>

namespace jarvis::findings {

void FindLeastTimes(const session::NameFloors& floors, std::vector<CategoryAnalysis>* categories) {
  for (CategoryAnalysis& category : *categories) {
    for (Operation& operation : category.operations) {
      if (operation.efficiency.percent || operation.gpu_us <= 0) continue;
      double least_ns = 0;
      bool by_grid = false;
      std::string_view assumption;
      for (const trace::EventIndex e : operation.gpu) {
        const session::NameFloor* floor = floors.Of(e);
        if (floor == nullptr) continue;
        least_ns += static_cast<double>(floor->ns);
        by_grid = by_grid || floor->by_grid;
        if (assumption.empty()) assumption = floor->assumption;
      }
      const double percent = least_ns / 10 / operation.gpu_us;
      if (percent < 100 * session::kLeastShare) continue;
      operation.least_percent = percent;
      operation.least_by_grid = by_grid;
      if (!assumption.empty()) operation.efficiency.assumption = assumption;
    }
  }
}

}  // namespace jarvis::findings
