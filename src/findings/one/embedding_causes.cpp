#include "findings/one/embedding_causes.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

// FBGEMM's, whose backward pass is the optimizer's step as well.
bool IsFusedTable(const Operation& operation) {
  return operation.name.find("CppNode<SplitLookupFunction") != std::string::npos;
}

bool IsEmbeddingBackward(const Operation& operation) {
  return IsFusedTable(operation) || operation.name == "aten::embedding_dense_backward" ||
         operation.name == "aten::_embedding_bag_dense_backward";
}

// The part of its time in which indices are sorted.
double SortPart(const Operation& operation) {
  double us = 0;
  for (const KernelShare& kernel : operation.kernels) {
    if (ContainsNoCase(kernel.name, "sort")) us += kernel.total_us;
  }
  return operation.gpu_us > 0 ? std::clamp(us / operation.gpu_us, 0.0, 1.0) : 0;
}

// The part of its time that goes at so much of the bandwidth, where gradients are read and rows
// written once; 0: not known.
double FasterPart(const Operation& operation, double tb_per_s) {
  // The gradient is the first operand.
  std::string dims = operation.dims;  // tuples: "((32, 512, 1024), (32, 512))"
  std::replace(dims.begin(), dims.end(), '(', '[');
  std::replace(dims.begin(), dims.end(), ')', ']');
  const std::vector<Shape> shapes = ParseShapes(dims);
  if (shapes.empty() || operation.mean_us <= 0 || tb_per_s <= 0) return 0;
  constexpr double kBytes = 2 * 4;
  return std::max(0.0,
                  1 - kBytes * Elements(shapes.front()) / (tb_per_s * 1e6) / operation.mean_us);
}

// By its operands, and where their types were not recorded by its kernels' names.
bool IsWide(const Operation& operation) {
  if (operation.args.find("fp32") != std::string::npos) return true;
  const bool typed = operation.args.find("16") != std::string::npos ||
                     operation.args.find("int") != std::string::npos;
  return !typed && std::any_of(operation.kernels.begin(), operation.kernels.end(),
                               [](const KernelShare& kernel) {
                                 const std::string name = analysis::ShortKernelName(kernel.name);
                                 return name.find("<fp32") != std::string::npos;
                               });
}

void ExplainEmbedding(double tb_per_s, Operation* operation) {
  if (!IsWide(*operation)) return;
  const double sort = SortPart(*operation);
  std::vector<Fact> facts = {{"type", std::string("fp32"), {}}};
  if (sort > 0.01) facts.push_back(NumberFact("sort_percent", 100 * sort, "%"));
  if (IsFusedTable(*operation)) {
    facts.push_back({"setting", "`weights_precision=SparseType.FP16`", "words"});
    facts.push_back({"output",
                     "FBGEMM sends gradients in 16 bits with `output_dtype=SparseType.FP16`",
                     "words"});
  } else {
    facts.push_back({"sparse",
                     "Update only the rows that were looked up: `sparse=True` with a sparse "
                     "optimizer, or FBGEMM's table-batched embeddings, whose backward pass is the "
                     "update",
                     "words"});
  }
  // Half of the bytes of rows and gradients; at best the indices need no sorting either. Far below
  // the bandwidth it is the kernel that costs, which adds rows with few blocks.
  const double rows = 1 - sort;
  Cause cause{Pattern::kEmbeddingBackward, "embedding", std::move(facts), {}, {}, {}};
  Range halved{0.25 * rows, 0.4 * rows, 0.5 * rows + sort};
  // Without sizes nobody knows how far it is from the bandwidth, which rows looked up alone may be.
  constexpr double kUnsized = 0.9;
  if (operation->dims.empty()) halved.high = std::max(halved.high, kUnsized);
  // A dense gradient needs its indices sorted however fast its rows are added up.
  const Range faster{std::min(FasterPart(*operation, limits::kTensorLow / 2 * tb_per_s), rows),
                     FasterPart(*operation, limits::kTensorLow * tb_per_s),
                     FasterPart(*operation, limits::kTensorHigh * tb_per_s)};
  if (faster.mid > halved.mid) {
    cause.a =
        Target{{std::max(halved.low, faster.low), faster.mid, std::max(halved.high, faster.high)},
               fmt::format("{:.0f}% of the peak bandwidth", limits::kTensorHigh * 100),
               "estimate"};
  } else {
    cause.a = Target{halved, "half of the bytes, and at best no sorting",
                     "bytes of a 16-bit element, time of the sorts in this trace"};
  }
  operation->cause = std::move(cause);
}

}  // namespace

void FindEmbeddings(std::optional<double> tb_per_s, std::vector<CategoryAnalysis>* categories) {
  for (CategoryAnalysis& category : *categories) {
    for (Operation& operation : category.operations) {
      const bool open = !operation.cause && !operation.claimed;
      if (open && IsEmbeddingBackward(operation) && operation.mean_us >= limits::kSmallKernelUs)
        ExplainEmbedding(tb_per_s.value_or(0), &operation);
    }
  }
}

}  // namespace jarvis::findings
