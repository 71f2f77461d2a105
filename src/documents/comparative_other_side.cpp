#include "documents/comparative_other_side.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "documents/comparative_saving.h"
#include "documents/comparative_words.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"

namespace jarvis::documents {
namespace {

// A change for the worse is worth a lever from this part of a unit on.
constexpr double kRegressionShare = 0.01;
constexpr std::size_t kKernelsShown = 2;

// Most of it is what value checks of the candidate compute, and goes with them: a finding of its
// own says so.
bool GoesWithChecks(const ComparativeFacts& facts, const findings::PairChange& change) {
  const findings::Analysis& own = *facts.pair.primary;
  return std::any_of(own.findings.begin(), own.findings.end(), [&](const findings::Finding& one) {
    return one.host != nullptr && 2 * own.base.Each(one.host->gpu_ms) > change.ms;
  });
}

}  // namespace

LeverText TextOfMoved(const ComparativeFacts& facts, const findings::MovedFinding& moved) {
  findings::Finding plain = *moved.finding;
  for (auto* wall : {&plain.wall_a, &plain.wall_b})
    wall->reset();
  for (auto* change : {&plain.change_a, &plain.change_b})
    change->reset();
  const FindingText draft = DraftText(*facts.pair.comparison, plain);
  const double ms = WallMs(facts, moved.saved_ms);
  LeverText text;
  text.title = draft.title;
  text.why = draft.title;
  text.gap =
      "The candidate does this inside its graph, where no shape is recorded; of the "
      "baseline's calls: " +
      draft.insight;
  for (const auto& [path, way, words] :
       {std::tuple('A', draft.way_a, &draft.path_a), std::tuple('B', draft.way_b, &draft.path_b)}) {
    std::string plain_words(Trim(*words));
    if (plain_words.ends_with('.')) plain_words.pop_back();
    if (way) text.ways.push_back({path, std::move(plain_words), "up to " + Ms(ms)});
  }
  text.saves = "up to " + Ms(ms);
  text.gpu_ms = ms;
  text.order_ms = kBoundPart * ms;
  text.impact = fmt::format(
      "up to {} of wall time {}, by the shapes of the baseline: the same work in the candidate's "
      "graph.",
      Ms(ms), UnitText(facts));
  return text;
}

LeverText TextOfRegression(const ComparativeFacts& facts, const findings::PairChange& change) {
  LeverText text;
  // Undone with all that came with it, it saves what the two differ by.
  const double net = facts.pair.verdict.ms;
  const double ms = WallMs(facts, net > 0 ? std::min(change.ms, net) : change.ms);
  text.title = "Slower than in the baseline: " + LineName(*change.lines.front());
  text.why = fmt::format("{} by other kernels or calls", SignedMs(change.ms));
  std::vector<std::string> come;
  std::vector<std::string> gone;
  constexpr double kNamedPart = 0.1;
  for (const findings::ChangedKernel& kernel : change.kernels) {
    auto& list = kernel.difference_ms() > 0 ? come : gone;
    if (std::abs(kernel.difference_ms()) > kNamedPart * change.ms && list.size() < kKernelsShown)
      list.push_back(Code(kernel.name, 60));
  }
  text.gap = fmt::format("{} net of what became faster.", SignedMs(change.ms));
  text.ways = {
      {'A',
       fmt::format(
           "go back to {}{}{}",
           facts.pair.changes.quantises == 0 ? "unquantized activations: " : "",
           gone.empty() ? "what the baseline does" : fmt::format("{}", fmt::join(gone, ", ")),
           come.empty() ? "" : fmt::format(" in place of {}", fmt::join(come, ", "))),
       "up to " + Ms(ms)}};
  text.saves = "up to " + Ms(ms);
  text.gpu_ms = ms;
  text.order_ms = ms;
  text.impact =
      fmt::format("up to {} of wall time {}, as in the baseline.", Ms(ms), UnitText(facts));
  return text;
}

bool IsRegression(const ComparativeFacts& facts, const findings::PairChange& change) {
  using findings::ChangeKind;
  const bool work = change.kind == ChangeKind::kReplaced || change.kind == ChangeKind::kGenerated ||
                    change.kind == ChangeKind::kMoreCalls;
  const bool told = std::any_of(change.lines.begin(), change.lines.end(), [&](const auto* line) {
    return std::any_of(facts.pair.levers.begin(), facts.pair.levers.end(),
                       [&](const findings::PairLever& lever) { return line->work == lever.work; });
  });
  return work && !told && !GoesWithChecks(facts, change) && facts.ops().same_device &&
         facts.pair.changes.times_as_often == 1 &&
         change.ms >= kRegressionShare * facts.pair.balance.ms[0];
}

}  // namespace jarvis::documents
