#include "documents/frame_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"

namespace jarvis::documents {
namespace {

using analysis::HostOnlyGroup;
using analysis::StepFrame;
using analysis::StepSource;
using analysis::TimeFrames;

constexpr std::int64_t kLeastPart = 200;  // one of so many of the whole is worth a word

bool IsWorth(std::int64_t ns, const TimeFrames& frames) {
  return ns > 0 && ns * kLeastPart >= frames.whole.total_ns;
}

std::string Opening(const TimeFrames& frames) {
  const std::size_t steps = frames.steps.size();
  const std::string step = FrameMs(frames.step_ns);
  if (frames.base.source == StepSource::kNone)
    return fmt::format("No step is marked; recording of {} ms", step);
  const bool all_steady = frames.steady_steps == steps;
  if (steps > 1 && !all_steady && frames.steady_host_ns) {
    return fmt::format("{} steps, {} steady of {} ms; all of them {} ms", steps,
                       frames.steady_steps, FrameMs(*frames.steady_host_ns),
                       FrameMs(frames.whole.total_ns));
  }
  if (steps > 1) {
    return fmt::format("{} steps of {} ms; all of them {} ms", steps, step,
                       FrameMs(frames.whole.total_ns));
  }
  const std::int64_t lost = frames.whole.total_ns - frames.step_ns;
  if (IsWorth(lost, frames))
    return fmt::format("Step {} ms, of {} ms recorded", step, FrameMs(frames.whole.total_ns));
  return fmt::format("Step {} ms", step);
}

// The host-only stretches that an expert would name.
std::string HostOnlyNote(const HostOnlyGroup& group) {
  std::string text = group.count == 1
                         ? fmt::format("the host alone for {} ms", FrameMs(group.total_ns))
                         : fmt::format("the host alone {} x about {} ms = {} ms", group.count,
                                       FrameMs(group.median_ns), FrameMs(group.total_ns));
  if (group.period_ns) text += fmt::format(", every {} ms", FrameMs(*group.period_ns));
  if (!group.where.empty()) text += fmt::format(", mostly in {}", group.where);
  if (!group.within.empty()) text += fmt::format(", in {}", group.within);
  if (group.where.empty() && (!group.before.empty() || !group.after.empty())) {
    text += fmt::format(", between {} and {}",
                        group.before.empty() ? std::string("the start") : group.before,
                        group.after.empty() ? std::string("the end") : group.after);
  }
  return text + ": no GPU work, no op, no runtime call";
}

}  // namespace

std::string FrameMs(std::int64_t ns) {
  const double ms = static_cast<double>(ns) / 1e6;
  if (ms >= 1000) return fmt::format("{:.0f}", ms);
  if (ms >= 10) return fmt::format("{:.1f}", ms);
  return ThreeDigits(ms);
}

std::string StepSentence(const TimeFrames& frames) {
  if (frames.whole.total_ns <= 0) return "The recording has no length.";
  std::vector<std::string> parts;
  const auto add = [&](const char* what, std::int64_t ns) {
    if (IsWorth(ns, frames)) parts.push_back(fmt::format("{} {}", what, FrameMs(ns)));
  };
  if (!frames.window) {
    return Opening(frames) + ": no GPU work is recorded in it.";
  }
  const analysis::Balance& all = frames.whole;
  add("host before the GPU", all.host_before_ns);
  parts.push_back(fmt::format("GPU {} (busy {}, idle {})", FrameMs(all.busy_ns() + all.idle_ns()),
                              FrameMs(all.busy_ns()), FrameMs(all.idle_ns())));
  add("host after it", all.after_ns);
  add("GPU busy with what is not recorded", all.unrecorded_ns - frames.holes_ns());
  add("between steps that are not recorded", frames.holes_ns());
  add("GPU work launched before the recording", all.foreign_ns);
  return fmt::format("{}: {}.", Opening(frames), fmt::join(parts, ", "));
}

std::vector<std::string> FrameNotes(const TimeFrames& frames) {
  std::vector<std::pair<std::int64_t, std::string>> notes;
  const std::int64_t unrecorded = frames.whole.unrecorded_ns - frames.holes_ns();
  if (IsWorth(unrecorded, frames)) {
    notes.emplace_back(
        unrecorded,
        fmt::format(
            "for {} ms work was queued, or the host waited, and no recorded GPU work ran: "
            "the GPU was busy with something that is not in the trace; this is not idle time",
            FrameMs(unrecorded)));
  }
  for (const analysis::StepHole& hole : frames.base.holes) {
    const std::int64_t ns = hole.span.end - hole.span.start;
    const std::string which =
        !hole.first ? "nothing was recorded"
        : *hole.first == *hole.last
            ? fmt::format("step {} was not recorded", *hole.first)
            : fmt::format("steps {} to {} were not recorded", *hole.first, *hole.last);
    notes.emplace_back(ns,
                       fmt::format("for {} ms {}: that time is in no step", FrameMs(ns), which));
    if (notes.size() == 3) break;
  }
  if (frames.launches_without_work > 0) {
    notes.emplace_back(0, fmt::format("{} launches have no kernel in the recording",
                                      frames.launches_without_work));
  }
  if (!frames.foreign.empty() && frames.window) {
    const std::int64_t foreign = Length(frames.foreign_busy);
    notes.emplace_back(
        foreign,
        fmt::format("{} GPU events ({} ms) at the start were launched before the recording: "
                    "they belong to no step here; totals of the whole window hold them",
                    frames.foreign.size(), FrameMs(foreign)));
  }
  for (const StepFrame& step : frames.steps) {
    if (step.steady || step.first_call_ns == 0 || frames.steps.size() < 2) continue;
    notes.emplace_back(
        step.host_ns(),
        fmt::format("step {} takes {} ms ({}, {} ms in loading code and taking memory): it is set "
                    "apart from the steady ones",
                    step.name, FrameMs(step.host_ns()), step.odd_because,
                    FrameMs(step.first_call_ns)));
    break;
  }
  if (!frames.host_only.groups.empty()) {
    const HostOnlyGroup& most = frames.host_only.groups.front();
    constexpr std::int64_t kTwentieth = 20;
    if (most.total_ns * kTwentieth >= frames.whole.total_ns)
      notes.emplace_back(most.total_ns, HostOnlyNote(most));
  }
  std::stable_sort(notes.begin(), notes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> out;
  for (auto& [ns, text] : notes)
    out.push_back(std::move(text));
  return out;
}

}  // namespace jarvis::documents
