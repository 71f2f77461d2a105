#include "findings/one/constant_projections.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/frames/base_of_time.h"
#include "analysis/host/copy_direction.h"
#include "analysis/host/host_names.h"
#include "analysis/host/synchronisations.h"
#include "base/job.h"
#include "findings/one/batch_uploads.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "findings/one/unit_ops.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kStepsLeast = 3;
constexpr std::size_t kProductsLeast = 4;  // of a step: keys and values of two layers
constexpr std::int64_t kRowsLeast = 2;     // one row is made by any reduction

// Rows of equal length, whatever the other dimensions are.
struct TensorRows {
  std::int64_t rows = 0, columns = 0;
  friend auto operator<=>(const TensorRows&, const TensorRows&) = default;
};

TensorRows RowsOfSizes(const Shape& shape) {
  if (shape.empty() || shape.back() <= 0) return {};
  return {static_cast<std::int64_t>(Elements(shape)) / shape.back(), shape.back()};
}

// A launching op by its name and sizes.
struct OpKind {
  std::string_view name;
  std::vector<Shape> shapes;
  TensorRows taken, given;  // of a product with a weight: what it takes and makes; else nothing
  std::vector<EventIndex> calls;
};

// Of a product with a weight of two dimensions.
void ReadProduct(OpKind* kind) {
  const bool added = kind->name == "aten::addmm", linear = kind->name == "aten::linear";
  const bool plain = kind->name == "aten::mm" || kind->name == "aten::matmul";
  if (!added && !linear && !plain) return;
  const std::size_t weight = added ? 2 : 1;
  if (kind->shapes.size() <= weight || kind->shapes[weight].size() != 2) return;
  const Shape& sizes = kind->shapes[weight];
  kind->taken = RowsOfSizes(kind->shapes[weight - 1]);
  kind->given = {kind->taken.rows, linear ? sizes[0] : sizes[1]};
}

class ConstantProjectionFinder {
 public:
  explicit ConstantProjectionFinder(const Calls& calls)
      : trace_(calls.trace),
        events_(calls.events()),
        tree_(calls.trace.tree()),
        units_(session::FramesOf(calls.trace, Job()).value()->frames.base.host_units),
        names_(events_) {}

  struct Found {
    TensorRows tensor;
    std::size_t products = 0;       // of a step
    std::vector<EventIndex> later;  // calls of the steps after the first
  };

  // The tensor with most products; absent: there is none.
  std::optional<Found> Run() {
    if (units_.size() < kStepsLeast || !Read()) return std::nullopt;
    std::map<TensorRows, std::vector<const OpKind*>> products;
    for (const auto& [op, kind] : kinds_) {
      if (kind.taken.rows >= kRowsLeast) products[kind.taken].push_back(&kind);
    }
    std::optional<Found> best;
    for (const auto& [tensor, kinds] : products) {
      std::optional<Found> found = ProductsOf(tensor, kinds);
      if (found && !IsMade(tensor) && (!best || best->later.size() < found->later.size()))
        best = std::move(found);
    }
    return best;
  }

 private:
  // All launching ops from the first step to the end of the last. False: what launches is not all
  // known, so that anything may be made.
  bool Read() {
    for (const EventIndex gpu : trace_.attribution().timeline) {
      const EventIndex launch = tree_.parent(gpu);
      if (launch == kNoEvent) return false;
      const std::int64_t at = events_[launch].ts_ns;
      if (at < units_.front().host.start || at >= units_.back().host.end) continue;
      if (events_[gpu].kind == trace::EventKind::kMemcpy &&
          DirectionOf(trace_, gpu) == CopyDirection::kToDevice)
        uploaded_ = std::max(uploaded_, CopiedBytes(events_, gpu));
      const EventIndex op = analysis::CallingOp(events_, tree_, launch, &names_);
      if (op == kNoEvent || events_.args_of(op).dims == kNoString) {
        if (events_[gpu].kind == trace::EventKind::kKernel) return false;
        continue;
      }
      OpKind& kind = kinds_[{events_[op].name, events_.args_of(op).dims}];
      if (kind.calls.empty()) {
        kind.name = events_.name(op);
        kind.shapes = ParseShapes(events_.text(events_.args_of(op).dims));
        ReadProduct(&kind);
      }
      if (kind.calls.empty() || kind.calls.back() != op) kind.calls.push_back(op);
    }
    return true;
  }

  // As many in each step.
  std::optional<Found> ProductsOf(const TensorRows& tensor,
                                  const std::vector<const OpKind*>& kinds) const {
    std::vector<std::size_t> each(units_.size(), 0);
    Found found{tensor, 0, {}};
    for (const OpKind* kind : kinds) {
      for (const EventIndex call : kind->calls) {
        const std::size_t unit = PlaceOfUnit(units_, events_[call].ts_ns);
        if (unit == units_.size()) return std::nullopt;
        ++each[unit];
        if (unit > 0) found.later.push_back(call);
      }
    }
    found.products = each.front();
    const bool alike = std::ranges::all_of(each, [&](std::size_t n) { return n == each.front(); });
    if (!alike || found.products < kProductsLeast) return std::nullopt;
    return found;
  }

  // Whether some op may make the tensor, or something that it is a part or a repetition of.
  bool IsMade(const TensorRows& tensor) const {
    const double elements = static_cast<double>(tensor.rows) * static_cast<double>(tensor.columns);
    if (static_cast<double>(uploaded_) >= elements) return true;
    return std::ranges::any_of(kinds_, [&](const auto& one) {
      const OpKind& kind = one.second;
      if (kind.given.rows > 0 && MayHold(kind.given, tensor)) return true;
      if (kind.taken == tensor) return false;
      const auto holds = [&](const Shape& shape) {
        return MayHold(RowsOfSizes(shape), tensor) || Elements(shape) == elements;
      };
      return std::ranges::any_of(kind.shapes, holds) || Gathers(kind, tensor) ||
             Spreads(kind, tensor) || Joins(kind, elements);
    });
  }

  static bool MayHold(const TensorRows& whole, const TensorRows& tensor) {
    return whole.columns > 0 && whole.columns % tensor.columns == 0 &&
           whole.rows % tensor.rows == 0 && whole.rows > 0;
  }

  // Rows of a table, rows repeated, pixels of a convolution or of a pool: as long, however many.
  static bool Gathers(const OpKind& kind, const TensorRows& tensor) {
    static constexpr std::string_view kOfRows[] = {"embedding", "index", "gather", "repeat",
                                                   "expand",    "roll",  "pad",    "copy"};
    static constexpr std::string_view kOfAny[] = {"pool",   "upsample", "interp",   "einsum",
                                                  "unfold", "sample",   "roi_align"};
    const auto is_of = [&](std::span<const std::string_view> parts) {
      return std::ranges::any_of(parts, [&](std::string_view part) {
        return kind.name.find(part) != std::string_view::npos;
      });
    };
    if (kind.name.find("conv") != std::string_view::npos) return Convolves(kind, tensor);
    const bool rows = is_of(kOfRows), any = is_of(kOfAny);
    return std::ranges::any_of(kind.shapes, [&](const Shape& shape) {
      if (shape.empty()) return false;
      return any ? std::ranges::count(shape, tensor.columns) > 0
                 : rows && shape.back() == tensor.columns;
    });
  }

  // Into as many channels; of transposed ones, which not all names tell, these are the second.
  static bool Convolves(const OpKind& kind, const TensorRows& tensor) {
    if (kind.shapes.size() < 2 || kind.shapes[1].size() < 2) return true;
    const Shape& weight = kind.shapes[1];
    const bool plain = kind.name == "aten::conv1d" || kind.name == "aten::conv2d";
    return weight[0] == tensor.columns || (!plain && weight[1] == tensor.columns);
  }

  // What an op makes of tensors that are repeated to each other's sizes, or multiplied in batches.
  static bool Spreads(const OpKind& kind, const TensorRows& tensor) {
    Shape spread;
    for (const Shape& shape : kind.shapes) {
      if (spread.size() < shape.size())
        spread.insert(spread.begin(), shape.size() - spread.size(), 1);
      for (std::size_t i = 1; i <= shape.size(); ++i)
        spread[spread.size() - i] = std::max(spread[spread.size() - i], shape[shape.size() - i]);
    }
    if (MayHold(RowsOfSizes(spread), tensor)) return true;
    return kind.shapes.size() > 1 && !kind.shapes[0].empty() && !kind.shapes[1].empty() &&
           MayHold({RowsOfSizes(kind.shapes[0]).rows, kind.shapes[1].back()}, tensor);
  }

  static bool Joins(const OpKind& kind, double elements) {
    if (kind.name != "aten::cat" && kind.name != "aten::stack") return false;
    double sum = 0;
    for (const Shape& shape : kind.shapes)
      sum += shape.empty() ? 0 : Elements(shape);
    return sum == elements;
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const std::vector<analysis::FoundStep>& units_;
  analysis::HostNames names_;
  std::map<std::pair<StringId, StringId>, OpKind> kinds_;
  std::int64_t uploaded_ = 0;  // bytes of the largest copy
};

}  // namespace

void FindConstantProjections(const Calls& calls, const WorkContext& context,
                             std::vector<Finding>* out) {
  const bool eager = !context.compiled && !context.replays && !context.IsServer();
  if (context.training || !eager || !context.framework.empty()) return;
  const auto found = ConstantProjectionFinder(calls).Run();
  if (!found) return;
  const trace::EventStore& events = calls.events();
  std::vector<analysis::HostStretch> stretches;
  std::vector<EventIndex> gpu;
  for (const EventIndex op : found->later) {
    stretches.push_back({events[op].track, events[op].ts_ns, events[op].end_ns()});
    const auto below = calls.trace.tree().GpuBelow(op);
    gpu.insert(gpu.end(), below.begin(), below.end());
  }
  std::vector<EventIndex> gone = gpu;
  std::string tensor = fmt::format("({},{})", found->tensor.rows, found->tensor.columns);
  std::vector<Fact> facts = {StructureCount("products", found->products),
                             StructureWords("tensor", tensor)};
  Finding f =
      StructureFinding(calls, Pattern::kConstantProjections, "Constants",
                       fmt::format("products of {}", tensor), std::move(gpu), {0, 0, 0},
                       {{}, "those of the first step", "time in this trace"}, std::move(facts));
  f.change_a->exact = {analysis::ScaleHost{std::move(stretches), 0, true},
                       analysis::ScaleGpu{std::move(gone), {0}}};
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
