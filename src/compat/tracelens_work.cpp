#include "compat/tracelens_work.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analysis/tables/family_table.h"
#include "compat/tracelens_annotations.h"
#include "perf/op_category.h"

namespace jarvis::compat {
namespace {

using analysis::CallContext;
using analysis::Clock;
using analysis::PseudoOp;
using analysis::WorkCall;
using trace::EventKind;
using trace::EventStore;

// A node of the walk: an event, or beyond all events a pseudo-op below an op.
using Node = std::uint32_t;

class Walker {
 public:
  Walker(const EventStore& events, const TraceLensTree& tree,
         const analysis::Attribution& attribution, analysis::OpWorks& works,
         const TraceLensWorkOptions& options)
      : events_(events),
        tree_(tree),
        attribution_(attribution),
        works_(works),
        options_(options),
        annotations_(events, tree, options.inference) {
    for (const PseudoOp& op : attribution.pseudo.ops()) {
      if (op.place == PseudoOp::Place::kBelowOp) pseudo_.push_back(&op);
    }
    nodes_ = events.size() + static_cast<Node>(pseudo_.size());
    Children();
    Gpu();
    Models();
    Gradients();
    for (const analysis::Launcher& launcher : attribution.launchers) {
      if (launcher.op != kNoEvent) {
        first_kernel_.try_emplace(launcher.op, attribution.KernelsOf(launcher).front());
      }
    }
  }

  TraceLensWork Run() {
    Collect();
    Synthesise();
    Families();
    return std::move(result_);
  }

 private:
  const PseudoOp* PseudoOf(Node n) const {
    return n >= events_.size() ? pseudo_[n - events_.size()] : attribution_.pseudo.AtFrame(n);
  }
  EventKind KindOf(Node n) const {
    return PseudoOf(n) != nullptr ? EventKind::kCpuOp : TraceLensKind(events_, n);
  }
  std::string_view NameOf(Node n) const {
    if (n >= events_.size()) return PseudoOf(n)->name;
    return attribution_.pseudo.NameOf(events_, n);
  }
  Node ParentOf(Node n) const { return n >= events_.size() ? PseudoOf(n)->at : tree_.parent[n]; }

  void Children() {
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

  void Gpu() {
    has_gpu_.assign(nodes_, 0);
    for (const auto& [call, kernel] : tree_.links) {
      gpu_of_call_[call].push_back(kernel);
      for (Node up = call; up != kNoEvent && has_gpu_[up] == 0; up = ParentOf(up))
        has_gpu_[up] = 1;
    }
    for (Node n = events_.size(); n < nodes_; ++n)
      has_gpu_[n] = 1;
  }

  const perf::ModelRow* ModelOf(Node n) {
    if (n < events_.size() && PseudoOf(n) == nullptr && attribution_.pseudo.empty()) {
      return works_.ModelOf(events_[n].name);
    }
    return works_.ModelOf(NameOf(n));
  }

  bool HasModel(Node n) {
    const perf::ModelRow* model = ModelOf(n);
    if (model == nullptr) return false;
    if (model->prefixes.empty() || works_.rows().FindExact(NameOf(n)) != nullptr) return true;
    return n < events_.size() && works_.Modelled(n);
  }

  // modelled_below_[n]: a cpu_op with a model and GPU work is below, through cpu_ops and frames.
  void Models() {
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

  // One backward node per sequence number, and its forward op on another thread. T8: never on the
  // same one.
  void Gradients() {
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

  StringId AnnotationOf(Node n) const {
    return n >= events_.size() ? kNoString : annotations_.Around(n, NameOf(n));
  }

  // GPU work of a set of nodes, each in the order of the launches in the file.
  std::unordered_map<Node, std::vector<EventIndex>> GpuOf(
      const std::unordered_set<Node>& wanted) const {
    std::unordered_map<Node, std::vector<EventIndex>> out;
    for (const auto& [call, kernel] : tree_.links) {
      for (Node up = call; up != kNoEvent; up = ParentOf(up)) {
        if (wanted.count(up) != 0) out[up].push_back(kernel);
      }
    }
    for (Node n = events_.size(); n < nodes_; ++n) {
      if (wanted.count(n) != 0) out[n] = PseudoOf(n)->kernels;
    }
    return out;
  }

  std::vector<EventIndex> ByStart(std::vector<EventIndex> kernels) const {
    std::stable_sort(kernels.begin(), kernels.end(),
                     [&](EventIndex a, EventIndex b) { return tree_.ts[a] < tree_.ts[b]; });
    // L5: two launches with one correlation list their kernel twice.
    kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
    return kernels;
  }

  // A forward op with uid 0 counts as none (P41).
  struct Link {
    EventIndex node = kNoEvent;
    EventIndex forward = kNoEvent;
  };
  Link LinkOf(Node n) const {
    Node up = ParentOf(n);
    for (int i = 0; i < 5 && up != kNoEvent; ++i, up = ParentOf(up)) {
      const auto found = forward_of_.find(up);
      if (found != forward_of_.end() && events_[found->second].uid != 0) {
        return {up, found->second};
      }
    }
    return {};
  }

  int CountSame(Node wrapper, std::string_view name) const {
    int count = 0;
    std::vector<Node> waiting = {wrapper};
    while (!waiting.empty()) {
      const Node n = waiting.back();
      waiting.pop_back();
      for (const Node child : children_[n]) {
        if (KindOf(child) != EventKind::kCpuOp) continue;
        if (has_gpu_[child] != 0 && (name.empty() || NameOf(child) == name)) ++count;
        waiting.push_back(child);
      }
    }
    return count;
  }

  // The forward op whose backward formulas a backward op can use; else kNoEvent.
  EventIndex SoleForward(Node n) {
    if (KindOf(n) != EventKind::kCpuOp) return kNoEvent;
    const Link link = LinkOf(n);
    if (link.forward == kNoEvent || !HasModel(link.forward)) return kNoEvent;
    const std::string_view wrapper = NameOf(link.node);
    const std::size_t colon = wrapper.find(": ");
    const std::string_view main =
        colon == std::string_view::npos ? std::string_view() : wrapper.substr(colon + 2);
    if (CountSame(link.node, main) != 1) return kNoEvent;
    // P35: by exact name only.
    const perf::OpEntry* entry = works_.rows().FindExact(NameOf(link.forward));
    if (entry == nullptr || entry->row < 0) return kNoEvent;
    const perf::ModelRow& model = works_.rows().rows()[static_cast<std::size_t>(entry->row)];
    if (model.backward_category.empty()) return kNoEvent;
    const perf::OpWork& work = works_.WorkOf(
        model, link.forward, {{}, AnnotationOf(link.forward), kNoEvent, nullptr}, true);
    if (work.failure != perf::OpWork::Failure::kNone || !work.flops) return kNoEvent;
    return link.forward;
  }

  // T10b: below runtime calls and frames, not below driver calls.
  bool IsLeaf(Node n) const {
    if (KindOf(n) != EventKind::kCpuOp) return false;
    std::vector<std::pair<Node, int>> waiting = {{n, 0}};
    while (!waiting.empty()) {
      const auto [at, depth] = waiting.back();
      waiting.pop_back();
      const auto gpu = gpu_of_call_.find(at);
      if (gpu != gpu_of_call_.end()) return true;
      if (depth >= 10) continue;
      for (const Node child : children_[at]) {
        const EventKind kind = KindOf(child);
        if (kind == EventKind::kRuntime || kind == EventKind::kPythonFunction) {
          waiting.emplace_back(child, depth + 1);
        }
      }
    }
    return false;
  }

  bool AnyCollective(Node n) const {
    std::vector<Node> waiting = {n};
    while (!waiting.empty()) {
      const Node at = waiting.back();
      waiting.pop_back();
      const auto gpu = gpu_of_call_.find(at);
      if (gpu != gpu_of_call_.end()) {
        for (const EventIndex kernel : gpu->second) {
          if (analysis::IsCollectiveName(events_.name(kernel))) return true;
        }
      }
      waiting.insert(waiting.end(), children_[at].begin(), children_[at].end());
    }
    return false;
  }

  void Collect() {
    std::vector<char> visited(nodes_, 0);
    std::vector<Node> waiting;
    const auto start = [&](Node root) {
      waiting.push_back(root);
      while (!waiting.empty()) {
        const Node n = waiting.back();
        waiting.pop_back();
        if (visited[n] != 0) continue;
        visited[n] = 1;
        if (!options_.python_frames && KindOf(n) != EventKind::kCpuOp) continue;
        if (has_gpu_[n] == 0) continue;
        if (modelled_[n] != 0 || (KindOf(n) != EventKind::kCpuOp && HasModel(n))) {
          collected_.push_back({n, kNoEvent});
          continue;
        }
        const auto descend = [&] {
          waiting.insert(waiting.end(), children_[n].rbegin(), children_[n].rend());
        };
        const EventIndex forward = SoleForward(n);
        if (forward != kNoEvent && modelled_below_[n] == 0) {
          collected_.push_back({n, forward});
        } else if (modelled_below_[n] != 0) {
          descend();
        } else if (IsLeaf(n)) {
          if (!AnyCollective(n)) collected_.push_back({n, kNoEvent});
        } else {
          descend();
        }
      }
    };
    if (options_.python_frames) {
      for (EventIndex e = 0; e < events_.size(); ++e) {
        if (KindOf(e) == EventKind::kPythonFunction && tree_.in_tree[e] != 0 &&
            tree_.parent[e] == kNoEvent && has_gpu_[e] != 0) {
          start(e);
        }
      }
    }
    for (const EventIndex e : tree_.hosts) {
      if (KindOf(e) != EventKind::kCpuOp || tree_.discarded[e] != 0) continue;
      bool root = true;
      for (Node up = ParentOf(e); up != kNoEvent && root; up = ParentOf(up)) {
        root = KindOf(up) != EventKind::kCpuOp || PseudoOf(up) != nullptr;
      }
      if (root) start(e);
    }
    std::unordered_set<Node> wanted;
    for (const auto& [node, forward] : collected_) {
      wanted.insert(node);
      if (forward != kNoEvent) {
        for (const EventIndex backward : BackwardBelow(forward))
          wanted.insert(backward);
      }
    }
    const auto gpu = GpuOf(wanted);
    for (const auto& [node, forward] : collected_)
      AddCall(node, forward, gpu);
  }

  // The backward nodes of an op and of all below it.
  std::vector<EventIndex> BackwardBelow(Node op) const {
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

  // The event whose arguments, process and thread a node shows.
  EventIndex EventOf(Node n) const { return n >= events_.size() ? PseudoOf(n)->donor : n; }

  const perf::OpCall* ArgumentsOf(Node n) {
    const PseudoOp* op = PseudoOf(n);
    return op == nullptr ? nullptr : works_.ArgumentsOf(*op);
  }

  // The op before a "...Backward" of the same sequence number: what some models take everything
  // from.
  EventIndex ForwardBySequence(EventIndex e) const {
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

  CallContext ContextOf(Node n, std::span<const EventIndex> kernels) {
    return {kernels, AnnotationOf(n), n < events_.size() ? ForwardBySequence(n) : kNoEvent,
            ArgumentsOf(n)};
  }

  std::string_view CategoryOf(Node n) const {
    const auto kernel = first_kernel_.find(n);
    return perf::CategoryOfOp(
        works_.rows(), NameOf(n),
        kernel == first_kernel_.end() ? std::string_view() : events_.name(kernel->second));
  }

  WorkCall CallOf(Node n) const {
    WorkCall call;
    call.op = EventOf(n);
    const PseudoOp* pseudo = PseudoOf(n);
    if (n >= events_.size()) call.name = pseudo->name;
    call.uid = pseudo != nullptr ? pseudo->uid : events_[n].uid;
    if (pseudo == nullptr || pseudo->HasTimes()) {
      call.host_us = analysis::DurationUs(events_, n, Clock::kDoubleMicros);
    }
    call.category = CategoryOf(n);
    return call;
  }

  void AddCall(Node n, EventIndex forward,
               const std::unordered_map<Node, std::vector<EventIndex>>& gpu) {
    WorkCall call = CallOf(n);
    const auto found = gpu.find(n);
    if (found != gpu.end()) call.kernels = found->second;
    std::vector<EventIndex> timed = ByStart(call.kernels);
    if (forward != kNoEvent) {
      call.model = ModelOf(forward);
      call.category = call.model->backward_category;
      call.backward = true;
      call.forward = forward;
      call.work = &works_.WorkOf(*call.model, forward, ContextOf(forward, {}), true);
      timed.clear();
      for (const EventIndex backward : BackwardBelow(forward)) {
        const auto kernels = gpu.find(backward);
        if (kernels != gpu.end()) {
          timed.insert(timed.end(), kernels->second.begin(), kernels->second.end());
        }
      }
      timed = ByStart(std::move(timed));
    } else if (HasModel(n)) {
      call.model = ModelOf(n);
      call.work = &works_.WorkOf(*call.model, call.op, ContextOf(n, timed));
    }
    call.has_model = call.model != nullptr;
    call.kernel_us = analysis::BusyUs(events_, timed, Clock::kDoubleMicros);
    for (const EventIndex kernel : call.kernels)
      covered_.insert(kernel);
    // E30: a model that declines takes its row, and the time with it, out of the table.
    if (call.work != nullptr && call.work->failure == perf::OpWork::Failure::kNotModelled) return;
    result_.unified.push_back(std::move(call));
  }

  // Rows for GPU work that no collected call covers: a copy of its op each, or of its launch call.
  void Synthesise() {
    auto uid = static_cast<std::uint32_t>(events_.elements + attribution_.pseudo.ops().size());
    std::vector<std::pair<EventIndex, EventIndex>> with_op;                 // owner, kernel
    std::vector<std::pair<EventIndex, std::vector<EventIndex>>> with_call;  // by first sight
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (!trace::IsGpuWork(TraceLensKind(events_, e)) || tree_.parent[e] == kNoEvent) continue;
      if (analysis::IsCollectiveName(events_.name(e)) || covered_.count(e) != 0) continue;
      EventIndex op = tree_.parent[e];
      while (op != kNoEvent && KindOf(op) != EventKind::kCpuOp)
        op = ParentOf(op);
      if (op != kNoEvent) {
        with_op.emplace_back(op, e);
        continue;
      }
      const EventIndex call = tree_.parent[e];
      const auto known = std::find_if(with_call.begin(), with_call.end(),
                                      [&](const auto& entry) { return entry.first == call; });
      if (known == with_call.end()) {
        with_call.push_back({call, {e}});
      } else {
        known->second.push_back(e);
      }
    }
    std::unordered_set<Node> own;
    for (const auto& [node, forward] : collected_)
      own.insert(node);
    const auto add = [&](EventIndex owner, EventIndex kernel) {
      WorkCall call = CallOf(owner);
      call.name =
          std::string(NameOf(owner)) + "->" + std::string(events_.name(kernel)) + " (Synthetic Op)";
      const auto first = first_kernel_.find(owner);
      call.category = perf::CategoryOfOp(
          works_.rows(), call.name,
          first == first_kernel_.end() ? std::string_view() : events_.name(first->second));  // P38
      call.uid = uid++;
      call.kernels = {kernel};
      call.kernel_us = analysis::BusyUs(events_, call.kernels, Clock::kDoubleMicros);
      call.owns_stack = own.count(owner) != 0;
      result_.unified.push_back(std::move(call));
    };
    for (const auto& [call, kernels] : with_call) {
      for (const EventIndex kernel : kernels)
        add(call, kernel);
    }
    for (const auto& [op, kernel] : with_op)
      add(op, kernel);
  }

  bool IsSingle(std::string_view sheet) const {
    return sheet == "GEMM" || sheet == "UnaryElementwise" || sheet == "BinaryElementwise" ||
           (sheet == "Normalization" && !options_.inference);
  }

  // P5, P42: every event of a family's names.
  void Families() {
    std::map<std::string_view, std::vector<Node>> by_sheet;
    std::unordered_set<Node> wanted;
    for (Node n = 0; n < nodes_; ++n) {
      const perf::ModelRow* model = ModelOf(n);
      if (model == nullptr || !model->prefixes.empty()) continue;
      by_sheet[model->sheet].push_back(n);
      wanted.insert(n);
    }
    std::unordered_map<Node, std::vector<EventIndex>> backward;
    for (const auto& [sheet, all] : by_sheet) {
      if (IsSingle(sheet) || options_.inference) continue;
      for (const Node n : all) {
        if (NameOf(n) == "vllm::unified_attention_with_output") continue;
        auto nodes = BackwardBelow(n);
        if (nodes.empty()) continue;
        wanted.insert(nodes.begin(), nodes.end());
        backward.emplace(n, std::move(nodes));
      }
    }
    const auto gpu = GpuOf(wanted);
    for (const std::string_view sheet : analysis::FamilyOrder()) {
      const auto all = by_sheet.find(sheet);
      if (all == by_sheet.end()) continue;
      const bool single = IsSingle(sheet);
      TraceLensWork::Family forward_family{std::string(sheet) + (single ? "" : "_fwd"), {}};
      TraceLensWork::Family backward_family{std::string(sheet) + "_bwd", {}};
      for (const Node n : all->second) {
        std::vector<EventIndex> kernels;
        const auto found = gpu.find(n);
        if (found != gpu.end()) kernels = ByStart(found->second);
        AddToFamily(n, std::move(kernels), false, &forward_family);
        const auto nodes = backward.find(n);
        if (nodes == backward.end()) continue;
        kernels.clear();
        for (const EventIndex node : nodes->second) {
          const auto list = gpu.find(node);
          if (list != gpu.end())
            kernels.insert(kernels.end(), list->second.begin(), list->second.end());
        }
        AddToFamily(n, ByStart(std::move(kernels)), true, &backward_family);
      }
      for (TraceLensWork::Family* family : {&forward_family, &backward_family}) {
        if (!family->calls.empty()) result_.families.push_back(std::move(*family));
      }
    }
  }

  void AddToFamily(Node n, std::vector<EventIndex> kernels, bool backward,
                   TraceLensWork::Family* family) {
    WorkCall call = CallOf(n);
    call.model = ModelOf(n);
    call.has_model = true;
    call.backward = backward;
    call.work =
        &works_.WorkOf(*call.model, call.op,
                       ContextOf(n, backward ? std::span<const EventIndex>() : kernels), backward);
    if (call.work->failure != perf::OpWork::Failure::kNone || !call.work->flops) return;
    call.kernels = std::move(kernels);
    call.kernel_us = analysis::BusyUs(events_, call.kernels, Clock::kDoubleMicros);
    family->calls.push_back(std::move(call));
  }

  const EventStore& events_;
  const TraceLensTree& tree_;
  const analysis::Attribution& attribution_;
  analysis::OpWorks& works_;
  const TraceLensWorkOptions& options_;
  TraceLensAnnotations annotations_;
  std::vector<const PseudoOp*> pseudo_;
  Node nodes_ = 0;
  std::vector<std::vector<Node>> children_;  // host children, in the order of the nesting
  std::vector<char> has_gpu_;
  std::unordered_map<Node, std::vector<EventIndex>> gpu_of_call_;
  std::vector<char> modelled_;
  std::vector<char> modelled_below_;
  std::unordered_map<Node, EventIndex> forward_of_;
  std::unordered_map<Node, EventIndex> backward_of_;
  std::unordered_map<std::int64_t, std::vector<EventIndex>> sequences_;
  std::unordered_map<Node, EventIndex> first_kernel_;
  std::vector<std::pair<Node, EventIndex>> collected_;  // node, forward op of a sole backward
  std::unordered_set<EventIndex> covered_;
  TraceLensWork result_;
};

}  // namespace

TraceLensWork CollectTraceLensWork(const EventStore& events, const TraceLensTree& tree,
                                   const analysis::Attribution& attribution,
                                   analysis::OpWorks& works, const TraceLensWorkOptions& options) {
  return Walker(events, tree, attribution, works, options).Run();
}

}  // namespace jarvis::compat
