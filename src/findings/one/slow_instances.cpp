#include "findings/one/slow_instances.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/attribution/module_paths.h"
#include "base/interval.h"
#include "base/median.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

constexpr std::size_t kInstancesMin = 4;
constexpr double kLonger = 1.33;         // times the median
constexpr std::int64_t kDeviations = 5;  // of the siblings
constexpr double kOfBase = 0.05;
// Modules that lie in each other by the thousand, with work below all, are no model.
constexpr std::size_t kStepsPerEvent = 64;

struct InstanceTimes {
  StringId name = kNoString;
  std::uint64_t calls = 0;
  std::int64_t ns[2] = {0, 0};  // host, GPU
};

// The module around it, its class, and what its kernels are.
using LikeKey = std::tuple<StringId, std::string_view, std::uint64_t>;

class InstanceFinder {
 public:
  InstanceFinder(const session::LoadedTrace& trace, const session::TraceFrames& frames)
      : events_(trace.events()),
        tree_(trace.tree()),
        base_(frames.frames.base),
        classes_(events_, &analysis::ModuleClass) {
    once_ = base_.first_calls;
    once_.insert(once_.end(), base_.one_time.begin(), base_.one_time.end());
    once_ = Union(std::move(once_));
  }

  std::optional<SlowInstance> Run() {
    const std::size_t most = kStepsPerEvent * events_.size();
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (steps_ > most) return std::nullopt;
      if (!IsModule(e) || !Contains(base_.host_base, events_[e].ts_ns)) continue;
      Add(e);
    }
    for (const auto& [key, instances] : groups_) {
      if (instances.size() < kInstancesMin) continue;
      Compare(instances, 0);
      Compare(instances, 1);
    }
    return std::move(best_);
  }

 private:
  bool IsModule(EventIndex e) {
    return events_[e].kind == trace::EventKind::kPythonFunction && !classes_.Of(e).empty();
  }

  StringId ModuleAround(EventIndex e) {
    for (EventIndex up = tree_.parent(e); up != trace::kNoEvent; up = tree_.parent(up)) {
      ++steps_;
      if (IsModule(up)) return events_[up].name;
    }
    return kNoString;
  }

  void Add(EventIndex e) {
    std::uint64_t kernels = 0;
    std::int64_t gpu_ns = 0;
    for (const EventIndex gpu : tree_.GpuBelow(e)) {
      constexpr std::uint64_t kPrime = 1'099'511'628'211;
      kernels = (kernels ^ events_[gpu].name) * kPrime + 1;
      gpu_ns += events_[gpu].dur_ns;
      ++steps_;
    }
    if (kernels == 0) return;  // nothing says that it does the same work
    InstanceTimes& one = groups_[{ModuleAround(e), classes_.Of(e), kernels}][events_[e].name];
    one.name = events_[e].name;
    ++one.calls;
    one.ns[0] += Length(Subtract({{events_[e].ts_ns, events_[e].end_ns()}}, once_));
    one.ns[1] += gpu_ns;
  }

  // `which`: of InstanceTimes::ns.
  void Compare(const std::map<StringId, InstanceTimes>& instances, std::size_t which) {
    const InstanceTimes* longest = &instances.begin()->second;
    for (const auto& [name, one] : instances) {
      if (one.calls != longest->calls) return;
      if (one.ns[which] > longest->ns[which]) longest = &one;
    }
    std::vector<std::int64_t> others, deviations;
    for (const auto& [name, one] : instances) {
      if (&one != longest) others.push_back(one.ns[which]);
    }
    const std::int64_t median = MedianOfTimes(others);
    for (const std::int64_t ns : others)
      deviations.push_back(std::abs(ns - median));
    const std::int64_t excess = longest->ns[which] - median;
    const bool stands_out =
        static_cast<double>(longest->ns[which]) >= kLonger * static_cast<double>(median) &&
        excess >= kDeviations * MedianOfTimes(std::move(deviations)) &&
        static_cast<double>(excess) >= kOfBase * static_cast<double>(base_.ns());
    if (!stands_out || excess <= best_ns_) return;
    best_ns_ = excess;
    constexpr std::string_view kPrefix = "nn.Module: ";
    std::string_view name = events_.strings[longest->name];
    if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
    const auto each = [&](std::int64_t ns) {
      return static_cast<double>(ns) / 1e6 / static_cast<double>(longest->calls);
    };
    best_ = SlowInstance{std::string(name),        others.size(), longest->calls, which == 1,
                         each(longest->ns[which]), each(median)};
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const analysis::BaseOfTime& base_;
  trace::ByName<std::string_view> classes_;
  analysis::TimeSet once_;
  std::map<LikeKey, std::map<StringId, InstanceTimes>> groups_;
  std::size_t steps_ = 0;
  std::int64_t best_ns_ = 0;
  std::optional<SlowInstance> best_;
};

}  // namespace

std::optional<SlowInstance> FindSlowInstance(const session::LoadedTrace& trace,
                                             const session::TraceFrames& frames) {
  return InstanceFinder(trace, frames).Run();
}

}  // namespace jarvis::findings
