#include "findings/one/sibling_facts.h"

#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {

void AddSpread(const Operation& o, std::vector<Fact>* facts) {
  constexpr std::uint64_t kCallsMin = 20;
  constexpr double kSpread = 0.25;  // of the way from the fastest to the slowest: else one is odd
  if (o.kernels.size() != 1 || o.count < kCallsMin) return;
  if (o.max_us < limits::kClockSpread * o.min_us) return;
  if (o.mean_us - o.min_us < kSpread * (o.max_us - o.min_us)) return;
  facts->push_back(NumberFact("fastest", o.min_us / 1000, "ms"));
  facts->push_back(NumberFact("slowest", o.max_us / 1000, "ms"));
}

std::string SiblingText(const Operation& o) {
  if (const std::string sizes = ProductSizes(o.name, o.args); !sizes.empty())
    return o.name + " " + sizes;
  std::string args = o.args;
  for (std::size_t at = args.find("<br>"); at != std::string::npos; at = args.find("<br>"))
    args.replace(at, 4, " x ");
  return o.name + " " + args;
}

}  // namespace jarvis::findings
