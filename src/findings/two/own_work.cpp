#include "findings/two/own_work.h"

#include <algorithm>

namespace jarvis::findings {

OwnWork::OwnWork(const session::LoadedTrace& trace, const analysis::TimeFrames& frames)
    : trace_(trace),
      outside_(frames.left_out.begin(), frames.left_out.end()),
      frame_(frames.frame),
      has_steps_(!frames.steps.empty()) {
  steps_ = static_cast<double>(frames.base.parts());
  if (!frames.apart()) return;
  for (const analysis::StepFrame& step : frames.steps) {
    if (!step.steady) left_out_.push_back(step.host);
  }
}

bool OwnWork::Has(const analysis::Launcher& launcher) const {
  if (launcher.op == trace::kNoEvent) {
    const auto kernels = trace_.attribution().KernelsOf(launcher);
    return std::none_of(kernels.begin(), kernels.end(),
                        [&](const auto kernel) { return outside_.contains(kernel); });
  }
  const trace::Event& op = trace_.events()[launcher.op];
  const std::int64_t start = op.ts_ns;
  // Steps that were found by their launches begin with one, inside the op that made it.
  if (has_steps_ && (op.end_ns() <= frame_.start || start >= frame_.end)) return false;
  return std::none_of(left_out_.begin(), left_out_.end(), [&](const analysis::TimeSpan& step) {
    return step.start <= start && start < step.end;
  });
}

}  // namespace jarvis::findings
