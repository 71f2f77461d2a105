// How far a trace can be trusted: what is damaged, missing, strange, or there only because it was
// being recorded. Each quality says how much time it concerns, what must not be concluded because
// of it, and what to record next. There is one list for answers, files and reports.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

struct Analysis;

enum class Severity : std::uint8_t { kHard, kWarning, kNote };
std::string_view SeverityText(Severity severity);  // "hard", "warning", "note"

struct Quality {
  std::string code;  // stable: "profiler_frames", "overlap_on_stream"
  Severity severity = Severity::kNote;
  std::string text;                        // one sentence: what it is, with this trace's figures
  std::string remedy = "noted";            // what was done: left_out, clipped, repaired, partial
  std::uint64_t count = 0;                 // events concerned; 0: not about events
  std::optional<std::uint64_t> first_uid;  // an example: its place in traceEvents
  std::optional<double> gpu_percent;       // share of GPU time concerned
  // Wall time concerned, in milliseconds; a range where only bounds are known.
  std::optional<double> ms;
  std::optional<double> ms_high;
  std::optional<double> percent;       // `ms` of `base`
  std::optional<double> percent_high;  // `ms_high` of it
  std::string base;                    // "step", "steps" or "trace"; empty without `percent`
  // Of what was measured against a limit.
  std::optional<double> value;
  std::optional<double> threshold;
  std::string unit;         // of both: "%", "ms", ""
  std::string evidence;     // where the value is from; may be empty
  std::string consequence;  // one sentence: what not to conclude; may be empty
  std::string parts;        // what `text` is made up of, for tables: a sentence; may be empty
  // Of what recording cost: without it the GPU is the bottleneck, whatever the recording shows.
  bool gpu_binds_without = false;
  bool bound_unsure = false;  // ... nobody knows whether the host or the GPU is
  bool host_likely = false;   // ... it is the host, by what recording is expected to cost
  std::string record;         // what to record or do next time; empty: nothing helps

  double MidMs() const { return (ms.value_or(0) + ms_high.value_or(ms.value_or(0))) / 2; }
};

// What can be said of a trace without an analysis of its ops. Damage first, then by milliseconds.
// Kept with the trace. Errors: kCancelled.
Result<std::shared_ptr<const std::vector<Quality>>> QualityOf(const session::LoadedTrace& trace,
                                                              const Job& job);

// The same, and what the analysis saw; whether a platform is known is in the analysis, too.
// Errors: kCancelled.
Result<std::vector<Quality>> JudgeQuality(const session::LoadedTrace& trace,
                                          const Analysis& analysis, const Job& job);

// Those that touch limits::kQualityLead percent of their base or more for certain (of a range: its
// low end), in the list's order.
std::vector<const Quality*> LeadingQualities(const std::vector<Quality>& list);

// "361 ms", "5.7 to 28.6 ms"; empty if it has no time.
std::string MsOf(const Quality& quality);
// "30 % of the step", "2.6 to 15 % of the step"; empty if it has no share.
std::string ShareOf(const Quality& quality);

}  // namespace jarvis::findings
