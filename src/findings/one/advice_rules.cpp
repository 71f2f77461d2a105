#include "findings/one/advice_rules.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "findings/one/estimates.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

void AddOnce(std::vector<Remedy>* path, Advice advice, const PatternHit* hit = nullptr) {
  for (const Remedy& remedy : *path) {
    if (remedy.advice == advice) return;
  }
  Remedy remedy{advice, {}, {}};
  if (hit != nullptr) remedy.facts = hit->facts;
  path->push_back(std::move(remedy));
}

// Whether one of the names contains one of the parts, which are in lower case.
bool AnyName(const std::vector<std::string>& names, std::initializer_list<std::string_view> parts) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return ContainsNoCase(name, part); });
  });
}

class Advisor {
 public:
  Advisor(Kind kind, std::string_view category, const WorkContext& context,
          const perf::Platform* platform, Finding* finding)
      : kind_(kind), category_(category), context_(context), platform_(platform), f_(*finding) {}

  void Run() {
    switch (kind_) {
      case Kind::kGemm: Gemm(); break;
      case Kind::kElementwise: Elementwise(); break;
      case Kind::kSdpa: Attention(); break;
      case Kind::kReduce: Reduce(); break;
      case Kind::kNorm: Norm(); break;
      case Kind::kConvolution: Convolution(); break;
      case Kind::kMoe:
        if (Memory() && !context_.training) A(Advice::kLargerBatch);
        break;
      case Kind::kTriton: Generated(); break;
      case Kind::kCommunication: A(Advice::kOverlapCommunication); break;
      case Kind::kOther: Other(); break;
    }
    Kernel();
  }

 private:
  const PatternHit* Find(Pattern pattern) const {
    const auto hit = std::find_if(f_.patterns.begin(), f_.patterns.end(),
                                  [&](const PatternHit& one) { return one.pattern == pattern; });
    return hit == f_.patterns.end() ? nullptr : &*hit;
  }
  bool Has(Pattern pattern) const { return Find(pattern) != nullptr; }
  bool Memory() const { return f_.bound == Bound::kMemory; }
  bool Subject(std::string_view part) const { return f_.subject.find(part) != std::string::npos; }

  void A(Advice advice, const PatternHit* hit = nullptr) { AddOnce(&f_.path_a, advice, hit); }
  void B(Advice advice, const PatternHit* hit = nullptr) { AddOnce(&f_.path_b, advice, hit); }

  // What is compiled is fused already, and an old PyTorch cannot.
  void Compile() {
    if (context_.CanCompile()) {
      B(Advice::kCompile);
    } else if (context_.before_torch2) {
      B(Advice::kUpgradeTorch);
    }
  }
  void TuneGemm() {
    const bool by_library = context_.amd && context_.replays;
    // Where the compiler has timed its own kernels and took the library's, more tiles of its own
    // change nothing.
    if (context_.compiled && context_.autotuned && f_.library == "Triton") B(Advice::kSearchTiles);
    if (context_.compiled && !context_.autotuned && !by_library) B(Advice::kMaxAutotune);
    if (!context_.amd || context_.before_torch2) return;
    if (context_.tunable_op == WorkContext::TunableOp::kReads) B(Advice::kTuneMissing);
    if (context_.tunable_op == WorkContext::TunableOp::kUnknown) B(Advice::kTuneHipblaslt);
  }

  void Gemm() {
    if (Has(Pattern::kTinyBatchedGemm)) {
      if (!Subject("bmm")) A(Advice::kBatchGemms, Find(Pattern::kTinyBatchedGemm));
      Compile();
    }
    if (Has(Pattern::kMisaligned)) A(Advice::kPadDimensions, Find(Pattern::kMisaligned));
    if (Has(Pattern::kFewTiles)) B(Advice::kSplitK, Find(Pattern::kFewTiles));
    if (Has(Pattern::kDecodeGemm)) A(Advice::kLargerBatch, Find(Pattern::kDecodeGemm));
    if (Has(Pattern::kTransposedOperandCopy))
      A(Advice::kPreTransposeWeight, Find(Pattern::kTransposedOperandCopy));
    // Weights alone are stored in fewer bits, and where they are most of what is read.
    if (Has(Pattern::kDecodeGemm) && !context_.training && !Has(Pattern::kQuantisedGemm))
      A(Advice::kQuantise);
    TuneGemm();
  }

  void Elementwise() {
    // A copy of a strided tensor is what makes it contiguous.
    const bool copy = f_.subject == "aten::copy_" || f_.subject == "aten::contiguous";
    if (Has(Pattern::kStridedOperand) && !copy)
      A(Advice::kContiguousInputs, Find(Pattern::kStridedOperand));
    Compile();
    if (copy && Has(Pattern::kDtypeCast) && f_.path_b.empty())
      A(Advice::kAvoidCasts, Find(Pattern::kDtypeCast));
  }

  void Attention() {
    // What a library's attention kernel does is fused already.
    const bool parts = !Subject("flash") && !Subject("efficient") && !Subject("cudnn") &&
                       !Has(Pattern::kPagedAttention) &&
                       (f_.library.empty() || f_.library == "PyTorch Native");
    if (parts) A(Advice::kFlashAttention);
    if (Has(Pattern::kPrefillHeavy) && context_.engine != Engine::kNoEngine)
      A(Advice::kChunkedPrefill, Find(Pattern::kPrefillHeavy));
    if (Has(Pattern::kDecodeHeavy)) A(Advice::kLargerBatch, Find(Pattern::kDecodeHeavy));
    if (f_.library == "AOTriton") B(Advice::kAttentionCk);
    // FlashAttention-2 was made for the units of compute capability 8.
    const bool newer = platform_ != nullptr &&
                       perf::PeakFor(*platform_, "matrix_fp8").has_value() &&
                       platform_->vendor == "NVIDIA";
    if (newer && f_.library == "FlashAttention") B(Advice::kAttentionCudnn);
  }

  void Reduce() {
    if (Has(Pattern::kSoftmaxOfAttention))
      A(Advice::kFlashAttention, Find(Pattern::kSoftmaxOfAttention));
    Compile();
  }

  void Norm() {
    if (Has(Pattern::kBatchNorm)) {
      A(Advice::kChannelsLast, Find(Pattern::kBatchNorm));
      Compile();
      return;
    }
    if (Has(Pattern::kStridedOperand)) A(Advice::kContiguousInputs, Find(Pattern::kStridedOperand));
    // One kernel of a library or of ATen is a fused normalisation.
    Compile();
  }

  void Convolution() {
    if (const PatternHit* hit = Find(Pattern::kLayoutTransposes)) {
      A(Advice::kChannelsLast, hit);
      for (const Fact& fact : hit->facts) {
        const double* ms = std::get_if<double>(&fact.value);
        if (fact.key == "transpose_ms" && ms != nullptr)
          f_.path_a.back().savings_ms = SavingsOf(std::min(*ms, f_.exclusive_ms));
      }
    }
    if (Has(Pattern::kTransposedConvolution)) A(Advice::kProductAndShuffle);
  }

  // Inductor fused all that it could: what is left is a product before it.
  void Generated() {
    const bool reduction = Subject("triton_red_") || Subject("triton_per_");
    const bool named = !Subject("triton_ ") && f_.subject != "triton_";
    const bool product = Subject("triton_tem_") && !Subject("convolution") && !Subject("attention");
    if (product && context_.autotuned) B(Advice::kSearchTiles);
    if (!reduction && named && !context_.autotuned) B(Advice::kFuseIntoProduct);
  }

  void Other() {
    if (Subject("index_put") || Subject("scatter")) A(Advice::kGatherInstead);
    if (f_.subject == "aten::cat" || f_.subject == "aten::stack") A(Advice::kPreallocate);
    if (category_ != "multi_tensor_apply" && Has(Pattern::kManySmallCalls)) Compile();
  }

  // What holds for every kernel: a reproducer is for whoever writes it, so neither for what a
  // compiler generates nor for simple ops.
  void Kernel() {
    const bool generated = kind_ == Kind::kTriton || kind_ == Kind::kElementwise ||
                           kind_ == Kind::kReduce || f_.library == "PyTorch Native" ||
                           f_.library == "Triton" || f_.library == "CUB";
    const bool unknown = Has(Pattern::kUnlinked) || Has(Pattern::kGraphLaunch) || !f_.efficiency ||
                         *f_.efficiency >= limits::kGood;
    f_.replay_recommended = f_.replay_recommended && !generated;
    if (unknown || generated) return;
    if (!HasAction(f_.path_b)) B(Advice::kReplay);
    if (f_.replay_recommended) B(Advice::kProfileCounters);
  }

  const Kind kind_;
  const std::string_view category_;
  const WorkContext& context_;
  const perf::Platform* platform_;
  Finding& f_;
};

Advice GraphsOf(Engine engine) {
  switch (engine) {
    case Engine::kVllm: return Advice::kGraphsVllm;
    case Engine::kSglang: return Advice::kGraphsSglang;
    case Engine::kTensorRt: return Advice::kGraphsTensorrt;
    case Engine::kDiffusers: return Advice::kCompileParts;
    case Engine::kNoEngine: break;
  }
  return Advice::kGpuGraphs;
}

}  // namespace

void AddAdvice(Kind kind, std::string_view category, const WorkContext& context,
               const perf::Platform* platform, Finding* finding) {
  Advisor(kind, category, context, platform, finding).Run();
}

std::vector<Remedy> WaysToLaunchFaster(const WorkContext& context, bool waits,
                                       bool optimizer_told) {
  std::vector<Remedy> ways;
  const Advice graphs = GraphsOf(context.engine);
  if (context.IsServer()) {
    Remedy remedy{graphs, {}, {}};
    if (context.step_tokens > 0) {
      remedy.facts.push_back({"tokens", static_cast<std::int64_t>(context.step_tokens), {}});
    }
    return {std::move(remedy)};
  }
  if (context.optimizer && !context.foreach_optimizer && !optimizer_told)
    AddOnce(&ways, context.before_torch2 ? Advice::kLegacyOptimizer : Advice::kFusedOptimizer);
  if (context.before_torch2) {
    if (ways.empty()) AddOnce(&ways, Advice::kUpgradeTorch);
    return ways;
  }
  if (graphs == Advice::kCompileParts) {
    AddOnce(&ways, context.compiled ? Advice::kCompileRest : graphs);
    return ways;
  }
  if (waits) {
    AddOnce(&ways, Advice::kGraphParts);
    return ways;
  }
  AddOnce(&ways, context.compiled ? graphs : Advice::kCompileGraphs);
  return ways;
}

namespace {

// A setting where the engine has one; else the code that serves has to do it.
void AddExchangeAdvice(const WorkContext& context, Advice advice, Ways* ways) {
  const EngineSwitches* const engine = context.switches;
  if (engine == nullptr) return AddOnce(&ways->a, advice);
  if (std::ranges::any_of(ways->b, [&](const Remedy& one) { return one.advice == advice; })) return;
  const bool balances = advice == Advice::kBalanceExchange;
  const std::string name(balances ? engine->balance_experts : engine->two_batches);
  ways->b.push_back(
      {advice, {}, {{"engine", std::string(engine->name), "words"}, {"switch", name, "words"}}});
}

void AddWhereItFits(Advice advice, const WorkContext& context, const Message& message,
                    std::vector<Remedy>* ways) {
  const Fit fit = FitOf(Info(advice).needs, context, message);
  if (fit == Fit::kNot) return;
  Remedy remedy{advice, {}, {}};
  if (fit == Fit::kUnknown)
    remedy.facts.push_back({"if_supported", std::string(kIfSupported), "words"});
  ways->push_back(std::move(remedy));
}

}  // namespace

Ways WaysForCommunication(const WorkContext& context, const ExposedCollectives& exposed) {
  Ways ways;
  const std::string_view longest = exposed.longest;
  const bool exchange = ContainsNoCase(longest, "all_to_all") ||
                        ContainsNoCase(longest, "alltoall") || ContainsNoCase(longest, "send_recv");
  if (exchange && context.embeddings) {
    if (!context.pipelined_exchange) AddOnce(&ways.a, Advice::kOverlapAllToAll);
    if (!context.coded_exchange) AddOnce(&ways.a, Advice::kExchange16Bits);
  } else if (context.training && !exchange) {
    AddOnce(&ways.a, !context.bucketed && exposed.issued ? Advice::kOverlapCommunication
                     : exposed.mostly_hidden             ? Advice::kTuneBuckets
                                                         : Advice::kExposedBuckets);
    if (exposed.fp32 && context.bucketed) AddOnce(&ways.a, Advice::kCompressGradients);
  } else if (exchange) {
    if (exposed.issued) {
      AddOnce(&ways.a, Advice::kOverlapCommunication);
    } else {
      // What hides transfer hides no waiting.
      if (exposed.waits) AddExchangeAdvice(context, Advice::kBalanceExchange, &ways);
      AddExchangeAdvice(context, Advice::kOverlapMicroBatches, &ways);
      AddExchangeAdvice(context, Advice::kBalanceExchange, &ways);
    }
  } else if (context.engine == Engine::kVllm) {
    AddWhereItFits(Advice::kFuseAllReduceVllm, context, exposed.message, &ways.b);
  } else if (context.engine == Engine::kSglang) {
    AddWhereItFits(Advice::kFuseAllReduceSglang, context, exposed.message, &ways.b);
  } else if (ContainsNoCase(longest, "reduce")) {
    AddWhereItFits(Advice::kFuseAllReduce, context, exposed.message, &ways.a);
  }
  if (exposed.nccl && exposed.one_rank) {
    AddOnce(&ways.b, exposed.in_file ? Advice::kSplitWaits : Advice::kRecordRanks);
  } else if (exposed.nccl) {
    AddOnce(&ways.b, Advice::kTuneCommunication);
  }
  return ways;
}

namespace {

// A frame of a library's own machinery, whose work is not the user's to rewrite.
bool IsLibraryFrame(std::string_view name) {
  constexpr std::string_view kLibraries[] = {"torch/",      "transformers/", "diffusers/",
                                             "accelerate/", "vllm/",         "sglang/",
                                             "flashinfer/", "deepspeed/",    "lightning/"};
  return std::any_of(std::begin(kLibraries), std::end(kLibraries),
                     [&](std::string_view library) { return name.starts_with(library); });
}

// The package whose code a line lies in, which its users do not change; empty: none that is known.
std::string_view PackageOf(std::string_view line) {
  constexpr std::string_view kPackages[] = {"torch_geometric",
                                            "torchvision",
                                            "torchaudio",
                                            "torchmetrics",
                                            "transformers",
                                            "diffusers",
                                            "accelerate",
                                            "deepspeed",
                                            "lightning",
                                            "timm",
                                            "dgl",
                                            "peft",
                                            "trl",
                                            "mmcv",
                                            "mmdet",
                                            "detectron2",
                                            "ultralytics",
                                            "xformers",
                                            "flash_attn",
                                            "numpy",
                                            "scipy",
                                            "sklearn",
                                            "pandas"};
  const auto* const found =
      std::find_if(std::begin(kPackages), std::end(kPackages), [&](std::string_view package) {
        return line.starts_with(package) && line.substr(package.size()).starts_with("/");
      });
  return found == std::end(kPackages) ? std::string_view() : *found;
}

// NumPy's own work on whole arrays, which torch has as well, on the GPU: its method; empty: other
// work.
std::string_view ArrayOp(std::string_view name) {
  constexpr std::string_view kOps[] = {"argmax", "argmin", "argsort", "sort",     "unique",
                                       "mean",   "sum",    "max",     "min",      "cumsum",
                                       "where",  "dot",    "matmul",  "bincount", "histogram"};
  constexpr std::string_view kMethod = "<built-in method ";
  if (!name.starts_with(kMethod) || name.find("numpy") == std::string_view::npos) return {};
  const std::string_view method = name.substr(kMethod.size());
  const auto* const found =
      std::find_if(std::begin(kOps), std::end(kOps), [&](std::string_view op) {
        return method.starts_with(op) && method.substr(op.size()).starts_with(" of ");
      });
  return found == std::end(kOps) ? std::string_view() : *found;
}

// What a loop over the elements of a tensor calls: it computes nothing that a GPU could.
bool IsElementOp(std::string_view name) {
  constexpr std::string_view kOps[] = {"aten::select", "aten::unbind", "aten::slice",
                                       "aten::item",   "aten::narrow", "aten::_local_scalar_dense"};
  return std::ranges::find(kOps, name) != std::end(kOps);
}

// Looks at a tensor in another way, or makes room for one.
bool ComputesNothing(std::string_view op) {
  constexpr std::string_view kOps[] = {
      "aten::view",       "aten::reshape",       "aten::expand",
      "aten::permute",    "aten::transpose",     "aten::t",
      "aten::as_strided", "aten::squeeze",       "aten::unsqueeze",
      "aten::detach",     "aten::flatten",       "aten::_unsafe_view",
      "aten::empty",      "aten::empty_strided", "aten::resize_",
      "aten::chunk",      "aten::split",         "aten::alias",
      "aten::result_type"};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

// "aten::add", as ops are called and nothing else.
bool IsPlainOp(std::string_view name) {
  return name.starts_with("aten::") && std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == ':' || c == '.';
         });
}

// Text for people, or a file of metrics.
bool Writes(const std::string& name) {
  return AnyName({name}, {"<built-in function print>", "write of _io.textiowrapper",
                          "logging/__init__.py", "tensorboard/", "wandb/", "tqdm/"});
}

}  // namespace

// Fast ones are a library, called from files of the names excluded here.
bool TokenizesInPython(std::string_view frame) {
  const std::string name(frame);
  return AnyName({name}, {"/tokenization_"}) &&
         !AnyName({name}, {"_fast.py", "tokenization_utils"});
}

bool IsDecoding(const std::string& name) {
  return AnyName({name}, {"pyav", "av/", "decord", "cv2", "videoreader", "decode_video",
                          "read_video", "torchvision/io"});
}

std::string HostOpsNamed(const std::vector<HostPlace>& places) {
  constexpr std::size_t kNamed = 2;
  std::vector<std::string> names;
  // Beside work on copied arrays an op is on the GPU already.
  const bool arrays = !places.empty() && !ArrayOp(places.front().name).empty();
  for (const HostPlace& place : places) {
    const std::string_view array = ArrayOp(place.name);
    if (arrays ? array.empty()
               : !IsPlainOp(place.name) || IsElementOp(place.name) || ComputesNothing(place.name))
      continue;
    std::string name =
        array.empty() ? fmt::format("`{}`", place.name) : fmt::format("NumPy's `{}`", array);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    if (names.size() == kNamed) break;
  }
  // The same ops are one action, whichever of them takes longer in a section.
  std::sort(names.begin(), names.end());
  return names.empty() ? "these ops" : Enumerated(names);
}

Advice LoaderAdvice(const WorkContext& context) {
  if (context.worker_loader) return Advice::kPrefetchData;
  return context.training && context.own_loader ? Advice::kLoaderWorkers : Advice::kPrepareAhead;
}

std::vector<Advice> AdviceForHostSection(const WorkContext& context,
                                         const HostSectionNames& section) {
  if (section.unrecorded && !section.loading)
    return {Advice::kOverlapHostWork, Advice::kFindHostWork};
  std::vector<Advice> out;
  const std::vector<std::string>& names = section.names;
  const bool decodes = std::any_of(names.begin(), names.end(), IsDecoding);
  // What prepares all of the input ahead comes before what is about a small part of it.
  const bool mostly = decodes && IsDecoding(names.front());
  if (mostly) out.push_back(Advice::kDecodeElsewhere);
  // Of code on images: `aten::resize_` makes room for a result, and models normalize as well.
  std::vector<std::string> code = names;
  std::erase_if(code, [](const std::string& name) {
    return name.starts_with("aten::") || name.starts_with("nn.Module");
  });
  if (AnyName(code, {"zoom", "resize", "rescale", "normalize", "image_transforms",
                     "image_processing", "pil/", "ndimage", "to_numpy_array"})) {
    out.push_back(Advice::kPreprocessOnGpu);
  }
  if (section.loading) {
    out.push_back(LoaderAdvice(context));
    if (context.worker_loader && context.pageable_input) out.push_back(Advice::kPinLoader);
  } else if (!context.training && (decodes || !out.empty())) {
    out.push_back(Advice::kPrepareAhead);
  }
  if (decodes && !mostly) out.push_back(Advice::kDecodeElsewhere);
  if (!out.empty() || names.empty()) return out;
  const std::string& leading = names.front();
  if (IsElementOp(leading)) return {Advice::kConvertBeforeLoop};
  if (leading.starts_with("aten::") && !ComputesNothing(leading)) return {Advice::kHostOpsToDevice};
  if (section.after_copy_back && !ArrayOp(leading).empty()) return {Advice::kHostOpsToDevice};
  if (AnyName({leading}, {"named_modules", "named_parameters", "named_children", "named_buffers"}))
    return {Advice::kOnceOutside};
  if (Writes(leading)) return {Advice::kWriteLessOften};
  if (std::ranges::any_of(names, TokenizesInPython)) return {Advice::kFastTokenizer};
  if (IsLibraryFrame(leading)) return {};
  return {Advice::kOverlapHostWork};
}

namespace {

// The op that all checks are part of, else what checks are.
std::string ChecksOf(const std::vector<HostPlace>& places) {
  const std::string* one = nullptr;
  for (const HostPlace& place : places) {
    if (place.wait != WaitKind::kCheck) continue;
    if (place.check.empty() || (one != nullptr && *one != place.check)) {
      one = nullptr;
      break;
    }
    one = &place.check;
  }
  return one != nullptr ? fmt::format("`{}`", *one) : "`isnan`, `allclose`, asserts";
}

}  // namespace

namespace {

// By WaitKind, from the first that waits for something: what is read back, then what is sent.
constexpr Advice kWaysForWaits[] = {
    Advice::kAvoidScalars, Advice::kFixedShapes,    Advice::kReadBackOnce,  Advice::kBuildOnDevice,
    Advice::kDropChecks,   Advice::kKeepGraphWhole, Advice::kSizesOnDevice, Advice::kAvoidSyncs};

}  // namespace

std::optional<WaitKind> WaitsEndedBy(Advice advice) {
  const auto* const at = std::ranges::find(kWaysForWaits, advice);
  if (at == std::end(kWaysForWaits)) return std::nullopt;
  return static_cast<WaitKind>(at - std::begin(kWaysForWaits) + 1);
}

std::vector<Remedy> WaysForWaits(const std::vector<HostPlace>& places) {
  struct Way {
    Advice advice;
    double idle_ms = 0;
    std::vector<std::string> names = {};  // the one that waits most first
    double own_ms = 0;                    // of it in code that the user can change
  };
  Way ways[std::size(kWaysForWaits)];
  std::ranges::transform(kWaysForWaits, ways, [](Advice one) { return Way{one}; });
  double all_ms = 0;
  for (const HostPlace& place : places) {
    all_ms += place.idle_ms;
    if (place.wait == WaitKind::kOther) continue;
    Way& way = ways[static_cast<std::size_t>(place.wait) - 1];
    way.idle_ms += place.idle_ms;
    const std::string_view package = PackageOf(place.code);
    if (package.empty()) way.own_ms += place.idle_ms;
    std::string name = "`" + place.name.substr(0, place.name.find(" (")) + "`";
    if (!package.empty()) name += fmt::format(" inside `{}`", package);
    if (std::find(way.names.begin(), way.names.end(), name) == way.names.end())
      way.names.push_back(name);
  }
  double sent_ms = 0, read_ms = 0;
  for (const Way& way : ways)
    (way.advice == Advice::kBuildOnDevice ? sent_ms : read_ms) += way.idle_ms;
  const double least_ms = limits::kWaitWayShare / 100 * all_ms;
  const bool sent_first = sent_ms > read_ms;
  std::stable_sort(std::begin(ways), std::end(ways), [&](const Way& a, const Way& b) {
    const bool a_sent = a.advice == Advice::kBuildOnDevice;
    const bool b_sent = b.advice == Advice::kBuildOnDevice;
    if (a_sent != b_sent) return a_sent == sent_first;
    const bool a_own = a.own_ms >= least_ms, b_own = b.own_ms >= least_ms;
    return a_own != b_own ? a_own : a.idle_ms > b.idle_ms;
  });
  std::vector<Remedy> out;
  for (const Way& way : ways) {
    if (way.idle_ms <= 0 || way.idle_ms < least_ms) continue;
    constexpr std::size_t kNamed = 4;  // a longer list says no more
    const std::span<const std::string> names(way.names);
    std::string waits =
        fmt::format("{}", fmt::join(names.first(std::min(kNamed, names.size())), ", "));
    if (names.size() > kNamed) waits += fmt::format(" and {} more ops", names.size() - kNamed);
    out.push_back({way.advice, {}, {{"waits", std::move(waits), "words"}}});
    if (way.advice == Advice::kDropChecks)
      out.back().facts.push_back({"checks", ChecksOf(places), "words"});
  }
  if (out.empty()) out.push_back({Advice::kAvoidSyncs, {}, {}});
  return out;
}

WaitKind KindOfWait(const std::string& op, bool to_host, bool to_device) {
  if (AnyName({op}, {"item", "_local_scalar_dense", "is_nonzero", "aten::equal"}))
    return WaitKind::kScalar;
  if (AnyName({op}, {"nonzero", "aten::index", "masked_select", "aten::unique", "aten::where"}))
    return WaitKind::kShape;
  if (op.empty() || op.ends_with("Synchronize")) return WaitKind::kAsked;
  if (to_host) return WaitKind::kReadBack;
  return to_device ? WaitKind::kUpload : WaitKind::kOther;
}

}  // namespace jarvis::findings
