#include "findings/one/loader_transforms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/frames/base_of_time.h"
#include "analysis/host/host_names.h"
#include "base/interval.h"
#include "base/job.h"
#include "base/text.h"
#include "findings/one/host_cause.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr double kLoaderPart = 0.25;     // of the loader's time, at least
constexpr double kElementsLeast = 4096;  // of a tensor that is worth a kernel
constexpr double kHostLeft = 0.15;       // the launches that take their place
constexpr std::size_t kTransformsNamed = 4;

// What a loader does with any data, whatever becomes of it.
bool IsCollating(std::string_view name) {
  static constexpr std::string_view kParts[] = {
      "copy",    "clone",   "cat",      "stack",      "pad_sequence", "empty",   "::to",
      "view",    "reshape", "slice",    "select",     "narrow",       "expand",  "transpose",
      "permute", "::t",     "index",    "gather",     "take",         "detach",  "lift",
      "item",    "randint", "randperm", "sort",       "unique",       "set_",    "resize_",
      "unbind",  "split",   "chunk",    "squeeze",    "contiguous",   "flatten", "zeros",
      "ones",    "arange",  "nonzero",  "pin_memory", "scalar",       "tensor",  "multinomial",
      "equal"};
  name = name.substr(name.find("::") == std::string_view::npos ? 0 : name.find("::"));
  return std::ranges::any_of(kParts, [&](std::string_view part) {
    const std::size_t at = name.find(part);
    // "::t" and "::to" are whole names.
    return at != std::string_view::npos && (!part.starts_with("::") || name == part);
  });
}

bool ComputesIn(std::string_view type) {
  const std::string one = ShortType(type);
  return one == "fp32" || one == "fp64" || one == "fp16" || one == "bf16" ||
         one.starts_with("complex") || one.starts_with("c10::complex");
}

struct LoaderWork {
  std::vector<analysis::HostStretch> stretches;    // of transforms
  std::map<std::string_view, std::int64_t> ns_of;  // by op
  std::int64_t transforms_ns = 0, loader_ns = 0;
};

class LoaderTransformFinder {
 public:
  explicit LoaderTransformFinder(const Calls& calls)
      : events_(calls.events()),
        tree_(calls.trace.tree()),
        collates_(events_, &IsCollating),
        names_(events_) {}

  LoaderWork Run() {
    FindLoaders();
    if (work_.loader_ns == 0) return {};
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind == trace::EventKind::kCpuOp && names_.IsOp(e) && IsOutermost(e) &&
          InLoader(e) && IsTransform(e)) {
        Take(e);
      }
    }
    return std::move(work_);
  }

 private:
  // By time: with Python frames a range begins within the call that opens it.
  void FindLoaders() {
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const std::string_view name = events_.name(e);
      if (events_[e].kind != trace::EventKind::kUserAnnotation || !analysis::IsLoaderName(name) ||
          analysis::IsWaitForWorkers(name) || tree_.position(e) == tree::kNoPosition)
        continue;
      loaders_[events_[e].track].push_back({events_[e].ts_ns, events_[e].end_ns()});
    }
    for (auto& [track, spans] : loaders_) {
      spans = Union(std::move(spans));
      work_.loader_ns += Length(spans);
    }
  }

  bool IsOutermost(EventIndex e) {
    for (EventIndex up = tree_.parent(e); up != kNoEvent; up = tree_.parent(up)) {
      if (names_.IsOp(up)) return false;
    }
    return true;
  }

  bool InLoader(EventIndex e) const {
    const auto spans = loaders_.find(events_[e].track);
    return spans != loaders_.end() && Contains(spans->second, events_[e].ts_ns);
  }

  bool IsTransform(EventIndex e) {
    if (collates_.Of(e) || !tree_.GpuBelow(e).empty()) return false;
    const trace::Args& args = events_.args_of(e);
    if (args.dims == kNoString || args.types == kNoString) return false;
    const std::vector<Shape> shapes = ParseShapes(events_.text(args.dims));
    const std::vector<std::string> types = ParseTypes(events_.text(args.types));
    if (shapes.size() != types.size()) return false;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const bool large = !shapes[i].empty() && Elements(shapes[i]) >= kElementsLeast;
      if (large && ComputesIn(types[i])) return true;
    }
    return false;
  }

  void Take(EventIndex e) {
    const trace::Event& event = events_[e];
    work_.stretches.push_back({event.track, event.ts_ns, event.end_ns()});
    work_.ns_of[events_.name(e)] += event.dur_ns;
    work_.transforms_ns += event.dur_ns;
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  trace::ByName<bool> collates_;
  analysis::HostNames names_;
  std::map<std::uint32_t, IntervalSet<std::int64_t>> loaders_;  // by thread
  LoaderWork work_;
};

// "`aten::stft`, `aten::abs` and 3 more ops", the most time first.
std::string TransformNames(const std::map<std::string_view, std::int64_t>& ns_of) {
  std::vector<std::pair<std::int64_t, std::string_view>> ops;
  for (const auto& [name, ns] : ns_of)
    ops.emplace_back(-ns, name);
  std::sort(ops.begin(), ops.end());
  std::vector<std::string> names;
  for (const auto& [ns, name] : ops) {
    if (names.size() == kTransformsNamed) break;
    names.push_back("`" + std::string(name) + "`");
  }
  if (ops.size() > names.size()) {
    const std::size_t more = ops.size() - names.size();
    names.push_back(std::to_string(more) + (more == 1 ? " more op" : " more ops"));
  }
  return Enumerated(names);
}

}  // namespace

void FindLoaderTransforms(const Calls& calls, const WorkContext& context,
                          std::vector<Finding>* out) {
  if (!context.own_loader || context.worker_loader || !context.framework.empty()) return;
  LoaderWork work = LoaderTransformFinder(calls).Run();
  const auto frames = session::FramesOf(calls.trace, Job()).value();
  const analysis::BaseOfTime& base = frames->frames.base;
  const double host_ms = static_cast<double>(work.transforms_ns) / 1e6;
  const bool much = static_cast<double>(work.transforms_ns) >=
                        kLoaderPart * static_cast<double>(work.loader_ns) &&
                    1e5 * host_ms >= limits::kHostShareMin * calls.window_us;
  if (work.stretches.empty() || !much) return;
  const std::size_t units = std::max<std::size_t>(1, base.host_units.size());
  std::vector<Fact> facts = {StructureCount("calls", work.stretches.size() / units),
                             StructureWords("ops", TransformNames(work.ns_of)),
                             StructureWords("unit", base.unit_text())};
  Finding f =
      StructureFinding(calls, Pattern::kLoaderTransforms, "Data loading", "ops in the loader", {},
                       {0, 0, 0}, {{}, "launches alone", "time in this trace"}, std::move(facts));
  f.change_a.reset();
  HostCause cause;
  cause.count = work.stretches.size();
  cause.total_ms = host_ms;
  cause.changes = {analysis::ScaleHost{std::move(work.stretches), kHostLeft}};
  f.count = cause.count;
  f.time_ms = host_ms;
  f.exclusive_ms = host_ms;
  f.upper_bound_ms = host_ms;
  f.savings_ms = Range{0, (1 - kHostLeft) * host_ms, (1 - kHostLeft) * host_ms};
  f.host = std::make_shared<const HostCause>(std::move(cause));
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
