#include "documents/start_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "documents/markdown_text.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kCallsNamed = 3;

}  // namespace

std::string TooLittleSentence(const findings::Analysis& analysis) {
  if (!analysis.too_little) return {};
  const findings::TooLittle& found = *analysis.too_little;
  std::string calls;
  const std::size_t named = std::min(kCallsNamed, found.calls.size());
  for (std::size_t i = 0; i < named; ++i) {
    const findings::OnceCall& call = found.calls[i];
    calls += fmt::format("{}{} {}{}",
                         i == 0           ? ""
                         : i + 1 == named ? " and "
                                          : ", ",
                         Code(call.name, 60), Ms(call.ms),
                         call.count == 1 ? "" : fmt::format(" ({} calls)", call.count));
  }
  const char* s = found.kernels == 1 ? "" : "s";
  return fmt::format(
      "{} kernel{} and {} of GPU work are too little to rank: no kernel runs often enough to show "
      "what it usually costs. Start-up takes the host {}, once per process (longest: {}). Record "
      "next: several steps of the steady work, with {}.",
      found.kernels, s, Ms(found.gpu_ms), Ms(found.start_up_ms), calls,
      analysis.context.how->warm_steps);
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
    if (!one.ms || *one.ms < kLarge * span.before_work_ms || parts.size() == kCallsNamed) break;
    parts.push_back(fmt::format("{} {}", CellOfText(one.what), Ms(*one.ms)));
  }
  const std::string before =
      parts.empty() ? "" : fmt::format(" (among others: {})", fmt::join(parts, ", "));
  return fmt::format(
      "The profiler recorded {} of the process; its first GPU work begins after {}{}.",
      Ms(span.length_ms), Ms(span.before_work_ms), before);
}

std::string CostlyGraphSentence(const findings::Analysis& analysis) {
  if (!analysis.costly_graph) return {};
  const findings::GraphBuild& graph = *analysis.costly_graph;
  constexpr double kShown = 2;  // percent of the base
  if (!analysis.too_little && analysis.base.Percent(graph.build_ms) < kShown) return {};
  return fmt::format(
      "Building the GPU graph{} (capture, instantiation, destruction) took {}, more than {}: at "
      "most "
      "{} of launches. Build a graph once and replay it often enough to pay for that.",
      graph.graphs == 1 ? "" : "s", Ms(graph.build_ms),
      graph.replays == 1 ? std::string("the one recorded replay saves")
                         : fmt::format("the {} recorded replays save", graph.replays),
      Ms(graph.saves_ms));
}

std::string StartTable(const findings::Analysis& analysis) {
  MarkdownTable table({"Of the program's start", "Calls", "Time"});
  const std::string dash(kAbsentText);
  if (const auto& found = analysis.too_little) {
    table.Row({"GPU work", fmt::format("{}", found->kernels), Ms(found->gpu_ms)});
    table.Row({"Start-up calls of the host", dash, Ms(found->start_up_ms)});
    for (const findings::OnceCall& call : found->calls)
      table.Row({Code(call.name, 60), fmt::format("{}", call.count), Ms(call.ms)});
  }
  if (const auto& span = analysis.recorded_span) {
    table.Row({"Recorded", dash, Ms(span->length_ms)});
    table.Row({"Before the first GPU work", dash, Ms(span->before_work_ms)});
    for (const trace::Recording::Seen& one : span->start_up) {
      if (one.ms) table.Row({CellOfText(one.what), fmt::format("{}", one.count), Ms(*one.ms)});
    }
  }
  if (const auto& graph = analysis.costly_graph) {
    table.Row({"Building GPU graphs", fmt::format("{}", graph->graphs), Ms(graph->build_ms)});
    table.Row({"Launches that their replays save, at most", fmt::format("{}", graph->replays),
               Ms(graph->saves_ms)});
  }
  return table.empty() ? "" : "### The start\n\n" + table.text() + "\n";
}

}  // namespace jarvis::documents
