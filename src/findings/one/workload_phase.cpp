#include "findings/one/workload_phase.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/workload_batch.h"
#include "findings/one/workload_model.h"
#include "findings/one/workload_signs.h"
#include "perf/iteration_annotation.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

constexpr double kExecutionShown = 0.05;  // of GPU time
constexpr double kRepeatedAll = 0.4;      // of the time of computing
constexpr std::int64_t kDecodeRows = 256;

class PhaseTeller {
 public:
  PhaseTeller(const WorkloadFacts& facts, const WorkloadSizes& sizes, Workload* out)
      : facts_(facts), sizes_(sizes), out_(*out), passes_(ForwardPasses(facts)) {}

  void Run() {
    ReadIterations();
    Framework();
    Phase();
    if (iteration_) ServerBatch();
    TellBatch(facts_, sizes_, iteration_.has_value(), &out_);
    Execution();
    Steps();
  }

 private:
  const std::vector<NamedWork>& NamesOf(Source source) const {
    switch (source) {
      case Source::kFrame: return facts_.frames;
      case Source::kOp: return facts_.ops;
      case Source::kAnnotation: return facts_.annotations;
      case Source::kKernel: return facts_.kernels;
    }
    return facts_.ops;
  }
  NamedWork Ops(std::initializer_list<std::string_view> parts) const {
    return Containing(facts_.ops, parts);
  }
  NamedWork Notes(std::initializer_list<std::string_view> parts) const {
    return Containing(facts_.annotations, parts);
  }
  NamedWork Kernels(std::initializer_list<std::string_view> parts) const {
    return Containing(facts_.kernels, parts);
  }

  // Of an inference server. Two servers' annotations may stand around one step: those with the most
  // in them count.
  void ReadIterations() {
    std::map<std::string_view, std::map<std::string_view, std::uint64_t>> phases;  // by format
    for (const NamedWork& note : facts_.annotations) {
      const auto sums = perf::TellIteration(note.name);
      if (!sums) continue;
      phases[sums->format][perf::PhaseOf(*sums)] += note.count;
      if (sums->context_requests == 0) {
        const auto [fewest, first] = fewest_.try_emplace(sums->format, sums->generation_requests);
        fewest->second = std::min(fewest->second, sums->generation_requests);
      }
      const auto much = [](const perf::IterationSums& one) {
        return std::pair(one.g_sk + one.c_sk, one.batch_size);
      };
      if (iteration_ && much(*sums) <= much(*iteration_)) continue;
      iteration_ = sums;
      iteration_name_ = note.name;
    }
    if (iteration_) phases_ = phases[iteration_->format];
  }

  // Of steps that generate alone; 0: all run as many as the one that is told.
  std::int64_t FewestRequests() const {
    const auto fewest = fewest_.find(iteration_->format);
    const bool fewer = iteration_->context_requests == 0 && fewest != fewest_.end() &&
                       fewest->second < iteration_->generation_requests;
    return fewer ? fewest->second : 0;
  }

  void Framework() {
    std::string value, evidence;
    std::vector<std::string_view> found;
    if (recording() != nullptr && !recording()->framework.empty()) {
      value = recording()->framework;
      evidence = "names of its events";
    }
    for (const Sign& sign : kSigns) {
      if (std::find(found.begin(), found.end(), sign.framework) != found.end()) continue;
      // Servers use each other's kernels and files.
      const bool other_server = sign.framework == "vLLM" &&
                                (std::find(found.begin(), found.end(), "SGLang") != found.end());
      if (other_server) continue;
      const NamedWork work = Containing(NamesOf(sign.source), {sign.lower_part});
      if (work.count == 0) continue;
      found.push_back(sign.framework);
      value += (value.empty() ? "" : ", ") + std::string(sign.framework);
      if (found.size() <= 3)
        evidence += (evidence.empty() ? "" : "; ") + OneLine(Utf8Prefix(work.name, 60));
    }
    out_.Set(WorkloadPart::kFramework, std::move(value), Certainty::kRecorded, std::move(evidence));
  }

  // The optimizers that run, or empty.
  std::string Optimizer(std::string* evidence) const {
    if (recording() != nullptr && !recording()->optimizer_scope.empty() && Backward()) {
      *evidence = recording()->backward_scope;
      return recording()->optimizer_scope;
    }
    std::string names;
    const auto add = [&](std::string_view name, std::string_view why) {
      if (names.find(name) != std::string::npos) return;
      names += (names.empty() ? "" : ", ") + OneLine(name);
      *evidence += (evidence->empty() ? "" : "; ") + OneLine(Utf8Prefix(why, 60));
    };
    for (const NamedWork& note : facts_.annotations) {
      constexpr std::string_view kStep = "Optimizer.step#";
      if (!note.name.starts_with(kStep)) continue;
      const std::string_view rest = note.name.substr(kStep.size());
      add(rest.substr(0, rest.find('.')), note.name);
    }
    if (const NamedWork fused = Kernels({"rowwise_adagrad"}); fused.count > 0)
      add("rowwise Adagrad", "embedding backward with rowwise_adagrad");
    if (!names.empty()) return names;
    for (const auto& [part, name] :
         {std::pair{"_fused_adamw", "AdamW"}, std::pair{"_fused_adam", "Adam"},
          std::pair{"adagrad", "Adagrad"}, std::pair{"_fused_sgd", "SGD"}}) {
      const NamedWork op = Ops({part});
      if (op.count == 0) continue;
      *evidence = op.name;
      return name;
    }
    if (const NamedWork kernel = Kernels({"adamfunctor", "adamcapturable", "fusedadam"});
        kernel.count > 0) {
      *evidence = Utf8Prefix(kernel.name, 60);
      return "Adam";
    }
    for (const NamedWork& frame : facts_.frames) {
      if (!frame.name.starts_with("torch/optim/") || !frame.name.ends_with(": step")) continue;
      *evidence = frame.name;
      const std::string_view file = frame.name.substr(12);
      const std::string name(file.substr(0, file.find(".py")));
      if (name == "optimizer" || name == "lr_scheduler") continue;
      return UpperAscii(name);
    }
    if (const NamedWork note = Notes({"## optimizer"}); note.count > 0) {
      *evidence = note.name;
      return "optimizer";
    }
    return UnnamedOptimizer(evidence);
  }

  // Old profilers name no optimizer: in-place updates of all parameters after their gradients.
  std::string UnnamedOptimizer(std::string* evidence) const {
    const NamedWork accumulated = Ops({"accumulategrad"});
    const NamedWork scaled = Ops({"aten::mul_"});
    const NamedWork added = Ops({"aten::add_"});
    if (accumulated.count == 0 || added.count < 3 * accumulated.count ||
        scaled.count < accumulated.count) {
      return "";
    }
    *evidence = "in-place scaling and adding for every gradient, as SGD with momentum does";
    return "SGD";
  }

  // What a recorder of ops with scopes saw of a training step.
  const trace::Recording* recording() const {
    const auto& told = facts_.trace.trace().metadata.recording;
    return told ? &*told : nullptr;
  }

  bool Backward() const {
    return facts_.backward || (recording() != nullptr && !recording()->backward_scope.empty()) ||
           Ops({"autograd::engine::evaluate_function"}).count > 0 ||
           Ops({"_backward", "backward0", "backward1"}).count > 0 ||
           Notes({"## backward"}).count > 0 ||
           (!facts_.trace.recorded().cpu_ops &&
            Kernels({"_backward", "_bwd_", "dgrad", "wgrad", "_wrw_"}).count > 0);
  }

  // Parts of the forward pass run again in the backward pass.
  std::string Checkpoints() const {
    const NamedWork frames = Containing(facts_.frames, {"torch/utils/checkpoint.py"});
    return frames.count > 0 ? ", activation checkpointing" : "";
  }

  void Phase() {
    std::string evidence;
    const std::string optimizer = Optimizer(&evidence);
    if (!optimizer.empty()) {
      const bool named = optimizer != "optimizer";
      out_.Set(WorkloadPart::kPhase,
               (named ? "training with " + optimizer : std::string("training")) + Checkpoints(),
               Certainty::kRecorded, std::move(evidence));
      return;
    }
    if (Backward()) {
      const bool sees_host = facts_.trace.recorded().cpu_ops;
      // Many kernels update at once where an optimizer has them; one by one they have no name.
      const bool updates = !sees_host && Kernels({"multi_tensor_apply"}).count > 0;
      out_.Set(WorkloadPart::kPhase,
               updates     ? "training"
               : sees_host ? "forward and backward, no optimizer"
                           : "forward and backward, no optimizer kernels",
               sees_host ? Certainty::kRecorded : Certainty::kInferred, "backward ops or kernels");
      return;
    }
    if (iteration_) return ServerPhase();
    if (Notes({"execute_diffusion"}).count > 0 ||
        ContainsNoCase(out_[WorkloadPart::kFamily].value, "diffusion")) {
      if (sizes_.model_calls > 0) return Denoising();
      out_.Set(WorkloadPart::kPhase,
               passes_ > 1 ? fmt::format("image generation, {} denoising steps", passes_)
                           : std::string("denoising"),
               Certainty::kRecorded, fmt::format("the model runs {} times", passes_));
      return;
    }
    InferencePhase();
  }

  // Without a module nobody knows whether a step runs the model once, or once with its prompt and
  // once without.
  void Denoising() {
    out_.Set(WorkloadPart::kPhase,
             fmt::format("denoising, the model runs {}",
                         sizes_.model_calls == 1 ? std::string("once")
                                                 : fmt::format("{} times", sizes_.model_calls)),
             Certainty::kInferred, "calls of its first convolution, no backward ops");
  }

  void ServerPhase() {
    std::string text;
    for (const auto& [phase, steps] : phases_) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ",
                          phase == "mixed" ? "prefill and decode mixed" : phase);
      if (phases_.size() > 1)
        text += " (" + Counted(static_cast<std::int64_t>(steps), "step") + ")";
    }
    out_.Set(WorkloadPart::kPhase, std::move(text), Certainty::kRecorded,
             std::string(iteration_name_));
  }

  // Some libraries turn it on for a few ops of their own.
  bool AutogradIsOn() const {
    constexpr double kPart = 0.1;  // of all ops
    double ops = 0;
    for (const NamedWork& op : facts_.ops)
      ops += static_cast<double>(op.count);
    return ops > 0 && static_cast<double>(facts_.autograd_ops) >= kPart * ops;
  }

  // What no backward op was seen of.
  void ForwardOnly(std::string_view detail, std::string evidence) {
    if (AutogradIsOn()) {
      out_.Set(WorkloadPart::kPhase, std::string(kForwardWithAutograd), Certainty::kRecorded,
               fmt::format("{} ops with autograd's sequence numbers, no backward ops",
                           facts_.autograd_ops));
      return;
    }
    out_.Set(WorkloadPart::kPhase, fmt::format("forward only ({})", detail), Certainty::kInferred,
             std::move(evidence));
  }

  void InferencePhase() {
    const NamedWork loss = Ops({"nll_loss", "mse_loss", "cross_entropy", "crossentropy", "bce_"});
    if (loss.count > 0) {
      out_.Set(WorkloadPart::kPhase, "forward and loss only", Certainty::kRecorded,
               std::string(loss.name));
      return;
    }
    const AttentionSizes* attention = sizes_.Attention();
    const bool decoder =
        !sizes_.image && ContainsNoCase(out_[WorkloadPart::kFamily].value, "decoder");
    const NamedWork paged =
        Kernels({"paged_attention", "batchdecode", "splitkv", "mla_decode", "internode_ll::"});
    if (decoder && attention != nullptr && attention->queries == 1 && attention->keys != 1) {
      out_.Set(WorkloadPart::kPhase, "decode", Certainty::kInferred,
               fmt::format("attention of one query over {} keys", attention->keys));
    } else if (decoder && attention != nullptr && attention->queries > 1) {
      ForwardOnly("prefill",
                  fmt::format("attention over {} tokens, no backward ops", attention->queries));
    } else if (decoder && paged.count > 0 && sizes_.tokens.value_or(0) <= kDecodeRows) {
      out_.Set(WorkloadPart::kPhase, "decode", Certainty::kInferred,
               std::string(Utf8Prefix(paged.name, 60)));
    } else if (facts_.trace.recorded().cpu_ops && facts_.trace.recorded().gpu_work) {
      const std::string task = PipelineTask();
      if (task.empty()) return ForwardOnly("inference", "no backward ops, no optimizer");
      out_.Set(WorkloadPart::kPhase, fmt::format("inference in a {} pipeline", task),
               Certainty::kInferred, "no backward ops, no optimizer");
    }
  }

  // Of transformers: "transformers/pipelines/video_classification.py(129): preprocess".
  std::string PipelineTask() const {
    constexpr std::string_view kFolder = "transformers/pipelines/";
    for (const NamedWork& frame : facts_.frames) {
      const std::size_t at = frame.name.find(kFolder);
      if (at == std::string_view::npos) continue;
      const std::string_view file = frame.name.substr(at + kFolder.size());
      std::string task(file.substr(0, file.find(".py")));
      if (task == "base" || task == "pt_utils" || task == "__init__") continue;
      const bool shot = task.starts_with("zero_shot_");
      std::replace(task.begin(), task.end(), '_', ' ');
      return shot ? "zero-shot " + task.substr(std::string_view("zero_shot_").size()) : task;
    }
    return "";
  }

  static std::string Counted(std::int64_t n, std::string_view what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  }

  void ServerBatch() {
    const perf::IterationSums& sums = *iteration_;
    std::string text;
    if (sums.context_requests > 0) {
      text = Counted(sums.context_requests, "request");
      if (sums.c_sq > 0)
        text += sums.context_requests > 1 ? fmt::format(", {} tokens in all", sums.c_sq)
                                          : fmt::format(" of {} tokens", sums.c_sq);
    }
    if (sums.generation_requests > 0) {
      const std::int64_t fewest = FewestRequests();
      text += fmt::format("{}{}{}", text.empty() ? "" : " and ",
                          fewest > 0 ? fmt::format("{} to ", fewest) : "",
                          Counted(sums.generation_requests, "request"));
      if (sums.g_sk > 0)
        text += fmt::format(" over {}{} cached tokens", fewest > 0 ? "at most " : "", sums.g_sk);
    }
    out_.Set(WorkloadPart::kBatch, std::move(text), Certainty::kRecorded,
             std::string(iteration_name_));
  }

  // As the producer says, else by the calls.
  bool IsHip() const {
    if (facts_.trace.trace().metadata.amd) return true;
    const trace::EventStore& events = facts_.trace.events();
    for (trace::EventIndex e = 0; e < events.size(); ++e) {
      if (trace::IsLaunchCall(events[e].kind)) return events.name(e).starts_with("hip");
    }
    return false;
  }

  void Execution() {
    if (facts_.gpu_us <= 0) return;
    const std::string_view words =
        recording() == nullptr ? "" : levers::WordsFor(recording()->framework);
    const double graph = facts_.graph_us / facts_.gpu_us;
    // Not all compiled code stands below a call that says so: its kernels do.
    const double generated = std::max(facts_.compiled_us, facts_.triton_us);
    const double compiled = std::min(generated, facts_.gpu_us - facts_.graph_us) / facts_.gpu_us;
    const double eager = std::max(0.0, 1 - graph - compiled);
    std::string graphs = IsHip() ? "HIP graph replay" : "CUDA graph replay";
    if (facts_.replayed_triton_us > kExecutionShown * facts_.graph_us && facts_.graph_us > 0)
      graphs += " of compiled code";
    std::string text;
    for (const auto& [share, name] :
         {std::pair{graph, graphs}, std::pair{compiled, std::string("torch.compile")},
          std::pair{eager, std::string(words.empty() ? "eager" : "launched one by one")}}) {
      if (share < kExecutionShown) continue;
      text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
      if (share < 1 - kExecutionShown) text += fmt::format(" {:.0f}%", 100 * share);
    }
    // Inductor's kernels where next to nothing of the time is theirs.
    if (generated > 0 && compiled < kExecutionShown && eager >= kExecutionShown)
      text += ", some functions compiled";
    // Without launches or ops nobody can tell eager work from a replay.
    if (!facts_.trace.recorded().cpu_ops && graph < kExecutionShown) return;
    // Elsewhere ops are of a program that was compiled, or run by an executor of graphs.
    if (IsOneOf(words, {"JAX", "TensorFlow", "XLA"})) return;
    out_.Set(WorkloadPart::kExecution, std::move(text), Certainty::kRecorded,
             "share of GPU time by its launch");
  }

  void Steps() {
    const auto& steps = facts_.trace.steps();
    const auto made = session::FramesOf(facts_.trace, Job()).value();
    const analysis::TimeFrames& frames = made->frames;
    std::string text;
    if (!steps.empty()) {
      text = steps.size() == 1 ? fmt::format("step {}", steps.front().number)
                               : fmt::format("{} steps ({} to {})", steps.size(),
                                             steps.front().number, steps.back().number);
      text += RecordedPart(frames.steps);
    }
    if (text.empty() && !iteration_ && passes_ > 1 && MainModule(facts_) == nullptr)
      text =
          fmt::format("{} {}", passes_, facts_.main_replays == passes_ ? "graph replays" : "steps");
    if (iteration_) {
      text = fmt::format("{} engine step{}", passes_, passes_ == 1 ? "" : "s");
    } else if (MainModule(facts_) != nullptr && passes_ > std::max<std::size_t>(steps.size(), 1)) {
      text += fmt::format("{}{} forward passes{}", text.empty() ? "" : ", ", passes_,
                          PipelineTask().starts_with("zero-shot") ? ", one a candidate label" : "");
    }
    const RepeatedWork repeated = RepeatedKernels(facts_);
    // What is known to repeat from layer to layer is no work of its own.
    // Nor is what repeats within a step that is marked.
    const analysis::BaseOfTime& base = frames.base;
    const bool parts = base.part_of_pass || base.source != analysis::StepSource::kNone;
    if (passes_ == 1 && !parts && !out_[WorkloadPart::kLayers].known() && repeated.count >= 4 &&
        repeated.share >= kRepeatedAll) {
      text += fmt::format("{}its work repeated {} times", text.empty() ? "" : ", ", repeated.count);
      out_.repeats = repeated.count;
      out_.Set(WorkloadPart::kSteps, std::move(text), Certainty::kInferred,
               fmt::format("kernels with {:.0f}% of the compute time run {} times each",
                           100 * repeated.share, repeated.count));
      return;
    }
    const bool periodic = !iteration_ && base.source == analysis::StepSource::kKernelPeriod;
    const bool ranges = steps.empty() && base.source == analysis::StepSource::kAnnotation;
    out_.Set(WorkloadPart::kSteps, std::move(text),
             periodic ? Certainty::kInferred : Certainty::kRecorded,
             periodic     ? "kernels that recur in the same order"
             : iteration_ ? "annotations of the server"
             : ranges     ? "ranges of the program"
             : base.source == analysis::StepSource::kMarks && base.name != "ProfilerStep"
                 ? "marks of steps, or runs of the program"
                 : "ProfilerStep marks, module calls");
  }

  // Where the device's records stop before the marks do.
  static std::string RecordedPart(const std::vector<analysis::StepFrame>& steps) {
    const auto first =
        std::ranges::find_if(steps, [](const analysis::StepFrame& step) { return !step.gpu; });
    if (first == steps.begin() || first == steps.end() ||
        std::any_of(first, steps.end(), [](const auto& step) { return step.gpu.has_value(); })) {
      return {};
    }
    const auto count = first - steps.begin();
    return fmt::format(", GPU work of the first {}recorded",
                       count > 1 ? std::to_string(count) + " " : "");
  }

  const WorkloadFacts& facts_;
  const WorkloadSizes& sizes_;
  Workload& out_;
  std::uint64_t passes_ = 1;
  std::optional<perf::IterationSums> iteration_;
  std::string_view iteration_name_;
  std::map<std::string_view, std::uint64_t> phases_;  // steps by phase
  std::map<std::string_view, std::int64_t> fewest_;   // requests of steps that generate, by format
};

}  // namespace

void TellPhase(const WorkloadFacts& facts, const WorkloadSizes& sizes, Workload* out) {
  PhaseTeller(facts, sizes, out).Run();
}

}  // namespace jarvis::findings
