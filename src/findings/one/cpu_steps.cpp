#include "findings/one/cpu_steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/interval.h"
#include "base/text.h"
#include "findings/one/shapes.h"

namespace jarvis::findings {
namespace {

using analysis::TimeSet;
using trace::EventIndex;
using trace::EventKind;

double CpuMs(const TimeSet& set) {
  return static_cast<double>(Length(set)) / 1e6;
}

double MiddleOf(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Bytes of all tensors of a call; 0: no shapes.
double BytesOfCall(const trace::EventStore& events, const trace::Args& args) {
  const std::vector<Shape> shapes = ParseShapes(events.text(args.dims));
  const std::vector<std::string> types = ParseTypes(events.text(args.types));
  double bytes = 0;
  for (std::size_t i = 0; i < std::min(shapes.size(), types.size()); ++i) {
    if (shapes[i].empty()) continue;
    bytes += Elements(shapes[i]) * TypeBytes(ShortType(types[i]));
  }
  return bytes;
}

class CpuStepMeter {
 public:
  CpuStepMeter(const session::LoadedTrace& trace, const session::TraceFrames& frames)
      : trace_(trace),
        events_(trace.events()),
        tree_(trace.tree()),
        frames_(frames),
        steps_(frames.frames.base.base) {}

  CpuSteps Run() {
    Collect();
    Parts();
    Operations();
    Collectives();
    OddWait();
    return std::move(out_);
  }

 private:
  bool InProcess(const trace::Event& event) const {
    return frames_.frames.process.empty() ||
           events_.tracks[event.track].pid == frames_.frames.process;
  }
  bool InSteps(std::int64_t at) const {
    return std::any_of(steps_.begin(), steps_.end(),
                       [&](const auto& span) { return at >= span.start && at < span.end; });
  }
  // An op, and no mark that a profiler of old recorded as one.
  bool IsWork(EventIndex e) const {
    const std::string_view name = events_.name(e);
    return events_[e].kind == EventKind::kCpuOp && !analysis::IsScopeName(name) &&
           !name.starts_with("DistributedDataParallel") && !IsCpuCollective(name);
  }

  void Collect() {
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const trace::Event& event = events_[e];
      const bool scope = event.kind == EventKind::kUserAnnotation;
      if ((event.kind != EventKind::kCpuOp && !scope) || !InProcess(event)) continue;
      const std::string_view name = events_.name(e);
      out_.data_parallel = out_.data_parallel || name.starts_with("DistributedDataParallel") ||
                           name.starts_with("torch::distributed::reducer");
      Optimizer(name);
      if (IsCpuCollective(name)) {
        collectives_[std::string(name)].push_back(e);
        in_collectives_.push_back({event.ts_ns, event.end_ns()});
      } else if (IsWork(e)) {
        in_ops_.push_back({event.ts_ns, event.end_ns()});
        works_.push_back(e);
      }
    }
    in_ops_ = Union(std::move(in_ops_));
    in_collectives_ = Union(std::move(in_collectives_));
  }

  // "Optimizer.step#Adagrad.step" -> "Adagrad".
  void Optimizer(std::string_view name) {
    constexpr std::string_view kMark = "Optimizer.step#";
    if (!out_.optimizer.empty() || !name.starts_with(kMark)) return;
    name.remove_prefix(kMark.size());
    out_.optimizer = std::string(name.substr(0, name.find('.')));
  }

  static std::optional<CpuPart> PartOf(analysis::PhaseKind kind) {
    switch (kind) {
      case analysis::PhaseKind::kForward: return CpuPart::kForward;
      case analysis::PhaseKind::kBackward: return CpuPart::kBackward;
      case analysis::PhaseKind::kZeroGrad:
      case analysis::PhaseKind::kOptimizer: return CpuPart::kOptimizer;
      default: return std::nullopt;
    }
  }

  void Add(CpuPart part, const TimeSet& time) {
    out_.part_ms[static_cast<std::size_t>(part)] += CpuMs(time);
    left_ = Subtract(left_, time);
  }

  void Parts() {
    left_ = steps_;
    const TimeSet ops = Intersect(steps_, in_ops_);
    out_.ops_ms = CpuMs(ops);
    waiting_ = Subtract(Intersect(steps_, in_collectives_), in_ops_);
    Add(CpuPart::kWaiting, waiting_);
    TimeSet of_ops = ops;
    for (const analysis::Phase& phase : frames_.phases.phases) {
      if (phase.level != 0) continue;
      const TimeSet spans = Union(phase.spans);
      if (phase.kind == analysis::PhaseKind::kLoader) {
        const TimeSet loading = Intersect(left_, spans);
        Add(CpuPart::kLoading, loading);
        of_ops = Subtract(of_ops, spans);
        continue;
      }
      const std::optional<CpuPart> part = PartOf(phase.kind);
      if (!part) continue;
      Add(*part, Intersect(of_ops, spans));
      of_ops = Subtract(of_ops, spans);
      if (phase.kind == analysis::PhaseKind::kOptimizer) updates_ = Union(phase.spans);
    }
    Add(CpuPart::kOtherOps, of_ops);
    Add(CpuPart::kNoOp, left_);
  }

  // Self time by name and arguments; what an op on another thread does is its own.
  void Operations() {
    std::vector<std::int64_t> self(events_.size(), 0);
    for (const EventIndex e : works_) {
      self[e] += events_[e].dur_ns;
      const EventIndex up = tree_.parent(e);
      if (up != trace::kNoEvent && events_[up].track == events_[e].track)
        self[up] -= events_[e].dur_ns;
    }
    std::map<std::tuple<std::string_view, StringId, StringId>, CpuOperation> groups;
    for (const EventIndex e : works_) {
      if (!InSteps(events_[e].ts_ns)) continue;
      const std::string_view name = events_.name(e);
      CountUpdate(e, name);
      const trace::Args& args = events_.args_of(e);
      CpuOperation& group = groups[{name, args.dims, args.types}];
      if (group.count == 0) {
        group.name = name;
        group.args = ArgsText(events_.text(args.dims), events_.text(args.types));
      }
      ++group.count;
      group.self_ms += static_cast<double>(std::max<std::int64_t>(0, self[e])) / 1e6;
    }
    for (auto& [key, group] : groups)
      out_.operations.push_back(std::move(group));
    std::stable_sort(out_.operations.begin(), out_.operations.end(),
                     [](const auto& a, const auto& b) { return a.self_ms > b.self_ms; });
  }

  void CountUpdate(EventIndex e, std::string_view name) {
    const std::int64_t at = events_[e].ts_ns;
    const bool update = std::any_of(updates_.begin(), updates_.end(), [&](const auto& span) {
      return at >= span.start && at < span.end;
    });
    if (!update) return;
    ++out_.optimizer_ops;
    out_.optimizer_together = out_.optimizer_together ||
                              name.find("_foreach_") != std::string_view::npos ||
                              name.find("_fused_") != std::string_view::npos;
  }

  void Collectives() {
    for (const auto& [name, calls] : collectives_) {
      CpuCollective one;
      one.name = name;
      TimeSet all;
      std::map<double, std::vector<double>> by_size;
      for (const EventIndex e : calls) {
        const trace::Event& event = events_[e];
        if (!InSteps(event.ts_ns)) continue;
        const double ms = static_cast<double>(event.dur_ns) / 1e6;
        const double bytes = BytesOfCall(events_, events_.args_of(e));
        one.least_ms = one.count == 0 ? ms : std::min(one.least_ms, ms);
        one.most_ms = std::max(one.most_ms, ms);
        one.bytes += bytes;
        if (bytes > 0) by_size[bytes].push_back(ms);
        ++one.count;
        all.push_back({event.ts_ns, event.end_ns()});
      }
      if (one.count == 0) continue;
      all = Intersect(Union(std::move(all)), steps_);
      one.union_ms = CpuMs(all);
      one.wait_ms = CpuMs(Subtract(all, in_ops_));
      if (!by_size.empty()) {
        one.least_bytes = by_size.begin()->first;
        one.most_bytes = by_size.rbegin()->first;
        one.small_ms = MiddleOf(by_size.begin()->second);
        one.large_ms = MiddleOf(by_size.rbegin()->second);
      }
      out_.collectives.push_back(std::move(one));
    }
    std::stable_sort(out_.collectives.begin(), out_.collectives.end(),
                     [](const auto& a, const auto& b) { return a.wait_ms > b.wait_ms; });
  }

  void OddWait() {
    TimeSet odd;
    for (const analysis::StepFrame& step : frames_.frames.steps) {
      if (!step.steady) odd.push_back(step.host);
    }
    if (odd.empty() || frames_.frames.steady_steps == 0) return;
    out_.odd_wait_ms = CpuMs(Subtract(Intersect(Union(std::move(odd)), in_collectives_), in_ops_));
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const session::TraceFrames& frames_;
  const TimeSet steps_;
  std::vector<EventIndex> works_;
  std::map<std::string, std::vector<EventIndex>> collectives_;
  TimeSet in_ops_, in_collectives_, waiting_;
  TimeSet left_;     // of the steps, in no part yet
  TimeSet updates_;  // of the optimizer
  CpuSteps out_;
};

}  // namespace

bool IsCpuCollective(std::string_view name) {
  constexpr std::array<std::string_view, 5> kLibraries = {
      "gloo:", "mpi:", "ucc:", "ccl:", "oneccl:"};
  constexpr std::array<std::string_view, 9> kCalls = {"all_reduce", "allreduce",      "all_gather",
                                                      "allgather",  "reduce_scatter", "all_to_all",
                                                      "alltoall",   "broadcast",      "barrier"};
  const bool c10d = name.starts_with("c10d::");
  if (c10d) {
    return std::any_of(kCalls.begin(), kCalls.end(), [&](std::string_view call) {
      return name.find(call) != std::string_view::npos;
    });
  }
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&](std::string_view library) { return name.starts_with(library); });
}

bool ShowsGpu(const session::LoadedTrace& trace) {
  if (trace.recorded().gpu_work || !trace.trace().metadata.devices.empty()) return true;
  const trace::EventStore& events = trace.events();
  for (EventIndex e = 0; e < events.size(); ++e) {
    if (trace::IsLaunchCall(events[e].kind)) return true;
  }
  return false;
}

CpuSteps MeasureCpuSteps(const session::LoadedTrace& trace, const session::TraceFrames& frames) {
  return CpuStepMeter(trace, frames).Run();
}

std::string_view CpuPartText(CpuPart part) {
  switch (part) {
    case CpuPart::kWaiting: return "waiting";
    case CpuPart::kLoading: return "loading";
    case CpuPart::kForward: return "forward";
    case CpuPart::kBackward: return "backward";
    case CpuPart::kOptimizer: return "optimizer";
    case CpuPart::kOtherOps: return "other_ops";
    case CpuPart::kNoOp: break;
  }
  return "no_op";
}

}  // namespace jarvis::findings
