#include "findings/one/workload_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/attribution.h"
#include "base/text.h"
#include "findings/one/model_families.h"
#include "findings/one/workload_family.h"
#include "perf/iteration_annotation.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

// A module owns the GPU time from this share of computing on.
constexpr double kOwns = 0.25;
constexpr double kComponentShown = 0.01;
constexpr double kLayerShare = 0.3;

// Classes that only pass calls on.
bool IsWrapper(std::string_view name) {
  constexpr std::string_view kWrappers[] = {"DistributedDataParallel",
                                            "FullyShardedDataParallel",
                                            "DataParallel",
                                            "OptimizedModule",
                                            "CheckpointWrapper",
                                            "Sequential",
                                            "ModuleList",
                                            "Float16Module",
                                            "DeepSpeedEngine",
                                            "ActivationWrapper",
                                            "GraphModule",
                                            "LoraModel",
                                            "PipelineStage",
                                            "MegatronModule",
                                            "SentenceTransformer"};
  return std::find(std::begin(kWrappers), std::end(kWrappers), name) != std::end(kWrappers) ||
         name.starts_with("FSDP") || name.starts_with("PeftModel");
}

// Layers of torch.nn and of servers that no model is named after.
bool IsBuildingBlock(const ModulePlace& place) {
  constexpr std::string_view kBlocks[] = {
      "Linear",  "Conv1d",    "Conv2d",          "Conv3d",           "Embedding", "EmbeddingBag",
      "Dropout", "LayerNorm", "RMSNorm",         "BatchNorm2d",      "GroupNorm", "ReLU",
      "GELU",    "SiLU",      "Softmax",         "Identity",         "MaxPool2d", "Sampler",
      "Tanh",    "Sigmoid",   "LogitsProcessor", "AdaptiveAvgPool2d"};
  return place.file.starts_with("torch/nn/modules/") || place.name.ends_with("Loss") ||
         std::find(std::begin(kBlocks), std::end(kBlocks), place.name) != std::end(kBlocks);
}

// XLA numbers the calls of one op: "te_fused_attn_forward_ffi.15".
std::string_view CalledName(std::string_view op) {
  const std::size_t end = op.find_last_not_of("0123456789");
  return end != std::string_view::npos && end + 1 < op.size() && op[end] == '.' ? op.substr(0, end)
                                                                                : op;
}

class ModelTeller {
 public:
  ModelTeller(const WorkloadFacts& facts, const WorkloadSizes& sizes, Workload* out)
      : facts_(facts),
        sizes_(sizes),
        out_(*out),
        main_(MainModule(facts)),
        passes_(ForwardPasses(facts)),
        family_(facts, sizes, main_, passes_) {}

  FamilyTold Run() {
    std::set<std::string> classes;
    for (const ModulePlace& place : facts_.modules)
      classes.insert(std::string(place.name));
    out_.module_classes.assign(classes.begin(), classes.end());
    if (main_ != nullptr) FromModules();
    Residual();
    FromBenchmark();
    FromNames();
    const FamilyTold told = family_.Tell(&out_);
    if (told.by_signature) {
      if (told.layers_are_modules) LayersByModules();
      return told;
    }
    Layers();
    FromSizes();
    Parameters();
    return told;
  }

 private:
  double ShareOfCompute(double us) const {
    return facts_.ComputeUs() > 0 ? us / facts_.ComputeUs() : 0;
  }
  NamedWork Ops(std::initializer_list<std::string_view> parts) const {
    return Containing(facts_.ops, parts);
  }
  NamedWork Kernels(std::initializer_list<std::string_view> parts) const {
    return Containing(facts_.kernels, parts);
  }
  bool MainIs(std::initializer_list<std::string_view> lower_parts) const {
    return main_ != nullptr &&
           std::any_of(lower_parts.begin(), lower_parts.end(),
                       [&](std::string_view part) { return ContainsNoCase(main_->name, part); });
  }

  void FromModules() {
    const std::string_view known = PublishedName(main_->name);
    out_.Set(WorkloadPart::kModel,
             known.empty() ? std::string(main_->name) : fmt::format("{} ({})", known, main_->name),
             Certainty::kRecorded,
             fmt::format("module class with {:.0f}% of the compute time{}{}",
                         100 * ShareOfCompute(main_->gpu_us), main_->file.empty() ? "" : ", ",
                         main_->file));
    std::string others;
    std::size_t shown = 0;
    for (const std::uint32_t root : facts_.roots) {
      const ModulePlace& place = facts_.modules[root];
      if (IsBelowOrSame(*main_, root) || IsBuildingBlock(place) || shown == 4 ||
          ShareOfCompute(place.gpu_us) < kComponentShown) {
        continue;
      }
      ++shown;
      others += fmt::format("{}{} {:.0f}%", others.empty() ? "" : ", ", place.name,
                            100 * ShareOfCompute(place.gpu_us));
    }
    out_.Set(WorkloadPart::kComponents, std::move(others), Certainty::kRecorded,
             "module calls beside the model's, by their share of the compute time");
  }

  // "[param|pytorch.model.alex_net|0|0|0|measure|forward]": PARAM names what it runs.
  void FromBenchmark() {
    constexpr std::string_view kMark = "|pytorch.model.";
    for (const NamedWork& note : facts_.annotations) {
      const std::size_t at = note.name.find(kMark);
      if (!note.name.starts_with("[param") || at == std::string_view::npos) continue;
      const std::string_view rest = note.name.substr(at + kMark.size());
      out_.Set(WorkloadPart::kModel, OneLine(rest.substr(0, rest.find('|'))), Certainty::kRecorded,
               "annotation " + OneLine(note.name));
      return;
    }
  }

  // What kernels, ops and weights of published models tell, where no module owns the work.
  void FromNames() {
    if (out_[WorkloadPart::kModel].known()) return;
    if (auto told = ModelByNames(facts_)) {
      out_.Set(WorkloadPart::kModel, std::move(told->name), Certainty::kInferred,
               std::move(told->evidence));
    }
  }

  // A published configuration: of several components nobody knows which one the sizes are of.
  void FromSizes() {
    if (out_[WorkloadPart::kModel].known()) return;
    ModelSizes sizes;
    const auto know = [&](const char* key, std::optional<std::int64_t> size) {
      if (size && *size > 0) sizes.known[key] = *size;
    };
    know("hidden", sizes_.hidden);
    know("layers", ParseInt(out_[WorkloadPart::kLayers].value));
    if (const AttentionSizes* attention = sizes_.Attention()) {
      know("heads", attention->heads);
      if (attention->fused) know("kv_heads", attention->kv_heads);
      know("head", attention->head);
    }
    know("ffn", sizes_.ffn);
    know("vocabulary", sizes_.vocabulary);
    know("experts", sizes_.experts);
    know("top_k", sizes_.top_k);
    sizes.ranks = facts_.trace.trace().metadata.world_size.value_or(1);
    sizes.image = sizes_.image.has_value();
    const AttentionSizes* attention = sizes_.Attention();
    if (family_.Causal() || family_.KeepsCache()) {
      sizes.causal = true;
    } else if (attention != nullptr && attention->fused) {
      sizes.causal = attention->causal;
    }
    if (auto told = ModelBySizes(sizes)) {
      out_.Set(WorkloadPart::kModel, std::move(told->name), Certainty::kInferred,
               std::move(told->evidence));
    }
  }

  bool IsBelowOrSame(const ModulePlace& place, std::uint32_t root) const {
    const ModulePlace* at = &place;
    while (at->parent != ModulePlace::kNoParent)
      at = &facts_.modules[at->parent];
    return at == &facts_.modules[root];
  }

  std::uint64_t Convolutions() const {
    std::uint64_t calls = Ops({"aten::conv2d"}).count;
    if (calls == 0) calls = Ops({"aten::cudnn_convolution", "aten::miopen_convolution"}).count;
    return calls;
  }

  // Residual networks are told apart by how many convolutions a forward pass has.
  void Residual() {
    const std::uint64_t norms = Ops({"aten::batch_norm"}).count;
    const std::uint64_t convolutions = Convolutions();
    if (MainIs({"vgg"}) && convolutions % passes_ == 0) {
      const std::string_view depth = VggOf(convolutions / passes_);
      WorkloadField& model = out_[WorkloadPart::kModel];
      if (depth.empty()) return;
      model.evidence.push_back(
          fmt::format("{} convolutions a forward pass", convolutions / passes_));
      model.value = depth;
      return;
    }
    if (convolutions == 0 || norms == 0) return;
    const std::uint64_t each = OfOnePass(convolutions);
    const std::string_view name = ResNetOf(each);
    if (name.empty()) return;
    if (main_ != nullptr && !MainIs({"resnet"})) return;
    WorkloadField& model = out_[WorkloadPart::kModel];
    model.evidence.push_back(fmt::format("{} convolutions with batch norms a forward pass", each));
    model.value = name;
    model.certainty = Certainty::kInferred;
  }

  // Convolutions of one forward pass, without those that checkpointing runs a second time.
  std::uint64_t OfOnePass(std::uint64_t convolutions) const {
    if (convolutions % passes_ != 0) return 0;
    const std::uint64_t each = convolutions / passes_;
    if (!ResNetOf(each).empty()) return each;
    // Modules count once however often they run.
    const auto modules = facts_.instances.find("Conv2d");
    return modules == facts_.instances.end() ? 0 : modules->second;
  }

  void Layers() {
    if (family_.OnlyNorms()) return NormLayers();
    // Of a part of a pass nobody knows how many there are beyond it.
    if (session::FramesOf(facts_.trace, Job()).value()->frames.base.part_of_pass) return;
    if (LayersByModules()) return;
    if (family_.Time(Kind::kConvolution) > 0.5 * facts_.ComputeUs()) return;
    if (const AttentionSizes* attention = sizes_.Attention();
        attention != nullptr && passes_ > 0 && attention->calls % passes_ == 0) {
      if (OfPrompts(*attention)) return;
      const std::uint64_t layers = LayersByAttention(*attention) / passes_;
      out_.Set(WorkloadPart::kLayers, fmt::format("{}", layers), Certainty::kInferred,
               fmt::format("attention calls of {1} heads of {2}: {0} in {3} forward pass{4}",
                           layers * passes_, attention->heads, attention->head, passes_,
                           passes_ == 1 ? "" : "es"));
      return;
    }
    LayersByKernels();
  }

  // True: there are modules of layers, whether or not they are told.
  bool LayersByModules() {
    const ModulePlace* layer = main_ == nullptr ? nullptr : LayerModule(facts_, *main_);
    if (layer == nullptr) return false;
    const bool blocks = layer->name.ends_with("Bottleneck") || layer->name == "BasicBlock";
    if (blocks) return true;
    out_.Set(WorkloadPart::kLayers, fmt::format("{}", layer->instances), Certainty::kRecorded,
             fmt::format("{} modules of class {}", layer->instances, layer->name));
    return true;
  }

  // A decoder of a few prompts runs many times in a pass: how many layers it has nobody knows.
  bool OfPrompts(const AttentionSizes& main) const {
    return main.queries > 1 && main.queries <= 16 &&
           std::any_of(sizes_.attentions.begin(), sizes_.attentions.end(),
                       [](const AttentionSizes& one) { return one.IsOfPrompts(); });
  }

  // Windowed and global attention of one model differ in sizes but not in heads.
  std::uint64_t LayersByAttention(const AttentionSizes& main) const {
    const bool stages = StagesOf(sizes_.attentions, main).has_value();
    std::uint64_t calls = 0;
    for (const AttentionSizes& one : sizes_.attentions) {
      const bool alike = one.head == main.head && CalledName(one.op) == CalledName(main.op);
      if (alike && (stages || one.heads == main.heads)) calls += one.calls;
    }
    return calls % passes_ == 0 ? calls : main.calls;
  }

  void NormLayers() {
    std::uint64_t norms = 0;
    for (const ModulePlace& place : facts_.modules)
      norms += IsNormClass(place.name) ? place.instances : 0;
    if (norms == 0) return;
    out_.Set(WorkloadPart::kLayers, fmt::format("{}", norms), Certainty::kRecorded,
             fmt::format("{} modules of norm classes", norms));
  }

  // Without modules and shapes: how often the attention kernels of the most time run, if products
  // run as often. Of two that take turns, local and global attention, both.
  void LayersByKernels() {
    std::vector<std::pair<double, std::uint64_t>> attentions;  // time, calls
    std::set<std::uint64_t> products;                          // calls
    for (const NamedWork& kernel : facts_.kernels) {
      if (kernel.kind == ledger::WorkKind::kAttention)
        attentions.emplace_back(kernel.us, kernel.count);
      if (kernel.kind == ledger::WorkKind::kProduct) products.insert(kernel.count);
    }
    if (attentions.empty()) return;
    std::sort(attentions.rbegin(), attentions.rend());
    std::uint64_t calls = attentions.front().second;
    const std::uint64_t both = calls + (attentions.size() < 2 ? 0 : attentions[1].second);
    const bool multiple = std::any_of(products.begin(), products.end(),
                                      [&](std::uint64_t count) { return count % calls == 0; });
    if (!products.contains(calls)) {
      if (products.contains(both)) {
        calls = both;
      } else if (!multiple) {
        return;
      }
    }
    if (calls % passes_ != 0 || calls / passes_ < 4) return;
    // A pass in micro-batches has an embedding and a head for each, and each runs all layers.
    const std::uint64_t parts = Kernels({"embedding"}).count / passes_;
    const bool split = parts > 1 && products.contains(parts * passes_) &&
                       !products.contains(passes_) && calls % (parts * passes_) == 0;
    if (split) calls /= parts;
    out_.Set(WorkloadPart::kLayers, fmt::format("{}", calls / passes_), Certainty::kInferred,
             fmt::format("{} attention kernels in {} passes, and GEMMs as often", calls, passes_));
  }

  // Of a language model, by the products that each layer runs as often: their weights, and the
  // vocabulary twice (embedding and head, where the head is seen).
  void Parameters() {
    const auto layers = ParseInt(out_[WorkloadPart::kLayers].value);
    const bool text = ContainsNoCase(out_[WorkloadPart::kFamily].value, "decoder-only") ||
                      ContainsNoCase(out_[WorkloadPart::kFamily].value, "encoder-decoder");
    const bool shared = facts_.trace.trace().metadata.world_size.value_or(1) > 1;
    if (!text || !layers || *layers < 2 || facts_.backward || sizes_.has_experts || shared) return;
    double weights = 0;
    for (const GemmSizes& gemm : sizes_.gemms) {
      const std::uint64_t calls = gemm.calls / passes_;
      if (calls * passes_ == gemm.calls && calls % static_cast<std::uint64_t>(*layers) == 0)
        weights += static_cast<double>(gemm.n * gemm.k) * static_cast<double>(calls);
    }
    const bool head = sizes_.vocabulary && sizes_.hidden;
    if (head) weights += 2.0 * static_cast<double>(*sizes_.vocabulary * *sizes_.hidden);
    const double table = head ? 0 : EmbeddingTable();
    weights += table;
    constexpr double kLeast = 1e7;
    if (weights < kLeast) return;
    const double billions = weights / 1e9;
    std::string size = billions >= 1.5 ? fmt::format("{:.0f}B", billions)
                       : billions >= 1 ? fmt::format("{:.1f}B", billions)
                                       : fmt::format("{:.0f}M", weights / 1e6);
    const std::string evidence = fmt::format("{} weights of GEMMs that run once per layer{}", size,
                                             head        ? ", embedding and head"
                                             : table > 0 ? ", and of the embedding's table"
                                                         : ", without an embedding's table");
    out_.Set(WorkloadPart::kParameters, std::move(size), Certainty::kInferred, evidence);
  }

  // Of the largest table that an embedding reads whole rows of; 0: none is seen.
  double EmbeddingTable() const {
    double most = 0;
    for (const ShapedOperation& one : facts_.operations) {
      if (one.operation == nullptr || !one.operation->name.starts_with("aten::embedding")) continue;
      for (const Shape& shape : one.shapes) {
        if (shape.size() != 2 || !sizes_.hidden || shape[1] != *sizes_.hidden) continue;
        most = std::max(most, static_cast<double>(shape[0]) * static_cast<double>(shape[1]));
      }
    }
    return most;
  }

  const WorkloadFacts& facts_;
  const WorkloadSizes& sizes_;
  Workload& out_;
  const ModulePlace* main_;
  std::uint64_t passes_;
  FamilyTeller family_;
};

}  // namespace

const ModulePlace* MainModule(const WorkloadFacts& facts) {
  for (const std::uint32_t root : facts.roots) {
    const ModulePlace* place = &facts.modules[root];
    while (IsWrapper(place->name) && !place->children.empty())
      place = &facts.modules[place->children.front()];
    if (IsBuildingBlock(*place) || IsWrapper(place->name)) continue;
    return place->gpu_us >= kOwns * facts.ComputeUs() ? place : nullptr;
  }
  return nullptr;
}

const ModulePlace* LayerModule(const WorkloadFacts& facts, const ModulePlace& main) {
  const ModulePlace* best = nullptr;
  const auto at = static_cast<std::uint32_t>(&main - facts.modules.data());
  std::vector<std::uint32_t> open = {at};
  while (!open.empty()) {
    const std::uint32_t next = open.back();
    open.pop_back();
    const ModulePlace& place = facts.modules[next];
    if (place.gpu_us < kLayerShare * main.gpu_us) continue;
    open.insert(open.end(), place.children.begin(), place.children.end());
    if (place.instances < 2 || next == at || IsWrapper(place.name) || IsBuildingBlock(place))
      continue;
    if (best == nullptr || place.depth < best->depth ||
        (place.depth == best->depth && place.gpu_us > best->gpu_us)) {
      best = &place;
    }
  }
  return best;
}

std::uint64_t ForwardPasses(const WorkloadFacts& facts) {
  if (const ModulePlace* main = MainModule(facts)) {
    // A call that replays nothing is no pass of a model whose work is replayed.
    const bool fewer = facts.main_replays > 0 && facts.main_replays < main->calls;
    return std::max<std::uint64_t>(fewer ? facts.main_replays : main->calls, 1);
  }
  std::uint64_t iterations = 0;
  for (const NamedWork& note : facts.annotations) {
    if (perf::ParseIteration(note.name)) iterations += note.count;
  }
  // Servers put two annotations around one step.
  std::set<std::string_view> formats;
  for (const NamedWork& note : facts.annotations) {
    if (const auto sums = perf::ParseIteration(note.name)) formats.insert(sums->format);
  }
  if (iterations > 0) return std::max<std::uint64_t>(iterations / formats.size(), 1);
  // A graph of a whole pass has a kernel that runs once a layer.
  constexpr std::uint64_t kLayersLeast = 4;
  if (facts.main_replays > 0 && RepeatedKernels(facts).count >= kLayersLeast * facts.main_replays) {
    return facts.main_replays;
  }
  std::uint64_t steps = facts.units > 0 ? facts.units : facts.trace.steps().size();
  if (steps == 0) {  // the oldest profilers wrote the marks as ops
    for (const NamedWork& op : facts.ops)
      if (op.name.starts_with("ProfilerStep#")) ++steps;
  }
  return std::max<std::uint64_t>(steps, 1);
}

RepeatedWork RepeatedKernels(const WorkloadFacts& facts) {
  std::map<std::uint64_t, double> by_count;
  for (const NamedWork& kernel : facts.kernels) {
    if (!analysis::IsCollectiveName(kernel.name) && !ContainsNoCase(kernel.name, "all_reduce"))
      by_count[kernel.count] += kernel.us;
  }
  const auto most =
      std::max_element(by_count.begin(), by_count.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == by_count.end() || facts.ComputeUs() <= 0) return {};
  return {most->first, most->second / facts.ComputeUs()};
}

void TellModel(const WorkloadFacts& facts, WorkloadSizes* sizes, Workload* out) {
  const FamilyTold told = ModelTeller(facts, *sizes, out).Run();
  sizes->rows_are_no_batch = told.rows_are_nodes;
  if (!told.by_signature) return;
  WorkloadSizes own;
  own.image = sizes->image;
  own.made = sizes->made;
  own.rows_are_no_batch = true;
  own.model_calls = told.calls;
  if (told.has_vocabulary) {
    own.vocabulary = sizes->vocabulary;
    own.vocabulary_evidence = std::move(sizes->vocabulary_evidence);
  }
  *sizes = std::move(own);
}

}  // namespace jarvis::findings
