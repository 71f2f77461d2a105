#include "findings/one/launch_fit.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/frames/base_of_time.h"
#include "analysis/host/host_names.h"
#include "analysis/host/synchronisations.h"
#include "findings/one/host_units.h"
#include "findings/one/shapes.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

// Of the launches of a step, how many find their like in another where sizes stay: keys that grow
// by a token a step, or a last batch, change few of them.
constexpr double kLaunchesAlike = 0.75;
// Steps of one kind launch about as much; a pass of another kind says nothing of sizes.
constexpr double kLaunchesAsMany = 0.8;
constexpr double kMostLaunches = 0.5;
// A call that launches so much by itself is a loop inside a library.
constexpr std::uint64_t kLaunchesOfLibrary = 100;

// An op's name and the sizes of its inputs.
using OpSizes = std::pair<StringId, StringId>;

struct LaunchedStep {
  std::map<OpSizes, std::uint64_t> ops;  // launches
  std::uint64_t launches = 0;
};

class FitReader {
 public:
  FitReader(const session::LoadedTrace& trace, const analysis::HostSummary& host,
            const session::TraceFrames& frames)
      : events_(trace.events()),
        tree_(trace.tree()),
        names_(events_),
        units_(frames.frames.base.host_each()) {
    steps_.resize(units_.size());
    for (const analysis::Launch& launch : host.launches.all()) {
      if (launch.kernel) Add(launch);
    }
  }

  LaunchFit Read() const {
    LaunchFit fit;
    if (2 * sized_ > launches_) CompareSteps(&fit);
    fit.library_op = LibraryOp();
    return fit;
  }

 private:
  void Add(const analysis::Launch& launch) {
    const analysis::FoundStep* unit = UnitAt(units_, launch.call_ns);
    if (unit == nullptr) return;
    ++launches_;
    const EventIndex op = analysis::CallingOp(events_, tree_, launch.call, &names_);
    if (op == kNoEvent) return;
    ++of_call_[op];
    const StringId dims = events_.args_of(op).dims;
    if (dims == kNoString) return;
    ++sized_;
    LaunchedStep& step = steps_[static_cast<std::size_t>(unit - units_.data())];
    ++step.ops[{events_[op].name, dims}];
    ++step.launches;
  }

  static double Alike(const LaunchedStep& a, const LaunchedStep& b) {
    std::uint64_t same = 0;
    for (const auto& [op, count] : a.ops) {
      const auto found = b.ops.find(op);
      if (found != b.ops.end()) same += std::min(count, found->second);
    }
    return static_cast<double>(same) / static_cast<double>(std::max(a.launches, b.launches));
  }

  // Most pairs of steps that launch as much have other sizes, or a few of them.
  void CompareSteps(LaunchFit* fit) const {
    constexpr double kAllAlike = 0.995;
    std::size_t pairs = 0, differ = 0, few_differ = 0;
    std::string example;
    for (std::size_t i = 1; i < steps_.size(); ++i) {
      const LaunchedStep& a = steps_[i - 1];
      const LaunchedStep& b = steps_[i];
      const auto [least, most] = std::minmax(a.launches, b.launches);
      if (least == 0 || static_cast<double>(least) < kLaunchesAsMany * static_cast<double>(most))
        continue;
      ++pairs;
      const double alike = Alike(a, b);
      if (alike < kAllAlike) ++few_differ;
      if (alike >= kLaunchesAlike) continue;
      ++differ;
      if (example.empty()) example = Example(a, b);
    }
    if (2 * differ > pairs) fit->sizes = std::move(example);
    fit->grows = 2 * few_differ > pairs && 2 * differ <= pairs;
  }

  // The op with the most launches that the other step has at other sizes alone.
  std::string Example(const LaunchedStep& a, const LaunchedStep& b) const {
    const OpSizes* mine = nullptr;
    std::uint64_t most = 0;
    for (const auto& [op, count] : a.ops) {
      if (count <= most || b.ops.contains(op) || SizesIn(b, op.first) == nullptr) continue;
      mine = &op;
      most = count;
    }
    if (mine == nullptr) return {};
    return fmt::format("`{}`: {} and {}", NameOf(mine->first), ShapesOf(mine->second),
                       ShapesOf(SizesIn(b, mine->first)->second));
  }
  static const OpSizes* SizesIn(const LaunchedStep& step, StringId name) {
    const auto found = step.ops.lower_bound({name, StringId{}});
    return found == step.ops.end() || found->first.first != name ? nullptr : &found->first;
  }
  std::string_view NameOf(StringId name) const { return events_.strings[name]; }
  // "(300,16,320)": of the first input that has sizes.
  std::string ShapesOf(StringId dims) const {
    for (const Shape& shape : ParseShapes(events_.text(dims))) {
      if (!shape.empty()) return fmt::format("({})", fmt::join(shape, ","));
    }
    return "()";
  }

  std::string LibraryOp() const {
    std::map<StringId, std::uint64_t> launched;
    for (const auto& [op, count] : of_call_) {
      if (count >= kLaunchesOfLibrary) launched[events_[op].name] += count;
    }
    std::uint64_t all = 0;
    std::pair<std::uint64_t, StringId> most{};
    for (const auto& [name, count] : launched) {
      all += count;
      most = std::max(most, {count, name});
    }
    const bool enough = static_cast<double>(all) > kMostLaunches * static_cast<double>(launches_);
    return enough ? std::string(NameOf(most.second)) : std::string();
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  analysis::HostNames names_;
  const std::vector<analysis::FoundStep>& units_;
  std::vector<LaunchedStep> steps_;              // by unit
  std::map<EventIndex, std::uint64_t> of_call_;  // launches of an op's one call, itself
  std::uint64_t launches_ = 0, sized_ = 0;
};

}  // namespace

LaunchFit LaunchFitOf(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                      const session::TraceFrames& frames) {
  return FitReader(trace, host, frames).Read();
}

}  // namespace jarvis::findings
