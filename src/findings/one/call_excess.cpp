#include "findings/one/call_excess.h"

#include <utility>
#include <variant>

namespace jarvis::findings {

CallExcess::CallExcess(const trace::EventStore& events, std::span<const Finding> findings)
    : events_(events) {
  for (const Finding& finding : findings) {
    if (finding.rule != Pattern::kSlowCalls || !finding.change_a) continue;
    for (const Change::Part& part : finding.change_a->parts) {
      for (const trace::EventIndex e : part.gpu)
        parts_.emplace(e, part.saved_part.mid);
    }
  }
}

double CallExcess::Of(trace::EventIndex gpu) const {
  const auto found = parts_.find(gpu);
  return found == parts_.end() ? 0 : found->second;
}

void CallExcess::Spare(const analysis::RemoveGpu& change,
                       std::vector<analysis::Change>* left) const {
  analysis::RemoveGpu removed;
  analysis::ScaleGpu kept;
  for (const trace::EventIndex e : change.events) {
    const double excess = Of(e);
    if (excess <= 0) {
      removed.events.push_back(e);
    } else {
      kept.events.push_back(e);
      kept.factors.push_back(excess);
    }
  }
  if (!removed.events.empty()) left->emplace_back(std::move(removed));
  if (!kept.events.empty()) left->emplace_back(std::move(kept));
}

std::vector<analysis::Change> CallExcess::Spare(
    const std::vector<analysis::Change>& changes) const {
  if (parts_.empty()) return changes;
  std::vector<analysis::Change> left;
  for (const analysis::Change& change : changes) {
    if (const auto* gone = std::get_if<analysis::RemoveGpu>(&change)) {
      Spare(*gone, &left);
    } else if (const auto* scale = std::get_if<analysis::ScaleGpu>(&change)) {
      analysis::ScaleGpu spared = *scale;
      if (!spared.factors.empty()) spared.factors.resize(spared.events.size(), scale->factors[0]);
      for (std::size_t i = 0; i < spared.factors.size(); ++i) {
        const double excess = Of(spared.events[i]);
        spared.factors[i] = excess + (1 - excess) * spared.factors[i];
      }
      left.emplace_back(std::move(spared));
    } else if (const auto* set = std::get_if<analysis::SetGpuTime>(&change)) {
      analysis::SetGpuTime spared = *set;
      if (!spared.us.empty()) spared.us.resize(spared.events.size(), set->us[0]);
      for (std::size_t i = 0; i < spared.us.size(); ++i) {
        const trace::EventIndex e = spared.events[i];
        spared.us[i] += Of(e) * trace::MicrosOf(events_[e].dur_ns);
      }
      left.emplace_back(std::move(spared));
    } else {
      left.push_back(change);
    }
  }
  return left;
}

}  // namespace jarvis::findings
