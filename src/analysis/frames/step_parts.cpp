#include "analysis/frames/step_parts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/attribution/call_stack.h"
#include "analysis/attribution/module_paths.h"
#include "analysis/frames/launch_sequence.h"
#include "analysis/frames/repetition.h"
#include "analysis/frames/training_parts.h"
#include "analysis/host/runtime_calls.h"
#include "base/text.h"
#include "trace/step_mark.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

constexpr double kLeastShare = 0.01;  // of a part in its step
constexpr double kAroundShare = 0.8;  // a call around nearly all is looked into
constexpr double kSameShare = 0.9;    // of a call in the one around it: the same for the eye
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

  std::vector<FramePart> Run() {
    std::vector<Node> all = Roots();
    parts_ = Descend(std::move(all));
    AddBetween();
    std::vector<FramePart> out;
    for (const FramePart& part : parts_) {
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
      if (trace::StepNumberOf(facts_.events.name(*e))) continue;
      while (!open.empty() && IsOver(At(open.back()), event)) {
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

  // A scope that is entered inside a frame and left long after it is not within it: the frame only
  // opened it (__enter__).
  static bool IsOver(const trace::Event& open, const trace::Event& next) {
    if (open.end_ns() <= next.ts_ns) return true;
    return open.end_ns() < next.end_ns() && (open.end_ns() - next.ts_ns) * 2 < next.dur_ns;
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

  // The call that says most of those around the same time: a module if there is one, else the
  // outermost that is no mere passing on.
  Node NamedBy(Node node) const {
    std::optional<Node> named;
    for (Node at = node;;) {
      const PhaseSource source = SourceOf(at);
      if (source == PhaseSource::kAnnotation || source == PhaseSource::kModule) return at;
      if (source == PhaseSource::kOp) break;
      if (!named && !PassesOn(NameOf(at))) named = at;
      const std::vector<Node> children = ChildrenOf(at);
      const auto same = std::find_if(children.begin(), children.end(), [&](Node child) {
        return static_cast<double>(At(child).dur_ns) >=
               kSameShare * static_cast<double>(At(node).dur_ns);
      });
      if (same == children.end()) break;
      at = *same;
    }
    return named.value_or(node);
  }

  static bool PassesOn(std::string_view name) {
    const std::size_t colon = name.rfind(": ");
    const std::string_view function =
        colon == std::string_view::npos ? name : name.substr(colon + 2);
    return name.starts_with("<built-in") || function.starts_with("__") || function == "wrapper" ||
           function == "decorate_context" || IsWrapperFrame(name);
  }

  FramePart PartOf(Node outer) const {
    const Node node = NamedBy(outer);
    const PhaseSource source = SourceOf(node);
    std::string name = LabelOf(node);
    const PhaseKind kind = IsSyncCall(NameOf(node)) && trace::IsLaunchCall(At(node).kind)
                               ? PhaseKind::kWait
                               : PhaseKindOf(name, source);
    return {std::move(name), kind, source, {At(outer).ts_ns, At(outer).end_ns()}, 0};
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

  // A scope that the user named as a phase is one, however long it takes.
  bool IsPhase(Node node) const {
    return SourceOf(node) == PhaseSource::kAnnotation &&
           PhaseKindOf(NameOf(node), PhaseSource::kAnnotation) != PhaseKind::kOther;
  }

  // Down through calls around nearly all of the step, keeping what stands beside them.
  std::vector<FramePart> Descend(std::vector<Node> siblings) {
    std::vector<FramePart> before;
    std::vector<FramePart> after;  // the innermost last
    TimeSpan inner = span_;
    while (true) {
      const auto around = std::find_if(siblings.begin(), siblings.end(), [&](Node node) {
        return ShareOf(At(node).dur_ns) >= kAroundShare && past_[node] > node + 1 && !IsPhase(node);
      });
      if (around == siblings.end()) break;
      std::vector<FramePart> later;
      for (const Node node : Worth(siblings)) {
        if (node == *around) continue;
        (node < *around ? before : later).push_back(PartOf(node));
      }
      after.insert(after.begin(), later.begin(), later.end());
      inner = {At(*around).ts_ns, At(*around).end_ns()};
      siblings = ChildrenOf(*around);
    }
    std::vector<FramePart> middle = CutFlat(siblings, inner);
    before.insert(before.end(), middle.begin(), middle.end());
    before.insert(before.end(), after.begin(), after.end());
    return before;
  }

  // No sibling is around nearly all: by their names, if named calls make up most of the time, else
  // as a training step, else by what repeats, else the named ones all the same.
  std::vector<FramePart> CutFlat(const std::vector<Node>& siblings, TimeSpan inner) const {
    std::vector<FramePart> named;
    std::int64_t scopes = 0;
    for (const Node node : Worth(siblings)) {
      named.push_back(PartOf(node));
      if (named.back().source != PhaseSource::kOp) scopes += At(node).dur_ns;
    }
    const auto covered = static_cast<double>(scopes);
    const bool mostly = covered >= kNamedShare * static_cast<double>(inner.end - inner.start);
    const bool backward = std::any_of(named.begin(), named.end(), [](const FramePart& part) {
      return part.kind == PhaseKind::kBackward;
    });
    if (mostly && backward) return named;
    if (auto training = TrainingPartsOf(facts_, inner); !training.empty()) return training;
    if (mostly) return named;
    if (auto blocks = BlocksIn(inner, 0); !blocks.empty()) return blocks;
    return named;
  }

  // What repeats in the kernels launched in a span, with what comes before and after.
  std::vector<FramePart> BlocksIn(TimeSpan span, int level) const {
    const LaunchSequence sequence = LaunchesIn(facts_, span);
    const auto found = FindRepetition(sequence.items, span.end);
    if (!found || found->coverage < kNamedShare) return {};
    const auto at = [&](std::size_t item) {
      return item < sequence.items.size() ? sequence.items[item].at_ns : span.end;
    };
    const std::string count = std::to_string(found->starts.size());
    std::vector<FramePart> out;
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
    std::vector<FramePart> all;
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
    for (const FramePart& part : parts_) {
      fill(part.host.start, part.name);
      all.push_back(part);
      at = std::max(at, part.host.end);
    }
    fill(span_.end, {});
    parts_ = std::move(all);
  }

  // Repeated calls within a large part: layers, batches.
  void AddWithin(const FramePart& part, std::vector<FramePart>* out) const {
    const std::int64_t weight = std::max(part.host.end - part.host.start, LaunchedIn(part.host));
    if (part.source == PhaseSource::kRepetition || ShareOf(weight) < kLookInShare) return;
    std::vector<Node> siblings = NodesIn(part.host);
    while (!siblings.empty()) {
      if (AddRepeated(siblings, part, out)) return;
      siblings = ChildrenOf(Largest(siblings));
    }
    std::vector<FramePart> inner = BlocksIn(part.host, 1);
    if (inner.empty()) inner = NamedWithin(part);
    out->insert(out->end(), inner.begin(), inner.end());
  }

  // The named calls of a part in which nothing repeats.
  std::vector<FramePart> NamedWithin(const FramePart& part) const {
    std::vector<Node> siblings = NodesIn(part.host);
    while (!siblings.empty()) {
      const std::vector<Node> worth = Worth(siblings);
      if (worth.size() > 1) {
        std::vector<FramePart> named;
        for (const Node node : worth) {
          named.push_back(PartOf(node));
          named.back().level = 1;
        }
        return named;
      }
      siblings = ChildrenOf(Largest(siblings));
    }
    return {};
  }

  // Outermost of what lies in a part.
  std::vector<Node> NodesIn(TimeSpan span) const {
    const auto before = [&](EventIndex e, std::int64_t at) { return facts_.events[e].ts_ns < at; };
    const auto begin = std::lower_bound(inside_.begin(), inside_.end(), span.start, before);
    std::vector<Node> nodes;
    for (auto node = static_cast<Node>(begin - inside_.begin());
         node < inside_.size() && At(node).ts_ns < span.end; node = past_[node])
      nodes.push_back(node);
    return nodes;
  }
  Node Largest(const std::vector<Node>& siblings) const {
    return *std::max_element(siblings.begin(), siblings.end(),
                             [&](Node a, Node b) { return At(a).dur_ns < At(b).dur_ns; });
  }

  bool AddRepeated(const std::vector<Node>& siblings, const FramePart& part,
                   std::vector<FramePart>* out) const {
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
        FramePart one = PartOf(node);
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
  std::vector<FramePart> parts_;
};

}  // namespace

std::vector<FramePart> PartsOf(const FrameFacts& facts, TimeSpan span) {
  return StepCutter(facts, span).Run();
}

}  // namespace jarvis::analysis
