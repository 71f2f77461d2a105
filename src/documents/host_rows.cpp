#include "documents/host_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/base_text.h"
#include "documents/host_prose.h"
#include "findings/one/wall_classes.h"

namespace jarvis::documents {
namespace {

// Of the recording, and of one of its steps, which is what the prose says.
std::string MsAndEach(const findings::Analysis& analysis, double ms) {
  if (analysis.base.count <= 1) return Ms(ms);
  return fmt::format("{}, {} {}", Ms(ms), EachMs(analysis, ms), UnitPhrase(analysis));
}

std::string PlaceCell(const findings::Analysis& analysis, const findings::HostPlace& place,
                      bool once) {
  std::string text = once ? Ms(place.ms) : MsAndEach(analysis, place.ms);
  if (place.kernel_us > 0) {
    text += fmt::format(", {} launches, median {} µs from launch to launch, median kernel {} µs",
                        place.count, ThreeDigits(place.launch_us), ThreeDigits(place.kernel_us));
  } else if (place.count > 0) {
    text += place.count == 1 ? ", once" : fmt::format(", {} times", place.count);
  }
  if (place.idle_ms > 0) text += ", GPU idle " + MsAndEach(analysis, place.idle_ms);
  return text;
}

}  // namespace

std::vector<std::pair<std::string, double>> PlaceInStep(const findings::HostCause& cause) {
  if (cause.gaps_to_ms <= 0) return {};
  std::vector<std::pair<std::string, double>> rows = {{"Mostly from", cause.gaps_from_ms},
                                                      {"Mostly until", cause.gaps_to_ms}};
  if (cause.backward_ms > 0) rows.emplace_back("Second thread launches from", cause.backward_ms);
  return rows;
}

std::vector<std::pair<std::string, double>> StretchRows(const findings::HostCause& cause) {
  if (cause.kind == findings::HostCauseKind::kStop && cause.longest_ms > 0)
    return {{"Longest of them", cause.longest_ms}};
  if (cause.each_ms <= 0) return {};
  if (cause.kind == findings::HostCauseKind::kDescheduled)
    return {{"Longest of them", cause.each_ms}};
  if (cause.shortest_ms <= 0 || cause.alike()) return {{"Duration of each", cause.each_ms}};
  return {{"Shortest of them", cause.shortest_ms}, {"Longest of them", cause.longest_ms}};
}

void AddHostRows(const findings::Analysis& analysis, const findings::HostCause& cause,
                 MarkdownTable* table) {
  if (analysis.wall.recorded_ms > 0)
    table->Row({"Host time, share of the recorded time",
                Pct(cause.total_ms / analysis.wall.recorded_ms * 100)});
  for (const auto& [name, ms] : StretchRows(cause))
    table->Row({name, Ms(ms)});
  if (cause.rounds > 0) {
    table->Row({"Rounds of one loop", EachCalls(analysis, cause.rounds)});
    table->Row({"Syncs in a round", fmt::format("{}", cause.waits_a_round)});
  }
  if (cause.period_ms) table->Row({"Repeats every", Ms(*cause.period_ms)});
  if (cause.nothing_ms > 0)
    table->Row(
        {"Host time without any recorded event", MsAndEach(analysis, NothingMs(analysis, cause))});
  if (cause.mostly_recorder())
    table->Row(
        {"Host time that recording costs, expected", MsAndEach(analysis, cause.recorder_ms)});
  if (cause.kernel_us > 0) {
    table->Row({"Launch to launch", ThreeDigits(cause.launch_us) + " µs"});
    table->Row({"Median kernel", ThreeDigits(cause.kernel_us) + " µs"});
    table->Row({"Launches to an idle stream", Pct(cause.idle_percent)});
    if (const auto gain = BatchGainOf(analysis))
      table->Row({"Host time, without profiler overhead, over GPU time",
                  fmt::format("{:.0f} times", gain->times)});
  }
  // What happens once is beside the steps whose idle time is known.
  if (cause.idle_ms > 0 && !cause.once)
    table->Row({"GPU idle because of it", MsAndEach(analysis, IdleMs(analysis, cause))});
  if (cause.gpu_ms > 0)
    table->Row({"GPU time of what the checks compute", MsAndEach(analysis, cause.gpu_ms)});
  if (cause.behind_ms > 0) {
    table->Row({"GPU idle right after the synchronizations",
                MsAndEach(analysis, std::min(cause.behind_ms, IdleMs(analysis, cause)))});
  }
  if (cause.ramp && cause.until_ms > 0) {
    table->Row({"GPU idle at the start of the GPU work", MsAndEach(analysis, cause.early_ms)});
    table->Row({"The last of that ends at", Ms(cause.until_ms)});
  }
  for (const auto& [name, ms] : PlaceInStep(cause))
    table->Row({name, Ms(ms)});
  for (const auto* places : {&cause.places, &cause.python}) {
    for (const findings::HostPlace& place : *places)
      table->Row({Code(place.name, 90), PlaceCell(analysis, place, cause.once)});
  }
}

bool OfHostTime(const findings::Analysis& analysis, const findings::Finding& finding) {
  return analysis.cpu || finding.host != nullptr || finding.category == "cpu_idle";
}

}  // namespace jarvis::documents
