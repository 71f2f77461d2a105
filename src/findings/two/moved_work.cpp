#include "findings/two/moved_work.h"

#include <map>
#include <utility>

#include "analysis/host/runtime_calls.h"
#include "base/number_text.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using ledger::WorkKind;

// A row's work moved if the other side has so much of what is missing there, where no op is.
constexpr double kHeld = 0.25;
// A row whose ops the other side calls with other arguments moved if it has so little of it left.
constexpr double kLittleLeft = 0.5;
// A row holds others' work if so much of its time is of such kernels.
constexpr double kHolds = 0.5;

// Kinds that a compiler makes one kernel of are one.
WorkKind PoolOf(WorkKind work) {
  return FoldsTogether(work) ? WorkKind::kElementwise : work;
}

class MovedFinder {
 public:
  MovedFinder(const AnalysedSide& candidate, const AnalysedSide& baseline, const Balance& balance,
              const TraceComparison& ops)
      : sides_{&candidate, &baseline}, balance_(balance), ops_(ops) {}

  MovedWork Run() {
    for (int i = 0; i < 2; ++i)
      CollectOpaque(i);
    std::vector<std::pair<int, const CompareRow*>> alone;
    std::map<WorkKind, double> missing[2];
    for (const CompareRow& row : ops_.rows) {
      const int side = SideOfMore(row);
      if (side < 0) continue;
      if (OpaqueShare(side, row) >= kHolds) {
        holders_[side].push_back(&row);
        continue;
      }
      alone.emplace_back(side, &row);
      missing[side][PoolOfRow(side, row)] += MsOf(side, row) - MsOf(1 - side, row);
    }
    bool moved[2] = {false, false};
    for (const auto& [side, row] : alone) {
      const WorkKind pool = PoolOfRow(side, *row);
      const double held = opaque_[1 - side][pool] - opaque_[side][pool];
      if (ledger::IsCommunication(pool) || held < kHeld * missing[side][pool]) continue;
      out_.rows.push_back(row);
      moved[side] = true;
    }
    for (int side = 0; side < 2; ++side) {
      if (moved[1 - side])
        out_.holders.insert(out_.holders.end(), holders_[side].begin(), holders_[side].end());
    }
    out_.all.insert(out_.rows.begin(), out_.rows.end());
    out_.all.insert(out_.holders.begin(), out_.holders.end());
    return std::move(out_);
  }

 private:
  static const std::vector<std::uint32_t>& LaunchersOf(int side, const CompareRow& row) {
    return side == 0 ? row.primary_launchers : row.comparison_launchers;
  }
  static double MsOf(int side, const CompareRow& row) {
    return (side == 0 ? row.primary_ms : row.comparison_ms).value_or(0);
  }

  // Where the row's work is, if the other side has none of it, or little under other arguments.
  static int SideOfMore(const CompareRow& row) {
    const double ms[2] = {MsOf(0, row), MsOf(1, row)};
    const int more = ms[0] > ms[1] ? 0 : 1;
    if (LaunchersOf(more, row).empty()) return -1;
    if (ms[1 - more] > 0 && !(row.arguments_differ && ms[1 - more] < kLittleLeft * ms[more]))
      return -1;
    return more;
  }

  WorkKind PoolOfRow(int side, const CompareRow& row) const {
    return PoolOf(KindOfLaunchers(*sides_[side], LaunchersOf(side, row)));
  }

  void CollectOpaque(int side) {
    const session::LoadedTrace& trace = sides_[side]->side.trace;
    const auto& kinds = *sides_[side]->analysis.frames->kinds;
    const analysis::TimeMeter in_base(sides_[side]->analysis.frames->frames.base.base);
    for (const trace::EventIndex kernel : trace.attribution().kernels) {
      if (!IsOpaque(trace, kernel)) continue;
      const trace::Event& event = trace.events()[kernel];
      const std::int64_t ns = in_base.In({event.ts_ns, event.end_ns()});
      opaque_[side][PoolOf(kinds.Of(kernel).kind)] += MillisOf(ns) / balance_.units[side];
    }
  }

  double OpaqueShare(int side, const CompareRow& row) const {
    const session::LoadedTrace& trace = sides_[side]->side.trace;
    double opaque = 0;
    double all = 0;
    for (const std::uint32_t i : LaunchersOf(side, row)) {
      for (const auto kernel : trace.attribution().KernelsOf(trace.attribution().launchers[i])) {
        const double ms = MillisOf(trace.events()[kernel].dur_ns);
        all += ms;
        opaque += IsOpaque(trace, kernel) ? ms : 0;
      }
    }
    return all > 0 ? opaque / all : 0;
  }

  const AnalysedSide* sides_[2];
  const Balance& balance_;
  const TraceComparison& ops_;
  std::map<WorkKind, double> opaque_[2];
  std::vector<const CompareRow*> holders_[2];
  MovedWork out_;
};

}  // namespace

bool IsOpaque(const session::LoadedTrace& trace, trace::EventIndex kernel) {
  const trace::EventStore& events = trace.events();
  if (IsGenerated(events.strings[events[kernel].name])) return true;
  const trace::EventIndex launch = trace.tree().parent(kernel);
  return launch != trace::kNoEvent && analysis::IsGraphLaunch(events.strings[events[launch].name]);
}

MovedWork FindMovedWork(const AnalysedSide& candidate, const AnalysedSide& baseline,
                        const Balance& balance, const TraceComparison& ops) {
  return MovedFinder(candidate, baseline, balance, ops).Run();
}

}  // namespace jarvis::findings
