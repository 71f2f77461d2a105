#include "findings/one/workload_fragment.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace jarvis::findings {
namespace {

using ledger::WorkKind;

// A model's own work: with any of it a pass, or a part of one, is recorded. Of a kernel that nobody
// knows nobody knows that it is none.
bool IsOfPass(WorkKind kind) {
  switch (kind) {
    case WorkKind::kProduct:
    case WorkKind::kConvolution:
    case WorkKind::kAttention:
    case WorkKind::kNormalisation:
    case WorkKind::kSoftmax:
    case WorkKind::kPooling:
    case WorkKind::kGather:
    case WorkKind::kUnknown: return true;
    default: return false;
  }
}

}  // namespace

void TellFragment(const WorkloadFacts& facts, Workload* out) {
  if (facts.kernels.empty() || facts.backward || facts.ComputeUs() <= 0) return;
  constexpr double kStray = 0.005;  // of the time: a lookup of a counter is no pass
  double pass_us = 0;
  for (const NamedWork& kernel : facts.kernels)
    pass_us += IsOfPass(kernel.kind) ? kernel.us : 0;
  if (pass_us > kStray * facts.ComputeUs()) return;
  // A pass whose ops are recorded and that launches none is a program's without products.
  if (Containing(facts.ops, {"_backward", "backward0", "autograd::engine::evaluate_function"})
          .count > 0)
    return;
  const NamedWork masks = Containing(facts.kernels, {"dropout"});
  // TensorFlow draws masks in several kernels that only their ops name.
  const bool drawn = Containing(facts.ops, {"dropout"}).count > 0;
  double updates_us = 0, casts_us = 0, random_us = 0;
  for (const NamedWork& kernel : facts.kernels) {
    if (drawn && kernel.kind == WorkKind::kRandom) random_us += kernel.us;
    if (kernel.kind == WorkKind::kOptimizer) updates_us += kernel.us;
    if (kernel.kind == WorkKind::kCast) casts_us += kernel.us;
  }
  if (masks.count == 0 && updates_us <= 0 && random_us <= 0) return;
  std::vector<std::pair<double, std::string_view>> parts = {
      {masks.us, "dropout masks"},
      {random_us, "random numbers of dropout"},
      {updates_us, "optimizer updates"},
      {casts_us, "casts"}};
  parts.emplace_back(facts.ComputeUs() - masks.us - random_us - updates_us - casts_us,
                     "element-wise kernels and copies");
  std::erase_if(parts, [&](const auto& part) { return part.first < kStray * facts.ComputeUs(); });
  std::sort(parts.rbegin(), parts.rend());
  std::vector<std::string> texts;
  for (const auto& [us, what] : parts)
    texts.push_back(fmt::format("{} ({:.0f}%)", what, 100 * us / facts.ComputeUs()));
  out->Set(WorkloadPart::kPhase,
           fmt::format("{}: only {}", kNoPassRecorded, fmt::join(texts, ", ")),
           Certainty::kRecorded,
           "kernels of dropout or of an optimizer, and none of GEMMs, convolutions, attention, "
           "norms or embeddings");
}

}  // namespace jarvis::findings
