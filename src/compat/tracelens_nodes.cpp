#include "compat/tracelens_nodes.h"

#include <algorithm>

#include "perf/op_category.h"

namespace jarvis::compat {
namespace {

using analysis::CallContext;
using analysis::Clock;
using analysis::PseudoOp;
using analysis::WorkCall;
using trace::EventKind;
using trace::EventStore;

}  // namespace

TraceLensNodes::TraceLensNodes(const EventStore& events, const TraceLensTree& tree,
                               const analysis::Attribution& attribution, analysis::OpWorks& works,
                               bool inference)
    : events_(events),
      tree_(tree),
      attribution_(attribution),
      works_(works),
      annotations_(events, tree, inference) {
  for (const PseudoOp& op : attribution.pseudo.ops()) {
    if (op.place == PseudoOp::Place::kBelowOp) pseudo_.push_back(&op);
  }
  nodes_ = events.size() + static_cast<Node>(pseudo_.size());
  AddChildren();
  MarkGpu();
  MarkModels();
  LinkGradients();
  for (const analysis::Launcher& launcher : attribution.launchers) {
    if (launcher.op != kNoEvent) {
      first_kernel_.try_emplace(launcher.op, attribution.KernelsOf(launcher).front());
    }
  }
}

void TraceLensNodes::AddChildren() {
  children_.resize(nodes_);
  for (const EventIndex e : tree_.hosts) {
    if (tree_.parent[e] != kNoEvent) children_[tree_.parent[e]].push_back(e);
  }
  for (Node n = events_.size(); n < nodes_; ++n) {
    const PseudoOp& op = *PseudoOf(n);
    std::erase(children_[op.at], op.launch);
    children_[op.at].push_back(n);
    children_[n].push_back(op.launch);
  }
}

void TraceLensNodes::MarkGpu() {
  has_gpu_.assign(nodes_, 0);
  for (const auto& [call, kernel] : tree_.links) {
    gpu_of_call_[call].push_back(kernel);
    for (Node up = call; up != kNoEvent && has_gpu_[up] == 0; up = ParentOf(up))
      has_gpu_[up] = 1;
  }
  for (Node n = events_.size(); n < nodes_; ++n)
    has_gpu_[n] = 1;
}

const perf::ModelRow* TraceLensNodes::ModelOf(Node n) {
  if (n < events_.size() && PseudoOf(n) == nullptr && attribution_.pseudo.empty()) {
    return works_.ModelOf(events_[n].name);
  }
  return works_.ModelOf(NameOf(n));
}

bool TraceLensNodes::HasModel(Node n) {
  const perf::ModelRow* model = ModelOf(n);
  if (model == nullptr) return false;
  if (model->prefixes.empty() || works_.rows().FindExact(NameOf(n)) != nullptr) return true;
  return n < events_.size() && works_.Modelled(n);
}

void TraceLensNodes::MarkModels() {
  modelled_.assign(nodes_, 0);
  modelled_below_.assign(nodes_, 0);
  const auto visit = [&](Node n) {
    modelled_[n] = has_gpu_[n] != 0 && KindOf(n) == EventKind::kCpuOp && HasModel(n);
    const Node up = ParentOf(n);
    if (up == kNoEvent || (modelled_[n] == 0 && modelled_below_[n] == 0)) return;
    const EventKind kind = KindOf(n);
    if (kind == EventKind::kCpuOp || kind == EventKind::kPythonFunction) modelled_below_[up] = 1;
  };
  for (Node n = nodes_; n-- > events_.size();)
    visit(n);
  for (std::size_t i = tree_.hosts.size(); i-- > 0;)
    visit(tree_.hosts[i]);
}

void TraceLensNodes::LinkGradients() {
  std::unordered_map<std::int64_t, std::vector<EventIndex>> by_sequence;
  std::vector<std::int64_t> order;
  for (EventIndex e = 0; e < events_.size(); ++e) {
    if (TraceLensKind(events_, e) != EventKind::kCpuOp) continue;
    const std::int64_t sequence = events_.args_of(e).sequence;
    if (sequence == trace::kAbsent) continue;
    auto& all = by_sequence[sequence];
    if (all.empty()) order.push_back(sequence);
    all.push_back(e);
  }
  for (const std::int64_t sequence : order) {
    const std::vector<EventIndex>& all = by_sequence[sequence];
    const auto node = std::find_if(all.begin(), all.end(), [&](EventIndex e) {
      return events_.name(e).starts_with("autograd::engine::evaluate_function:");
    });
    if (node == all.end()) continue;
    EventIndex forward = kNoEvent;
    for (const EventIndex e : all) {
      if (e == *node || events_[e].track == events_[*node].track) continue;
      if (forward == kNoEvent || tree_.ts[e] > tree_.ts[forward]) forward = e;
    }
    if (forward == kNoEvent) continue;
    forward_of_[*node] = forward;
    backward_of_[forward] = *node;
  }
  sequences_ = std::move(by_sequence);
}

StringId TraceLensNodes::AnnotationOf(Node n) const {
  return n >= events_.size() ? kNoString : annotations_.Around(n, NameOf(n));
}

NodeGpu TraceLensNodes::GpuOf(const std::unordered_set<Node>& wanted) const {
  NodeGpu out;
  for (const auto& [call, kernel] : tree_.listed.empty() ? tree_.links : tree_.listed) {
    for (Node up = call; up != kNoEvent; up = ParentOf(up)) {
      if (wanted.count(up) != 0) out[up].push_back(kernel);
    }
  }
  for (Node n = events_.size(); n < nodes_; ++n) {
    if (wanted.count(n) != 0) out[n] = PseudoOf(n)->kernels;
  }
  return out;
}

std::vector<EventIndex> TraceLensNodes::ByStart(std::vector<EventIndex> kernels) const {
  std::stable_sort(kernels.begin(), kernels.end(),
                   [&](EventIndex a, EventIndex b) { return tree_.ts[a] < tree_.ts[b]; });
  // L5: two launches with one correlation list their kernel twice.
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  return kernels;
}

TraceLensNodes::Link TraceLensNodes::LinkOf(Node n) const {
  Node up = ParentOf(n);
  for (int i = 0; i < 5 && up != kNoEvent; ++i, up = ParentOf(up)) {
    const auto found = forward_of_.find(up);
    if (found != forward_of_.end() && events_[found->second].uid != 0) {
      return {up, found->second};
    }
  }
  return {};
}

std::vector<EventIndex> TraceLensNodes::BackwardBelow(Node op) const {
  std::vector<EventIndex> out;
  std::vector<Node> waiting = {op};
  while (!waiting.empty()) {
    const Node n = waiting.back();
    waiting.pop_back();
    const auto found = backward_of_.find(n);
    if (found != backward_of_.end()) out.push_back(found->second);
    waiting.insert(waiting.end(), children_[n].begin(), children_[n].end());
  }
  return out;
}

const perf::OpCall* TraceLensNodes::ArgumentsOf(Node n) {
  const PseudoOp* op = PseudoOf(n);
  return op == nullptr ? nullptr : works_.ArgumentsOf(*op);
}

EventIndex TraceLensNodes::ForwardBySequence(EventIndex e) const {
  std::string_view name = events_.name(e);
  if (!name.ends_with("Backward")) return kNoEvent;
  name.remove_suffix(8);
  const auto found = sequences_.find(events_.args_of(e).sequence);
  if (found == sequences_.end()) return kNoEvent;
  for (const EventIndex other : found->second) {
    if (other < e && events_.name(other) == name) return other;
  }
  return kNoEvent;
}

CallContext TraceLensNodes::ContextOf(Node n, std::span<const EventIndex> kernels) {
  return {kernels, AnnotationOf(n), n < events_.size() ? ForwardBySequence(n) : kNoEvent,
          ArgumentsOf(n)};
}

std::string_view TraceLensNodes::CategoryOf(Node n, std::string_view name) const {
  const auto kernel = first_kernel_.find(n);
  return perf::CategoryOfOp(
      works_.rows(), name,
      kernel == first_kernel_.end() ? std::string_view() : events_.name(kernel->second));
}

WorkCall TraceLensNodes::CallOf(Node n) const {
  WorkCall call;
  call.op = EventOf(n);
  const PseudoOp* pseudo = PseudoOf(n);
  if (n >= events_.size()) {
    call.name = pseudo->name;
    call.pseudo = pseudo;
  }
  call.uid = pseudo != nullptr ? pseudo->uid : events_[n].uid;
  if (pseudo == nullptr || pseudo->HasTimes()) {
    call.host_us = analysis::DurationUs(events_, n, Clock::kDoubleMicros);
  }
  call.category = CategoryOf(n, NameOf(n));
  return call;
}

}  // namespace jarvis::compat
