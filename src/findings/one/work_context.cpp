#include "findings/one/work_context.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.h"
#include "findings/one/needs.h"
#include "findings/one/workload.h"
#include "levers/fixes.h"
#include "trace/recorded_setting.h"
#include "tree/call_tree.h"

namespace jarvis::findings {
namespace {

// Whether one of the frameworks of a list "vLLM, FlashInfer" is of that name.
bool Names(std::string_view list, std::string_view framework) {
  for (std::size_t at = list.find(framework); at != list.npos; at = list.find(framework, at + 1)) {
    const std::size_t end = at + framework.size();
    const bool begins = at == 0 || list[at - 1] == ' ';
    if (begins && (end == list.size() || list[end] == ',')) return true;
  }
  return false;
}

Engine EngineOf(std::string_view frameworks) {
  if (Names(frameworks, "vLLM")) return Engine::kVllm;
  if (Names(frameworks, "SGLang")) return Engine::kSglang;
  // Its kernels alone are used by other engines too.
  if (Names(frameworks, "TensorRT-LLM")) return Engine::kTensorRt;
  if (Names(frameworks, "xDiT") || Names(frameworks, "diffusers")) return Engine::kDiffusers;
  return Engine::kNoEngine;
}

// Of frames of Python in files of a folder `models`, as engines and transformers have them.
std::vector<std::string> ModelFilesOf(const trace::EventStore& events) {
  constexpr std::string_view kFolder = "/models/";
  std::set<std::string> files;
  for (StringId id = 0; id < events.strings.size(); ++id) {
    const std::string_view name = events.strings[id];
    const std::size_t end = name.find(".py(");
    if (end == name.npos || name.substr(0, end).find(kFolder) == name.npos) continue;
    const std::size_t begin = name.rfind('/', end) + 1;
    files.emplace(name.substr(begin, end + 3 - begin));
  }
  return {files.begin(), files.end()};
}

// "tensor parallel 8, ...": 8; 1 where experts are parallel themselves.
std::uint64_t TensorRanks(std::string_view parallelism) {
  constexpr std::string_view kTensor = "tensor parallel ";
  const std::size_t at = parallelism.find(kTensor);
  if (at == parallelism.npos || parallelism.find("expert") != parallelism.npos) return 1;
  std::uint64_t ranks = 0;
  for (std::size_t i = at + kTensor.size();
       i < parallelism.size() && parallelism[i] >= '0' && parallelism[i] <= '9'; ++i)
    ranks = 10 * ranks + static_cast<std::uint64_t>(parallelism[i] - '0');
  return std::max<std::uint64_t>(ranks, 1);
}

// "1 request of 888 tokens", "15 requests, 15360 tokens in all": the tokens; of requests that
// generate one token each: so many; 0 for both in one step.
std::uint64_t TokensOf(std::string_view batch) {
  if (batch.find(" and ") != batch.npos) return 0;
  const bool requests = batch.find(" request") != batch.npos;
  const std::size_t tokens = std::min(batch.find(" tokens in all"), batch.find(" tokens"));
  const bool cached = batch.find("cached tokens") != batch.npos;
  if (!requests) return 0;
  std::size_t end = cached || tokens == batch.npos ? batch.find(" request") : tokens;
  std::size_t begin = end;
  while (begin > 0 && batch[begin - 1] >= '0' && batch[begin - 1] <= '9')
    --begin;
  return static_cast<std::uint64_t>(ParseInt(batch.substr(begin, end - begin)).value_or(0));
}

// "16 x 559 tokens": the length; 0: none is told.
std::uint64_t LengthOf(std::string_view batch) {
  constexpr std::string_view kTimes = " x ";
  const std::size_t end = batch.find(" tokens");
  const std::size_t times = batch.rfind(kTimes, end);
  if (end == batch.npos || times == batch.npos) return 0;
  const std::size_t begin = times + kTimes.size();
  return static_cast<std::uint64_t>(ParseInt(batch.substr(begin, end - begin)).value_or(0));
}

// The distinct names of a trace's events, of which there are few.
class NamesSeen {
 public:
  explicit NamesSeen(const trace::EventStore& events) {
    // An op and its kernel may have one name.
    std::vector<bool> seen[2];
    for (std::vector<bool>& of_side : seen)
      of_side.resize(events.strings.size());
    for (trace::EventIndex e = 0; e < events.size(); ++e) {
      const bool host = tree::IsHost(events[e].kind);
      std::vector<bool>& of_side = seen[host ? 0 : 1];
      if (of_side[events[e].name]) continue;
      of_side[events[e].name] = true;
      (host ? host_ : device_).push_back(events.name(e));
    }
  }
  bool Host(std::string_view part) const { return Has(host_, part); }
  bool Device(std::string_view part) const { return Has(device_, part); }

 private:
  static bool Has(const std::vector<std::string_view>& names, std::string_view part) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return name.find(part) != std::string_view::npos;
    });
  }

  std::vector<std::string_view> host_, device_;
};

}  // namespace

// Profilers before PyTorch 2 wrote the iteration into each op's arguments; none does since.
bool IsBeforeTorch2(const trace::EventStore& events) {
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    if (events[e].kind != trace::EventKind::kCpuOp) continue;
    const StringId other = events.args_of(e).other;
    return other != kNoString &&
           events.text(other).find("\"Trace iteration\"") != std::string_view::npos;
  }
  return false;
}

namespace {

WorkContext::TunableOp TunableOpOf(const trace::Metadata& metadata) {
  if (trace::RecordedSetting(metadata, "PYTORCH_TUNABLEOP_ENABLED") != "1")
    return WorkContext::TunableOp::kUnknown;
  return trace::RecordedSetting(metadata, "PYTORCH_TUNABLEOP_TUNING") == "0"
             ? WorkContext::TunableOp::kReads
             : WorkContext::TunableOp::kTunes;  // PyTorch's default where it is on
}

}  // namespace

void AddSurroundings(const session::LoadedTrace& trace, const perf::Platform* platform,
                     const Workload& workload, WorkContext* context) {
  const std::string_view frameworks = workload[WorkloadPart::kFramework].value;
  const std::string_view family = workload[WorkloadPart::kFamily].value;
  context->engine = EngineOf(frameworks);
  context->switches = SwitchesOf(frameworks);
  // "Mask decoder" is none: what generates text is called so as a whole.
  context->causal = family.find("decoder-only") != family.npos ||
                    family.find("experts decoder") != family.npos ||
                    (family.starts_with("transformer") && family.find("not causal") == family.npos);
  context->bucketed = Names(frameworks, "DDP") || Names(frameworks, "FSDP");
  context->transformer_engine = Names(frameworks, "Transformer Engine");
  context->embeddings = Names(frameworks, "TorchRec");
  const std::string_view batch = workload[WorkloadPart::kBatch].value;
  if (context->IsServer()) context->step_tokens = TokensOf(batch);
  if (context->causal && !context->IsServer()) context->input_tokens = LengthOf(batch);
  context->generates = !context->IsServer() && workload[WorkloadPart::kPhase].value == "decode";
  context->may_train = workload[WorkloadPart::kPhase].value == kForwardWithAutograd;
  context->cut_experts = TensorRanks(workload[WorkloadPart::kParallelism].value);
  const trace::EventStore& events = trace.events();
  const NamesSeen names(events);
  context->autotuned =
      names.Device("triton_tem_") || names.Device("triton_mm") || names.Device("triton_bmm");
  context->replays = names.Host("GraphLaunch");
  context->pipelined_exchange = names.Host("sparse_data_dist ##");
  // "## encoder fp16 None ##" stands around what the codec does.
  context->coded_exchange = names.Host("## encoder ") && names.Host("## decoder ");
  context->own_loader = names.Host("_SingleProcessDataLoaderIter");
  context->worker_loader = names.Host("_MultiProcessingDataLoaderIter");
  context->pageable_input = names.Device("Pageable -> Device");
  context->before_torch2 = IsBeforeTorch2(events);
  if (const auto& told = trace.trace().metadata.recording)
    context->framework = levers::WordsFor(told->framework);
  context->how = &trace::HowToRecordNext(trace.trace().metadata);
  context->tunable_op = TunableOpOf(trace.trace().metadata);
  context->model_files = ModelFilesOf(events);
  context->architecture = NvidiaArchitecture(trace);
  context->amd = platform != nullptr && platform->vendor == "AMD";
  for (trace::EventIndex e = 0; platform == nullptr && e < events.size(); ++e) {
    if (!trace::IsLaunchCall(events[e].kind)) continue;
    context->amd = events.name(e).starts_with("hip");
    break;
  }
}

}  // namespace jarvis::findings
