#include "findings/one/call_excess.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace jarvis::findings {

namespace {

// A host that stands still wherever it is just then; giving memory back belongs to its ops.
bool IsStop(const Finding& finding) {
  if (finding.host == nullptr) return false;
  if (finding.host->kind == HostCauseKind::kDescheduled) return true;
  return finding.host->kind == HostCauseKind::kStop &&
         (finding.rule == Pattern::kPythonStops || finding.rule == Pattern::kInterpreterLock);
}

void AddHostTime(const std::vector<analysis::Change>& changes, IntervalSet<std::int64_t>* time) {
  for (const analysis::Change& change : changes) {
    const auto* host = std::get_if<analysis::ScaleHost>(&change);
    if (host == nullptr) continue;
    for (const analysis::HostStretch& stretch : host->stretches)
      time->push_back({stretch.begin_ns, stretch.end_ns});
  }
}

}  // namespace

CallExcess::CallExcess(const trace::EventStore& events, std::span<const Finding> findings)
    : events_(events) {
  for (const Finding& finding : findings) {
    if (IsStop(finding)) AddHostTime(finding.host->changes, &stops_);
    if (finding.rule != Pattern::kSlowCalls || !finding.change_a) continue;
    for (const Change::Part& part : finding.change_a->parts) {
      for (const trace::EventIndex e : part.gpu)
        parts_.emplace(e, part.saved_part.mid);
    }
  }
  stops_ = Union(std::move(stops_));
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

analysis::ScaleHost CallExcess::Spare(const analysis::ScaleHost& change) const {
  if (stops_.empty()) return change;
  analysis::ScaleHost spared = change;
  spared.stretches.clear();
  for (const analysis::HostStretch& stretch : change.stretches) {
    const IntervalSet<std::int64_t> own = {{stretch.begin_ns, stretch.end_ns}};
    auto stop = std::lower_bound(stops_.begin(), stops_.end(), stretch.begin_ns,
                                 [](const auto& one, std::int64_t at) { return one.end <= at; });
    IntervalSet<std::int64_t> inside;
    for (; stop != stops_.end() && stop->start < stretch.end_ns; ++stop)
      inside.push_back(*stop);
    for (const Interval<std::int64_t>& piece : Subtract(own, inside))
      spared.stretches.push_back({stretch.track, piece.start, piece.end});
  }
  return spared;
}

std::vector<analysis::Change> CallExcess::Spare(
    const Finding& finding, const std::vector<analysis::Change>& changes) const {
  if (finding.rule == Pattern::kSlowCalls || IsStop(finding)) return changes;
  if (parts_.empty() && stops_.empty()) return changes;
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
    } else if (const auto* host = std::get_if<analysis::ScaleHost>(&change)) {
      left.emplace_back(Spare(*host));
    } else {
      left.push_back(change);
    }
  }
  return left;
}

}  // namespace jarvis::findings
