#include "findings/one/workload_family.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/model_families.h"
#include "findings/one/workload_graph_network.h"
#include "findings/one/workload_recurrent.h"
#include "findings/one/workload_scopes.h"
#include "findings/one/workload_tables.h"
#include "findings/one/workload_unet.h"

namespace jarvis::findings {

FamilyTeller::FamilyTeller(const WorkloadFacts& facts, const WorkloadSizes& sizes,
                           const ModulePlace* main, std::uint64_t passes)
    : facts_(facts), sizes_(sizes), main_(main), passes_(passes) {
  for (const CategoryAnalysis& category : facts.categories)
    kinds_[category.kind] += category.gpu_us;
}

bool IsNormClass(std::string_view name) {
  return ContainsNoCase(name, "norm");
}

double FamilyTeller::Time(Kind kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? 0 : found->second;
}

NamedWork FamilyTeller::Ops(std::initializer_list<std::string_view> parts) const {
  return Containing(facts_.ops, parts);
}

NamedWork FamilyTeller::Kernels(std::initializer_list<std::string_view> parts) const {
  return Containing(facts_.kernels, parts);
}

NamedWork FamilyTeller::Notes(std::initializer_list<std::string_view> parts) const {
  return Containing(facts_.annotations, parts);
}

bool FamilyTeller::MainIs(std::initializer_list<std::string_view> lower_parts) const {
  return main_ != nullptr &&
         std::any_of(lower_parts.begin(), lower_parts.end(),
                     [&](std::string_view part) { return ContainsNoCase(main_->name, part); });
}

bool FamilyTeller::Causal() const {
  const AttentionSizes* attention = sizes_.Attention();
  return (attention != nullptr && attention->causal.value_or(false)) ||
         Ops({"triangmaskedsoftmax", "triang_masked"}).count > 0 ||
         Kernels({"triang_masked", "causal"}).count > 0;
}

bool FamilyTeller::KeepsCache() const {
  return Ops({"reshape_and_cache", "store_cache", "paged", "set_kv_buffer"}).count > 0 ||
         Kernels({"reshape_and_cache", "store_kvcache", "paged", "kv_indices", "destindex_copy_kv",
                  "unified_attention", "append_paged", "kvcache"})
                 .count > 0;
}

bool FamilyTeller::HasAttention() const {
  return !sizes_.attentions.empty() || Time(Kind::kSdpa) > 0 ||
         Kernels({"attention", "fmha", "flash_fwd", "attn_fwd", "mla_"}).count > 0;
}

// Attention as ops of its own, whose shapes are not recorded: softmax between two products.
bool FamilyTeller::LooksLikeAttention() const {
  const std::uint64_t softmaxes = Ops({"aten::_softmax"}).count;
  return softmaxes >= 2 && Ops({"aten::bmm", "aten::baddbmm"}).count >= softmaxes;
}

std::string FamilyTeller::TransformerFamily(std::string* why) const {
  if (MainIs({"transformer2d", "dit", "flux", "mmdit"}) &&
      (MainIs({"transformer2d"}) || Notes({"diffusion"}).count > 0)) {
    *why = "class name";
    return "diffusion transformer";
  }
  if (MainIs({"conditionalgeneration", "seq2seq", "encoderdecoder"})) {
    *why = "class name";
    return "encoder-decoder transformer";
  }
  const ImageSizes* image = sizes_.image ? &*sizes_.image : nullptr;
  if (image != nullptr && image->patch > 0 && sizes_.hidden) return VisionFamily(why);
  if (!HasTransformerParts()) return PartsOnly(why);
  const bool looks_both_ways = sizes_.Attention() != nullptr && sizes_.Attention()->fused &&
                               !sizes_.Attention()->causal.value_or(true);
  const bool encoder = MainIs({"bert", "maskedlm", "encoder"}) ||
                       (looks_both_ways && !KeepsCache() && !sizes_.vocabulary);
  const bool decoder =
      Causal() || KeepsCache() || MainIs({"causallm", "lmhead", "decoder"}) || sizes_.vocabulary;
  const std::string experts = sizes_.has_experts ? "mixture-of-experts " : "";
  if (decoder && (!encoder || KeepsCache() || Causal())) {
    *why = KeepsCache()        ? "attention over a cache of keys and values"
           : Causal()          ? "causal attention"
           : sizes_.vocabulary ? "attention and " + sizes_.vocabulary_evidence
                               : "class name";
    return experts.empty() ? "decoder-only transformer" : experts + "decoder";
  }
  *why = looks_both_ways ? "attention ops that are not causal" : "attention ops";
  if (encoder && main_ != nullptr) return experts + "transformer encoder";
  return experts + (looks_both_ways ? "transformer (attention not causal)" : "transformer") +
         PartsText();
}

// What a transformer has beside attention and products: a norm, an MLP, an embedding, a head, or as
// many layers as nothing else has.
bool FamilyTeller::HasTransformerParts() const {
  constexpr std::uint64_t kLayersLeast = 4;
  if (main_ != nullptr || sizes_.vocabulary || sizes_.has_experts || KeepsCache()) return true;
  if (Time(Kind::kNorm) > 0 || Time(Kind::kMoe) > 0) return true;
  const auto parts = {"layer_norm",   "layernorm", "rms_norm",    "rmsnorm",       "rsqrt",
                      "gelu",         "silu",      "swiglu",      "mlp",           "ffn",
                      "feed_forward", "embedding", "transformer", "decoder_layer", "encoder_layer"};
  const auto named = [&](std::string_view name) {
    // The library of this name has attention alone, too.
    return !ContainsNoCase(name, "transformer_engine") &&
           std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return ContainsNoCase(name, part); });
  };
  for (const auto* all : {&facts_.kernels, &facts_.ops, &facts_.annotations}) {
    if (std::ranges::any_of(*all, [&](const NamedWork& one) { return named(one.name); }))
      return true;
  }
  if (std::ranges::any_of(ScopesOfWork(facts_), named)) return true;
  std::uint64_t kernels = 0, calls = 0;
  for (const NamedWork& one : facts_.kernels)
    kernels = std::max(kernels, one.kind == ledger::WorkKind::kAttention ? one.count : 0);
  for (const AttentionSizes& one : sizes_.attentions)
    calls += one.calls;
  return std::max({kernels, calls, Ops({"aten::_softmax"}).count}) >= kLayersLeast * passes_;
}

// Of attention without them.
std::string FamilyTeller::PartsOnly(std::string* why) const {
  const bool compiled =
      std::any_of(facts_.kernels.begin(), facts_.kernels.end(), [](const NamedWork& one) {
        return one.name.starts_with("triton_") || ContainsNoCase(one.name, "fusion");
      });
  *why = compiled ? "attention ops; norms and MLPs, if there are any, do not show in the names of "
                    "compiled kernels"
                  : "attention ops, and no norm, MLP or embedding";
  return fmt::format("{}attention{}", Causal() ? "causal " : "",
                     Time(Kind::kGemm) > 0 ? " and GEMMs" : "");
}

// What generated kernels are named after, where no module tells more.
std::string FamilyTeller::PartsText() const {
  if (main_ != nullptr) return "";
  const auto has = [&](std::initializer_list<std::string_view> all) {
    return std::any_of(facts_.kernels.begin(), facts_.kernels.end(), [&](const NamedWork& one) {
      return one.name.starts_with("triton_") &&
             std::all_of(all.begin(), all.end(), [&](std::string_view part) {
               return one.name.find(part) != std::string_view::npos;
             });
    });
  };
  const bool norm = has({"mean", "pow", "rsqrt"});
  const bool gated = has({"silu", "mul"});
  if (!norm && !gated) return "";
  return fmt::format(" with {}{}{}", norm ? "RMSNorm" : "", norm && gated ? " and " : "",
                     gated ? "SwiGLU" : "");
}

std::string FamilyTeller::VisionFamily(std::string* why) const {
  const ImageSizes& image = *sizes_.image;
  *why = fmt::format("convolution cuts patches of {} x {} to {} channels", image.patch, image.patch,
                     image.channels);
  std::string name = image.frames > 0 ? "video transformer" : "vision transformer";
  const AttentionSizes* attention = sizes_.Attention();
  if (attention != nullptr) {
    const std::string_view size = VitOf(attention->heads * attention->head, attention->heads);
    if (!size.empty()) {
      name = fmt::format("{} ({})", size, name);
      *why += fmt::format("; {} heads of {}", attention->heads, attention->head);
    }
  }
  // A few prompt tokens that attend to the whole image, and masks that are enlarged from it.
  const bool prompts = std::any_of(sizes_.attentions.begin(), sizes_.attentions.end(),
                                   [](const AttentionSizes& one) { return one.IsOfPrompts(); });
  if (prompts && Ops({"conv_transpose2d"}).count > 0) {
    *why += "; few queries over all image tokens, transposed convolutions";
    name += " with a promptable mask decoder (like Segment Anything)";
  }
  return name;
}

// Recurrence holds much of the time, and no attention as much as a transformer's.
bool FamilyTeller::IsRecurrent(double gpu_us) const {
  constexpr double kMuch = 0.25, kMost = 0.6;  // of computing
  constexpr double kBeside = 0.25;             // attention, of the recurrence's time
  double attention_us = Time(Kind::kSdpa);
  for (const AttentionSizes& one : sizes_.attentions)
    attention_us += one.fused ? 0 : one.gpu_us;
  const double compute_us = facts_.ComputeUs();
  return gpu_us >= kMost * compute_us ||
         (gpu_us >= kMuch * compute_us && attention_us <= kBeside * gpu_us);
}

// A class that is called U-Net is one of diffusion where something else says so, too.
FamilyTold FamilyTeller::TellUnet(Workload* out) const {
  FamilyTold told{.by_signature = true, .has_vocabulary = false};
  if (const auto unet = FindDiffusionUnet(facts_, sizes_)) {
    TellDiffusionUnet(*unet, out);
    if (main_ == nullptr) told.calls = unet->calls;
    return told;
  }
  if (!MainIs({"unet"})) return {};
  const std::int64_t batch = BatchOfConvolutions(facts_);
  const bool attends = HasAttention() || LooksLikeAttention();
  const bool norms = Ops({"group_norm"}).count > 0 || Kernels({"group_norm"}).count > 0;
  const bool conditioned = ContainsNoCase(main_->name, "condition");  // on a time step, on a prompt
  const bool library = main_->file.find("diffusers/") != std::string_view::npos;
  const bool diffusion =
      library || conditioned || (norms && (attends || HasTimeStep(sizes_, batch)));
  if (!diffusion && attends) return {};  // one with a transformer before it
  std::string why = "class name";
  if (library) {
    why += fmt::format(", {}", main_->file);
  } else if (diffusion && !conditioned) {
    why += ", group norms, and attention or a time step";
  }
  out->Set(WorkloadPart::kFamily, diffusion ? "diffusion U-Net" : "convolutional network (U-Net)",
           Certainty::kInferred, std::move(why));
  if (batch > 0 && !sizes_.image) {
    out->Set(WorkloadPart::kBatch, fmt::format("batch {}", batch), Certainty::kRecorded,
             "inputs of the convolutions");
  }
  return told;
}

bool FamilyTeller::TellTables(Workload* out) const {
  if (HasAttention() || LooksLikeAttention()) return false;
  if (Time(Kind::kConvolution) > 0.1 * facts_.ComputeUs()) return false;
  const auto found = FindCategoryTables(facts_, sizes_);
  if (!found) return false;
  out->Set(
      WorkloadPart::kFamily, "recommendation model (DLRM-like)", Certainty::kInferred,
      fmt::format("lookups in {} large tables for each sample, and dense layers", found->tables));
  out->Set(WorkloadPart::kBatch, fmt::format("batch {}", found->batch), Certainty::kInferred,
           "rows that are looked up in each table, and of the GEMMs");
  return true;
}

// Families that ops of their own show.
FamilyTold FamilyTeller::TellBySignature(Workload* out) const {
  if (const auto recurrence = FindRecurrence(facts_, passes_)) {
    if (IsRecurrent(recurrence->gpu_us)) {
      TellRecurrence(facts_, *recurrence, out);
      return {.by_signature = true};
    }
    if (!HasAttention() && !LooksLikeAttention()) TellBatchOf(*recurrence, out);
  }
  if (const FamilyTold unet = TellUnet(out); unet.by_signature) return unet;
  const auto network = FindGraphNetwork(facts_, sizes_);
  if (network && network->much && Time(Kind::kConvolution) < network->gpu_us) {
    TellGraphNetwork(*network, out);
    return {.by_signature = true, .layers_are_modules = true, .has_vocabulary = false};
  }
  if (TellTables(out)) return {.by_signature = true, .has_vocabulary = false};
  return {.rows_are_nodes = network && sizes_.tokens && network->nodes_least <= *sizes_.tokens &&
                            *sizes_.tokens <= network->nodes_most};
}

FamilyTold FamilyTeller::Tell(Workload* out) const {
  FamilyTold told;
  std::string why, family;
  const double convolution = Time(Kind::kConvolution);
  const bool bags = Ops({"embedding_bag", "fbgemm::", "split_embedding"}).count > 0 ||
                    Kernels({"split_embedding", "embeddingbag"}).count > 0;
  const bool products = Time(Kind::kGemm) > 0 || Time(Kind::kMoe) > 0;
  if (bags) {
    family = "recommendation model (DLRM-like)";
    why = "embedding bags and dense layers";
  } else if (told = TellBySignature(out); told.by_signature) {
    return told;
  } else if (IsGroupNormedPyramid(facts_)) {
    family = "convolutional network";
    why = "convolutions and group norms at several resolutions";
  } else if (HasAttention() && convolution < 0.5 * facts_.ComputeUs()) {
    family = TransformerFamily(&why);
  } else if (sizes_.has_experts) {
    family = "mixture-of-experts layer";
    why = "expert kernels, no attention";
  } else if (convolution < 0.2 * facts_.ComputeUs() && LooksLikeAttention()) {
    family = TransformerFamily(&why);
    why = "softmax between batched GEMMs";
  } else if (convolution > 0 || Kernels({"igemm_fwd", "implicit_gemm", "winograd"}).count > 0) {
    family = "convolutional network";
    why = "convolutions";
  } else if (OnlyNorms()) {
    family = "normalisation layers (microbenchmark)";
    why = "all modules or ops with GPU time are norms";
  } else if (products) {
    family = "dense layers";
    why = "GEMMs without attention, convolutions or embeddings";
  } else if (const ShapedOperation* one = SingleOp()) {
    family = fmt::format("{} (microbenchmark)", one->operation->name);
    why = "nearly all GPU time is of this op";
  }
  // What acts before it learns says so by the names of its ranges, or nothing does.
  const bool trains = facts_.backward || Notes({"optimizer.step"}).count > 0;
  if (!family.empty() && trains && Notes({"rollout"}).count > 0) {
    family += " trained by reinforcement learning";
    why += "; a range named rollout";
  }
  out->Set(WorkloadPart::kFamily, std::move(family), Certainty::kInferred, std::move(why));
  return told;
}

const ShapedOperation* FamilyTeller::SingleOp() const {
  if (facts_.operations.empty()) return nullptr;
  const ShapedOperation& first = facts_.operations.front();
  return first.operation->gpu_us >= 0.9 * facts_.gpu_us ? &first : nullptr;
}

bool FamilyTeller::OnlyNorms() const {
  if (main_ != nullptr && !main_->children.empty()) {
    return std::all_of(main_->children.begin(), main_->children.end(), [&](std::uint32_t child) {
      const ModulePlace& place = facts_.modules[child];
      return IsNormClass(place.name) || place.gpu_us <= 0.05 * main_->gpu_us;
    });
  }
  return Time(Kind::kGemm) <= 0 && Time(Kind::kNorm) > 0.5 * facts_.ComputeUs();
}

}  // namespace jarvis::findings
