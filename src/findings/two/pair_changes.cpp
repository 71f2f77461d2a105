#include "findings/two/pair_changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/tables/summary.h"
#include "base/number_text.h"
#include "ledger/kinds/work_kind.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using ledger::WorkKind;

// A part of a change in which so much of all that changed is of one sort is of that sort.
constexpr double kMostly = 0.8;
// ... and of two sorts if each has so much.
constexpr double kBoth = 0.15;
// Nearly every kernel runs n times as often if so many of the calls of kernels that both sides have
// are of those that do, and these are so many of all.
constexpr double kInStep = 0.8;
constexpr double kShared = 0.6;
// Calls are as many if they differ by no more.
constexpr double kAsMany = 0.01;
// An op is called much more or less often from this factor on.
constexpr double kMuchMore = 3;
// ... and worth a word from this part of all calls of ops, or of the unit's time.
constexpr double kWorthCalls = 0.005;
constexpr double kFewCalls = 10;  // fewer are not worth it by their number
constexpr double kWorthTime = 0.02;
constexpr std::size_t kCallsMost = 6;

// One side alone quantizes if the other has no more than this part of that.
constexpr double kHardlyQuantises = 0.1;

// "quantise activation", "norm + quantise", and not "dequantise".
bool Quantises(std::string_view kernel) {
  constexpr std::string_view kWord = "quantise";
  const std::string_view sub = ledger::ClassifyKernelName(kernel).sub;
  const std::size_t at = sub.find(kWord);
  return at != std::string_view::npos && !sub.substr(0, at).ends_with("de");
}

bool AsMany(double a, double b) {
  return std::abs(a - b) <= kAsMany * std::max(a, b);
}

// What kernels of one line, or of lines told together, did.
struct Movement {
  double gone = 0;  // milliseconds of change in kernels that run less often, or not any more
  double come = 0;
  double same = 0;  // as often
  double gone_calls = 0;
  double come_calls = 0;
  double all() const { return gone + come + same; }
  // About as many calls came as went: however much faster they are, they stand for them.
  bool exchanged() const {
    return 2 * gone_calls >= come_calls && 2 * come_calls >= gone_calls && come_calls > 0 &&
           gone + come >= kBoth * all();
  }
};

Movement MovementOf(const std::vector<ChangedKernel>& kernels) {
  Movement movement;
  for (const ChangedKernel& kernel : kernels) {
    const double ms = std::abs(kernel.difference_ms());
    if (AsMany(kernel.calls[0], kernel.calls[1])) {
      movement.same += ms;
    } else {
      const bool gone = kernel.calls[0] < kernel.calls[1];
      (gone ? movement.gone : movement.come) += ms;
      (gone ? movement.gone_calls : movement.come_calls) +=
          std::abs(kernel.calls[0] - kernel.calls[1]);
    }
  }
  return movement;
}

ChangeKind KindOfMovement(const Movement& movement) {
  const double all = movement.all();
  if (movement.same >= kMostly * all) return ChangeKind::kSameCalls;
  if (movement.gone >= kBoth * all && movement.come >= kBoth * all) return ChangeKind::kReplaced;
  if (movement.exchanged()) return ChangeKind::kReplaced;
  if (movement.gone >= movement.come + movement.same) return ChangeKind::kFewerCalls;
  if (movement.come >= movement.gone + movement.same) return ChangeKind::kMoreCalls;
  return movement.same > 0 ? ChangeKind::kSameCalls : ChangeKind::kReplaced;
}

ChangeKind KindOfIdle(ledger::IdleCause cause) {
  using ledger::IdleCause;
  return cause == IdleCause::kInput ? ChangeKind::kInput : ChangeKind::kHostIdle;
}

// Marks of the profiler hold everything.
bool IsMark(std::string_view name) {
  return name.starts_with("ProfilerStep");
}

using CallsByName = std::map<std::string, ChangedCall, std::less<>>;

// Ops of a unit, by name.
class CallCounter {
 public:
  CallCounter(const AnalysedSide& side, const SideWaits& waits, double units, int place)
      : trace_(side.side.trace),
        base_(side.analysis.frames->frames.base),
        waits_(waits),
        units_(units),
        place_(place) {}

  jarvis::Status Count(CallsByName* calls, const Job& job) const {
    // A trace has many calls of few names.
    std::unordered_map<StringId, ChangedCall*> known;
    return Walk(job, [&](std::uint32_t at, const trace::Event& event, std::string_view name) {
      const auto [found, added] = known.try_emplace(event.name, nullptr);
      if (added) found->second = &calls->try_emplace(std::string(name)).first->second;
      found->second->calls[place_] += 1 / units_;
      found->second->host_ms[place_] += MillisOf(event.dur_ns) / units_;
      const std::uint32_t end = trace_.tree().subtree_end(trace_.tree().preorder()[at]);
      found->second->wait_ms[place_] += MillisOf(waits_.Within(at, end)) / units_;
    });
  }

  // How many calls of each of these names lie outside of all others of them.
  jarvis::Status CountOutermost(const CallsByName& among, std::map<std::string, double>* outermost,
                                const Job& job) const {
    std::uint32_t end = 0;  // of the last outermost one's subtree
    return Walk(job, [&](std::uint32_t at, const trace::Event& /*event*/, std::string_view name) {
      if (at < end || among.find(name) == among.end()) return;
      end = trace_.tree().subtree_end(trace_.tree().preorder()[at]);
      (*outermost)[std::string(name)] += 1 / units_;
    });
  }

 private:
  template <typename Visit>
  jarvis::Status Walk(const Job& job, const Visit& visit) const {
    const analysis::TimeMeter in_base(base_.host_base);
    const auto order = trace_.tree().preorder();
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      if (at % 65536 == 0) JV_TRY(job.Check());
      const trace::Event& event = trace_.events()[order[at]];
      if (event.kind != trace::EventKind::kCpuOp) continue;
      const std::string_view name = trace_.events().strings[event.name];
      if (IsMark(name) || in_base.In({event.ts_ns, event.ts_ns + 1}) == 0) continue;
      visit(at, event, name);
    }
    return {};
  }

  const session::LoadedTrace& trace_;
  const analysis::BaseOfTime& base_;
  const SideWaits& waits_;
  double units_;
  int place_;
};

class ChangeFinder {
 public:
  // `precision`: the two compute in unlike ones.
  ChangeFinder(const Balance& balance, bool precision)
      : balance_(balance), precision_(precision), least_ms_(kPartOfUnit * balance.ms[0]) {}

  PairChanges Run() {
    CountKernels();
    FindQuantising();
    OfWork();
    OfTheRest();
    std::stable_sort(out_.changes.begin(), out_.changes.end(),
                     [](const auto& a, const auto& b) { return std::abs(a.ms) > std::abs(b.ms); });
    out_.rest_ms = balance_.ms[0] - balance_.ms[1];
    for (const PairChange& change : out_.changes)
      out_.rest_ms -= change.ms;
    return std::move(out_);
  }

 private:
  // Names that a compiler makes are one: which op is in which kernel is its own choice.
  static std::string NameOf(const ledger::DifferenceLine& kernel) {
    return analysis::ShortKernelName(kernel.line);
  }

  void CountKernels() {
    std::map<std::int64_t, double> by_times;
    double shared = 0;
    for (const ledger::DifferenceLine& kernel : balance_.ledger.kernels) {
      for (int i = 0; i < 2; ++i) {
        out_.kernels[i] += kernel.calls[i];
        if (IsGenerated(kernel.line)) out_.generated_ms[i] += MillisOf(kernel.ns[i]);
      }
      if (Quantises(kernel.line)) {
        for (int i = 0; i < 2; ++i) {
          out_.quantised_ms[i] += MillisOf(kernel.ns[i]);
          out_.quantised_calls[i] += kernel.calls[i];
        }
      }
      const double more = std::max(kernel.calls[0], kernel.calls[1]);
      const double less = std::min(kernel.calls[0], kernel.calls[1]);
      const auto times = static_cast<std::int64_t>(less > 0 ? std::llround(more / less) : 0);
      shared += less > 0 ? more : 0;
      if (times < 2 || !AsMany(more, less * static_cast<double>(times))) continue;
      by_times[kernel.calls[0] > kernel.calls[1] ? times : -times] += more;
    }
    const auto most =
        std::max_element(by_times.begin(), by_times.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == by_times.end()) return;
    const int side = most->first > 0 ? 0 : 1;
    if (most->second >= kInStep * shared && shared >= kShared * out_.kernels[side])
      out_.times_as_often =
          side == 0 ? static_cast<double>(most->first) : 1 / static_cast<double>(-most->first);
  }

  void FindQuantising() {
    const double(&ms)[2] = out_.quantised_ms;
    const int side = ms[0] > ms[1] ? 0 : 1;
    if (ms[side] >= least_ms_ && ms[1 - side] <= kHardlyQuantises * ms[side] &&
        out_.quantised_calls[1 - side] <= kHardlyQuantises * out_.quantised_calls[side])
      out_.quantises = side;
  }

  std::vector<ChangedKernel> KernelsOf(const std::vector<const BalanceLine*>& lines) const {
    const auto of_lines = [&](WorkKind work) {
      return std::any_of(lines.begin(), lines.end(), [&](const BalanceLine* line) {
        return line->work == work || (line->folded && FoldsTogether(work));
      });
    };
    std::map<std::pair<std::string, WorkKind>, ChangedKernel> kernels;
    for (const ledger::DifferenceLine& kernel : balance_.ledger.kernels) {
      if (!of_lines(*kernel.work)) continue;
      ChangedKernel& sum = kernels[{NameOf(kernel), *kernel.work}];
      sum.name = NameOf(kernel);
      sum.work = *kernel.work;
      for (int i = 0; i < 2; ++i) {
        sum.ms[i] += MillisOf(kernel.ns[i]);
        sum.calls[i] += kernel.calls[i];
      }
    }
    std::vector<ChangedKernel> sorted;
    for (auto& [key, kernel] : kernels)
      sorted.push_back(std::move(kernel));
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::abs(a.difference_ms()) > std::abs(b.difference_ms());
    });
    return sorted;
  }

  static double NetOf(const std::vector<const BalanceLine*>& lines) {
    return std::accumulate(
        lines.begin(), lines.end(), 0.0,
        [](double sum, const BalanceLine* line) { return sum + line->difference_ms(); });
  }

  PairChange ChangeOf(std::vector<const BalanceLine*> lines) const {
    PairChange change;
    change.kernels = KernelsOf(lines);
    change.kind = KindOfMovement(MovementOf(change.kernels));
    change.ms = NetOf(lines);
    change.lines = std::move(lines);
    return change;
  }

  static bool HasGenerated(const PairChange& change) {
    double ms[2] = {0, 0};
    for (const ChangedKernel& kernel : change.kernels) {
      for (int i = 0; i < 2; ++i)
        ms[i] += IsGenerated(kernel.name) ? kernel.ms[i] : 0;
    }
    return std::abs(ms[0] - ms[1]) >= kBoth * std::abs(change.ms);
  }

  // Lines of GPU work, one change each at first; casts, layouts and copies are one line, as they
  // stand in for each other.
  std::vector<PairChange> OneByOne() const {
    std::vector<const BalanceLine*> moves;
    std::vector<PairChange> changes;
    for (const BalanceLine& line : balance_.lines) {
      const bool work = line.folded || (line.work && !ledger::IsCommunication(*line.work) &&
                                        *line.work != WorkKind::kHostCopy);
      if (!work) continue;
      if (line.work && ledger::ComputesNothing(*line.work)) {
        moves.push_back(&line);
      } else {
        changes.push_back(ChangeOf({&line}));
      }
    }
    if (!moves.empty()) changes.push_back(ChangeOf(std::move(moves)));
    return changes;
  }

  // Any of its lines, or kernels that offset each other, changed by something.
  bool Worth(const PairChange& change) const { return std::abs(change.ms) >= least_ms_; }

  void OfWork() {
    std::vector<PairChange> changes = OneByOne();
    const bool folded = std::any_of(changes.begin(), changes.end(), [](const PairChange& change) {
      return change.lines.front()->folded;
    });
    // What one side compiles, it compiles as a whole: products too, where their kernels are its.
    PairChange generated;
    PairChange precision;
    PairChange fewer;
    PairChange more;
    for (PairChange& change : changes) {
      if (folded && (change.lines.front()->folded || (Worth(change) && HasGenerated(change)))) {
        Merge(&change, &generated);
      } else if (!Worth(change)) {
        continue;
      } else if (precision_ && change.kind != ChangeKind::kSameCalls && Computes(change)) {
        Merge(&change, &precision);
      } else if (change.kind == ChangeKind::kFewerCalls) {
        Merge(&change, &fewer);
      } else if (change.kind == ChangeKind::kMoreCalls) {
        Merge(&change, &more);
      } else {
        out_.changes.push_back(std::move(change));
      }
    }
    generated.kind = ChangeKind::kGenerated;
    precision.kind = ChangeKind::kPrecision;
    fewer.kind = ChangeKind::kFewerCalls;
    more.kind = ChangeKind::kMoreCalls;
    for (PairChange* change : {&generated, &precision, &fewer, &more}) {
      const bool trades = std::any_of(change->lines.begin(), change->lines.end(), [&](auto* line) {
        return std::abs(line->difference_ms()) >= least_ms_;
      });
      if (!change->lines.empty() && (Worth(*change) || trades))
        out_.changes.push_back(std::move(*change));
    }
    NetHelpers();
  }

  // Of kernels whose time is their precision's.
  static bool Computes(const PairChange& change) {
    return std::any_of(change.lines.begin(), change.lines.end(), [](const BalanceLine* line) {
      return line->work == WorkKind::kProduct || line->work == WorkKind::kAttention ||
             line->work == WorkKind::kConvolution;
    });
  }

  static void Merge(PairChange* from, PairChange* into) {
    into->ms += from->ms;
    into->lines.insert(into->lines.end(), from->lines.begin(), from->lines.end());
    into->kernels.insert(into->kernels.end(), from->kernels.begin(), from->kernels.end());
    std::stable_sort(into->lines.begin(), into->lines.end(), [](const auto* a, const auto* b) {
      return std::abs(a->difference_ms()) > std::abs(b->difference_ms());
    });
    std::stable_sort(into->kernels.begin(), into->kernels.end(), [](const auto& a, const auto& b) {
      return std::abs(a.difference_ms()) > std::abs(b.difference_ms());
    });
  }

  // Products by other kernels that need casts or layouts of other numbers: one change, if the two
  // take from each other and the helpers' calls come with the products'.
  void NetHelpers() {
    const auto helps = [](const PairChange& change) {
      return std::all_of(change.lines.begin(), change.lines.end(), [](const BalanceLine* line) {
        return line->work && ledger::ComputesNothing(*line->work);
      });
    };
    const auto helper = std::find_if(out_.changes.begin(), out_.changes.end(), [&](const auto& of) {
      return helps(of) && of.kind != ChangeKind::kSameCalls;
    });
    if (helper == out_.changes.end()) return;
    const auto served = std::find_if(out_.changes.begin(), out_.changes.end(), [&](const auto& of) {
      return !helps(of) && of.kind == ChangeKind::kReplaced && (of.ms < 0) != (helper->ms < 0) &&
             Computes(of);
    });
    if (served == out_.changes.end() || !CallsGoTogether(*served, *helper)) return;
    PairChange own = std::move(*helper);
    served->helpers = own.lines;
    Merge(&own, &*served);
    out_.changes.erase(helper);
  }

  // New kernels of the one run about as often as those of the other.
  static bool CallsGoTogether(const PairChange& a, const PairChange& b) {
    const auto come = [](const PairChange& change) {
      double calls = 0;
      for (const ChangedKernel& kernel : change.kernels)
        calls += std::abs(kernel.calls[0] - kernel.calls[1]) / 2;
      return calls;
    };
    constexpr double kAbout = 3;  // a product has two operands and an output to prepare
    const double less = std::min(come(a), come(b));
    return less > 0 && std::max(come(a), come(b)) <= kAbout * less;
  }

  // Communication, idle time and copies: lines of one sort together.
  void OfTheRest() {
    std::map<ChangeKind, std::vector<const BalanceLine*>> sorts;
    for (const BalanceLine& line : balance_.lines) {
      if (line.idle) sorts[KindOfIdle(*line.idle)].push_back(&line);
      if (line.work && ledger::IsCommunication(*line.work))
        sorts[ChangeKind::kCommunication].push_back(&line);
      if (line.work == WorkKind::kHostCopy) sorts[ChangeKind::kHostCopies].push_back(&line);
    }
    for (auto& [kind, lines] : sorts) {
      PairChange change;
      change.kind = kind;
      change.ms = NetOf(lines);
      change.lines = std::move(lines);
      if (Worth(change)) out_.changes.push_back(std::move(change));
    }
    NetCommunication();
  }

  // What hides or shortens communication has a price in other work: the two are one change.
  void NetCommunication() {
    const auto of_kind = [&](ChangeKind kind) {
      return std::find_if(out_.changes.begin(), out_.changes.end(),
                          [&](const PairChange& change) { return change.kind == kind; });
    };
    const auto comm = of_kind(ChangeKind::kCommunication);
    const auto more = of_kind(ChangeKind::kMoreCalls);
    if (comm == out_.changes.end() || more == out_.changes.end() || comm->ms >= 0 ||
        more->ms <= 0 || !(out_.times_as_often >= 2 || ComeWithCasts(*more)))
      return;
    PairChange own = std::move(*more);
    comm->helpers = own.lines;
    Merge(&own, &*comm);
    out_.changes.erase(more);
  }

  // As many collectives, and new casts about as often as these: what is sent was made narrower.
  bool ComeWithCasts(const PairChange& more) const {
    double collectives = 0;
    for (const ExchangePart& part : balance_.exchanges) {
      if (!AsMany(part.calls[0], part.calls[1])) return false;
      collectives += part.calls[0];
    }
    double casts = 0;
    for (const ChangedKernel& kernel : more.kernels) {
      if (kernel.work == WorkKind::kCast) casts += kernel.calls[0] - kernel.calls[1];
    }
    return casts >= 1 && casts <= 2 * collectives;
  }

  const Balance& balance_;
  bool precision_;
  double least_ms_;
  PairChanges out_;
};

// "enumerate(DataLoader)" of "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__": what
// one mark stands for, whatever does it; empty: no such name.
std::string_view DoneBy(std::string_view name) {
  const std::size_t at = name.find('#');
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
}

// Those that one side calls much more often than the other; of a mark also who does it instead.
void KeepChanged(const Balance& balance, CallsByName* calls) {
  double all[2] = {0, 0};
  for (const auto& [name, call] : *calls) {
    for (int i = 0; i < 2; ++i)
      all[i] += call.calls[i];
  }
  const auto changed = [&](const ChangedCall& call) {
    const double more = std::max(call.calls[0], call.calls[1]);
    const double less = std::min(call.calls[0], call.calls[1]);
    const double ms = std::abs(call.host_ms[0] - call.host_ms[1]);
    return more >= kMuchMore * less && more >= 1 &&
           (more - less >= std::max(kFewCalls, kWorthCalls * std::max(all[0], all[1])) ||
            ms >= kWorthTime * balance.ms[1]);
  };
  std::set<std::string> marks;
  for (const auto& [name, call] : *calls) {
    if (changed(call) && !DoneBy(name).empty()) marks.insert(std::string(DoneBy(name)));
  }
  std::erase_if(*calls, [&](const auto& entry) {
    const ChangedCall& call = entry.second;
    const bool one_side = !(call.calls[0] > 0) || !(call.calls[1] > 0);
    return !changed(call) && !(one_side && marks.contains(std::string(DoneBy(entry.first))));
  });
}

// The most host time of their own first; those that mostly lie within others of them are parts of
// these.
std::vector<ChangedCall> Outermost(CallsByName calls,
                                   const std::map<std::string, double> (&outermost)[2]) {
  std::vector<ChangedCall> changed;
  for (auto& [name, call] : calls) {
    const int side = call.calls[0] > call.calls[1] ? 0 : 1;
    const auto found = outermost[side].find(name);
    if (found == outermost[side].end() || 2 * found->second < call.calls[side]) continue;
    call.name = name;
    changed.push_back(std::move(call));
  }
  std::stable_sort(changed.begin(), changed.end(), [](const ChangedCall& a, const ChangedCall& b) {
    return std::max(a.own_ms(0), a.own_ms(1)) > std::max(b.own_ms(0), b.own_ms(1));
  });
  if (changed.size() > kCallsMost) changed.resize(kCallsMost);
  return changed;
}

// "fp32" of "fp32 95 %, tf32 5 %".
std::string_view MainPrecision(const Analysis& analysis) {
  const std::string_view value = analysis.workload[WorkloadPart::kPrecision].value;
  return value.substr(0, value.find_first_of(" ,"));
}

}  // namespace

Result<PairChanges> FindChanges(const AnalysedSide& candidate, const AnalysedSide& baseline,
                                const SideWaits* const (&waits)[2], const Balance& balance,
                                const Job& job) {
  const AnalysedSide* sides[2] = {&candidate, &baseline};
  std::string precision[2];
  for (int i = 0; i < 2; ++i)
    precision[i] = MainPrecision(sides[i]->analysis);
  const bool narrower =
      !precision[0].empty() && !precision[1].empty() && precision[0] != precision[1];
  PairChanges changes = ChangeFinder(balance, narrower).Run();
  if (narrower) {
    for (int i = 0; i < 2; ++i)
      changes.precision[i] = precision[i];
  }
  CallsByName calls;
  for (int i = 0; i < 2; ++i)
    JV_TRY(CallCounter(*sides[i], *waits[i], balance.units[i], i).Count(&calls, job));
  for (const auto& [name, call] : calls) {
    for (int i = 0; i < 2; ++i)
      changes.ops[i] += call.calls[i];
  }
  KeepChanged(balance, &calls);
  std::map<std::string, double> outermost[2];
  for (int i = 0; i < 2; ++i)
    JV_TRY(CallCounter(*sides[i], *waits[i], balance.units[i], i)
               .CountOutermost(calls, &outermost[i], job));
  changes.calls = Outermost(std::move(calls), outermost);
  return changes;
}

}  // namespace jarvis::findings
