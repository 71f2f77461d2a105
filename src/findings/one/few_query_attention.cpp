#include "findings/one/few_query_attention.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/frames/base_of_time.h"
#include "base/job.h"
#include "findings/one/attention_change.h"
#include "findings/one/launched_ops.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::int64_t kFewMost = 32;   // queries; a fused kernel gives a block to more
constexpr std::size_t kOpsBetween = 6;  // from a product to the softmax
constexpr std::size_t kOpsBefore = 4;   // from what repeats keys to the first product
constexpr std::size_t kCallsLeast = 4;  // of the recording
constexpr double kShortUs = 10;         // a kernel that a launch hides
constexpr std::size_t kRepeatAxes = 5;  // batch, heads, copies, keys, head size

struct ScoresProduct {
  double batch = 0, m = 0, k = 0, n = 0;
};

// One attention: its launching ops by place on their thread.
struct FewQueryCall {
  std::size_t first = 0, last = 0;
  std::vector<std::size_t> repeats;
};

struct FewQueryWork {
  std::vector<analysis::HostStretch> stretches;
  std::vector<EventIndex> gpu, repeats;  // of all its ops; of copies alone
  std::size_t calls = 0, kernels = 0, copies = 0;
  std::int64_t heads = 0;  // that share keys
  double host_ms = 0, repeats_ms = 0;
};

class FewQueryFinder {
 public:
  explicit FewQueryFinder(const Calls& calls)
      : calls_(calls), events_(calls.events()), tree_(calls.trace.tree()) {}

  FewQueryWork Run() {
    for (const std::vector<LaunchedOp>& thread : LaunchedOpsByThread(calls_)) {
      for (std::size_t i = 0; i < thread.size(); ++i) {
        const std::string_view name = events_.name(thread[i].op);
        if (name != "aten::_softmax" && name != "aten::softmax") continue;
        if (const auto found = CallAround(thread, i)) Take(thread, *found);
      }
    }
    return std::move(work_);
  }

 private:
  std::optional<ScoresProduct> ProductOf(EventIndex op) const {
    const std::string_view name = events_.name(op);
    const bool added = name == "aten::baddbmm" || name == "aten::baddbmm_";
    if (name != "aten::bmm" && !added) return std::nullopt;
    const std::vector<Shape> shapes = ArgumentsOf(events_, op).shapes;
    const std::size_t at = added ? 1 : 0;
    if (shapes.size() < at + 2 || shapes[at].size() != 3 || shapes[at + 1].size() != 3)
      return std::nullopt;
    const auto size = [&](std::size_t which, std::size_t axis) {
      return static_cast<double>(shapes[which][axis]);
    };
    return ScoresProduct{size(at, 0), size(at, 1), size(at, 2), size(at + 1, 2)};
  }

  bool IsShort(const LaunchedOp& op) const {
    return std::ranges::all_of(
        op.gpu, [&](EventIndex e) { return trace::MicrosOf(events_[e].dur_ns) < kShortUs; });
  }

  bool IsOnScores(EventIndex op, double elements) const {
    const std::vector<Shape> shapes = ArgumentsOf(events_, op).shapes;
    return std::ranges::any_of(
        shapes, [&](const Shape& shape) { return !shape.empty() && Elements(shape) == elements; });
  }

  std::optional<FewQueryCall> CallAround(const std::vector<LaunchedOp>& ops,
                                         std::size_t softmax) const {
    const std::vector<Shape> shapes = ArgumentsOf(events_, ops[softmax].op).shapes;
    if (shapes.empty() || shapes.front().size() < 3 || !IsShort(ops[softmax])) return std::nullopt;
    const Shape& scores = shapes.front();
    const auto keys = static_cast<double>(scores.back());
    if (scores[scores.size() - 2] > kFewMost || scores.back() <= kFewMost) return std::nullopt;
    const double elements = Elements(scores);
    // The next product on that side, with nothing but work on the scores before it.
    const auto next = [&](int step, const auto& fits) -> std::optional<std::size_t> {
      std::size_t at = softmax;
      for (std::size_t n = 0; n < kOpsBetween; ++n) {
        if (step < 0 ? at == 0 : at + 1 == ops.size()) break;
        at = step < 0 ? at - 1 : at + 1;
        if (!IsShort(ops[at])) break;
        if (const auto product = ProductOf(ops[at].op))
          return fits(*product) ? std::optional(at) : std::nullopt;
        if (!IsOnScores(ops[at].op, elements)) break;
      }
      return std::nullopt;
    };
    const auto first = next(
        -1, [&](const ScoresProduct& p) { return p.n == keys && p.batch * p.m * p.n == elements; });
    const auto last = next(
        1, [&](const ScoresProduct& p) { return p.k == keys && p.batch * p.m * p.k == elements; });
    if (!first || !last) return std::nullopt;
    return FewQueryCall{*first, *last, RepeatsBefore(ops, *first)};
  }

  // Copies of all that the first product reads as keys, with an axis for the heads that share them.
  std::vector<std::size_t> RepeatsBefore(const std::vector<LaunchedOp>& ops,
                                         std::size_t first) const {
    std::vector<std::size_t> found;
    const ScoresProduct product = *ProductOf(ops[first].op);
    const double operand = product.batch * product.k * product.n;
    for (std::size_t n = 1; n <= kOpsBefore && n <= first; ++n) {
      const EventIndex op = ops[first - n].op;
      if (events_.name(op) != "aten::copy_") continue;
      const std::vector<Shape> shapes = ArgumentsOf(events_, op).shapes;
      const bool repeats = !shapes.empty() && shapes.front().size() == kRepeatAxes &&
                           Elements(shapes.front()) == operand;
      if (repeats) found.push_back(first - n);
    }
    return found;
  }

  void Take(const std::vector<LaunchedOp>& ops, const FewQueryCall& call) {
    const EventIndex first = OutermostOp(events_, tree_, ops[call.first].op);
    const EventIndex last = OutermostOp(events_, tree_, ops[call.last].op);
    if (first == last || events_[last].ts_ns <= events_[first].end_ns()) return;
    const std::uint32_t track = events_[first].track;
    AddStretch({track, events_[first].end_ns(), events_[last].ts_ns});
    for (std::size_t at = call.first; at <= call.last; ++at) {
      work_.gpu.insert(work_.gpu.end(), ops[at].gpu.begin(), ops[at].gpu.end());
      work_.kernels += ops[at].gpu.size();
    }
    std::set<EventIndex> outer;
    for (const std::size_t at : call.repeats) {
      for (const EventIndex e : ops[at].gpu) {
        work_.gpu.push_back(e);
        work_.repeats.push_back(e);
        work_.repeats_ms += trace::MicrosOf(events_[e].dur_ns) / 1000;
      }
      work_.kernels += ops[at].gpu.size();
      ++work_.copies;
      work_.heads = ArgumentsOf(events_, ops[at].op).shapes.front()[2];
      outer.insert(OutermostOp(events_, tree_, ops[at].op));
    }
    for (const EventIndex op : outer)
      AddStretch({events_[op].track, events_[op].ts_ns, events_[op].end_ns()});
    ++work_.calls;
  }

  void AddStretch(const analysis::HostStretch& stretch) {
    work_.stretches.push_back(stretch);
    work_.host_ms += static_cast<double>(stretch.end_ns - stretch.begin_ns) / 1e6;
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  FewQueryWork work_;
};

}  // namespace

void FindFewQueryAttention(const Calls& calls, const WorkContext& context,
                           std::vector<Finding>* out) {
  const bool eager = !context.compiled && !context.replays && !context.IsServer();
  if (context.training || !eager || !context.framework.empty()) return;
  FewQueryWork work = FewQueryFinder(calls).Run();
  const bool much = 1e5 * work.host_ms >= limits::kFindingMin * calls.window_us;
  if (work.calls < kCallsLeast || !much) return;
  const auto frames = session::FramesOf(calls.trace, Job()).value();
  const analysis::BaseOfTime& base = frames->frames.base;
  const std::size_t units = std::max<std::size_t>(1, base.host_units.size());
  std::vector<Fact> facts = {StructureCount("kernels", work.kernels / work.calls),
                             StructureCount("calls", std::max<std::size_t>(1, work.calls / units)),
                             StructureWords("unit", base.unit_text())};
  const std::size_t repeats = work.copies / work.calls;
  if (repeats > 0) {
    facts.push_back(StructureCount("repeats", repeats));
    facts.push_back(StructureCount("heads", static_cast<std::size_t>(work.heads)));
    facts.push_back(StructureWords("gqa", "`enable_gqa=True` (PyTorch 2.5 or newer)"));
  }
  double gpu_ms = 0;
  for (const EventIndex e : work.gpu)
    gpu_ms += trace::MicrosOf(calls.events()[e].dur_ns) / 1000;
  const double part = gpu_ms > 0 ? work.repeats_ms / gpu_ms : 0;
  Finding f =
      StructureFinding(calls, Pattern::kFewQueryAttention, "Attention", "GEMM, softmax and GEMM",
                       std::move(work.gpu), {part / 2, part, part},
                       {{}, "the two GEMMs alone", "calls of this trace"}, std::move(facts));
  f.change_a->exact = {analysis::ScaleHost{std::move(work.stretches), 0, true},
                       analysis::ScaleGpu{std::move(work.repeats), {0}}};
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
