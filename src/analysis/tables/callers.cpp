#include "analysis/tables/callers.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

namespace jarvis::analysis {
namespace {

using trace::EventKind;

// No answer and no file shows more chains of one row; the frames of all would take more memory than
// the trace where each call has a chain of its own.
constexpr std::size_t kCallersWithFrames = 200;

bool IsLibraryFrame(std::string_view frame) {
  return frame.starts_with("torch/") || frame.find("/torch/") != std::string_view::npos ||
         frame.starts_with("<built-in") || frame.starts_with("<string>") ||
         frame.find("contextlib.py(") != std::string_view::npos ||
         frame.find("threading.py(") != std::string_view::npos;
}

double TimeInRow(const SummaryInput& input, const SummaryRow& row, GroupBy by,
                 const Launcher& launcher) {
  if (by != GroupBy::kKernel) return launcher.direct_us;
  double us = 0;
  for (const EventIndex kernel : input.attribution.KernelsOf(launcher)) {
    if (input.events.name(kernel) == row.name)
      us += DurationUs(input.events, kernel, Clock::kNanoseconds);
  }
  return us;
}

class SubtreePrinter {
 public:
  SubtreePrinter(const SummaryInput& input, int depth_max, std::size_t nodes_max)
      : in_(input), depth_max_(depth_max), nodes_max_(nodes_max) {}

  std::vector<SubtreeNode> Run(EventIndex root) {
    struct Pending {
      EventIndex event;
      int depth;
    };
    std::vector<Pending> stack = {{root, 0}};
    while (!stack.empty()) {
      const Pending next = stack.back();
      stack.pop_back();
      Add(next.event, next.depth);
      if (trace::IsGpuWork(in_.events[next.event].kind)) continue;
      const std::vector<EventIndex> below = Below(next.event);
      if (below.empty()) continue;
      if (next.depth >= depth_max_ || nodes_.size() + stack.size() + below.size() > nodes_max_) {
        AddMore(below, next.depth + 1);
        continue;
      }
      for (auto child = below.rbegin(); child != below.rend(); ++child)
        stack.push_back({*child, next.depth + 1});
    }
    return std::move(nodes_);
  }

 private:
  // What is shown under an event, in order: host events with GPU work below them, and GPU work.
  // Library frames and runtime calls are stood in for by what is below them.
  std::vector<EventIndex> Below(EventIndex e) const {
    std::vector<EventIndex> below;
    std::vector<EventIndex> stack = {e};
    while (!stack.empty()) {
      const EventIndex next = stack.back();
      stack.pop_back();
      if (next != e && !PassedThrough(next)) {
        below.push_back(next);
        continue;
      }
      const auto own = in_.tree.GpuOf(next);
      stack.insert(stack.end(), own.rbegin(), own.rend());
      const std::vector<EventIndex> children = in_.tree.Children(next);
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        if (!in_.tree.GpuBelow(*child).empty()) stack.push_back(*child);
      }
    }
    return below;
  }

  bool PassedThrough(EventIndex e) const {
    const EventKind kind = in_.events[e].kind;
    if (trace::IsLaunchCall(kind)) return true;
    const std::string_view name = in_.events.name(e);
    return kind == EventKind::kPythonFunction && ModuleClass(name).empty() && IsLibraryFrame(name);
  }

  double GpuUs(EventIndex e) const {
    if (trace::IsGpuWork(in_.events[e].kind)) return DurationUs(in_.events, e, Clock::kNanoseconds);
    double us = 0;
    for (const EventIndex gpu : in_.tree.GpuBelow(e))
      us += DurationUs(in_.events, gpu, Clock::kNanoseconds);
    return us;
  }

  void Add(EventIndex e, int depth) {
    const trace::Event& event = in_.events[e];
    const bool gpu = trace::IsGpuWork(event.kind);
    const std::string_view name = in_.events.name(e);
    nodes_.push_back({depth, event.uid, std::string(name), std::string(KindText(event.kind, name)),
                      gpu ? 0 : DurationUs(in_.events, e, Clock::kNanoseconds), GpuUs(e)});
  }

  void AddMore(const std::vector<EventIndex>& events, int depth) {
    double us = 0;
    for (const EventIndex e : events)
      us += GpuUs(e);
    nodes_.push_back({depth, 0, fmt::format("(+{} more)", events.size()), "more", 0, us});
  }

  const SummaryInput& in_;
  int depth_max_;
  std::size_t nodes_max_;
  std::vector<SubtreeNode> nodes_;
};

}  // namespace

std::string_view KindText(EventKind kind, std::string_view name) {
  switch (kind) {
    case EventKind::kCpuOp: return "cpu_op";
    case EventKind::kPythonFunction: return ModuleClass(name).empty() ? "python" : "nn_module";
    case EventKind::kUserAnnotation: return "annotation";
    case EventKind::kRuntime:
    case EventKind::kDriver: return "runtime";
    case EventKind::kKernel: return "kernel";
    case EventKind::kMemcpy: return "memcpy";
    case EventKind::kMemset: return "memset";
    default: return "other";
  }
}

std::vector<Caller> FindCallers(const SummaryInput& input, const SummaryRow& row, GroupBy by,
                                ChainTree* chains) {
  std::vector<Caller> callers;
  std::vector<ChainTree::Node> nodes;
  std::unordered_map<ChainTree::Node, std::size_t> index;
  for (const std::uint32_t i : row.launchers) {
    const Launcher& launcher = input.attribution.launchers[i];
    const ChainTree::Node node =
        launcher.op == kNoEvent ? ChainTree::kRoot : chains->Of(launcher.op);
    const auto [found, added] = index.try_emplace(node, callers.size());
    if (added) {
      callers.push_back({{}, 0, 0, launcher.op});
      nodes.push_back(node);
    }
    Caller& caller = callers[found->second];
    caller.gpu_us += TimeInRow(input, row, by, launcher);
    ++caller.count;
  }
  std::vector<std::size_t> order(callers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return callers[a].gpu_us > callers[b].gpu_us;
  });
  std::vector<Caller> sorted;
  sorted.reserve(callers.size());
  for (const std::size_t i : order) {
    sorted.push_back(std::move(callers[i]));
    if (sorted.size() <= kCallersWithFrames) sorted.back().frames = chains->Frames(nodes[i]);
  }
  return sorted;
}

std::vector<std::string> CodePlaces(const std::vector<ChainTree::Frame>& frames, std::size_t most) {
  std::vector<std::string> places;
  std::size_t folded = 0;
  for (const ChainTree::Frame& frame : frames) {
    if (frame.forward_link) {
      if (!places.empty() || folded > 0) places.emplace_back("[backward of]");
      folded = 0;
    }
    if (frame.kind != EventKind::kPythonFunction || !ModuleClass(frame.name).empty()) continue;
    if (IsLibraryFrame(frame.name)) {
      ++folded;
      continue;
    }
    if (places.size() >= most) break;
    if (folded > 0 && !places.empty())
      places.push_back(fmt::format("... {} library frames", folded));
    folded = 0;
    places.emplace_back(frame.name);
  }
  return places;
}

std::string OpPath(const std::vector<ChainTree::Frame>& frames) {
  // Each part goes from the outermost op inward; parts are joined where the chain goes over from a
  // backward node to its forward op.
  constexpr int kPartsMax = 4;
  constexpr std::ptrdiff_t kOpsAtEndsMax = 12;
  std::string path;
  std::string closing;
  int parts = 0;
  for (auto part = frames.begin(); part != frames.end() && parts < kPartsMax; ++parts) {
    const auto end = std::find_if(part + 1, frames.end(),
                                  [](const ChainTree::Frame& frame) { return frame.forward_link; });
    if (parts > 0) {
      path += " [backward of ";
      closing += ']';
    }
    std::vector<std::string_view> ops;
    for (auto frame = std::make_reverse_iterator(end); frame.base() != part; ++frame) {
      if (frame->kind == EventKind::kCpuOp || trace::IsLaunchCall(frame->kind))
        ops.push_back(frame->name);
    }
    if (std::ssize(ops) > 2 * kOpsAtEndsMax) {
      const auto begin = ops.begin() + kOpsAtEndsMax;
      *begin = "...";
      ops.erase(begin + 1, ops.end() - kOpsAtEndsMax);
    }
    path += fmt::format("{}", fmt::join(ops, " > "));
    part = end;
  }
  return path + closing;
}

std::vector<SubtreeNode> PrintableSubtree(const SummaryInput& input, EventIndex root, int depth_max,
                                          std::size_t nodes_max) {
  return SubtreePrinter(input, depth_max, nodes_max).Run(root);
}

}  // namespace jarvis::analysis
