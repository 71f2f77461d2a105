#include "documents/time_parts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "documents/remedy_text.h"
#include "ledger/books/step_bound.h"
#include "phrases/ids/time.h"
#include "phrases/phrase.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

using ledger::IdleCause;
using ledger::WorkKind;

constexpr double kLineShown = 1;      // percent of the base
constexpr double kRestOfLines = 0.3;  // percent, so that rows add up to the whole

struct WordsOfLine {
  std::string_view name, look;
};

// By WorkKind, without what LineWords puts before it.
constexpr std::array<WordsOfLine, ledger::kWorkKinds> kWorkWords = {{
    {"GEMMs", "gemm"},
    {"convolutions", "gemm"},
    {"attention", "attention"},
    {"normalization", "compute"},
    {"softmax", "compute"},
    {"pooling", "compute"},
    {"element-wise kernels", "compute"},
    {"reductions", "compute"},
    {"casts and quantization", "move"},
    {"layout changes, transposes", "move"},
    {"device copies and fills", "move"},
    {"Exposed copies between host and device", "copy"},
    {"gather, scatter, sort, embedding", "compute"},
    {"optimizer", "compute"},
    {"sampling", "compute"},
    {"random numbers", "compute"},
    {"Exposed communication", "comm"},
    {"Exposed communication: barriers and notifications", "comm"},
    {"kernels of unknown kind", "compute"},
}};

// By IdleCause, without "GPU idle: ".
constexpr std::array<WordsOfLine, ledger::kIdleCauses> kIdleWords = {{
    {"host executing an op", "ops"},
    {"host launching a GPU graph", "ops"},
    {"host between ops", "ops"},
    {"host in Python", "host"},
    {"host activity not recorded", "host"},
    {"waiting for input data", "host"},
    {"driver allocator (cudaMalloc, cudaFree)", "first"},
    {"one-time initialization", "first"},
    {"host stalled in a call (cause not recorded)", "host"},
    {"host returning from a sync", "wait"},
    {"launch latency", "wait"},
    {"gaps between queued kernels", "wait"},
    {"after the last GPU work", "edge"},
    {"cause unknown (launch not recorded)", "edge"},
    {"cause unknown (no host events recorded)", "edge"},
}};

// " (profiler overhead: 361 ms)": the profiler's pauses lie where the host issues ops.
std::string ProfilerPart(const findings::Analysis& analysis, const TimePart& part) {
  const double pauses = analysis.wall.known ? analysis.wall.profiler_ms : 0;
  if (analysis.base.Percent(pauses) < kLineShown || pauses > part.ms) return "";
  return " " + Say(phrases::time::kProfilerPart, {{"overhead", EachMs(analysis, pauses)}});
}

// By global rank, those that save something on their own.
std::vector<int> RanksOf(const findings::Analysis& analysis, const auto& takes) {
  std::vector<int> ranks;
  for (const findings::Finding& finding : analysis.findings) {
    if (!finding.minor && takes(finding.lines)) ranks.push_back(finding.global_rank);
  }
  return ranks;
}

std::vector<TimePart> Lines(const findings::Analysis& analysis) {
  const ledger::WallBook& wall = analysis.frames->books.wall;
  std::vector<TimePart> lines;
  const bool hidden = HostHidesGpu(analysis);
  for (std::size_t i = 0; i < ledger::kWorkKinds; ++i) {
    const auto kind = static_cast<WorkKind>(i);
    lines.push_back({LineWords(kind), kWorkWords[i].look, MillisOf(wall.work_ns[i])});
    TimePart& line = lines.back();
    line.hidden = hidden;
    line.assessed = analysis.line_bounds.work[i].ns || analysis.IsCovered(kind);
    line.fixes = RanksOf(analysis, [&](const findings::LinesTaken& taken) {
      return std::find(taken.work.begin(), taken.work.end(), kind) != taken.work.end();
    });
  }
  for (std::size_t i = 0; i < ledger::kIdleCauses; ++i) {
    const auto cause = static_cast<IdleCause>(i);
    lines.push_back({LineWords(cause), kIdleWords[i].look, MillisOf(wall.idle_ns[i])});
    if (cause == IdleCause::kHostIssues) lines.back().name += ProfilerPart(analysis, lines.back());
    lines.back().fixes = RanksOf(analysis, [&](const findings::LinesTaken& taken) {
      return std::find(taken.idle.begin(), taken.idle.end(), cause) != taken.idle.end();
    });
  }
  // It is none of this program's.
  lines.push_back({"GPU work launched before the trace", "edge", MillisOf(wall.unrecorded_ns)});
  std::erase_if(lines, [](const TimePart& part) { return part.ms <= 0; });
  std::stable_sort(lines.begin(), lines.end(),
                   [](const TimePart& a, const TimePart& b) { return a.ms > b.ms; });
  return lines;
}

// Why models have no floor for them.
phrases::Phrase WhyUnassessed(const findings::Analysis& analysis) {
  const auto lacks = [&](std::string_view code) {
    return std::any_of(analysis.quality.begin(), analysis.quality.end(),
                       [&](const findings::Quality& one) { return one.code == code; });
  };
  if (lacks("no_cpu_ops")) return phrases::time::kNoOps;
  const bool replayed = std::any_of(analysis.quality.begin(), analysis.quality.end(),
                                    [](const findings::Quality& one) {
                                      return one.code == "gpu_graph_replay" && !one.record.empty();
                                    });
  if (replayed) return phrases::time::kReplayed;
  if (lacks("no_shapes")) return phrases::time::kNoShapes;
  return analysis.platform.empty() ? phrases::time::kNoGpu : phrases::time::kNoModel;
}

}  // namespace

bool HostHidesGpu(const findings::Analysis& analysis) {
  constexpr double kNothing = 0.1;  // of what the GPU works
  const findings::WallBase& wall = analysis.wall;
  if (analysis.bound.kind != ledger::BoundKind::kHost || !wall.known) return false;
  return wall.wall_ms - wall.host_floor_ms <= kNothing * wall.gpu_floor_ms;
}

std::string OpsWithShapes(const trace::HowToRecord& how) {
  // Where one setting records both, its text says so.
  if (!how.profiler.empty()) return std::string(how.ops);
  return Say(phrases::time::kOpsAndShapes, {{"ops", how.ops}, {"shapes", how.shapes}});
}

std::string_view LineName(ledger::WorkKind kind) {
  return kWorkWords[static_cast<std::size_t>(kind)].name;
}

std::string LineWords(ledger::WorkKind kind) {
  const bool exposed = kind == WorkKind::kHostCopy || ledger::IsCommunication(kind);
  return fmt::format("{}{}",
                     exposed ? "" : "GPU: ", kWorkWords[static_cast<std::size_t>(kind)].name);
}

std::string LineWords(ledger::IdleCause cause) {
  return fmt::format("GPU idle: {}", kIdleWords[static_cast<std::size_t>(cause)].name);
}

std::vector<TimePart> TimeParts(const findings::Analysis& analysis, std::size_t most) {
  const findings::StepBase& base = analysis.base;
  std::vector<TimePart> parts;
  TimePart rest{"", "else"};
  std::size_t in_rest = 0;
  for (TimePart& part : Lines(analysis)) {
    if (base.Percent(part.ms) >= kLineShown && parts.size() < most) {
      parts.push_back(std::move(part));
      continue;
    }
    rest.ms += part.ms;
    rest.name = ++in_rest == 1 ? part.name : Say(phrases::time::kOtherLines);
  }
  if (base.Percent(rest.ms) >= kRestOfLines) parts.push_back(std::move(rest));
  return parts;
}

std::string FixesOf(const TimePart& part) {
  if (!part.fixes.empty()) return fmt::format("{}", fmt::join(part.fixes, ", "));
  if (part.hidden) return Say(phrases::time::kHidden);
  return part.assessed ? "" : Say(phrases::time::kNotAssessed);
}

std::string WallTimeTable(const findings::Analysis& analysis) {
  const findings::StepBase& base = analysis.base;
  const std::string dash(kAbsentText);
  MarkdownTable table({"Metric", "Value", "Recommendations", "Share of the " + base.unit});
  table.Row({Capitalised(UnitTitle(analysis)), Ms(base.unit_ms()), dash, "100%"});
  for (const TimePart& part : TimeParts(analysis)) {
    const std::string fixes = FixesOf(part);
    table.Row({part.name, EachMs(analysis, part.ms), fixes.empty() ? dash : fixes,
               BaseShare(analysis, part.ms)});
  }
  return table.text() + "\n";
}

std::string UnassessedSentence(const findings::Analysis& analysis) {
  constexpr std::size_t kNamed = 3;
  const trace::HowToRecord& how = *analysis.context.how;
  const std::vector<WorkKind> kinds = analysis.UnassessedKinds();
  if (kinds.empty() || HostHidesGpu(analysis)) return "";
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, kinds.size()); ++i) {
    const auto at = static_cast<std::size_t>(kinds[i]);
    // A small rest of a line has its figure in the table alone.
    const bool told = analysis.covered[at] == 0 ||
                      std::any_of(analysis.uncovered.begin(), analysis.uncovered.end(),
                                  [&](const auto& line) { return line.work == kinds[i]; });
    if (i > 0) names += i + 1 == kinds.size() ? " " + Say(phrases::time::kAnd) + " " : ", ";
    names += Say(phrases::time::kUnassessedKind,
                 {{"part", !told},
                  {"kind", kWorkWords[at].name},
                  {"time", told ? EachMs(analysis, analysis.UncoveredMs(kinds[i])) : ""}});
  }
  if (kinds.size() > kNamed) names += " " + Say(phrases::time::kOtherKernels);
  return Say(phrases::time::kUnassessed,
             {{"share", BaseShare(analysis, analysis.UnassessedMs())},
              {"unit", analysis.base.unit},
              {"kinds", names},
              {"why", Say(WhyUnassessed(analysis),
                          {{"ops", OpsWithShapes(how)}, {"shapes", how.shapes}})}});
}

}  // namespace jarvis::documents
