#include "findings/one/idle_python.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "findings/one/host_only_work.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

// The framework's own frames, among them the one that waits while autograd's thread launches, are
// nobody's to compute once.
constexpr std::string_view kNoFrames[] = {"nn.Module: ", "torch/", "<built-in"};

bool IsPlainFunction(std::string_view name) {
  return std::none_of(std::begin(kNoFrames), std::end(kNoFrames),
                      [&](std::string_view part) { return name.starts_with(part); });
}

bool IsWithin(const IntervalSet<std::int64_t>& spans, const trace::Event& event) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), event.ts_ns,
                       [](std::int64_t at, const auto& span) { return at < span.start; });
  return after != spans.begin() && event.end_ns() <= std::prev(after)->end;
}

}  // namespace

std::vector<HostPlace> FindIdlePython(const session::LoadedTrace& trace,
                                      const IntervalSet<std::int64_t>& spans, double least_ms) {
  const trace::EventStore& events = trace.events();
  const tree::CallTree& tree = trace.tree();
  const std::vector<bool> others = EventsHolding(
      tree, [&](EventIndex e) { return events[e].kind != trace::EventKind::kPythonFunction; });
  std::map<std::string_view, HostPlace> places;
  for (const EventIndex e : tree.preorder()) {
    const EventIndex parent = tree.parent(e);
    const bool outermost =
        parent != trace::kNoEvent && !others[tree.position(e)] && others[tree.position(parent)];
    if (!outermost || !IsWithin(spans, events[e]) || !IsPlainFunction(events.name(e))) continue;
    HostPlace& place = places[events.name(e)];
    place.name = events.name(e);
    if (place.code.empty()) place.code = events.name(parent);
    ++place.count;
    place.ms += static_cast<double>(events[e].dur_ns) / 1e6;
  }
  std::vector<HostPlace> out;
  for (auto& [name, place] : places) {
    if (place.ms >= least_ms) out.push_back(std::move(place));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const HostPlace& a, const HostPlace& b) { return a.ms > b.ms; });
  return out;
}

}  // namespace jarvis::findings
