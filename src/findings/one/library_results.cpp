#include "findings/one/library_results.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/frames/base_of_time.h"
#include "analysis/host/copy_direction.h"
#include "analysis/host/host_names.h"
#include "base/job.h"
#include "findings/one/batch_uploads.h"
#include "findings/one/library_result_rows.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "findings/one/unit_ops.h"
#include "session/trace_frames.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kUnitsTold = 2;  // one alone does not show that anything stays

// "torch_geometric/nn/conv/gcn_conv.py(45): gcn_norm", whatever folder the library lies in.
bool IsFrameOf(std::string_view frame, std::string_view file, std::string_view function) {
  const std::size_t line = frame.find('(');
  if (line == std::string_view::npos || !frame.substr(0, line).ends_with(file)) return false;
  const std::size_t before = line - file.size();
  if (before > 0 && frame[before - 1] != '/') return false;
  return function.empty() || (frame.ends_with(function) &&
                              frame.substr(0, frame.size() - function.size()).ends_with(": "));
}

// Whether some frame is the function: most recordings have none, and need not be read.
bool IsRecorded(const trace::EventStore& events, const LibraryResult& result) {
  for (StringId name = 0; name < events.strings.size(); ++name) {
    if (IsFrameOf(events.strings[name], result.file, result.function)) return true;
  }
  return false;
}

class LibraryResultFinder {
 public:
  LibraryResultFinder(const Calls& calls, const LibraryResult& result)
      : trace_(calls.trace),
        events_(calls.events()),
        tree_(calls.trace.tree()),
        units_(session::FramesOf(calls.trace, Job()).value()->frames.base.host_units),
        names_(events_),
        result_(result) {}

  struct Found {
    std::vector<analysis::HostStretch> stretches;
    std::vector<EventIndex> gpu;
    std::size_t calls = 0;  // of a unit
  };

  // Empty unless each unit that calls it makes the same of the same sizes, and there are several.
  Found Run() {
    trace::ByName<bool> made(events_, [&](std::string_view name) {
      return IsFrameOf(name, result_.file, result_.function);
    });
    Found found;
    std::map<std::size_t, std::vector<std::uint64_t>> of_units;
    double largest = 0;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != trace::EventKind::kPythonFunction || !made.Of(e)) continue;
      const std::size_t unit = PlaceOfUnit(units_, events_[e].ts_ns);
      if (unit == units_.size() || tree_.GpuBelow(e).empty() || !IsCalledRight(e)) continue;
      if (Learns(e)) return {};
      of_units[unit].push_back(SizesOf(e, &largest));
      Take(e, &found);
    }
    if (of_units.size() < kUnitsTold || largest <= 0) return {};
    const auto& first = of_units.begin()->second;
    const bool same =
        std::ranges::all_of(of_units, [&](const auto& unit) { return unit.second == first; });
    if (!same || (!result_.of_weights && IsGivenAnew(largest))) return {};
    found.calls = first.size();
    return found;
  }

 private:
  bool IsCalledRight(EventIndex call) const {
    if (result_.caller.empty()) return true;
    for (EventIndex up = tree_.parent(call); up != kNoEvent; up = tree_.parent(up)) {
      if (events_[up].kind == trace::EventKind::kPythonFunction)
        return IsFrameOf(events_.name(up), result_.caller, {});
    }
    return false;
  }

  // Gradients flow into what is made, so that it is another one each time.
  bool Learns(EventIndex call) const {
    return std::ranges::any_of(tree_.Subtree(call),
                               [&](EventIndex e) { return tree_.BackwardOf(e) != kNoEvent; });
  }

  // Of all its ops in their order; and the largest tensor that one takes.
  std::uint64_t SizesOf(EventIndex call, double* largest) {
    std::uint64_t sizes = 1469598103934665603ULL;  // FNV-1a
    for (const EventIndex e : tree_.Subtree(call)) {
      if (events_[e].kind != trace::EventKind::kCpuOp) continue;
      const StringId dims = events_.args_of(e).dims;
      for (const std::uint64_t value : {std::uint64_t{events_[e].name}, std::uint64_t{dims}})
        sizes = (sizes ^ value) * 1099511628211ULL;
      const auto [known, added] = elements_.try_emplace(dims, 0);
      if (added && dims != kNoString) {
        for (const Shape& shape : ParseShapes(events_.text(dims)))
          known->second = std::max(known->second, shape.empty() ? 0 : Elements(shape));
      }
      *largest = std::max(*largest, known->second);
    }
    return sizes;
  }

  // Whether some unit uploads as much as the function takes: another graph each time.
  bool IsGivenAnew(double elements) const {
    return std::ranges::any_of(trace_.attribution().timeline, [&](EventIndex gpu) {
      return events_[gpu].kind == trace::EventKind::kMemcpy &&
             DirectionOf(trace_, gpu) == CopyDirection::kToDevice &&
             static_cast<double>(CopiedBytes(events_, gpu)) >= elements;
    });
  }

  void Take(EventIndex call, Found* found) {
    found->stretches.push_back({events_[call].track, events_[call].ts_ns, events_[call].end_ns()});
    const auto below = tree_.GpuBelow(call);
    found->gpu.insert(found->gpu.end(), below.begin(), below.end());
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const std::vector<analysis::FoundStep>& units_;
  analysis::HostNames names_;
  const LibraryResult& result_;
  std::map<StringId, double> elements_;
};

}  // namespace

void FindLibraryResults(const Calls& calls, const WorkContext& context, std::vector<Finding>* out) {
  if (!context.framework.empty()) return;
  for (const LibraryResult& result : LibraryResults()) {
    if (result.of_weights && context.training) continue;
    if (!IsRecorded(calls.events(), result)) continue;
    LibraryResultFinder::Found found = LibraryResultFinder(calls, result).Run();
    if (found.calls == 0) continue;
    std::vector<Fact> facts = {
        StructureText("function", result.function), StructureWords("do", result.action),
        StructureWords("made", result.what), StructureCount("calls", found.calls)};
    std::vector<EventIndex> gpu = found.gpu;
    analysis::HostNames names(calls.events());
    std::vector<EventIndex> waits = WaitsInside(calls.trace, found.stretches, &names);
    Finding f = StructureFinding(calls, Pattern::kLibraryResults, "Constants", result.what,
                                 std::move(found.gpu), {0, 0, 0},
                                 {{}, "none of it", "time in this trace"}, std::move(facts));
    f.change_a->exact = {analysis::ScaleHost{std::move(found.stretches), 0, true},
                         analysis::ScaleGpu{std::move(gpu), {0}}};
    if (!waits.empty()) f.change_a->exact.push_back(analysis::RemoveWaits{std::move(waits), false});
    out->push_back(std::move(f));
  }
}

}  // namespace jarvis::findings
