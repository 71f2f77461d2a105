#include "documents/trust_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "documents/limits_text.h"
#include "documents/markdown_text.h"
#include "documents/saving_base.h"
#include "findings/one/quality_scope.h"
#include "phrases/ids/trust.h"
#include "phrases/phrase.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kQualitiesTold = 4;
constexpr std::size_t kLinesTold = 5;
// Percent by which the replay of an unchanged trace may be off before it limits what is said.
constexpr double kReplayOff = 2;

std::string QualityLine(const findings::Quality& one) {
  const auto known = [](std::string_view text) {
    return text.empty() ? std::string() : CellOfText(text);
  };
  return Say(phrases::trust::kQuality, {{"text", CellOfText(one.text)},
                                        {"consequence", known(one.consequence)},
                                        {"record", known(one.record)}});
}

// The summary tells what binds without the profiler.
std::string BearingLine(const findings::Analysis& analysis, findings::Quality one) {
  if (one.code == "profiler_events" && TellsUnrecorded(analysis)) one.consequence.clear();
  return QualityLine(one);
}

}  // namespace

std::vector<std::string> TrustLines(const findings::Analysis& analysis) {
  std::vector<std::string> lines;
  if (std::string absent = NotRecordedText(analysis); !absent.empty())
    lines.push_back(std::move(absent));
  const findings::WallBase& wall = analysis.wall;
  if (analysis.cpu) {
    lines.push_back(Say(phrases::trust::kCpuSavings));
  } else if (!wall.known) {
    lines.push_back(Say(phrases::trust::kGpuTimeSavings, {{"why", CellOfText(wall.why_not)}}));
  } else if (std::abs(wall.replay_error_percent) >= kReplayOff) {
    lines.push_back(
        Say(phrases::trust::kReplayOff, {{"error", Pct(std::abs(wall.replay_error_percent))}}));
  }
  std::vector<std::string> limits = RecommendationLimits(analysis);
  const std::size_t told = std::min(kQualitiesTold, kLinesTold - limits.size());
  std::move(limits.begin(), limits.end(), std::back_inserter(lines));
  const auto bearing = findings::BearingQualities(analysis);
  for (std::size_t i = 0; i < std::min(told, bearing.size()); ++i)
    lines.push_back(BearingLine(analysis, *bearing[i]));
  return lines;
}

std::string TrustList(const findings::Analysis& analysis) {
  std::string text;
  for (const std::string& line : TrustLines(analysis))
    text += "- " + line + "\n";
  return text;
}

std::string QualityTable(const findings::Analysis& analysis) {
  MarkdownTable table({"Code", "Severity", "Time concerned", "What it means", "Record next"});
  for (const findings::Quality& quality : analysis.quality) {
    std::string time = findings::MsOf(quality);
    if (const std::string share = findings::ShareOf(quality); !time.empty() && !share.empty())
      time += " (" + share + ")";
    std::string text = quality.text;
    for (const std::string& more : {quality.consequence, quality.parts})
      text += more.empty() ? "" : " " + more;
    table.Row({Code(quality.code), std::string(findings::SeverityText(quality.severity)),
               time.empty() ? std::string(kAbsentText) : time, CellOfText(text),
               CellOfText(quality.record)});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string SavingsNote(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known) return "";
  const double waits = wall.matched_waits_percent;
  return Say(phrases::trust::kSavingsNote, {{"error", Pct(std::abs(wall.replay_error_percent))},
                                            {"waits", waits > 0 ? Pct(waits) : ""}});
}

}  // namespace jarvis::documents
