#include "findings/two/balance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/tables/ops_tables.h"
#include "findings/two/own_work.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

// A class is held against the devices if so much of its time has roofs.
constexpr double kCovered = 0.7;
// ... and if either side comes so near to them: what bytes bound is slowed by many small things,
// products and attention hardly by anything but the kernel.
constexpr double kNearBytes = 0.3;
constexpr double kNearFlops = 0.5;

struct PartKey {
  WorkClass work;
  std::string name;
  std::int64_t bytes;  // of a collective's call; 0: not known
  bool operator<(const PartKey& other) const {
    return std::tie(work, name, bytes) < std::tie(other.work, other.name, other.bytes);
  }
};

struct PartSum {
  double ms[2] = {0, 0};
  double calls[2] = {0, 0};
  std::vector<double> us[2];  // of collectives, one a call
  bool collective = false;
  std::optional<double> link_part;
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

class Balancer {
 public:
  Balancer(const AnalysedSide& primary, const AnalysedSide& comparison, const TraceComparison& ops,
           const CommonOrder& order)
      : sides_{&primary, &comparison}, ops_(ops), order_(order) {}

  Balance Run() {
    if (!sides_[0]->analysis.totals.has_gpu_work || !sides_[1]->analysis.totals.has_gpu_work)
      return out_;
    ChooseUnit();
    for (int i = 0; i < 2; ++i)
      Collect(i);
    MakeLines();
    for (const CompareRow& row : ops_.rows)
      AddRoofs(row);
    for (BalanceLine& line : out_.lines)
      FinishRoofs(&line);
    std::stable_sort(out_.lines.begin(), out_.lines.end(),
                     [](const BalanceLine& x, const BalanceLine& y) {
                       return std::abs(x.difference_ms()) > std::abs(y.difference_ms());
                     });
    return std::move(out_);
  }

 private:
  const StepBase& BaseOf(int side) const { return sides_[side]->analysis.base; }

  void ChooseUnit() {
    const auto source = [&](int side) { return sides_[side]->analysis.frames->frames.base.source; };
    double count[2] = {static_cast<double>(BaseOf(0).count), static_cast<double>(BaseOf(1).count)};
    bool alike = BaseOf(0).unit == BaseOf(1).unit && source(0) == source(1);
    out_.unit = alike ? BaseOf(0).unit : "recording";
    if (!alike && source(0) == source(1) && std::min(count[0], count[1]) == 1) {
      const double iterations = std::max(count[0], count[1]);
      alike = order_.ComeInMultiplesOf(static_cast<std::uint64_t>(iterations));
      count[0] = count[1] = iterations;
      out_.unit = alike ? "iteration" : BaseOf(0).count == 1 ? BaseOf(0).unit : BaseOf(1).unit;
    }
    for (int i = 0; i < 2; ++i) {
      out_.units[i] = alike ? count[i] : 1;
      out_.ms[i] = BaseOf(i).total_ms / out_.units[i];
    }
  }

  void Collect(int side) {
    const session::LoadedTrace& trace = sides_[side]->side.trace;
    const OwnWork own(trace, sides_[side]->analysis.frames->frames);
    for (const analysis::Launcher& launcher : trace.attribution().launchers) {
      if (!own.Has(launcher)) continue;
      const std::string op = analysis::LauncherName(trace.events(), trace.attribution(), launcher);
      for (const auto kernel : trace.attribution().KernelsOf(launcher))
        Add(side, trace, launcher, op, kernel);
    }
  }

  void Add(int side, const session::LoadedTrace& trace, const analysis::Launcher& launcher,
           const std::string& op, trace::EventIndex kernel) {
    const double us = static_cast<double>(trace.events()[kernel].dur_ns) / 1000;
    PartKey key{WorkClassOf(trace, launcher, kernel), op, 0};
    const std::string_view name = trace.events().strings[trace.events()[kernel].name];
    const auto family = analysis::CommFamilyOfKernel(name);
    if (family && analysis::IsCollectiveName(name)) {
      key.name = analysis::CommFamilyName(*family);
      key.bytes = std::llround(BytesOfCollective(trace, kernel));
    }
    PartSum& sum = sums_[key];
    sum.ms[side] += us / 1000 / out_.units[side];
    sum.calls[side] += 1 / out_.units[side];
    // What an op of its own prepares is no exchange.
    if (key.work == WorkClass::kCommunication && family) {
      sum.collective = true;
      sum.us[side].push_back(us);
      if (key.bytes > 0) sum.link_part = LinkPart(trace, *family, kernel);
    }
  }

  void MakeLines() {
    std::map<WorkClass, BalanceLine> classes;
    double work_ms[2] = {0, 0};
    for (auto& [key, sum] : sums_) {
      BalanceLine& line = classes[key.work];
      line.work = key.work;
      BalancePart part;
      part.name = key.name;
      part.collective = sum.collective;
      part.link_part = sum.link_part;
      if (key.bytes > 0) part.bytes = static_cast<double>(key.bytes);
      for (int i = 0; i < 2; ++i) {
        part.ms[i] = sum.ms[i];
        part.calls[i] = sum.calls[i];
        line.ms[i] += sum.ms[i];
        work_ms[i] += sum.ms[i];
        if (sum.us[i].empty()) continue;
        const auto [least, most] = std::minmax_element(sum.us[i].begin(), sum.us[i].end());
        part.shortest_us[i] = *least;
        part.longest_us[i] = *most;
        part.median_us[i] = MedianUs(std::move(sum.us[i]));
      }
      line.parts.push_back(std::move(part));
    }
    for (auto& [work, line] : classes) {
      std::stable_sort(line.parts.begin(), line.parts.end(),
                       [](const BalancePart& x, const BalancePart& y) {
                         return std::abs(x.difference_ms()) > std::abs(y.difference_ms());
                       });
      out_.lines.push_back(std::move(line));
    }
    AddOthers(work_ms);
  }

  // What of a step is no GPU work, and what work shares.
  void AddOthers(const double (&work_ms)[2]) {
    BalanceLine before, idle, after, overlap;
    before.kind = BalanceKind::kHostBefore;
    idle.kind = BalanceKind::kIdle;
    after.kind = BalanceKind::kHostAfter;
    overlap.kind = BalanceKind::kOverlap;
    for (int i = 0; i < 2; ++i) {
      const analysis::Balance& of = BaseOf(i).balance;
      const auto each = [&](std::int64_t ns) {
        return static_cast<double>(ns) / 1e6 / out_.units[i];
      };
      before.ms[i] = each(of.host_before_ns);
      idle.ms[i] = each(of.idle_ns());
      after.ms[i] = each(of.after_ns);
      out_.busy_ms[i] = each(of.busy_ns());
      out_.idle_ms[i] = idle.ms[i];
      out_.window_ms[i] = out_.busy_ms[i] + idle.ms[i];
      out_.exposed_comm_ms[i] = each(of.exposed_comm_ns);
      // Whatever is left of the step's time, so that the lines add up.
      overlap.ms[i] = out_.ms[i] - before.ms[i] - idle.ms[i] - after.ms[i] - work_ms[i];
    }
    for (BalanceLine* line : {&before, &idle, &after, &overlap}) {
      if (line->ms[0] != 0 || line->ms[1] != 0) out_.lines.push_back(std::move(*line));
    }
  }

  // Rows are sums of so many units, or of one.
  double Each(int side, double ms) const { return ms * ops_.parts[side] / out_.units[side]; }

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
    const session::LoadedTrace& trace = sides_[of]->side.trace;
    const auto first = of == 0 ? row.primary_launchers.front() : row.comparison_launchers.front();
    RoofSum& sum = roofs_[WorkClassOf(trace, trace.attribution().launchers[first])];
    const std::optional<double>* values[2][5] = {
        {&row.primary_roof_ms, &row.primary_ms, &row.primary_flops, &row.primary_bytes,
         &row.primary_arithmetic_ms},
        {&row.comparison_roof_ms, &row.comparison_ms, &row.comparison_flops, &row.comparison_bytes,
         &row.comparison_arithmetic_ms}};
    for (int i = 0; i < 2; ++i) {
      if (!*values[i][0] || !*values[i][1]) continue;
      sum.roof_ms[i] += Each(i, **values[i][0]);
      sum.ms[i] += Each(i, **values[i][1]);
      sum.flops[i] += Each(i, values[i][2]->value_or(0));
      sum.bytes[i] += Each(i, values[i][3]->value_or(0));
      sum.arithmetic_ms[i] += Each(i, values[i][4]->value_or(0));
      if (i == 0 && row.primary_bound == perf::Bound::kMemory)
        sum.memory_ms += Each(0, *row.primary_roof_ms);
    }
    if (row.primary_practical_ms) {
      sum.practical_ms += Each(0, *row.primary_practical_ms);
      sum.measured_ms += Each(0, *row.primary_ms);
    }
    if (!row.expected || row.arguments_differ || row.not_judged == NotJudged::kShort ||
        ops_.same_device)
      return;
    sum.expected_ms += Each(1, *row.expected * *row.comparison_ms);
    sum.held_ms += Each(1, *row.comparison_ms);
  }

  void FinishRoofs(BalanceLine* line) {
    if (line->kind != BalanceKind::kClass) return;
    const auto found = roofs_.find(line->work);
    if (found == roofs_.end()) return;
    const RoofSum& sum = found->second;
    for (int i = 0; i < 2; ++i) {
      if (!(sum.ms[i] > 0) || sum.ms[i] < kCovered * line->ms[i]) continue;
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
    if (sum.measured_ms >= kCovered * line->ms[0] && sum.measured_ms > 0)
      line->practical_ms = sum.practical_ms / sum.measured_ms * line->ms[0];
    if (!(sum.held_ms > 0) || sum.held_ms < kCovered * line->ms[1] || !line->roof_share[0] ||
        !line->roof_share[1])
      return;
    const double near = line->bound == perf::Bound::kMemory ? kNearBytes : kNearFlops;
    line->far_from_roofs = std::max(*line->roof_share[0], *line->roof_share[1]) < near;
    if (!line->far_from_roofs) line->expected_ms = sum.expected_ms / sum.held_ms * line->ms[1];
  }

  const AnalysedSide* sides_[2];
  const TraceComparison& ops_;
  const CommonOrder& order_;
  Balance out_;
  std::map<PartKey, PartSum> sums_;
  std::map<WorkClass, RoofSum> roofs_;
};

}  // namespace

bool BalanceLine::told_by_arithmetic() const {
  // Attention that reads a cache for a few rows does far less arithmetic a byte.
  constexpr double kManyRows = 0.25;
  if (!rate_share[0] || !rate_share[1]) return false;
  if (bound != perf::Bound::kMemory) return true;
  return work == WorkClass::kAttention && bandwidth_share[0] &&
         *rate_share[0] >= kManyRows * *bandwidth_share[0];
}

const BalanceLine* Balance::Find(WorkClass work) const {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const BalanceLine& line) {
    return line.kind == BalanceKind::kClass && line.work == work;
  });
  return found == lines.end() ? nullptr : &*found;
}

Balance BalanceOf(const AnalysedSide& primary, const AnalysedSide& comparison,
                  const TraceComparison& ops, const CommonOrder& order) {
  return Balancer(primary, comparison, ops, order).Run();
}

std::string_view LineText(const BalanceLine& line) {
  switch (line.kind) {
    case BalanceKind::kHostBefore: return "host before the first GPU work";
    case BalanceKind::kIdle: return "GPU idle";
    case BalanceKind::kHostAfter: return "host after the last GPU work";
    case BalanceKind::kOverlap: return "less what ran beside other work";
    case BalanceKind::kClass: return WorkClassText(line.work);
  }
  return {};
}

}  // namespace jarvis::findings
