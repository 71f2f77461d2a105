#include "session/mode.h"

#include <vector>

#include "compat/tracelens.h"
#include "compat/tracelens_compare.h"
#include "compat/tracelens_diff.h"
#include "compat/tracelens_jax.h"
#include "compat/tracelens_models.h"
#include "compat/tracelens_pftrace.h"
#include "compat/tracelens_reading.h"
#include "compat/tracelens_rocprof.h"
#include "session/own_diff_reading.h"
#include "session/own_reading.h"

namespace jarvis::session {
namespace {

std::vector<compat::TraceLensCapture> CapturesOf(const LoadedTrace& trace) {
  std::vector<compat::TraceLensCapture> captures;
  for (const CaptureRecording& one : trace.captures()) {
    const trace::EventStore* events = one.trace ? &one.trace->events() : nullptr;
    captures.push_back({events, one.rows, one.mode, one.listed});
  }
  return captures;
}

constexpr Mode kOwnMode = {
    .read = &OwnReading,
    .diff = &OwnDiffReading,
    .read_diff_side = &ReadOwnDiffSide,
    .collective_rules = [] { return analysis::TableRules(); },
    .compare_rules = [] { return analysis::CompareRules(); },
    .rocprof_rules = [] { return rocprof::ReportRules(); },
    .has_models_of = nullptr,
    .model_overlays = [] { return std::span<const EmbeddedFile>(); },
    .joins_captures = true,
    .judges_comparisons = true,
    .report_of_profile = nullptr,
};

constexpr Mode kTraceLensMode = {
    .read =
        [](const LoadedTrace& trace, const analysis::ReadingOptions& options) {
          return compat::TraceLensReading(trace.events(), options, CapturesOf(trace));
        },
    .diff = &compat::TraceLensDiffReading,
    .read_diff_side =
        [](const LoadedTrace& trace, const DiffSideOptions& how, analysis::DiffNames& names) {
          const auto captures =
              how.captures ? CapturesOf(trace) : std::vector<compat::TraceLensCapture>();
          return compat::ReadTraceLensDiffSide(trace.events(), how.python_frames, captures, names);
        },
    .collective_rules = &compat::TraceLensRules,
    .compare_rules = &compat::TraceLensCompareRules,
    .rocprof_rules = &compat::TraceLensRocprofRules,
    .has_models_of = &compat::InTheReference,
    .model_overlays = &compat::OverlayFiles,
    .joins_captures = false,
    .judges_comparisons = false,
    .report_of_profile =
        [](const LoadedTrace& trace) {
          const trace::EventStore& events = trace.events();
          if (compat::IsJaxProfile(events))
            return compat::TraceLensJaxReport(events, trace.track_names());
          return compat::IsRocprofTrace(events) ? compat::TraceLensPftraceReport(events)
                                                : std::vector<Table>();
        },
};

}  // namespace

const Mode& ModeOf(Compat compat) {
  return compat == Compat::kTraceLens ? kTraceLensMode : kOwnMode;
}

}  // namespace jarvis::session
