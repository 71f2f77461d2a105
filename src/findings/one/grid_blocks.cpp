#include "findings/one/grid_blocks.h"

#include <string_view>

#include "findings/one/thresholds.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

bool CountsWorkItems(const session::LoadedTrace& trace, EventIndex kernel) {
  const trace::EventStore& events = trace.events();
  if (events.name(kernel).starts_with("Cijk_")) return true;  // Tensile, whoever launched it
  const EventIndex launch = trace.tree().parent(kernel);
  return launch != trace::kNoEvent &&
         events.name(launch).find("ExtModuleLaunchKernel") != std::string_view::npos;
}

}  // namespace

std::optional<std::int64_t> GridBlocksOf(const trace::EventStore& events, EventIndex kernel) {
  std::int64_t blocks = 1;
  const auto grid =
      trace::ElementsOf(trace::MemberOf(events.text(events.args_of(kernel).other), "grid"));
  for (const std::string_view size : grid) {
    const auto number = trace::IntegerOf(size);
    if (!number || *number <= 0 || *number > (1 << 30)) return std::nullopt;
    blocks *= *number;
  }
  return grid.empty() ? std::nullopt : std::optional(blocks);
}

std::optional<std::int64_t> BlocksOf(const session::LoadedTrace& trace, EventIndex kernel) {
  const trace::EventStore& events = trace.events();
  const auto blocks = GridBlocksOf(events, kernel);
  if (!blocks || !CountsWorkItems(trace, kernel)) return blocks;
  std::int64_t threads = 1;
  const auto block =
      trace::ElementsOf(trace::MemberOf(events.text(events.args_of(kernel).other), "block"));
  for (const std::string_view size : block) {
    const auto number = trace::IntegerOf(size);
    if (!number || *number <= 0 || *number > 1024) return std::nullopt;
    threads *= *number;
  }
  return block.empty() || *blocks % threads != 0 ? std::nullopt : std::optional(*blocks / threads);
}

std::optional<std::int64_t> ComputeUnitsOf(const session::LoadedTrace& trace) {
  const auto& devices = trace.trace().metadata.devices;
  return devices.empty() || !devices.front().sm_count
             ? std::nullopt
             : std::optional<std::int64_t>(*devices.front().sm_count);
}

bool HasFewBlocks(const session::LoadedTrace& trace, EventIndex kernel) {
  if (trace::MicrosOf(trace.events()[kernel].dur_ns) < limits::kFewBlocksAnyUs) return false;
  const auto units = ComputeUnitsOf(trace);
  const auto blocks = units ? BlocksOf(trace, kernel) : std::nullopt;
  return blocks && *blocks < *units;
}

}  // namespace jarvis::findings
