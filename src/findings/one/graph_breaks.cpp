#include "findings/one/graph_breaks.h"

#include <algorithm>
#include <string_view>

#include "findings/one/host_units.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::string_view kCompiledPart = "Torch-Compiled Region";
// A part that launches no more than this before its value is read computes little else.
constexpr std::ptrdiff_t kLaunchesOfCheck = 4;

}  // namespace

GraphBreaks::GraphBreaks(const trace::EventStore& events, const tree::CallTree& tree,
                         std::span<const analysis::FoundStep> units)
    : events_(events), tree_(tree), units_(units) {
  std::vector<std::int8_t> is_part(events.strings.size(), -1);
  for (const EventIndex e : tree.preorder()) {
    const trace::Event& event = events[e];
    if (trace::IsLaunchCall(event.kind) && !tree.GpuBelow(e).empty()) {
      const EventIndex work = tree.GpuBelow(e).front();
      if (events[work].kind == trace::EventKind::kKernel) launches_.push_back(e);
    }
    if (event.kind != trace::EventKind::kCpuOp) continue;
    std::int8_t& known = is_part[event.name];
    if (known < 0) known = events.name(e).starts_with(kCompiledPart) ? 1 : 0;
    if (known == 1) parts_.push_back(e);
  }
}

EventIndex GraphBreaks::PartAround(EventIndex e) const {
  for (EventIndex above = tree_.parent(e); above != kNoEvent; above = tree_.parent(above)) {
    if (events_[above].kind == trace::EventKind::kCpuOp &&
        events_.name(above).starts_with(kCompiledPart))
      return above;
  }
  return kNoEvent;
}

EventIndex GraphBreaks::Outermost(EventIndex part) const {
  for (EventIndex above = PartAround(part); above != kNoEvent; above = PartAround(above))
    part = above;
  return part;
}

bool GraphBreaks::InSamePass(EventIndex part, EventIndex next, std::int64_t wait_ns) const {
  if (Outermost(part) == Outermost(next)) return true;
  const analysis::FoundStep* unit = UnitBegunBy(units_, wait_ns);
  return unit != nullptr && events_[next].ts_ns < unit->host.end;
}

std::optional<Interval<std::int64_t>> GraphBreaks::At(EventIndex wait) const {
  const EventIndex part = PartAround(wait);
  if (part == kNoEvent) return std::nullopt;
  const std::uint32_t at = tree_.position(wait);
  const auto later = [&](const std::vector<EventIndex>& of, std::uint32_t position) {
    return std::partition_point(of.begin(), of.end(),
                                [&](EventIndex e) { return tree_.position(e) <= position; });
  };
  const auto next_part = later(parts_, at);
  const auto next_launch = later(launches_, at);
  if (next_part == parts_.end() || next_launch == launches_.end()) return std::nullopt;
  // Whatever is launched next, the next part launches.
  const bool same_thread = events_[*next_part].track == events_[wait].track &&
                           events_[*next_launch].track == events_[wait].track;
  if (!same_thread || tree_.position(*next_launch) < tree_.position(*next_part) ||
      !InSamePass(part, *next_part, events_[wait].ts_ns))
    return std::nullopt;
  const auto first = later(launches_, tree_.position(part));
  if (next_launch == first || next_launch == launches_.begin()) return std::nullopt;
  const auto before = next_launch - first <= kLaunchesOfCheck && first != launches_.begin() &&
                              events_[*(first - 1)].track == events_[wait].track
                          ? first - 1
                          : next_launch - 1;
  return Interval<std::int64_t>{events_[*before].end_ns(), events_[*next_launch].ts_ns};
}

std::uint64_t GraphBreaks::PartsIn(const IntervalSet<std::int64_t>& spans) const {
  return static_cast<std::uint64_t>(std::count_if(parts_.begin(), parts_.end(), [&](EventIndex e) {
    return Contains(spans, events_[e].ts_ns);
  }));
}

}  // namespace jarvis::findings
