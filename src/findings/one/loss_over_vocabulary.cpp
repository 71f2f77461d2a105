#include "findings/one/loss_over_vocabulary.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "findings/one/launched_ops.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

constexpr double kVocabularyLeast = 8192;
constexpr double kLossRowsLeast = 256;  // fewer are those of a decode step
constexpr double kAlikeRows = 0.5;      // of the loss' rows: what shifting and masking leave

enum class LossStep { kOther, kForward, kBackward, kPick, kSpread, kCopy, kRows, kFill };

LossStep LossStepOf(std::string_view name) {
  struct Row {
    std::string_view name;
    LossStep step;
  };
  static constexpr Row kRows[] = {
      {"aten::_log_softmax", LossStep::kForward},
      {"aten::_log_softmax_backward_data", LossStep::kBackward},
      {"aten::nll_loss_forward", LossStep::kPick},
      {"aten::gather", LossStep::kPick},
      {"aten::nll_loss_backward", LossStep::kSpread},
      {"aten::scatter_add_", LossStep::kSpread},
      {"aten::scatter_", LossStep::kSpread},
      {"aten::copy_", LossStep::kCopy},
      {"aten::_index_put_impl_", LossStep::kCopy},
      {"aten::index", LossStep::kRows},
      {"aten::index_select", LossStep::kRows},
      {"aten::fill_", LossStep::kFill},
      {"aten::zero_", LossStep::kFill},
  };
  for (const Row& row : kRows) {
    if (row.name == name) return row.step;
  }
  return LossStep::kOther;
}

// An op over logits.
struct LossPass {
  LossStep step = LossStep::kOther;
  double rows = 0;
  double bytes = 0;      // that it moves
  double narrowest = 0;  // of a number that it reads or writes
  bool backward = false;
  std::vector<EventIndex> gpu;
};

// What stands between two products: the passes over logits there.
using LossStretch = std::vector<LossPass>;

// All losses over one vocabulary.
struct VocabularyLoss {
  double vocabulary = 0, rows = 0;  // of the largest
  std::size_t losses = 0, passes = 0, copies = 0, backward = 0;
  double numbers = 0;        // of logits, in both passes
  double bytes = 0, us = 0;  // of the passes
  double bits = 4;           // bytes of a number of the logits as the product writes them
  std::vector<EventIndex> gpu;

  // One pass over the logits, and one over their gradient.
  double LeastBytes() const { return numbers * bits; }
  // Chunks are read and written once as they are and once in fp32.
  double MostBytes() const { return numbers * (2 * bits + 8); }
};

class LossFinder {
 public:
  LossFinder(const Calls& calls, const std::vector<CategoryAnalysis>& categories)
      : calls_(calls),
        events_(calls.events()),
        categories_(categories),
        step_of_(events_, &LossStepOf) {}

  std::vector<VocabularyLoss> Run() {
    const std::vector<std::vector<LaunchedOp>> threads = LaunchedOpsByThread(calls_);
    for (const std::vector<LaunchedOp>& ops : threads)
      FindVocabularies(ops);
    std::vector<VocabularyLoss> found;
    for (const auto& [vocabulary, rows] : rows_of_) {
      VocabularyLoss loss;
      loss.vocabulary = static_cast<double>(vocabulary);
      loss.rows = rows;
      for (const std::vector<LaunchedOp>& ops : threads)
        AddThread(ops, vocabulary, &loss);
      if (loss.losses > 0 && loss.numbers > 0 && loss.bytes > 0) found.push_back(std::move(loss));
    }
    return found;
  }

 private:
  // Over the last dimension, which is large, of many rows; no scores of attention.
  void FindVocabularies(const std::vector<LaunchedOp>& ops) {
    for (const LaunchedOp& op : ops) {
      if (step_of_.Of(op.op) != LossStep::kForward) continue;
      const OpArguments arguments = ArgumentsOf(events_, op.op);
      if (arguments.shapes.empty() || arguments.shapes[0].size() < 2) continue;
      const Shape& shape = arguments.shapes[0];
      if (shape.size() >= 4 && shape.back() == shape[shape.size() - 2]) continue;
      if (arguments.values.size() > 1 && arguments.values[1] != "-1" &&
          arguments.values[1] != std::to_string(shape.size() - 1))
        continue;
      const auto vocabulary = static_cast<double>(shape.back());
      if (vocabulary < kVocabularyLeast) continue;
      const double rows = Elements(shape) / vocabulary;
      if (rows < kLossRowsLeast) continue;
      double& most = rows_of_[shape.back()];
      most = std::max(most, rows);
    }
  }

  bool IsLossProduct(const LaunchedOp& op) const {
    return std::any_of(op.gpu.begin(), op.gpu.end(), [&](EventIndex e) {
      const std::uint32_t call = calls_.call_of[e];
      if (call == kNone || calls_.place_of[call].category == kNone) return false;
      return categories_[calls_.place_of[call].category].kind == Kind::kGemm;
    });
  }

  void AddThread(const std::vector<LaunchedOp>& ops, std::int64_t vocabulary,
                 VocabularyLoss* loss) {
    LossStretch stretch;
    for (const LaunchedOp& op : ops) {
      const LossStep step = step_of_.Of(op.op);
      if (step != LossStep::kOther) {
        LossPass pass = PassOf(op, step, vocabulary, kAlikeRows * loss->rows);
        if (pass.rows > 0) stretch.push_back(std::move(pass));
      } else if (IsLossProduct(op)) {
        Close(&stretch, loss);
      }
    }
    Close(&stretch, loss);
  }

  // `rows` 0: it is not over logits.
  LossPass PassOf(const LaunchedOp& op, LossStep step, std::int64_t vocabulary,
                  double rows_least) const {
    LossPass pass;
    const OpArguments arguments = ArgumentsOf(events_, op.op);
    double bytes = 0;
    for (std::size_t i = 0; i < arguments.shapes.size(); ++i) {
      const Shape& shape = arguments.shapes[i];
      if (shape.size() < 2 || shape.back() != vocabulary || !HoldsFloats(arguments, i, false))
        continue;
      const double rows = Elements(shape) / static_cast<double>(vocabulary);
      if (rows < rows_least) continue;
      const double width = TypeBytes(arguments.types[i]);
      bytes += Elements(shape) * width;
      pass.rows = std::max(pass.rows, rows);
      pass.narrowest = pass.narrowest > 0 ? std::min(pass.narrowest, width) : width;
    }
    if (pass.rows <= 0) return pass;
    pass.step = step;
    const bool picks = step == LossStep::kPick || step == LossStep::kSpread;  // a number a row
    // What is written is no argument.
    const bool reads_and_writes = step == LossStep::kForward || step == LossStep::kRows;
    pass.bytes = picks ? 0 : reads_and_writes ? 2 * bytes : bytes;
    // Two are read and one is written.
    if (step == LossStep::kBackward) pass.bytes = 1.5 * bytes;
    pass.backward = IsBackwardOp(calls_, op.op);
    pass.gpu.assign(op.gpu.begin(), op.gpu.end());
    return pass;
  }

  // Of a stretch with a loss: a softmax whose result is picked from, or a gradient through one.
  static void Close(LossStretch* stretch, VocabularyLoss* loss) {
    const auto has = [&](LossStep step) {
      return std::any_of(stretch->begin(), stretch->end(),
                         [&](const LossPass& pass) { return pass.step == step; });
    };
    const bool forward = has(LossStep::kForward), back = has(LossStep::kBackward);
    // Divergences and scores of all words pick nothing.
    const bool picked = (forward || back) && (!forward || has(LossStep::kPick)) &&
                        (!back || has(LossStep::kSpread));
    if (picked) {
      // What comes after the loss, and is of its size by chance, belongs to others.
      while (!back && stretch->back().step != LossStep::kPick)
        stretch->pop_back();
      for (LossPass& pass : *stretch)
        AddPass(&pass, loss);
    }
    stretch->clear();
  }

  static void AddPass(LossPass* pass, VocabularyLoss* loss) {
    ++loss->passes;
    if (pass->step == LossStep::kForward) ++loss->losses;
    if (pass->step == LossStep::kCopy || pass->step == LossStep::kRows) ++loss->copies;
    if (pass->backward) ++loss->backward;
    if (pass->step == LossStep::kForward || pass->step == LossStep::kBackward)
      loss->numbers += pass->rows * loss->vocabulary;
    loss->bytes += pass->bytes;
    loss->bits = std::min(loss->bits, pass->narrowest);
    loss->gpu.insert(loss->gpu.end(), pass->gpu.begin(), pass->gpu.end());
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const std::vector<CategoryAnalysis>& categories_;
  trace::ByName<LossStep> step_of_;
  std::map<std::int64_t, double> rows_of_;  // by vocabulary: of the largest loss
};

std::vector<Fact> LossFacts(const VocabularyLoss& loss) {
  const auto each = [&](std::size_t all) { return (all + loss.losses - 1) / loss.losses; };
  std::vector<Fact> facts = {
      StructureCount("passes", each(loss.passes)),
      StructureCount("rows", static_cast<std::size_t>(loss.rows)),
      StructureCount("vocabulary", static_cast<std::size_t>(loss.vocabulary))};
  if (loss.copies > 0) facts.push_back(StructureCount("copies", each(loss.copies)));
  if (loss.backward > 0) {
    facts.push_back(StructureCount("backward", each(loss.backward)));
    facts.push_back(StructureWords(
        "how", "together with the product before it: Liger's `LigerFusedLinearCrossEntropyLoss`"));
    facts.push_back(StructureWords(
        "more",
        "It takes the rows in chunks, for which it is the faster the more rows there are per step; "
        "chunks under `torch.utils.checkpoint` save the memory alone, as they compute the product "
        "twice"));
  } else {
    facts.push_back(StructureWords(
        "how", "in chunks of rows: `torch.nn.functional.cross_entropy` of the logits as they are"));
    facts.push_back(
        StructureWords("more", "A chunk is cast by itself, if its loss must be computed in fp32"));
  }
  return facts;
}

}  // namespace

void FindVocabularyLoss(const Calls& calls, std::vector<CategoryAnalysis>* categories,
                        std::vector<Finding>* out) {
  std::vector<VocabularyLoss> losses = LossFinder(calls, *categories).Run();
  for (VocabularyLoss& loss : losses) {
    for (const EventIndex e : loss.gpu)
      loss.us += trace::MicrosOf(calls.events()[e].dur_ns);
    if (100 * loss.us < limits::kLossShare * calls.computation_us) continue;
    // Without copies of the logits nothing says that any pass is one too many.
    if (loss.copies == 0) continue;
    const double high = 1 - std::min(1.0, loss.LeastBytes() / loss.bytes);
    const double low = 1 - std::min(1.0, loss.MostBytes() / loss.bytes);
    if (high <= 0) continue;
    ClaimOperations(calls.events(), Marked(loss.gpu, calls.events().size()), categories);
    out->push_back(
        StructureFinding(calls, Pattern::kLossOverVocabulary, "Loss", "from the logits to the loss",
                         std::move(loss.gpu), {low, (low + high) / 2, high},
                         {{}, "one pass over the logits", "bytes of the logits"}, LossFacts(loss)));
  }
}

}  // namespace jarvis::findings
