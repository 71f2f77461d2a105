#include "findings/one/idle_python.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

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

// Whether an event holds nothing but Python, by its place in the tree's order.
std::vector<bool> OnlyPython(const trace::EventStore& events, const tree::CallTree& tree) {
  const std::span<const EventIndex> order = tree.preorder();
  std::vector<bool> only(order.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i)
    only[i] = events[order[i]].kind == trace::EventKind::kPythonFunction;
  // From the last to the first: what is inside an event comes after it.
  for (std::size_t i = order.size(); i-- > 0;) {
    const EventIndex parent = tree.parent(order[i]);
    if (!only[i] && parent != trace::kNoEvent) only[tree.position(parent)] = false;
  }
  return only;
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
  const std::vector<bool> only = OnlyPython(events, tree);
  std::map<std::string_view, HostPlace> places;
  for (const EventIndex e : tree.preorder()) {
    const EventIndex parent = tree.parent(e);
    const bool outermost =
        parent != trace::kNoEvent && only[tree.position(e)] && !only[tree.position(parent)];
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
