#include "findings/one/rules.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "findings/one/baseline.h"
#include "findings/one/misaligned_sizes.h"
#include "findings/one/replayed_calls.h"
#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using analysis::WorkCall;

Fact Whole(std::string key, double value) {
  return {std::move(key), static_cast<std::int64_t>(value), {}};
}
Fact Text(std::string key, std::string value) {
  return {std::move(key), std::move(value), {}};
}

bool Has(const Operation& operation, std::string_view lower_part) {
  return ContainsNoCase(operation.name, lower_part);
}

// Kernels that only change the layout of a tensor.
bool IsTransposeKernel(std::string_view name) {
  constexpr std::string_view kParts[] = {"batched_transpose", "nchw2nhwc",  "nhwc2nchw",
                                         "nchwtonhwc",        "nhwctonchw", "transpose_nchw",
                                         "transpose_cnhw",    "subtensorop"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return ContainsNoCase(name, part); });
}

// PyTorch's copy of a tensor that does not lie as a kernel wants it.
bool IsCopyKernel(std::string_view name) {
  return name.find("direct_copy_kernel") != name.npos ||
         name.find("copy_device_to_device") != name.npos;
}

bool IsFloating(const std::string& type) {
  const std::string name = ShortType(type);
  return name.starts_with("fp") || name.starts_with("bf");
}

class Rules {
 public:
  Rules(const Calls& calls, std::size_t first, const Baseline& baseline, CategoryAnalysis* out)
      : calls_(calls), first_(first), baseline_(baseline), out_(*out) {
    for (const Baseline::Row& row : baseline.rows)
      against_.emplace(row.operation, &row);
  }

  void Run() {
    for (std::size_t o = 0; o < out_.operations.size(); ++o) {
      operation_ = &out_.operations[o];
      call_ = &calls_.calls[calls_.of_operation[first_ + o].front()];
      One();
      Shared();
    }
    Category();
  }

 private:
  void One() {
    switch (out_.kind) {
      case Kind::kGemm: Gemm(); break;
      case Kind::kElementwise: Elementwise(); break;
      case Kind::kSdpa: Attention(); break;
      case Kind::kReduce: Reduce(); break;
      case Kind::kNorm: Norm(); break;
      case Kind::kConvolution: Convolution(); break;
      case Kind::kMoe: Moe(); break;
      case Kind::kTriton: Triton(); break;
      case Kind::kCommunication: operation_->classification = "communication"; break;
      case Kind::kOther: Other(); break;
    }
  }

  void Add(Pattern pattern, std::vector<Fact> facts = {}) {
    operation_->patterns.push_back({pattern, std::move(facts)});
  }
  void Detail(Fact fact) { operation_->details.push_back(std::move(fact)); }
  std::optional<double> Parameter(std::string_view key) const {
    return call_->work == nullptr ? std::nullopt : call_->work->NumberOf(key);
  }
  std::vector<Shape> Shapes() const {
    return ParseShapes(calls_.events().text(calls_.events().args_of(call_->op).dims));
  }
  std::vector<Shape> Strides() const {
    return ParseShapes(calls_.events().text(calls_.events().args_of(call_->op).strides));
  }
  std::vector<std::string> Types() const {
    return ParseTypes(calls_.events().text(calls_.events().args_of(call_->op).types));
  }
  double KernelTime(bool (*wanted)(std::string_view)) const {
    double us = 0;
    for (const KernelShare& kernel : operation_->kernels) {
      if (wanted(kernel.name)) us += kernel.total_us;
    }
    return us;
  }

  // ---- GEMM

  void Gemm() {
    const bool by_name = std::any_of(std::begin(kQuantised), std::end(kQuantised),
                                     [&](std::string_view part) { return Has(*operation_, part); });
    const std::vector<std::string> types = Types();
    const bool by_type = types.size() > 1 && TypeBytes(ShortType(types[0])) > 0 &&
                         TypeBytes(ShortType(types[0])) <= 1;
    const bool by_spec = operation_->efficiency.spec.ends_with("fp8") ||
                         operation_->efficiency.spec.ends_with("int8") ||
                         operation_->efficiency.spec.ends_with("fp4");
    operation_->classification = by_name || by_type || by_spec ? "quantized" : "regular";
    if (operation_->classification == "quantized") Add(Pattern::kQuantisedGemm);
    const auto m = Parameter("M");
    const auto n = Parameter("N");
    const auto k = Parameter("K");
    if (!m || !n || !k) return;
    double batch = Parameter("B").value_or(Parameter("batch").value_or(1));
    if (batch < 1) batch = 1;
    Detail(Whole("M", *m));
    Detail(Whole("N", *n));
    Detail(Whole("K", *k));
    Detail(Whole("batch", batch));
    const bool tiny =
        batch >= limits::kTinyBatch && std::max({*m, *n, *k}) <= limits::kTinyDimension;
    const bool many =
        operation_->mean_us<limits::kTinyKernelUs&& static_cast<double>(operation_->count)>
            limits::kTinyCalls;
    if (tiny || many) {
      Add(Pattern::kTinyBatchedGemm,
          {Whole("batch", batch), Whole("calls", static_cast<double>(operation_->count)),
           NumberFact("mean_us", operation_->mean_us, "us")});
    }
    const double tiles = batch * std::ceil(*m / limits::kTile) * std::ceil(*n / limits::kTile);
    if (tiles<limits::kComputeUnits&& * k >= limits::kDeepK&& * k> 4 * std::max(*m, *n)) {
      Add(Pattern::kFewTiles, {Whole("tiles", tiles), Whole("K", *k)});
    }
    Misaligned(*n, *k);
    const bool decode = *m <= limits::kDecodeRows && *n >= limits::kDecodeWidth &&
                        *k >= limits::kDecodeWidth && batch == 1;
    if (decode) Add(Pattern::kDecodeGemm, {Whole("M", *m)});
    BoundPatterns(decode);
    const double copies = KernelTime(&IsTransposeKernel);
    if (copies > 0) {
      Add(Pattern::kTransposedOperandCopy,
          {NumberFact("transpose_ms", copies / 1000, "ms"),
           NumberFact("transpose_percent", copies / operation_->gpu_us * 100, "%")});
    }
  }

  void Misaligned(double n, double k) {
    const double bytes = operation_->efficiency.spec.ends_with("fp32")  ? 4
                         : operation_->efficiency.spec.ends_with("fp8") ? 1
                                                                        : 2;
    const double unit = 16 / bytes;  // elements of one 16-byte access
    std::string which;
    // Rows of operands are as long as N and K; how many rows there are aligns nothing.
    for (const auto& [name, size] : {std::pair{"N", n}, std::pair{"K", k}}) {
      if (IsMisaligned(size, unit)) which += std::string(which.empty() ? "" : ",") + name;
    }
    if (!which.empty()) {
      Add(Pattern::kMisaligned, {Text("sizes", which), Whole("multiple_of", unit)});
    }
  }

  void BoundPatterns(bool decode) {
    const Efficiency& e = operation_->efficiency;
    if (!e.flops_per_byte) return;
    if (e.bound == Bound::kCompute) {
      Add(Pattern::kComputeBoundGemm, {NumberFact("flops_per_byte", *e.flops_per_byte, "FLOP/B")});
    } else if (e.bound == Bound::kMemory) {
      Add(Pattern::kMemoryBoundGemm, {NumberFact("flops_per_byte", *e.flops_per_byte, "FLOP/B")});
      if (decode || !e.peak_tflops || !e.peak_tb_per_s) return;
      const double ridge = *e.peak_tflops / *e.peak_tb_per_s;
      if (*e.flops_per_byte < limits::kSkinnyRidgeShare * ridge) {
        Add(Pattern::kSkinnyGemm, {NumberFact("flops_per_byte", *e.flops_per_byte, "FLOP/B"),
                                   NumberFact("ridge", ridge, "FLOP/B")});
      }
    }
  }

  // ---- elementwise

  void Elementwise() {
    constexpr std::string_view kBaselineParts[] = {"add", "mul", "copy", "fill", "zero"};
    const bool simple = std::any_of(std::begin(kBaselineParts), std::end(kBaselineParts),
                                    [&](std::string_view part) { return Has(*operation_, part); });
    operation_->classification = simple ? "baseline" : "complex";
    const std::vector<Shape> dims = Shapes();
    const std::vector<Shape> strides = Strides();
    for (std::size_t i = 0; i < std::min(dims.size(), strides.size()); ++i) {
      if (dims[i].empty() || dims[i].size() != strides[i].size()) continue;
      bool broadcast = false;
      for (std::size_t axis = 0; axis < dims[i].size(); ++axis)
        broadcast = broadcast || (strides[i][axis] == 0 && dims[i][axis] > 1);
      // Dense operands of one shape in two orders: one of them is read across its rows.
      const bool crossed = dims[i] == dims[0] && strides[i] != strides[0];
      if (broadcast) {
        Once(Pattern::kBroadcastOperand, Whole("argument", static_cast<double>(i)));
      } else if (crossed || !IsDense(dims[i], strides[i])) {
        Once(Pattern::kStridedOperand, Whole("argument", static_cast<double>(i)));
      }
    }
    const std::vector<std::string> types = Types();
    // Of tensors: a scalar operand of fp64 is a number of the program, and masks are no values.
    const bool tensors = dims.size() > 1 && Elements(dims[0]) > 1 && Elements(dims[1]) > 1;
    if (operation_->name == "aten::copy_" && tensors && types.size() > 1 && types[0] != types[1] &&
        IsFloating(types[0]) && IsFloating(types[1])) {
      Add(Pattern::kDtypeCast,
          {Text("from", ShortType(types[1])), Text("to", ShortType(types[0]))});
    }
    SmallCalls(Pattern::kManySmallCalls);
  }

  void Once(Pattern pattern, Fact fact) {
    for (const PatternHit& hit : operation_->patterns) {
      if (hit.pattern == pattern) return;
    }
    Add(pattern, {std::move(fact)});
  }

  void SmallCalls(Pattern pattern) {
    if (static_cast<double>(operation_->count) <= limits::kManySmallCalls ||
        operation_->mean_us >= limits::kSmallKernelUs) {
      return;
    }
    Add(pattern, {Whole("calls", static_cast<double>(operation_->count)),
                  NumberFact("mean_us", operation_->mean_us, "us")});
  }

  // ---- attention

  void Attention() {
    const bool flash =
        Has(*operation_, "flash") || Has(*operation_, "fmha") || Has(*operation_, "efficient");
    bool paged = Has(*operation_, "unified_attention") || Has(*operation_, "paged_attention") ||
                 Has(*operation_, "vllm");
    double cache_us = 0;
    for (const KernelShare& kernel : operation_->kernels) {
      paged = paged || ContainsNoCase(kernel.name, "paged_attention");
      if (ContainsNoCase(kernel.name, "reshape_and_cache")) cache_us += kernel.total_us;
    }
    operation_->classification = paged ? "paged" : flash ? "flash" : "standard";
    if (paged) Add(Pattern::kPagedAttention);
    if (cache_us > 0) {
      const double percent = cache_us / operation_->gpu_us * 100;
      Detail(NumberFact("cache_write_percent", percent, "%"));
      if (percent > limits::kCacheWriteShare)
        Add(Pattern::kCacheWrites, {NumberFact("cache_write_percent", percent, "%")});
    }
    for (const char* key : {"B", "N_Q", "H_Q", "N_KV", "H_KV", "d_h_qk", "d_h_v"}) {
      if (const auto value = Parameter(key)) Detail(Whole(key, *value));
    }
    const auto heads = Parameter("H_Q");
    const auto kv_heads = Parameter("H_KV");
    if (heads && kv_heads && *kv_heads > 0 && *kv_heads < *heads)
      Add(Pattern::kGroupedQueries, {Whole("ratio", std::floor(*heads / *kv_heads))});
    const double context = Parameter("sum_ctx_tokens").value_or(0);
    const double generated = Parameter("sum_gen_tokens").value_or(0);
    if (context + generated > 0) {
      const double ratio = context / (context + generated);
      Detail(NumberFact("ctx_ratio", ratio));
      if (ratio > limits::kPrefillRatio)
        Add(Pattern::kPrefillHeavy, {NumberFact("ctx_ratio", ratio)});
      if (ratio < limits::kDecodeRatio)
        Add(Pattern::kDecodeHeavy, {NumberFact("ctx_ratio", ratio)});
    }
    const auto length = Parameter("N_Q");
    if (length && *length > 1 && *length < limits::kShortSequence && context + generated <= 0)
      Add(Pattern::kShortSequence, {Whole("N_Q", *length)});
  }

  // ---- reductions, norms

  void Reduce() {
    constexpr std::pair<std::string_view, std::string_view> kClasses[] = {
        {"softmax", "softmax"}, {"argmax", "argmax"}, {"argmin", "argmax"}, {"cum", "cumulative"},
        {"max", "max_min"},     {"min", "max_min"},   {"amax", "max_min"},  {"sum", "sum_mean"},
        {"mean", "sum_mean"},   {"norm", "sum_mean"},
    };
    operation_->classification = "other";
    for (const auto& [part, name] : kClasses) {
      if (!Has(*operation_, part)) continue;
      operation_->classification = name;
      break;
    }
    SmallCalls(Pattern::kManySmallCalls);
  }

  void Norm() {
    constexpr std::pair<std::string_view, std::string_view> kClasses[] = {
        {"batch_norm", "batch"}, {"batchnorm", "batch"}, {"bn_", "batch"},        {"rms", "rms"},
        {"layer", "layer"},      {"group", "group"},     {"instance", "instance"}};
    operation_->classification = "other";
    for (const auto& [part, name] : kClasses) {
      if (!Has(*operation_, part)) continue;
      operation_->classification = name;
      break;
    }
    // The op makes its input contiguous before it computes.
    constexpr double kMuch = 0.25;
    const double copies_us = KernelTime(&IsCopyKernel);
    if (copies_us > kMuch * operation_->gpu_us) {
      Once(Pattern::kStridedOperand,
           NumberFact("copy_percent", copies_us / operation_->gpu_us * 100, "%"));
    }
    if (operation_->classification != "batch") return;
    std::vector<Fact> facts;
    const auto row = against_.find(operation_->id);
    if (row != against_.end())
      facts.push_back(NumberFact("percent_of_baseline", row->second->percent_of_baseline, "%"));
    Add(Pattern::kBatchNorm, std::move(facts));
  }

  // ---- convolution

  void Convolution() {
    const std::vector<Shape> shapes = Shapes();
    const auto weight = std::find_if(shapes.begin(), shapes.end(), [&](const Shape& shape) {
      return &shape != shapes.data() && shape.size() >= 3;
    });
    const bool transposed =
        Parameter("transposed_conv").value_or(0) != 0 ||
        operation_->parameters.find("'transposed_conv': True") != std::string::npos ||
        Has(*operation_, "transpose");
    const double groups = Parameter("groups").value_or(1);
    operation_->classification = "dense";
    if (weight != shapes.end()) {
      const bool point = std::all_of(weight->begin() + 2, weight->end(),
                                     [](std::int64_t size) { return size == 1; });
      if (transposed) {
        operation_->classification = "transposed";
      } else if (groups > 1 && (*weight)[1] == 1) {
        operation_->classification = "depthwise";
      } else if (groups > 1) {
        operation_->classification = "grouped";
      } else if (point) {
        operation_->classification = "pointwise";
      } else if ((*weight)[1] == 1 && shapes[0].size() > 1 && shapes[0][1] > 1) {
        operation_->classification = "depthwise";
      }
    }
    if (operation_->classification == "depthwise") Add(Pattern::kDepthwise);
    if (operation_->classification == "pointwise") Add(Pattern::kPointwise);
    if (operation_->classification == "transposed") Add(Pattern::kTransposedConvolution);
    const double transposes = KernelTime(&IsTransposeKernel);
    Detail(NumberFact("transpose_us", transposes, "us"));
    Detail(NumberFact("compute_us", operation_->gpu_us - transposes, "us"));
    const std::vector<Shape> strides = Strides();
    if (!strides.empty() && strides[0].size() >= 3)
      Detail(Text("input_layout", strides[0][1] == 1 ? "channels_last" : "contiguous"));
    const double percent = operation_->gpu_us > 0 ? transposes / operation_->gpu_us * 100 : 0;
    if (percent > limits::kTransposeModerate) {
      Add(Pattern::kLayoutTransposes, {NumberFact("transpose_ms", transposes / 1000, "ms"),
                                       NumberFact("transpose_percent", percent, "%")});
    }
  }

  // ---- the rest

  void Moe() {
    operation_->classification = out_.key == "moe_fused" ? "fused" : "unfused";
    if (operation_->efficiency.bytes) Add(Pattern::kRoutingAssumed);
  }

  void Triton() {
    const std::string name = LowerAscii(operation_->name);
    operation_->classification = name.starts_with("triton_poi_")   ? "pointwise"
                                 : name.starts_with("triton_red_") ? "reduction"
                                 : name.starts_with("triton_per_") ? "persistent"
                                                                   : "other";
    SmallCalls(Pattern::kUnderFused);
  }

  void Other() {
    constexpr std::string_view kCommunication[] = {"all_reduce", "collective", "ncclkernel", "rccl",
                                                   "broadcast",  "allgather",  "nccl"};
    operation_->classification = "miscellaneous";
    for (const std::string_view part : kCommunication) {
      if (Has(*operation_, part)) operation_->classification = "communication";
    }
    if (Has(*operation_, "graph")) operation_->classification = "graph";
    if (out_.key == "other" && !IsReplayCall(calls_.events(), *call_)) Add(Pattern::kUncategorised);
    if (out_.key == "multi_tensor_apply") SmallCalls(Pattern::kManySmallCalls);
  }

  void Shared() {
    Operation& o = *operation_;
    if (!call_->recorded_arguments) Add(Pattern::kUnlinked);
    if (IsReplayCall(calls_.events(), *call_)) Add(Pattern::kGraphLaunch);
    // A model that has no sizes to work with is not what is missing.
    const bool told = o.efficiency.bytes || o.efficiency.flops;
    if (!told && !LacksShapes(o) && out_.kind != Kind::kCommunication) Add(Pattern::kMissingModel);
    const auto row = against_.find(o.id);
    if (row != against_.end()) {
      Detail(NumberFact("percent_of_baseline", row->second->percent_of_baseline, "%"));
      Detail(Text("baseline_verdict", row->second->verdict));
      const bool slow =
          row->second->verdict == "below_baseline" || row->second->verdict == "kernel_not_hardware";
      const bool simple =
          out_.kind == Kind::kElementwise || out_.kind == Kind::kNorm || out_.kind == Kind::kReduce;
      // A baseline that is assumed was not measured on any op of this trace.
      if (slow && simple && !baseline_.assumed)
        Add(Pattern::kBelowBaseline,
            {NumberFact("percent_of_baseline", row->second->percent_of_baseline, "%"),
             NumberFact("baseline_tb_s", baseline_.tb_per_s.value_or(0), "TB/s")});
    }
    if (o.variation && *o.variation > limits::kRowVariation &&
        static_cast<double>(o.count) > limits::kRowVariationCalls &&
        o.percent_of_total.value_or(0) >= limits::kRowVariationShare) {
      Add(Pattern::kHighVariation, {NumberFact("cov", *o.variation)});
    }
  }

  // ---- the category as a whole

  double CountWhere(const std::string& classification) const {
    double count = 0;
    for (const Operation& operation : out_.operations)
      count += operation.classification == classification ? 1 : 0;
    return count;
  }

  void Specific(Fact fact) { out_.specifics.push_back(std::move(fact)); }

  void Category() {
    double missing = 0;
    std::map<Pattern, double, levers::InOrder> time;
    for (const Operation& operation : out_.operations) {
      if (!operation.efficiency.percent && !operation.efficiency.tflops_per_s &&
          !operation.efficiency.tb_per_s) {
        ++missing;
      }
      for (const PatternHit& hit : operation.patterns)
        time[hit.pattern] += operation.gpu_us;
    }
    switch (out_.kind) {
      case Kind::kGemm: Specific(Whole("quantized_count", CountWhere("quantized"))); break;
      case Kind::kSdpa:
        for (const char* name : {"flash", "paged", "standard"})
          Specific(Whole(std::string(name) + "_attention_count", CountWhere(name)));
        break;
      case Kind::kReduce: Specific(Whole("softmax_count", CountWhere("softmax"))); break;
      case Kind::kConvolution: Transposes(); break;
      case Kind::kTriton:
        for (const char* name : {"pointwise", "reduction", "persistent", "other"})
          Specific(Whole(std::string(name) + "_count", CountWhere(name)));
        break;
      case Kind::kOther:
        for (const char* name : {"communication", "graph", "miscellaneous"})
          Specific(Whole(std::string(name) + "_count", CountWhere(name)));
        break;
      default: break;
    }
    Specific(Whole("missing_perf_model_count", missing));
    for (const auto& [pattern, us] : time) {
      out_.patterns.push_back({pattern, {NumberFact("time_ms", us / 1000, "ms")}});
    }
  }

  void Transposes() {
    double count = 0;
    double us = 0;
    for (const Operation& operation : out_.operations) {
      for (const KernelShare& kernel : operation.kernels) {
        if (!IsTransposeKernel(kernel.name)) continue;
        count += static_cast<double>(kernel.count);
        us += kernel.total_us;
      }
    }
    Specific(Whole("transpose_count", count));
    Specific(NumberFact("transpose_time_ms", us / 1000, "ms"));
    Specific(NumberFact("transpose_overhead_percent", out_.gpu_us > 0 ? us / out_.gpu_us * 100 : 0,
                        "%"));
  }

  static constexpr std::string_view kQuantised[] = {"w8a8", "int8", "fp8",   "w4a16",
                                                    "w4a4", "fp4",  "mxfp4", "_scaled_mm"};
  const Calls& calls_;
  const std::size_t first_;
  const Baseline& baseline_;
  CategoryAnalysis& out_;
  std::map<std::string, const Baseline::Row*, std::less<>> against_;
  Operation* operation_ = nullptr;
  const WorkCall* call_ = nullptr;
};

}  // namespace

void ApplyRules(const Calls& calls, std::size_t first, const Baseline& baseline,
                CategoryAnalysis* category) {
  Rules(calls, first, baseline, category).Run();
}

}  // namespace jarvis::findings
