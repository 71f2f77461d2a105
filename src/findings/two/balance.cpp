#include "findings/two/balance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/tables/summary.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

// A class is held against the devices if so much of its time has roofs.
constexpr double kCovered = 0.7;
// ... and if either side comes so near to them: what bytes bound is slowed by many small things,
// products and attention hardly by anything but the kernel.
constexpr double kNearBytes = 0.3;
constexpr double kNearFlops = 0.5;

// Its name, and the bytes of a call; 0: not known.
using ExchangeKey = std::pair<std::string, std::int64_t>;

struct ExchangeSum {
  ExchangePart part;
  std::vector<double> us[2];  // of collectives, one a call
};

double BytesOfCollective(const session::LoadedTrace& trace, trace::EventIndex kernel) {
  const analysis::CollectiveKeys keys = analysis::RecordedCollective(trace.events(), kernel);
  const analysis::CollectiveRules rules;
  constexpr double kUnit = 1024.0 * 1024;
  return kUnit * std::max(analysis::MegabytesOf(keys, analysis::kIn, rules).value_or(0),
                          analysis::MegabytesOf(keys, analysis::kOut, rules).value_or(0));
}

std::optional<double> LinkPart(const session::LoadedTrace& trace, analysis::CommFamily family,
                               trace::EventIndex kernel) {
  const auto ranks = analysis::RecordedNumber(
      analysis::RecordedCollective(trace.events(), kernel)[analysis::kGroupSize]);
  if (!ranks || !(*ranks > 1)) return std::nullopt;
  switch (family) {
    case analysis::CommFamily::kAllReduce: return 2 * (*ranks - 1) / *ranks;
    case analysis::CommFamily::kReduceScatter:
    case analysis::CommFamily::kAllGather:
    case analysis::CommFamily::kExchange: return (*ranks - 1) / *ranks;
    default: return std::nullopt;
  }
}

double MedianUs(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

constexpr double kNsPerMs = 1e6;

class Balancer {
 public:
  Balancer(const AnalysedSide& primary, const AnalysedSide& comparison, const TraceComparison& ops)
      : sides_{&primary, &comparison}, ops_(ops) {}

  Balance Run() {
    if (!sides_[0]->analysis.totals.has_gpu_work || !sides_[1]->analysis.totals.has_gpu_work)
      return out_;
    Subtract();
    for (int i = 0; i < 2; ++i)
      CollectExchanges(i);
    FinishExchanges();
    for (const CompareRow& row : ops_.rows)
      AddRoofs(row);
    for (BalanceLine& line : out_.lines)
      FinishRoofs(&line);
    if (IsFusedApart()) Fold();
    return std::move(out_);
  }

 private:
  const session::TraceFrames& FramesOf(int side) const { return *sides_[side]->analysis.frames; }
  ledger::LedgerSide LedgerOf(int side) const {
    return {sides_[side]->side.trace.events(), FramesOf(side).frames.base, FramesOf(side).books};
  }

  void Subtract() {
    out_.ledger = ledger::DifferenceOf(LedgerOf(0), LedgerOf(1));
    out_.unit = analysis::TimeUnitText(out_.ledger.unit[0]);
    out_.like_units = out_.ledger.unit[0] == out_.ledger.unit[1];
    for (int i = 0; i < 2; ++i) {
      out_.units[i] = static_cast<double>(out_.ledger.count[i]);
      out_.ms[i] = static_cast<double>(out_.ledger.unit_ns[i]) / kNsPerMs;
    }
    for (const ledger::DifferenceLine& of : out_.ledger.wall) {
      BalanceLine line;
      line.name = of.line;
      line.work = of.work;
      line.idle = of.idle;
      for (int i = 0; i < 2; ++i) {
        line.ms[i] = static_cast<double>(of.ns[i]) / kNsPerMs;
        line.gpu_ms[i] = static_cast<double>(of.gpu_ns[i]) / kNsPerMs;
        if (line.work) out_.busy_ms[i] += line.ms[i];
        if (line.idle) out_.idle_ms[i] += line.ms[i];
        if (line.work && ledger::IsCommunication(*line.work)) out_.exposed_comm_ms[i] += line.ms[i];
      }
      out_.lines.push_back(std::move(line));
    }
  }

  // A compiler's kernel does what several kinds of work did before it: where one side runs much
  // more of its work in such kernels, kinds on their own would only tell how they are named.
  bool IsFusedApart() const {
    constexpr double kApart = 0.1;  // of the work
    double share[2] = {0, 0};
    for (const ledger::DifferenceLine& kernel : out_.ledger.kernels) {
      if (!IsGenerated(kernel.line)) continue;
      for (int i = 0; i < 2; ++i)
        share[i] += static_cast<double>(kernel.ns[i]) / kNsPerMs;
    }
    for (int i = 0; i < 2; ++i)
      share[i] = out_.busy_ms[i] > 0 ? share[i] / out_.busy_ms[i] : 0;
    return std::abs(share[0] - share[1]) > kApart;
  }

  void Fold() {
    BalanceLine all;
    all.name = "GPU: fused, element-wise, norm and layout kernels";
    all.folded = true;
    const auto folds = [](const BalanceLine& line) {
      return line.work && FoldsTogether(*line.work);
    };
    if (std::count_if(out_.lines.begin(), out_.lines.end(), folds) < 2) return;
    for (const BalanceLine& line : out_.lines) {
      if (!folds(line)) continue;
      for (int i = 0; i < 2; ++i) {
        all.ms[i] += line.ms[i];
        all.gpu_ms[i] += line.gpu_ms[i];
      }
    }
    std::erase_if(out_.lines, folds);
    const auto place = std::find_if(out_.lines.begin(), out_.lines.end(), [&](const auto& line) {
      return std::abs(line.difference_ms()) < std::abs(all.difference_ms());
    });
    out_.lines.insert(place, std::move(all));
  }

  // As the ledger counts: what of it lies in the base.
  void CollectExchanges(int side) {
    const session::LoadedTrace& trace = sides_[side]->side.trace;
    const session::TraceFrames& frames = FramesOf(side);
    const analysis::TimeMeter in_base(frames.frames.base.base);
    for (const analysis::Launcher& launcher : trace.attribution().launchers) {
      for (const trace::EventIndex kernel : trace.attribution().KernelsOf(launcher)) {
        if (!ledger::IsCommunication(frames.kinds->Of(kernel).kind) ||
            frames.frames.base.head.IsForeign(kernel))
          continue;
        const trace::Event& event = trace.events()[kernel];
        const std::int64_t ns = in_base.In({event.ts_ns, event.end_ns()});
        if (ns > 0) AddExchange(side, trace, kernel, ns);
      }
    }
  }

  void AddExchange(int side, const session::LoadedTrace& trace, trace::EventIndex kernel,
                   std::int64_t ns) {
    const std::string_view name = trace.events().strings[trace.events()[kernel].name];
    const auto family = analysis::CommFamilyOfKernel(name);
    ExchangeKey key;
    if (family && analysis::IsCollectiveName(name)) {
      key.first = analysis::CommFamilyName(*family);
      key.second = std::llround(BytesOfCollective(trace, kernel));
    } else {
      key.first = analysis::ShortKernelName(name);
    }
    ExchangeSum& sum = exchanges_[key];
    sum.part.ms[side] += static_cast<double>(ns) / kNsPerMs / out_.units[side];
    sum.part.calls[side] += 1 / out_.units[side];
    // What an op's own kernels take is no call of a collective, nor is what prepares an exchange.
    if (!family) return;
    sum.part.collective = true;
    sum.us[side].push_back(static_cast<double>(ns) / 1000);
    if (key.second > 0) sum.part.link_part = LinkPart(trace, *family, kernel);
  }

  void FinishExchanges() {
    for (auto& [key, sum] : exchanges_) {
      ExchangePart& part = sum.part;
      part.name = key.first;
      if (key.second > 0) part.bytes = static_cast<double>(key.second);
      for (int i = 0; i < 2; ++i) {
        if (sum.us[i].empty()) continue;
        const auto [least, most] = std::minmax_element(sum.us[i].begin(), sum.us[i].end());
        part.shortest_us[i] = *least;
        part.longest_us[i] = *most;
        part.median_us[i] = MedianUs(std::move(sum.us[i]));
      }
      out_.exchanges.push_back(std::move(part));
    }
    std::stable_sort(out_.exchanges.begin(), out_.exchanges.end(),
                     [](const ExchangePart& x, const ExchangePart& y) {
                       return std::abs(x.difference_ms()) > std::abs(y.difference_ms());
                     });
  }

  struct RoofSum {
    double roof_ms[2] = {0, 0};  // of the work whose roof is known
    double ms[2] = {0, 0};       // its time
    double flops[2] = {0, 0};
    double bytes[2] = {0, 0};
    double arithmetic_ms[2] = {0, 0};
    double expected_ms = 0;
    double held_ms = 0;  // the comparison's time that expected_ms is of
    double practical_ms = 0;
    double measured_ms = 0;  // the primary's time that practical_ms is of
    double memory_ms = 0;    // roof of rows that memory bounds on the primary's device
  };

  void AddRoofs(const CompareRow& row) {
    if (row.primary_launchers.empty() && row.comparison_launchers.empty()) return;
    // Work that one side alone has is no measure for the other's.
    if (!row.primary_ms || !row.comparison_ms) return;
    const int of = row.primary_launchers.empty() ? 1 : 0;
    RoofSum& sum = roofs_[KindOfLaunchers(
        *sides_[of], of == 0 ? row.primary_launchers : row.comparison_launchers)];
    const std::optional<double>* values[2][5] = {
        {&row.primary_roof_ms, &row.primary_ms, &row.primary_flops, &row.primary_bytes,
         &row.primary_arithmetic_ms},
        {&row.comparison_roof_ms, &row.comparison_ms, &row.comparison_flops, &row.comparison_bytes,
         &row.comparison_arithmetic_ms}};
    for (int i = 0; i < 2; ++i) {
      if (!*values[i][0] || !*values[i][1]) continue;
      sum.roof_ms[i] += **values[i][0];
      sum.ms[i] += **values[i][1];
      sum.flops[i] += values[i][2]->value_or(0);
      sum.bytes[i] += values[i][3]->value_or(0);
      sum.arithmetic_ms[i] += values[i][4]->value_or(0);
      if (i == 0 && row.primary_bound == perf::Bound::kMemory)
        sum.memory_ms += *row.primary_roof_ms;
    }
    if (row.primary_practical_ms) {
      sum.practical_ms += *row.primary_practical_ms;
      sum.measured_ms += *row.primary_ms;
    }
    if (!row.expected || row.arguments_differ || row.not_judged == NotJudged::kShort ||
        ops_.same_device)
      return;
    sum.expected_ms += *row.expected * *row.comparison_ms;
    sum.held_ms += *row.comparison_ms;
  }

  void FinishRoofs(BalanceLine* line) {
    if (!line->work) return;
    const auto found = roofs_.find(*line->work);
    if (found == roofs_.end()) return;
    const RoofSum& sum = found->second;
    for (int i = 0; i < 2; ++i) {
      if (!(sum.ms[i] > 0) || sum.ms[i] < kCovered * line->gpu_ms[i]) continue;
      line->roof_share[i] = sum.roof_ms[i] / sum.ms[i];
      if (sum.flops[i] > 0) line->tflops[i] = sum.flops[i] / sum.ms[i] / 1e9;
      if (sum.bytes[i] > 0) line->tb_per_s[i] = sum.bytes[i] / sum.ms[i] / 1e9;
      if (sum.arithmetic_ms[i] > 0) line->rate_share[i] = sum.arithmetic_ms[i] / sum.ms[i];
      const std::optional<perf::Platform>& device = sides_[i]->side.platform;
      if (line->tb_per_s[i] && device && device->mem_bw_gbps.value_or(0) > 0)
        line->bandwidth_share[i] = *line->tb_per_s[i] * 1000 / *device->mem_bw_gbps;
    }
    if (sum.roof_ms[0] > 0) {
      line->bound =
          sum.memory_ms > sum.roof_ms[0] / 2 ? perf::Bound::kMemory : perf::Bound::kCompute;
    }
    if (sum.measured_ms >= kCovered * line->gpu_ms[0] && sum.measured_ms > 0)
      line->practical_ms = sum.practical_ms / sum.measured_ms * line->gpu_ms[0];
    if (!(sum.held_ms > 0) || sum.held_ms < kCovered * line->gpu_ms[1] || !line->roof_share[0] ||
        !line->roof_share[1])
      return;
    const double near = line->bound == perf::Bound::kMemory ? kNearBytes : kNearFlops;
    line->far_from_roofs = std::max(*line->roof_share[0], *line->roof_share[1]) < near;
    if (!line->far_from_roofs) line->expected_ms = sum.expected_ms / sum.held_ms * line->gpu_ms[1];
  }

  const AnalysedSide* sides_[2];
  const TraceComparison& ops_;
  Balance out_;
  std::map<ExchangeKey, ExchangeSum> exchanges_;
  std::map<ledger::WorkKind, RoofSum> roofs_;
};

}  // namespace

ledger::WorkKind KindOfLaunchers(const AnalysedSide& side,
                                 const std::vector<std::uint32_t>& launchers) {
  const analysis::Attribution& attribution = side.side.trace.attribution();
  std::vector<trace::EventIndex> kernels;
  for (const std::uint32_t i : launchers) {
    const auto of = attribution.KernelsOf(attribution.launchers[i]);
    kernels.insert(kernels.end(), of.begin(), of.end());
  }
  return side.analysis.frames->kinds->OfMost(kernels);
}

bool FoldsTogether(ledger::WorkKind work) {
  return ledger::IsPass(work) || work == ledger::WorkKind::kUnknown;
}

bool IsGenerated(std::string_view kernel) {
  return kernel.starts_with("triton_");
}

bool BalanceLine::told_by_arithmetic() const {
  // Attention that reads a cache for a few rows does far less arithmetic a byte.
  constexpr double kManyRows = 0.25;
  if (!rate_share[0] || !rate_share[1]) return false;
  if (bound != perf::Bound::kMemory) return true;
  return work == ledger::WorkKind::kAttention && bandwidth_share[0] &&
         *rate_share[0] >= kManyRows * *bandwidth_share[0];
}

const BalanceLine* Balance::Find(ledger::WorkKind work) const {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const BalanceLine& line) { return line.work == work; });
  return found == lines.end() ? nullptr : &*found;
}

std::optional<double> OneFactor(const Balance& balance) {
  constexpr double kSameCalls = 0.01;
  constexpr double kNearlyAllTime = 0.9;
  constexpr double kChanged = 0.05;   // the factor, from 1
  constexpr double kSpread = 0.1;     // of a kernel's factor about it
  constexpr double kMostAlike = 0.8;  // of the time
  double all[2] = {0, 0};
  double same[2] = {0, 0};
  std::vector<const ledger::DifferenceLine*> kernels;
  for (const ledger::DifferenceLine& kernel : balance.ledger.kernels) {
    const bool calls = std::abs(kernel.calls[0] - kernel.calls[1]) <= kSameCalls * kernel.calls[1];
    for (int i = 0; i < 2; ++i) {
      all[i] += static_cast<double>(kernel.ns[i]);
      if (calls) same[i] += static_cast<double>(kernel.ns[i]);
    }
    if (calls && kernel.ns[1] > 0) kernels.push_back(&kernel);
  }
  if (!(same[0] > 0) || !(same[1] > 0) || same[0] < kNearlyAllTime * all[0] ||
      same[1] < kNearlyAllTime * all[1])
    return std::nullopt;
  const double factor = same[0] / same[1];
  if (std::abs(factor - 1) < kChanged) return std::nullopt;
  double alike = 0;
  for (const ledger::DifferenceLine* kernel : kernels) {
    const double own = static_cast<double>(kernel->ns[0]) / static_cast<double>(kernel->ns[1]);
    if (std::abs(own / factor - 1) <= kSpread) alike += static_cast<double>(kernel->ns[1]);
  }
  return alike >= kMostAlike * same[1] ? std::optional(factor) : std::nullopt;
}

Balance BalanceOf(const AnalysedSide& primary, const AnalysedSide& comparison,
                  const TraceComparison& ops) {
  return Balancer(primary, comparison, ops).Run();
}

}  // namespace jarvis::findings
