#include "documents/time_parts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "documents/remedy_text.h"
#include "ledger/books/step_bound.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

using ledger::IdleCause;
using ledger::WorkKind;

constexpr double kLineShown = 1;       // percent of the base
constexpr std::size_t kPartsMost = 8;  // lines of the table, besides the base and the rest
constexpr double kRestOfLines = 0.3;   // percent, so that rows add up to the whole

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
    {"layout changes and transposes", "move"},
    {"device copies and fills", "move"},
    {"Exposed copies between host and device", "copy"},
    {"gather, scatter, sort and embedding kernels", "compute"},
    {"optimizer", "compute"},
    {"sampling", "compute"},
    {"random numbers", "compute"},
    {"Exposed communication", "comm"},
    {"Exposed communication: barriers and notifications", "comm"},
    {"kernels of unknown kind", "compute"},
}};

// By IdleCause, without "GPU idle: ".
constexpr std::array<WordsOfLine, ledger::kIdleCauses> kIdleWords = {{
    {"host inside ops and launch calls", "ops"},
    {"host between ops (short gaps)", "ops"},
    {"host in Python (long gaps)", "host"},
    {"host in code that was not recorded", "host"},
    {"waiting for input data", "host"},
    {"driver allocator (cudaMalloc, cudaFree)", "first"},
    {"one-time initialization (module loading, first calls)", "first"},
    {"host thread descheduled or blocked", "host"},
    {"synchronizing call returning after the GPU is done", "wait"},
    {"launch latency (launched, not yet started)", "wait"},
    {"gaps between queued kernels", "wait"},
    {"after the last GPU work", "edge"},
    {"cause unknown (launch not recorded)", "edge"},
    {"cause unknown (no host events recorded)", "edge"},
}};
TimePart PartOf(std::string name, std::string_view look, std::int64_t ns,
                const ledger::Bound& bound) {
  TimePart part{std::move(name), look, MillisOf(ns), std::nullopt, bound.ns.has_value()};
  if (bound.ns) part.avoidable_ms = MillisOf(*bound.ns);
  return part;
}

// " (profiler overhead: 361 ms)": the profiler's pauses lie where the host issues ops.
std::string ProfilerPart(const findings::Analysis& analysis, const TimePart& part) {
  const double pauses = analysis.wall.known ? analysis.wall.profiler_ms : 0;
  if (analysis.base.Percent(pauses) < kLineShown || pauses > part.ms) return "";
  return fmt::format(" (profiler overhead: {})", EachMs(analysis, pauses));
}

// Of a unit whose pace the host sets faster GPU work saves no more than this; absent: of others.
std::optional<double> MostOfGpu(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (analysis.bound.kind != ledger::BoundKind::kHost || !wall.known) return std::nullopt;
  return std::max(0.0, wall.wall_ms - wall.host_floor_ms);
}

bool HostHidesGpu(const findings::Analysis& analysis) {
  constexpr double kNothing = 0.1;  // of what the GPU works
  const std::optional<double> most = MostOfGpu(analysis);
  return most && *most <= kNothing * analysis.wall.gpu_floor_ms;
}

std::vector<TimePart> Lines(const findings::Analysis& analysis) {
  const ledger::WallBook& wall = analysis.frames->books.wall;
  std::vector<TimePart> lines;
  const bool hidden = HostHidesGpu(analysis);
  const std::optional<double> most = MostOfGpu(analysis);
  for (std::size_t i = 0; i < ledger::kWorkKinds; ++i) {
    lines.push_back(PartOf(LineWords(static_cast<WorkKind>(i)), kWorkWords[i].look, wall.work_ns[i],
                           analysis.line_bounds.work[i]));
    TimePart& line = lines.back();
    line.hidden = hidden;
    if (hidden) line.avoidable_ms = 0;
    if (most && line.avoidable_ms) line.avoidable_ms = std::min(*line.avoidable_ms, *most);
  }
  for (std::size_t i = 0; i < ledger::kIdleCauses; ++i) {
    lines.push_back(PartOf(LineWords(static_cast<IdleCause>(i)), kIdleWords[i].look,
                           wall.idle_ns[i], analysis.line_bounds.idle[i]));
    if (static_cast<IdleCause>(i) == IdleCause::kHostIssues)
      lines.back().name += ProfilerPart(analysis, lines.back());
  }
  lines.push_back(PartOf("GPU work launched before the trace", "edge", wall.unrecorded_ns, {}));
  lines.back().assessed = true;  // it is none of this program's
  std::erase_if(lines, [](const TimePart& part) { return part.ms <= 0; });
  std::stable_sort(lines.begin(), lines.end(),
                   [](const TimePart& a, const TimePart& b) { return a.ms > b.ms; });
  return lines;
}

// Why models have no floor for them.
std::string_view WhyUnassessed(const findings::Analysis& analysis) {
  const auto lacks = [&](std::string_view code) {
    return std::any_of(analysis.quality.begin(), analysis.quality.end(),
                       [&](const findings::Quality& one) { return one.code == code; });
  };
  if (lacks("no_cpu_ops"))
    return "No ops were recorded, so kernels have no shapes. Record with "
           "`activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]` and `record_shapes=True`.";
  const bool replayed = std::any_of(analysis.quality.begin(), analysis.quality.end(),
                                    [](const findings::Quality& one) {
                                      return one.code == "gpu_graph_replay" && !one.record.empty();
                                    });
  if (replayed)
    return "Kernels of a graph replay have no shapes. Record the graph capture as well, with "
           "`record_shapes=True`.";
  if (lacks("no_shapes"))
    return "Ops were recorded without shapes. Record with `record_shapes=True`.";
  if (analysis.platform.empty()) return "The GPU is unknown. Name it with the argument `platform`.";
  return "No performance model covers the ops that launch these kernels.";
}

}  // namespace

std::string LineWords(ledger::WorkKind kind) {
  const bool exposed = kind == WorkKind::kHostCopy || ledger::IsCommunication(kind);
  return fmt::format("{}{}",
                     exposed ? "" : "GPU: ", kWorkWords[static_cast<std::size_t>(kind)].name);
}

std::string LineWords(ledger::IdleCause cause) {
  return fmt::format("GPU idle: {}", kIdleWords[static_cast<std::size_t>(cause)].name);
}

std::vector<TimePart> TimeParts(const findings::Analysis& analysis) {
  const findings::StepBase& base = analysis.base;
  std::vector<TimePart> parts;
  TimePart rest{"", "else", 0, 0.0, true};
  std::size_t in_rest = 0;
  for (TimePart& part : Lines(analysis)) {
    if (base.Percent(part.ms) >= kLineShown && parts.size() < kPartsMost) {
      parts.push_back(std::move(part));
      continue;
    }
    rest.ms += part.ms;
    // What nobody assessed has no sum.
    if (rest.avoidable_ms && part.avoidable_ms)
      *rest.avoidable_ms += *part.avoidable_ms;
    else
      rest.avoidable_ms.reset();
    rest.name = ++in_rest == 1 ? part.name : "All other lines";
  }
  if (base.Percent(rest.ms) >= kRestOfLines) parts.push_back(std::move(rest));
  return parts;
}

std::string WallTimeTable(const findings::Analysis& analysis) {
  const findings::StepBase& base = analysis.base;
  MarkdownTable table(
      {"Metric", "Value", "Avoidable at the same precision", "Share of the " + base.unit});
  table.Row(
      {Capitalised(UnitTitle(analysis)), Ms(base.unit_ms()), std::string(kAbsentText), "100%"});
  for (const TimePart& part : TimeParts(analysis)) {
    table.Row({part.name, EachMs(analysis, part.ms),
               part.hidden         ? "0 while host-bound"
               : part.avoidable_ms ? "up to " + EachMs(analysis, *part.avoidable_ms)
               : part.assessed     ? std::string(kAbsentText)
                                   : "not assessed",
               BaseShare(analysis, part.ms)});
  }
  return table.text() + "\n";
}

std::string UnassessedSentence(const findings::Analysis& analysis) {
  constexpr std::size_t kNamed = 3;
  const std::vector<WorkKind> kinds = analysis.UnassessedKinds();
  if (kinds.empty() || HostHidesGpu(analysis)) return "";
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, kinds.size()); ++i) {
    const double ms = MillisOf(analysis.frames->books.wall.Of(kinds[i]));
    const std::string_view name = kWorkWords[static_cast<std::size_t>(kinds[i])].name;
    names += fmt::format("{}{} ({})",
                         i == 0                  ? ""
                         : i + 1 == kinds.size() ? " and "
                                                 : ", ",
                         name, EachMs(analysis, ms));
  }
  if (kinds.size() > kNamed) names += " and other kernels";
  return fmt::format("{} of the {} could not be assessed: {}. {}",
                     BaseShare(analysis, analysis.UnassessedMs()), analysis.base.unit, names,
                     WhyUnassessed(analysis));
}

}  // namespace jarvis::documents
