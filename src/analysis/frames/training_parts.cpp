#include "analysis/frames/training_parts.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

class TrainingCutter {
 public:
  TrainingCutter(const FrameFacts& facts, TimeSpan span) : facts_(facts), span_(span) {}

  std::vector<FramePart> Run() {
    CollectOnThread();
    CollectBackward();
    if (backward_.empty()) return {};
    for (const TimeSpan& one : backward_)
      marks_.push_back({"backward", PhaseKind::kBackward, PhaseSource::kTraining, one, 0});
    std::stable_sort(marks_.begin(), marks_.end(), [](const FramePart& a, const FramePart& b) {
      return a.host.start < b.host.start;
    });
    Fill();
    return std::move(out_);
  }

 private:
  const trace::Event& At(EventIndex e) const { return facts_.events[e]; }

  struct NameMeaning {
    PhaseKind kind = PhaseKind::kOther;
    bool scope = false;
  };
  // Each name is looked at once.
  const NameMeaning& MeaningOf(StringId name) {
    const auto [found, added] = meanings_.try_emplace(name);
    if (added) {
      const std::string_view text = facts_.events.strings[name];
      found->second = {PhaseKindOf(text, PhaseSource::kAnnotation), IsScopeName(text)};
    }
    return found->second;
  }

  // Scopes with well-known names and outermost ops of the frames' thread.
  void CollectOnThread() {
    const auto before = [&](EventIndex e, std::int64_t at) { return At(e).ts_ns < at; };
    auto e =
        std::lower_bound(facts_.on_thread.begin(), facts_.on_thread.end(), span_.start, before);
    std::int64_t scope_end = trace::kAbsent;
    std::int64_t op_end = trace::kAbsent;
    for (; e != facts_.on_thread.end() && At(*e).ts_ns < span_.end; ++e) {
      const trace::Event& event = At(*e);
      if (event.end_ns() > span_.end || event.ts_ns < scope_end) continue;
      const NameMeaning& meaning = MeaningOf(event.name);
      const PhaseKind kind = meaning.kind;
      const bool scope = event.kind == EventKind::kUserAnnotation || meaning.scope;
      if (scope && (kind == PhaseKind::kLoader || kind == PhaseKind::kOptimizer ||
                    kind == PhaseKind::kZeroGrad)) {
        marks_.push_back({std::string(PhaseKindText(kind)),
                          kind,
                          PhaseSource::kTraining,
                          {event.ts_ns, event.end_ns()},
                          0});
        scope_end = event.end_ns();
        continue;
      }
      if (event.kind != EventKind::kCpuOp || scope || event.ts_ns < op_end) continue;
      ops_.push_back({event.ts_ns, event.end_ns()});
      op_end = event.end_ns();
    }
  }

  // Nodes of the graph that run on threads of autograd's own. The caller waits meanwhile, so an op
  // of the frames' thread ends a pass.
  void CollectBackward() {
    TimeSet nodes;
    const auto before = [&](EventIndex e, std::int64_t at) { return At(e).ts_ns < at; };
    auto e = std::lower_bound(facts_.autograd.begin(), facts_.autograd.end(), span_.start, before);
    for (; e != facts_.autograd.end() && At(*e).ts_ns < span_.end; ++e) {
      if (At(*e).end_ns() <= span_.end) nodes.push_back({At(*e).ts_ns, At(*e).end_ns()});
    }
    for (const TimeSpan& node : Union(std::move(nodes))) {
      const auto op = std::lower_bound(
          ops_.begin(), ops_.end(), backward_.empty() ? node.start : backward_.back().end,
          [](const TimeSpan& one, std::int64_t at) { return one.start < at; });
      const bool apart = backward_.empty() || (op != ops_.end() && op->start < node.start);
      if (apart) {
        backward_.push_back(node);
      } else {
        backward_.back().end = node.end;
      }
    }
  }

  // What stands between two parts may hold an op or two of no pass.
  bool IsWorthNaming(TimeSpan span) const {
    constexpr std::int64_t kLeast = 100;  // a hundredth
    return (span.end - span.start) * kLeast >= span_.end - span_.start;
  }

  bool HasOps(TimeSpan span) const {
    const auto op =
        std::lower_bound(ops_.begin(), ops_.end(), span.start,
                         [](const TimeSpan& one, std::int64_t at) { return one.start < at; });
    return op != ops_.end() && op->start < span.end;
  }

  // What lies between: forward if a backward pass follows with nothing but loading and clearing of
  // gradients before it.
  void Fill() {
    std::vector<bool> backward_next(marks_.size() + 1);
    for (std::size_t i = marks_.size(); i-- > 0;) {
      const PhaseKind kind = marks_[i].kind;
      const bool passes = kind == PhaseKind::kZeroGrad || kind == PhaseKind::kLoader;
      backward_next[i] = kind == PhaseKind::kBackward || (passes && backward_next[i + 1]);
    }
    std::int64_t at = span_.start;
    for (std::size_t i = 0; i <= marks_.size(); ++i) {
      const std::int64_t until = i < marks_.size() ? marks_[i].host.start : span_.end;
      if (IsWorthNaming({at, until}) && HasOps({at, until})) {
        const bool forward = backward_next[i];
        out_.push_back({forward ? "forward" : "other ops",
                        forward ? PhaseKind::kForward : PhaseKind::kOther,
                        PhaseSource::kTraining,
                        {at, until},
                        0});
      }
      if (i == marks_.size()) break;
      if (marks_[i].host.start >= at) out_.push_back(marks_[i]);
      at = std::max(at, marks_[i].host.end);
    }
  }

  const FrameFacts& facts_;
  std::unordered_map<StringId, NameMeaning> meanings_;
  TimeSpan span_;
  std::vector<FramePart> marks_;
  TimeSet ops_;  // outermost, apart
  TimeSet backward_;
  std::vector<FramePart> out_;
};

}  // namespace

PhaseKind PhaseKindOf(std::string_view name, PhaseSource source) {
  const auto has = [&](std::string_view part) { return ContainsNoCase(name, part); };
  if (has("dataloader") || has("data_load") || has("load_batch")) return PhaseKind::kLoader;
  if (has("zero_grad")) return PhaseKind::kZeroGrad;
  if (has("optimizer") || has("torch/optim/")) return PhaseKind::kOptimizer;
  if (has("backward")) return PhaseKind::kBackward;
  if (has("forward") || source == PhaseSource::kModule) return PhaseKind::kForward;
  return PhaseKind::kOther;
}

std::vector<FramePart> TrainingPartsOf(const FrameFacts& facts, TimeSpan span) {
  return TrainingCutter(facts, span).Run();
}

}  // namespace jarvis::analysis
