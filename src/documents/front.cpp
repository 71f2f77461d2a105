#include "documents/front.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "documents/base_text.h"
#include "documents/cpu_text.h"
#include "documents/impact_text.h"
#include "documents/markdown_text.h"
#include "documents/report_parts.h"
#include "documents/saving_base.h"
#include "documents/start_text.h"
#include "documents/time_parts.h"
#include "documents/trust_text.h"
#include "findings/one/wall_plan.h"
#include "phrases/ids/front.h"
#include "phrases/phrase.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kFrontParts = 6;  // and the rest
constexpr std::size_t kCardsMax = 8;    // further findings are rows of a table
constexpr std::size_t kCardsUsual = 5;  // ... of which those beyond save more
constexpr double kCardShare = 1;        // percent of the base that a card's finding saves
constexpr double kFurtherShare = 2;     // ... beyond the usual ones
constexpr double kCardLeft = 0.3;       // ... once those above are done

bool DeservesCard(const findings::Analysis& analysis, const findings::Finding& finding,
                  double share) {
  const findings::WallSaving* best = findings::BestWall(finding);
  if (finding.minor) return false;
  if (best == nullptr && finding.category == "multi_kernel") return true;  // ranked by its size
  if (best == nullptr)
    return !analysis.wall.known && finding.percent_of_computation.value_or(100) >= share;
  const bool left = analysis.base.Percent(best->after_others_ms) >= kCardLeft;
  return left && analysis.base.Percent(std::max(best->after_others_ms, best->ms.mid)) >= share;
}

// What all findings together save, or that there is none.
std::string FindingsSentence(const findings::Analysis& analysis) {
  if (analysis.findings.empty()) return NothingText(analysis);
  if (analysis.cpu) return {};
  if (analysis.wall.together_ms) return TogetherSentence(analysis);
  if (!analysis.UnassessedKinds().empty() || analysis.combined.savings_ms.high <= 0) return {};
  return Say(phrases::front::kGpuTimeTotal,
             {{"saving", EachMs(analysis, analysis.combined.OwnMostMs())}});
}

FrontPart PartOf(const findings::Analysis& analysis, TimePart part, std::size_t cards) {
  std::erase_if(part.fixes, [&](int rank) { return rank > static_cast<int>(cards); });
  std::string fixes = FixesOf(part);
  if (const std::size_t count = part.fixes.size(); count > 0)
    fixes = Say(phrases::front::kFixes, {{"count", count}, {"ranks", fixes}});
  return {std::move(part.name),           part.look,
          EachMs(analysis, part.ms),      BaseShare(analysis, part.ms),
          analysis.base.Percent(part.ms), std::move(fixes)};
}

}  // namespace

ShownFindings FindingsToShow(const findings::Analysis& analysis) {
  ShownFindings shown;
  for (const findings::Finding& finding : analysis.findings) {
    const double share = shown.cards < kCardsUsual ? kCardShare : kFurtherShare;
    if (shown.cards == kCardsMax || (shown.cards > 0 && !DeservesCard(analysis, finding, share)))
      break;
    ++shown.cards;
  }
  shown.groups = ActionGroups(analysis, shown.cards);
  return shown;
}

namespace {

// Without GPU work, or of the CPU alone.
std::vector<std::string> SummaryOfHost(const findings::Analysis& analysis) {
  if (!analysis.cpu)
    return {Say(phrases::front::kNoGpuWork, {{"settings", analysis.context.how->gpu_work}})};
  std::vector<std::string> told = {CpuSentence(analysis), FindingsSentence(analysis)};
  std::erase(told, std::string());
  return told;
}

// What else there is to say of the unit and of shares of it.
std::vector<std::string> FurtherSentences(const findings::Analysis& analysis) {
  std::vector<std::string> told = {OverlapSentence(analysis), BaseRest(analysis)};
  // Why shares of the step can be more than all of it.
  for (const findings::Quality& quality : analysis.quality) {
    if (IsOneOf(quality.code, {"multi_device", "merged_ranks", "overlapping_kernels"}))
      told.push_back(CellOfText(quality.text));
  }
  const auto hard =
      std::ranges::find(analysis.quality, findings::Severity::kHard, &findings::Quality::severity);
  if (hard != analysis.quality.end())
    told.push_back(Say(phrases::front::kLimited, {{"code", Code(hard->code)}}));
  std::erase(told, std::string());
  return told;
}

}  // namespace

std::vector<std::string> SummarySentences(const findings::Analysis& analysis, std::size_t* brief) {
  if (analysis.cpu || !analysis.totals.has_gpu_work) {
    std::vector<std::string> of_host = SummaryOfHost(analysis);
    if (brief != nullptr) *brief = of_host.size();
    return of_host;
  }
  std::vector<std::string> told;
  const auto tell = [&](std::string sentence) {
    if (!sentence.empty()) told.push_back(std::move(sentence));
  };
  // What everything else is of comes first.
  for (const findings::Quality& quality : analysis.quality) {
    if (quality.code == "rank_of_file") tell(CellOfText(quality.text));
  }
  tell(TooLittleSentence(analysis));
  tell(RecordedSpanSentence(analysis));
  if (!analysis.too_little) tell(BaseEssence(analysis));
  tell(CostlyGraphSentence(analysis));
  if (brief != nullptr) *brief = told.size();
  if (analysis.too_little) return told;
  const std::string unassessed = UnassessedSentence(analysis);
  if (!unassessed.empty()) {
    tell(unassessed);
  } else if (!HasOps(analysis)) {
    tell(Say(phrases::front::kNoOps, {{"settings", OpsWithShapes(*analysis.context.how)}}));
  }
  tell(FindingsSentence(analysis));
  if (brief != nullptr) *brief = told.size();
  std::ranges::move(FurtherSentences(analysis), std::back_inserter(told));
  return told;
}

Front FrontOf(const findings::Analysis& analysis, const TextEdits& edits) {
  Front front;
  front.title = Say(phrases::front::kTitle,
                    {{"model", ModelName(analysis)}, {"gpu", PlatformName(analysis)}});
  front.workload = CellOfText(findings::WorkloadLine(analysis.workload, true));
  front.run = CellOfText(findings::RunLine(analysis.workload));
  front.model = CellOfText(findings::ModelLine(analysis.workload));
  front.summary = SummarySentences(analysis, &front.brief);
  if (!analysis.cpu && !analysis.totals.has_gpu_work) return front;
  front.parts_of = Say(phrases::front::kPartsOf,
                       {{"unit", analysis.base.unit}, {"length", Ms(analysis.base.unit_ms())}});
  const ShownFindings shown = FindingsToShow(analysis);
  for (TimePart& part : analysis.cpu ? CpuParts(analysis) : TimeParts(analysis, kFrontParts))
    front.parts.push_back(PartOf(analysis, std::move(part), shown.cards));
  front.fixes = FixRows(analysis, edits, shown.groups, shown.cards);
  front.trust = TrustLines(analysis);
  return front;
}

namespace {

std::string Saves(std::string_view saving) {
  return Say(phrases::front::kSaves, {{"saving", saving}});
}

constexpr std::string_view kAtMost =
    "at most ";  // a bound, of which no finding says how it is left

// Above it there is no row: what it saves alone and on top of others differs by a rounding.
bool IsFirst(const FixRow& row) {
  return !row.findings.empty() && row.findings.front()->global_rank == 1 &&
         row.findings.front()->shows_after.empty() && row.after.find('%') != std::string::npos;
}

std::string SavesOnTop(const FixRow& row, std::string_view alone) {
  if (row.until.empty())
    return Say(phrases::front::kSavesOnTop, {{"after", row.after}, {"alone", alone}});
  if (row.alone == kSlower)
    return Say(phrases::front::kCostsAlone, {{"place", row.until}, {"after", row.after}});
  return Say(phrases::front::kSavesOnce,
             {{"alone", alone}, {"place", row.until}, {"after", row.after}});
}

}  // namespace

std::string WaySaves(const FixRow& row, const FixWay& way) {
  if (way.saves.empty()) return {};
  const FixWay& front = row.ways.front();
  const bool told = IsFirst(row) || row.alike || row.after.find(front.saves) != std::string::npos ||
                    row.after.find('%') == std::string::npos;
  // What another way saves is known alone.
  if (&way != &front)
    return told ? Saves(way.saves) : Say(phrases::front::kDoneAlone, {{"saving", way.saves}});
  if (row.after == kAbsentText) return Saves(way.saves);
  if (row.alone == way.saves && row.after.find('%') == std::string::npos)
    return Say(phrases::front::kSavesBoth, {{"alone", row.alone}, {"after", row.after}});
  return told ? Saves(row.after) : SavesOnTop(row, way.saves);
}

std::string SavesSentence(const FixRow& row) {
  // Said with the ways.
  if (!row.ways.empty() && !row.ways.front().saves.empty()) return {};
  const bool own = row.alone != kAbsentText, after = row.after != kAbsentText;
  if (!own && !after) return {};
  if (row.costs) return Capitalised(row.alone) + "; later work does not get faster.";
  if (row.findings.empty() && own && !row.alone.starts_with(kAtMost))
    return Capitalised(row.alone) + (after ? "; " + row.after : "") + ".";
  if (!after || !own) return Saves(own ? row.alone : row.after);
  // "up to 3.1 ms" of "up to 3.1 ms (upper bound)": told again only where it is another figure.
  const std::string_view figure = std::string_view(row.alone).substr(0, row.alone.find(" ("));
  if (IsFirst(row) || row.alike || row.after.find(figure) != std::string::npos)
    return Saves(row.after);
  if (row.after.find('%') != std::string::npos) return SavesOnTop(row, figure);
  return Say(phrases::front::kSavesBoth, {{"alone", row.alone}, {"after", row.after}});
}

}  // namespace jarvis::documents
