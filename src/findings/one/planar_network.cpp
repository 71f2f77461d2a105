#include "findings/one/planar_network.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"
#include "ledger/kinds/work_kind.h"

namespace jarvis::findings {
namespace {

constexpr double kNetworkShare = 10;      // percent of computing: else a patch embedding, a stem
constexpr double kPlanarPart = 0.5;       // of the time of such convolutions: else a stray one
constexpr double kConversionPart = 0.05;  // of a convolution, where strides are not recorded
constexpr std::int64_t kFewChannels = 4;  // of an image: padded in NHWC, which saves nothing

// Shares of their roofs that kernels reach in NHWC: least, usual, best.
struct Reached {
  double low, mid, high;
};
// Those of PyTorch's batch norm move as many elements a second of either size.
constexpr Reached kNorm16 = {0.15, 0.25, 0.5};
constexpr Reached kNorm32 = {0.25, 0.4, 0.6};
// Most kernels compute in NHWC already, between conversions: theirs may stay as they are.
constexpr Reached kConvolution = {0, 0.35, 0.5};
constexpr double kUsualPart = 0.7;  // of what kernels of this trace reach in NHWC
constexpr const char* kTargetText = "no layout conversions, usual rates in NHWC";
constexpr const char* kTargetSource = "layout conversions of this trace, rates in NHWC";
constexpr Range kNormUnrated = {0.2, 0.4, 0.6};
constexpr Range kUpsampling = {0, 0.25, 0.5};

enum class Layout : std::uint8_t { kUnknown, kPlanar, kChannelsLast };

// Of a tensor with more than one channel and more than one place.
Layout LayoutOf(const Shape& shape, const Shape& strides) {
  if (shape.size() < 4 || strides.size() != shape.size() || shape[1] <= 1) return Layout::kUnknown;
  double places = 1;
  for (std::size_t axis = 2; axis < shape.size(); ++axis)
    places *= static_cast<double>(shape[axis]);
  if (places <= 1) return Layout::kUnknown;
  return strides[1] == 1 ? Layout::kChannelsLast : Layout::kPlanar;
}

bool NameHas(const Operation& o, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return ContainsNoCase(o.name, part); });
}

// Of its time, the part in kernels that `wanted` takes.
template <typename Wanted>
double PlanarKernelPart(const Operation& o, const Wanted& wanted) {
  double us = 0;
  for (const KernelShare& kernel : o.kernels)
    us += wanted(kernel.name) ? kernel.total_us : 0;
  return o.gpu_us > 0 ? us / o.gpu_us : 0;
}

// Of its time, the convolution kernels whose names do not say that they read and write NHWC: those
// that do stay as they are, whatever the layout of the tensors around the conversions.
struct ConvolutionUs {
  double last = 0, other = 0;
};
ConvolutionUs ConvolutionKernels(const Operation& o) {
  ConvolutionUs us;
  for (const KernelShare& kernel : o.kernels) {
    const ledger::WorkKind kind = ledger::ClassifyKernelName(kernel.name).kind;
    if (kind != ledger::WorkKind::kConvolution && kind != ledger::WorkKind::kProduct) continue;
    const bool last = ContainsNoCase(kernel.name, "hwc") && !ContainsNoCase(kernel.name, "nchw") &&
                      !ContainsNoCase(kernel.name, "ncdhw");
    (last ? us.last : us.other) += kernel.total_us;
  }
  return us;
}

double ConversionPart(const Operation& o) {
  for (const Fact& fact : o.details) {
    const double* us = std::get_if<double>(&fact.value);
    if (fact.key == "transpose_us" && us != nullptr && o.gpu_us > 0) return *us / o.gpu_us;
  }
  return 0;
}

constexpr std::string_view kTensorTypes[] = {"tf32", "fp16", "bf16"};

// Units that compute this type faster than the vector unit does; 16 bits alone are none.
bool HasTensorCores(const perf::Platform& platform, const std::string& precision) {
  constexpr double kFaster = 2;
  const auto matrix = perf::PeakFor(platform, "matrix_" + precision);
  const auto vector = perf::PeakFor(platform, "vector_" + precision);
  const auto plain = vector ? vector : perf::PeakFor(platform, "vector_fp32");
  return matrix && (!plain || matrix->tflops >= kFaster * plain->tflops);
}

bool OnTensorCores(const perf::Platform* platform, const Operation& o) {
  double narrow = 0, other = 0;
  for (const KernelShare& kernel : o.kernels) {
    const ledger::KernelKind kind = ledger::ClassifyKernelName(kernel.name);
    if (kind.kind != ledger::WorkKind::kConvolution && kind.kind != ledger::WorkKind::kProduct)
      continue;
    if (kind.library == "miopen") return false;
    const bool narrow_type = std::find(std::begin(kTensorTypes), std::end(kTensorTypes),
                                       kind.precision) != std::end(kTensorTypes);
    const bool tensor = narrow_type && (platform == nullptr ||
                                        HasTensorCores(*platform, std::string(kind.precision)));
    (tensor ? narrow : other) += kind.precision.empty() ? 0 : kernel.total_us;
  }
  if (narrow + other > 0) return narrow > other;
  const std::string& spec = o.efficiency.spec;
  return platform != nullptr &&
         std::any_of(std::begin(kTensorTypes), std::end(kTensorTypes), [&](std::string_view type) {
           return spec.ends_with(type) && HasTensorCores(*platform, std::string(type));
         });
}

Range SavedAt(double now, const Reached& reached) {
  const auto part = [&](double share) { return share > now ? 1 - now / share : 0; };
  return {part(reached.low), part(reached.mid), part(reached.high)};
}

class PlanarNetwork {
 public:
  PlanarNetwork(const Calls& calls, std::vector<CategoryAnalysis>* categories)
      : calls_(calls), out_(*categories) {}

  void Run() {
    for (CategoryAnalysis& category : out_) {
      for (Operation& o : category.operations) {
        if (o.gpu_us <= 0 || o.claimed || o.cause || o.efficiency.impossible) continue;
        if (!o.name.starts_with("aten::")) continue;
        if (category.kind == Kind::kConvolution) Convolution(&o);
        if (o.classification == "batch" && category.kind == Kind::kNorm) Norm(&o);
        if (o.name.starts_with("aten::upsample_")) Upsampling(&o);
      }
    }
    if (planar_us_ <= 0 || planar_us_ < kPlanarPart * tensor_us_) return;
    if ((planar_us_ + norms_us_) * 100 < kNetworkShare * calls_.computation_us) return;
    AddFaster();
    for (Member& member : members_)
      Set(std::move(member));
  }

 private:
  struct Member {
    Operation* operation;
    Target target;
    ConvolutionUs us = {};
  };

  // Of its inputs: a convolution's gradients count as its input does.
  Layout InputLayout(const Operation& o) const {
    const trace::Args& args = calls_.events().args_of(o.example);
    if (o.dims.empty() || o.strides.empty()) return Layout::kUnknown;
    const std::vector<Shape> shapes = ParseShapes(calls_.events().text(args.dims));
    const std::vector<Shape> strides = ParseShapes(calls_.events().text(args.strides));
    const bool backward = ContainsNoCase(o.name, "backward");
    Layout layout = Layout::kUnknown;
    for (std::size_t i = 0; i < std::min({shapes.size(), strides.size(), backward ? 2UL : 1UL});
         ++i) {
      const Layout one = LayoutOf(shapes[i], strides[i]);
      if (one == Layout::kPlanar || layout == Layout::kUnknown) layout = one;
    }
    return layout;
  }

  // Channels of the input by its weight; absent: no shapes.
  std::optional<std::int64_t> Channels(const Operation& o) const {
    if (o.dims.empty()) return std::nullopt;
    const trace::Args& args = calls_.events().args_of(o.example);
    const std::vector<Shape> shapes = ParseShapes(calls_.events().text(args.dims));
    const std::size_t weight = ContainsNoCase(o.name, "backward") ? 2 : 1;
    if (shapes.size() <= weight || shapes[weight].size() < 4) return std::nullopt;
    return shapes[weight][1];
  }

  void Convolution(Operation* o) {
    if (o->classification == "depthwise" || o->classification == "grouped") return;
    if (o->classification == "transposed") return;  // the rule of such may make it a GEMM
    if (!OnTensorCores(calls_.platform, *o)) return;
    const auto channels = Channels(*o);
    if (channels && *channels <= kFewChannels) return;
    tensor_us_ += o->gpu_us;
    const double conversions = ConversionPart(*o);
    const Layout layout = InputLayout(*o);
    const bool planar =
        layout == Layout::kPlanar || (layout == Layout::kUnknown && conversions >= kConversionPart);
    if (!planar) return;
    planar_us_ += o->gpu_us;
    conversions_us_ += conversions * o->gpu_us;
    tf32_ = tf32_ || o->efficiency.spec.ends_with("tf32");
    const ConvolutionUs us = ConvolutionKernels(*o);
    if (o->efficiency.roof_us && us.other == 0) {
      last_roof_us_ += *o->efficiency.roof_us;
      last_us_ += us.last;
    }
    members_.push_back({o,
                        Target{{0.6 * conversions, 0.8 * conversions, conversions},
                               "no layout conversions",
                               "layout conversions of this trace"},
                        us});
  }

  // Kernels of another layout reach in NHWC what those of this trace reach that have it, else what
  // is usual.
  void AddFaster() {
    Reached reached = kConvolution;
    if (last_us_ > 0) {
      const double here = std::min(1.0, last_roof_us_ / last_us_);
      reached = {0, kUsualPart * here, here};
    }
    for (Member& member : members_) {
      const ConvolutionUs& us = member.us;
      const Operation& o = *member.operation;
      if (us.other <= 0 || !o.efficiency.roof_us) continue;
      const Range faster = SavedAt(*o.efficiency.roof_us / (us.last + us.other), reached);
      if (faster.high <= 0) continue;
      const double part = us.other / o.gpu_us;
      member.target.saved_part.mid += part * faster.mid;
      member.target.saved_part.high += part * faster.high;
      const bool own = last_us_ > 0;
      member.target.text =
          own ? "no layout conversions, the rate of this trace's NHWC kernels" : kTargetText;
      member.target.source =
          own ? "layout conversions and NHWC kernels of this trace" : kTargetSource;
    }
    std::erase_if(members_, [](const Member& one) { return one.target.saved_part.high <= 0; });
  }

  void Norm(Operation* o) {
    const auto last = [](std::string_view kernel) {
      return ContainsNoCase(kernel, "channels_last") || ContainsNoCase(kernel, "nhwc");
    };
    const auto named = [](std::string_view kernel) {
      return ContainsNoCase(kernel, "nchw") || ContainsNoCase(kernel, "bn_bw_1c11") ||
             ContainsNoCase(kernel, "bn_fw_tr_1c11") ||
             ContainsNoCase(kernel, "batch_norm_collect_statistics_kernel") ||
             ContainsNoCase(kernel, "batch_norm_backward_kernel");
    };
    const Layout layout = InputLayout(*o);
    if (layout == Layout::kChannelsLast || PlanarKernelPart(*o, last) > 0) return;
    if (layout == Layout::kUnknown && PlanarKernelPart(*o, named) < 0.5) return;
    const auto& percent = o->efficiency.percent;
    const bool wide = !o->efficiency.spec.ends_with("16");
    Add(o, percent ? SavedAt(*percent / 100, wide ? kNorm32 : kNorm16) : kNormUnrated);
    norms_us_ += o->gpu_us;
  }

  // PyTorch's own kernels for NCHW walk all channels of a place, far apart from each other.
  void Upsampling(Operation* o) {
    const auto last = [](std::string_view kernel) { return ContainsNoCase(kernel, "nhwc"); };
    if (!NameHas(*o, {"bilinear2d", "bicubic2d", "nearest2d"})) return;
    if (InputLayout(*o) != Layout::kPlanar || PlanarKernelPart(*o, last) > 0) return;
    Add(o, kUpsampling);
  }

  void Add(Operation* o, const Range& saved) {
    if (saved.high <= 0) return;
    members_.push_back({o, Target{saved, kTargetText, kTargetSource}});
  }

  void Set(Member member) const {
    Operation& o = *member.operation;
    const double all_us = planar_us_ + norms_us_;
    Cause cause{Pattern::kPlanarNetwork, {}, {}, std::move(member.target), {}, {}};
    if (conversions_us_ > 0)
      cause.facts.push_back(NumberFact("conversions_percent", conversions_us_ / all_us * 100, "%"));
    if (norms_us_ > 0)
      cause.facts.push_back(NumberFact("norms_percent", norms_us_ / all_us * 100, "%"));
    if (tf32_) {
      cause.facts.push_back(
          {"together", std::string("16 bits alone gain little in NCHW; with NHWC both compound"),
           "words"});
    }
    o.cause = std::move(cause);
  }

  const Calls& calls_;
  std::vector<CategoryAnalysis>& out_;
  std::vector<Member> members_;
  double tensor_us_ = 0, planar_us_ = 0, conversions_us_ = 0, norms_us_ = 0;
  double last_us_ = 0, last_roof_us_ = 0;  // of ops whose kernels are all of NHWC
  bool tf32_ = false;
};

}  // namespace

void FindPlanarNetwork(const Calls& calls, const WorkContext& work,
                       std::vector<CategoryAnalysis>* categories) {
  // MIOpen chooses by other limits; its conversions have a rule of their own.
  if (work.amd) return;
  PlanarNetwork(calls, categories).Run();
}

}  // namespace jarvis::findings
