#include "session/trained_products.h"

#include <string_view>
#include <vector>

#include "tree/grad_links.h"

namespace jarvis::session {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

struct Launched {
  EventIndex event = kNoEvent;
  std::optional<ResultSizes> result;  // absent: its name or its grid does not tell
};

// Those of one forward call that fit together.
struct LinearSizes {
  SizeRange rows, columns, depth;
};

// How dX and dW fit to Y; absent: they do not. Where dW fits with either side, its sides tell
// nothing more.
std::optional<LinearSizes> Fit(const ResultSizes& y, const ResultSizes& dx, const ResultSizes& dw) {
  if (!y.rows.Meets(dx.rows)) return std::nullopt;
  const bool plain = y.columns.Meets(dw.rows) && dx.columns.Meets(dw.columns);
  const bool turned = y.columns.Meets(dw.columns) && dx.columns.Meets(dw.rows);
  if (!plain && !turned) return std::nullopt;
  LinearSizes sizes{y.rows.And(dx.rows), y.columns, dx.columns};
  if (plain && turned) return sizes;
  sizes.columns = sizes.columns.And(plain ? dw.rows : dw.columns);
  sizes.depth = sizes.depth.And(plain ? dw.columns : dw.rows);
  return sizes;
}

class TripleFinder {
 public:
  TripleFinder(const trace::EventStore& events, const tree::CallTree& tree,
               const ledger::KindsOfWork& kinds)
      : events_(events), tree_(tree), kinds_(kinds) {}

  void Run(std::unordered_map<EventIndex, ProductSizes>* out) const {
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (events_[e].kind != trace::EventKind::kCpuOp ||
          !events_.name(e).starts_with(tree::kBackwardNodePrefix)) {
        continue;
      }
      const EventIndex forward = tree_.ForwardOf(e);
      if (forward == kNoEvent) continue;
      const std::string_view name = events_.name(forward);
      if (name != "aten::addmm" && name != "aten::mm") continue;
      const auto y = ProductsBelow(forward);
      const auto gradients = ProductsBelow(e);
      if (y.size() != 1 || !y[0].result || gradients.size() != 2) continue;
      if (gradients[0].result && gradients[1].result) {
        AddBoth(y[0], gradients[0], gradients[1], out);
      } else if (gradients[0].result || gradients[1].result) {
        AddOne(y[0], gradients[gradients[0].result ? 0 : 1], out);
      }
    }
  }

 private:
  // What adds up the parts of a sum is a part of the product before it.
  std::vector<Launched> ProductsBelow(EventIndex call) const {
    std::vector<Launched> products;
    for (const EventIndex e : tree_.GpuBelow(call)) {
      const ledger::KernelKind& kind = kinds_.Of(e);
      if (kind.kind != ledger::WorkKind::kProduct) continue;
      if (kind.sub.find("split-K reduction") != std::string_view::npos) continue;
      // Of matrices a third side of the grid is parts of the sums.
      products.push_back({e, ResultOf(events_, kinds_, e, true)});
    }
    return products;
  }

  static void AddBoth(const Launched& y, const Launched& first, const Launched& second,
                      std::unordered_map<EventIndex, ProductSizes>* out) {
    const auto as_listed = Fit(*y.result, *first.result, *second.result);
    const auto turned = Fit(*y.result, *second.result, *first.result);
    if (as_listed.has_value() == turned.has_value()) return;
    const auto& [rows, columns, depth] = as_listed ? *as_listed : *turned;
    const Launched& dx = as_listed ? first : second;
    const Launched& dw = as_listed ? second : first;
    (*out)[y.event] = {{rows, columns}, depth};
    (*out)[dx.event] = {{rows, depth}, columns};
    (*out)[dw.event] = {*dw.result, rows};
  }

  // The other gradient's sizes are not known.
  static void AddOne(const Launched& y, const Launched& gradient,
                     std::unordered_map<EventIndex, ProductSizes>* out) {
    const auto& [rows, columns] = *y.result;
    const ResultSizes& result = *gradient.result;
    const bool dx = rows.Meets(result.rows);
    const bool by_rows = columns.Meets(result.rows), by_columns = columns.Meets(result.columns);
    if (dx && !by_rows && !by_columns) {
      const SizeRange common = rows.And(result.rows);
      (*out)[y.event] = {{common, columns}, result.columns};
      (*out)[gradient.event] = {{common, result.columns}, columns};
    } else if (!dx && by_rows != by_columns) {
      const SizeRange common = columns.And(by_rows ? result.rows : result.columns);
      (*out)[y.event] = {{rows, common}, by_rows ? result.columns : result.rows};
      (*out)[gradient.event] = {result, rows};
    }
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const ledger::KindsOfWork& kinds_;
};

}  // namespace

TrainedProducts::TrainedProducts(const trace::EventStore& events, const tree::CallTree& tree,
                                 const ledger::KindsOfWork& kinds) {
  TripleFinder(events, tree, kinds).Run(&products_);
}

std::optional<ProductSizes> TrainedProducts::Product(EventIndex kernel) const {
  const auto found = products_.find(kernel);
  return found == products_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace jarvis::session
