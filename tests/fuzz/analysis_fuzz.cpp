// A recipe (fuzz/trace_recipe.h) as a trace, through the whole analysis: its figures are numbers,
// its ranges are the right way round, and its reports are ones that its own validation accepts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "documents/report_analysis.h"
#include "documents/report_fair.h"
#include "documents/report_rough.h"
#include "documents/validate.h"
#include "findings/one/analysis.h"
#include "findings/one/wall_plan.h"
#include "fuzz/loaded_text.h"
#include "fuzz/require.h"
#include "fuzz/trace_recipe.h"
#include "perf/platform.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

using testing::Require;

void CheckRange(const std::optional<findings::Range>& range, const char* what) {
  if (!range) return;
  Require(std::isfinite(range->low) && std::isfinite(range->high), what);
  Require(range->low <= range->high, what);
}

void CheckFinding(const findings::Finding& finding) {
  CheckRange(finding.savings_ms, "a saving of GPU time is a range");
  CheckRange(finding.impact_percent, "an impact is a range");
  Require(std::isfinite(finding.time_ms) && finding.time_ms >= 0, "a finding's time is a time");
  Require(!finding.efficiency || std::isfinite(*finding.efficiency), "an efficiency is a number");
  for (const std::optional<findings::WallSaving>* way : {&finding.wall_a, &finding.wall_b}) {
    if (!*way) continue;
    CheckRange((*way)->ms, "a saving of wall time is a range");
    Require(std::isfinite((*way)->after_others_ms), "what is saved after others is a number");
  }
}

// Rows that each add to those above it have room for that in the unit that they are of, after the
// least of those above.
void CheckRows(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  if (!wall.known) return;
  constexpr double kReplay = 1.2;
  double longest_ms = wall.wall_ms;
  if (wall.unrecorded_ms) longest_ms = std::max(longest_ms, wall.unrecorded_ms->high);
  double before_ms = 0;
  for (const findings::Finding& finding : analysis.findings) {
    const findings::WallSaving* best = findings::BestWall(finding);
    if (best == nullptr || finding.one_off) continue;
    const findings::Range after = findings::AfterOthers(*best);
    Require(before_ms + after.high <= kReplay * longest_ms, "savings after others have room");
    before_ms += after.low;
  }
  if (!wall.together_ms) return;
  CheckRange(wall.together_ms, "savings together are a range");
  Require(wall.together_ms->high <= kReplay * longest_ms, "all savings together have room");
}

// Whether it stands between spaces, bars, brackets or a percent sign.
bool HasWord(std::string_view text, std::string_view word) {
  const auto ends = [](char c) {
    return std::string_view(" |()%,;:").find(c) != std::string_view::npos;
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && end < text.size() && ends(text[at - 1]) && ends(text[end])) return true;
  }
  return false;
}

std::string LineOf(std::string_view text, std::size_t line) {
  for (; line > 1 && text.find('\n') != std::string_view::npos; --line)
    text.remove_prefix(text.find('\n') + 1);
  return std::string(text.substr(0, text.find('\n')));
}

void CheckReports(const findings::Analysis& analysis, const perf::Platform* platform) {
  const documents::ReportSources sources{.analysis = analysis,
                                         .platform = platform,
                                         .edits = {},
                                         .calls = {},
                                         .replay_files = {},
                                         .reports = {"fair", "rough", "analysis"},
                                         .trace_name = "trace.json"};
  const std::string fair = documents::RenderFair(sources);
  const std::string rough = documents::RenderRough(sources);
  const std::string machine = documents::RenderAnalysis(sources);
  const std::string all = fair + "\n" + rough + "\n" + machine + "\n";
  for (const std::string_view odd : {"nan", "inf", "-0", "-0.0", "-0.00", "-0.000"})
    Require(!HasWord(all, odd), odd);
  const documents::Evidence evidence(documents::ScanMarkdown(all));
  using documents::DocumentKind;
  const auto check = [&](DocumentKind kind, std::string_view file, const std::string& text) {
    const documents::DocumentCheck document{.kind = kind,
                                            .file = std::string(file),
                                            .text = text,
                                            .expected = text,
                                            .evidence = &evidence,
                                            .analysis = &analysis,
                                            .exists = [](const std::string&) { return true; }};
    for (const documents::Fault& fault : documents::ValidateDocument(document)) {
      Require(false, LineOf(text, fault.line) + "\n  " + std::string(file) + ": " +
                         std::to_string(fault.line) + ": " + fault.code + ": " + fault.message);
    }
  };
  check(DocumentKind::kFair, documents::kFairFile, fair);
  check(DocumentKind::kRough, documents::kRoughFile, rough);
  check(DocumentKind::kAnalysis, documents::kAnalysisFile, machine);
}

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace testing = jarvis::testing;
  jarvis::Job job;
  const auto trace = testing::LoadText(testing::DocumentOf(testing::ElementsOf({data, size})), job);
  testing::Require(trace.has_value() || !trace.error().message.empty(), "an error has words");
  if (!trace) return 0;
  static const jarvis::perf::Platform* const platform = jarvis::perf::FindPlatform("A100");
  const auto analysis = jarvis::findings::Analyze(**trace, platform, {}, job);
  testing::Require(analysis.has_value(), "a trace that was read is analysed");
  for (const jarvis::findings::Finding& finding : analysis->findings)
    jarvis::CheckFinding(finding);
  jarvis::CheckRows(*analysis);
  jarvis::CheckReports(*analysis, platform);
  return 0;
}
