#include "analysis/frames/frame_tables.h"

#include <optional>
#include <utility>

namespace jarvis::analysis {
namespace {

double Ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}
Cell MsCell(std::optional<std::int64_t> ns) {
  return ns ? Cell(Ms(*ns)) : Cell();
}

std::vector<Cell> WholeRow(const TimeFrames& frames) {
  const bool gpu = frames.window.has_value();
  const auto if_gpu = [&](std::int64_t ns) { return gpu ? Cell(Ms(ns)) : Cell(); };
  return {std::string("all"),
          frames.base.source == StepSource::kNone ? std::string("recording")
                                                  : std::string(StepSourceText(frames.base.source)),
          0.0,
          Ms(frames.frame.end - frames.frame.start),
          gpu ? Cell(Ms(frames.window->start - frames.frame.start)) : Cell(),
          if_gpu(frames.window_ns),
          if_gpu(frames.window_busy_ns),
          if_gpu(frames.window_ns - frames.window_busy_ns),
          if_gpu(frames.window_computation_ns),
          if_gpu(frames.window_comm_ns),
          if_gpu(frames.window_copy_ns),
          Ms(Length(Within(frames.unrecorded, frames.frame))),
          Ms(Length(Within(frames.foreign_busy, frames.frame))),
          Ms(frames.first_calls.total_ns()),
          Cell(),
          Cell()};
}

}  // namespace

Table TimeFramesTable(const TimeFrames& frames) {
  Table table{"time_frames",
              {"frame", "kind", "start_ms", "host_ms", "gpu_start_ms", "gpu_window_ms",
               "gpu_busy_ms", "gpu_idle_ms", "computation_ms", "exposed_comm_ms", "exposed_copy_ms",
               "unrecorded_ms", "foreign_ms", "first_calls_ms", "lag_begin_ms", "lag_end_ms"},
              {}};
  table.rows.push_back(WholeRow(frames));
  for (const StepFrame& step : frames.steps) {
    const auto if_gpu = [&](std::int64_t ns) { return step.gpu ? Cell(Ms(ns)) : Cell(); };
    table.rows.push_back({step.name, step.steady ? std::string("steady") : step.odd_because,
                          Ms(step.host.start - frames.frame.start), Ms(step.host_ns()),
                          step.gpu ? Cell(Ms(step.gpu->start - frames.frame.start)) : Cell(),
                          MsCell(step.window_ns()), if_gpu(step.busy_ns), MsCell(step.idle_ns()),
                          if_gpu(step.computation_ns), if_gpu(step.exposed_comm_ns),
                          if_gpu(step.exposed_copy_ns), if_gpu(step.unrecorded_ns), Cell(),
                          Ms(step.first_call_ns), MsCell(step.lag_begin_ns),
                          MsCell(step.lag_end_ns)});
  }
  return table;
}

Table TimePartsTable(const TimeFrames& frames) {
  const Balance& all = frames.whole;
  std::vector<std::pair<const char*, std::int64_t>> parts = {
      {"host_before_gpu", all.host_before_ns},
      {"computation", all.computation_ns},
      {"exposed_communication", all.exposed_comm_ns},
      {"exposed_copies", all.exposed_copy_ns},
      {"idle_first_calls", all.idle_first_call_ns},
      {"idle_host_waits", all.idle_sync_ns},
      {"idle_host_ops", all.idle_host_ops_ns},
      {"idle_host_only", all.idle_host_only_ns},
      {"unrecorded", all.unrecorded_ns},
      {"foreign", all.foreign_ns}};
  if (all.ahead_ns > 0) parts.emplace_back("host_ahead", all.ahead_ns);
  if (all.beside_ns > 0) parts.emplace_back("beside_foreign", all.beside_ns);
  parts.emplace_back("after_gpu", all.after_ns);
  parts.emplace_back("total", all.total_ns);
  Table table{"time_parts", {"part", "ms", "percent"}, {}};
  for (const auto& [name, ns] : parts) {
    const Cell percent =
        all.total_ns > 0 ? Cell(100.0 * static_cast<double>(ns) / static_cast<double>(all.total_ns))
                         : Cell();
    table.rows.push_back({std::string(name), Ms(ns), percent});
  }
  return table;
}

Table PhasesTable(const Phases& phases) {
  Table table{"phases",
              {"phase", "kind", "source", "level", "within", "first", "count", "host_ms", "each_ms",
               "percent", "gpu_window_ms", "gpu_busy_ms", "gpu_each_ms", "gpu_idle_ms",
               "unrecorded_ms", "host_only_ms", "gpu_events"},
              {}};
  const double steps = phases.steps == 0 ? 1 : static_cast<double>(phases.steps);
  for (const Phase& phase : phases.phases) {
    const auto per_step = [&](std::int64_t ns) { return Ms(ns) / steps; };
    const bool gpu = phase.gpu_events > 0;
    table.rows.push_back({phase.name, std::string(PhaseKindText(phase.kind)),
                          std::string(PhaseSourceText(phase.source)), std::int64_t{phase.level},
                          phase.within ? Cell(phases.phases[*phase.within].name) : Cell(),
                          phase.first, static_cast<double>(phase.count) / steps,
                          per_step(phase.host_ns), Ms(phase.host_each_ns),
                          phases.total_ns > 0 ? Cell(100.0 * static_cast<double>(phase.host_ns) /
                                                     static_cast<double>(phases.total_ns))
                                              : Cell(),
                          gpu ? Cell(per_step(phase.gpu_window_ns)) : Cell(),
                          gpu ? Cell(per_step(phase.gpu_busy_ns)) : Cell(),
                          gpu ? Cell(Ms(phase.gpu_each_ns)) : Cell(), per_step(phase.gpu_idle_ns),
                          per_step(phase.unrecorded_ns), per_step(phase.host_only_ns),
                          static_cast<std::int64_t>(phase.gpu_events)});
  }
  return table;
}

}  // namespace jarvis::analysis
