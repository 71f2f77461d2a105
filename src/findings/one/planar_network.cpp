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
    for (Member& member : members_)
      Set(std::move(member));
  }

 private:
  struct Member {
    Operation* operation;
    Target target;
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
    Range saved = {0.6 * conversions, 0.8 * conversions, conversions};
    const double rest = 1 - conversions;
    if (o->efficiency.roof_us && rest > 0) {
      const Range faster = SavedAt(*o->efficiency.roof_us / (rest * o->gpu_us), kConvolution);
      saved.mid += rest * faster.mid;
      saved.high += rest * faster.high;
    }
    Add(o, saved);
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
    members_.push_back({o, Target{saved, "no layout conversions, usual rates in NHWC",
                                  "layout conversions of this trace, rates in NHWC"}});
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
