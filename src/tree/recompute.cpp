#include "tree/recompute.h"

namespace jarvis::tree {

bool IsRecomputeFrame(std::string_view name) {
  return name.find("torch/utils/checkpoint.py") != std::string_view::npos &&
         name.find("recompute_fn") != std::string_view::npos;
}

std::vector<char> MarkRecompute(const trace::EventStore& events, const CallTree& tree) {
  std::vector<char> marked(events.size(), 0);
  const auto preorder = tree.preorder();
  for (std::size_t at = 0; at < preorder.size();) {
    const EventIndex e = preorder[at];
    if (events[e].kind != trace::EventKind::kPythonFunction || !IsRecomputeFrame(events.name(e))) {
      ++at;
      continue;
    }
    for (const EventIndex inside : tree.Subtree(e))
      marked[inside] = 1;
    for (const EventIndex gpu : tree.GpuBelow(e))
      marked[gpu] = 1;
    at = tree.subtree_end(e);
  }
  return marked;
}

}  // namespace jarvis::tree
