#include "documents/start_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "base/text.h"
#include "documents/markdown_text.h"
#include "phrases/ids/start.h"
#include "phrases/phrase.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kStartCallsNamed = 3;

// Of a step, without what happens once: what it tells whatever its kernels are.
std::string HostPaced(const findings::Analysis& analysis) {
  constexpr double kMostly = 50;  // percent of the base
  const double idle_ms = MillisOf(analysis.frames->books.wall.total_idle_ns());
  const bool step = analysis.frames->frames.base.unit != analysis::TimeUnit::kRecording;
  if (!step || analysis.context.replays || analysis.base.Percent(idle_ms) < kMostly) return {};
  return " " + Say(phrases::start::kHostPaced, {{"unit", analysis.base.unit}});
}

}  // namespace

std::string TooLittleSentence(const findings::Analysis& analysis) {
  if (!analysis.too_little) return {};
  const findings::TooLittle& found = *analysis.too_little;
  std::vector<std::string> calls;
  constexpr double kTold = 0.05;  // of all
  for (std::size_t i = 0; i < std::min(kStartCallsNamed, found.calls.size()); ++i) {
    const findings::OnceCall& call = found.calls[i];
    if (i > 0 && call.ms < kTold * found.start_up_ms) break;
    calls.push_back(Say(phrases::start::kCall,
                        {{"name", Code(call.name, 60)},
                         {"time", Ms(call.ms)},
                         {"count", call.count == 1 ? "" : fmt::format("{}", call.count)}}));
  }
  return Say(phrases::start::kTooLittle, {{"kernels", found.kernels},
                                          {"gpu_time", Ms(found.gpu_ms)},
                                          {"start_up", Ms(found.start_up_ms)},
                                          {"calls", Enumerated(calls, Say(phrases::start::kAnd))},
                                          {"warm_steps", analysis.context.how->warm_steps}}) +
         HostPaced(analysis);
}

std::string RecordedSpanSentence(const findings::Analysis& analysis) {
  constexpr double kLarge = 0.1;  // of the time before the first GPU work
  if (!analysis.recorded_span) return {};
  const findings::RecordedSpan& span = *analysis.recorded_span;
  const bool told = !span.start_up.empty() &&
                    span.start_up.front().ms.value_or(0) >= kLarge * span.before_work_ms;
  if (!analysis.too_little && (analysis.base.count > 1 || !told)) return {};
  std::vector<std::string> parts;
  for (const trace::Recording::Seen& one : span.start_up) {
    if (!one.ms || *one.ms < kLarge * span.before_work_ms || parts.size() == kStartCallsNamed)
      break;
    parts.push_back(Say(phrases::start::kCall,
                        {{"name", CellOfText(one.what)}, {"time", Ms(*one.ms)}, {"count", ""}}));
  }
  return Say(phrases::start::kRecordedSpan, {{"length", Ms(span.length_ms)},
                                             {"before", Ms(span.before_work_ms)},
                                             {"calls", fmt::format("{}", fmt::join(parts, ", "))}});
}

std::string CostlyGraphSentence(const findings::Analysis& analysis) {
  if (!analysis.costly_graph) return {};
  const findings::GraphBuild& graph = *analysis.costly_graph;
  constexpr double kShown = 2;  // percent of the base
  if (!analysis.too_little && analysis.base.Percent(graph.build_ms) < kShown) return {};
  return Say(phrases::start::kCostlyGraph, {{"graphs", graph.graphs},
                                            {"build", Ms(graph.build_ms)},
                                            {"replays", graph.replays},
                                            {"saves", Ms(graph.saves_ms)}});
}

std::string StartTable(const findings::Analysis& analysis) {
  MarkdownTable table({Say(phrases::start::kTable), Say(phrases::start::kTableCalls),
                       Say(phrases::start::kTableTime)});
  const std::string dash(kAbsentText);
  if (const auto& found = analysis.too_little) {
    table.Row(
        {Say(phrases::start::kGpuWork), fmt::format("{}", found->kernels), Ms(found->gpu_ms)});
    table.Row({Say(phrases::start::kStartUpCalls), dash, Ms(found->start_up_ms)});
    for (const findings::OnceCall& call : found->calls)
      table.Row({Code(call.name, 60), fmt::format("{}", call.count), Ms(call.ms)});
  }
  if (const auto& span = analysis.recorded_span) {
    table.Row({Say(phrases::start::kRecorded), dash, Ms(span->length_ms)});
    table.Row({Say(phrases::start::kBeforeWork), dash, Ms(span->before_work_ms)});
    for (const trace::Recording::Seen& one : span->start_up) {
      if (one.ms) table.Row({CellOfText(one.what), fmt::format("{}", one.count), Ms(*one.ms)});
    }
  }
  if (const auto& graph = analysis.costly_graph) {
    table.Row(
        {Say(phrases::start::kGraphs), fmt::format("{}", graph->graphs), Ms(graph->build_ms)});
    table.Row({Say(phrases::start::kLaunchesSaved), fmt::format("{}", graph->replays),
               Ms(graph->saves_ms)});
  }
  return table.empty() ? "" : "### " + Say(phrases::start::kHeading) + "\n\n" + table.text() + "\n";
}

}  // namespace jarvis::documents
