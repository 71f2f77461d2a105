#include "documents/host_prose.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/markdown_text.h"

namespace jarvis::documents {
namespace {

using findings::HostCause;
using findings::HostCauseKind;
using findings::HostPlace;

constexpr std::size_t kNameMax = 90;
constexpr std::size_t kPlacesTold = 3;

std::string PlaceText(const HostPlace& place) {
  std::string text = Code(place.name, kNameMax);
  if (!place.code.empty()) text += " at " + Code(place.code, kNameMax);
  return text;
}

// "`a` (12.3 ms), `b` (4.5 ms)"
std::string PlacesText(const HostCause& cause, bool counts) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kPlacesTold, cause.places.size()); ++i) {
    const HostPlace& place = cause.places[i];
    text += (text.empty() ? "" : ", ") + PlaceText(place) + " (";
    if (counts) text += fmt::format("{} times, ", place.count);
    text += Ms(place.ms) + ")";
  }
  return text;
}

// The place that takes at least a quarter of the time; empty: none does.
std::string LeadingPlace(const HostCause& cause) {
  if (cause.places.empty() || 4 * cause.places.front().ms < cause.total_ms) return "";
  return Code(cause.places.front().name, kNameMax);
}

std::string TimesText(const HostCause& cause) {
  return cause.count == 1 ? Ms(cause.total_ms)
                          : fmt::format("{} x {}", cause.count, Ms(cause.each_ms));
}

std::string BetweenText(const HostCause& cause) {
  if (cause.before.empty() && cause.after.empty()) return "";
  if (cause.before.empty()) return ", before the GPU's first work (" + Code(cause.after, 60) + ")";
  if (cause.after.empty()) return ", after the GPU's last work (" + Code(cause.before, 60) + ")";
  return fmt::format(", between {} and {}", Code(cause.before, 60), Code(cause.after, 60));
}

std::string SectionInsight(const findings::Analysis& analysis, const HostCause& cause) {
  std::string text =
      cause.count == 1 ? fmt::format("For {} the GPU has nothing to do", Ms(cause.total_ms))
                       : fmt::format("{} times, for {} each, the GPU has nothing to do ({} in all)",
                                     cause.count, Ms(cause.each_ms), Ms(cause.total_ms));
  if (analysis.wall.recorded_ms > 0)
    text += fmt::format(", {} of the recorded time",
                        Pct(cause.total_ms / analysis.wall.recorded_ms * 100));
  text += BetweenText(cause);
  if (cause.period_ms && cause.count > 2) text += fmt::format(", every {}", Ms(*cause.period_ms));
  text += cause.loading ? ", while data is loaded" : "";
  const std::string places = PlacesText(cause, false);
  if (!places.empty()) text += "; the host is in " + places;
  if (2 * cause.nothing_ms > cause.total_ms) {
    text += fmt::format(
        "; for {} nothing is recorded: plain Python or C without stacks, a sleep, or another "
        "process",
        Ms(cause.nothing_ms));
  }
  return text + ".";
}

std::string WaitsInsight(const HostCause& cause) {
  std::string text = fmt::format(
      "The host waits for the GPU {} times ({}), much of it for work that it had queued; but "
      "nothing "
      "is queued behind that, and the GPU has to wait for the next launch each time: {}",
      cause.count, Ms(cause.total_ms), PlacesText(cause, true));
  if (!cause.places.empty() && !cause.places.front().waits_for.empty())
    text += "; the first waits mostly for " + Code(cause.places.front().waits_for, kNameMax);
  return text + ".";
}

std::string LaunchInsight(const findings::Analysis& analysis, const HostCause& cause) {
  const std::string profiler =
      analysis.wall.profiler_ms > 0
          ? " The profiler's pauses are in these figures, not in the saving: without them most "
            "launches may be in time."
          : "";
  return fmt::format(
      "From one launch to the next the host takes {:.3g} µs, the median kernel {:.3g} µs; {} of {} "
      "launches find their stream idle.{}",
      cause.launch_us, cause.kernel_us, Pct(cause.idle_percent), cause.count, profiler);
}

}  // namespace

std::string HostTitle(const findings::Finding& finding) {
  const HostCause& cause = *finding.host;
  switch (cause.kind) {
    case HostCauseKind::kSection: {
      const std::string place = LeadingPlace(cause);
      return (place.empty() ? (cause.loading ? "Data loading" : "Host work") : place) +
             " while the GPU has nothing to do, " + TimesText(cause);
    }
    case HostCauseKind::kWaits:
      return fmt::format("{} waits for the GPU", cause.count) +
             (cause.places.empty() ? "" : ", most in " + Code(cause.places.front().name, kNameMax));
    case HostCauseKind::kLaunchBound:
      // A part of the run only: medians are of the whole.
      if (cause.idle_percent < 30)
        return "Launch-bound in part, " + Pct(cause.idle_percent) +
               " of launches find the GPU idle";
      return fmt::format("Launch-bound, {:.3g} µs a launch against {:.3g} µs a kernel",
                         cause.launch_us, cause.kernel_us);
    case HostCauseKind::kFirstCalls:
      return "First calls load code, " + Ms(cause.total_ms) + ", once";
    case HostCauseKind::kDescheduled: break;
  }
  return "The process had no CPU for " + Ms(cause.total_ms);
}

std::string HostInsight(const findings::Analysis& analysis, const findings::Finding& finding) {
  const HostCause& cause = *finding.host;
  switch (cause.kind) {
    case HostCauseKind::kSection: return SectionInsight(analysis, cause);
    case HostCauseKind::kWaits: return WaitsInsight(cause);
    case HostCauseKind::kLaunchBound: return LaunchInsight(analysis, cause);
    case HostCauseKind::kFirstCalls:
      return fmt::format(
          "{} of first calls: {}. Later calls of the same take none of it, so it is no cost of a "
          "step.",
          Ms(cause.total_ms), PlacesText(cause, false));
    case HostCauseKind::kDescheduled: break;
  }
  return fmt::format(
      "For {} in {} pieces of up to {} the host did not run, inside calls that usually take "
      "microseconds: no op is slow, the process had no CPU.",
      Ms(cause.total_ms), cause.count, Ms(cause.each_ms));
}

}  // namespace jarvis::documents
