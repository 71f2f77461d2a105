#include "analysis/frames/phases.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/frames/step_parts.h"

namespace jarvis::analysis {
namespace {

// The first of several that differs from the middle one by this factor is told apart.
constexpr double kFirstDiffers = 2;
constexpr std::size_t kLeastToDiffer = 3;

// One part of one step, measured.
struct Instance {
  FramePart part;
  std::optional<std::size_t> within;  // index of the part it is in, in the same list
  std::uint64_t step = 0;             // counted from 1; 0: the recording has no steps
  std::uint64_t gpu_events = 0;
  std::int64_t window_ns = 0;
  std::int64_t busy_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t unrecorded_ns = 0;
  std::int64_t host_only_ns = 0;
  std::int64_t one_time_ns = 0;  // of its time: a warm pass has none of it
  std::int64_t host_ns() const { return part.host.end - part.host.start - one_time_ns; }
};

class PhaseMaker {
 public:
  PhaseMaker(const FrameFacts& facts, const TimeFrames& frames)
      : facts_(facts),
        frames_(frames),
        free_(Subtract(Subtract({facts.recording}, facts.busy), frames.unrecorded)),
        host_only_(Subtract(free_, facts.in_ops)),
        free_meter_(free_),
        host_only_meter_(host_only_),
        unrecorded_meter_(frames.unrecorded),
        one_time_meter_(frames.base.one_time) {}

  Phases Run() {
    if (!facts_.host_events()) {
      out_.reason = "no host events are recorded, so there is nothing that names parts";
      return std::move(out_);
    }
    if (!NamesParts()) {
      out_.reason = "runtime calls alone are recorded of the host, and these name no parts";
      return std::move(out_);
    }
    if (frames_.steps.empty()) {
      Measure(frames_.frame);
    } else {
      const bool all = frames_.steady_steps == 0;
      for (const StepFrame& step : frames_.steps) {
        if (!all && !step.steady) continue;
        ++out_.steps;
        for (const TimeSpan& part : EachIn(step.host))
          Measure(part);
      }
    }
    for (const PhaseKind kind : {PhaseKind::kForward, PhaseKind::kBackward, PhaseKind::kOptimizer})
      JoinNames(kind);
    Group();
    if (out_.phases.empty()) out_.reason = "nothing in the host events tells parts apart";
    return std::move(out_);
  }

 private:
  // A launch is no part of a program: ops, annotations and frames are.
  bool NamesParts() const {
    return std::any_of(facts_.on_thread.begin(), facts_.on_thread.end(),
                       [&](EventIndex e) { return !trace::IsLaunchCall(facts_.events[e].kind); });
  }

  // A group's steps are cut into parts one by one: of all together each would be one part. What
  // comes before the first one is of that.
  std::vector<TimeSpan> EachIn(TimeSpan step) const {
    std::vector<TimeSpan> each = {step};
    bool first = true;
    for (const FoundStep& one : frames_.base.host_parts) {
      if (one.host.start < step.start || one.host.start >= step.end) continue;
      if (!std::exchange(first, false)) {
        each.back().end = one.host.start;
        each.push_back({one.host.start, step.end});
      }
    }
    return each;
  }

  void Measure(TimeSpan span) {
    out_.total_ns += span.end - span.start - OneTimeIn(span);
    std::optional<std::size_t> outer;
    for (FramePart& part : PartsOf(facts_, span)) {
      Instance one;
      one.part = std::move(part);
      one.step = out_.steps;
      if (one.part.level == 0) {
        outer = instances_.size();
      } else {
        one.within = outer;
      }
      MeasureGpu(&one);
      one.one_time_ns = OneTimeIn(one.part.host);
      one.idle_ns = std::max<std::int64_t>(0, free_meter_.In(one.part.host) - one.one_time_ns);
      one.unrecorded_ns = unrecorded_meter_.In(one.part.host);
      one.host_only_ns = host_only_meter_.In(one.part.host);
      instances_.push_back(std::move(one));
    }
  }

  std::int64_t OneTimeIn(TimeSpan span) const {
    return frames_.base.warm_estimated ? one_time_meter_.In(span) : 0;
  }

  void MeasureGpu(Instance* one) const {
    const auto [first, past] = facts_.LaunchedIn(one->part.host);
    TimeSet busy;
    for (std::size_t i = first; i < past; ++i) {
      const trace::Event& event = facts_.events[facts_.launched[i].event];
      busy.push_back({event.ts_ns, event.end_ns()});
    }
    one->gpu_events = busy.size();
    if (busy.empty()) return;
    busy = Union(std::move(busy));
    one->window_ns = busy.back().end - busy.front().start;
    one->busy_ns = Length(busy);
  }

  // One step may have its part named by a module, the next one by an annotation of the code, as
  // stacks are not kept for each. The longest part of a kind in each step is the same part if its
  // name occurs in no step beside the others', and gets the name of the first.
  void JoinNames(PhaseKind kind) {
    constexpr double kAlike = 3;
    std::map<std::uint64_t, std::size_t> longest;  // by step
    std::map<std::string, std::size_t> times;      // of a name, in all
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      const Instance& one = instances_[i];
      if (one.part.level != 0) continue;
      ++times[one.part.name];
      if (one.part.kind != kind) continue;
      const auto [at, fresh] = longest.try_emplace(one.step, i);
      if (!fresh && one.host_ns() > instances_[at->second].host_ns()) at->second = i;
    }
    std::map<std::string, std::size_t> told;
    for (const auto& [step, i] : longest)
      ++told[instances_[i].part.name];
    if (longest.size() < 2 || told.size() < 2) return;
    const Instance& first = instances_[longest.begin()->second];
    for (const auto& [name, count] : told) {
      if (times[name] != count) return;
    }
    for (const auto& [step, i] : longest) {
      const auto length = static_cast<double>(instances_[i].host_ns());
      const auto usual = static_cast<double>(first.host_ns());
      if (length > kAlike * usual || usual > kAlike * length) return;
    }
    const std::string name = first.part.name;
    for (const auto& [step, i] : longest)
      instances_[i].part.name = name;
  }

  // By name within the same outer part; the first of a group that differs is one of its own.
  void Group() {
    std::map<std::tuple<std::string, std::string, int>, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      const Instance& one = instances_[i];
      const std::string outer = one.within ? instances_[*one.within].part.name : std::string();
      groups[{outer, one.part.name, one.part.level}].push_back(i);
    }
    std::vector<std::pair<std::size_t, Phase>> made;  // first instance, phase
    for (auto& [key, members] : groups) {
      if (FirstDiffers(members)) {
        made.emplace_back(members.front(), Sum(std::span(members).first(1)));
        made.back().second.first = true;
        made.emplace_back(members[1], Sum(std::span(members).subspan(1)));
      } else {
        made.emplace_back(members.front(), Sum(members));
      }
    }
    Order(std::move(made));
  }

  bool FirstDiffers(const std::vector<std::size_t>& members) const {
    if (members.size() < kLeastToDiffer) return false;
    const auto weight = [&](std::size_t i) {
      return instances_[i].gpu_events > 0 ? instances_[i].busy_ns : instances_[i].host_ns();
    };
    std::vector<std::int64_t> others;
    for (std::size_t m = 1; m < members.size(); ++m)
      others.push_back(weight(members[m]));
    const auto usual = static_cast<double>(MedianOf(std::move(others)).value_or(0));
    const auto first = static_cast<double>(weight(members.front()));
    const std::vector<std::int64_t> hosts = [&] {
      std::vector<std::int64_t> all;
      for (std::size_t m = 1; m < members.size(); ++m)
        all.push_back(instances_[members[m]].host_ns());
      return all;
    }();
    const auto host = static_cast<double>(MedianOf(hosts).value_or(0));
    return first > kFirstDiffers * usual ||
           static_cast<double>(instances_[members.front()].host_ns()) > kFirstDiffers * host;
  }

  Phase Sum(std::span<const std::size_t> members) const {
    const Instance& first = instances_[members.front()];
    Phase out;
    out.name = first.part.name;
    out.kind = first.part.kind;
    out.source = first.part.source;
    out.level = first.part.level;
    out.start_ns = first.part.host.start;
    out.count = members.size();
    std::vector<std::int64_t> hosts;
    std::vector<std::int64_t> busy;
    for (const std::size_t i : members) {
      const Instance& one = instances_[i];
      hosts.push_back(one.host_ns());
      busy.push_back(one.busy_ns);
      out.spans.push_back(one.part.host);
      out.host_ns += one.host_ns();
      out.gpu_events += one.gpu_events;
      out.gpu_window_ns += one.window_ns;
      out.gpu_busy_ns += one.busy_ns;
      out.gpu_idle_ns += one.idle_ns;
      out.unrecorded_ns += one.unrecorded_ns;
      out.host_only_ns += one.host_only_ns;
    }
    out.host_each_ns = MedianOf(std::move(hosts)).value_or(0);
    out.gpu_each_ns = MedianOf(std::move(busy)).value_or(0);
    return out;
  }

  void Order(std::vector<std::pair<std::size_t, Phase>> made) {
    // What is within an outer part follows the phase that its first part is of.
    std::stable_sort(made.begin(), made.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second.level < b.second.level;
    });
    std::map<std::string, std::vector<Phase>> within;  // by name of the outer part
    for (auto& [first, phase] : made) {
      const auto& outer = instances_[first].within;
      if (outer) within[instances_[*outer].part.name].push_back(std::move(phase));
    }
    for (auto& [first, phase] : made) {
      if (instances_[first].within) continue;
      const std::size_t at = out_.phases.size();
      const std::string name = phase.name;
      out_.phases.push_back(std::move(phase));
      std::vector<Phase> inner = std::exchange(within[name], {});
      for (Phase& one : inner) {
        one.within = at;
        out_.phases.push_back(std::move(one));
      }
    }
  }

  const FrameFacts& facts_;
  const TimeFrames& frames_;
  TimeSet free_;       // no GPU work runs, nor is any unrecorded
  TimeSet host_only_;  // ... nor an op or a call
  TimeMeter free_meter_;
  TimeMeter host_only_meter_;
  TimeMeter unrecorded_meter_;
  TimeMeter one_time_meter_;
  std::vector<Instance> instances_;
  Phases out_;
};

}  // namespace

std::string_view PhaseKindText(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::kLoader: return "loader";
    case PhaseKind::kForward: return "forward";
    case PhaseKind::kBackward: return "backward";
    case PhaseKind::kZeroGrad: return "zero_grad";
    case PhaseKind::kOptimizer: return "optimizer";
    case PhaseKind::kWait: return "wait";
    case PhaseKind::kBetween: return "between";
    case PhaseKind::kOther: break;
  }
  return "other";
}

std::string_view PhaseSourceText(PhaseSource source) {
  switch (source) {
    case PhaseSource::kAnnotation: return "annotation";
    case PhaseSource::kModule: return "module";
    case PhaseSource::kFrame: return "python";
    case PhaseSource::kOp: return "op";
    case PhaseSource::kTraining: return "training";
    case PhaseSource::kRepetition: return "repetition";
    case PhaseSource::kRest: break;
  }
  return "rest";
}

Phases MakePhases(const FrameFacts& facts, const TimeFrames& frames) {
  return PhaseMaker(facts, frames).Run();
}

std::size_t Phases::MemoryBytes() const {
  std::size_t bytes = sizeof(*this) + phases.capacity() * sizeof(Phase);
  for (const Phase& phase : phases)
    bytes += phase.name.capacity() + phase.spans.capacity() * sizeof(TimeSpan);
  return bytes;
}

}  // namespace jarvis::analysis
