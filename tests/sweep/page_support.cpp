#include "sweep/page_support.h"

#include <cmath>

#include <fmt/format.h>

namespace jarvis::sweep {
namespace {

// Numbers that look random and are the same on every machine.
class Numbers {
 public:
  double Next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 40) / static_cast<double>(1 << 24);
  }

 private:
  std::uint64_t state_ = 20251121;
};

PageVerdict VerdictFor(double change) {
  if (std::abs(change) < 1) return PageVerdict::kNoise;
  return change < 0 ? PageVerdict::kBetter : PageVerdict::kWorse;
}

void AddMetric(ComparisonPage* page, const char* name, const char* unit, double size) {
  Numbers numbers;
  PageMetric metric{name, unit, {}};
  for (const PlotConfig& config : page->sweeps.front().plots.configs) {
    PageMetric::Row row{fmt::format("{} threads, {}ch", config.at[0], config.at[1]), {}};
    for (std::size_t i = 0; i < page->sweeps.size(); ++i) {
      PageValue value;
      const double change = i == 0 ? 0 : (numbers.Next() - 0.6) * 8;
      value.mean = size * (1 + change / 100);
      value.worst = *value.mean * 1.02;
      if (i > 0) {
        value.change_pct = change;
        value.verdict = VerdictFor(change);
        value.why = fmt::format("95 % interval {:.1f} to {:.1f} %", change - 1, change + 1);
      }
      row.sweeps.push_back(value);
    }
    metric.rows.push_back(row);
  }
  metric.rows.back().sweeps.back() = {};
  page->metrics.push_back(metric);
}

PageKernel Kernel(const std::string& name, double change) {
  return {"aten::addmm",      "((2304), (25088,768), (768,2304))", name,   {},
          212.1435,           212.1435 * (1 + change / 100),       change, VerdictFor(change),
          "p 0.003, 32 ranks"};
}

}  // namespace

const char* const kHostile = "<script>alert(\"x\")</script><img src=http://evil.invalid/x>'&amp;";

std::string LongName() {
  std::string name = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_";
  while (name.size() < 400)
    name += "MI16x16x1_SN_LDSB1_AFC1_";
  return name;
}

SweepPlotData SamplePlotData(double slower) {
  Numbers numbers;
  SweepPlotData data;
  data.axes = {PlotAxisNamed("threads"), PlotAxisNamed("channels")};
  for (const int threads : {256, 512}) {
    for (const int channels : {28, 42, 56, 70}) {
      const double share = channels * (threads == 512 ? 1.35 : 1) / 304;
      PlotConfig config{{std::to_string(threads), std::to_string(channels)}, {}, {}, {}, {}, false};
      config.step_ms = (45 + numbers.Next() * 0.3) * slower;
      config.computation_ms = (42 + 2 * share) * slower;
      config.exposed_comm_ms = 0.9 - 1.8 * share * share * 4;
      config.gemm_slowdown_pct = 160 * share * slower;
      config.pareto = numbers.Next() > 0.5;
      const std::size_t index = data.configs.size();
      data.configs.push_back(config);
      for (std::int64_t rank = 0; rank < 8; ++rank) {
        for (int i = 0; i < 5; ++i) {
          const double spread = std::exp(numbers.Next() * 2.4) * 60 * share * slower;
          data.variance.push_back({index, rank, spread});
        }
        for (int i = 0; i < 12; ++i) {
          const double overlap = i % 3 == 0 ? 0 : numbers.Next();
          const double clear = 200 + 50 * (i % 4);
          data.gemms.push_back({index, static_cast<std::size_t>(i % 4),
                                clear * (1 + overlap * share * (1.3 + 0.6 * numbers.Next())),
                                overlap});
        }
      }
      for (const double mib : {24.0, 32.0, 256.0}) {
        data.bandwidth.push_back(
            {index, mib > 100 ? "_reduce_scatter_base" : "allreduce", mib * 1048576,
             310 * (1 - std::exp(-channels * std::sqrt(threads / 256.0) / 30)) * (1 - 2 / mib) /
                 slower});
      }
    }
  }
  data.step_of = "512 threads, 28ch";
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    PlotRankStep step{rank, {}, {}};
    double now = 0;
    for (int i = 0; i < 60; ++i) {
      const double length = 200 + 900 * numbers.Next();
      step.compute.push_back({now, now + length});
      if (i % 6 == 0) step.comm.push_back({now + length / 2, now + length * 2.5});
      now += length + 40;
    }
    data.step.push_back(step);
  }
  return data;
}

ComparisonPage SamplePage(std::size_t sweeps, bool hostile) {
  ComparisonPage page;
  static constexpr const char* kLabels[] = {"Base ROCm", "ROCm 7.0",    "ROCm 7.1 nightly",
                                            "RCCL 2.26", "NIC tuned",   "new driver",
                                            "graphs",    "no power cap"};
  for (std::size_t i = 0; i < sweeps; ++i) {
    PageSweep sweep;
    sweep.label = kLabels[i % 8];
    sweep.path = fmt::format("experiments/sweep_202511{:02}_155219", 21 + i);
    sweep.provenance = {{"Date", fmt::format("2025-11-{} 15:52", 21 + i)},
                        {"GPU", "AMD Instinct MI300X"},
                        {"ROCm", "6.4.1"},
                        {"Grid", "threads 256, 512; channels 28, 42, 56, 70"},
                        {"Traces", "64 of 64"}};
    sweep.best = {
        {"step time", "512 threads, 28ch", "44.663 ms", "0.8 % ahead of 512 threads, 56ch"},
        {"exposed communication", "512 threads, 70ch", "0.352 ms", ""},
        {"GEMM mean", "512 threads, 28ch", "212.1 us", "within noise of 256 threads, 28ch"}};
    sweep.pareto = {"512 threads, 28ch", "512 threads, 56ch"};
    sweep.plots = SamplePlotData(1 - 0.04 * static_cast<double>(i));
    if (i == 1) {
      sweep.complete = false;
      sweep.warnings = {
          {"256 threads, 28ch", "3",
           "256thread/nccl_28channels/torch_profiler/rank3/"
           "customer_trace_rank3_step12_epoch17_20251124_222204.pt.trace.json.gz",
           "TRACE_TRUNCATED", "the gzip stream ends in the middle: 12,304 events read"},
          {"512 threads, 70ch", "", "", "RANK_MISSING", "ranks 5, 6 have no trace"}};
    }
    page.sweeps.push_back(sweep);
  }
  if (hostile) {
    page.title = std::string("Comparison of ") + kHostile;
    page.sweeps.back().label = kHostile;
    page.sweeps.front().path = LongName();
    page.sweeps.front().provenance[1].second = LongName();
    page.sweeps.front().plots.axes.back().unit = kHostile;
    page.sweeps.front().plots.axes.back().mark = kHostile;
    page.sweeps.front().warnings.push_back({kHostile, kHostile, LongName(), kHostile, kHostile});
  }
  AddMetric(&page, "Step time", "ms", 45.052);
  AddMetric(&page, "Exposed communication", "ms", 0.91);
  AddMetric(&page, "GEMM mean", "us", 212.1);
  for (std::size_t i = 1; i < sweeps; ++i) {
    PageKernelChanges changes;
    changes.sweep = i;
    changes.matched = 71;
    for (int k = 0; k < 12; ++k)
      changes.regressed.kernels.push_back(Kernel(LongName() + std::to_string(k), 2.0 + k));
    changes.regressed.more = 3;
    changes.improved.kernels = {Kernel(hostile ? kHostile : "Cijk_Ailk_Bljk_MT64x64x64", -12.3)};
    changes.selection.kernels = {Kernel(LongName(), 0.4)};
    changes.selection.kernels[0].other_kernel = LongName() + "_MT128x128x64";
    page.kernels.push_back(changes);
  }
  for (const char* operation : {"allreduce", "_allgather_base", "_reduce_scatter_base"}) {
    PageCollective collective{hostile ? operation + std::string(kHostile) : operation,
                              "33554432 elements of BFloat16, 8 ranks",
                              {}};
    for (std::size_t i = 0; i < sweeps; ++i) {
      const double change = i == 0 ? 0 : -12.7;
      collective.sweeps.push_back({64, 412.3 * (1 + change / 100), 171.2 / (1 + change / 100),
                                   i == 0 ? std::nullopt : std::optional(change),
                                   i == 0 ? PageVerdict::kBaseline : PageVerdict::kBetter});
    }
    page.collectives.push_back(collective);
  }
  page.missing = {"ROCm 7.0: 512 threads, 70ch"};
  page.method = {"Times are means over ranks of one step each.",
                 "Noise: a change is coloured if the 95 % interval of its bootstrap (2,000 "
                 "resamplings of the ranks' values) does not hold 0 and it is at least 1 %."};
  return page;
}

SinglePage SampleSinglePage(std::size_t runs, bool hostile) {
  Numbers numbers;
  SinglePage page;
  for (std::size_t i = 0; i < runs; ++i) {
    SingleRun run{fmt::format("run_{}", i), fmt::format("experiments/run_{}", i), {}, {}};
    double size = 44;
    for (const char* type : {"busy_time", "computation_time", "exposed_comm_time", "idle_time",
                             "total_comm_time", "total_memcpy_time", "total_time"}) {
      SingleTime time{type, {}};
      for (std::int64_t rank = 0; rank < 8; ++rank)
        time.ms.emplace_back(rank,
                             size * (1 + (numbers.Next() - 0.6) * 0.1 * static_cast<double>(i)));
      size = size * 0.6 + 1;
      run.times.push_back(time);
    }
    for (const std::int64_t elements : {1, 12582912, 16777216, 33554432}) {
      const double us = 20 + static_cast<double>(elements) / 5e4 / static_cast<double>(i + 1);
      run.collectives.push_back({"allreduce", elements, us, 100 + 20.0 * static_cast<double>(i),
                                 170 + 40.0 * static_cast<double>(i), us * 24 / 1000});
    }
    run.collectives.push_back({"_reduce_scatter_base", 67108864, 900, 140, 172, 21});
    page.runs.push_back(run);
  }
  page.runs.back().times.front().ms.pop_back();  // a rank that has none
  if (hostile) {
    page.title = kHostile;
    page.runs.back().label = kHostile;
    page.runs.front().label = LongName();
    page.runs.back().times.front().type = kHostile;
    page.runs.back().collectives.front().operation = kHostile;
  }
  page.method = {"Times are means over ranks."};
  return page;
}

}  // namespace jarvis::sweep
