#include "analysis/attribution/work_calls.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "perf/iteration_annotation.h"
#include "perf/op_category.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

// The autograd node a backward op works for, at most five callers up, and its forward op.
struct ForwardLink {
  EventIndex node = kNoEvent;
  EventIndex forward = kNoEvent;
};

// The name of the innermost engine step around an op; kNoString: none.
StringId IterationAround(const EventStore& events, const tree::CallTree& tree, EventIndex op) {
  for (EventIndex up = tree.parent(op); up != kNoEvent; up = tree.parent(up)) {
    if (events[up].kind != EventKind::kUserAnnotation) continue;
    if (perf::ParseIteration(events.name(up))) return events[up].name;
  }
  return kNoString;
}

class Collector {
 public:
  explicit Collector(const WorkInput& input)
      : in_(input), events_(input.events), tree_(input.tree), works_(input.works) {}

  std::vector<WorkCall> Run() {
    FindOwners();
    const Attribution& attribution = in_.attribution;
    std::vector<std::uint32_t> call_of(events_.size(), kNoCall);
    std::vector<WorkCall> calls;
    for (const Launcher& launcher : attribution.launchers) {
      const std::span<const EventIndex> kernels = attribution.KernelsOf(launcher);
      EventIndex owner = launcher.op;
      if (owner != kNoEvent && tree_.position(owner) != tree::kNoPosition) {
        const EventIndex top = owner_[tree_.position(owner)];
        if (top != kNoEvent) owner = top;
      }
      if (owner == kNoEvent) {
        calls.push_back(Unlinked(launcher, kernels.front()));
      } else if (call_of[owner] == kNoCall) {
        call_of[owner] = static_cast<std::uint32_t>(calls.size());
        calls.push_back(Call(owner, launcher));
      } else {
        auto& all = calls[call_of[owner]].kernels;
        all.insert(all.end(), kernels.begin(), kernels.end());
        continue;
      }
      calls.back().kernels.assign(kernels.begin(), kernels.end());
    }
    SplitPseudoOps(&calls);
    EvaluateAll(&calls);
    std::stable_sort(calls.begin(), calls.end(), [&](const WorkCall& a, const WorkCall& b) {
      return events_[a.op].ts_ns < events_[b.op].ts_ns;
    });
    return calls;
  }

 private:
  static constexpr std::uint32_t kNoCall = 0xFFFFFFFFu;

  bool HasGpu(EventIndex e) const { return !tree_.GpuBelow(e).empty(); }

  const PseudoOp* PseudoOf(EventIndex e) const { return in_.attribution.pseudo.AtFrame(e); }
  bool IsOp(EventIndex e) const {
    return events_[e].kind == EventKind::kCpuOp || PseudoOf(e) != nullptr;
  }
  std::string_view NameOf(EventIndex e) const { return in_.attribution.pseudo.NameOf(events_, e); }
  // The name by which models know it.
  std::string_view KnownAs(EventIndex e) const {
    const StringId known_as = events_.args_of(e).known_as;
    return known_as == kNoString ? NameOf(e) : events_.strings[known_as];
  }
  const perf::ModelRow* ModelOf(EventIndex e) {
    return in_.attribution.pseudo.empty() ? works_.ModelOfOp(e) : works_.ModelOf(KnownAs(e));
  }
  bool Evaluates(EventIndex e) {
    return works_.WorkOf(*ModelOf(e), e, ContextOf(e)).failure == perf::OpWork::Failure::kNone;
  }

  // Whether the modelled ops below one compute far more than its own shapes do: subclasses of
  // tensors, and functions that are mapped over a dimension, tell the shapes of one element.
  bool ComputesMoreBelow(EventIndex e) {
    constexpr double kFarMore = 4;
    const auto flops = [&](EventIndex op) {
      return works_.WorkOf(*ModelOf(op), op, ContextOf(op)).flops.value_or(0);
    };
    const double own = flops(e);
    const std::span<const EventIndex> subtree = tree_.Subtree(e);
    double below = 0;
    std::int64_t told_until = std::numeric_limits<std::int64_t>::min();
    for (const EventIndex op : subtree.subspan(1)) {
      if (events_[op].ts_ns < told_until || modelled_[tree_.position(op)] == 0) continue;
      below += flops(op);
      told_until = events_[op].end_ns();
    }
    return own > 0 && below > kFarMore * own;
  }

  // Asks whether values are as they should be: it is never part of what another op computes.
  bool IsCheckOp(EventIndex e) const {
    return events_[e].kind == EventKind::kCpuOp && perf::IsValueCheck(events_.name(e));
  }

  // owner_[position]: the top-most call that the event's work belongs to, or kNoEvent. Two passes
  // over the host events: which have a modelled op with GPU work below them, then from the roots.
  void FindOwners() {
    const std::span<const EventIndex> order = tree_.preorder();
    owner_.assign(order.size(), kNoEvent);
    modelled_.assign(order.size(), 0);
    std::vector<char> modelled_below(order.size(), 0);
    for (std::size_t i = order.size(); i-- > 0;) {
      const EventIndex e = order[i];
      modelled_[i] = IsOp(e) && ModelOf(e) != nullptr && HasGpu(e);
      // A wrapper whose arguments do not do leaves its place to the modelled ops below it.
      if (modelled_[i] != 0 && modelled_below[i] != 0)
        modelled_[i] = Evaluates(e) && !ComputesMoreBelow(e);
      const EventIndex up = tree_.parent(e);
      if (up == kNoEvent) continue;
      const std::size_t above = tree_.position(up);
      modelled_below[above] = modelled_below[above] || modelled_[i] || modelled_below[i];
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      const EventIndex e = order[i];
      const EventIndex up = tree_.parent(e);
      if (up != kNoEvent && owner_[tree_.position(up)] != kNoEvent && !IsCheckOp(e)) {
        owner_[i] = owner_[tree_.position(up)];
      } else if (modelled_[i]) {
        owner_[i] = e;
      } else if (!modelled_below[i] && IsOp(e) && HasGpu(e) && ForwardOfSole(e) != kNoEvent) {
        owner_[i] = e;
      }
    }
  }

  ForwardLink LinkOf(EventIndex op) const {
    constexpr int kClimbMax = 5;
    EventIndex up = tree_.parent(op);
    for (int i = 0; i < kClimbMax && up != kNoEvent; ++i, up = tree_.parent(up)) {
      const EventIndex forward = tree_.ForwardOf(up);
      if (forward != kNoEvent) return {up, forward};
    }
    return {};
  }

  // The modelled forward op of a backward op that is the only one of its name below its autograd
  // node to have GPU work; else kNoEvent.
  EventIndex ForwardOfSole(EventIndex op) {
    const ForwardLink link = LinkOf(op);
    if (link.forward == kNoEvent) return kNoEvent;
    const perf::ModelRow* model = works_.ModelOfOp(link.forward);
    if (model == nullptr || model->backward_category.empty()) return kNoEvent;
    const std::string_view node = events_.name(link.node);
    const std::size_t colon = node.find(": ");
    const std::string_view main = colon == std::string_view::npos ? "" : node.substr(colon + 2);
    if (!main.empty() && events_.name(op) != main) return kNoEvent;
    int same = 0;
    for (const EventIndex below : tree_.Subtree(link.node).subspan(1)) {
      if (events_[below].kind != EventKind::kCpuOp || !HasGpu(below)) continue;
      if (main.empty() || events_.name(below) == main) ++same;
    }
    if (same != 1) return kNoEvent;
    const perf::OpWork& work = works_.WorkOf(*model, link.forward, ContextOf(link.forward), true);
    return work.failure == perf::OpWork::Failure::kNone ? link.forward : kNoEvent;
  }

  CallContext ContextOf(EventIndex op) const {
    const PseudoOp* pseudo = PseudoOf(op);
    return {tree_.GpuBelow(op), IterationAround(events_, tree_, op), LinkOf(op).forward,
            pseudo == nullptr ? nullptr : works_.ArgumentsOf(*pseudo)};
  }

  WorkCall Call(EventIndex op, const Launcher& launcher) {
    WorkCall call;
    call.op = op;
    const PseudoOp* pseudo = PseudoOf(op);
    call.uid = pseudo == nullptr ? events_[op].uid : pseudo->uid;
    call.host_us = DurationUs(events_, op, in_.attribution.clock);
    // A wrapper that left its place to the ops below it keeps what it launched itself, and the
    // reason why its work is not known.
    const bool own = IsOp(op) && tree_.position(op) != tree::kNoPosition && ModelOf(op) != nullptr;
    if (own) {
      call.model = ModelOf(op);
      call.category = works_.rows().Find(KnownAs(op))->category;
    } else if (IsOp(op) && tree_.position(op) != tree::kNoPosition) {
      call.forward = owner_[tree_.position(op)] == op ? ForwardOfSole(op) : kNoEvent;
      if (call.forward != kNoEvent) {
        call.model = works_.ModelOfOp(call.forward);
        call.category = call.model->backward_category;
        call.backward = true;
      }
    }
    call.has_model = call.model != nullptr;
    if (!call.has_model) call.category = in_.attribution.CategoryOf(launcher);
    return call;
  }

  // Parts of fused ops that are told by their kernels alone take those from the ops' calls.
  void SplitPseudoOps(std::vector<WorkCall>* calls) {
    std::vector<const PseudoOp*> parts;
    for (const PseudoOp& op : in_.attribution.pseudo.ops()) {
      if (op.place == PseudoOp::Place::kBelowOp && works_.ModelOf(op.name) != nullptr) {
        parts.push_back(&op);
      }
    }
    if (parts.empty()) return;
    std::unordered_map<EventIndex, std::size_t> call_of;
    for (std::size_t i = 0; i < calls->size(); ++i) {
      for (const EventIndex kernel : (*calls)[i].kernels)
        call_of[kernel] = i;
    }
    for (const PseudoOp* op : parts) {
      WorkCall call;
      call.op = op->donor;
      call.name = op->name;
      call.uid = op->uid;
      call.model = works_.ModelOf(op->name);
      call.has_model = true;
      call.category = works_.rows().Find(op->name)->category;
      call.pseudo = op;
      for (const EventIndex kernel : op->kernels) {
        const auto found = call_of.find(kernel);
        if (found == call_of.end()) continue;
        std::erase((*calls)[found->second].kernels, kernel);
        call.kernels.push_back(kernel);
      }
      if (!call.kernels.empty()) calls->push_back(std::move(call));
    }
    std::erase_if(*calls, [](const WorkCall& call) { return call.kernels.empty(); });
  }

  WorkCall Unlinked(const Launcher& launcher, EventIndex kernel) {
    WorkCall call;
    call.op = kernel;
    call.name = "(unlinked) " + std::string(events_.name(kernel));
    call.uid = events_[kernel].uid;
    call.category = in_.attribution.CategoryOf(launcher);
    call.recorded_arguments = false;
    return call;
  }

  void EvaluateAll(std::vector<WorkCall>* calls) {
    std::vector<OpWorks::Question> questions;
    std::vector<WorkCall*> asking;
    for (WorkCall& call : *calls) {
      std::stable_sort(call.kernels.begin(), call.kernels.end(), [&](EventIndex a, EventIndex b) {
        return events_[a].ts_ns < events_[b].ts_ns;
      });
      call.kernel_us = BusyUs(events_, call.kernels, in_.attribution.clock);
      if (!call.has_model) continue;
      questions.push_back(QuestionOf(call));
      asking.push_back(&call);
    }
    works_.Evaluate(questions);
    for (std::size_t i = 0; i < asking.size(); ++i) {
      const OpWorks::Question& question = questions[i];
      asking[i]->work =
          &works_.WorkOf(*question.model, question.op, question.context, question.backward);
    }
  }

  OpWorks::Question QuestionOf(const WorkCall& call) {
    const EventIndex op = call.backward ? call.forward : call.op;
    CallContext context = ContextOf(op);
    if (call.pseudo != nullptr) context.arguments = works_.ArgumentsOf(*call.pseudo);
    if (!call.backward) context.kernels = call.kernels;
    return {call.model, op, context, call.backward};
  }

  const WorkInput& in_;
  const EventStore& events_;
  const tree::CallTree& tree_;
  OpWorks& works_;
  std::vector<EventIndex> owner_;  // by position in the tree's order
  std::vector<char> modelled_;     // likewise
};

}  // namespace

Metrics MetricsOf(const perf::OpWork* work, double kernel_us, const MetricRules& rules) {
  Metrics out;
  if (work == nullptr || !work->flops || work->failure != perf::OpWork::Failure::kNone) return out;
  // In this order of operations: the last digits are those of the field's other reports.
  const double gflops = *work->flops / 1e9;
  out.gflops = gflops;
  out.bytes = work->bytes;
  out.spec = work->spec;
  if (kernel_us > 0) out.tflops_per_s = (gflops / 1e3) / (kernel_us / 1e6);
  if (work->bytes) {
    if (*work->bytes > 0) out.flops_per_byte = gflops * 1e9 / *work->bytes;
    if (kernel_us > 0) out.tb_per_s = (*work->bytes / 1e12) / (kernel_us / 1e6);
  }
  if (rules.platform != nullptr) {
    const perf::Roofline roof =
        perf::RooflineOf({gflops * 1e9, work->bytes, work->spec}, *rules.platform, rules.roof);
    out.roof_us = roof.roof_us;
    out.bound = roof.bound;
    if (roof.roof_us && kernel_us > 0) out.pct_roof = *roof.roof_us / kernel_us * 100;
  }
  return out;
}

std::vector<WorkCall> CollectWorkCalls(const WorkInput& input) {
  return Collector(input).Run();
}

std::vector<LauncherWork> WorkOfLaunchers(const EventStore& events, const Attribution& attribution,
                                          std::span<const WorkCall> calls) {
  constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::vector<std::uint32_t> call_of(events.size(), kNone);  // by GPU event
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (const EventIndex kernel : calls[i].kernels)
      call_of[kernel] = static_cast<std::uint32_t>(i);
  }
  std::vector<LauncherWork> out;
  out.reserve(attribution.launchers.size());
  for (const Launcher& launcher : attribution.launchers) {
    const std::uint32_t at = call_of[attribution.KernelsOf(launcher).front()];
    if (at == kNone) {
      out.emplace_back();
    } else {
      out.push_back({calls[at].work, calls[at].model, calls[at].kernel_us});
    }
  }
  return out;
}

RoofShare RoofShareOf(const Attribution& attribution, std::span<const LauncherWork> works,
                      std::span<const std::uint32_t> launchers, const MetricRules& rules) {
  RoofShare out;
  double weighted = 0;
  double by_bound[2] = {0, 0};
  for (const std::uint32_t i : launchers) {
    const Metrics metrics = MetricsOf(works[i].work, works[i].call_us, rules);
    if (!metrics.pct_roof) continue;
    const double us = attribution.launchers[i].direct_us;
    weighted += us * *metrics.pct_roof;
    out.known_us += us;
    by_bound[metrics.bound == perf::Bound::kMemory ? 1 : 0] += us;
  }
  if (out.known_us > 0) {
    out.pct_roof = weighted / out.known_us;
    out.bound = by_bound[1] > by_bound[0] ? perf::Bound::kMemory : perf::Bound::kCompute;
  }
  return out;
}

}  // namespace jarvis::analysis
