#include "tools/shared/frame_facts.h"

#include <string>

#include "output/number_format.h"

namespace jarvis::tools {

Json StepFacts(const analysis::TimeFrames& frames, const ledger::StepBound& bound) {
  const auto ms = [](std::int64_t ns) { return output::Rounded(static_cast<double>(ns) / 1e6); };
  const bool steps = frames.base.source != analysis::StepSource::kNone;
  const bool gpu = frames.window.has_value();
  const auto if_gpu = [&](std::int64_t ns) { return gpu ? Json(ms(ns)) : Json(nullptr); };
  const analysis::Balance& all = frames.whole;
  Json facts = Json::object();
  facts["found_by"] =
      steps ? Json(std::string(analysis::StepSourceText(frames.base.source))) : Json(nullptr);
  facts["count"] = frames.steps.size();
  facts["steady"] = frames.steady_steps;
  facts["step_ms"] = steps ? Json(ms(frames.step_ns)) : Json(nullptr);
  // What figures and shares are of, and what of the recording is not in it.
  facts["unit"] = frames.base.unit_text();
  facts["unit_ms"] = ms(frames.base.unit_ns());
  facts["units"] = frames.base.count;
  facts["one_time_ms"] = ms(frames.base.one_time_ns);
  facts["left_out_ms"] = ms(frames.base.left_out_ns);
  facts["all_ms"] = ms(all.total_ns);
  facts["host_before_gpu_ms"] = if_gpu(all.host_before_ns);
  facts["gpu_window_ms"] = if_gpu(frames.window_ns);
  facts["gpu_busy_ms"] = if_gpu(frames.window_busy_ns);
  facts["host_after_gpu_ms"] = if_gpu(all.after_ns);
  facts["unrecorded_ms"] = if_gpu(all.unrecorded_ns);
  facts["foreign_ms"] = if_gpu(all.foreign_ns);
  facts["first_calls_ms"] = ms(frames.first_calls.total_ns());
  facts["host_only_ms"] = ms(frames.host_only.all_ns);
  facts["bound"] = bound.kind == ledger::BoundKind::kUnknown
                       ? Json(nullptr)
                       : Json(std::string(ledger::BoundKindText(bound.kind)));
  return facts;
}

}  // namespace jarvis::tools
