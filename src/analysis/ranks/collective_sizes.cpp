#include "analysis/ranks/collective_sizes.h"

#include <algorithm>
#include <string>

#include "analysis/attribution/table_rules.h"

namespace jarvis::analysis {

std::optional<std::int64_t> CollectiveBytes(const CollectiveKeys& keys) {
  const CollectiveRules rules;
  std::optional<double> most;
  for (const CollectiveKey which : {kIn, kOut}) {
    const auto mb = MegabytesOf(keys, which, rules);
    if (mb && *mb >= 0 && *mb < 1e9) most = std::max(most.value_or(0), *mb);
  }
  if (!most) return std::nullopt;
  return static_cast<std::int64_t>(*most * 1024 * 1024 + 0.5);
}

std::optional<double> BusFactor(CommFamily family, double size) {
  if (!(size > 1)) return std::nullopt;
  switch (family) {
    case CommFamily::kAllReduce: return 2 * (size - 1) / size;
    case CommFamily::kReduceScatter:
    case CommFamily::kAllGather:
    case CommFamily::kExchange: return (size - 1) / size;
    case CommFamily::kPointToPoint: return 1;
    default: return std::nullopt;
  }
}

bool IsHandOver(const CollectiveKeys& keys) {
  const auto* name = std::get_if<std::string>(&keys[kCollective]);
  if (name == nullptr || name->find("all") != std::string::npos) return false;
  return name->find("send") != std::string::npos || name->find("recv") != std::string::npos;
}

}  // namespace jarvis::analysis
