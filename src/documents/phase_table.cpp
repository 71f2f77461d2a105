#include "documents/phase_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/interval.h"
#include "documents/markdown_text.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

// It is mostly a wait for GPU work of which no step here is made, and too long to be one that the
// host uses to run ahead.
bool WaitsForOthers(const findings::Analysis& analysis, const analysis::Phase& phase) {
  constexpr double kLong = 10;  // percent of the base
  std::int64_t others = phase.unrecorded_ns;
  for (const analysis::TimeSpan& span : phase.spans)
    others += Length(analysis::Within(analysis.frames->frames.foreign_busy, span));
  return 2 * others > phase.host_ns &&
         analysis.base.Percent(static_cast<double>(others) / 1e6) >= kLong;
}

std::string TimesAStep(std::uint64_t count, std::uint64_t steps) {
  if (count % steps == 0) return fmt::format("{}", count / steps);
  return fmt::format("{} in {} steps", count, steps);
}

// A small part that some steps do not show under this name is no part of a step.
bool IsStray(const analysis::Phase& phase, std::uint64_t steps, double share) {
  constexpr double kSmall = 5;  // percent of the base
  return phase.count < steps && share < kSmall;
}

// Where the GPU sets the pace and the host is done with a part long before the GPU is, parts are as
// long as the GPU is at them.
bool ByGpu(const findings::Analysis& analysis) {
  constexpr double kAhead = 1.5;  // times the host's time that the GPU works
  constexpr double kLarge = 10;   // percent of the base
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known || wall.host_floor_ms >= wall.gpu_floor_ms) return false;
  const auto& phases = analysis.frames->phases.phases;
  return std::any_of(phases.begin(), phases.end(), [&](const analysis::Phase& phase) {
    const auto busy = static_cast<double>(phase.gpu_busy_ns);
    return phase.level == 0 && busy > kAhead * static_cast<double>(phase.host_ns) &&
           analysis.base.Percent(busy / 1e6) >= kLarge;
  });
}

}  // namespace

std::string PhaseTable(const findings::Analysis& analysis) {
  constexpr std::size_t kPhasesMax = 8;
  constexpr double kPhaseShown = 1;  // percent of the base
  const std::uint64_t steps = std::max<std::uint64_t>(1, analysis.frames->phases.steps);
  const bool gpu = analysis.totals.has_gpu_work;
  std::vector<std::string> header = {"Phase", steps > 1 ? "Times per step" : "Times", "Host, each"};
  if (gpu) {
    header.emplace_back("GPU busy, each");
    header.emplace_back(steps > 1 ? "GPU idle per step" : "GPU idle");
  }
  const bool by_gpu = gpu && ByGpu(analysis);
  header.push_back(by_gpu ? "GPU busy, share of the " + analysis.base.unit
                          : "Host's share of the " + analysis.base.unit);
  MarkdownTable table(std::move(header));
  for (const analysis::Phase& phase : analysis.frames->phases.phases) {
    const double host_ms = static_cast<double>(phase.host_ns) / 1e6;
    const double share = analysis.base.Percent(host_ms);
    const double most =
        std::max(share, analysis.base.Percent(static_cast<double>(phase.gpu_busy_ns) / 1e6));
    if (phase.level != 0 || table.rows() == kPhasesMax || most < kPhaseShown) continue;
    if (phase.kind == analysis::PhaseKind::kWait || WaitsForOthers(analysis, phase)) continue;
    if (IsStray(phase, steps, most)) continue;
    // Means, so that times, how often they are and shares agree.
    const auto each = [&](std::int64_t ns, std::uint64_t of) {
      return Ms(static_cast<double>(ns) / 1e6 /
                static_cast<double>(std::max<std::uint64_t>(1, of)));
    };
    std::vector<std::string> row = {
        Code(phase.name, 90) + (phase.first ? " (the first, which differs)" : ""),
        TimesAStep(phase.count, steps), each(phase.host_ns, phase.count)};
    if (gpu) {
      row.push_back(each(phase.gpu_busy_ns, phase.count));
      row.push_back(each(phase.gpu_idle_ns, steps));
    }
    const double busy_ms = static_cast<double>(phase.gpu_busy_ns) / 1e6;
    row.push_back(Pct(by_gpu ? analysis.base.Percent(busy_ms) : share));
    table.Row(std::move(row));
  }
  return table.rows() < 2 ? "" : table.text() + "\n";
}

}  // namespace jarvis::documents
