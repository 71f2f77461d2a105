#include "tools/ranks/rank_workload.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "base/text.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "findings/one/analysis_cache.h"
#include "session/report_source.h"
#include "session/trace_frames.h"
#include "tools/shared/arguments.h"
#include "tools/shared/platform_choice.h"
#include "tools/shared/rank_files.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kCategoriesMax = 6;
constexpr std::size_t kOpsShown = 3;
constexpr std::size_t kNameBytes = 60;
constexpr std::size_t kLeversKept = 6;
constexpr double kCategoryShare = 0.01;  // of the computation

// Ranks by how much they compute, the most first, as far as each has a file of its own.
std::vector<const analysis::RankDigest*> Candidates(const analysis::RankSet& set) {
  std::vector<const analysis::RankDigest*> ranks;
  for (const analysis::RankDigest& digest : set.ranks) {
    const auto same = [&](const auto& other) { return other.trace_id == digest.trace_id; };
    if (digest.ledger && std::count_if(set.ranks.begin(), set.ranks.end(), same) == 1)
      ranks.push_back(&digest);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [](const auto* a, const auto* b) {
    return a->ledger->compute_ns > b->ledger->compute_ns;
  });
  return ranks;
}

// A way out in words; empty: none.
std::string OfPath(bool way, const std::string& words) {
  if (!way) return {};
  std::string path(Trim(words));
  // As part of a list; whoever shows it ends the sentence.
  if (path.ends_with('.')) path.pop_back();
  return path;
}

// A norm in a trace whose pointwise adds take a good part of its time: their results are what it
// reads.
bool IsBesideAnAdd(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr double kGoodPart = 0.2;
  if (findings::KindOf(finding.category) != findings::Kind::kNorm) return false;
  double adds_ms = 0;
  for (const findings::CategoryAnalysis& category : analysis.categories) {
    const bool pointwise =
        category.kind == findings::Kind::kElementwise || category.kind == findings::Kind::kTriton;
    if (!pointwise) continue;
    for (const findings::Operation& operation : category.operations) {
      if (ContainsNoCase(operation.name, "add")) adds_ms += operation.gpu_us / 1000;
    }
  }
  return adds_ms >= kGoodPart * finding.time_ms;
}

// What a finding saves at most, milliseconds; 0: not known. Not of the rank's wall time, which is
// waiting where another rank is the cause.
double MostMs(const findings::Finding& finding) {
  return finding.savings_ms ? finding.savings_ms->high : finding.bound_ms.value_or(0);
}

double ExpectedMs(const findings::Finding& finding) {
  return finding.savings_ms ? finding.savings_ms->mid : finding.bound_ms.value_or(0);
}

// Ways out without savings in their words: those are of this rank's wall time, which is waiting.
RankWorkload::Lever LeverOf(const findings::Analysis& analysis, const findings::Finding& finding) {
  findings::Finding plain = finding;
  for (auto* wall : {&plain.wall_a, &plain.wall_b})
    wall->reset();
  for (auto* change : {&plain.change_a, &plain.change_b})
    change->reset();
  const documents::FindingText text = documents::DraftText(analysis, plain);
  RankWorkload::Lever lever;
  lever.title = text.title;
  lever.at_most_ms = MostMs(finding);
  lever.expected_ms = ExpectedMs(finding);
  // A way's own change, and never more than the finding.
  const auto bound = [&](const std::optional<findings::Change>& change) {
    const double ms = change ? change->savings_ms.high : 0;
    return ms > 0 ? std::min(ms, lever.at_most_ms) : lever.at_most_ms;
  };
  lever.bounds = {.b = bound(finding.change_b), .a = bound(finding.change_a)};
  lever.of_host = finding.host != nullptr || finding.category == "cpu_idle";
  lever.paths = {.b = OfPath(text.way_b, text.path_b), .a = OfPath(text.way_a, text.path_a)};
  if (lever.paths.a.empty() && IsBesideAnAdd(analysis, finding))
    lever.paths.a =
        "one kernel with the bias or residual add beside it, which reads the tensor once";
  return lever;
}

// "rank 6 of 8" is of the one trace that was looked at, not of the job.
std::string WithoutRank(std::string line) {
  static constexpr std::string_view kOneOfSeveral = "several ranks, of which one is recorded";
  if (const std::size_t several = line.find(kOneOfSeveral); several != std::string::npos)
    line.replace(several, kOneOfSeveral.size(), "several ranks");
  const std::size_t at = line.find(", rank ");
  if (at == std::string::npos) return line;
  const std::size_t end = line.find_first_of(",;.", at + 2);
  return line.erase(at, end == std::string::npos ? end : end - at);
}

// Annotations say what a library does, and so what is on.
std::vector<std::string> MarksOf(const session::LoadedTrace& trace) {
  constexpr std::size_t kMarksMax = 256;
  std::set<StringId> names;
  for (const trace::EventIndex e : trace.tree().preorder()) {
    if (trace.events()[e].kind == trace::EventKind::kUserAnnotation && names.size() < kMarksMax)
      names.insert(trace.events()[e].name);
  }
  std::vector<std::string> marks;
  for (const StringId name : names)
    marks.emplace_back(trace.events().strings[name]);
  std::sort(marks.begin(), marks.end());
  return marks;
}

RankWorkload WorkloadOf(const findings::Analysis& analysis, std::int64_t rank) {
  using findings::WorkloadPart;
  RankWorkload made;
  made.rank = rank;
  made.line = WithoutRank(findings::WorkloadLine(analysis.workload));
  made.framework = analysis.workload[WorkloadPart::kFramework].value;
  made.parallelism = analysis.workload[WorkloadPart::kParallelism].value;
  made.training = analysis.context.training;
  made.computation_ms = analysis.totals.computation_ms;
  made.products_ms = MillisOf(analysis.frames->books.wall.Of(ledger::WorkKind::kProduct));
  for (const findings::CategoryAnalysis& category : analysis.categories) {
    if (category.key == "unlinked") made.unlinked_ms = category.gpu_us / 1000;
    if (made.categories.size() == kCategoriesMax) continue;
    // Work launched before the recording belongs to a step that is not there.
    if (category.kind == findings::Kind::kCommunication || category.key == "unlinked" ||
        category.gpu_us / 1000 < kCategoryShare * made.computation_ms)
      continue;
    std::vector<std::string> ops;
    std::vector<std::pair<std::string_view, double>> sums;  // by name, in the order of the first
    std::unordered_map<std::string_view, std::size_t> places;
    for (const findings::Operation& operation : category.operations) {
      const auto [place, added] = places.try_emplace(operation.name, sums.size());
      if (added) sums.emplace_back(operation.name, 0);
      sums[place->second].second += operation.gpu_us / 1000;
    }
    std::stable_sort(sums.begin(), sums.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t i = 0; i < sums.size() && i < kOpsShown; ++i)
      ops.push_back(fmt::format("{} {}", Utf8Prefix(sums[i].first, kNameBytes),
                                documents::Ms(sums[i].second)));
    made.categories.push_back({category.display_name, category.gpu_us / 1000, category.efficiency,
                               fmt::format("{}", fmt::join(ops, ", "))});
  }
  std::vector<const findings::Finding*> levers;
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.subject != "communication" && !finding.one_off &&
        MostMs(finding) >= kCategoryShare * made.computation_ms)
      levers.push_back(&finding);
  }
  std::stable_sort(levers.begin(), levers.end(),
                   [](const auto* a, const auto* b) { return ExpectedMs(*a) > ExpectedMs(*b); });
  for (const findings::Finding* finding : levers) {
    if (made.levers.size() == kLeversKept) break;
    made.levers.push_back(LeverOf(analysis, *finding));
  }
  return made;
}

Result<RankWorkload> LookAt(session::Workspace& workspace, const std::string& path,
                            const analysis::RankDigest& digest, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, {{"trace", path}}, job));
  JV_ASSIGN(const PlatformChoice choice, ChoosePlatform(workspace.files(), "", trace.get()));
  const perf::Platform* platform = choice.platform ? &*choice.platform : nullptr;
  JV_ASSIGN(const auto analysis, findings::AnalysisOf(*trace, platform, {}, job));
  RankWorkload made = WorkloadOf(*analysis, *digest.rank);
  made.marks = MarksOf(*trace);
  return made;
}

}  // namespace

Result<std::optional<RankWorkload>> LookAtOneRank(session::Workspace& workspace,
                                                  const Json& arguments,
                                                  const analysis::RankSet& set, Job& job,
                                                  std::string* why_not) {
  const auto candidates = Candidates(set);
  if (candidates.empty()) return std::optional<RankWorkload>();
  JV_ASSIGN(const std::vector<std::string> paths, RankFilesOf(workspace, arguments, job));
  for (const analysis::RankDigest* digest : candidates) {
    const auto path = std::find_if(paths.begin(), paths.end(), [&](const std::string& one) {
      return one == digest->source || one.ends_with("/" + digest->source);
    });
    if (path == paths.end() ||
        session::KindOf(workspace.files(), *path) != session::SourceKind::kTrace)
      continue;
    auto made = LookAt(workspace, *path, *digest, job);
    if (made) return std::optional(std::move(*made));
    // One try: what cannot be loaded once will not be for another rank, and each costs time.
    if (made.error().code == ErrorCode::kCancelled) return tl::unexpected(made.error());
    *why_not = fmt::format("what a rank computes is not told: {}", made.error().message);
    break;
  }
  return std::optional<RankWorkload>();
}

}  // namespace jarvis::tools
