#include "findings/one/grid_blocks.h"

#include <string_view>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/frames/frame_facts.h"
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

// Absent: there are none.
std::optional<std::int64_t> ProductOf(const std::vector<std::int64_t>& sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes)
    product *= size;
  return sizes.empty() ? std::nullopt : std::optional(product);
}

}  // namespace

std::vector<std::int64_t> LaunchSizesOf(const trace::EventStore& events, EventIndex kernel,
                                        std::string_view key, std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view size :
       trace::ElementsOf(trace::MemberOf(events.text(events.args_of(kernel).other), key))) {
    const auto number = trace::IntegerOf(size);
    if (!number || *number <= 0 || *number > most) return {};
    sizes.push_back(*number);
  }
  return sizes;
}

std::optional<std::int64_t> GridBlocksOf(const trace::EventStore& events, EventIndex kernel) {
  return ProductOf(LaunchSizesOf(events, kernel, "grid"));
}

std::optional<std::int64_t> BlocksOf(const session::LoadedTrace& trace, EventIndex kernel) {
  const trace::EventStore& events = trace.events();
  const auto blocks = GridBlocksOf(events, kernel);
  if (!blocks || !CountsWorkItems(trace, kernel)) return blocks;
  const auto threads = ProductOf(LaunchSizesOf(events, kernel, "block", 1024));
  return !threads || *blocks % *threads != 0 ? std::nullopt : std::optional(*blocks / *threads);
}

std::optional<std::int64_t> ComputeUnitsOf(const session::LoadedTrace& trace) {
  const auto& devices = trace.trace().metadata.devices;
  return devices.empty() || !devices.front().sm_count
             ? std::nullopt
             : std::optional<std::int64_t>(*devices.front().sm_count);
}

std::optional<double> FewBlocksPercent(const session::LoadedTrace& trace,
                                       const IntervalSet<std::int64_t>& times) {
  constexpr std::size_t kRead = 4096, kGridsMin = 20;
  // One block for each is how persistent kernels are launched.
  constexpr double kFewer = 0.95;
  const auto units = ComputeUnitsOf(trace);
  if (!units) return std::nullopt;
  const trace::EventStore& events = trace.events();
  const analysis::TimeMeter in_times(times);
  const auto& timeline = trace.attribution().timeline;
  const std::size_t step = timeline.size() / kRead + 1;
  std::size_t grids = 0;
  double all_ns = 0, few_ns = 0;
  for (std::size_t i = 0; i < timeline.size(); i += step) {
    const trace::Event& event = events[timeline[i]];
    if (event.kind != trace::EventKind::kKernel) continue;
    if (in_times.In({event.ts_ns, event.end_ns()}) == 0) continue;
    if (analysis::CommFamilyOfKernel(events.name(timeline[i]))) continue;
    all_ns += static_cast<double>(event.dur_ns);
    const auto blocks = BlocksOf(trace, timeline[i]);
    if (!blocks) continue;
    ++grids;
    if (static_cast<double>(*blocks) < kFewer * static_cast<double>(*units))
      few_ns += static_cast<double>(event.dur_ns);
  }
  if (grids < kGridsMin || all_ns <= 0) return std::nullopt;
  return 100 * few_ns / all_ns;
}

bool HasFewBlocks(const session::LoadedTrace& trace, EventIndex kernel) {
  if (trace::MicrosOf(trace.events()[kernel].dur_ns) < limits::kFewBlocksAnyUs) return false;
  const auto units = ComputeUnitsOf(trace);
  const auto blocks = units ? BlocksOf(trace, kernel) : std::nullopt;
  return blocks && *blocks < *units;
}

}  // namespace jarvis::findings
