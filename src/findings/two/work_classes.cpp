#include "findings/two/work_classes.h"

#include <algorithm>
#include <array>
#include <string>

#include "analysis/attribution/collective_kernel.h"
#include "base/text.h"
#include "findings/one/category_analysis.h"
#include "findings/one/enum_text.h"

namespace jarvis::findings {
namespace {

template <std::size_t N>
bool HasPart(std::string_view text, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return ContainsNoCase(text, part); });
}

bool IsProductKernel(std::string_view kernel) {
  static constexpr std::string_view kParts[] = {"gemm", "cijk_", "nvjet", "gemv", "splitkreduce"};
  return HasPart(kernel, kParts);
}

bool IsAttentionKernel(std::string_view kernel) {
  static constexpr std::string_view kParts[] = {"attn_fwd",  "attn_bwd",  "fmha",
                                                "flash_fwd", "flash_bwd", "flash_attn"};
  return HasPart(kernel, kParts);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

WorkClass ClassOfCategory(std::string_view category, std::string_view op) {
  static constexpr std::string_view kIndexParts[] = {"index", "gather", "scatter", "embedding",
                                                     "sort",  "topk",   "nonzero"};
  static constexpr std::string_view kFillParts[] = {"fill_", "zero_", "::zeros", "::ones",
                                                    "::full"};
  const std::string key = LowerCase(category);
  if (key.starts_with("quant") || key == "groupquant") return WorkClass::kQuantisation;
  if (HasPart(op, kFillParts)) return WorkClass::kCopies;
  if (op == "aten::cat" || op == "aten::stack" || op == "aten::_cat")
    return WorkClass::kMemoryBound;
  if (key == "index" || key == "sort" || HasPart(op, kIndexParts)) return WorkClass::kIndexing;
  switch (KindOf(key)) {
    case Kind::kGemm: return WorkClass::kProducts;
    case Kind::kSdpa: return WorkClass::kAttention;
    case Kind::kConvolution: return WorkClass::kConvolution;
    case Kind::kMoe: return WorkClass::kExperts;
    case Kind::kCommunication: return WorkClass::kCommunication;
    case Kind::kElementwise:
    case Kind::kReduce:
    case Kind::kNorm:
    case Kind::kTriton: return WorkClass::kMemoryBound;
    case Kind::kOther: break;
  }
  return WorkClass::kOther;
}

}  // namespace

std::string_view WorkClassText(WorkClass of) {
  static constexpr std::string_view kTexts[] = {
      "matrix products",  "attention",    "convolutions",          "other kernels of expert layers",
      "communication",    "quantisation", "gather, scatter, sort", "memory-bound ops",
      "copies and fills", "other kernels"};
  return EnumText(kTexts, of);
}

WorkClass WorkClassOf(const session::LoadedTrace& trace, const analysis::Launcher& launcher,
                      trace::EventIndex kernel) {
  const trace::Event& event = trace.events()[kernel];
  if (event.kind == trace::EventKind::kMemcpy || event.kind == trace::EventKind::kMemset)
    return WorkClass::kCopies;
  const std::string_view name = trace.events().strings[event.name];
  if (analysis::CommFamilyOfKernel(name)) return WorkClass::kCommunication;
  const std::string_view op = launcher.op == trace::kNoEvent
                                  ? std::string_view()
                                  : trace.events().strings[trace.events()[launcher.op].name];
  const WorkClass by_op = ClassOfCategory(trace.attribution().CategoryOf(launcher), op);
  // Fused ops and replayed graphs hold kernels of several kinds; others are what they are called.
  if (by_op != WorkClass::kExperts && by_op != WorkClass::kOther) return by_op;
  if (IsAttentionKernel(name)) return WorkClass::kAttention;
  if (IsProductKernel(name)) return WorkClass::kProducts;
  if (ContainsNoCase(name, "quant")) return WorkClass::kQuantisation;
  return by_op;
}

WorkClass WorkClassOf(const session::LoadedTrace& trace, const analysis::Launcher& launcher) {
  std::array<std::int64_t, kWorkClasses> ns{};
  for (const auto kernel : trace.attribution().KernelsOf(launcher))
    ns[static_cast<std::size_t>(WorkClassOf(trace, launcher, kernel))] +=
        trace.events()[kernel].dur_ns;
  return static_cast<WorkClass>(std::max_element(ns.begin(), ns.end()) - ns.begin());
}

}  // namespace jarvis::findings
