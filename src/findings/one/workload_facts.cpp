#include "findings/one/workload_facts.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/attribution/gpu_timeline.h"
#include "analysis/attribution/module_paths.h"
#include "analysis/host/runtime_calls.h"
#include "base/text.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/work_context.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

// Frames of the calling machinery around every module.
bool IsModuleMachinery(std::string_view frame) {
  return frame.starts_with("torch/nn/modules/module.py") || frame.starts_with("<built-in") ||
         frame.starts_with("torch/utils/") || frame.starts_with("torch/_dynamo") ||
         frame.starts_with("torch/_functorch") || frame.starts_with("torch/_inductor") ||
         frame.starts_with("torch/_jit") || frame.starts_with("torch/autograd/") ||
         frame.starts_with("torch/nn/parallel") || frame.starts_with("contextlib");
}

class FactCollector {
 public:
  explicit FactCollector(WorkloadFacts* out)
      : out_(*out),
        events_(out->trace.events()),
        tree_(out->trace.tree()),
        before_torch2_(IsBeforeTorch2(events_)) {}

  void Run() {
    AddGpuWork();
    AddUp();
    WalkHost();
    AddBackward();
    SortModules();
    AddOperations();
    Take(ops_, &out_.ops);
    Take(annotations_, &out_.annotations);
    Take(frames_, &out_.frames);
    Take(kernels_, &out_.kernels);
    for (NamedWork& kernel : out_.kernels)
      kernel.kind = ledger::ClassifyKernelName(kernel.name).kind;
    Take(copies_, &out_.copies);
  }

 private:
  using Names = std::unordered_map<StringId, NamedWork>;

  double Us(EventIndex e) const { return trace::MicrosOf(events_[e].dur_ns); }
  // Of GPU work launched at or below a host event.
  double GpuBelow(EventIndex e) const {
    return before_[tree_.subtree_end(e)] - before_[tree_.position(e)];
  }

  void Count(Names* names, EventIndex e) const {
    NamedWork& one = (*names)[events_[e].name];
    one.name = events_.name(e);
    ++one.count;
    one.us += Us(e);
  }
  static void Take(const Names& from, std::vector<NamedWork>* to) {
    for (const auto& [id, one] : from)
      to->push_back(one);
    std::sort(to->begin(), to->end(),
              [](const NamedWork& a, const NamedWork& b) { return a.name < b.name; });
  }

  void AddGpuWork() {
    analysis::WorkClasses classes(events_);
    for (const EventIndex e : out_.trace.attribution().timeline) {
      const trace::Event& event = events_[e];
      Count(event.kind == EventKind::kKernel ? &kernels_ : &copies_, e);
      out_.gpu_us += Us(e);
      const std::string_view name = events_.name(e);
      if (classes.Of(e) == analysis::WorkClass::kCommunication) out_.comm_us += Us(e);
      const bool replayed = out_.trace.IsReplayed(e);
      if (replayed) out_.graph_us += Us(e);
      if (name.starts_with("triton_"))
        (replayed ? out_.replayed_triton_us : out_.triton_us) += Us(e);
      if (event.kind == EventKind::kMemcpy && DirectionOf(name) == CopyDirection::kToDevice) {
        const std::string_view more = events_.text(events_.args_of(e).other);
        if (const auto bytes = ParseInt(trace::MemberOf(more, "bytes"))) ++out_.uploads[*bytes];
      }
    }
  }

  void AddUp() {
    const auto order = tree_.preorder();
    before_.assign(order.size() + 1, 0);
    replayed_.assign(order.size() + 1, 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      before_[i + 1] = before_[i];
      replayed_[i + 1] = replayed_[i];
      double us = 0;
      for (const EventIndex gpu : tree_.GpuOf(order[i]))
        us += Us(gpu);
      before_[i + 1] += us;
      const bool replay =
          out_.trace.OfCapture(order[i]) || analysis::IsGraphLaunch(events_.name(order[i]));
      if (replay) replayed_[i + 1] += us;
    }
  }

  // The place of a module class below another one.
  std::uint32_t PlaceBelow(std::uint32_t parent, std::string_view name) {
    const auto [found, fresh] =
        places_.try_emplace({parent, name}, static_cast<std::uint32_t>(out_.modules.size()));
    if (fresh) {
      ModulePlace place;
      place.name = name;
      place.parent = parent;
      if (parent == ModulePlace::kNoParent) {
        out_.roots.push_back(found->second);
      } else {
        place.depth = out_.modules[parent].depth + 1;
        out_.modules[parent].children.push_back(found->second);
      }
      out_.modules.push_back(std::move(place));
    }
    return found->second;
  }

  void EnterModule(EventIndex e, std::string_view name) {
    const std::uint32_t at =
        PlaceBelow(open_.empty() ? ModulePlace::kNoParent : open_.back().first, name);
    ModulePlace& place = out_.modules[at];
    ++place.calls;
    place.gpu_us += GpuBelow(e);
    if (instances_.insert({at, events_[e].name}).second) ++place.instances;
    if (modules_.insert(events_[e].name).second) ++out_.instances[name];
    if (place.example == kNoEvent || GpuBelow(e) > GpuBelow(place.example)) place.example = e;
    open_.emplace_back(at, tree_.subtree_end(e));
  }

  // "diffusers/models/x.py(12): forward" as the file of the module that is open.
  void SeeForward(std::string_view frame) {
    if (open_.empty() || !out_.modules[open_.back().first].file.empty()) return;
    const std::size_t at = frame.find(".py(");
    if (at == std::string_view::npos || !frame.ends_with(": forward")) return;
    if (!IsModuleMachinery(frame)) out_.modules[open_.back().first].file = frame.substr(0, at + 3);
  }

  void WalkHost() {
    const auto order = tree_.preorder();
    place_of_.assign(order.size(), ModulePlace::kNoParent);
    std::uint32_t compiled_until = 0;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      const EventIndex e = order[i];
      while (!open_.empty() && open_.back().second <= i)
        open_.pop_back();
      const std::string_view name = events_.name(e);
      switch (events_[e].kind) {
        case EventKind::kPythonFunction:
          if (const std::string_view module = analysis::ModuleClass(name); !module.empty()) {
            EnterModule(e, module);
          } else {
            SeeForward(name);
            // Names of built-in methods have an address in them and say nothing of files.
            if (!name.starts_with("<built-in")) Count(&frames_, e);
          }
          break;
        case EventKind::kUserAnnotation:
          if (!out_.trace.OfCapture(e)) Count(&annotations_, e);
          break;
        case EventKind::kCpuOp:
          Count(&ops_, e);
          if (events_.args_of(e).sequence >= 0) ++out_.autograd_ops;
          AddShapes(e);
          break;
        default: break;
      }
      if (i >= compiled_until && IsCompiledCall(name)) {
        compiled_until = tree_.subtree_end(e);
        out_.compiled_us +=
            GpuBelow(e) - (replayed_[compiled_until] - replayed_[tree_.position(e)]);
      }
      place_of_[i] = open_.empty() ? ModulePlace::kNoParent : open_.back().first;
    }
  }

  // Before PyTorch 2 a function of that name is a program's own.
  bool IsCompiledCall(std::string_view name) const {
    return name.starts_with("Torch-Compiled Region") ||
           name.starts_with("## Call CompiledFxGraph") ||
           (name.starts_with("CompiledFunction") && !before_torch2_);
  }

  void AddShapes(EventIndex e) {
    const StringId dims = events_.args_of(e).dims;
    if (dims == kNoString) return;
    ++dims_[dims];
    const auto [known, added] = chooses_.try_emplace(events_[e].name);
    if (added) known->second = ChoosesAmongClasses(events_.name(e));
    if (known->second) choices_.try_emplace(dims, events_.name(e));
  }

  static bool ChoosesAmongClasses(std::string_view name) {
    // The best few are chosen of boxes and of documents, too.
    constexpr std::string_view kParts[] = {
        "argmax", "softmax", "sampl", "multinomial", "crossentropy", "cross_entropy", "nll_loss"};
    return std::any_of(std::begin(kParts), std::end(kParts),
                       [&](std::string_view part) { return ContainsNoCase(name, part); });
  }

  // Backward work belongs to the module of its forward op; of nested backward nodes the outer one
  // counts.
  void AddBackward() {
    const auto order = tree_.preorder();
    std::vector<double> backward(out_.modules.size());
    for (std::uint32_t i = 0; i < order.size();) {
      const EventIndex forward = tree_.ForwardOf(order[i]);
      if (forward == kNoEvent) {
        ++i;
        continue;
      }
      out_.backward = true;
      const std::uint32_t position = tree_.position(forward);
      const std::uint32_t at =
          position == tree::kNoPosition ? ModulePlace::kNoParent : place_of_[position];
      if (at != ModulePlace::kNoParent) backward[at] += GpuBelow(order[i]);
      i = tree_.subtree_end(order[i]);
    }
    // A module stands behind the one around it.
    for (std::size_t at = backward.size(); at-- > 0;) {
      ModulePlace& place = out_.modules[at];
      place.gpu_us += backward[at];
      if (place.parent != ModulePlace::kNoParent) backward[place.parent] += backward[at];
    }
  }

  void SortModules() {
    const auto longer = [&](std::uint32_t a, std::uint32_t b) {
      return out_.modules[a].gpu_us > out_.modules[b].gpu_us;
    };
    std::stable_sort(out_.roots.begin(), out_.roots.end(), longer);
    for (ModulePlace& place : out_.modules)
      std::stable_sort(place.children.begin(), place.children.end(), longer);
  }

  void AddOperations() {
    for (const auto& [dims, count] : dims_) {
      for (Shape& shape : ParseShapes(events_.text(dims))) {
        if (shape.size() >= 2) out_.shapes[std::move(shape)] += count;
      }
    }
    for (const auto& [dims, name] : choices_) {
      for (const Shape& shape : ParseShapes(events_.text(dims))) {
        if (shape.size() < 2) continue;
        std::string_view& by = out_.choices.try_emplace(shape.back(), name).first->second;
        by = std::min(by, name);  // whatever the order of the table
      }
    }
    for (const CategoryAnalysis& category : out_.categories) {
      for (const Operation& operation : category.operations) {
        ShapedOperation one{&operation, category.kind, {}, {}, {}};
        if (operation.example != kNoEvent) {
          const trace::Args& args = events_.args_of(operation.example);
          one.shapes = ParseShapes(events_.text(args.dims));
          one.types = ParseTypes(events_.text(args.types));
          one.concrete = events_.text(args.concrete);
        }
        if (!one.shapes.empty()) out_.shaped_us += operation.gpu_us;
        out_.operations.push_back(std::move(one));
      }
    }
    std::stable_sort(out_.operations.begin(), out_.operations.end(),
                     [](const ShapedOperation& a, const ShapedOperation& b) {
                       return a.operation->gpu_us > b.operation->gpu_us;
                     });
  }

  WorkloadFacts& out_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const bool before_torch2_;      // nothing is compiled: CompiledFunction is a graph's
  std::vector<double> before_;    // by place in preorder: GPU time launched before it
  std::vector<double> replayed_;  // the same, of recorded graphs
  Names ops_, annotations_, frames_, kernels_, copies_;
  std::unordered_map<StringId, bool> chooses_;  // whether an op chooses among classes
  std::unordered_map<StringId, std::uint64_t> dims_;
  std::unordered_map<StringId, std::string_view> choices_;  // dims of ops that choose: their name
  std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> places_;
  std::set<std::pair<std::uint32_t, StringId>> instances_;
  std::unordered_set<StringId> modules_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open_;  // module place, end in preorder
  std::vector<std::uint32_t> place_of_;                        // by place in preorder
};

}  // namespace

WorkloadFacts CollectWorkloadFacts(const session::LoadedTrace& trace,
                                   const std::vector<CategoryAnalysis>& categories) {
  WorkloadFacts facts{.trace = trace, .categories = categories};
  FactCollector(&facts).Run();
  return facts;
}

std::uint64_t MainReplays(const session::LoadedTrace& recorded, double compute_us) {
  constexpr double kMainGraph = 0.5;  // of computing
  struct Replays {
    std::uint64_t count = 0;
    double us = 0;
  };
  // Of one graph are replays with as many pieces of work and the same first one.
  std::map<std::pair<std::size_t, StringId>, Replays> graphs;
  const trace::EventStore& events = recorded.events();
  for (const EventIndex call : recorded.tree().preorder()) {
    if (!trace::IsLaunchCall(events[call].kind) || !analysis::IsGraphLaunch(events.name(call)))
      continue;
    const auto work = recorded.tree().GpuOf(call);
    if (work.empty()) continue;
    Replays& one = graphs[{work.size(), events[work.front()].name}];
    ++one.count;
    for (const EventIndex gpu : work)
      one.us += trace::MicrosOf(events[gpu].dur_ns);
  }
  for (const auto& [graph, replays] : graphs) {
    if (replays.us > kMainGraph * compute_us) return replays.count;
  }
  return 0;
}

NamedWork Containing(const std::vector<NamedWork>& names,
                     std::initializer_list<std::string_view> lower_parts) {
  NamedWork all;
  for (const NamedWork& one : names) {
    const bool meant =
        std::any_of(lower_parts.begin(), lower_parts.end(),
                    [&](std::string_view part) { return ContainsNoCase(one.name, part); });
    if (!meant) continue;
    if (all.count == 0) all.name = one.name;
    all.count += one.count;
    all.us += one.us;
  }
  return all;
}

}  // namespace jarvis::findings
