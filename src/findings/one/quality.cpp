#include "findings/one/quality.h"

#include <algorithm>
#include <utility>

#include "analysis/host/recording_checks.h"
#include "base/parallel.h"
#include "findings/one/enum_text.h"
#include "findings/one/quality_absent.h"
#include "findings/one/quality_analysis.h"
#include "findings/one/quality_parts.h"
#include "findings/one/quality_recording.h"
#include "findings/one/quality_scope.h"
#include "findings/one/quality_time.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"
#include "session/trace_trust.h"

namespace jarvis::findings {
namespace {

using QualityList = std::vector<Quality>;

struct QualityKey {
  using Value = QualityList;
  bool operator==(const QualityKey&) const = default;
};

std::size_t BytesOfQualities(const QualityList& list) {
  std::size_t bytes = list.capacity() * sizeof(Quality);
  for (const Quality& one : list) {
    for (const std::string* text : {&one.code, &one.text, &one.consequence, &one.record})
      bytes += text->capacity();
  }
  return bytes;
}

void SortQualities(QualityList* list) {
  const auto damage = [](const Quality& one) {
    return one.severity == Severity::kHard || one.remedy == "partial";
  };
  std::stable_sort(list->begin(), list->end(), [&](const Quality& a, const Quality& b) {
    if (damage(a) != damage(b)) return damage(a);
    if (a.MidMs() != b.MidMs()) return a.MidMs() > b.MidMs();
    return a.severity < b.severity;
  });
}

// Everything that qualities are told of and that takes a look at all events, side by side; what is
// not returned is kept with the trace.
Result<analysis::RecordingChecks> Measure(const session::LoadedTrace& trace, const Job& job) {
  analysis::RecordingChecks checks;
  ParallelFor(3, 0, [&](std::size_t part) {
    // An error, which can only be a cancelled job's, comes again where the part is asked for.
    switch (part) {
      case 0: static_cast<void>(session::FramesOf(trace, job)); break;
      case 1: static_cast<void>(session::ProfilingCostOf(trace, job)); break;
      default:
        static_cast<void>(session::FirstCallsOf(trace, job));
        checks =
            analysis::CheckRecording(trace.events(), trace.tree(), trace.attribution().timeline);
    }
  });
  JV_TRY(job.Check());
  return checks;
}

}  // namespace

std::string_view SeverityText(Severity severity) {
  return EnumText({"hard", "warning", "note"}, severity);
}

std::string MsOf(const Quality& quality) {
  if (!quality.ms) return {};
  if (!quality.ms_high) return ShortNumber(*quality.ms) + " ms";
  return ShortNumber(*quality.ms) + " to " + ShortNumber(*quality.ms_high) + " ms";
}

std::string ShareOf(const Quality& quality) {
  if (!quality.percent) return {};
  const std::string of = "% of the " + quality.base;
  if (!quality.percent_high) return ShortNumber(*quality.percent) + of;
  return ShortNumber(*quality.percent) + " to " + ShortNumber(*quality.percent_high) + of;
}

Result<std::shared_ptr<const QualityList>> QualityOf(const session::LoadedTrace& trace,
                                                     const Job& job) {
  using Made = session::DerivedCache::Made<QualityList>;
  return trace.derived().Get(QualityKey{}, job, [&]() -> Result<Made> {
    JV_ASSIGN(const analysis::RecordingChecks checks, Measure(trace, job));
    QualityList list;
    AddRecordingQualities(trace, &list);
    JV_TRY(AddTimeQualities(trace, checks, job, &list));
    SortQualities(&list);
    const std::size_t bytes = BytesOfQualities(list);
    return Made{std::make_shared<const QualityList>(std::move(list)), bytes};
  });
}

Result<QualityList> JudgeQuality(const session::LoadedTrace& trace, const Analysis& analysis,
                                 const Job& job) {
  JV_ASSIGN(const auto of_trace, QualityOf(trace, job));
  QualityList list = *of_trace;
  AddAnalysisQualities(trace, analysis, &list);
  AddScopeQualities(trace, analysis, &list);
  AddAbsentParts(trace, analysis, &list);
  SortQualities(&list);
  return list;
}

std::vector<const Quality*> LeadingQualities(const QualityList& list) {
  std::vector<const Quality*> leading;
  for (const Quality& one : list) {
    if (one.percent.value_or(0) >= limits::kQualityLead) leading.push_back(&one);
  }
  return leading;
}

}  // namespace jarvis::findings
