#include "analysis/attribution/steps.h"

#include <algorithm>

#include "base/text.h"

namespace jarvis::analysis {

using trace::EventIndex;

std::vector<Step> FindSteps(const trace::EventStore& events, const tree::CallTree& tree) {
  static constexpr std::string_view kPrefix = "ProfilerStep#";
  std::vector<Step> steps;
  for (const EventIndex e : tree.preorder()) {
    const trace::Event& event = events[e];
    if (event.kind != trace::EventKind::kUserAnnotation) continue;
    const std::string_view name = events.name(e);
    if (!name.starts_with(kPrefix)) continue;
    if (const auto number = ParseInt(name.substr(kPrefix.size()))) {
      steps.push_back({*number, event.ts_ns, event.end_ns()});
    }
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.start_ns < b.start_ns; });
  return steps;
}

std::int64_t StepOf(const trace::EventStore& events, const tree::CallTree& tree,
                    const std::vector<Step>& steps, EventIndex gpu) {
  const EventIndex launch = tree.parent(gpu);
  const std::int64_t at = events[launch == trace::kNoEvent ? gpu : launch].ts_ns;
  const auto after = std::upper_bound(steps.begin(), steps.end(), at,
                                      [](std::int64_t t, const Step& s) { return t < s.start_ns; });
  if (after == steps.begin() || at >= std::prev(after)->end_ns) return -1;
  return std::prev(after)->number;
}

}  // namespace jarvis::analysis
