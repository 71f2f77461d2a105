#include "compat/tracelens_annotations.h"

#include <algorithm>
#include <array>

namespace jarvis::compat {
namespace {

// Beginnings of the ops' names. The training report knows the first alone.
constexpr std::array<std::string_view, 14> kPrefixes = {
    "vllm::unified_attention_with_output",
    "aiter::mha_varlen_fwd",
    "pseudo_mla_decode_fwd",
    "pseudo_mla_prefill_fwd",
    "vllm::gdn_attention_core",
    "aiter::fmha_v3_varlen_fwd",
    "sglang_profiler::tilelang_kernel_tilelang_sparse_fwd",
    "sglang_profiler::attention_paged_attention_ragged",
    "aiter::mha_batch_prefill",
    "aiter::pa_decode_gluon",
    "aiter::v4_attention_with_output",
    "pseudo_v4_paged_decode_swa",
    "pseudo_v4_paged_decode_csa",
    "pseudo_v4_paged_decode_hca"};

}  // namespace

TraceLensAnnotations::TraceLensAnnotations(const trace::EventStore& events,
                                           const TraceLensTree& tree, bool inference)
    : events_(events), tree_(tree), inference_(inference) {
  // T9: annotations drawn on the GPU count too.
  for (EventIndex e = 0; e < events.size(); ++e) {
    if (events[e].kind == trace::EventKind::kUserAnnotation ||
        events[e].kind == trace::EventKind::kGpuAnnotation) {
      annotations_.push_back(e);
    }
  }
  std::stable_sort(annotations_.begin(), annotations_.end(),
                   [&](EventIndex a, EventIndex b) { return tree.ts[a] < tree.ts[b]; });
}

StringId TraceLensAnnotations::Around(EventIndex op, std::string_view name) const {
  const auto* end = kPrefixes.begin() + (inference_ ? kPrefixes.size() : 1);
  if (std::none_of(kPrefixes.begin(), end,
                   [&](std::string_view prefix) { return name.starts_with(prefix); })) {
    return kNoString;
  }
  for (const EventIndex a : annotations_) {
    if (tree_.ts[a] > tree_.ts[op]) break;
    if (tree_.end[op] < tree_.end[a]) return events_[a].name;
  }
  return kNoString;
}

}  // namespace jarvis::compat
