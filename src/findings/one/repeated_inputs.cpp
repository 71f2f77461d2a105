#include "findings/one/repeated_inputs.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

// One tensor repeated over a batch, and what is computed of its copies while they are equal.
struct EqualCopies {
  double copies = 0;  // rows of the batch
  std::size_t products = 0;
  std::vector<EventIndex> gpu;
};

class EqualCopiesFinder {
 public:
  explicit EqualCopiesFinder(const Calls& calls)
      : calls_(calls), events_(calls.events()), tree_(calls.trace.tree()) {}

  void Run(std::vector<Finding>* out) {
    for (const EventIndex e : tree_.preorder()) {
      if (!IsRepeat(e) || events_[e].ts_ns < until_ns_) continue;
      Follow(e);
    }
    if (static_cast<double>(found_.size()) < limits::kRepeats) return;
    const std::set<EventIndex> gpu = AllWork();
    Finding f = StructureFinding(
        calls_, Pattern::kEqualCopies, "Repeated work", "GEMMs on equal copies of one tensor",
        {gpu.begin(), gpu.end()}, {0.5, 0.8, 0.95},
        {{}, "one computation for all copies", "copies of equal content, inferred from shapes"},
        {StructureCount("iterations", found_.size()),
         StructureText("op", std::string(events_.name(first_))), StructureText("shape", shape_),
         StructureCount("products", found_.front().products),
         NumberFact("copies", found_.front().copies)});
    out->push_back(std::move(f));
  }

 private:
  std::vector<Shape> ShapesOf(EventIndex op) const {
    const StringId dims = events_.args_of(op).dims;
    return dims == kNoString ? std::vector<Shape>() : ParseShapes(events_.text(dims));
  }

  // Of a large tensor of one row, with work of its own: no view.
  bool IsRepeat(EventIndex e) const {
    if (events_[e].kind != trace::EventKind::kCpuOp) return false;
    const std::string_view name = events_.name(e);
    if (name != "aten::repeat_interleave" && name != "aten::repeat") return false;
    const std::vector<Shape> shapes = ShapesOf(e);
    return !shapes.empty() && shapes.front().size() > 1 && shapes.front().front() == 1 &&
           Elements(shapes.front()) >= limits::kRepeatedElements && !tree_.GpuBelow(e).empty();
  }

  // From the copies to the first product that writes something of their width, or a normalisation
  // of them: from there on they differ.
  void Follow(EventIndex repeat) {
    const double one = Elements(ShapesOf(repeat).front());
    EqualCopies equal;
    for (const EventIndex e : tree_.GpuBelow(repeat))
      equal.gpu.push_back(e);
    double rows = 0, width = 0;
    constexpr std::size_t kFollowed = 80;  // calls; a layer has fewer
    std::size_t followed = 0;
    auto call = std::lower_bound(
        calls_.calls.begin(), calls_.calls.end(), events_[repeat].end_ns(),
        [&](const analysis::WorkCall& c, std::int64_t ns) { return events_[c.op].ts_ns < ns; });
    for (; call != calls_.calls.end() && followed < kFollowed; ++call) {
      if (!calls_.IsHostCall(*call) || events_[call->op].track != events_[repeat].track) continue;
      ++followed;
      const auto number = [&](const char* key) {
        return call->work == nullptr ? 0 : call->work->NumberOf(key).value_or(0);
      };
      const double m = number("M"), n = number("N"), k = number("K");
      const bool reads =
          m > 0 && IsBatchOf(m * k, one) && (width == 0 || (m == rows && k == width));
      if (reads) {
        rows = m;
        width = k;
        equal.copies = m * k / one;
        ++equal.products;
        Take(*call, &equal);
        continue;
      }
      if (m > 0 && m == rows && n == width) return Keep(repeat, *call, std::move(equal));
      if (m > 0 || !IsOfCopies(*call, one, equal.copies)) continue;
      if (ContainsNoCase(calls_.NameOf(*call), "norm"))
        return Keep(repeat, *call, std::move(equal));
      Take(*call, &equal);
    }
  }

  static bool IsBatchOf(double elements, double one) {
    const double copies = elements / one;
    return copies >= 2 && copies == static_cast<double>(static_cast<std::int64_t>(copies));
  }

  // An op on tensors of the copies' size.
  bool IsOfCopies(const analysis::WorkCall& call, double one, double copies) const {
    const std::vector<Shape> shapes = ShapesOf(call.op);
    double most = 0;
    for (const Shape& shape : shapes)
      most = std::max(most, Elements(shape));
    return copies > 0 ? most == copies * one : IsBatchOf(most, one);
  }

  static void Take(const analysis::WorkCall& call, EqualCopies* equal) {
    equal->gpu.insert(equal->gpu.end(), call.kernels.begin(), call.kernels.end());
  }

  void Keep(EventIndex repeat, const analysis::WorkCall& end, EqualCopies equal) {
    if (equal.products == 0) return;
    until_ns_ = events_[end.op].ts_ns;
    if (found_.empty()) {
      first_ = repeat;
      const Shape shape = ShapesOf(repeat).front();
      for (const std::int64_t size : shape)
        shape_ += (shape_.empty() ? "(" : ",") + std::to_string(size);
      shape_ += ")";
    }
    found_.push_back(std::move(equal));
  }

  std::set<EventIndex> AllWork() const {
    std::set<EventIndex> gpu;
    for (const EqualCopies& one : found_)
      gpu.insert(one.gpu.begin(), one.gpu.end());
    return gpu;
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  std::vector<EqualCopies> found_;
  EventIndex first_ = kNoEvent;
  std::string shape_;
  std::int64_t until_ns_ = 0;
};

}  // namespace

void FindEqualCopies(const Calls& calls, const WorkContext& context, std::vector<Finding>* out) {
  // With gradients each copy has its own.
  if (!context.training) EqualCopiesFinder(calls).Run(out);
}

}  // namespace jarvis::findings
