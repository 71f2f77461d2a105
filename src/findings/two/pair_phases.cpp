#include "findings/two/pair_phases.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/host/runtime_calls.h"
#include "base/number_text.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using analysis::TimeSet;
using analysis::TimeSpan;

// Parts below this share of the unit may be on one side alone.
constexpr double kSmall = 0.05;
// A side replays graphs if so much of its unit's GPU work is theirs; the other has none of them.
constexpr double kReplays = 0.1;

class NamedPhases {
 public:
  NamedPhases(const AnalysedSide& candidate, const AnalysedSide& baseline, const Balance& balance)
      : sides_{&candidate, &baseline}, balance_(balance) {}

  std::vector<PairPhase> Run() {
    for (int i = 0; i < 2; ++i)
      Collect(i);
    for (const PairPhase& phase : phases_) {
      for (int i = 0; i < 2; ++i) {
        const double most = std::max(phase.ms[i], phase.busy_ms[i]);
        if (!(phase.count[1 - i] > 0) && most > kSmall * balance_.ms[i]) return {};
      }
    }
    std::erase_if(phases_, [&](const PairPhase& phase) {
      return !(phase.count[0] > 0) || !(phase.count[1] > 0);
    });
    return std::move(phases_);
  }

 private:
  void Collect(int side) {
    const analysis::Phases& found = sides_[side]->analysis.frames->phases;
    const double steps = found.steps > 0 ? static_cast<double>(found.steps) : 1;
    for (const analysis::Phase& phase : found.phases) {
      if (phase.level != 0 || phase.kind == analysis::PhaseKind::kWait) continue;
      PairPhase& of = PhaseOf(phase.name);
      of.count[side] += static_cast<double>(phase.count) / steps;
      of.ms[side] += MillisOf(phase.host_ns) / steps;
      of.busy_ms[side] += MillisOf(phase.gpu_busy_ns) / steps;
      of.idle_ms[side] += MillisOf(phase.gpu_idle_ns) / steps;
    }
  }

  PairPhase& PhaseOf(const std::string& name) {
    const auto [found, added] = places_.try_emplace(name, phases_.size());
    if (added) phases_.emplace_back().name = name;
    return phases_[found->second];
  }

  const AnalysedSide* sides_[2];
  const Balance& balance_;
  std::vector<PairPhase> phases_;
  std::unordered_map<std::string, std::size_t> places_;
};

// By what both launch before and after the calls in which one side replays a graph.
class OrderedPhases {
 public:
  OrderedPhases(const AnalysedSide& candidate, const AnalysedSide& baseline, const Balance& balance,
                const CommonOrder& order)
      : sides_{&candidate, &baseline}, balance_(balance), order_(order) {}

  std::vector<PairPhase> Run() {
    double replays[2] = {0, 0};
    for (int i = 0; i < 2; ++i)
      replays[i] = ReplayedMs(i) / balance_.ms[i];
    if (!(std::max(replays[0], replays[1]) >= kReplays) || std::min(replays[0], replays[1]) > 0 ||
        balance_.ledger.count[0] != 1 || balance_.ledger.count[1] != 1 || Base(0).base.empty() ||
        Base(1).base.empty())
      return {};
    graph_side_ = replays[0] > replays[1] ? 0 : 1;
    FindStretches();
    if (stretches_[0].empty()) return {};
    return Phases();
  }

 private:
  const session::LoadedTrace& Trace(int side) const { return sides_[side]->side.trace; }
  const analysis::BaseOfTime& Base(int side) const {
    return sides_[side]->analysis.frames->frames.base;
  }

  bool Replays(int side, std::uint32_t launcher) const {
    const auto& attribution = Trace(side).attribution();
    const auto kernels = attribution.KernelsOf(attribution.launchers[launcher]);
    if (kernels.empty()) return false;
    const trace::EventIndex launch = Trace(side).tree().parent(kernels.front());
    const trace::EventStore& events = Trace(side).events();
    return launch != trace::kNoEvent &&
           analysis::IsGraphLaunch(events.strings[events[launch].name]);
  }

  double ReplayedMs(int side) const {
    const auto& attribution = Trace(side).attribution();
    double ms = 0;
    for (std::uint32_t i = 0; i < attribution.launchers.size(); ++i) {
      if (!Replays(side, i)) continue;
      for (const auto kernel : attribution.KernelsOf(attribution.launchers[i]))
        ms += MillisOf(Trace(side).events()[kernel].dur_ns);
    }
    return ms / balance_.units[side];
  }

  // When the GPU is at a launcher's work.
  std::optional<TimeSpan> GpuSpan(int side, std::uint32_t launcher) const {
    const auto& attribution = Trace(side).attribution();
    std::optional<TimeSpan> span;
    for (const auto kernel : attribution.KernelsOf(attribution.launchers[launcher])) {
      const trace::Event& event = Trace(side).events()[kernel];
      if (!span) span = {event.ts_ns, event.end_ns()};
      span->start = std::min(span->start, event.ts_ns);
      span->end = std::max(span->end, event.end_ns());
    }
    return span;
  }

  std::uint32_t Of(int side, std::size_t pair) const {
    return side == 0 ? order_.pairs[pair].first : order_.pairs[pair].second;
  }

  // From the end of the common call before a replay to the begin of the next one.
  void FindStretches() {
    std::uint32_t next = 0;  // launcher of the side with graphs
    for (std::size_t pair = 0; pair + 1 < order_.pairs.size(); ++pair) {
      bool replays = false;
      for (next = Of(graph_side_, pair) + 1; next < Of(graph_side_, pair + 1); ++next)
        replays = replays || Replays(graph_side_, next);
      if (!replays) continue;
      TimeSpan spans[2];
      bool ordered = true;
      for (int side = 0; side < 2 && ordered; ++side) {
        const auto before = GpuSpan(side, Of(side, pair));
        const auto after = GpuSpan(side, Of(side, pair + 1));
        ordered = before && after && before->end <= after->start &&
                  (stretches_[side].empty() || stretches_[side].back().end <= before->end);
        if (ordered) spans[side] = {before->end, after->start};
      }
      for (int side = 0; side < 2 && ordered; ++side)
        stretches_[side].push_back(spans[side]);
    }
  }

  std::vector<PairPhase> Phases() const {
    const std::size_t n = stretches_[0].size();
    std::vector<PairPhase> phases(3);
    phases[0].name = "before the first replay";
    phases[1].name =
        fmt::format("{} graph replay{}, or the ops in their place", n, n == 1 ? "" : "s");
    phases[2].name = n == 1 ? "after the replay" : "after each replay";
    for (int side = 0; side < 2; ++side) {
      const TimeSet& base = Base(side).base;
      const std::vector<TimeSpan>& of = stretches_[side];
      Add(side, {base.front().start, of.front().start}, &phases[0]);
      for (std::size_t i = 0; i < n; ++i) {
        Add(side, of[i], &phases[1]);
        if (i + 1 < n) Add(side, {of[i].end, of[i + 1].start}, &phases[2]);
      }
      Add(side, {of.back().end, base.back().end}, &phases[2]);
    }
    std::erase_if(phases, [](const PairPhase& phase) {
      return !(phase.count[0] > 0) && !(phase.count[1] > 0);
    });
    return phases;
  }

  void Add(int side, TimeSpan span, PairPhase* phase) const {
    const TimeSet own = analysis::Within(Base(side).base, span);
    const double ms = MillisOf(Length(own));
    const double busy =
        MillisOf(Length(Intersect(own, sides_[side]->analysis.frames->books.wall.busy)));
    phase->count[side] += 1;
    phase->ms[side] += ms;
    phase->busy_ms[side] += busy;
    phase->idle_ms[side] += ms - busy;
  }

  const AnalysedSide* sides_[2];
  const Balance& balance_;
  const CommonOrder& order_;
  int graph_side_ = 0;
  std::vector<TimeSpan> stretches_[2];
};

}  // namespace

PairPhases FindPairPhases(const AnalysedSide& candidate, const AnalysedSide& baseline,
                          const Balance& balance, const CommonOrder& order) {
  PairPhases out;
  out.phases = OrderedPhases(candidate, baseline, balance, order).Run();
  out.by_order = out.phases.size() > 1;
  if (!out.by_order) out.phases = NamedPhases(candidate, baseline, balance).Run();
  if (out.phases.size() < 2) out.phases.clear();
  return out;
}

}  // namespace jarvis::findings
