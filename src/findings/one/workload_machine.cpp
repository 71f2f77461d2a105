#include "findings/one/workload_machine.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/ranks/rank_digest.h"
#include "base/number_text.h"
#include "base/text.h"
#include "ledger/kinds/work_kind.h"
#include "perf/device_match.h"
#include "perf/platform.h"
#include "session/device_units.h"

namespace jarvis::findings {
namespace {

constexpr double kPrecisionShown = 0.03;   // of the time of matrix work
constexpr double kAccidentalShown = 0.02;  // of the time of computing

bool Has(std::string_view text, std::string_view lower_part) {
  return ContainsNoCase(text, lower_part);
}

// Tensile: "Cijk_Alik_Bljk_BBS_BH_...": the types of operands, output and accumulation.
std::string PrecisionOfTensile(std::string_view name) {
  std::size_t at = 0;
  for (int i = 0; i < 3 && at != std::string_view::npos; ++i)
    at = name.find('_', at + (i == 0 ? 0 : 1));
  if (at == std::string_view::npos) return "";
  std::string_view types = name.substr(at + 1);
  types = types.substr(0, types.find('_'));
  if (types.starts_with("F8") || types.starts_with("B8")) return "fp8";
  if (types.starts_with("I8")) return "int8";
  if (name.find("_XF32_") != std::string_view::npos || types.starts_with("SX")) return "tf32";
  switch (types.empty() ? ' ' : types.front()) {
    case 'B': return "bf16";
    case 'H': return "fp16";
    case 'S': return "fp32";
    case 'D': return "fp64";
    default: return "";
  }
}

class MachineTeller {
 public:
  MachineTeller(const WorkloadFacts& facts, const WorkloadSizes& sizes, Workload* out)
      : facts_(facts),
        sizes_(sizes),
        out_(*out),
        metadata_(facts.trace.trace().metadata),
        ranks_(std::max(metadata_.world_size.value_or(1), RanksOfPart())) {}

  void Run() {
    tensor_ = TensorParallel();
    Sizes();
    Precision();
    Device();
    Parallelism();
  }

 private:
  NamedWork Ops(std::initializer_list<std::string_view> parts) const {
    return Containing(facts_.ops, parts);
  }
  NamedWork Notes(std::initializer_list<std::string_view> parts) const {
    return Containing(facts_.annotations, parts);
  }
  NamedWork Kernels(std::initializer_list<std::string_view> parts) const {
    return Containing(facts_.kernels, parts);
  }
  bool HasModule(std::string_view part) const {
    return std::any_of(facts_.modules.begin(), facts_.modules.end(), [&](const ModulePlace& one) {
      return one.name.find(part) != std::string_view::npos;
    });
  }

  // The degree of tensor parallelism, 1 without; only where something shows it.
  std::int64_t TensorParallel() {
    if (ranks_ <= 1) return 1;
    for (const trace::ProcessGroup& group : metadata_.groups) {
      const bool meant = Has(group.description, "tensor_model_parallel") ||
                         EqualsNoCase(group.description, "tp") || Has(group.description, "mesh_tp");
      if (meant && group.size > 1) {
        tensor_evidence_ = fmt::format("process group {} of {} ranks",
                                       OneLine(Utf8Prefix(group.description, 40)), group.size);
        return group.size;
      }
    }
    const bool layers = HasModule("RowParallelLinear") || HasModule("ColumnParallelLinear") ||
                        Ops({"_reducefrommodelparallelregion", "vllm::all_reduce"}).count > 0;
    if (!layers) return 1;
    // The heads of a rank times the degree make up the hidden width.
    const AttentionSizes* attention = sizes_.Attention();
    if (attention != nullptr && sizes_.hidden && attention->heads > 0) {
      const std::int64_t width = attention->heads * attention->head;
      if (width * ranks_ == *sizes_.hidden) {
        tensor_evidence_ = fmt::format("{} heads of {} on a rank, hidden {}", attention->heads,
                                       attention->head, *sizes_.hidden);
        return ranks_;
      }
    }
    tensor_evidence_ = "layers that are split over ranks and reduced after each";
    return ranks_;
  }

  void Sizes() {
    const bool transformer =
        sizes_.Attention() != nullptr || sizes_.has_experts || sizes_.vocabulary;
    if (transformer && sizes_.hidden) {
      out_.Set(WorkloadPart::kHidden, fmt::format("{}", *sizes_.hidden), Certainty::kInferred,
               "width on which GEMMs spend most time");
    }
    Heads();
    if (sizes_.experts) {
      std::string text = fmt::format("{}", *sizes_.experts);
      if (sizes_.top_k) text += fmt::format(" (top {})", *sizes_.top_k);
      if (sizes_.local_experts && *sizes_.local_experts < *sizes_.experts)
        text += fmt::format(" ({} on this rank)", *sizes_.local_experts);
      out_.Set(WorkloadPart::kExperts, std::move(text),
               sizes_.top_k ? Certainty::kRecorded : Certainty::kInferred,
               sizes_.top_k ? "operand of topk" : "columns of the router's GEMM");
    }
    if (!sizes_.vocabulary) return;
    if (tensor_ > 1) {
      out_.Set(
          WorkloadPart::kVocabulary,
          fmt::format("{} ({} on this rank)", *sizes_.vocabulary * tensor_, *sizes_.vocabulary),
          Certainty::kInferred,
          fmt::format("{} of a vocabulary that {} ranks share", sizes_.vocabulary_evidence,
                      tensor_));
    } else {
      out_.Set(WorkloadPart::kVocabulary, fmt::format("{}", *sizes_.vocabulary),
               Certainty::kInferred, sizes_.vocabulary_evidence);
    }
  }

  void Heads() {
    const AttentionSizes* attention = sizes_.Attention();
    if (attention == nullptr || attention->heads <= 0) return;
    const auto stages = StagesOf(sizes_.attentions, *attention);
    std::string text =
        fmt::format("{} x {}",
                    stages ? FromTo(stages->heads_least * tensor_, stages->heads_most * tensor_)
                           : fmt::to_string(attention->heads * tensor_),
                    attention->head);
    std::string more;
    if (tensor_ > 1) more = fmt::format("{} on this rank", attention->heads);
    if (attention->kv_heads != attention->heads) {
      more += fmt::format("{}{} KV head{}", more.empty() ? "" : ", with ", attention->kv_heads,
                          attention->kv_heads == 1 ? "" : "s");
    }
    if (!more.empty()) text += fmt::format(" ({})", more);
    out_.Set(WorkloadPart::kHeads, std::move(text),
             tensor_ > 1 || !attention->fused ? Certainty::kInferred : Certainty::kRecorded,
             "operands of " + attention->op);
  }

  // The type of an operation's first floating-point operand, as far as its shapes are recorded.
  static std::string OperandType(const ShapedOperation& one) {
    for (const std::string& type : one.types) {
      const std::string name = ShortType(type);
      for (const std::string_view known : {"bf16", "fp16", "fp32", "fp64", "fp8", "int8"}) {
        if (name.starts_with(known)) return std::string(known);
      }
    }
    return "";
  }

  // Most tensors among the operands are of doubles; numbers from Python are doubles without axes.
  static bool HasDoubles(const ShapedOperation& one) {
    if (one.types.size() != one.shapes.size()) return false;
    std::size_t tensors = 0, doubles = 0;
    for (std::size_t i = 0; i < one.types.size(); ++i) {
      if (one.shapes[i].empty()) continue;
      ++tensors;
      if (one.types[i] == "double") ++doubles;
    }
    return doubles * 2 > tensors;
  }

  // Without copies from and to the host, which do not compute.
  static double KernelUs(const Operation& operation) {
    double us = 0;
    for (const KernelShare& kernel : operation.kernels) {
      const bool copy = kernel.name.starts_with("Memcpy") || kernel.name.starts_with("Memset");
      us += copy ? 0 : kernel.total_us;
    }
    return us;
  }

  void Precision() {
    std::map<std::string, double> us;
    double all = 0, accidental = 0;
    // Each kernel is looked at once: whether it is matrix work (absent: its name does not say; what
    // converts layouts below a convolution is none), and its precision.
    std::unordered_map<std::string_view, std::pair<std::optional<bool>, std::string>> looked_at;
    for (const ShapedOperation& one : facts_.operations) {
      const bool matrix =
          one.kind == Kind::kGemm || one.kind == Kind::kSdpa || one.kind == Kind::kConvolution;
      const std::string operand = OperandType(one);
      if (HasDoubles(one)) accidental += KernelUs(*one.operation);
      for (const KernelShare& kernel : one.operation->kernels) {
        const auto [known, added] = looked_at.try_emplace(kernel.name);
        if (added) known->second = {IsMatrixKernel(kernel.name), PrecisionOfKernel(kernel.name)};
        if (!known->second.first.value_or(matrix)) continue;
        std::string type = known->second.second;
        if (type.empty() && !matrix) continue;
        if (type.empty()) type = operand;
        if (type.empty()) continue;
        us[type] += kernel.total_us;
        all += kernel.total_us;
      }
    }
    if (all <= 0) return PrecisionWithoutProducts();
    // Names that leave it open mean what the others say.
    if (const auto open = us.find("fp8 or int8"); open != us.end()) {
      const bool fp8 = us.contains("fp8"), int8 = us.contains("int8");
      if (fp8 != int8) {
        us[fp8 ? "fp8" : "int8"] += open->second;
        us.erase(open);
      }
    }
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [type, time] : us)
      order.emplace_back(-time, type);
    std::sort(order.begin(), order.end());
    std::string text;
    for (const auto& [time, type] : order) {
      const double share = -time / all;
      if (share < kPrecisionShown && !text.empty()) continue;
      text += (text.empty() ? "" : ", ") + type;
      if (share < 0.97) text += fmt::format(" {:.0f}%", 100 * share);
    }
    if (accidental > kAccidentalShown * facts_.ComputeUs() && !us.contains("fp64"))
      text += fmt::format(", fp64 operands in other ops ({} ms)", ThreeDigits(accidental / 1000));
    if (Kernels({"fp8kvcachedatatype)1", "qkve4m3"}).count > 0) text += ", fp8 cache";
    out_.Set(WorkloadPart::kPrecision, std::move(text), Certainty::kRecorded,
             "time of GEMMs, attention and convolutions by kernel names and operands");
  }

  // Of a workload that multiplies no matrices.
  void PrecisionWithoutProducts() {
    std::map<std::string, double> us;
    for (const ShapedOperation& one : facts_.operations) {
      if (one.kind == Kind::kCommunication) continue;
      if (std::string type = OperandType(one); !type.empty()) us[type] += one.operation->gpu_us;
    }
    const auto most = std::max_element(
        us.begin(), us.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == us.end()) return;
    out_.Set(WorkloadPart::kPrecision, most->first, Certainty::kRecorded,
             "operands of the ops with the most GPU time");
  }

  void Device() {
    std::set<std::string> names;
    for (const trace::Device& device : metadata_.devices)
      names.insert(device.name);
    if (names.size() == 1) {
      const trace::Device& device = metadata_.devices.front();
      if (const perf::Platform* known = perf::MatchDevice(device.name)) {
        out_.Set(WorkloadPart::kDevice, known->name, Certainty::kRecorded,
                 "deviceProperties: " + device.name);
        return;
      }
      const perf::DeviceProperties properties = session::PropertiesOf(device);
      if (const perf::Platform* known = perf::MatchProperties(properties)) {
        out_.Set(WorkloadPart::kDevice, known->name, Certainty::kInferred,
                 fmt::format("device {}, {}",
                             device.name.empty() ? "without a name" : "\"" + device.name + "\"",
                             perf::PropertiesText(properties)));
        return;
      }
      std::string text(perf::ClassOfProperties(properties));
      if (!text.empty()) {
        out_.Set(WorkloadPart::kDevice,
                 device.name.empty() ? text : fmt::format("{} ({})", text, OneLine(device.name)),
                 Certainty::kInferred, perf::PropertiesText(properties));
        return;
      }
      text = device.name;
      if (const std::string more = perf::PropertiesText(properties); !more.empty())
        text += text.empty() ? "GPU with " + more : " (" + more + ")";
      out_.Set(WorkloadPart::kDevice, OneLine(text), Certainty::kRecorded, "deviceProperties");
      return;
    }
    if (names.size() > 1) {
      std::string all;
      for (const std::string& name : names)
        all += (all.empty() ? "" : " or ") + name;
      out_.Set(WorkloadPart::kDevice, all, Certainty::kRecorded, "deviceProperties");
      return;
    }
    DeviceByKernels();
  }

  // Kernels that are built for one architecture carry its name; the newest one is the device's.
  void DeviceByKernels() {
    if (const auto units = session::UnitsMatchOf(facts_.trace)) {
      out_.Set(WorkloadPart::kDevice, std::string(units->family), Certainty::kInferred,
               "device not recorded; by the grids of kernels and their blocks per SM");
      return;
    }
    struct Row {
      std::string_view lower_part, text;
    };
    for (const Row& row :
         {Row{"sm100", "Blackwell GPU (sm100)"}, Row{"sm90", "Hopper GPU (sm90)"},
          Row{"nvjet_", "Hopper GPU or newer"}, Row{"isa950", "MI350 series (gfx950)"},
          Row{"isa942", "MI300 series (gfx942)"}, Row{"isa90a", "MI200 series (gfx90a)"},
          Row{"isa908", "MI100 (gfx908)"}, Row{"ampere_", "Ampere GPU or newer"},
          Row{"sm80", "Ampere GPU or newer"}, Row{"turing_", "Turing GPU"},
          Row{"volta_", "Volta GPU (V100 class)"}}) {
      const NamedWork kernel = Kernels({row.lower_part});
      if (kernel.count == 0) continue;
      out_.Set(WorkloadPart::kDevice, std::string(row.text), Certainty::kInferred,
               fmt::format("device not recorded; kernel {}", Utf8Prefix(kernel.name, 40)));
      return;
    }
  }

  void Parallelism() {
    if (facts_.trace.rank_part() && !metadata_.world_size) return SingleRank();
    if (!metadata_.world_size && !metadata_.rank) return SingleRank();
    std::string text, evidence = "distributedInfo";
    const auto add = [&](std::string part) { text += (text.empty() ? "" : ", ") + part; };
    const auto say = [&](std::string_view part) { evidence += "; " + std::string(part); };
    if (ranks_ > 1) {
      if (tensor_ > 1) {
        add(fmt::format("tensor parallel {}", tensor_));
        say(tensor_evidence_);
      }
      const bool exchange = Notes({"all_to_all", "alltoall"}).count +
                                Ops({"alltoall", "all_to_all"}).count +
                                Kernels({"all_to_all", "alltoall"}).count >
                            0;
      if (exchange && sizes_.has_experts) {
        add(fmt::format("expert parallel {}", ranks_));
        say("all-to-all with experts");
      } else if (exchange && ContainsNoCase(out_[WorkloadPart::kFamily].value, "recommendation")) {
        add("embeddings split over ranks");
        say("all-to-all of embeddings");
      } else if (exchange) {
        add("all-to-all between ranks");
      }
      DataParallel(add);
    }
    add(RankText());
    out_.Set(WorkloadPart::kParallelism, std::move(text), Certainty::kRecorded,
             std::move(evidence));
  }

  template <typename Add>
  void DataParallel(const Add& add) const {
    const std::string& framework = out_[WorkloadPart::kFramework].value;
    if (framework.find("FSDP") != std::string::npos) {
      add(std::string("fully sharded data parallel"));
    } else if (framework.find("DDP") != std::string::npos) {
      add(std::string("data parallel"));
    }
  }

  std::int64_t RanksOfPart() const {
    const auto& part = facts_.trace.rank_part();
    return part ? static_cast<std::int64_t>(part->ranks.size()) : 1;
  }

  // Which rank of how many the trace is.
  std::string RankText() const {
    if (const auto& part = facts_.trace.rank_part()) {
      const std::string job = ranks_ > RanksOfPart() ? fmt::format(", job of {}", ranks_) : "";
      return part->Text() + job;
    }
    if (metadata_.rank && !metadata_.world_size) return fmt::format("rank {}", *metadata_.rank);
    if (ranks_ == 1) return "1 rank";
    return fmt::format("rank {} of {}", metadata_.rank.value_or(0), ranks_);
  }

  std::size_t RanksInFile() const {
    return analysis::FindMergedRanks(facts_.trace.events(), facts_.trace.trace().metadata,
                                     facts_.trace.track_names(),
                                     facts_.trace.tree().launch_processes())
        .Ranks()
        .size();
  }

  void SingleRank() {
    constexpr const char* kProcesses = "processes that launch GPU work";
    if (facts_.trace.rank_part()) {
      out_.Set(WorkloadPart::kParallelism, RankText(), Certainty::kRecorded,
               facts_.trace.rank_part()->devices ? "devices of one process that run kernels"
                                                 : kProcesses);
    } else if (const std::size_t ranks = RanksInFile(); ranks > 1) {
      out_.Set(WorkloadPart::kParallelism, fmt::format("{} ranks in one file", ranks),
               Certainty::kRecorded, kProcesses);
    } else if (Kernels({"nccl", "rccl", "cross_device_reduce", "multimem_all"}).count > 0) {
      out_.Set(WorkloadPart::kParallelism, "several ranks, of which one is recorded",
               Certainty::kInferred, "communication kernels");
    } else if (facts_.gpu_us > 0) {
      out_.Set(WorkloadPart::kParallelism, "1 rank", Certainty::kInferred,
               "no communication, no distributedInfo");
    }
  }

  const WorkloadFacts& facts_;
  const WorkloadSizes& sizes_;
  Workload& out_;
  const trace::Metadata& metadata_;
  std::int64_t ranks_;
  std::int64_t tensor_ = 1;
  std::string tensor_evidence_;
};

}  // namespace

std::optional<bool> IsMatrixKernel(std::string_view kernel) {
  const ledger::WorkKind kind = ledger::ClassifyKernelName(kernel).kind;
  if (kind == ledger::WorkKind::kUnknown) return std::nullopt;
  return kind == ledger::WorkKind::kProduct || kind == ledger::WorkKind::kConvolution ||
         kind == ledger::WorkKind::kAttention;
}

std::string PrecisionOfKernel(std::string_view name) {
  if (name.starts_with("Cijk_")) return PrecisionOfTensile(name);
  const bool mx4 = Has(name, "mxe2m1") || Has(name, "mxfp4");
  const bool mx8 = Has(name, "mxe4m3") || Has(name, "mxfp8") || Has(name, "mx_float8");
  if (mx4) return mx8 ? "mxfp4 x mxfp8" : Has(name, "bf16") ? "mxfp4 x bf16" : "mxfp4";
  if (mx8) return "mxfp8";
  // What the library's names mean: words of a name are the types of results as well.
  const std::string_view known = ledger::ClassifyKernelName(name).precision;
  // A Fourier transform's products are complex whatever the operands are.
  if (!known.empty() && !known.starts_with("complex")) return std::string(known);
  if (Has(name, "nvfp4") || Has(name, "e2m1")) return "fp4";
  // Scales of blocks in e8m0 make it the OCP format.
  if (Has(name, "e4m3") && (Has(name, "ue8m0") || Has(name, "blockscaled"))) return "mxfp8";
  if (Has(name, "e4m3") || Has(name, "float8") || Has(name, "_fp8")) return "fp8";
  if (Has(name, "dgemm") || Has(name, "<double")) return "fp64";
  if (Has(name, "imma") || Has(name, "i8816") || Has(name, "i16832") || Has(name, "int8"))
    return "int8";
  if (Has(name, "tf32")) return "tf32";
  if (Has(name, "bf16") || Has(name, "bfloat16")) return "bf16";
  if (Has(name, "f16_s") || Has(name, "fp16") || Has(name, "f16f16") || Has(name, "hgemm") ||
      Has(name, "_h1688") || Has(name, "_h884") || Has(name, "__half")) {
    return "fp16";
  }
  if (Has(name, "s1688") || Has(name, "s16816"))
    return Has(name, "gemm_f32") || Has(name, "tensorop_s1688") ? "tf32" : "";
  if (Has(name, "sgemm") || Has(name, "scudnn") || Has(name, "f32_aligned") || Has(name, "_simt_"))
    return "fp32";
  return "";
}

void TellMachine(const WorkloadFacts& facts, const WorkloadSizes& sizes, Workload* out) {
  MachineTeller(facts, sizes, out).Run();
}

}  // namespace jarvis::findings
