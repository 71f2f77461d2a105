#include "findings/one/sibling_facts.h"

#include "findings/one/thresholds.h"

namespace jarvis::findings {

void AddSpread(const Operation& o, std::vector<Fact>* facts) {
  if (o.kernels.size() != 1 || o.count < 2 || o.max_us < limits::kClockSpread * o.min_us) return;
  facts->push_back(NumberFact("fastest", o.min_us / 1000, "ms"));
  facts->push_back(NumberFact("slowest", o.max_us / 1000, "ms"));
}

std::string SiblingText(const Operation& o) {
  std::string args = o.args;
  for (std::size_t at = args.find("<br>"); at != std::string::npos; at = args.find("<br>"))
    args.replace(at, 4, " x ");
  return o.name + " " + args;
}

}  // namespace jarvis::findings
