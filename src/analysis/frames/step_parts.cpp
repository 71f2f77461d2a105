#include "analysis/frames/step_parts.h"

#include <algorithm>
#include <map>

#include "analysis/attribution/module_paths.h"
#include "analysis/frames/launch_sequence.h"
#include "analysis/frames/repetition.h"
#include "analysis/frames/training_parts.h"
#include "analysis/host/runtime_calls.h"
#include "base/text.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

constexpr double kLeastShare = 0.01;  // of a part in its step
constexpr double kAroundShare = 0.8;  // a call around nearly all is looked into
constexpr double kNamedShare = 0.5;   // of a call that its named parts must make up
constexpr double kLookInShare = 0.3;  // of a part in its step for repetition to be looked for
constexpr std::size_t kLeastRepeats = 3;

// "<built-in method f of T object at 0x7f64>" -> without the address.
std::string WithoutAddress(std::string_view name) {
  const std::size_t at = name.find(" at 0x");
  if (at == std::string_view::npos) return std::string(name);
  std::size_t end = at + 6;
  while (end < name.size() && std::isxdigit(static_cast<unsigned char>(name[end])) != 0)
    ++end;
  return std::string(name.substr(0, at)) + std::string(name.substr(end));
}

class StepCutter {
 public:
  StepCutter(const FrameFacts& facts, TimeSpan span) : facts_(facts), span_(span) { Collect(); }

  std::vector<StepPart> Run() {
    std::vector<Node> all = Roots();
    parts_ = Descend(std::move(all));
    AddBetween();
    std::vector<StepPart> out;
    for (const StepPart& part : parts_) {
      out.push_back(part);
      AddWithin(part, &out);
    }
    return out;
  }

 private:
  using Node = std::size_t;  // index into inside_

  const trace::Event& At(Node node) const { return facts_.events[inside_[node]]; }
  std::string_view NameOf(Node node) const { return facts_.events.name(inside_[node]); }
  double ShareOf(std::int64_t ns) const {
    const std::int64_t all = span_.end - span_.start;
    return all <= 0 ? 0 : static_cast<double>(ns) / static_cast<double>(all);
  }

  // Events of the thread that lie in the step, nested anew: frames that the profiler was started in
  // reach over its ends and would hide what lies within.
  void Collect() {
    const auto before = [&](EventIndex e, std::int64_t at) { return facts_.events[e].ts_ns < at; };
    auto e =
        std::lower_bound(facts_.on_thread.begin(), facts_.on_thread.end(), span_.start, before);
    std::vector<std::size_t> open;
    for (; e != facts_.on_thread.end() && facts_.events[*e].ts_ns < span_.end; ++e) {
      const trace::Event& event = facts_.events[*e];
      if (event.end_ns() > span_.end) continue;
      if (StepNumberOf(facts_.events.name(*e))) continue;
      while (!open.empty() && At(open.back()).end_ns() <= event.ts_ns) {
        past_[open.back()] = inside_.size();
        open.pop_back();
      }
      open.push_back(inside_.size());
      inside_.push_back(*e);
      past_.push_back(0);
    }
    for (const std::size_t node : open)
      past_[node] = inside_.size();
  }

  std::vector<Node> Siblings(Node first, Node past) const {
    std::vector<Node> out;
    for (Node node = first; node < past; node = past_[node])
      out.push_back(node);
    return out;
  }
  std::vector<Node> Roots() const { return Siblings(0, inside_.size()); }
  std::vector<Node> ChildrenOf(Node node) const { return Siblings(node + 1, past_[node]); }

  PhaseSource SourceOf(Node node) const {
    const EventKind kind = At(node).kind;
    if (kind == EventKind::kUserAnnotation || IsScopeName(NameOf(node)))
      return PhaseSource::kAnnotation;
    if (kind == EventKind::kPythonFunction)
      return ModuleClass(NameOf(node)).empty() ? PhaseSource::kFrame : PhaseSource::kModule;
    return PhaseSource::kOp;
  }

  std::string LabelOf(Node node) const {
    return SourceOf(node) == PhaseSource::kModule ? FoldedName(NameOf(node))
                                                  : WithoutAddress(NameOf(node));
  }

  // GPU work launched meanwhile, as a sum of durations.
  std::int64_t LaunchedIn(TimeSpan span) const {
    const auto [first, past] = facts_.LaunchedIn(span);
    return facts_.launched_before[past] - facts_.launched_before[first];
  }

  StepPart PartOf(Node node) const {
    const PhaseSource source = SourceOf(node);
    std::string name = LabelOf(node);
    const PhaseKind kind = IsSyncCall(NameOf(node)) && trace::IsLaunchCall(At(node).kind)
                               ? PhaseKind::kWait
                               : PhaseKindOf(name, source);
    return {std::move(name), kind, source, {At(node).ts_ns, At(node).end_ns()}, 0};
  }

  // The siblings that are worth a name. Ops are so by themselves only; calls of one name together.
  std::vector<Node> Worth(const std::vector<Node>& siblings) const {
    std::map<std::string, std::int64_t> of_label;
    for (const Node node : siblings) {
      if (SourceOf(node) != PhaseSource::kOp) of_label[LabelOf(node)] += WeightOf(node);
    }
    std::vector<Node> out;
    for (const Node node : siblings) {
      const std::int64_t weight =
          SourceOf(node) == PhaseSource::kOp ? WeightOf(node) : of_label[LabelOf(node)];
      if (ShareOf(weight) >= kLeastShare) out.push_back(node);
    }
    return out;
  }
  // Host time, or GPU time launched, whichever is more.
  std::int64_t WeightOf(Node node) const {
    return std::max(At(node).dur_ns, LaunchedIn({At(node).ts_ns, At(node).end_ns()}));
  }

  // Down through calls around nearly all of the step, keeping what stands beside them.
  std::vector<StepPart> Descend(std::vector<Node> siblings) {
    std::vector<StepPart> before;
    std::vector<StepPart> after;  // the innermost last
    TimeSpan inner = span_;
    while (true) {
      const auto around = std::find_if(siblings.begin(), siblings.end(), [&](Node node) {
        return ShareOf(At(node).dur_ns) >= kAroundShare && past_[node] > node + 1;
      });
      if (around == siblings.end()) break;
      std::vector<StepPart> later;
      for (const Node node : Worth(siblings)) {
        if (node == *around) continue;
        (node < *around ? before : later).push_back(PartOf(node));
      }
      after.insert(after.begin(), later.begin(), later.end());
      inner = {At(*around).ts_ns, At(*around).end_ns()};
      siblings = ChildrenOf(*around);
    }
    std::vector<StepPart> middle = CutFlat(siblings, inner);
    before.insert(before.end(), middle.begin(), middle.end());
    before.insert(before.end(), after.begin(), after.end());
    return before;
  }

  // No sibling is around nearly all: by their names, if named calls make up most of the time, else
  // as a training step, else by what repeats, else the named ones all the same.
  std::vector<StepPart> CutFlat(const std::vector<Node>& siblings, TimeSpan inner) const {
    std::vector<StepPart> named;
    std::int64_t scopes = 0;
    for (const Node node : Worth(siblings)) {
      named.push_back(PartOf(node));
      if (named.back().source != PhaseSource::kOp) scopes += At(node).dur_ns;
    }
    const auto covered = static_cast<double>(scopes);
    const bool mostly = covered >= kNamedShare * static_cast<double>(inner.end - inner.start);
    if (mostly) return named;
    if (auto training = TrainingPartsOf(facts_, inner); !training.empty()) return training;
    if (auto blocks = BlocksIn(inner, 0); !blocks.empty()) return blocks;
    return named;
  }

  // What repeats in the kernels launched in a span, with what comes before and after.
  std::vector<StepPart> BlocksIn(TimeSpan span, int level) const {
    const LaunchSequence sequence = LaunchesIn(facts_, span);
    const auto found = FindRepetition(sequence.items, span.end);
    if (!found || found->coverage < kNamedShare) return {};
    const auto at = [&](std::size_t item) {
      return item < sequence.items.size() ? sequence.items[item].at_ns : span.end;
    };
    const std::string count = std::to_string(found->starts.size());
    std::vector<StepPart> out;
    if (level == 0 && ShareOf(at(found->starts.front()) - span.start) >= kLeastShare) {
      out.push_back({"before the " + count + " repeated blocks",
                     PhaseKind::kOther,
                     PhaseSource::kRepetition,
                     {span.start, at(found->starts.front())},
                     level});
    }
    for (std::size_t i = 0; i < found->starts.size(); ++i) {
      const std::size_t past = i + 1 < found->starts.size() ? found->starts[i + 1] : found->end;
      out.push_back({"repeated block",
                     PhaseKind::kOther,
                     PhaseSource::kRepetition,
                     {at(found->starts[i]), at(past)},
                     level});
    }
    if (level == 0 && ShareOf(span.end - at(found->end)) >= kLeastShare) {
      out.push_back({"after the " + count + " repeated blocks",
                     PhaseKind::kOther,
                     PhaseSource::kRepetition,
                     {at(found->end), span.end},
                     level});
    }
    return out;
  }

  // Time between parts that is worth mentioning.
  void AddBetween() {
    std::vector<StepPart> all;
    std::int64_t at = span_.start;
    const auto fill = [&](std::int64_t until, const std::string& next) {
      if (until <= at || ShareOf(until - at) < kLeastShare) return;
      const std::string previous = all.empty() ? std::string() : all.back().name;
      std::string name = previous.empty() && next.empty() ? "all of it"
                         : previous.empty()               ? "before " + next
                         : next.empty()                   ? "after " + previous
                                                          : "between " + previous + " and " + next;
      all.push_back({std::move(name), PhaseKind::kBetween, PhaseSource::kRest, {at, until}, 0});
    };
    for (const StepPart& part : parts_) {
      fill(part.host.start, part.name);
      all.push_back(part);
      at = std::max(at, part.host.end);
    }
    fill(span_.end, {});
    parts_ = std::move(all);
  }

  // Repeated calls within a large part: layers, batches.
  void AddWithin(const StepPart& part, std::vector<StepPart>* out) const {
    const std::int64_t weight = std::max(part.host.end - part.host.start, LaunchedIn(part.host));
    if (part.source == PhaseSource::kRepetition || ShareOf(weight) < kLookInShare) return;
    const auto begin =
        static_cast<Node>(std::lower_bound(inside_.begin(), inside_.end(), part.host.start,
                                           [&](EventIndex e, std::int64_t at) {
                                             return facts_.events[e].ts_ns < at;
                                           }) -
                          inside_.begin());
    std::vector<Node> siblings;
    for (Node node = begin; node < inside_.size() && At(node).ts_ns < part.host.end;
         node = past_[node])
      siblings.push_back(node);
    while (!siblings.empty()) {
      if (AddRepeated(siblings, part, out)) return;
      const Node largest = *std::max_element(siblings.begin(), siblings.end(), [&](Node a, Node b) {
        return At(a).dur_ns < At(b).dur_ns;
      });
      siblings = ChildrenOf(largest);
    }
    const std::vector<StepPart> blocks = BlocksIn(part.host, 1);
    out->insert(out->end(), blocks.begin(), blocks.end());
  }

  bool AddRepeated(const std::vector<Node>& siblings, const StepPart& part,
                   std::vector<StepPart>* out) const {
    std::map<std::string, std::pair<std::size_t, std::int64_t>> labels;
    for (const Node node : siblings) {
      const PhaseSource source = SourceOf(node);
      if (source == PhaseSource::kOp) continue;
      auto& [count, time] = labels[LabelOf(node)];
      ++count;
      time += At(node).dur_ns;
    }
    const auto all = static_cast<double>(part.host.end - part.host.start);
    for (const auto& [label, sums] : labels) {
      if (sums.first < kLeastRepeats || static_cast<double>(sums.second) < kNamedShare * all)
        continue;
      for (const Node node : siblings) {
        if (SourceOf(node) == PhaseSource::kOp || LabelOf(node) != label) continue;
        StepPart one = PartOf(node);
        one.level = 1;
        out->push_back(std::move(one));
      }
      return true;
    }
    return false;
  }

  const FrameFacts& facts_;
  TimeSpan span_;
  std::vector<EventIndex> inside_;  // outer before inner
  std::vector<Node> past_;          // by node: one past its last descendant
  std::vector<StepPart> parts_;
};

}  // namespace

std::vector<StepPart> PartsOf(const FrameFacts& facts, TimeSpan span) {
  return StepCutter(facts, span).Run();
}

}  // namespace jarvis::analysis
