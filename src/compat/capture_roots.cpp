#include "compat/capture_roots.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "compat/tracelens_tree.h"
#include "trace/json_text.h"

namespace jarvis::compat {
namespace {

using trace::EventKind;
using trace::EventStore;

class RootFinder {
 public:
  explicit RootFinder(const EventStore& events)
      : events_(events), tree_(BuildTraceLensTree(events, true)), children_(events.size()) {
    for (const EventIndex e : tree_.hosts) {
      if (tree_.parent[e] != kNoEvent) children_[tree_.parent[e]].push_back(e);
    }
  }

  std::vector<CaptureRoot> Run() const {
    std::vector<EventIndex> begins, ends;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (TraceLensKind(events_, e) != EventKind::kRuntime) continue;
      const std::string_view name = events_.name(e);
      if (name.find("StreamBeginCapture") != std::string_view::npos) begins.push_back(e);
      if (name.find("StreamEndCapture") != std::string_view::npos) ends.push_back(e);
    }
    std::vector<CaptureRoot> roots;
    for (std::size_t i = 0; i < std::min(begins.size(), ends.size()); ++i)
      roots.push_back(Make(tree_.end[begins[i]], tree_.ts[ends[i]]));
    return roots;
  }

 private:
  CaptureRoot Make(double begin, double end) const {
    const auto inside = [&](EventIndex e) { return tree_.ts[e] >= begin && tree_.end[e] <= end; };
    std::vector<std::pair<EventIndex, EventIndex>> found;
    for (const EventIndex e : tree_.hosts) {
      const EventKind kind = TraceLensKind(events_, e);
      if (kind != EventKind::kCpuOp && kind != EventKind::kPythonFunction) continue;
      const EventIndex up = tree_.parent[e];
      if (up != kNoEvent && inside(e) && !inside(up)) found.emplace_back(e, kNoEvent);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      const EventIndex parent = found[i].first;
      for (const EventIndex child : children_[parent])
        found.emplace_back(child, parent);
    }
    std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
      return tree_.ts[a.first] < tree_.ts[b.first];
    });
    CaptureRoot root;
    root.subtree = std::move(found);
    for (const auto& [e, parent] : root.subtree) {
      if (IsDispatch(e)) AddLaunch(e, &root.graph);
      if (IsTopmostOp(e)) root.ops.push_back(e);
    }
    return root;
  }

  bool IsTopmostOp(EventIndex e) const {
    if (TraceLensKind(events_, e) != EventKind::kCpuOp) return false;
    for (EventIndex up = tree_.parent[e]; up != kNoEvent; up = tree_.parent[up]) {
      if (TraceLensKind(events_, up) == EventKind::kCpuOp) return false;
    }
    return true;
  }

  bool IsDispatch(EventIndex e) const {
    if (!trace::IsLaunchCall(TraceLensKind(events_, e))) return false;
    const std::string_view name = events_.name(e);
    return ContainsNoCase(name, "launch") || ContainsNoCase(name, "memcpy") ||
           ContainsNoCase(name, "memset");
  }

  void AddLaunch(EventIndex e, analysis::CapturedGraph* graph) const {
    graph->launches.push_back(e);
    const std::string_view args = events_.text(events_.args_of(e).other);
    graph->kernels.push_back(trace::Unescape(trace::Unquoted(trace::MemberOf(args, "kernel"))));
  }

  const EventStore& events_;
  const TraceLensTree tree_;
  std::vector<std::vector<EventIndex>> children_;
};

}  // namespace

std::vector<CaptureRoot> FindCaptureRoots(const EventStore& capture) {
  return RootFinder(capture).Run();
}

}  // namespace jarvis::compat
