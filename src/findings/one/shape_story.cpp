#include "findings/one/shape_story.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/module_paths.h"
#include "analysis/host/runtime_calls.h"
#include "base/text.h"
#include "findings/one/shapes.h"
#include "findings/one/workload_facts.h"
#include "findings/one/workload_model.h"
#include "session/trace_work.h"

namespace jarvis::findings {
namespace {

using analysis::WorkCall;
using trace::EventIndex;

// One operation, or one kernel of a replayed graph.
struct StoryItem {
  EventIndex op = trace::kNoEvent;
  std::string_view name;
  StringId dims = kNoString, types = kNoString;
  double gpu_us = 0;
  std::int64_t start_ns = 0;
};

class StoryTeller {
 public:
  StoryTeller(const session::LoadedTrace& trace, const std::vector<CategoryAnalysis>& categories,
              const Workload& workload)
      : trace_(trace), events_(trace.events()), categories_(categories), workload_(workload) {}

  void Read(const session::TraceWork& work) {
    for (const WorkCall& call : work.calls) {
      const std::string_view name =
          call.name.empty() ? events_.name(call.op) : std::string_view(call.name);
      const bool host = trace_.tree().position(call.op) != tree::kNoPosition;
      if (host && events_[call.op].kind != trace::EventKind::kCpuOp) {
        // Kernels of a bare launch, a replay's among them, are told one by one.
        for (const EventIndex gpu : call.kernels)
          items_.push_back({gpu, events_.name(gpu), kNoString, kNoString, Us(gpu), Start(gpu)});
        continue;
      }
      const trace::Args& args = events_.args_of(call.op);
      items_.push_back({call.op, name, host ? args.dims : kNoString, host ? args.types : kNoString,
                        call.kernel_us, Start(call.op)});
    }
    std::stable_sort(items_.begin(), items_.end(), [](const StoryItem& a, const StoryItem& b) {
      return a.start_ns < b.start_ns;
    });
  }

  ShapeStory Tell() {
    if (items_.empty()) {
      out_.why = "the trace has no GPU work";
      return std::move(out_);
    }
    if (!OfModules()) OfSequence();
    return std::move(out_);
  }

 private:
  double Us(EventIndex e) const { return trace::MicrosOf(events_[e].dur_ns); }
  std::int64_t Start(EventIndex e) const { return events_[e].ts_ns; }

  // The middle one by GPU time of the modules that are repeated.
  bool OfModules() {
    const WorkloadFacts facts = CollectWorkloadFacts(trace_, categories_);
    const ModulePlace* main = MainModule(facts);
    const ModulePlace* layer = main == nullptr ? nullptr : LayerModule(facts, *main);
    if (layer == nullptr) return false;
    const tree::CallTree& tree = trace_.tree();
    std::vector<std::pair<double, EventIndex>> calls;
    for (const EventIndex e : tree.preorder()) {
      if (events_[e].kind != trace::EventKind::kPythonFunction ||
          analysis::ModuleClass(events_.name(e)) != layer->name) {
        continue;
      }
      double us = 0;
      for (const EventIndex gpu : tree.GpuBelow(e))
        us += Us(gpu);
      if (us > 0) calls.emplace_back(us, e);
    }
    if (calls.empty()) return false;
    std::sort(calls.begin(), calls.end());
    const EventIndex chosen = calls[calls.size() / 2].second;
    out_.block = "one " + std::string(layer->name);
    out_.repeats = calls.size();
    for (const StoryItem& item : items_) {
      const std::uint32_t at = PositionOf(item.op);
      if (at != tree::kNoPosition && at >= tree.position(chosen) && at < tree.subtree_end(chosen))
        Add(item);
    }
    return true;
  }

  // Of kernels the place of their launch.
  std::uint32_t PositionOf(EventIndex e) const {
    const std::uint32_t at = trace_.tree().position(e);
    if (at != tree::kNoPosition) return at;
    const EventIndex launch = trace_.tree().parent(e);
    return launch == trace::kNoEvent ? at : trace_.tree().position(launch);
  }

  using Key = std::pair<std::string_view, StringId>;

  // From one call of the op that runs once a layer to the next, in the middle of the trace.
  void OfSequence() {
    const auto layers = ParseInt(workload_[WorkloadPart::kLayers].value);
    std::map<Key, std::pair<std::uint64_t, double>> seen;
    for (const StoryItem& item : items_) {
      auto& [count, us] = seen[{item.name, item.dims}];
      ++count;
      us += item.gpu_us;
    }
    const std::pair<const Key, std::pair<std::uint64_t, double>>* anchor = nullptr;
    for (const auto& entry : seen) {
      const std::uint64_t count = entry.second.first;
      if (!layers || *layers < 2 || count % static_cast<std::uint64_t>(*layers) != 0 ||
          analysis::IsCollectiveName(entry.first.first)) {
        continue;
      }
      if (anchor == nullptr || entry.second.second > anchor->second.second) anchor = &entry;
    }
    if (anchor == nullptr) return WholeTrace();
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].name == anchor->first.first && items_[i].dims == anchor->first.second)
        places.push_back(i);
    }
    const std::size_t middle = places.size() / 2;
    const std::size_t first = places[middle - 1], last = places[middle];
    out_.block = fmt::format("from one {} to the next", Utf8Prefix(anchor->first.first, 60));
    out_.repeats = places.size();
    for (std::size_t i = first; i < last; ++i)
      Add(items_[i]);
  }

  void WholeTrace() {
    out_.block = "all work in its order; no repeated block was found";
    for (const StoryItem& item : items_)
      Add(item);
  }

  void Add(const StoryItem& item) {
    out_.gpu_us += item.gpu_us;
    std::string args = ArgsText(events_.text(item.dims), events_.text(item.types));
    if (!out_.rows.empty() && out_.rows.back().op == item.name && out_.rows.back().args == args) {
      ++out_.rows.back().calls;
      out_.rows.back().gpu_us += item.gpu_us;
      return;
    }
    out_.rows.push_back({std::string(item.name), std::move(args), 1, item.gpu_us});
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const std::vector<CategoryAnalysis>& categories_;
  const Workload& workload_;
  std::vector<StoryItem> items_;
  ShapeStory out_;
};

}  // namespace

Result<ShapeStory> TellShapes(const session::LoadedTrace& trace,
                              const std::vector<CategoryAnalysis>& categories,
                              const Workload& workload, Job& job) {
  JV_ASSIGN(const auto work, session::WorkOf(trace, nullptr, job));
  StoryTeller teller(trace, categories, workload);
  teller.Read(*work);
  JV_TRY(job.Check());
  return teller.Tell();
}

}  // namespace jarvis::findings
