#include "documents/limits_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "documents/subjects.h"
#include "findings/one/quality_absent.h"
#include "findings/one/quality_scope.h"
#include "phrases/ids/limits.h"
#include "phrases/phrase.h"

namespace jarvis::documents {
namespace {

using findings::Advice;
using findings::Finding;
using findings::Pattern;

constexpr std::size_t kLimitsMax = 3;
constexpr std::size_t kFindingsAskedOf = 4;  // from the first
constexpr double kMatters = 3;               // percent of the base that a finding saves

bool IsAdvised(const Finding& finding, Advice advice) {
  const auto is = [&](const findings::Remedy& remedy) { return remedy.advice == advice; };
  return std::any_of(finding.path_a.begin(), finding.path_a.end(), is) ||
         std::any_of(finding.path_b.begin(), finding.path_b.end(), is);
}

bool IsOf(const Finding& finding, std::initializer_list<Pattern> rules) {
  return finding.rule && std::find(rules.begin(), rules.end(), *finding.rule) != rules.end();
}

class LimitFinder {
 public:
  explicit LimitFinder(const findings::Analysis& analysis) : in_(analysis) {}

  std::vector<std::string> Run() {
    Sequence();
    for (std::size_t i = 0; i < std::min(kFindingsAskedOf, in_.findings.size()); ++i) {
      const Finding& finding = in_.findings[i];
      const findings::WallSaving* best = findings::BestWall(finding);
      if (best == nullptr || in_.base.Percent(best->ms.high) < kMatters) continue;
      OfFinding(finding);
    }
    NextBound();
    Instances();
    EqualProducts();
    // Whoever is told to compute in 16 bits knows it; what else is not known stands before it.
    for (std::string& text : accuracy_)
      Add(std::move(text));
    if (out_.size() > kLimitsMax) out_.resize(kLimitsMax);
    return std::move(out_);
  }

 private:
  void Add(std::string text) {
    if (std::find(out_.begin(), out_.end(), text) == out_.end()) out_.push_back(std::move(text));
  }

  void OfFinding(const Finding& finding) {
    const int rank = finding.global_rank;
    LeftOpen(finding);
    if (finding.rule && findings::Info(*finding.rule).inexact) {
      accuracy_.push_back(
          Say(phrases::limits::kAccuracy, {{"rank", rank}, {"training", IsTraining()}}));
    } else if (IsOf(finding, {Pattern::kSlowAttentionKernel, Pattern::kBelowLargeProducts,
                              Pattern::kSlowDecodeAttention, Pattern::kWeightBound})) {
      UntriedKernel(finding);
    }
    if (findings::PadsInputs(finding)) Add(Say(phrases::limits::kSpreadOfSizes, {{"rank", rank}}));
    if (finding.host != nullptr && finding.host->rounds > 0) {
      Add(Say(phrases::limits::kRounds, {{"rank", rank},
                                         {"rounds", EachCalls(in_, finding.host->rounds)},
                                         {"unit", in_.base.unit}}));
    }
    const bool input = finding.host != nullptr && IsAdvised(finding, Advice::kPrepareAhead);
    if (input && in_.base.count == 1) {
      const std::string& unit = in_.base.unit;
      Add(Say(
          phrases::limits::kSingleUnit,
          {{"rank", rank}, {"unit", unit == "recording" ? Say(phrases::limits::kRequest) : unit}}));
    }
  }

  // What the catalogue says of the fix, else of the first of its actions of which it says anything.
  void LeftOpen(const Finding& finding) {
    const auto say = [&](const std::string& open, const std::string& record) {
      if (open.empty()) return false;
      Add(Say(phrases::limits::kOpen,
              {{"rank", finding.global_rank}, {"open", open}, {"record", record}}));
      return true;
    };
    if (finding.rule) {
      const levers::RuleRow* row = in_.Texts().RuleOf(*finding.rule);
      if (row != nullptr && say(documents::LeftOpen(in_, finding), row->record)) return;
    }
    for (const auto* path : {&finding.path_a, &finding.path_b}) {
      for (const findings::Remedy& remedy : *path) {
        const levers::AdviceInfo& info = in_.Texts().Of(remedy.advice);
        if (say(info.open, info.record)) return;
      }
    }
  }

  // What shows only once the GPU is as fast as it can be made.
  void NextBound() {
    const double idle_ms = static_cast<double>(in_.base.balance.idle_ns()) / 1e6;
    const double shown_ms = in_.wall.host_then_ms - idle_ms;
    if (in_.findings.empty() || in_.base.Percent(shown_ms) < kMatters) return;
    // Not where communication or the rest of the GPU's work still takes longer.
    constexpr double kNearly = 0.9;
    const findings::Finding& first = in_.findings.front();
    const findings::WallSaving* best = findings::BestWall(first);
    const double saved_ms = best != nullptr ? best->ms.high : first.bound_ms.value_or(0);
    const double host_ms = static_cast<double>(in_.frames->books.host.alone_ns) / 1e6;
    if (host_ms < kNearly * (in_.wall.wall_ms - saved_ms)) return;
    Add(Say(phrases::limits::kNextBound, {{"rank", in_.findings.front().global_rank}}));
  }

  bool IsTraining() const {
    return in_.workload[findings::WorkloadPart::kPhase].value.starts_with("training");
  }

  // The target is a rate that others reached: of the first finding that counts on one.
  void UntriedKernel(const Finding& finding) {
    constexpr std::size_t kArgsMax = 70;
    const auto& change = finding.change_b ? finding.change_b : finding.change_a;
    const findings::Operation* operation =
        finding.members.empty() ? nullptr : in_.FindOperation(finding.members.front());
    if (untried_ || !change || change->target.empty() || operation == nullptr) return;
    if (change->source.find("this trace") != std::string::npos) return;  // reached here
    const std::string args = SizesText(operation->name, operation->args);
    if (args.empty() || args.size() > kArgsMax) return;
    untried_ = true;
    Add(Say(phrases::limits::kUntriedKernel, {{"rank", finding.global_rank},
                                              {"target", CellOfText(change->target)},
                                              {"op", Code(operation->name, 60)},
                                              {"args", args},
                                              {"source", CellOfText(change->source)}}));
  }

  // A video model that gets more frames than it folds into a sequence of one.
  void Sequence() {
    const std::string& batch = in_.workload[findings::WorkloadPart::kBatch].value;
    if (batch.find("frames in one sequence") == std::string::npos) return;
    Add(Say(phrases::limits::kFramesInSequence));
  }

  void Instances() {
    if (!in_.slow_instance) return;
    const findings::SlowInstance& one = *in_.slow_instance;
    Add(Say(phrases::limits::kSlowInstance,
            {{"module", Code(one.module, 60)},
             {"time", Ms(one.ms)},
             {"gpu", one.of_gpu},
             {"siblings", one.siblings},
             {"usual", Ms(one.usual_ms)},
             {"difference", Ms(one.ms - one.usual_ms)},
             {"stacks", one.of_gpu ? "" : in_.context.how->stacks}}));
  }

  void EqualProducts() {
    const findings::Operation* calls = EqualCallsOf(in_);
    if (calls == nullptr) return;
    Add(Say(phrases::limits::kUnequalCalls, {{"op", Code(calls->name, 60)},
                                             {"args", SizesText(calls->name, calls->args)},
                                             {"shortest", fmt::format("{:.0f}", calls->min_us)},
                                             {"longest", fmt::format("{:.0f}", calls->max_us)}}));
  }

  const findings::Analysis& in_;
  std::vector<std::string> out_;
  std::vector<std::string> accuracy_;
  bool untried_ = false;  // a target of another place is told
};

}  // namespace

const findings::Operation* EqualCallsOf(const findings::Analysis& analysis) {
  constexpr double kShare = 10;      // percent of the base
  constexpr double kDiffers = 1.06;  // longest over shortest
  constexpr double kTooMuch = 1.5;   // another cause
  constexpr double kLongUs = 200;
  for (const findings::CategoryAnalysis& category : analysis.categories) {
    if (category.kind != findings::Kind::kGemm) continue;
    for (const findings::Operation& operation : category.operations) {
      const bool large = analysis.base.Percent(OwnMs(operation)) >= kShare;
      const bool compute = operation.efficiency.bound == findings::Bound::kCompute;
      if (!large || !compute || operation.count < 2) continue;
      if (operation.min_us < kLongUs || operation.kernels.size() != 1) continue;
      const double spread = operation.max_us / operation.min_us;
      if (spread >= kDiffers && spread <= kTooMuch) return &operation;
    }
  }
  return nullptr;
}

std::string NotRecordedText(const findings::Analysis& analysis) {
  const auto quality = [&](std::string_view code) -> const findings::Quality* {
    const auto found = std::ranges::find(analysis.quality, code, &findings::Quality::code);
    return found == analysis.quality.end() ? nullptr : &*found;
  };
  constexpr double kComputes = 15;  // percent of the base
  const double computes_ms = static_cast<double>(analysis.base.balance.computation_ns) / 1e6;
  // Kernels of replayed graphs have neither, whatever is switched on; what has is told there.
  constexpr double kReplayed = 80;  // percent of the kernel time
  const findings::Quality* const replay = quality("gpu_graph_replay");
  const bool replayed = replay != nullptr && replay->severity == findings::Severity::kWarning &&
                        replay->value.value_or(0) >= kReplayed;
  // What would be said of sizes and of the device's limits is missing throughout.
  const bool shapes = !replayed && quality("no_shapes") != nullptr &&
                      analysis.base.Percent(computes_ms) >= kComputes;
  // Nothing to change has a place in the code.
  const bool places = !replayed && quality("no_stacks") != nullptr &&
                      quality("silent_host") == nullptr && !analysis.findings.empty() &&
                      !findings::IsOfStart(analysis);
  const findings::Quality* const absent = quality(findings::kNotRecorded);
  if (absent == nullptr && !shapes && !places) return {};
  std::vector<std::string> lacks, records;
  const auto tell = [&](std::string lack, std::string record) {
    lacks.push_back(std::move(lack));
    if (!record.empty()) records.push_back(std::move(record));
  };
  if (absent != nullptr) tell(CellOfText(absent->text), CellOfText(absent->record));
  if (shapes) {
    const auto& work = analysis.line_bounds.work;
    const bool named = std::ranges::any_of(
        work, [](const ledger::Bound& bound) { return bound.least_ns.has_value(); });
    tell(Say(phrases::limits::kNoShapes, {{"named", named}}),
         Say(phrases::limits::kRecordShapes,
             {{"more", !records.empty()}, {"shapes", analysis.context.how->shapes}}));
  }
  if (places) {
    tell(Say(phrases::limits::kNoPlaces),
         Say(phrases::limits::kRecordPlaces, {{"stacks", analysis.context.how->stacks}}));
  }
  return Say(phrases::limits::kNotRecorded,
             {{"lacks", fmt::format("{}", fmt::join(lacks, " "))},
              {"records", fmt::format("{}", fmt::join(records, "; "))}});
}

std::vector<std::string> RecommendationLimits(const findings::Analysis& analysis) {
  return LimitFinder(analysis).Run();
}

}  // namespace jarvis::documents
