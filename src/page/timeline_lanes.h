// The lines of a timeline: what ran when on each stream and thread, with the steps, phases, idle
// causes and findings above. Long recordings are thinned here, so that a viewer draws at most a
// known number of pieces whatever was recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval.h"
#include "base/job.h"
#include "base/result.h"
#include "findings/one/analysis.h"
#include "page/script_text.h"
#include "page/thin_rows.h"
#include "page/work_tree.h"
#include "session/loaded_trace.h"

namespace jarvis::page {

// What a piece is, for its colour; the order is that of KindNames.
enum class PieceKind : std::uint8_t {
  kGemm,
  kAttention,
  kConvolution,
  kElementwise,
  kNorm,
  kMoe,
  kCommunication,
  kCopy,
  kOtherGpu,
  kAnnotation,
  kModule,
  kOp,
  kCall,
  kWait,
  kPython,
  kStep,
  kOddStep,
  kPhase,
  kFinding,
  kGap,  // and one for each findings::GapClass after it
};
// In words, for a legend, those of gaps included.
std::vector<std::string> KindNames();
PieceKind KindOfCategory(std::string_view category_key);

struct Lane {
  std::string_view group;  // "frames", "findings", "idle", "gpu", "python", "host"
  std::string title;
  std::vector<Row> rows;  // of a thread: one a level of nesting
};

struct Timeline {
  Interval<std::int64_t> bounds{0, 0};
  Interval<std::int64_t> focus{0, 0};  // the step in most detail; the bounds where there is none
  std::vector<Lane> lanes;
  std::size_t streams_left_out = 0;
  std::size_t threads_left_out = 0;
};

// At most so many pieces of GPU work, of host work and of Python code, half of them at least within
// the focus.
struct TimelineLimits {
  std::size_t gpu_pieces = 40'000;
  std::size_t host_pieces = 24'000;
  std::size_t python_pieces = 12'000;
};
Result<Timeline> MakeTimeline(const session::LoadedTrace& trace, const findings::Analysis& analysis,
                              const WorkTree& tree, const TimelineLimits& limits,
                              ScriptNames* names, const Job& job);

// The timeline as JSON text; times in tenths of microseconds from the bounds' begin.
std::string TimelineJson(const Timeline& timeline, ScriptNames* names);

}  // namespace jarvis::page
