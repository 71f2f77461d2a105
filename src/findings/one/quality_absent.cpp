#include "findings/one/quality_absent.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "findings/one/analysis.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

constexpr std::size_t kPartsTold = 5;
// A flag or one number: what a program asks the GPU for on its way, and no result of a batch.
constexpr double kSingleValueBytes = 16;
// Whoever reads so many of them a step reads its results one by one. Loops over experts read how
// many rows each has, which is fewer.
constexpr double kValuesOfResult = 100;

class AbsentParts {
 public:
  AbsentParts(const session::LoadedTrace& trace, const Analysis& analysis,
              const std::vector<Quality>& list)
      : trace_(trace), in_(analysis), list_(list) {}

  // One or two sentences.
  std::string Run() {
    if (in_.totals.has_gpu_work) {
      InputsAndResults();
      SecondStep();
    }
    Optimizer();
    Backward();
    OtherRanks();
    if (in_.cpu) {
      parts_.emplace_back("how many threads and cores the ops used");
      records_.emplace_back("torch.get_num_threads() and the cores of a rank");
    } else {
      OtherSizes();
    }
    if (parts_.size() > kPartsTold) parts_.resize(kPartsTold);
    std::string text =
        parts_.empty() ? "" : fmt::format("Not recorded: {}.", fmt::join(parts_, "; "));
    if (!only_.empty())
      text += fmt::format("{}Only {} {} recorded.", text.empty() ? "" : " ", Enumerated(only_),
                          only_.size() == 1 ? "is" : "are");
    return text;
  }
  std::string Record() const { return fmt::format("{}", fmt::join(records_, "; ")); }

 private:
  bool Said(std::string_view code) const {
    return std::any_of(list_.begin(), list_.end(),
                       [&](const Quality& one) { return one.code == code; });
  }
  const std::string& Value(WorkloadPart part) const { return in_.workload[part].value; }
  bool MakesGradients() const {
    const std::string& phase = Value(WorkloadPart::kPhase);
    return phase.starts_with("training") || phase.starts_with("forward and backward");
  }

  // Absent: no copy that way.
  const CopyGroup* CopiesOf(CopyDirection direction) const {
    for (const CopyGroup& group : in_.multi_kernel.copies) {
      if (group.direction == direction && group.count > 0) return &group;
    }
    return nullptr;
  }

  void InputsAndResults() {
    const CopyGroup* results = CopiesOf(CopyDirection::kToHost);
    // A graph that is trained as a whole stays on the GPU: no step prepares any.
    const bool resident =
        Value(WorkloadPart::kFamily).find("graph neural network") != std::string::npos &&
        Value(WorkloadPart::kBatch).empty();
    const bool inputs = resident || CopiesOf(CopyDirection::kToDevice) != nullptr;
    // What a server reads back of one request is a single value, too.
    const double count = results == nullptr ? 0 : static_cast<double>(results->count);
    const bool single = results != nullptr && results->bytes && !in_.context.IsServer() &&
                        in_.base.Each(count) < kValuesOfResult &&
                        *results->bytes <= kSingleValueBytes * count;
    // Training reads back a loss at most.
    const bool back = MakesGradients() || (results != nullptr && !single);
    if (!inputs && !back) {
      parts_.push_back(fmt::format("input preparation and the read-back of results ({})",
                                   single
                                       ? "no host-to-device copies, and only scalars are read back"
                                       : "no copies between host and device"));
    } else if (!inputs) {
      parts_.emplace_back("input preparation (no host-to-device copies)");
    } else if (!back) {
      parts_.push_back(
          fmt::format("the read-back of results ({})",
                      single ? "only scalars are copied to the host" : "no device-to-host copies"));
    }
    if (!inputs || !back) whole_ = true;
  }

  void SecondStep() {
    const auto& steps = in_.frames->frames.steps;
    constexpr double kMuch = 10;  // percent of the base
    if (in_.base.count == 1 && steps.size() <= 1 && !Said("engine_step")) {
      const bool cold = in_.wall.known && in_.base.Percent(in_.wall.first_calls_ms) >= kMuch;
      if (cold) {
        parts_.emplace_back("a step without one-time initialization");
      } else {
        only_.push_back(steps.empty() ? "one pass" : "one step");
      }
      several_ = true;
    } else if (in_.base.count == 1 && steps.size() > 1 && !Said("engine_step")) {
      only_.push_back(fmt::format("one {} of this kind", in_.base.unit));
      several_ = true;
    }
    if (!whole_ && !several_) return;
    const char* unit = steps.empty() ? "passes" : "steps";
    std::string text = several_ ? fmt::format("at least three {} after warm-up", unit)
                                : fmt::format("the same {}", unit);
    if (whole_) text += " with input preparation and read-back";
    records_.push_back(std::move(text));
  }

  void Optimizer() {
    if (Value(WorkloadPart::kPhase).find("no optimizer") == std::string::npos) return;
    parts_.emplace_back("an optimizer (gradients are computed, weights are not updated)");
    records_.emplace_back("a step with its optimizer");
  }

  // Where communication takes a part of the step, a quality of its own says what it may be.
  // Nobody knows whether one follows.
  void Backward() {
    if (Value(WorkloadPart::kPhase) != kForwardWithAutograd) return;
    parts_.emplace_back(
        "a backward pass, although autograd is on (a training step that was cut short, or "
        "inference without `torch.inference_mode()`)");
    records_.emplace_back("whole training steps, or inference under `torch.inference_mode()`");
  }

  void OtherRanks() {
    const std::int64_t world = trace_.trace().metadata.world_size.value_or(0);
    const auto& part = trace_.rank_part();
    // What the file has is no lack of the recording.
    if (world <= 1 || (part && static_cast<std::int64_t>(part->ranks.size()) >= world)) return;
    const bool told = std::any_of(list_.begin(), list_.end(), [](const Quality& one) {
      return one.code == "one_rank" && one.percent.value_or(0) > 0;
    });
    if (told) return;
    const bool collectives =
        in_.multi_kernel.comm_count > 0 || (in_.cpu && !in_.cpu->collectives.empty());
    parts_.push_back(fmt::format("the other {} of {} ranks ({})", world - 1, world,
                                 collectives
                                     ? "waiting for a late rank and slow transfer look the same"
                                     : "they may wait for this one"));
    records_.emplace_back("the same steps of all ranks");
  }

  // Whether what is advised holds for the recorded sizes alone: a graph does, and a tuned kernel.
  bool AdvisesForSizes() const {
    constexpr Advice kForSizes[] = {Advice::kCompileGraphs,  Advice::kGpuGraphs,
                                    Advice::kGraphsVllm,     Advice::kGraphsSglang,
                                    Advice::kGraphsTensorrt, Advice::kTuneMissing};
    return std::any_of(in_.findings.begin(), in_.findings.end(), [&](const Finding& finding) {
      return std::any_of(finding.path_b.begin(), finding.path_b.end(), [&](const Remedy& remedy) {
        return std::find(std::begin(kForSizes), std::end(kForSizes), remedy.advice) !=
               std::end(kForSizes);
      });
    });
  }

  void OtherSizes() {
    const std::string& batch = Value(WorkloadPart::kBatch);
    if (batch.empty() || MakesGradients()) return;
    if (!in_.context.IsServer() && !AdvisesForSizes()) return;
    // Several are recorded.
    if (batch.find(" to ") != std::string::npos ||
        std::any_of(in_.findings.begin(), in_.findings.end(), PadsInputs))
      return;
    // Of a server's load all numbers count.
    const std::string one = in_.context.IsServer() ? batch : batch.substr(0, batch.find(','));
    only_.push_back(fmt::format("one size ({})", one));
    records_.emplace_back("the smallest and largest size of production");
  }

  const session::LoadedTrace& trace_;
  const Analysis& in_;
  const std::vector<Quality>& list_;
  std::vector<std::string> parts_, records_;
  std::vector<std::string> only_;  // what there is one of, so that nothing shows how others differ
  bool whole_ = false;             // inputs or results lie outside
  bool several_ = false;           // more steps are to be recorded
};

}  // namespace

void AddAbsentParts(const session::LoadedTrace& trace, const Analysis& analysis,
                    std::vector<Quality>* list) {
  if (!analysis.totals.has_gpu_work && !analysis.cpu) return;
  AbsentParts absent(trace, analysis, *list);
  std::string text = absent.Run();
  if (text.empty()) return;
  Quality& added = list->emplace_back();
  added.code = kNotRecorded;
  added.text = std::move(text);
  added.record = absent.Record();
}

}  // namespace jarvis::findings
