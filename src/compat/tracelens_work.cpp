#include "compat/tracelens_work.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analysis/tables/family_table.h"
#include "compat/tracelens_nodes.h"
#include "compat/tracelens_walk.h"

namespace jarvis::compat {
namespace {

using analysis::Clock;
using analysis::WorkCall;
using trace::EventKind;
using trace::EventStore;

// The calls of the summary, and the GPU work that they cover.
struct Unified {
  std::vector<WorkCall> calls;
  std::unordered_set<EventIndex> covered;
};

void AddCall(TraceLensNodes& in, const CollectedNode& collected, const NodeGpu& gpu, Unified* out) {
  const auto& [n, forward] = collected;
  WorkCall call = in.CallOf(n);
  const auto found = gpu.find(n);
  if (found != gpu.end()) call.kernels = found->second;
  std::vector<EventIndex> timed = in.ByStart(call.kernels);
  if (forward != kNoEvent) {
    call.model = in.ModelOf(forward);
    call.category = call.model->backward_category;
    call.backward = true;
    call.forward = forward;
    call.work = &in.works().WorkOf(*call.model, forward, in.ContextOf(forward, {}), true);
    timed.clear();
    for (const EventIndex backward : in.BackwardBelow(forward)) {
      const auto kernels = gpu.find(backward);
      if (kernels != gpu.end()) {
        timed.insert(timed.end(), kernels->second.begin(), kernels->second.end());
      }
    }
    timed = in.ByStart(std::move(timed));
  } else if (in.HasModel(n)) {
    call.model = in.ModelOf(n);
    call.work = &in.works().WorkOf(*call.model, call.op, in.ContextOf(n, timed));
  }
  call.has_model = call.model != nullptr;
  call.kernel_us = analysis::BusyUs(in.events(), timed, Clock::kDoubleMicros);
  for (const EventIndex kernel : call.kernels)
    out->covered.insert(kernel);
  // E30: a model that declines takes its row, and the time with it, out of the table.
  if (call.work != nullptr && call.work->failure == perf::OpWork::Failure::kNotModelled) return;
  out->calls.push_back(std::move(call));
}

Unified CallsOfCollected(TraceLensNodes& in, const std::vector<CollectedNode>& collected) {
  Unified made;
  std::unordered_set<Node> wanted;
  for (const auto& [node, forward] : collected) {
    wanted.insert(node);
    if (forward != kNoEvent) {
      for (const EventIndex backward : in.BackwardBelow(forward))
        wanted.insert(backward);
    }
  }
  const auto gpu = in.GpuOf(wanted);
  for (const CollectedNode& one : collected)
    AddCall(in, one, gpu, &made);
  return made;
}

// Rows for GPU work that no collected call covers: a copy of its op each, or of its launch call.
void Synthesise(const TraceLensNodes& in, const std::vector<CollectedNode>& collected,
                Unified* out) {
  auto uid =
      static_cast<std::uint32_t>(in.events().elements + in.attribution().pseudo.ops().size());
  std::vector<std::pair<EventIndex, EventIndex>> with_op;                 // owner, kernel
  std::vector<std::pair<EventIndex, std::vector<EventIndex>>> with_call;  // by first sight
  std::unordered_map<EventIndex, std::size_t> place_of_call;
  for (EventIndex e = 0; e < in.events().size(); ++e) {
    if (!trace::IsGpuWork(TraceLensKind(in.events(), e)) || in.tree().parent[e] == kNoEvent)
      continue;
    if (analysis::IsCollectiveName(in.events().name(e)) || out->covered.count(e) != 0) continue;
    EventIndex op = in.tree().parent[e];
    while (op != kNoEvent && in.KindOf(op) != EventKind::kCpuOp)
      op = in.ParentOf(op);
    if (op != kNoEvent) {
      with_op.emplace_back(op, e);
      continue;
    }
    const EventIndex call = in.tree().parent[e];
    const auto [place, added] = place_of_call.try_emplace(call, with_call.size());
    if (added) with_call.push_back({call, {}});
    with_call[place->second].second.push_back(e);
  }
  std::unordered_set<Node> own;
  for (const auto& [node, forward] : collected)
    own.insert(node);
  const auto add = [&](EventIndex owner, EventIndex kernel) {
    WorkCall call = in.CallOf(owner);
    call.name = std::string(in.NameOf(owner)) + "->" + std::string(in.events().name(kernel)) +
                " (Synthetic Op)";
    call.category = in.CategoryOf(owner, call.name);  // P38
    call.uid = uid++;
    call.kernels = {kernel};
    call.kernel_us = analysis::BusyUs(in.events(), call.kernels, Clock::kDoubleMicros);
    call.owns_stack = own.count(owner) != 0;
    out->calls.push_back(std::move(call));
  };
  for (const auto& [call, kernels] : with_call) {
    for (const EventIndex kernel : kernels)
      add(call, kernel);
  }
  for (const auto& [op, kernel] : with_op)
    add(op, kernel);
}

// Both directions of an op share one table.
bool IsSingle(std::string_view sheet, bool inference) {
  return sheet == "GEMM" || sheet == "UnaryElementwise" || sheet == "BinaryElementwise" ||
         (sheet == "Normalization" && !inference);
}

void AddToFamily(TraceLensNodes& in, Node n, std::vector<EventIndex> kernels, bool backward,
                 TraceLensWork::Family* family) {
  WorkCall call = in.CallOf(n);
  call.model = in.ModelOf(n);
  call.has_model = true;
  call.backward = backward;
  call.work = &in.works().WorkOf(
      *call.model, call.op, in.ContextOf(n, backward ? std::span<const EventIndex>() : kernels),
      backward);
  if (call.work->failure != perf::OpWork::Failure::kNone || !call.work->flops) return;
  call.kernels = std::move(kernels);
  call.kernel_us = analysis::BusyUs(in.events(), call.kernels, Clock::kDoubleMicros);
  family->calls.push_back(std::move(call));
}

// P5, P42: every event of a family's names.
std::vector<TraceLensWork::Family> FamiliesOf(TraceLensNodes& in, bool inference) {
  std::map<std::string_view, std::vector<Node>> by_sheet;
  std::unordered_set<Node> wanted;
  for (Node n = 0; n < in.size(); ++n) {
    const perf::ModelRow* model = in.ModelOf(n);
    if (model == nullptr || !model->prefixes.empty()) continue;
    by_sheet[model->sheet].push_back(n);
    wanted.insert(n);
  }
  std::unordered_map<Node, std::vector<EventIndex>> backward;
  for (const auto& [sheet, all] : by_sheet) {
    if (IsSingle(sheet, inference) || inference) continue;
    for (const Node n : all) {
      if (in.NameOf(n) == "vllm::unified_attention_with_output") continue;
      auto nodes = in.BackwardBelow(n);
      if (nodes.empty()) continue;
      wanted.insert(nodes.begin(), nodes.end());
      backward.emplace(n, std::move(nodes));
    }
  }
  const auto gpu = in.GpuOf(wanted);
  std::vector<TraceLensWork::Family> families;
  for (const std::string_view sheet : analysis::FamilyOrder()) {
    const auto all = by_sheet.find(sheet);
    if (all == by_sheet.end()) continue;
    const bool single = IsSingle(sheet, inference);
    TraceLensWork::Family forward_family{std::string(sheet) + (single ? "" : "_fwd"), {}};
    TraceLensWork::Family backward_family{std::string(sheet) + "_bwd", {}};
    for (const Node n : all->second) {
      std::vector<EventIndex> kernels;
      const auto found = gpu.find(n);
      if (found != gpu.end()) kernels = in.ByStart(found->second);
      AddToFamily(in, n, std::move(kernels), false, &forward_family);
      const auto nodes = backward.find(n);
      if (nodes == backward.end()) continue;
      kernels.clear();
      for (const EventIndex node : nodes->second) {
        const auto list = gpu.find(node);
        if (list != gpu.end())
          kernels.insert(kernels.end(), list->second.begin(), list->second.end());
      }
      AddToFamily(in, n, in.ByStart(std::move(kernels)), true, &backward_family);
    }
    for (TraceLensWork::Family* family : {&forward_family, &backward_family}) {
      if (!family->calls.empty()) families.push_back(std::move(*family));
    }
  }
  return families;
}

}  // namespace

TraceLensWork CollectTraceLensWork(const EventStore& events, const TraceLensTree& tree,
                                   const analysis::Attribution& attribution,
                                   analysis::OpWorks& works, const TraceLensWorkOptions& options) {
  TraceLensNodes in(events, tree, attribution, works, options.inference);
  const std::vector<CollectedNode> collected = CollectNodes(in, options.python_frames);
  Unified unified = CallsOfCollected(in, collected);
  Synthesise(in, collected, &unified);
  TraceLensWork work;
  work.unified = std::move(unified.calls);
  work.families = FamiliesOf(in, options.inference);
  return work;
}

}  // namespace jarvis::compat
