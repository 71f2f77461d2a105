#include "findings/one/causes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "findings/one/cause_context.h"
#include "findings/one/estimates.h"
#include "findings/one/few_blocks.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/misaligned_sizes.h"
#include "findings/one/needs.h"
#include "findings/one/precision_findings.h"
#include "findings/one/product_kernels.h"
#include "findings/one/published_rates.h"
#include "findings/one/shapes.h"
#include "findings/one/sibling_facts.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using Facts = std::vector<Fact>;

Fact CauseText(std::string key, std::string value) {
  return {std::move(key), std::move(value), {}};
}
// A piece of a sentence, not a name of the trace.
Fact CauseWords(std::string key, std::string value) {
  return {std::move(key), std::move(value), "words"};
}
Fact CauseCount(std::string key, double value) {
  return {std::move(key), static_cast<std::int64_t>(value), {}};
}

std::string ShapeText(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape)
    text += fmt::format("{}{}", text.empty() ? "(" : ",", size);
  return text.empty() ? "()" : text + ")";
}

class CauseFinder {
 public:
  CauseFinder(const Calls& calls, const WorkContext& work,
              std::vector<CategoryAnalysis>* categories)
      : calls_(calls), work_(work), out_(*categories), context_(calls, work, *categories) {
    for (const CategoryAnalysis& category : out_) {
      const bool products = category.kind == Kind::kGemm || category.kind == Kind::kConvolution ||
                            category.kind == Kind::kSdpa || category.kind == Kind::kMoe;
      if (products) products_us_ += category.gpu_us;
    }
  }

  void Run() {
    for (CategoryAnalysis& category : out_) {
      for (Operation& operation : category.operations) {
        if (operation.gpu_us <= 0 || operation.claimed || operation.count == 0) continue;
        if (operation.cause) continue;  // of a replayed sequence
        Explain(category, &operation);
      }
    }
    Siblings();
    DropSmall();
    for (CategoryAnalysis& category : out_) {
      for (Operation& operation : category.operations)
        Settle(&operation);
      RateCategory(&category);
    }
  }

 private:
  // The first rule that holds; the order is from the most certain to the least.
  void Explain(const CategoryAnalysis& category, Operation* o) {
    const Kind kind = category.kind;
    const bool product = kind == Kind::kGemm || kind == Kind::kConvolution;
    if (product && Tf32(o)) return;
    if (o->efficiency.impossible) return;
    if (!product && AccidentalDouble(o)) return;
    if (kind == Kind::kGemm && (Unaligned(o) || WeightBound(o))) return;
    if (kind == Kind::kSdpa && (FewQueries(o) || SlowAttention(o))) return;
    if (kind == Kind::kReduce && SumOfOne(o)) return;
    if (kind == Kind::kElementwise && ParameterAgain(o)) return;
    if (kind == Kind::kNorm && NarrowNorm(o)) return;
    o->cause = FewBlocksCause(calls_, work_, category, *o);
    if (o->cause) o->efficiency.bound = Bound::kFewBlocks;
  }

  void Set(Operation* o, Pattern pattern, std::string group, Facts facts, ToldWay way = {}) const {
    o->cause = Cause{pattern, std::move(group), std::move(facts), {}, {}, {}, {}, 0, {}, way};
  }

  double KernelPart(const Operation& o, const std::function<bool(std::string_view)>& wanted) const {
    double us = 0;
    for (const KernelShare& kernel : o.kernels) {
      if (wanted(kernel.name)) us += kernel.total_us;
    }
    return us / o.gpu_us;
  }
  static Fact KernelFact(const Operation& o) {
    return CauseText("kernel", o.kernels.empty()
                                   ? std::string()
                                   : analysis::ShortKernelName(o.kernels.front().name));
  }
  const analysis::WorkCall& FirstCall(const Operation& o) const {
    return calls_.calls[context_.FirstCallOf(o)];
  }
  std::optional<double> Number(const Operation& o, std::string_view key) const {
    const analysis::WorkCall& call = FirstCall(o);
    return call.work == nullptr ? std::nullopt : call.work->NumberOf(key);
  }
  const trace::Args& ArgsOf(const Operation& o) const { return calls_.events().args_of(o.example); }
  std::vector<Shape> ShapesOf(const Operation& o) const {
    if (o.dims.empty()) return {};
    return ParseShapes(calls_.events().text(ArgsOf(o).dims));
  }
  std::vector<std::string> TypesOf(const Operation& o) const {
    if (o.types.empty()) return {};
    return ParseTypes(calls_.events().text(ArgsOf(o).types));
  }
  double MemoryPart(const Operation& o) const {
    const Efficiency& e = o.efficiency;
    if (!e.bytes || !e.peak_tb_per_s || *e.peak_tb_per_s <= 0 || o.mean_us <= 0) return 0;
    return *e.bytes / *e.peak_tb_per_s / 1e6 / o.mean_us;
  }

  // By the roofline of units of that rate.
  static bool MemoryBoundAt(const Efficiency& e, double tflops) {
    return e.flops_per_byte && e.peak_tb_per_s && *e.flops_per_byte * *e.peak_tb_per_s < tflops;
  }

  // ---- precision

  bool Tf32(Operation* o) {
    const perf::Platform* platform = calls_.platform;
    if (platform == nullptr) return false;
    const bool sized = o->efficiency.spec.ends_with("fp32");
    if (!sized && !o->dims.empty()) return false;
    const auto peak = perf::PeakFor(*platform, "matrix_tf32");
    const auto fp32 = perf::PeakFor(*platform, "matrix_fp32");
    if (!peak || (fp32 && peak->tflops < limits::kSiblingGain * fp32->tflops)) return false;
    if (KernelPart(*o, &IsFp32ProductKernel) < 0.5) return false;
    // Without shapes the kernel may be as fast as fp32 units are, or wait for memory.
    const auto recorded = o->efficiency.tflops_per_s;
    if (sized ? !recorded || *recorded <= 0 : !fp32) return false;
    // What fp32 units would do while its operands are read, no faster unit does sooner.
    if (sized && fp32 && MemoryBoundAt(o->efficiency, fp32->tflops)) return false;
    const double now = sized ? *recorded : fp32->tflops;
    const double shortest = limits::kLaunchFloorUs / std::max(o->mean_us, 1e-3);
    const double memory = sized ? MemoryPart(*o) : 0;
    const double least = std::max(memory, shortest);
    Range part = SavedAtTensorRate(now, peak->tflops, least);
    if (!sized) part.low = 0;
    if (part.high <= 0) return false;
    const bool amd = platform->vendor == "AMD";
    Facts facts = {KernelFact(*o)};
    if (sized) facts.push_back(NumberFact("tflops_achieved", now, "TFLOPS/s"));
    facts.push_back(NumberFact("tf32_peak", peak->tflops, "TFLOPS/s"));
    facts.push_back(CauseText(
        "environment", amd ? "HIPBLASLT_ALLOW_TF32=1" : "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1"));
    Set(o, Pattern::kTf32Off, "tf32", std::move(facts));
    const Target target{part, OfThe("dense TF32 peak", limits::kTensorHigh), "estimate"};
    o->cause->b = target;
    // Half the bytes, and the same shares of a higher rate. Where products are few, casts take it.
    const bool many = products_us_ >= limits::kAutocastProducts / 100 * calls_.computation_us;
    const auto bf16 = perf::PeakFor(*platform, "matrix_bf16");
    if (bf16 && many) {
      AddWayToNarrow(work_, bf16->tflops, &o->cause->facts);
      Range more = SavedAtTensorRate(now, bf16->tflops, std::max(memory / 2, shortest));
      if (!sized) more.low = 0;
      o->cause->a = Target{more, OfThe("dense bf16 peak", limits::kTensorHigh), target.source};
    }
    if (sized) HoldAgainstTf32(peak->tflops, o);
    return true;
  }

  // What matters is what the device could do with one flag, not the unit that is used today: a
  // product that fp32 units compute is bound by them, wherever TF32 would be bound.
  void HoldAgainstTf32(double peak, Operation* o) const {
    Efficiency& e = o->efficiency;
    const perf::Roofline roof = perf::RooflineOf({e.flops, e.bytes, "matrix_tf32"},
                                                 *calls_.platform, perf::RoofRule::kPeak);
    if (!roof.roof_us || !roof.compute_us || o->mean_us <= 0) return;
    if (e.percent) o->details.push_back(NumberFact("percent_of_fp32_roof", *e.percent, "%"));
    e.percent = *roof.compute_us / o->mean_us * 100;
    e.roof_us = *roof.roof_us * static_cast<double>(o->count);
    e.bound = Bound::kCompute;
    e.peak_tflops = peak;
    e.peak_source = "peak";
    e.spec = "matrix_tf32";
    e.band = BandOf(e.percent);
    e.anomaly = *e.percent > limits::kAtRoof;
    e.impossible = *e.percent > limits::kImpossible;
  }

  bool AccidentalDouble(Operation* o) {
    if (context_.model_type().empty() || context_.model_type() == "fp64") return false;
    const std::vector<std::string> types = TypesOf(*o);
    const std::vector<Shape> shapes = ShapesOf(*o);
    if (types.size() != shapes.size()) return false;
    // One fp64 operand among many of a compiled function is not what its time goes to.
    if (!o->name.starts_with("aten::")) return false;
    double doubles = 0;
    double others = 0;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (shapes[i].empty() || TypeBytes(ShortType(types[i])) <= 0) continue;
      double& size = ShortType(types[i]) == "fp64" ? doubles : others;
      size = std::max(size, Elements(shapes[i]));
    }
    const bool large = doubles > 1 && 2 * doubles >= others;
    if (!large) return false;
    Set(o, Pattern::kAccidentalFp64, "fp64",
        {CauseText("model_type", context_.model_type()),
         CauseText("first_op", context_.first_double_op()),
         Fact{"first_place", context_.first_double_place(), "place"}});
    o->cause->a = Target{{0.35, 0.5, 0.6}, "half of the bytes", "the size of an element"};
    return true;
  }

  bool ParameterAgain(Operation* o) {
    const std::vector<Shape> shapes = ShapesOf(*o);
    const auto calls = static_cast<double>(o->count);
    const bool weight = !shapes.empty() && context_.IsWeight(shapes.front());
    if (context_.training() || calls < limits::kRepeats || !weight) return false;
    const auto cast =
        std::find_if(o->patterns.begin(), o->patterns.end(),
                     [](const PatternHit& hit) { return hit.pattern == Pattern::kDtypeCast; });
    const bool quantises = ContainsNoCase(o->category, "quant");
    if (!quantises && cast == o->patterns.end()) return false;
    Facts facts = quantises ? Facts() : cast->facts;
    facts.insert(facts.end(),
                 {CauseText("shape", ShapeText(shapes.front())), CauseCount("calls", calls)});
    if (context_.may_train()) facts.push_back({"trained", "if this is training", "words"});
    Set(o, quantises ? Pattern::kParameterQuantised : Pattern::kParameterCast,
        quantises ? "quantise" : "cast", std::move(facts));
    const double most = 1 - 1 / calls, least = context_.may_train() ? 0 : most / 2;
    o->cause->a = Target{{least, 0.9 * most, most}, "one call", "calls in this trace", true};
    return true;
  }

  // ---- products
  bool Unaligned(Operation* o) {
    const auto now = o->efficiency.tflops_per_s;
    const int newest = context_.newest_architecture();
    if (!now || *now <= 0) return false;
    if (KernelPart(*o, [&](std::string_view name) { return IsUnalignedKernel(name, newest); }) <
        0.5) {
      return false;
    }
    const std::vector<std::string> types = TypesOf(*o);
    const double bytes = o->efficiency.spec.ends_with("32") ? 4 : 2;
    const double unit = 16 / bytes;
    const auto [sizes, padded] =
        MisalignedSizes(Number(*o, "M").value_or(0), Number(*o, "N").value_or(0),
                        Number(*o, "K").value_or(0), unit);
    if (sizes.empty()) return false;
    const double target =
        std::max(context_.BestAligned(*o), Filled(*o) * context_.LargeGemm(o->efficiency.spec));
    const double least = MemoryPart(*o) / limits::kStreamShare;
    const auto saved = [&](double rate) {
      return std::max(0.0, std::min(SavedPart(*now, rate), 1 - least));
    };
    Set(o, Pattern::kUnalignedKernel, "align",
        {KernelFact(*o), NumberFact("tflops_achieved", *now, "TFLOPS/s"), CauseText("sizes", sizes),
         CauseText("padded", padded), CauseCount("multiple_of", unit)});
    if (target > 0) {
      // What a size like it reaches here is sure, whatever large ones reach.
      const double near = context_.NearestAligned(*o);
      const double least_rate = near > 0 ? std::min(near, 0.6 * target) : 0.6 * target;
      o->cause->a = Target{{saved(least_rate), saved(limits::kTargetSlack * target), saved(target)},
                           fmt::format("{:.0f} TFLOPS/s", target),
                           target > context_.BestAligned(*o)
                               ? context_.LargeGemmSource(o->efficiency.spec)
                               : "aligned GEMMs of the same type in this trace"};
    }
    return true;
  }

  std::string OfThe(std::string_view peak, double part) const {
    return fmt::format("{:.0f}% of the {} of {}", part * 100, peak, calls_.platform->name);
  }

  bool WeightBound(Operation* o) {
    const Efficiency& e = o->efficiency;
    const bool decode =
        std::any_of(o->patterns.begin(), o->patterns.end(),
                    [](const PatternHit& hit) { return hit.pattern == Pattern::kDecodeGemm; });
    if (!decode || !e.tb_per_s || !e.peak_tb_per_s || o->mean_us < 5) return false;
    const double goal = limits::kStreamShare * *e.peak_tb_per_s;
    if (*e.tb_per_s <= 0 || limits::kSiblingGain * *e.tb_per_s >= goal) return false;
    CauseContext::TunedBy tuned = context_.Tuning(*o);
    Set(o, Pattern::kWeightBound, "weights",
        {CauseCount("rows", Number(*o, "M").value_or(0)),
         NumberFact("tb_s_achieved", *e.tb_per_s, "TB/s"),
         NumberFact("bandwidth_percent", *e.tb_per_s / *e.peak_tb_per_s * 100, "%"),
         CauseWords("tuning", std::move(tuned.words))},
        tuned.way);
    // Half of the bytes, read at what the way without a change of the model reaches.
    if (e.spec.ends_with("bf16") || e.spec.ends_with("fp16")) {
      const double half = 1 - *e.tb_per_s / goal / 2;
      o->cause->option = Target{{half, half, half}, "", ""};
    }
    const Range part{SavedPart(*e.tb_per_s, limits::kTargetSlack * goal),
                     SavedPart(*e.tb_per_s, 0.93 * goal), SavedPart(*e.tb_per_s, goal)};
    o->cause->b = Target{part, OfThe("peak bandwidth", limits::kStreamShare), "estimate"};
    return true;
  }

  // Of the rate of large products: what this one can reach by its size. Convolutions have no tiles
  // that their sizes tell.
  double Filled(const Operation& o) const {
    const auto m = Number(o, "M"), n = Number(o, "N");
    return m && n ? FilledPart(calls_, *m, *n, Number(o, "B").value_or(1)) : 1;
  }

  // Products of one type against each other, after all else that explains a product.
  void Siblings() {
    for (CategoryAnalysis& category : out_) {
      if (category.kind != Kind::kGemm) continue;
      for (Operation& operation : category.operations) {
        if (!operation.cause && !operation.claimed) Sibling(category, &operation);
      }
    }
  }

  bool IsLargeProduct(const Operation& o) const {
    const Efficiency& e = o.efficiency;
    return e.flops && e.tflops_per_s && *e.tflops_per_s > 0 && !e.impossible && IsComputeBound(e) &&
           o.mean_us >= limits::kSiblingUs;
  }

  // Of a device that is not known what every device is bound by: FLOPs a byte beyond the ridge of
  // them all.
  bool IsComputeBound(const Efficiency& e) const {
    if (calls_.platform != nullptr) return e.bound == Bound::kCompute;
    return e.bytes && *e.bytes > 0 && *e.flops / *e.bytes >= limits::kRidgeOfAll;
  }

  void Sibling(const CategoryAnalysis& category, Operation* o) {
    if (!IsLargeProduct(*o)) return;
    const Efficiency& e = o->efficiency;
    const double filled = Filled(*o);
    const Operation* best = nullptr;
    for (const Operation& other : category.operations) {
      if (&other == o || !IsLargeProduct(other) || other.efficiency.spec != e.spec) continue;
      const double ratio = *other.efficiency.flops / *e.flops;
      if (ratio > limits::kSiblingFlops || ratio < 1 / limits::kSiblingFlops) continue;
      // What fills more of the device shows nothing of this one.
      if (Filled(other) > limits::kSiblingGain * filled) continue;
      if (best == nullptr || *other.efficiency.tflops_per_s > *best->efficiency.tflops_per_s)
        best = &other;
    }
    const double sibling = best == nullptr ? 0 : *best->efficiency.tflops_per_s;
    const double usual = filled * context_.LargeGemm(e.spec);
    const double most = std::max(usual, sibling);
    const double now = *e.tflops_per_s;
    if (most < limits::kSiblingGain * now) return;
    // What this trace shows is believed before what is usual.
    const bool by_sibling = best != nullptr && sibling >= 0.9 * usual && sibling > now;
    const double likely = by_sibling ? sibling : 0.95 * usual;
    CauseContext::TunedBy tuned = context_.Tuning(*o);
    Facts facts = {KernelFact(*o), NumberFact("tflops_achieved", now, "TFLOPS/s"),
                   NumberFact("target_tflops", likely, "TFLOPS/s"),
                   by_sibling ? CauseText("reference", SiblingText(*best))
                   : filled < 1
                       ? CauseWords("reference", "large GEMMs on this device with as few tiles")
                       : CauseWords("reference", "large GEMMs on this device"),
                   CauseWords("tuning", std::move(tuned.words))};
    if (const auto* merge = context_.MergeOf(*o)) {
      facts.push_back(CauseWords("merge", merge->text));
      facts.push_back(NumberFact("merge_ms", merge->ms, "ms"));
    }
    AddSpread(*o, &facts);
    Set(o, by_sibling ? Pattern::kSlowerThanSiblings : Pattern::kBelowLargeProducts, e.spec,
        std::move(facts), tuned.way);
    const double high = by_sibling ? likely : most;
    o->cause->b = Target{
        {SavedPart(now, limits::kTargetSlack * likely), SavedPart(now, likely),
         SavedPart(now, high)},
        fmt::format("{:.0f} TFLOPS/s", likely),
        by_sibling ? "another GEMM of this trace"
                   : context_.LargeGemmSource(e.spec) + (filled < 1 ? " with as few tiles" : "")};
    const double fp8 = filled * context_.Fp8Rate(e.spec);
    const double part = SavedPart(now, limits::kTargetSlack * fp8);
    if (part > 0) o->cause->option = Target{{part, part, part}, "", ""};
  }

  // ---- attention

  bool FewQueries(Operation* o) {
    const Efficiency& e = o->efficiency;
    const auto queries = Number(*o, "N_Q");
    const auto keys = Number(*o, "N_KV");
    if (!queries || !keys || !e.tb_per_s || !e.peak_tb_per_s || *e.tb_per_s <= 0) return false;
    if (o->classification == "paged") return false;
    const double few = std::min(*queries, *keys);
    const double many = std::max(*queries, *keys);
    if (few > limits::kFewQueries || few <= 0 || many < limits::kFewQueriesKeys * few) return false;
    const double peak = *e.peak_tb_per_s;
    if (*e.tb_per_s >= peak / 2) return false;
    Facts facts = {CauseCount("queries", *queries), CauseCount("keys", *keys), KernelFact(*o),
                   NumberFact("tb_s_achieved", *e.tb_per_s, "TB/s")};
    const bool walks = *queries < *keys;
    facts.push_back(CauseWords("few", walks ? "queries" : "keys"));
    // Only a grid that leaves units without a block asks for the keys to be split.
    const auto units = ComputeUnitsOf(calls_.trace);
    const auto blocks = o->gpu.empty() ? std::nullopt : BlocksOf(calls_.trace, o->gpu.front());
    if (walks && units && blocks && *blocks < *units) facts.push_back(CauseCount("walk", *keys));
    Set(o, Pattern::kFewQueries, walks ? "few_queries" : "few_keys", std::move(facts));
    // Operands that lie apart by head are copied first, and batched GEMMs of few rows reach a
    // quarter of the bandwidth as often as half.
    const Range part{SavedPart(*e.tb_per_s, peak / 8), SavedPart(*e.tb_per_s, peak / 4),
                     SavedPart(*e.tb_per_s, peak / 2)};
    o->cause->a = Target{part, OfThe("peak bandwidth", 0.5), "estimate"};
    return true;
  }

  bool SlowAttention(Operation* o) {
    const Efficiency& e = o->efficiency;
    if (calls_.platform == nullptr || !e.tflops_per_s || e.bound != Bound::kCompute) return false;
    if (!e.spec.ends_with("bf16") && !e.spec.ends_with("fp16")) return false;
    const auto head = Number(*o, "d_h_qk");
    const auto length = Number(*o, "N_Q");
    if (!head || !length || *length < limits::kShortSequence) return false;
    const PublishedAttention* rate = PublishedAttentionFor(*calls_.platform, *head);
    // The switches are those of scaled_dot_product_attention.
    if (!o->name.starts_with("aten::")) return false;
    if (rate == nullptr || o->library == rate->library || o->library == "AITER") return false;
    const double goal = rate->tflops * (ContainsNoCase(o->name, "backward") ? 0.75 : 1);
    const double now = *e.tflops_per_s;
    if (now <= 0 || now >= 0.8 * goal) return false;
    const bool amd = calls_.platform->vendor == "AMD";
    // Of text alone, and where the mask is not there yet.
    const bool causal = work_.causal && o->parameters.find("'causal': True") == std::string::npos;
    Facts facts = {
        KernelFact(*o),
        NumberFact("tflops_achieved", now, "TFLOPS/s"),
        CauseCount("head_size", *head),
        CauseWords("reference", std::string(rate->kernels)),
        NumberFact("target_tflops", goal, "TFLOPS/s"),
        CauseWords("choice", amd ? "flash-attn's `flash_attn_func` (Composable Kernel)"
                                 : FlashAttentionCall(*rate)),
        CauseWords("switch",
                   amd ? "TORCH_ROCM_FA_PREFER_CK=1 for Composable Kernel's attention; or call "
                         "`torch.backends.cuda.preferred_rocm_fa_library(\"ck\")`"
                       : "cuDNN's attention: "
                         "`torch.nn.attention.sdpa_kernel(SDPBackend.CUDNN_ATTENTION)`")};
    if (causal) facts.push_back(NumberFact("causal_ms", o->gpu_us / 2000, "ms"));
    Set(o, Pattern::kSlowAttentionKernel, o->library, std::move(facts));
    Target target{SavedAtPublished(*rate, *head, now, goal, out_),
                  fmt::format("{:.0f} TFLOPS/s", goal), std::string(rate->source)};
    // One library's kernels by both ways, and a build without them ignores the switch.
    if (amd) target.saved_part.low = 0;
    o->cause->a = target;
    o->cause->b = target;
    return true;
  }

  // ---- the rest

  bool SumOfOne(Operation* o) {
    const std::vector<Shape> shapes = ShapesOf(*o);
    if (shapes.empty() || shapes.front().empty() || o->concrete.empty()) return false;
    const bool plain = o->name == "aten::sum" || o->name == "aten::mean" ||
                       o->name == "aten::amax" || o->name == "aten::amin";
    if (!plain) return false;
    const auto dimension = context_.ReducedDimension(ArgsOf(*o));
    if (!dimension) return false;
    const auto rank = static_cast<std::int64_t>(shapes.front().size());
    const std::int64_t at = *dimension < 0 ? *dimension + rank : *dimension;
    if (at < 0 || at >= rank || shapes.front()[static_cast<std::size_t>(at)] != 1) return false;
    Set(o, Pattern::kSumOfOne, o->name,
        {CauseCount("dimension", static_cast<double>(*dimension)),
         CauseText("shape", ShapeText(shapes.front()))});
    o->cause->a = Target{{0.9, 0.95, 1}, "no kernel", "squeeze() moves no data", true};
    return true;
  }

  // Queries and keys by head: rows of a head's size.
  bool NarrowNorm(Operation* o) {
    const Efficiency& e = o->efficiency;
    const std::vector<Shape> shapes = ShapesOf(*o);
    const bool whole = o->classification == "rms" || o->classification == "layer";
    // Where it copies its input first, its rows are not what it is slow for.
    if (HasPattern(*o, Pattern::kStridedOperand)) return false;
    if (!whole || shapes.empty() || !e.tb_per_s || !e.peak_tb_per_s || *e.tb_per_s <= 0)
      return false;
    const auto input =
        std::max_element(shapes.begin(), shapes.end(),
                         [](const Shape& a, const Shape& b) { return Elements(a) < Elements(b); });
    if (input->size() < 2 || o->mean_us < limits::kSmallKernelUs) return false;
    const double width = static_cast<double>(input->back());
    const double rows = Elements(*input) / width;
    const double peak = *e.peak_tb_per_s;
    if (width > limits::kNarrowRow || rows < limits::kManyRows || *e.tb_per_s >= peak / 2)
      return false;
    Facts facts = {CauseCount("width", width), CauseCount("rows", rows), KernelFact(*o),
                   NumberFact("tb_s_achieved", *e.tb_per_s, "TB/s")};
    const bool of_heads = work_.causal && context_.IsHeadSize(width);
    const Fit setting = NarrowNormWays(of_heads, &facts);
    Set(o, Pattern::kNarrowNorm, "narrow", std::move(facts));
    Target target{{SavedPart(*e.tb_per_s, 0.5 * peak), SavedPart(*e.tb_per_s, 0.65 * peak),
                   SavedPart(*e.tb_per_s, limits::kStreamShare * peak)},
                  OfThe("peak bandwidth", limits::kStreamShare),
                  "estimate"};
    if (of_heads) o->cause->a = target;
    if (setting == Fit::kUnknown) target.saved_part.low = 0;
    if (setting != Fit::kNot) o->cause->b = target;
    return true;
  }

  // Rows of a head's size in a decoder are queries and keys, which the rotary embedding and the
  // copies beside it read as well. Returns whether the setting of path B does anything here.
  Fit NarrowNormWays(bool of_heads, Facts* facts) const {
    if (!of_heads) {
      facts->push_back(
          CauseWords("setting",
                     "Compile this normalization (`torch.compile`): its kernels put several "
                     "short rows into one block"));
      return Fit::kFits;
    }
    facts->push_back(CauseWords(
        "by_hand",
        fmt::format("Call one kernel for QK-norm and rotary embedding where the module "
                    "normalizes. It also replaces the copies beside them, which read the same "
                    "tensors{}",
                    work_.amd ? "" : " (vLLM's is `torch.ops._C.fused_qk_norm_rope`)")));
    const bool vllm = work_.engine == Engine::kVllm;
    if (!vllm && work_.engine != Engine::kSglang) return Fit::kNot;
    const levers::AdviceInfo& info =
        Info(vllm ? Advice::kQkNormRopeVllm : Advice::kQkNormRopeSglang);
    const Fit fit = FitOf(info.needs, work_);
    if (fit == Fit::kNot) return fit;
    std::string words = UpperAscii(info.what.substr(0, 1)) + info.what.substr(1);
    if (fit == Fit::kUnknown) words += fmt::format(", {}", kIfSupported);
    facts->push_back(CauseWords("setting", std::move(words)));
    return fit;
  }

  // ---- all together

  void DropSmall() {
    std::map<std::pair<Pattern, std::string>, double> time;
    for (const CategoryAnalysis& category : out_) {
      for (const Operation& o : category.operations) {
        if (o.cause) time[{o.cause->pattern, o.cause->group}] += o.gpu_us;
      }
    }
    for (CategoryAnalysis& category : out_) {
      for (Operation& o : category.operations) {
        if (!o.cause) continue;
        const double us = time[{o.cause->pattern, o.cause->group}] * 100;
        // What the GPU waits for between them may go, and then a grid of few blocks shows.
        const bool later = o.cause->pattern == Pattern::kFewRowsNorm;
        const bool small = us < limits::kCauseShare * calls_.computation_us ||
                           (!later && us < limits::kFindingMin * calls_.window_us);
        if (small) o.cause.reset();
      }
    }
  }

  void Settle(Operation* o) const {
    if (!o->cause) return;
    o->patterns.insert(o->patterns.begin(), {o->cause->pattern, o->cause->facts});
    const Target* best = nullptr;
    for (const auto* target : {&o->cause->a, &o->cause->b}) {
      if (*target && (best == nullptr || (*target)->saved_part.mid > best->saved_part.mid))
        best = &**target;
    }
    o->savings_ms.reset();
    o->impact_percent.reset();
    if (best == nullptr || calls_.window_us <= 0) return;
    o->savings_ms = TargetSavings(*best, *o);
    o->impact_percent = Scaled(*o->savings_ms, 1e5 / calls_.window_us);
    o->quantified = true;
  }

  const Calls& calls_;
  const WorkContext& work_;
  double products_us_ = 0;  // GPU time of all products
  std::vector<CategoryAnalysis>& out_;
  const CauseContext context_;
};

}  // namespace

void FindCauses(const Calls& calls, const WorkContext& context,
                std::vector<CategoryAnalysis>* categories) {
  CauseFinder(calls, context, categories).Run();
}

}  // namespace jarvis::findings
