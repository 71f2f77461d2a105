#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "findings/one/enum_text.h"
#include "findings/one/thresholds.h"
#include "findings/one/trace_quality_rules.h"

namespace jarvis::findings {
namespace {

class Judge {
 public:
  Judge(const session::LoadedTrace& trace, const Analysis& analysis, bool platform_known)
      : trace_(trace), in_(analysis), platform_known_(platform_known) {}

  std::vector<QualityCode> Run() {
    Damage();
    Recorded();
    Graphs();
    Accounting();
    Efficiency();
    Steps();
    Ranks();
    std::stable_sort(out_.begin(), out_.end(), [](const QualityCode& a, const QualityCode& b) {
      return a.severity < b.severity;
    });
    return std::move(out_);
  }

 private:
  QualityCode& Add(std::string code, Severity severity, std::string message) {
    out_.push_back({std::move(code), severity, {}, {}, {}, std::move(message), {}, {}, {}});
    return out_.back();
  }
  QualityCode& Measured(std::string code, Severity severity, std::string message, double value,
                        double threshold, std::string unit) {
    QualityCode& added = Add(std::move(code), severity, std::move(message));
    added.value = value;
    added.threshold = threshold;
    added.unit = std::move(unit);
    return added;
  }

  void Damage() {
    if (trace_.trace().damage.empty()) return;
    QualityCode& code = Add("TRUNCATED_TRACE", Severity::kHard,
                            "The file is damaged or cut off; what is before the damage counts.");
    code.record = "stop the profiler before the process ends, and copy the whole file";
    code.cannot = "anything about the time after the damage";
  }

  void Recorded() {
    const session::Recorded& r = trace_.recorded();
    if (!r.gpu_work) {
      QualityCode& code = Add("NO_GPU_KERNELS", Severity::kHard, "The trace has no GPU work.");
      code.record = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]";
      code.cannot = "anything about the GPU";
      return;
    }
    if (in_.totals.window_ms <= 0)
      Add("EMPTY_WINDOW", Severity::kHard, "All GPU work takes no time.");
    if (!r.cpu_ops) {
      QualityCode& code = Add("MISSING_CPU_OPS", Severity::kWarning, "No ops were recorded.");
      code.record = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]";
      code.cannot = "which op ran a kernel, efficiency, fusion";
    } else if (!r.shapes) {
      QualityCode& code =
          Add("MISSING_CPU_OP_SHAPES", Severity::kWarning, "Ops were recorded without shapes.");
      code.record = "record_shapes=True";
      code.cannot = "efficiency, savings against the roof, reproducers";
    } else {
      MissingArguments();
    }
    if (r.cpu_ops && !r.python_frames) {
      QualityCode& code =
          Add("MISSING_CALL_STACKS", Severity::kNote, "No Python frames were recorded.");
      code.record = "with_stack=True";
      code.cannot = "the line of code that calls an op";
    }
    if (r.cpu_ops && !r.modules) {
      QualityCode& code = Add("MISSING_MODULES", Severity::kNote, "No nn.Module frames.");
      code.record = "with_stack=True, with_modules=True";
      code.cannot = "the module that an op belongs to";
    }
    if (!platform_known_) {
      QualityCode& code = Add("NO_PLATFORM", Severity::kWarning,
                              in_.device.empty() ? "The trace does not name its GPU."
                                                 : "The figures of the trace's GPU are not known.");
      code.evidence = in_.device;
      code.record = "give platform: a name (MI300X, H100...) or a JSON file";
      code.cannot = "efficiency and savings against the roof";
    }
  }

  void MissingArguments() {
    bool strides = false;
    bool concrete = false;
    for (const CategoryAnalysis& category : in_.categories) {
      for (const Operation& operation : category.operations) {
        strides = strides || !operation.strides.empty();
        concrete = concrete || !operation.concrete.empty();
      }
    }
    if (!strides) {
      QualityCode& code = Add("MISSING_STRIDES", Severity::kNote, "No strides were recorded.");
      code.cannot = "whether operands are contiguous";
    }
    if (!concrete) {
      Add("MISSING_CONCRETE_INPUTS", Severity::kNote, "No scalar arguments were recorded.").cannot =
          "models that depend on scalar arguments";
    }
  }

  void Graphs() {
    const IdleAnalysis& idle = in_.idle;
    const bool unreliable = idle.graph_percent >= limits::kGraphReplayUnreliable;
    if (idle.graph_percent >= limits::kGraphReplayWarn) {
      QualityCode& code =
          Measured("GPU_GRAPH_REPLAY", unreliable ? Severity::kWarning : Severity::kNote,
                   "Kernels ran in graph replays; their ops are not in the trace.",
                   idle.graph_percent, limits::kGraphReplayWarn, "%");
      code.record = "record one run without graphs, or the capture, beside the replay";
      code.cannot = "the op, shapes and module of replayed kernels; idle time by cause";
    }
    if (idle.flagged && !unreliable) {
      Measured("HIGH_IDLE", Severity::kWarning, "The GPU is idle for much of the window.",
               idle.idle_percent.value_or(0), limits::kIdleShare, "%")
          .evidence = "idle_gaps.json";
    }
  }

  void Accounting() {
    const Totals& t = in_.totals;
    const double all = t.category_sum_ms;
    if (t.unlinked_count > 0) {
      const double percent = all > 0 ? t.unlinked_ms / all * 100 : 0;
      QualityCode& code = Measured(
          "UNLINKED_KERNELS",
          percent >= limits::kUnlinkedWarn ? Severity::kWarning : Severity::kNote,
          fmt::format("{} pieces of GPU work have no launch call in the trace.", t.unlinked_count),
          percent, limits::kUnlinkedWarn, "%");
      code.record = "start recording before the work is launched (warm-up steps)";
      code.cannot = "the op of this work";
    }
    if (t.computation_ms > 0) {
      const double busy = t.busy_ms > 0 ? t.busy_ms : t.computation_ms;
      const double off = std::abs(all - busy) / busy * 100;
      if (off > limits::kTimeMismatch) {
        Measured("TIME_MISMATCH", Severity::kNote,
                 "Categories add up to another time than the GPU was busy: work runs concurrently.",
                 off, limits::kTimeMismatch, "%");
      }
    }
    const double unmodeled = all > 0 ? t.unmodeled_ms / all * 100 : 0;
    if (platform_known_ && unmodeled > limits::kTimeMismatch) {
      QualityCode& code =
          Measured("ROOFLINE_PCT_MISSING", Severity::kNote,
                   "Part of the GPU time has no performance model, so no efficiency.", unmodeled,
                   limits::kTimeMismatch, "%");
      code.record = "give extension: models of your own ops";
    }
    for (const CategoryAnalysis& category : in_.categories) {
      if (category.key != "other" || all <= 0) continue;
      const double percent = category.gpu_us / 10 / all;
      if (percent < limits::kSignificantShare) continue;
      Measured("UNCLASSIFIED_OP_SIGNIFICANT", Severity::kNote, "Ops of no known category matter.",
               percent, limits::kSignificantShare, "%");
    }
  }

  void Efficiency() {
    double worst = 0;
    std::size_t count = 0;
    for (const CategoryAnalysis& category : in_.categories) {
      for (const Anomaly& anomaly : category.anomalies) {
        worst = std::max(worst, anomaly.efficiency);
        ++count;
      }
    }
    if (count > 0) {
      Measured(
          "EFFICIENCY_ANOMALY", worst > limits::kImpossible ? Severity::kWarning : Severity::kNote,
          fmt::format("{} rows are faster than their roof: wrong platform, data in cache, or a "
                      "model that counts too much.",
                      count),
          worst, limits::kAtRoof, "%");
    }
  }

  void Steps() {
    const auto& steps = trace_.steps();
    if (steps.size() < 2) return;
    double sum = 0;
    double squares = 0;
    for (const analysis::Step& step : steps)
      sum += static_cast<double>(step.end_ns - step.start_ns);
    const double mean = sum / static_cast<double>(steps.size());
    for (const analysis::Step& step : steps) {
      const double off = static_cast<double>(step.end_ns - step.start_ns) - mean;
      squares += off * off;
    }
    const double variation = std::sqrt(squares / static_cast<double>(steps.size() - 1)) / mean;
    if (mean > 0 && variation > limits::kStepVariation) {
      Measured("RUNTIME_INSTABILITY", Severity::kNote, "Steps differ widely in length.", variation,
               limits::kStepVariation, "")
          .record = "record steady steps: schedule(wait, warmup, active)";
    }
  }

  void Ranks() {
    std::set<std::string_view> devices;
    for (const trace::EventIndex e : trace_.attribution().timeline)
      devices.insert(trace_.events().tracks[trace_.events()[e].track].pid);
    if (devices.size() > 1) {
      QualityCode& code = Measured(
          "MULTI_DEVICE", Severity::kWarning,
          "GPU work of several devices or ranks is in one file; busy time is of all together.",
          static_cast<double>(devices.size()), 1, "");
      code.record = "analyse each rank's trace by itself";
      code.cannot = "idle time of one device";
    }
    const auto world = trace_.trace().metadata.world_size;
    if (world && *world > 1 && in_.multi_kernel.comm_count > 0) {
      Add("ONE_RANK", Severity::kNote, "One rank of several.").cannot =
          "whether a collective waits for a slower rank";
    }
  }

  const session::LoadedTrace& trace_;
  const Analysis& in_;
  const bool platform_known_;
  std::vector<QualityCode> out_;
};

}  // namespace

std::string_view SeverityText(Severity severity) {
  return EnumText({"hard", "warning", "note"}, severity);
}

std::vector<QualityCode> JudgeQuality(const session::LoadedTrace& trace, const Analysis& analysis,
                                      bool platform_known) {
  return Judge(trace, analysis, platform_known).Run();
}

}  // namespace jarvis::findings
