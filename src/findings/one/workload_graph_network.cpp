#include "findings/one/workload_graph_network.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::findings {
namespace {

// Of computing: work on edges, and of it what moves rows between nodes and edges.
constexpr double kEdgeWork = 0.25;
constexpr double kRowMoves = 0.1;
constexpr double kLibraryWork = 0.15;
constexpr std::int64_t kFeaturesLeast = 4;  // of a row: boxes and indices have fewer, or as many

bool IsAnyOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Adds rows up where an index says.
bool AddsRows(std::string_view name) {
  return IsAnyOf(name, {"aten::scatter_add", "aten::scatter_add_", "aten::index_add",
                        "aten::index_add_", "aten::scatter_reduce", "aten::scatter_reduce_",
                        "aten::index_reduce", "aten::index_reduce_", "aten::segment_reduce"}) ||
         name.starts_with("torch_scatter::");
}

bool TakesRows(std::string_view name) {
  return IsAnyOf(name,
                 {"aten::index_select", "aten::gather", "aten::index", "aten::take_along_dim"});
}

bool IsOfGraphLibrary(std::string_view name) {
  return name.starts_with("torch_sparse::") || name.starts_with("torch_scatter::") ||
         name.starts_with("pyg::") || name.starts_with("pyg_lib::") || name.starts_with("dgl::") ||
         name.find("dgl::aten::cuda") != name.npos || name.find("dgl::cuda") != name.npos;
}

std::int64_t FeaturesOf(const Shape& rows) {
  std::int64_t features = 1;
  for (std::size_t axis = 1; axis < rows.size(); ++axis)
    features *= std::clamp<std::int64_t>(rows[axis], 0, 1 << 20);
  return features;
}

// Rows of features: [rows, features], or [rows, heads, features].
bool IsFeatureMatrix(const ShapedOperation& one) {
  if (one.shapes.empty() || one.types.empty()) return false;
  const Shape& first = one.shapes.front();
  const std::string type = ShortType(one.types.front());
  const bool real = type.starts_with("fp") || type.starts_with("bf16");
  return real && first.size() >= 2 && first.size() <= 3 && first[0] > 0 &&
         FeaturesOf(first) >= kFeaturesLeast;
}

// As many rows as an operand beside the first has whose rows are alike.
std::optional<std::int64_t> RowsBeside(const std::vector<Shape>& shapes) {
  const Shape& first = shapes.front();
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    const Shape& other = shapes[i];
    if (other.size() == first.size() &&
        std::equal(other.begin() + 1, other.end(), first.begin() + 1))
      return other[0];
  }
  return std::nullopt;
}

// How many rows an index of one axis takes.
std::optional<std::int64_t> IndexedRows(const std::vector<Shape>& shapes) {
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    if (shapes[i].size() == 1) return shapes[i][0];
  }
  return std::nullopt;
}

class GraphNetworkFinder {
 public:
  GraphNetworkFinder(const WorkloadFacts& facts, const WorkloadSizes& sizes)
      : facts_(facts), sizes_(sizes) {}

  std::optional<GraphNetwork> Run() {
    if (facts_.ComputeUs() <= 0) return std::nullopt;
    ReadRows();
    SumEdgeWork();
    const bool routed = sizes_.has_experts || IsRouted();
    const bool attends = std::any_of(sizes_.attentions.begin(), sizes_.attentions.end(),
                                     [](const AttentionSizes& one) { return one.fused; });
    const bool shows = !routed && !attends && edge_us_ > 0;
    const bool by_shape = shows && edge_us_ >= kEdgeWork * facts_.ComputeUs() &&
                          move_us_ >= kRowMoves * facts_.ComputeUs();
    out_.much = BySparseProducts() || ByLibrary() || by_shape;
    if (!out_.much && !shows) return std::nullopt;
    // Of nodes and edges that are no network's own nothing is told.
    if (edge_us_ > 0 && !routed) TellRows();
    out_.gpu_us = std::max(out_.gpu_us, edge_us_);
    if (out_.evidence.empty()) {
      out_.evidence = fmt::format(
          "{:.0f}% of the compute time is work on rows that are gathered by edge and "
          "added up by node",
          100 * edge_us_ / facts_.ComputeUs());
    }
    return std::move(out_);
  }

 private:
  // The rows that ops of the forward pass gather, and those that they add up onto fewer ones.
  // Gradients of lookups are added up, too: those of the backward pass prove nothing.
  void ReadRows() {
    for (const ShapedOperation& one : facts_.operations) {
      if (one.operation == nullptr || !IsFeatureMatrix(one)) continue;
      const std::string_view name = one.operation->name;
      const bool adds = AddsRows(name);
      if ((!adds && !TakesRows(name)) || IsOfBackward(one)) continue;
      const auto rows = adds ? AddedRows(one) : TakenRows(one);
      if (adds && rows && *rows > one.shapes.front()[0]) {
        added_[*rows][one.shapes.front()[0]] += one.operation->gpu_us;
      } else if (!adds && rows) {
        taken_.insert(*rows);
      } else if (!adds) {
        indexed_.insert(one.shapes.front()[0]);  // by an index whose shape is not recorded
      }
    }
  }

  static std::optional<std::int64_t> AddedRows(const ShapedOperation& one) {
    return RowsBeside(one.shapes);
  }
  static std::optional<std::int64_t> TakenRows(const ShapedOperation& one) {
    const auto alike = RowsBeside(one.shapes);
    return alike ? alike : IndexedRows(one.shapes);
  }

  bool IsOfBackward(const ShapedOperation& one) const {
    const tree::CallTree& tree = facts_.trace.tree();
    for (trace::EventIndex e = one.operation->example; e != trace::kNoEvent; e = tree.parent(e)) {
      if (tree.ForwardOf(e) != trace::kNoEvent) return true;
      const std::string_view name = facts_.trace.events().name(e);
      if (name.starts_with("autograd::engine") || ContainsNoCase(name, "backward")) return true;
    }
    return false;
  }

  // A router chooses a few of the experts for each row.
  bool IsRouted() const {
    constexpr std::int64_t kColumnsMost = 1024;
    return std::any_of(facts_.operations.begin(), facts_.operations.end(), [&](const auto& one) {
      if (one.operation == nullptr || one.operation->name != "aten::topk" || one.shapes.empty())
        return false;
      const Shape& scores = one.shapes.front();
      return scores.size() == 2 && scores[1] <= kColumnsMost &&
             std::any_of(added_.begin(), added_.end(), [&](const auto& added) {
               return added.second.contains(scores[0]) || added.first == scores[0];
             });
    });
  }

  // Both ways, with what is computed on the edges between.
  void SumEdgeWork() {
    std::erase_if(added_, [&](const auto& one) {
      return !taken_.contains(one.first) &&
             std::none_of(one.second.begin(), one.second.end(),
                          [&](const auto& nodes) { return indexed_.contains(nodes.first); });
    });
    for (const ShapedOperation& one : facts_.operations) {
      const bool on_edges = std::any_of(one.shapes.begin(), one.shapes.end(), [&](const Shape& s) {
        return !s.empty() && added_.contains(s[0]);
      });
      if (!on_edges || one.kind == Kind::kCommunication) continue;
      edge_us_ += one.operation->gpu_us;
      const std::string_view name = one.operation->name;
      if (AddsRows(name) || TakesRows(name) || name.starts_with("aten::_index_put_impl_"))
        move_us_ += one.operation->gpu_us;
    }
  }

  void TellRows() {
    for (const auto& [edges, nodes] : added_) {
      const auto most =
          std::max_element(nodes.begin(), nodes.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      const double us = most->second;
      by_us_.emplace_back(us, std::pair(edges, most->first));
    }
    std::sort(by_us_.rbegin(), by_us_.rend());
    // Parts of a graph that are read out to whole ones, and other small sums, are not the graph.
    constexpr double kShown = 0.2;
    for (const auto& [us, rows] : by_us_) {
      if (us < kShown * by_us_.front().first) break;
      const auto widen = [](std::int64_t size, std::int64_t* least, std::int64_t* most) {
        *least = *least == 0 ? size : std::min(*least, size);
        *most = std::max(*most, size);
      };
      widen(rows.first, &out_.edges_least, &out_.edges_most);
      widen(rows.second, &out_.nodes_least, &out_.nodes_most);
    }
  }

  bool ByLibrary() {
    double us = 0;
    std::string_view name;
    for (const ShapedOperation& one : facts_.operations) {
      if (one.operation == nullptr || !IsOfGraphLibrary(one.operation->name)) continue;
      if (name.empty()) name = one.operation->name;
      us += one.operation->gpu_us;
    }
    if (us < kLibraryWork * facts_.ComputeUs()) {
      us = 0;
      for (const NamedWork& kernel : facts_.kernels) {
        if (!IsOfGraphLibrary(kernel.name)) continue;
        if (name.empty()) name = kernel.name;
        us += kernel.us;
      }
    }
    if (us >= kLibraryWork * facts_.ComputeUs()) {
      out_.gpu_us = us;
      out_.evidence = fmt::format("{} and the like with {:.0f}% of the compute time",
                                  OneLine(Utf8Prefix(name, 60)), 100 * us / facts_.ComputeUs());
      return true;
    }
    return ByModules();
  }

  // Layers of libraries of graph networks, without those inside others.
  bool ByModules() {
    const auto is_layer = [](const ModulePlace& place) {
      return place.file.find("torch_geometric/nn/") != std::string_view::npos ||
             place.file.starts_with("dgl/nn/") ||
             place.file.find("/dgl/nn/") != std::string_view::npos;
    };
    double us = 0;
    std::string_view file;
    std::vector<std::uint32_t> open = facts_.roots;
    while (!open.empty()) {
      const ModulePlace& place = facts_.modules[open.back()];
      open.pop_back();
      if (is_layer(place)) {
        us += place.gpu_us;
        file = place.file;
      } else {
        open.insert(open.end(), place.children.begin(), place.children.end());
      }
    }
    if (us < kEdgeWork * facts_.ComputeUs()) return false;
    out_.gpu_us = us;
    out_.evidence = fmt::format("modules of {} with {:.0f}% of the compute time", file,
                                100 * us / facts_.ComputeUs());
    return true;
  }

  static bool IsSparseProduct(const Operation& operation) {
    if (ContainsNoCase(operation.name, "semi")) return false;  // weights with two zeros of four
    if (ContainsNoCase(operation.name, "sparse_mm") || ContainsNoCase(operation.name, "spmm") ||
        ContainsNoCase(operation.name, "sparse_addmm") || operation.name == "aten::s_addmm") {
      return true;
    }
    return std::any_of(operation.kernels.begin(), operation.kernels.end(), [](const auto& kernel) {
      return ContainsNoCase(kernel.name, "cusparse") &&
             (ContainsNoCase(kernel.name, "csrmm") || ContainsNoCase(kernel.name, "spmm"));
    });
  }

  // Where the rows of the dense operand are rows of other products, too: nodes with features. A
  // layer with sparse weights multiplies by what has one row a sample.
  bool BySparseProducts() {
    std::set<std::int64_t> rows;
    for (const GemmSizes& gemm : sizes_.gemms) {
      if (gemm.m >= 2 * gemm.n && gemm.m >= gemm.k) rows.insert(gemm.m);
    }
    double us = 0;
    std::string_view name;
    for (const ShapedOperation& one : facts_.operations) {
      if (one.operation == nullptr || !IsSparseProduct(*one.operation)) continue;
      const Shape* dense = nullptr;
      for (const Shape& shape : one.shapes) {
        if (shape.size() == 2) dense = &shape;
      }
      if (dense == nullptr || (*dense)[1] < 2 || !rows.contains((*dense)[0])) continue;
      if (name.empty()) {
        name = one.operation->name;
        out_.nodes_least = out_.nodes_most = (*dense)[0];
      }
      us += one.operation->gpu_us;
    }
    if (us < kLibraryWork * facts_.ComputeUs()) {
      out_.nodes_least = out_.nodes_most = 0;
      return false;
    }
    out_.gpu_us = us;
    out_.evidence = fmt::format(
        "{} with {:.0f}% of the compute time: products of a sparse matrix and of rows "
        "that other GEMMs work on",
        name, 100 * us / facts_.ComputeUs());
    return true;
  }

  const WorkloadFacts& facts_;
  const WorkloadSizes& sizes_;
  std::map<std::int64_t, std::map<std::int64_t, double>> added_;  // by rows: onto how many, time
  std::set<std::int64_t> taken_;                                  // rows that are gathered
  std::set<std::int64_t> indexed_;  // rows of which some are taken, nobody knows how many
  std::vector<std::pair<double, std::pair<std::int64_t, std::int64_t>>> by_us_;
  double edge_us_ = 0, move_us_ = 0;
  GraphNetwork out_;
};

}  // namespace

std::optional<GraphNetwork> FindGraphNetwork(const WorkloadFacts& facts,
                                             const WorkloadSizes& sizes) {
  return GraphNetworkFinder(facts, sizes).Run();
}

void TellGraphNetwork(const GraphNetwork& network, Workload* out) {
  out->Set(WorkloadPart::kFamily, "graph neural network", Certainty::kInferred, network.evidence);
  std::string input;
  if (network.nodes_least > 0) input = FromTo(network.nodes_least, network.nodes_most) + " nodes";
  if (network.edges_least > 0) {
    input +=
        (input.empty() ? "" : ", ") + FromTo(network.edges_least, network.edges_most) + " edges";
  }
  out->Set(WorkloadPart::kInput, std::move(input), Certainty::kInferred,
           "rows of the matrices that are gathered and added up");
}

}  // namespace jarvis::findings
