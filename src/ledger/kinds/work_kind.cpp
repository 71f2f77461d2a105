#include "ledger/kinds/work_kind.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/check.h"
#include "ledger/kinds/kernel_name.h"
#include "ledger/kinds/kind_files.h"
#include "ledger/kinds/kind_table.h"

namespace jarvis::ledger {

std::string_view WorkKindText(WorkKind kind) {
  static constexpr std::string_view kTexts[] = {
      "product",
      "convolution",
      "attention",
      "normalisation",
      "softmax",
      "pooling",
      "element-wise",
      "reduction",
      "cast / quantise",
      "layout / transpose",
      "copy / fill",
      "host copy",
      "gather / scatter / sort / embedding",
      "optimizer",
      "sampling",
      "random",
      "communication transfer",
      "communication wait",
      "unknown",
  };
  static_assert(std::size(kTexts) == kWorkKinds);
  JV_CHECK(static_cast<int>(kind) < kWorkKinds);
  return kTexts[static_cast<int>(kind)];
}

bool IsCommunication(WorkKind kind) {
  return kind == WorkKind::kCommTransfer || kind == WorkKind::kCommWait;
}

bool ComputesNothing(WorkKind kind) {
  return kind == WorkKind::kCast || kind == WorkKind::kLayout || kind == WorkKind::kCopy ||
         kind == WorkKind::kHostCopy;
}

bool IsPass(WorkKind kind) {
  switch (kind) {
    case WorkKind::kNormalisation:
    case WorkKind::kSoftmax:
    case WorkKind::kElementwise:
    case WorkKind::kReduction:
    case WorkKind::kCast:
    case WorkKind::kLayout:
    case WorkKind::kCopy: return true;
    default: return false;
  }
}

bool IsLibraryHelper(const KernelKind& kind) {
  static constexpr std::string_view kLibraries[] = {"cublas_cutlass", "cudnn", "hipblaslt_tensile",
                                                    "miopen"};
  return (kind.kind == WorkKind::kCast || kind.kind == WorkKind::kCopy) &&
         std::find(std::begin(kLibraries), std::end(kLibraries), kind.library) !=
             std::end(kLibraries);
}

KernelKind ClassifyKernelName(std::string_view name) {
  static const KindTable kinds(NameFiles());
  static const KindTable sizes(NameFiles(), KindTable::kSizes);
  const std::string text = NormalisedKernelName(name);
  KernelKind kind = kinds.Find(text);
  kind.sizes = sizes.Find(text).sizes;
  return kind;
}

}  // namespace jarvis::ledger
