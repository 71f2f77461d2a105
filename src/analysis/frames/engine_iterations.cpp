#include "analysis/frames/engine_iterations.h"

#include <algorithm>

namespace jarvis::analysis {

std::vector<NamedIteration> EngineIterations(const FrameFacts& facts) {
  std::vector<NamedIteration> all;
  bool detailed = false;
  for (const EventIndex e : facts.on_thread) {
    if (facts.events[e].kind != trace::EventKind::kUserAnnotation) continue;
    const std::string_view name = facts.events.name(e);
    auto sums = perf::TellIteration(name);
    const bool diffusion = !sums && (sums = perf::ParseIteration(name)).has_value();
    if (!sums) continue;
    detailed = detailed || sums->has_products;
    all.push_back({e, *sums, diffusion});
  }
  if (detailed)
    std::erase_if(all, [](const NamedIteration& one) { return !one.sums.has_products; });
  const auto start = [&](const NamedIteration& one) { return facts.events[one.annotation].ts_ns; };
  std::stable_sort(all.begin(), all.end(), [&](const NamedIteration& a, const NamedIteration& b) {
    return start(a) < start(b);
  });
  std::vector<NamedIteration> apart;
  for (const NamedIteration& one : all) {
    if (apart.empty() || start(one) >= facts.events[apart.back().annotation].end_ns())
      apart.push_back(one);
  }
  return apart;
}

}  // namespace jarvis::analysis
