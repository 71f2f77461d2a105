#include "tools/trace/phase_rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/frame_text.h"

namespace jarvis::tools {
namespace {

using analysis::Phase;
using analysis::Phases;

std::string ShownPhase(const Phase& phase) {
  std::string name = phase.level == 0 ? phase.name : "- " + phase.name;
  if (phase.first) name += " (first)";
  return name;
}

}  // namespace

void AddPhaseRows(const session::TraceFrames& frames, const PhaseFilter& filter,
                  std::uint64_t limit, Answer* answer) {
  const Phases& phases = frames.phases;
  const double steps = phases.steps == 0 ? 1 : static_cast<double>(phases.steps);
  const auto ms = [&](std::int64_t ns) { return static_cast<double>(ns) / 1e6 / steps; };
  answer->columns = {"row",     "phase",        "kind",         "count",
                     "host_ms", "percent",      "gpu_ms",       "gpu_window_ms",
                     "idle_ms", "host_only_ms", "unrecorded_ms"};
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < phases.phases.size(); ++i) {
    const Phase& phase = phases.phases[i];
    const auto percent =
        Percent(static_cast<double>(phase.host_ns), static_cast<double>(phases.total_ns));
    if (!filter.text.empty() && !ContainsNoCase(phase.name, filter.text)) continue;
    if (percent.value_or(0) < filter.percent_min) continue;
    shown.push_back(i);
  }
  for (std::size_t s = answer->offset; s < shown.size() && s < answer->offset + limit; ++s) {
    const Phase& phase = phases.phases[shown[s]];
    const bool gpu = phase.gpu_events > 0;
    answer->rows.push_back(
        {fmt::format("phase{}", shown[s] + 1), ShownPhase(phase),
         std::string(PhaseKindText(phase.kind)), static_cast<double>(phase.count) / steps,
         ms(phase.host_ns),
         CellOf(Percent(static_cast<double>(phase.host_ns), static_cast<double>(phases.total_ns))),
         gpu ? Cell(ms(phase.gpu_busy_ns)) : Cell(), gpu ? Cell(ms(phase.gpu_window_ns)) : Cell(),
         ms(phase.gpu_idle_ns), ms(phase.host_only_ns), ms(phase.unrecorded_ns)});
  }
  answer->total = shown.size();
  if (phases.phases.empty()) {
    answer->summary = fmt::format("No phases: {}.", phases.reason);
    return;
  }
  answer->summary = fmt::format("{} {} of {} phases.", documents::StepSentence(frames.frames),
                                answer->rows.size(), shown.size());
  answer->notes.push_back(
      "per step: host_ms is wall time on the thread of the step, gpu_ms the busy time of what it "
      "launched there, idle_ms the time in it when the GPU had nothing to do; rows with \"-\" are "
      "within the row above");
  for (std::string& note : documents::FrameNotes(frames.frames))
    answer->notes.push_back(std::move(note));
  if (answer->notes.size() > 3) answer->notes.resize(3);
}

}  // namespace jarvis::tools
