#include "findings/one/quality_analysis.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "findings/one/analysis.h"
#include "findings/one/quality_parts.h"
#include "findings/one/thresholds.h"
#include "perf/platform.h"
#include "session/device_units.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

class AnalysisQualities {
 public:
  AnalysisQualities(const session::LoadedTrace& trace, const Analysis& analysis,
                    std::vector<Quality>* list)
      : trace_(trace), in_(analysis), list_(*list) {}

  void Run() {
    Platform();
    OtherDevice();
    DeviceByUnits();
    if (trace_.recorded().gpu_work) {
      if (in_.totals.window_ms <= 0)
        Add("empty_window", Severity::kHard, "All GPU work takes no time.");
      if (trace_.recorded().shapes) Arguments();
    }
    Graphs();
    Accounting();
    Efficiency();
    Steps();
  }

 private:
  Quality& Add(const char* code, Severity severity, std::string text) {
    Quality& added = list_.emplace_back();
    added.code = code;
    added.severity = severity;
    added.text = std::move(text);
    return added;
  }
  Quality& Measured(const char* code, Severity severity, std::string text, double value,
                    double threshold, const char* unit) {
    Quality& added = Add(code, severity, std::move(text));
    added.value = value;
    added.threshold = threshold;
    added.unit = unit;
    return added;
  }

  void Platform() {
    if (!in_.platform.empty() || !trace_.recorded().gpu_work) return;
    Quality& q = Add("no_platform", Severity::kWarning,
                     in_.device.empty() ? "The trace does not name its GPU."
                                        : "The peak rates of the trace's GPU are unknown.");
    q.evidence = in_.device;
    q.consequence = "Efficiency and savings against the roofline are unknown.";
    q.record = "nothing new: pass `platform`, a GPU name (MI300X, H100, ...) or a JSON file";
  }

  void DeviceByUnits() {
    const auto units = session::UnitsMatchOf(trace_);
    const auto known = units ? units : session::ClassMatchOf(trace_);
    if (!known || in_.platform != known->platform->name) return;
    const auto& devices = trace_.trace().metadata.devices;
    const perf::Platform* named =
        devices.empty() ? nullptr : perf::MatchDevice(devices.front().name);
    if (named != nullptr && named->name == in_.platform) return;
    const std::string_view how = units ? "its kernels ran on as many compute units as {} has"
                                       : "its properties only show its kind: {}";
    Quality& q =
        Add(units ? "device_by_units" : "device_by_class", Severity::kNote,
            fmt::format("{}; {}.",
                        in_.device.empty() ? "The trace does not name its GPU"
                                           : "The name of the trace's GPU is of no one device",
                        fmt::format(fmt::runtime(how), known->family)));
    q.consequence = fmt::format("Efficiency and savings are relative to {}{}.", in_.platform,
                                in_.platform == known->family ? "" : ", the slowest of these");
    q.record = "nothing new: pass `platform`, a GPU name (MI300X, H100, ...) or a JSON file";
  }

  // The platform is another device than that of the trace, or all of a card of which the trace has
  // a part. A device of that name with less memory has the same rates.
  void OtherDevice() {
    constexpr double kLess = 0.7;  // of the platform's memory
    const perf::Platform* platform = perf::FindPlatform(in_.platform);
    const auto& devices = trace_.trace().metadata.devices;
    if (platform == nullptr || !platform->memory_gb || devices.empty()) return;
    const trace::Device& device = devices.front();
    if (!device.memory_bytes || device.name.find(in_.platform) != std::string::npos) return;
    const double gb = static_cast<double>(*device.memory_bytes) / 1e9;
    if (gb >= kLess * *platform->memory_gb) return;
    Quality& q = Add("other_device", Severity::kWarning,
                     fmt::format("The trace's GPU has {:.0f} GB of memory, {} has {} GB.", gb,
                                 in_.platform, ThreeDigits(*platform->memory_gb)));
    q.evidence = device.name;
    q.consequence =
        "It is another device or a part of one: its peak rates are lower, so efficiencies are too "
        "low.";
    q.record = "give the platform that the work ran on, or its own rates as a JSON file";
  }

  void Arguments() {
    bool strides = false;
    bool concrete = false;
    for (const CategoryAnalysis& category : in_.categories) {
      for (const Operation& operation : category.operations) {
        strides = strides || !operation.strides.empty();
        concrete = concrete || !operation.concrete.empty();
      }
    }
    if (!strides) {
      Add("no_strides", Severity::kNote, "No strides were recorded.").consequence =
          "Whether operands are contiguous is unknown.";
    }
    if (!concrete) {
      Add("no_concrete_inputs", Severity::kNote, "No scalar arguments were recorded.").consequence =
          "Models that depend on scalar arguments (causal, transposed, strides) take defaults.";
    }
  }

  // With a capture for all of them nothing but their launches is missing.
  void Replays(const IdleAnalysis& idle, bool unreliable) {
    const session::CaptureUse& use = trace_.capture();
    const bool all = use.replays > 0 && use.aligned == use.replays;
    Quality& q =
        Measured("gpu_graph_replay", unreliable && !all ? Severity::kWarning : Severity::kNote,
                 fmt::format("{}% of the kernel time is in graph replays{}.",
                             ShortNumber(idle.graph_percent), ReplayText(use)),
                 idle.graph_percent, limits::kGraphReplayWarn, "%");
    if (!use.files.empty()) q.evidence = use.files.front();
    if (all) {
      q.consequence = "Host times inside the replay and the causes of idle time are unknown.";
      if (use.rows) {
        q.consequence +=
            fmt::format(" Shapes are those of a graph captured for {} rows, of which {} are used.",
                        *use.captured_rows, *use.rows);
      }
      return;
    }
    q.consequence =
        "Ops, shapes, modules and code lines of replayed kernels and the causes of idle time are "
        "unknown; kernels are classified by name only.";
    q.record =
        "the graph capture, with shapes and stacks (in a folder \"capture\" beside the trace), or "
        "one run without graphs";
  }

  static std::string ReplayText(const session::CaptureUse& use) {
    if (use.aligned == 0) return ", whose ops are not in the trace";
    if (use.aligned == use.replays) {
      return fmt::format(
          "; their ops, shapes and modules come from the capture{}, whose launches agree with all "
          "{} "
          "kernels",
          Whence(use), use.kernels);
    }
    return fmt::format("; the capture{} agrees with {} of {} replays, and {} ms stay without ops",
                       Whence(use), use.aligned, use.replays,
                       ShortNumber((use.gpu_us - use.aligned_us) / 1000));
  }

  static std::string_view Whence(const session::CaptureUse& use) {
    return use.named.empty() ? " beside the trace" : " that was named";
  }

  void Graphs() {
    const IdleAnalysis& idle = in_.idle;
    const bool unreliable = idle.graph_percent >= limits::kGraphReplayUnreliable;
    if (idle.graph_percent >= limits::kGraphReplayWarn) {
      Replays(idle, unreliable);
    }
    if (idle.flagged && !unreliable) {
      Measured("high_idle", Severity::kWarning,
               fmt::format("The GPU is idle for {}% of the window.",
                           ShortNumber(idle.idle_percent.value_or(0))),
               idle.idle_percent.value_or(0), limits::kIdleShare, "%")
          .evidence = "idle_gaps.json";
    }
  }

  void Accounting() {
    const Totals& t = in_.totals;
    const double all = t.category_sum_ms;
    if (t.computation_ms > 0) {
      const double busy = t.busy_ms > 0 ? t.busy_ms : t.computation_ms;
      const double off = std::abs(all - busy) / busy * 100;
      if (off > limits::kTimeMismatch) {
        Measured("time_mismatch", Severity::kNote,
                 fmt::format("Categories add up to {} ms, the GPU was busy for {}: work runs "
                             "concurrently.",
                             ShortNumber(all), ShortNumber(busy)),
                 off, limits::kTimeMismatch, "%")
            .consequence = "Shares of categories are of their sum, not of the busy time.";
      }
    }
    const double unmodeled = all > 0 ? t.unmodeled_ms / all * 100 : 0;
    if (!in_.platform.empty() && unmodeled > limits::kTimeMismatch) {
      const bool shapes = trace_.recorded().shapes;
      Quality& q =
          Measured("roofline_pct_missing", Severity::kNote,
                   fmt::format("{} ms of GPU time have no {}, so their efficiency is unknown.",
                               ShortNumber(t.unmodeled_ms),
                               shapes ? "performance model" : "recorded shapes"),
                   unmodeled, limits::kTimeMismatch, "%");
      q.consequence = "Whether this time could be shorter is unknown.";
      q.record = shapes ? "give extension: models of your own ops" : trace::PlainWords(how_.shapes);
    }
    for (const CategoryAnalysis& category : in_.categories) {
      if (category.key != "other" || all <= 0) continue;
      const double percent = category.gpu_us / 10 / all;
      if (percent < limits::kSignificantShare) continue;
      Measured(
          "unclassified_op_significant", Severity::kNote,
          fmt::format("Ops of no known category take {} ms.", ShortNumber(category.gpu_us / 1000)),
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
    if (count == 0) return;
    Measured(
        "efficiency_anomaly", worst > limits::kImpossible ? Severity::kWarning : Severity::kNote,
        fmt::format("{} (marked ANOMALY): wrong platform, data served from cache, or a performance "
                    "model that counts too much work.",
                    count == 1 ? "1 row exceeds its roofline"
                               : fmt::format("{} rows exceed their roofline", count)),
        worst, limits::kAtRoof, "%")
        .consequence = "Do not use the efficiencies of these rows or savings derived from them.";
  }

  // How long each step takes. The marks of a host that runs ahead say when it waited: there it is
  // the GPU's period, from one end of a step's work to the next.
  std::vector<double> StepLengths() const {
    std::vector<double> out;
    const analysis::TimeFrames& frames = in_.frames->frames;
    if (frames.base.open_end) {  // from one mark to the next, while work is recorded
      for (std::size_t i = 0; i + 1 < frames.steps.size(); ++i) {
        if (frames.steps[i].gpu) out.push_back(static_cast<double>(frames.steps[i].host_ns()));
      }
      return out;
    }
    if (!frames.runs_ahead) {
      for (const analysis::Step& step : trace_.steps())
        out.push_back(static_cast<double>(step.end_ns - step.start_ns));
      return out;
    }
    std::optional<std::int64_t> before;
    for (const analysis::StepFrame& step : frames.steps) {
      if (step.gpu && before) out.push_back(static_cast<double>(step.gpu->end - *before));
      before = step.gpu ? std::optional(step.gpu->end) : std::nullopt;
    }
    return out;
  }

  void Steps() {
    const std::vector<double> steps = StepLengths();
    if (steps.size() < 2) return;
    const auto [shortest, longest] = std::minmax_element(steps.begin(), steps.end());
    const double sum = std::accumulate(steps.begin(), steps.end(), 0.0);
    double squares = 0;
    const double mean = sum / static_cast<double>(steps.size());
    for (const double ns : steps)
      squares += (ns - mean) * (ns - mean);
    const double variation = std::sqrt(squares / static_cast<double>(steps.size() - 1)) / mean;
    if (!(mean > 0) || variation <= limits::kStepVariation) return;
    Quality& q = Measured("runtime_instability", Severity::kNote,
                          fmt::format("Steps take {} to {} ms.", ShortNumber(*shortest / 1e6),
                                      ShortNumber(*longest / 1e6)),
                          variation, limits::kStepVariation, "");
    q.consequence = "The mean describes none of the steps.";
    q.record = "record steady steps: " + trace::PlainWords(how_.warm_steps);
  }

  const session::LoadedTrace& trace_;
  const trace::HowToRecord& how_ = trace::HowToRecordNext(trace_.trace().metadata);
  const Analysis& in_;
  std::vector<Quality>& list_;
};

}  // namespace

void AddAnalysisQualities(const session::LoadedTrace& trace, const Analysis& analysis,
                          std::vector<Quality>* list) {
  AnalysisQualities(trace, analysis, list).Run();
}

}  // namespace jarvis::findings
