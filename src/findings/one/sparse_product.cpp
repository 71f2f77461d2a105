#include "findings/one/sparse_product.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "findings/one/launched_ops.h"
#include "findings/one/structure_maker.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

constexpr std::size_t kStepsBack = 16;      // launching ops between a sum and its gather
constexpr std::size_t kAttentionBack = 40;  // and before it, where edges' numbers are computed
constexpr double kIndexBytes = 8;

enum class EdgeStep { kOther, kGather, kScale, kSum, kNonlinear };

EdgeStep EdgeStepOf(std::string_view name) {
  constexpr std::string_view kAtenPrefix = "aten::";
  if (!name.starts_with(kAtenPrefix)) return EdgeStep::kOther;
  name.remove_prefix(kAtenPrefix.size());
  while (name.ends_with('_'))
    name.remove_suffix(1);
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_one_of({"index_select", "gather", "index"})) return EdgeStep::kGather;
  if (is_one_of({"mul", "div"})) return EdgeStep::kScale;
  if (is_one_of({"scatter_add", "index_add", "scatter_reduce", "index_put", "_index_put_impl"}))
    return EdgeStep::kSum;
  if (is_one_of({"exp", "sigmoid", "tanh", "leaky_relu", "_softmax", "softmax", "elu", "softplus"}))
    return EdgeStep::kNonlinear;
  return EdgeStep::kOther;
}

// Rows of equal length: [rows, ...], whatever the other dimensions are.
struct RowMatrix {
  double rows = 0, columns = 0;
  friend auto operator<=>(const RowMatrix&, const RowMatrix&) = default;
  double Numbers() const { return rows * columns; }
};

std::optional<RowMatrix> AsRows(const Shape& shape) {
  if (shape.size() < 2 || shape.front() <= 0) return std::nullopt;
  const auto rows = static_cast<double>(shape.front());
  const double columns = Elements(shape) / rows;
  if (columns < 2) return std::nullopt;
  return RowMatrix{rows, columns};
}

bool SameTail(const Shape& a, const Shape& b) {
  return a.size() == b.size() && a.size() >= 2 && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

// What is added up by an index.
struct EdgeSum {
  Shape shape;  // of the rows that are added
  RowMatrix edges;
  double rows = 0;   // of the result
  double bytes = 4;  // of a number
};

struct EdgeProduct {
  EdgeSum sum;
  double inputs = 0;  // rows that are gathered from
  std::size_t scales = 0;
  bool backward = false;
  double us = 0;
  std::vector<EventIndex> gpu;
};

class EdgeProductFinder {
 public:
  explicit EdgeProductFinder(const Calls& calls)
      : calls_(calls), events_(calls.events()), step_of_(events_, &EdgeStepOf) {}

  std::vector<EdgeProduct> Run() {
    const std::vector<std::vector<LaunchedOp>> threads = LaunchedOpsByThread(calls_);
    std::vector<EdgeProduct> found;
    for (const std::vector<LaunchedOp>& ops : threads) {
      for (std::size_t i = 0; i < ops.size(); ++i) {
        if (step_of_.Of(ops[i].op) != EdgeStep::kSum) continue;
        const std::optional<EdgeSum> sum = SumOf(ops[i]);
        if (!sum) continue;
        if (auto product = ProductOf(ops, i, *sum)) found.push_back(std::move(*product));
      }
    }
    if (found.empty()) return found;
    // A gradient of edges' numbers needs rows of both ends, edge by edge.
    const std::set<RowMatrix> learned = LearnedEdges(threads);
    std::erase_if(found, [&](const EdgeProduct& one) { return learned.contains(one.sum.edges); });
    return found;
  }

 private:
  // More rows than the result has: they are added, whatever the dimension says.
  std::optional<EdgeSum> SumOf(const LaunchedOp& op) {
    const OpArguments arguments = ArgumentsOf(events_, op.op);
    const std::vector<Shape>& shapes = arguments.shapes;
    const bool puts = ContainsNoCase(events_.name(op.op), "index_put");
    const std::size_t source = puts ? 2 : 3;
    if (shapes.size() <= source || !SameTail(shapes[0], shapes[source])) return std::nullopt;
    if (!HoldsFloats(arguments, source, false)) return std::nullopt;
    if (puts && (arguments.values.size() < 4 || arguments.values[3] != "True")) return std::nullopt;
    if (!puts) {
      const Shape& index = shapes[2];
      const bool by_row = index.size() == 1 && index.front() == shapes[source].front();
      if (!by_row && index != shapes[source]) return std::nullopt;
    }
    if (ContainsNoCase(events_.name(op.op), "scatter_reduce") && !Adds(op)) return std::nullopt;
    const auto edges = AsRows(shapes[source]);
    if (!edges || shapes[0].front() <= 0 || edges->rows <= static_cast<double>(shapes[0].front()))
      return std::nullopt;
    return EdgeSum{shapes[source], *edges, static_cast<double>(shapes[0].front()),
                   TypeBytes(arguments.types[source])};
  }

  // Which reduction it is, recordings tell by the kernel alone.
  bool Adds(const LaunchedOp& op) const {
    return std::any_of(op.gpu.begin(), op.gpu.end(), [&](EventIndex e) {
      const std::string_view kernel = events_.name(e);
      return ContainsNoCase(kernel, "reduceadd") || ContainsNoCase(kernel, "reducemean");
    });
  }

  // Back from the sum: the rows come from a gather, with nothing but scaling between.
  std::optional<EdgeProduct> ProductOf(const std::vector<LaunchedOp>& ops, std::size_t at,
                                       const EdgeSum& sum) {
    EdgeProduct product;
    product.sum = sum;
    TakeEdgeWork(ops[at], &product);
    for (std::size_t n = 1; n <= kStepsBack && n <= at; ++n) {
      const LaunchedOp& op = ops[at - n];
      const OpArguments arguments = ArgumentsOf(events_, op.op);
      const EdgeStep step = step_of_.Of(op.op);
      if (step == EdgeStep::kScale && ScalesEdges(arguments, sum)) {
        ++product.scales;
        TakeEdgeWork(op, &product);
        continue;
      }
      if (step == EdgeStep::kGather) {
        const double inputs = GatheredFrom(arguments, events_.name(op.op), sum);
        if (inputs > 0 && !IsLookup(op.op)) {
          product.inputs = inputs;
          TakeEdgeWork(op, &product);
          product.backward = IsBackwardOp(calls_, ops[at].op);
          if (ComputesEdges(ops, at - n, sum)) return std::nullopt;
          return product;
        }
      }
      if (TouchesEdges(arguments, sum)) return std::nullopt;
    }
    return std::nullopt;
  }

  void TakeEdgeWork(const LaunchedOp& op, EdgeProduct* product) const {
    for (const EventIndex e : op.gpu) {
      product->gpu.push_back(e);
      product->us += trace::MicrosOf(events_[e].dur_ns);
    }
  }

  // By one number an edge, or one for all.
  static bool ScalesEdges(const OpArguments& arguments, const EdgeSum& sum) {
    bool rows = false;
    for (const Shape& shape : arguments.shapes) {
      if (shape == sum.shape && !rows) {
        rows = true;
        continue;
      }
      const double numbers = Elements(shape);
      const bool of_edges = shape.size() == sum.shape.size() &&
                            shape.front() == sum.shape.front() && numbers == sum.edges.rows;
      if (numbers > 1 && !of_edges) return false;
    }
    return rows;
  }

  // Rows that the gather chooses from, fewer than it makes; 0: it makes other rows.
  static double GatheredFrom(const OpArguments& arguments, std::string_view name,
                             const EdgeSum& sum) {
    const std::vector<Shape>& shapes = arguments.shapes;
    if (shapes.empty() || !SameTail(shapes[0], sum.shape) || !HoldsFloats(arguments, 0, false))
      return 0;
    const auto inputs = static_cast<double>(shapes[0].front());
    if (inputs <= 0 || inputs >= sum.edges.rows) return 0;
    // Indices of `aten::index` are a list, whose shapes are not recorded.
    if (name == "aten::index") return inputs;
    if (shapes.size() < 3) return 0;
    const Shape& index = shapes[2];
    const bool by_row = index.size() == 1 && index.front() == sum.shape.front();
    return by_row || index == sum.shape ? inputs : 0;
  }

  // Of a table: bags of embeddings have a kernel of their own.
  bool IsLookup(EventIndex op) const {
    const tree::CallTree& tree = calls_.trace.tree();
    for (EventIndex up = op; up != trace::kNoEvent; up = tree.parent(up)) {
      if (events_.name(up) == "aten::embedding") return true;
    }
    return false;
  }

  // Whether it has rows of edges in hand; copies of an index are no such rows.
  static bool TouchesEdges(const OpArguments& arguments, const EdgeSum& sum) {
    if (arguments.shapes.empty()) return true;
    for (std::size_t i = 0; i < arguments.shapes.size(); ++i) {
      const Shape& shape = arguments.shapes[i];
      if (shape.empty() || !HoldsFloats(arguments, i, true)) continue;
      const double numbers = Elements(shape);
      if (numbers >= sum.edges.Numbers()) return true;
      if (shape.front() == sum.shape.front() && numbers > sum.edges.rows) return true;
    }
    return false;
  }

  // Attention over edges: what they are scaled by was computed of both ends just before.
  bool ComputesEdges(const std::vector<LaunchedOp>& ops, std::size_t gather, const EdgeSum& sum) {
    for (std::size_t n = 1; n <= kAttentionBack && n <= gather; ++n) {
      const LaunchedOp& op = ops[gather - n];
      const EdgeStep step = step_of_.Of(op.op);
      if (step != EdgeStep::kNonlinear && step != EdgeStep::kSum) continue;
      const OpArguments arguments = ArgumentsOf(events_, op.op);
      for (const Shape& shape : arguments.shapes) {
        if (shape.empty() || shape.front() != sum.shape.front()) continue;
        if (step == EdgeStep::kNonlinear) return true;
        // The sum of the layer before.
        if (shape.size() > 1 && shape == sum.shape) return false;
      }
    }
    return false;
  }

  // Rows of edges that are multiplied by others of their size, as such a gradient is.
  std::set<RowMatrix> LearnedEdges(const std::vector<std::vector<LaunchedOp>>& threads) {
    std::set<RowMatrix> learned;
    for (const std::vector<LaunchedOp>& ops : threads) {
      for (const LaunchedOp& op : ops) {
        // Means divide rows by counts of their size.
        if (!events_.name(op.op).starts_with("aten::mul")) continue;
        const std::vector<Shape> shapes = ArgumentsOf(events_, op.op).shapes;
        if (shapes.size() < 2 || shapes[0] != shapes[1]) continue;
        if (const auto rows = AsRows(shapes[0])) learned.insert(*rows);
      }
    }
    return learned;
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  trace::ByName<EdgeStep> step_of_;
};

// Bytes that the ops of a product move, and that one product would.
struct EdgeBytes {
  double now = 0, most = 0, least = 0;
};

EdgeBytes EdgeBytesOf(const EdgeProduct& one) {
  const RowMatrix& edges = one.sum.edges;
  const double numbers = edges.Numbers() * one.sum.bytes;
  const double result = one.sum.rows * edges.columns * one.sum.bytes;
  const double inputs = one.inputs * edges.columns * one.sum.bytes;
  const double values = one.scales > 0 ? edges.rows * one.sum.bytes : 0;
  EdgeBytes bytes;
  // The gather reads and writes rows of edges, so does each scaling; the sum reads them and adds.
  bytes.now = (4 + 2 * static_cast<double>(one.scales)) * numbers + 2 * edges.rows * kIndexBytes +
              static_cast<double>(one.scales) * values;
  const double matrix = edges.rows * kIndexBytes + values;
  bytes.most = numbers + result + matrix;
  bytes.least = std::min(inputs, numbers) + result + matrix;
  return bytes;
}

}  // namespace

void FindSparseProducts(const Calls& calls, std::vector<CategoryAnalysis>* categories,
                        std::vector<Finding>* out) {
  const std::vector<EdgeProduct> products = EdgeProductFinder(calls).Run();
  if (products.empty()) return;
  std::vector<EventIndex> gpu;
  double us = 0, least_us = 0, most_us = 0;
  std::size_t backward = 0;
  const EdgeProduct* largest = &products.front();
  for (const EdgeProduct& one : products) {
    const EdgeBytes bytes = EdgeBytesOf(one);
    us += one.us;
    least_us += one.us * std::min(1.0, bytes.least / bytes.now);
    most_us += one.us * std::min(1.0, bytes.most / bytes.now);
    backward += one.backward ? 1 : 0;
    if (one.us > largest->us) largest = &one;
    gpu.insert(gpu.end(), one.gpu.begin(), one.gpu.end());
  }
  if (us <= 0) return;
  const double low = 1 - most_us / us, high = 1 - least_us / us;
  std::vector<Fact> facts = {
      StructureCount("products", products.size()),
      StructureCount("edges", static_cast<std::size_t>(largest->sum.edges.rows)),
      StructureCount("columns", static_cast<std::size_t>(largest->sum.edges.columns)),
      StructureCount("rows", static_cast<std::size_t>(largest->sum.rows))};
  if (backward > 0) facts.push_back(StructureCount("backward", backward));
  ClaimOperations(calls.events(), Marked(gpu, calls.events().size()), categories);
  out->push_back(
      StructureFinding(calls, Pattern::kSparseProduct, "Sparse product", "gather, scale and add",
                       std::move(gpu), {low, (low + high) / 2, high},
                       {{}, "one sparse product for each of these sums", "bytes of the matrices"},
                       std::move(facts)));
}

}  // namespace jarvis::findings
