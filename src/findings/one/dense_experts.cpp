#include "findings/one/dense_experts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/launched_ops.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

// How an op chooses among experts, the surest first.
enum class Chooses : std::uint8_t { kTopK, kScatter, kLargest, kNothing };

Chooses ChoosesBy(std::string_view op) {
  if (op == "aten::topk") return Chooses::kTopK;
  if (op == "aten::scatter_" || op == "aten::scatter") return Chooses::kScatter;
  return op == "aten::argmax" || op == "aten::max" ? Chooses::kLargest : Chooses::kNothing;
}

// One call of a module with experts.
struct Layer {
  std::size_t experts = 0;
  double rows = 0;
  std::optional<double> chosen;  // experts of a token; absent: no routing op tells
  std::string_view name;         // class of an expert
  std::vector<EventIndex> gpu;
};

// Of all rows of all experts, the part that no token needs.
struct Sparse {
  Range saved;
  std::string kept, target, source;
};
// `chosen`: experts of a token. Grouped kernels compute whole tiles of rows, so that each expert
// has up to one tile more than its tokens fill. Without a routing op that tells: one or two.
Sparse SparseOf(double experts, double rows, std::optional<double> chosen) {
  constexpr double kTile = 128;
  if (!chosen) {
    const double high = 1 - 1 / experts;
    const double low = experts > 2 ? 1 - 2 / experts : 0;
    return {{low, (low + high) / 2, high},
            "one or two results",
            "each token in one or two experts",
            "the experts of this trace"};
  }
  const double high = std::max(0.0, 1 - *chosen / experts);
  const double low = std::max(0.0, high - std::min(1.0, kTile / rows));
  const bool one = *chosen == 1;
  return {{low, (low + high) / 2, high},
          one ? "one result" : fmt::format("{:.0f} results", *chosen),
          one ? "each token in one expert" : fmt::format("each token in {:.0f} experts", *chosen),
          "the routing of this trace"};
}

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
    std::optional<double> chosen = 0;
    std::string_view name;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != trace::EventKind::kPythonFunction || !is_layer_.Of(e)) continue;
      std::optional<Layer> layer = LayerOf(e);
      if (!layer) continue;
      ++layers;
      experts = experts == 0 ? layer->experts : std::min(experts, layer->experts);
      rows = layer->rows;
      name = layer->name;
      if (!layer->chosen)
        chosen.reset();
      else if (chosen)
        chosen = std::max(*chosen, *layer->chosen);
      for (const EventIndex kernel : layer->gpu)
        us += trace::MicrosOf(events_[kernel].dur_ns);
      gpu.insert(gpu.end(), layer->gpu.begin(), layer->gpu.end());
    }
    if (layers == 0 || 100 * us < limits::kCauseShare * calls_.computation_us) return std::nullopt;
    const Sparse sparse = SparseOf(static_cast<double>(experts), rows, chosen);
    return StructureFinding(calls_, Pattern::kDenseExperts, "Experts", std::string(name),
                            std::move(gpu), sparse.saved, {{}, sparse.target, sparse.source},
                            {StructureCount("experts", experts), StructureCount("layers", layers),
                             StructureCount("rows", static_cast<std::size_t>(rows)),
                             StructureWords("kept", sparse.kept)});
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
    Layer layer{most->second.size(), 0, {}, most->first, {}};
    for (const EventIndex expert : most->second) {
      std::optional<double> rows;
      for (const EventIndex kernel : tree_.GpuBelow(expert)) {
        if (!rows) rows = RowsOf(kernel);
        layer.gpu.push_back(kernel);
      }
      if (!rows || (layer.rows > 0 && *rows != layer.rows)) return std::nullopt;
      layer.rows = *rows;
    }
    if (!GateSees(module, layer)) return std::nullopt;
    layer.chosen = ChosenIn(module, most->second);
    return layer;
  }

  // How many experts a routing op of the layer gives a token: `k` of a top-k over the experts, else
  // the width of what is scattered among them, else an argmax. Several that differ, or several of
  // an op that gives one: absent.
  std::optional<double> ChosenIn(EventIndex module, const std::vector<EventIndex>& experts) const {
    std::map<Chooses, std::vector<double>> found;
    std::size_t expert = 0;
    const std::uint32_t end = tree_.subtree_end(module);
    for (std::uint32_t at = tree_.position(module) + 1; at < end;) {
      const EventIndex e = tree_.preorder()[at];
      if (expert < experts.size() && e == experts[expert]) {
        ++expert;
        at = tree_.subtree_end(e);
        continue;
      }
      ++at;
      if (events_[e].kind != trace::EventKind::kCpuOp) continue;
      const Chooses how = ChoosesBy(events_.name(e));
      if (how == Chooses::kNothing) continue;
      const auto k = ChosenBy(how, ArgumentsOf(events_, e), static_cast<double>(experts.size()));
      if (k) found[how].push_back(*k);
    }
    if (found.empty()) return std::nullopt;
    const auto& [how, ks] = *found.begin();  // the surest
    const bool alike = std::ranges::all_of(ks, [&](double k) { return k == ks.front(); });
    return alike && (how == Chooses::kTopK || ks.size() == 1) ? std::optional(ks.front())
                                                              : std::nullopt;
  }

  static std::optional<double> ChosenBy(Chooses how, const OpArguments& op, double experts) {
    if (op.shapes.empty() || op.shapes[0].empty()) return std::nullopt;
    const Shape& scores = op.shapes[0];
    if (static_cast<double>(scores.back()) != experts) return std::nullopt;
    if (how == Chooses::kTopK) {
      const auto k = op.values.size() > 1 ? ParseInt(op.values[1]) : std::nullopt;
      return k && *k > 0 ? std::optional(static_cast<double>(*k)) : std::nullopt;
    }
    if (how == Chooses::kScatter) {
      if (op.shapes.size() < 3 || op.shapes[2].size() != scores.size()) return std::nullopt;
      Shape rows = op.shapes[2];
      const std::int64_t width = rows.back();
      rows.back() = scores.back();
      return rows == scores && width < scores.back() ? std::optional(static_cast<double>(width))
                                                     : std::nullopt;
    }
    const auto axis = op.values.size() > 1 ? ParseInt(op.values[1]) : std::nullopt;
    const auto last = static_cast<std::int64_t>(scores.size()) - 1;
    return axis && (*axis == -1 || *axis == last) ? std::optional(1.0) : std::nullopt;
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
