#include "findings/one/cause_context.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "analysis/tables/callers.h"
#include "base/text.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/product_kernels.h"
#include "findings/one/shared_inputs.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

// "[[1, 2]]" or "[1]": the only number; absent: none, or several.
std::optional<std::int64_t> OnlyNumber(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  return ParseInt(Trim(text.substr(open + 1, close - open - 1)));
}

// What aiter calls where its table of tuned GEMMs has no entry.
bool IsFallbackOfAiter(std::string_view frame) {
  return frame.find("tuned_gemm.py(") != frame.npos && frame.ends_with("): torch_gemm");
}

}  // namespace

double FilledPart(const Calls& calls, double m, double n, double batch) {
  const auto units = ComputeUnitsOf(calls.trace);
  if (!units || *units <= 0) return 1;
  const double tiles =
      std::max(1.0, batch) * std::ceil(m / limits::kFullTile) * std::ceil(n / limits::kFullTile);
  return std::min(1.0, tiles / (limits::kFullWaves * static_cast<double>(*units)));
}

CauseContext::CauseContext(const Calls& calls, const WorkContext& work,
                           const std::vector<CategoryAnalysis>& categories)
    : calls_(calls), work_(work) {
  LookAtEvents();
  LookAtOperations(categories);
  FindMerges(categories);
}

void CauseContext::LookAtEvents() {
  const trace::EventStore& events = calls_.events();
  std::map<StringId, bool> has_double;
  trace::EventIndex first = trace::kNoEvent;
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if ((event.flags & trace::kLeftOut) != 0) continue;
    if (event.kind != trace::EventKind::kCpuOp) continue;
    training_ = training_ || calls_.trace.tree().ForwardOf(e) != trace::kNoEvent;
    const trace::Args& args = events.args_of(e);
    if (args.types == kNoString || args.dims == kNoString) continue;
    const auto [known, added] = has_double.try_emplace(args.types);
    if (added) known->second = events.text(args.types).find("\"double\"") != std::string_view::npos;
    if (!known->second) continue;
    if (first != trace::kNoEvent && events[first].ts_ns <= event.ts_ns) continue;
    const std::vector<Shape> shapes = ParseShapes(events.text(args.dims));
    const std::vector<std::string> types = ParseTypes(events.text(args.types));
    for (std::size_t i = 0; i < std::min(shapes.size(), types.size()); ++i) {
      if (ShortType(types[i]) == "fp64" && !shapes[i].empty() && Elements(shapes[i]) > 1) first = e;
    }
  }
  if (first == trace::kNoEvent) return;
  double_op_ = events.name(first);
  const trace::Args& args = events.args_of(first);
  const std::string shapes = ArgsText(events.text(args.dims), events.text(args.types));
  double_op_ += " " + shapes.substr(0, shapes.find("<br>"));
  for (const std::string& place :
       analysis::CodePlaces(calls_.chains->Frames(calls_.chains->Of(first)), 8)) {
    if (place.starts_with("...")) continue;
    double_place_ = place;
    break;
  }
}

// Rows of tokens against a matrix for each expert: what follows them with three axes is a weight.
bool CauseContext::AddExpertWeights(const std::vector<Shape>& shapes) {
  if (shapes.empty() || shapes.front().size() != 2) return false;
  bool any = false;
  for (const Shape& shape : shapes) {
    if (shape.size() != 3) continue;
    weights_.insert(shape);
    weights_.insert({shape[0], shape[2], shape[1]});
    any = true;
  }
  return any;
}

void CauseContext::LookAtOperations(const std::vector<CategoryAnalysis>& categories) {
  std::set<std::string_view> names;
  std::map<std::string, double, std::less<>> time;
  std::size_t number = 0;
  for (const CategoryAnalysis& category : categories) {
    for (const Operation& o : category.operations) {
      first_.emplace(o.id, calls_.of_operation[number++].front());
      for (const KernelShare& kernel : o.kernels) {
        if (names.insert(kernel.name).second)
          newest_ = std::max(newest_, ArchitectureOf(kernel.name));
      }
      training_ = training_ || category.key == "multi_tensor_apply";
      const analysis::WorkCall& call = calls_.calls[FirstCallOf(o)];
      const auto head = category.kind == Kind::kSdpa && call.work != nullptr
                            ? call.work->NumberOf("d_h_qk")
                            : std::nullopt;
      if (head) heads_.insert(*head);
      const bool product = category.kind == Kind::kGemm || category.kind == Kind::kConvolution;
      if (!product || o.efficiency.spec.empty()) continue;
      const std::string& spec = o.efficiency.spec;
      time[spec.substr(std::min(spec.size(), spec.find('_') + 1))] += o.gpu_us;
    }
  }
  double most = 0;
  for (const auto& [type, us] : time) {
    if (us <= most) continue;
    most = us;
    model_type_ = type;
  }
  for (const CategoryAnalysis& category : categories) {
    const bool experts = category.kind == Kind::kMoe;
    if (category.kind != Kind::kGemm && !experts) continue;
    for (const Operation& o : category.operations) {
      const auto shapes =
          o.dims.empty()
              ? std::vector<Shape>()
              : ParseShapes(calls_.events().text(calls_.events().args_of(o.example).dims));
      const bool grouped = AddExpertWeights(shapes);
      if (experts) continue;
      // The last operand of two axes is the weight, of mm as of addmm.
      for (auto shape = shapes.rbegin(); shape != shapes.rend(); ++shape) {
        if (shape->size() != 2 || grouped) continue;
        weights_.insert(*shape);
        weights_.insert({(*shape)[1], (*shape)[0]});
        break;
      }
      const bool aligned =
          !o.kernels.empty() && !IsUnalignedKernel(o.kernels.front().name, newest_);
      if (!aligned || !o.efficiency.tflops_per_s || o.efficiency.impossible) continue;
      if (o.mean_us < limits::kSiblingUs) continue;
      double& best = best_aligned_[o.efficiency.spec];
      best = std::max(best, *o.efficiency.tflops_per_s);
      if (const auto sized = SizesOf(o)) aligned_.push_back(*sized);
    }
  }
}

double CauseContext::LargeGemm(std::string_view spec) const {
  if (calls_.platform == nullptr) return 0;
  const auto ceiling = perf::CeilingFor(*calls_.platform, spec);
  if (ceiling && ceiling->source == perf::Source::kAchievable)
    return limits::kLargeGemmMeasured * ceiling->tflops;
  const auto peak = perf::PeakFor(*calls_.platform, spec);
  if (!peak) return 0;
  const bool amd = calls_.platform->vendor == "AMD";
  return (amd ? limits::kLargeGemmAmd : limits::kLargeGemmNvidia) * peak->tflops;
}

std::string CauseContext::LargeGemmSource(std::string_view spec) const {
  constexpr std::string_view kMatrix = "matrix_";
  const std::string type(spec.starts_with(kMatrix) ? spec.substr(kMatrix.size()) : "");
  return "the rate that large " + type + (type.empty() ? "" : " ") + "GEMMs usually reach" +
         (calls_.platform == nullptr ? "" : " on " + calls_.platform->name);
}

double CauseContext::BestAligned(const Operation& operation) const {
  const auto found = best_aligned_.find(operation.efficiency.spec);
  return found == best_aligned_.end() ? 0 : found->second;
}

std::optional<CauseContext::SizedRate> CauseContext::SizesOf(const Operation& operation) const {
  const auto* const work = calls_.calls[FirstCallOf(operation)].work;
  if (work == nullptr || !operation.efficiency.tflops_per_s) return std::nullopt;
  const std::string& spec = operation.efficiency.spec;
  SizedRate sized;
  sized.bytes = spec.ends_with("32") ? 4 : spec.ends_with("8") ? 1 : 2;
  sized.tflops = *operation.efficiency.tflops_per_s;
  constexpr std::string_view kSizes[] = {"M", "N", "K"};
  for (std::size_t i = 0; i < sized.sizes.size(); ++i) {
    sized.sizes[i] = work->NumberOf(kSizes[i]).value_or(0);
    if (sized.sizes[i] <= 0) return std::nullopt;
  }
  return sized;
}

double CauseContext::NearestAligned(const Operation& operation) const {
  constexpr double kTwice = 0.7;  // a little more, as a logarithm
  const auto own = SizesOf(operation);
  double rate = 0, nearest = 3 * kTwice;
  for (const SizedRate& other : aligned_) {
    if (!own || other.bytes != own->bytes) continue;
    double apart = 0, farthest = 0;
    for (std::size_t i = 0; i < own->sizes.size(); ++i) {
      const double ratio = std::abs(std::log(other.sizes[i] / own->sizes[i]));
      apart += ratio;
      farthest = std::max(farthest, ratio);
    }
    if (farthest > kTwice || apart >= nearest) continue;
    nearest = apart;
    rate = other.tflops;
  }
  return rate;
}

// Below the function that aiter calls where its table of tuned GEMMs has no entry.
bool CauseContext::IsUntuned(const Operation& operation) const {
  const tree::CallTree& tree = calls_.trace.tree();
  if (operation.gpu.empty()) return false;
  for (trace::EventIndex e = operation.gpu.front(); e != trace::kNoEvent; e = tree.parent(e)) {
    if (IsFallbackOfAiter(calls_.events().name(e))) return true;
  }
  return false;
}

// Of another framework than PyTorch: what its row of the action says.
CauseContext::TunedBy CauseContext::TuningElsewhere() const {
  for (const Advice advice : {Advice::kSearchTiles, Advice::kMaxAutotune}) {
    const levers::AdviceInfo& info = Info(advice);
    for (const levers::Elsewhere& one : info.elsewhere) {
      if (one.framework == work_.framework && !one.what.empty())
        return {UpperAscii(one.what.substr(0, 1)) + one.what.substr(1), {info.key, true}};
    }
  }
  return {};
}

CauseContext::TunedBy CauseContext::Tuning(const Operation& operation) const {
  if (!work_.framework.empty()) return TuningElsewhere();
  const bool tensile =
      !operation.kernels.empty() && operation.kernels.front().name.starts_with("Cijk_");
  if (operation.name.starts_with("aiter::") && tensile) {
    // A tuned entry may choose hipBLASLt as well: only the frame of the fallback tells that there
    // is none.
    const std::string_view entry =
        IsUntuned(operation)
            ? "The table has no entry for them, as aiter calls its fallback `torch_gemm`"
            : "The table may have no entry for them";
    return {fmt::format(
                "Add the slow GEMM sizes to aiter's table of tuned GEMMs with its gradlib tuner, "
                "AITER_CONFIG_GEMM_BF16. {}; or tune hipBLASLt with PYTORCH_TUNABLEOP_ENABLED=1 in "
                "a warm-up run",
                entry),
            {"tuned_gemm_table"}};
  }
  // No compiler chooses the kernel of a library's own op.
  const bool own = !operation.name.starts_with("aten::");
  const bool compiles = work_.compiled && !work_.autotuned && !own && !work_.IsServer();
  const TunedBy compiled = {
      "Compile with `mode=\"max-autotune\"`, unless it is on already; it times Triton's kernels "
      "against the library's",
      {"max_autotune", true}};
  if (work_.amd && work_.tunable_op == WorkContext::TunableOp::kReads) {
    return {
        "Run once with PYTORCH_TUNABLEOP_TUNING=1. TunableOp was on and only read its file, "
        "which may lack the slow GEMM sizes",
        {"tunable_op_tuning"}};
  }
  if (work_.amd && work_.tunable_op == WorkContext::TunableOp::kTunes)
    return compiles ? compiled : TunedBy{};
  if (work_.amd && !work_.before_torch2) {
    constexpr std::string_view kTunable =
        "une hipBLASLt for the slow GEMM sizes: PYTORCH_TUNABLEOP_ENABLED=1 in a warm-up run";
    // Compiled code that replays graphs may be tuned by its compiler, and what the library still
    // computes is not.
    if (!compiles || work_.replays) return {fmt::format("T{}", kTunable), {"tunable_op"}};
    return {fmt::format("{}. Or t{}", compiled.words, kTunable), compiled.way};
  }
  if (compiles) return compiled;
  // Of a library's kernel the compiler found that none of its own is faster.
  if (work_.compiled && work_.autotuned && !own && !work_.IsServer()) {
    if (operation.library != "Triton") return {};
    return {
        "Search more tiles for generated GEMMs: "
        "`TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_SEARCH_SPACE=EXHAUSTIVE`",
        {"search_tiles", true}};
  }
  // Neither setting is in the version that was recorded.
  if (work_.before_torch2) return {};
  if (own) {
    return {"Time the slow GEMM with cuBLASLt as well, and use the faster one", {"time_cublaslt"}};
  }
  // The switch chooses between NVIDIA's libraries: a kernel of PyTorch's own is in neither.
  const std::string_view kernel =
      operation.kernels.empty() ? std::string_view() : operation.kernels.front().name;
  if (kernel.find("at4cuda") != kernel.npos || kernel.find("at::cuda::") != kernel.npos) {
    return {
        "Compile with `mode=\"max-autotune\"`; it times Triton's kernels and PyTorch's own for "
        "these sizes",
        {"max_autotune", true}};
  }
  return {
      "Time the recorded sizes with TORCH_BLAS_PREFER_CUBLASLT=1 and =0, and keep the faster. Or "
      "use "
      "generated kernels: torch.compile with `mode=\"max-autotune\"`",
      {"prefer_cublaslt", true}};
}

double CauseContext::Fp8Rate(std::string_view spec) const {
  const bool half = spec.ends_with("bf16") || spec.ends_with("fp16");
  if (calls_.platform == nullptr || !half || !perf::PeakFor(*calls_.platform, "matrix_fp8"))
    return 0;
  return LargeGemm("matrix_fp8");
}

void CauseContext::FindMerges(const std::vector<CategoryAnalysis>& categories) {
  for (const SharedInput& shared : FindSharedInputs(calls_, categories)) {
    // Each product but one is a launch less; what rate the wider one reaches, no trace of the
    // narrow ones tells.
    const auto launches = static_cast<double>((shared.count - 1) * shared.groups.size());
    merges_.push_back({shared.m, shared.k, shared.n,
                       fmt::format("{} of ({:.0f},{:.0f}) x ({:.0f},{:.0f})", shared.count,
                                   shared.m, shared.k, shared.k, shared.n),
                       launches * limits::kLaunchFloorUs / 1000});
  }
}

const CauseContext::Merge* CauseContext::MergeOf(const Operation& product) const {
  const auto& work = calls_.calls[FirstCallOf(product)].work;
  if (work == nullptr) return nullptr;
  const auto m = work->NumberOf("M"), k = work->NumberOf("K"), n = work->NumberOf("N");
  const auto found = std::find_if(merges_.begin(), merges_.end(), [&](const Merge& one) {
    return m == one.m && k == one.k && n == one.n;
  });
  return found == merges_.end() ? nullptr : &*found;
}

std::optional<std::int64_t> CauseContext::ReducedDimension(const trace::Args& args) const {
  if (args.concrete == kNoString) return std::nullopt;
  // ["", "[1]", "False", ""]: the second argument.
  const std::vector<std::string> values = ParseTypes(calls_.events().text(args.concrete));
  return values.size() < 2 ? std::nullopt : OnlyNumber(values[1]);
}

Range SavedAtTensorRate(double now, double rate, double least) {
  const auto saved = [&](double share) {
    return std::max(0.0, 1 - std::max(now / (share * rate), least));
  };
  return {saved(limits::kTensorLow), saved(limits::kTensorMid), saved(limits::kTensorHigh)};
}

}  // namespace jarvis::findings
