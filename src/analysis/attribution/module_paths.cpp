#include "analysis/attribution/module_paths.h"

#include <algorithm>

#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::analysis {
namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";

std::string_view WithoutTrailingDigits(std::string_view text) {
  while (!text.empty() && text.back() >= '0' && text.back() <= '9')
    text.remove_suffix(1);
  return text;
}

}  // namespace

bool IsPipelineCall(std::string_view frame) {
  return frame.find("/pipelines/") != std::string_view::npos && frame.ends_with(": __call__");
}

std::string_view ModuleClass(std::string_view frame) {
  if (!frame.starts_with(kModulePrefix)) return {};
  frame.remove_prefix(kModulePrefix.size());
  const std::string_view stem = WithoutTrailingDigits(frame);
  return stem.size() < frame.size() && stem.ends_with('_') ? stem.substr(0, stem.size() - 1)
                                                           : frame;
}

std::string FoldedName(std::string_view name) {
  if (const std::string_view module = ModuleClass(name); !module.empty()) {
    return std::string(kModulePrefix).append(module);
  }
  static constexpr std::string_view kStep = "ProfilerStep#";
  if (name.starts_with(kStep)) return std::string(kStep) + "*";
  return std::string(name);
}

ChainTree::ChainTree(const trace::EventStore& events, const tree::CallTree& tree)
    : events_(events), tree_(tree), known_(tree.preorder().size(), kUnknown) {
  entries_.push_back({kRoot, kNoString, trace::EventKind::kOther, false});
}

StringId ChainTree::Fold(StringId name) {
  const auto [found, added] = folded_.try_emplace(name, kNoString);
  if (added) found->second = names_.Intern(FoldedName(events_.strings[name]));
  return found->second;
}

ChainTree::Node ChainTree::Of(EventIndex event) {
  // Outward to the first event whose chain is known, then back inward. A forward op starts before
  // its backward node, so that the walk ends.
  struct Step {
    EventIndex event;
    bool forward_link;
  };
  std::vector<Step> steps;
  Node node = kRoot;
  bool forward_link = false;
  for (EventIndex e = event; e != trace::kNoEvent;) {
    if (!forward_link) {
      node = known_[tree_.position(e)];
      if (node != kUnknown) break;
      node = kRoot;
    }
    steps.push_back({e, forward_link});
    const EventIndex forward = tree_.ForwardOf(e);
    forward_link = forward != trace::kNoEvent;
    e = forward_link ? forward : tree_.parent(e);
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const trace::Event& e = events_[step->event];
    if (e.kind == trace::EventKind::kCpuOp && entries_[node].kind != trace::EventKind::kCpuOp)
      node = OfStack(node, step->event);
    node = Child(node, Fold(e.name), e.kind, step->forward_link);
    if (!step->forward_link) known_[tree_.position(step->event)] = node;
  }
  return node;
}

ChainTree::Node ChainTree::OfStack(Node node, EventIndex op) {
  const StringId other = events_.args_of(op).other;
  if (other == kNoString) return node;
  const std::string_view stack =
      trace::Unquoted(trace::MemberOf(events_.text(other), kCallStackArg));
  // The innermost frame stands first.
  for (std::size_t end = stack.size(); end > 0;) {
    const std::size_t last = stack.rfind(';', end - 1);
    const std::size_t begin = last == stack.npos ? 0 : last + 1;
    const std::string frame = trace::Unescape(Trim(stack.substr(begin, end - begin)));
    if (!frame.empty())
      node = Child(node, names_.Intern(frame), trace::EventKind::kPythonFunction, false);
    end = last == stack.npos ? 0 : last;
  }
  return node;
}

ChainTree::Node ChainTree::Child(Node parent, StringId name, trace::EventKind kind,
                                 bool forward_link) {
  std::vector<Node>& same = children_[(std::uint64_t{parent} << 32) | name];
  for (const Node node : same) {
    if (entries_[node].kind == kind && entries_[node].forward_link == forward_link) return node;
  }
  same.push_back(static_cast<Node>(entries_.size()));
  entries_.push_back({parent, name, kind, forward_link});
  return same.back();
}

std::vector<ChainTree::Frame> ChainTree::Frames(Node node) const {
  std::vector<Frame> frames;
  for (; node != kRoot; node = entries_[node].parent) {
    const Entry& entry = entries_[node];
    frames.push_back({entry.kind, names_[entry.name], entry.forward_link});
  }
  return frames;
}

std::string ModulePath(const std::vector<ChainTree::Frame>& frames) {
  std::vector<std::string_view> modules;
  bool backward = false;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    backward = backward || frame->forward_link;
    const std::string_view module = ModuleClass(frame->name);
    if (!module.empty()) modules.push_back(module);
  }
  // Every row has a path: whole ones of a trace of n nested modules would be n times its text.
  constexpr std::size_t kEndsMax = 24;
  std::string path;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (!path.empty()) path += " / ";
    if (i == kEndsMax && modules.size() > 2 * kEndsMax) {
      i = modules.size() - kEndsMax;
      path += "... " + std::to_string(modules.size() - 2 * kEndsMax) + " modules ... / ";
    }
    path += modules[i];
  }
  if (backward && !path.empty()) path += " (backward)";
  return path;
}

}  // namespace jarvis::analysis
