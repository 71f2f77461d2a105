#include "findings/one/finding.h"

#include <algorithm>
#include <utility>

#include "findings/one/enum_text.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {

std::string_view TierText(Tier tier) {
  return EnumText({"compute_kernel", "fusion", "system"}, tier);
}

PriorityClass PriorityOfSaving(double percent) {
  if (percent >= limits::kCriticalSaving) return PriorityClass::kCritical;
  if (percent >= limits::kHighSaving) return PriorityClass::kHigh;
  return percent >= limits::kMediumSaving ? PriorityClass::kMedium : PriorityClass::kLow;
}

std::string_view PriorityText(PriorityClass priority) {
  return EnumText({"", "Critical", "High", "Medium", "Low"}, priority);
}

PriorityClass PriorityOf(double share, std::optional<double> efficiency, bool notable_pattern) {
  if (share > limits::kCriticalShare && efficiency && *efficiency < limits::kCriticalEfficiency) {
    return PriorityClass::kCritical;
  }
  const bool slow =
      efficiency && *efficiency < limits::kHighEfficiency && share >= limits::kHighEfficiencyShare;
  if (share > limits::kHighShare || slow) return PriorityClass::kHigh;
  if (share > limits::kMediumShare || notable_pattern) return PriorityClass::kMedium;
  return PriorityClass::kLow;
}

std::string_view MethodText(EstimateMethod method) {
  return EnumText({"quantified", "measured", "traffic", "target", "none"}, method);
}

bool PadsInputs(const Finding& finding) {
  return std::ranges::any_of(finding.path_b, [](const Remedy& remedy) {
    return std::ranges::any_of(remedy.facts, [](const Fact& fact) { return fact.key == "pad"; });
  });
}

const WallSaving* BestWall(const Finding& finding) {
  if (!finding.wall_a) return finding.wall_b ? &*finding.wall_b : nullptr;
  const auto size = [](const WallSaving& one) { return std::pair(one.ms.mid, one.ms.low); };
  const bool second = finding.wall_b && size(*finding.wall_b) >= size(*finding.wall_a);
  return second ? &*finding.wall_b : &*finding.wall_a;
}

}  // namespace jarvis::findings
