#include "findings/two/pair.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "findings/one/analysis_cache.h"
#include "findings/one/library.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using ledger::WorkKind;

// A lever is worth a word from this share of the unit on...
constexpr double kLeverShare = 0.01;
// ... and if the kind takes so much longer than its target.
constexpr double kLeverExcess = 1.05;
// Of a kind that is far from every roof, as compare_traces.h has it for rows.
constexpr double kParityExcess = 1.15;
// Messages up to this size need microseconds on any link; what takes longer waits.
constexpr double kSmallBytes = 65536;
constexpr double kSmallUs = 50;
constexpr std::size_t kOwnMax = 8;  // some are one action
constexpr double kNearlyAll = 0.95;
// Runs of memory-bound work are told in place of the own findings about their parts, if they save
// so much of what those would one by one: it is one change.
constexpr double kRunsGain = 0.9;
// A finding is about a part of the runs if so much of its kernels' time is theirs.
constexpr double kPartOfRuns = 0.7;
// ... and shares its saving with them from this part on.
constexpr double kBesideRuns = 0.2;
// A finding of the comparison is about work that moved if so much of its kernels' time did.
constexpr double kPartOfMoved = 0.8;
// Products are exchanged for others if so much of the comparison's are not in the primary.
constexpr double kExchangedShare = 0.8;
// The shortest kernels: this part of all, of so many at least.
constexpr double kShortestPart = 0.05;
constexpr std::size_t kKernelsLeast = 100;

// The library with most of the launchers' time.
std::string LibraryOf(const session::LoadedTrace& trace, const std::vector<const CompareRow*>& rows,
                      std::vector<std::uint32_t> CompareRow::*launchers) {
  std::map<std::string, std::int64_t> ns;
  for (const CompareRow* row : rows) {
    for (const std::uint32_t i : row->*launchers) {
      for (const auto kernel : trace.attribution().KernelsOf(trace.attribution().launchers[i])) {
        const auto& event = trace.events()[kernel];
        ns[std::string(LibraryOfKernel(trace.events().strings[event.name]))] += event.dur_ns;
      }
    }
  }
  const auto most = std::max_element(
      ns.begin(), ns.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == ns.end() ? std::string() : most->first;
}

bool IsOfLaunches(const Finding& finding) {
  return finding.category == "cpu_idle";
}

// Idle time that a replay of the launches does not have.
bool IsOfLaunching(ledger::IdleCause cause) {
  return cause == ledger::IdleCause::kHostIssues || cause == ledger::IdleCause::kGraphLaunch ||
         cause == ledger::IdleCause::kBetweenLaunches || cause == ledger::IdleCause::kRoundTrip ||
         cause == ledger::IdleCause::kLaunchLatency || cause == ledger::IdleCause::kQueuedGap;
}

class PairJudge {
 public:
  PairJudge(const CompareSide& primary, const CompareSide& comparison, ComparedPair* pair)
      : primary_(primary), comparison_(comparison), pair_(*pair) {}

  void Run() {
    for (const BalanceLine& line : pair_.balance.lines) {
      if (line.work && !ledger::IsCommunication(*line.work)) Consider(line);
    }
    std::stable_sort(
        pair_.levers.begin(), pair_.levers.end(),
        [](const PairLever& a, const PairLever& b) { return a.saved_ms() > b.saved_ms(); });
    FindHostFloor();
    ConsiderGraph();
    ConsiderRuns();
    ConsiderExchange();
    ChooseOwn();
    ChooseMoved();
    for (PairLever& lever : pair_.levers)
      lever.in_chains = IsInChains(lever);
  }

 private:
  void Consider(const BalanceLine& line) {
    PairLever lever;
    lever.work = *line.work;
    lever.now_ms = line.gpu_ms[0];
    lever.comparison_ms = line.gpu_ms[1];
    if (line.expected_ms) {
      const bool bytes = line.bound == perf::Bound::kMemory;
      lever.target_ms = *line.expected_ms;
      lever.target = bytes ? PairTarget::kBandwidth : PairTarget::kSameShare;
      // What was measured to be possible binds, where it is less.
      // Rates of products: other work does not come near them.
      const bool products = line.work == WorkKind::kProduct || line.work == WorkKind::kConvolution;
      if (!bytes && products && line.practical_ms && *line.practical_ms > lever.target_ms) {
        lever.target_ms = *line.practical_ms;
        lever.target = PairTarget::kMeasured;
      }
    } else if (line.far_from_roofs && !pair_.ops.same_device) {
      lever.target_ms = line.gpu_ms[1];
      if (line.gpu_ms[0] < kParityExcess * line.gpu_ms[1]) return;
    } else if (pair_.ops.same_device) {
      // The same calls on the same device: what is slower than there is a change for the worse.
      // What one call lost and another of the kind won is netted.
      const double slower = SlowerMs(lever.work);
      const double grown = lever.now_ms - lever.comparison_ms;
      lever.target_ms = lever.now_ms - (grown > 0 ? std::min(slower, grown) : slower);
    } else {
      return;
    }
    const bool worth = lever.saved_ms() >= kLeverShare * pair_.balance.ms[0] &&
                       lever.now_ms >= kLeverExcess * lever.target_ms;
    if (!worth) return;
    lever.rows = RowsOf(lever.work, lever.target);
    if (lever.rows.empty()) return;
    lever.library = LibraryOf(primary_.trace, lever.rows, &CompareRow::primary_launchers);
    lever.comparison_library =
        LibraryOf(comparison_.trace, lever.rows, &CompareRow::comparison_launchers);
    pair_.levers.push_back(std::move(lever));
  }

  // Of most of the row's time; an op's calls may launch several kinds.
  WorkKind KindOfRow(const CompareRow& row) const {
    return KindOfLaunchers({primary_, *pair_.primary}, row.primary_launchers);
  }

  double SlowerMs(WorkKind work) const {
    double sum = 0;
    for (const CompareRow& row : pair_.ops.rows) {
      if (row.verdict == CompareVerdict::kSlower && !row.primary_launchers.empty() &&
          KindOfRow(row) == work)
        sum += *row.unexpected_ms;
    }
    return sum;
  }

  // Matched rows of a kind by how far the primary is from the target.
  std::vector<const CompareRow*> RowsOf(WorkKind work, PairTarget target) const {
    std::vector<std::pair<double, const CompareRow*>> gaps;
    for (const CompareRow& row : pair_.ops.rows) {
      if (!row.primary_ms || !row.comparison_ms || row.arguments_differ ||
          row.not_judged == NotJudged::kShort || row.primary_launchers.empty() ||
          KindOfRow(row) != work)
        continue;
      const double by = target == PairTarget::kComparison ? 1 : row.expected.value_or(1);
      const double gap = *row.primary_ms - by * *row.comparison_ms;
      if (gap > 0) gaps.emplace_back(-gap, &row);
    }
    std::stable_sort(gaps.begin(), gaps.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const CompareRow*> rows;
    for (const auto& [gap, row] : gaps)
      rows.push_back(row);
    return rows;
  }

  bool IsOfLever(const Finding& finding) const {
    const auto is = [&](WorkKind work) {
      return std::any_of(pair_.levers.begin(), pair_.levers.end(),
                         [&](const PairLever& lever) { return lever.work == work; });
    };
    if (finding.tier != Tier::kCompute) return false;
    const Kind kind = KindOf(finding.category);
    return (kind == Kind::kGemm && is(WorkKind::kProduct)) ||
           (kind == Kind::kSdpa && is(WorkKind::kAttention)) ||
           (kind == Kind::kConvolution && is(WorkKind::kConvolution));
  }

  // What another rank decides is no saving of this one's.
  bool IsAnothersLateness(const Finding& finding) const {
    const std::vector<ExchangePart>& exchanges = pair_.balance.exchanges;
    return finding.category == "multi_kernel" &&
           std::any_of(exchanges.begin(), exchanges.end(),
                       [](const ExchangePart& part) { return IsOnlyWaiting(part, 0); });
  }

  // What of a unit would remain if the GPU's work took no time. The simulation's time is that of
  // the recording: only where the steps are all of it, or all but work of earlier steps.
  void FindHostFloor() {
    const WallBase& wall = pair_.primary->wall;
    const StepBase& base = pair_.primary->base;
    if (!wall.known || !(wall.wall_ms > 0) || !(base.total_ms > 0)) return;
    const double others_ms =
        static_cast<double>(base.balance.total_ns - base.balance.own_ns()) / 1e6;
    const bool all = base.total_ms + others_ms >= kNearlyAll * wall.wall_ms;
    const double whole = all && !wall.of_unrecorded ? base.total_ms : wall.wall_ms;
    const double part = wall.host_floor_ms / whole;
    pair_.host_floor_ms = std::min(1.0, part) * pair_.balance.ms[0];
  }

  // Only where launches are what the primary's own analysis complains about too.
  void ConsiderGraph() {
    const auto& findings = pair_.primary->findings;
    const auto launches = std::find_if(findings.begin(), findings.end(), IsOfLaunches);
    const bool captured =
        launches != findings.end() &&
        std::any_of(launches->patterns.begin(), launches->patterns.end(),
                    [](const PatternHit& hit) { return hit.pattern == Pattern::kGraphLaunch; });
    if (!pair_.host_bound() || launches == findings.end() || captured || pair_.syncs[0] >= 0.5)
      return;
    GraphLever lever;
    lever.now_ms = pair_.balance.ms[0];
    for (const ExchangePart& part : pair_.balance.exchanges) {
      if (IsOnlyWaiting(part, 0)) lever.waiting_ms += part.ms[0];
    }
    lever.left_ms = pair_.balance.busy_ms[0] - lever.waiting_ms;
    for (const BalanceLine& line : pair_.balance.lines) {
      if (line.idle && !IsOfLaunching(*line.idle)) lever.left_ms += line.ms[0];
    }
    if (lever.now_ms - lever.left_ms >= kLeverShare * lever.now_ms) pair_.graph = lever;
  }

  // How much of a finding's kernels' time is of these, which are sorted.
  static double PartIn(const Finding& finding, const session::LoadedTrace& trace,
                       const std::vector<trace::EventIndex>& gpu) {
    const auto& change = finding.change_a ? finding.change_a : finding.change_b;
    if (!change) return 0;
    const trace::EventStore& events = trace.events();
    std::int64_t all = 0;
    std::int64_t within = 0;
    for (const Change::Part& part : change->parts) {
      for (const trace::EventIndex e : part.gpu) {
        all += events[e].dur_ns;
        if (std::binary_search(gpu.begin(), gpu.end(), e)) within += events[e].dur_ns;
      }
    }
    return all > 0 ? static_cast<double>(within) / static_cast<double>(all) : 0;
  }

  // The comparison knows the shapes of what the primary does inside a graph.
  void ChooseMoved() {
    std::vector<trace::EventIndex> gpu;
    for (const CompareRow* row : pair_.moved.rows) {
      for (const std::uint32_t i : row->comparison_launchers) {
        const auto of =
            comparison_.trace.attribution().KernelsOf(comparison_.trace.attribution().launchers[i]);
        gpu.insert(gpu.end(), of.begin(), of.end());
      }
    }
    if (gpu.empty() || !pair_.ops.same_device) return;
    std::sort(gpu.begin(), gpu.end());
    for (const Finding& finding : pair_.comparison->findings) {
      const bool own =
          std::any_of(pair_.primary->findings.begin(), pair_.primary->findings.end(),
                      [&](const Finding& of) { return of.rule && of.rule == finding.rule; });
      if (own || PartIn(finding, comparison_.trace, gpu) < kPartOfMoved) continue;
      const double saved = MovedSavedMs(finding);
      if (saved >= kLeverShare * pair_.balance.ms[0]) pair_.of_moved.push_back({&finding, saved});
    }
    std::stable_sort(
        pair_.of_moved.begin(), pair_.of_moved.end(),
        [](const MovedFinding& a, const MovedFinding& b) { return a.saved_ms > b.saved_ms; });
  }

  // What it saves there, by how much of each kind of work is left here. Passes that a compiler
  // fused are no more what they were: mostly of those is nothing to claim.
  double MovedSavedMs(const Finding& finding) const {
    const WallSaving* best = BestWall(finding);
    const auto& change = finding.change_a ? finding.change_a : finding.change_b;
    if (best == nullptr || !change) return 0;
    const trace::EventStore& events = comparison_.trace.events();
    double all = 0;
    double left = 0;
    double passes = 0;
    for (const Change::Part& part : change->parts) {
      for (const trace::EventIndex e : part.gpu) {
        const WorkKind work = pair_.comparison->frames->kinds->Of(e).kind;
        const auto ns = static_cast<double>(events[e].dur_ns);
        all += ns;
        left += ns * PartLeft(work);
        passes += FoldsTogether(work) ? ns : 0;
      }
    }
    if (!(all > 0) || passes > all / 2) return 0;
    return best->ms.high / pair_.balance.units[1] * left / all;
  }

  double PartLeft(WorkKind work) const {
    for (const BalanceLine& line : pair_.balance.lines) {
      if (line.work != work && !(line.folded && FoldsTogether(work))) continue;
      return line.gpu_ms[1] > 0 ? std::min(1.0, line.gpu_ms[0] / line.gpu_ms[1]) : 0;
    }
    return 0;
  }

  // Several findings about neighbouring ops on one tensor are one lever, if that saves more.
  void ConsiderRuns() {
    if (!pair_.primary->context.CanCompile()) return;
    MemoryRuns runs = FindMemoryRuns({primary_, *pair_.primary}, pair_.balance);
    if (runs.runs.empty()) return;
    double told_ms = 0;
    std::vector<const Finding*> parts;
    std::vector<const Finding*> beside;
    for (const Finding& finding : pair_.primary->findings) {
      const double within = PartIn(finding, primary_.trace, runs.gpu);
      const bool part = finding.change_a && within >= kPartOfRuns;
      if (part) {
        parts.push_back(&finding);
      } else if (within >= kBesideRuns) {
        beside.push_back(&finding);
      }
      if ((part || finding.tier == Tier::kFusion) && finding.savings_ms)
        told_ms += finding.savings_ms->high / pair_.balance.units[0];
    }
    if (parts.size() < 2 || runs.saved_ms() < kRunsGain * told_ms) return;
    pair_.runs = std::move(runs);
    pair_.in_runs = std::move(parts);
    pair_.beside_runs = std::move(beside);
  }

  // Where one part was exchanged for another whose products have no model, their rate of its
  // products is that of the comparison's work in the primary's time: rows that a buffer holds for
  // nothing are no work.
  void ConsiderExchange() {
    if (pair_.comparability.verdict != "the same but for a changed part") return;
    ExchangedProducts products;
    double flops = 0;
    double arithmetic_ms = 0;
    bool unknown = false;
    for (const CompareRow& row : pair_.ops.rows) {
      const bool old = row.verdict == CompareVerdict::kOnlyInComparison;
      if (!old && row.verdict != CompareVerdict::kOnlyInPrimary) continue;
      const int side = old ? 1 : 0;
      const double ms = ProductsMs(side, row);
      if (old && ms > 0 && !row.comparison_flops) return;
      products.ms[side] += ms;
      unknown = unknown || (!old && ms > 0 && !row.primary_flops);
      if (!old || !(ms > 0)) continue;
      flops += *row.comparison_flops;
      arithmetic_ms += row.comparison_arithmetic_ms.value_or(0);
    }
    const BalanceLine* line = pair_.balance.Find(WorkKind::kProduct);
    const bool most = line != nullptr && products.ms[1] >= kExchangedShare * line->gpu_ms[1];
    if (!most || !unknown || !(flops > 0) || !(products.ms[0] > 0) || !(products.ms[1] > 0)) return;
    for (int i = 0; i < 2; ++i)
      products.tflops[i] = flops / products.ms[i] / 1e9;
    if (arithmetic_ms > 0) products.share[1] = arithmetic_ms / products.ms[1];
    if (pair_.primary->workload[WorkloadPart::kPrecision].value.find("fp8") != std::string::npos &&
        primary_.platform) {
      products.primary_precision = "fp8";
      const auto peak = perf::CeilingFor(*primary_.platform, "matrix_fp8");
      if (peak && peak->tflops > 0) products.share[0] = products.tflops[0] / peak->tflops;
    }
    if (products.share[0].value_or(0) <= 1) pair_.exchanged = products;
  }

  // GPU time of the row's products a unit, whatever else its calls launch.
  double ProductsMs(int side, const CompareRow& row) const {
    const session::LoadedTrace& trace = side == 0 ? primary_.trace : comparison_.trace;
    const auto& kinds = (side == 0 ? pair_.primary : pair_.comparison)->frames->kinds;
    std::int64_t ns = 0;
    for (const std::uint32_t i : side == 0 ? row.primary_launchers : row.comparison_launchers) {
      const analysis::Launcher& launcher = trace.attribution().launchers[i];
      for (const auto kernel : trace.attribution().KernelsOf(launcher)) {
        if (kinds->Of(kernel).kind == WorkKind::kProduct) ns += trace.events()[kernel].dur_ns;
      }
    }
    return static_cast<double>(ns) / 1e6 / pair_.balance.units[side];
  }

  // What the primary's chains of ops save anyway, if they save more.
  bool IsInChains(const PairLever& lever) const {
    if (!ledger::IsPass(lever.work) || lever.target != PairTarget::kBandwidth) return false;
    if (pair_.runs) return pair_.runs->saved_ms() > lever.saved_ms();
    return std::any_of(pair_.own.begin(), pair_.own.end(), [&](const Finding* finding) {
      return finding->tier == Tier::kFusion && pair_.OwnSavedMs(*finding) > lever.saved_ms();
    });
  }

  void ChooseOwn() {
    for (const Finding& finding : pair_.primary->findings) {
      if (IsOfLever(finding) || IsAnothersLateness(finding) ||
          (pair_.graph && IsOfLaunches(finding)) ||
          std::find(pair_.in_runs.begin(), pair_.in_runs.end(), &finding) != pair_.in_runs.end())
        continue;
      pair_.own.push_back(&finding);
    }
    if (pair_.own.size() > kOwnMax) pair_.own.resize(kOwnMax);
  }

  const CompareSide& primary_;
  const CompareSide& comparison_;
  ComparedPair& pair_;
};

// Calls of a batch that was made one, of another precision or of compiled code are other calls:
// what the traces tell of the task then says whether the two did the same.
void AdmitSameTask(const Analysis& primary, const Analysis& comparison, Comparability* of) {
  constexpr int kPartly = 40;
  if (of->verdict != "not comparable" || of->score == 0) return;
  const auto alike = [&](WorkloadPart part) {
    const std::string& a = primary.workload[part].value;
    const std::string& b = comparison.workload[part].value;
    return !a.empty() && !b.empty() && (a.starts_with(b) || b.starts_with(a));
  };
  const std::string& input = primary.workload[WorkloadPart::kInput].value;
  if (input.empty() || input != comparison.workload[WorkloadPart::kInput].value ||
      !(alike(WorkloadPart::kModel) || alike(WorkloadPart::kFamily)) ||
      !alike(WorkloadPart::kPhase) || !alike(WorkloadPart::kDevice))
    return;
  of->reasons.push_back(
      fmt::format("the calls are {} % alike; kind of model, input ({}) and phase are the same",
                  of->score, input));
  of->verdict = "partly comparable";
  of->score = kPartly;
}

// The length that one kernel in twenty falls short of.
std::optional<double> KernelFloorUs(const session::LoadedTrace& trace) {
  std::vector<std::int64_t> lengths;
  for (const trace::EventIndex e : trace.attribution().timeline) {
    if (trace.events()[e].kind == trace::EventKind::kKernel)
      lengths.push_back(trace.events()[e].dur_ns);
  }
  if (lengths.size() < kKernelsLeast) return std::nullopt;
  const auto place = static_cast<std::size_t>(kShortestPart * static_cast<double>(lengths.size()));
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(place),
                   lengths.end());
  return static_cast<double>(lengths[place]) / 1000;
}

}  // namespace

Result<ComparedPair> ComparePair(const CompareSide& primary, const CompareSide& comparison,
                                 Job& job) {
  ComparedPair pair;
  const auto platform = [](const CompareSide& side) {
    return side.platform ? &*side.platform : nullptr;
  };
  JV_ASSIGN(pair.primary, AnalysisOf(primary.trace, platform(primary), {}, job));
  JV_ASSIGN(pair.comparison, AnalysisOf(comparison.trace, platform(comparison), {}, job));
  pair.comparability = AssessComparability(primary.trace, comparison.trace);
  JV_ASSIGN(pair.ops, CompareTraces(primary, comparison, analysis::GroupBy::kOp, job));
  AdmitSameTask(*pair.primary, *pair.comparison, &pair.comparability);
  const AnalysedSide candidate{primary, *pair.primary};
  const AnalysedSide baseline{comparison, *pair.comparison};
  pair.balance = BalanceOf(candidate, baseline, pair.ops);
  pair.verdict = JudgeDifference(pair.balance, pair.primary->frames->frames.base,
                                 pair.comparison->frames->frames.base);
  JV_ASSIGN(const SideWaits candidate_waits, SideWaits::Of(candidate, job));
  JV_ASSIGN(const SideWaits baseline_waits, SideWaits::Of(baseline, job));
  const SideWaits* waits[2] = {&candidate_waits, &baseline_waits};
  if (!pair.balance.lines.empty()) {
    JV_ASSIGN(pair.changes, FindChanges(candidate, baseline, waits, pair.balance, job));
    pair.phases = FindPairPhases(candidate, baseline, pair.balance, pair.comparability.order);
    pair.moved = FindMovedWork(candidate, baseline, pair.balance, pair.ops);
  }
  const session::LoadedTrace* traces[2] = {&primary.trace, &comparison.trace};
  for (int i = 0; i < 2; ++i) {
    pair.syncs[i] = waits[i]->calls() / pair.balance.units[i];
    pair.kernel_floor_us[i] = KernelFloorUs(*traces[i]);
  }
  if (pair.comparable() && !pair.balance.lines.empty()) PairJudge(primary, comparison, &pair).Run();
  return pair;
}

bool ComparedPair::host_bound() const {
  return host_floor_ms && primary->bound.kind == ledger::BoundKind::kHost;
}

double ComparedPair::OwnSavedMs(const Finding& finding) const {
  const WallSaving* best = BestWall(finding);
  const double ms = best != nullptr      ? best->ms.high
                    : finding.savings_ms ? finding.savings_ms->high
                                         : 0;
  return ms / balance.units[0];
}

bool HelpsHost(const Finding& finding) {
  if (IsOfLaunches(finding)) return true;
  constexpr double kAll = 0.999;
  // Whole calls go, if not all of them.
  if (finding.rule == Pattern::kParameterCast || finding.rule == Pattern::kParameterQuantised)
    return true;
  for (const auto* change : {&finding.change_a, &finding.change_b}) {
    if (!*change) continue;
    if (!(*change)->exact.empty()) return true;
    for (const Change::Part& part : (*change)->parts) {
      if (part.saved_part.high >= kAll) return true;
    }
  }
  return false;
}

bool IsOnlyWaiting(const ExchangePart& part, int side) {
  return part.collective && part.bytes && *part.bytes <= kSmallBytes &&
         part.median_us[side] >= kSmallUs;
}

}  // namespace jarvis::findings
