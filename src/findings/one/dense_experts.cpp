#include "findings/one/dense_experts.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

// One call of a module with experts.
struct Layer {
  std::size_t experts = 0;
  double rows = 0;
  std::string_view name;  // class of an expert
  std::vector<EventIndex> gpu;
};

class DenseFinder {
 public:
  DenseFinder(const Calls& calls, const std::vector<CategoryAnalysis>& categories)
      : calls_(calls),
        categories_(categories),
        events_(calls.events()),
        tree_(calls.trace.tree()),
        is_layer_(events_, [](std::string_view name) {
          return IsExpertsModule(analysis::ModuleClass(name));
        }) {}

  std::optional<Finding> Run() {
    std::vector<EventIndex> gpu;
    std::size_t layers = 0, experts = 0;
    double rows = 0, us = 0;
    std::string_view name;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != trace::EventKind::kPythonFunction || !is_layer_.Of(e)) continue;
      std::optional<Layer> layer = LayerOf(e);
      if (!layer) continue;
      ++layers;
      experts = experts == 0 ? layer->experts : std::min(experts, layer->experts);
      rows = layer->rows;
      name = layer->name;
      for (const EventIndex kernel : layer->gpu)
        us += trace::MicrosOf(events_[kernel].dur_ns);
      gpu.insert(gpu.end(), layer->gpu.begin(), layer->gpu.end());
    }
    if (layers == 0 || 100 * us < limits::kCauseShare * calls_.computation_us) return std::nullopt;
    // Each token belongs to one or two of them.
    const auto all = static_cast<double>(experts);
    const double high = 1 - 1 / all;
    const double low = experts > 2 ? 1 - 2 / all : 0;
    return StructureFinding(calls_, Pattern::kDenseExperts, "Experts", std::string(name),
                            std::move(gpu), {low, (low + high) / 2, high},
                            {{}, "each token in one or two experts", "the experts of this trace"},
                            {StructureCount("experts", experts), StructureCount("layers", layers),
                             StructureCount("rows", static_cast<std::size_t>(rows))});
  }

 private:
  // Rows of the product that a call is; absent: it is none, or has no shapes.
  std::optional<double> RowsOf(EventIndex kernel) const {
    const std::uint32_t call = calls_.call_of[kernel];
    if (call == kNone || calls_.calls[call].work == nullptr) return std::nullopt;
    const Place place = calls_.place_of[call];
    if (place.category == kNone || categories_[place.category].kind != Kind::kGemm)
      return std::nullopt;
    return calls_.calls[call].work->NumberOf("M");
  }

  // The modules that it calls itself, by class.
  std::map<std::string_view, std::vector<EventIndex>> ModulesIn(EventIndex layer) const {
    std::map<std::string_view, std::vector<EventIndex>> found;
    const std::uint32_t end = tree_.subtree_end(layer);
    for (std::uint32_t at = tree_.position(layer) + 1; at < end;) {
      const EventIndex e = tree_.preorder()[at];
      const std::string_view name = events_[e].kind == trace::EventKind::kPythonFunction
                                        ? analysis::ModuleClass(events_.name(e))
                                        : std::string_view();
      if (name.empty()) {
        ++at;
        continue;
      }
      found[name].push_back(e);
      at = tree_.subtree_end(e);
    }
    return found;
  }

  std::optional<Layer> LayerOf(EventIndex module) const {
    const auto modules = ModulesIn(module);
    const auto most = std::max_element(
        modules.begin(), modules.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most == modules.end() || most->second.size() < 2) return std::nullopt;
    Layer layer{most->second.size(), 0, most->first, {}};
    for (const EventIndex expert : most->second) {
      std::optional<double> rows;
      for (const EventIndex kernel : tree_.GpuBelow(expert)) {
        if (!rows) rows = RowsOf(kernel);
        layer.gpu.push_back(kernel);
      }
      if (!rows || (layer.rows > 0 && *rows != layer.rows)) return std::nullopt;
      layer.rows = *rows;
    }
    return GateSees(module, layer) ? std::optional(std::move(layer)) : std::nullopt;
  }

  // A product of the module outside its experts is of as many rows: all tokens.
  bool GateSees(EventIndex module, const Layer& layer) const {
    std::vector<EventIndex> own(layer.gpu);
    std::sort(own.begin(), own.end());
    const auto below = tree_.GpuBelow(module);
    return std::any_of(below.begin(), below.end(), [&](EventIndex kernel) {
      return !std::binary_search(own.begin(), own.end(), kernel) && RowsOf(kernel) == layer.rows;
    });
  }

  const Calls& calls_;
  const std::vector<CategoryAnalysis>& categories_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  trace::ByName<bool> is_layer_;
};

}  // namespace

bool IsExpertsModule(std::string_view module_class) {
  return ContainsNoCase(module_class, "moe") || ContainsNoCase(module_class, "experts") ||
         ContainsNoCase(module_class, "mixtureofexpert");
}

std::optional<Finding> FindDenseExperts(const Calls& calls,
                                        const std::vector<CategoryAnalysis>& categories) {
  return DenseFinder(calls, categories).Run();
}

}  // namespace jarvis::findings
