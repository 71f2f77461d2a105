#include "findings/one/workload_unet.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::findings {
namespace {

// Height and width of a map.
using Resolution = std::pair<std::int64_t, std::int64_t>;

constexpr std::int64_t kImageChannelsMost = 16;  // of an image, or of a latent
constexpr std::int64_t kFeatureChannelsLeast = 32;
constexpr double kConvolutionsLeast = 0.05;  // of computing
constexpr std::size_t kWidthsLeast = 2;      // of levels, that come from the time step
constexpr double kOneBatch = 0.9;            // of the time of convolutions

// The input and the weight of a convolution of images that is no gradient.
bool IsForwardConvolution(const ShapedOperation& one) {
  return one.kind == Kind::kConvolution && one.operation != nullptr && one.shapes.size() >= 2 &&
         one.shapes[0].size() == 4 && one.shapes[1].size() == 4 &&
         !ContainsNoCase(one.operation->name, "backward");
}

Resolution ResolutionOf(const Shape& map) {
  return {map[2], map[3]};
}

std::set<Resolution> GroupNormed(const WorkloadFacts& facts) {
  std::set<Resolution> at;
  for (const ShapedOperation& one : facts.operations) {
    const bool norm = one.operation != nullptr && !one.shapes.empty() &&
                      one.shapes[0].size() == 4 &&
                      ContainsNoCase(one.operation->name, "group_norm") &&
                      !ContainsNoCase(one.operation->name, "backward");
    if (norm) at.insert(ResolutionOf(one.shapes[0]));
  }
  return at;
}

// Compiled code has its norms in kernels that are named after them.
bool HasGeneratedGroupNorms(const WorkloadFacts& facts) {
  return std::any_of(facts.kernels.begin(), facts.kernels.end(), [](const NamedWork& kernel) {
    return kernel.name.starts_with("triton_") && ContainsNoCase(kernel.name, "group_norm");
  });
}

// Which numbers of places there is attention over, each place to others or to a prompt.
std::set<std::int64_t> Attended(const WorkloadFacts& facts, const WorkloadSizes& sizes,
                                const std::set<std::int64_t>& places) {
  std::set<std::int64_t> attended;
  for (const AttentionSizes& one : sizes.attentions) {
    if (one.queries > 1 && places.contains(one.queries)) attended.insert(one.queries);
  }
  // Older recordings have shapes alone: [batch, heads, places, width], or the heads after them.
  for (const ShapedOperation& one : facts.operations) {
    if (one.kind != Kind::kSdpa || one.shapes.empty() || one.shapes[0].size() != 4) continue;
    for (const std::int64_t axis : {one.shapes[0][1], one.shapes[0][2]}) {
      if (axis > 1 && places.contains(axis)) attended.insert(axis);
    }
  }
  return attended;
}

// The first convolution, of an image or of latents.
bool ComesIn(const ShapedOperation& one) {
  if (!IsForwardConvolution(one)) return false;
  const Shape& map = one.shapes[0];
  const Shape& weight = one.shapes[1];
  return weight[1] == map[1] && map[1] <= kImageChannelsMost &&
         weight[0] >= kFeatureChannelsLeast && weight[2] <= 3;
}

// Whether a last convolution makes the noise of such an input, alone or with its variance, or
// without what was only given as a hint.
bool ComesOut(const WorkloadFacts& facts, const Shape& input) {
  return std::any_of(
      facts.operations.begin(), facts.operations.end(), [&](const ShapedOperation& one) {
        if (!IsForwardConvolution(one)) return false;
        const Shape& map = one.shapes[0];
        const std::int64_t made = one.shapes[1][0];
        const bool place = map[0] == input[0] && ResolutionOf(map) == ResolutionOf(input);
        const bool noise = made == input[1] || made == 2 * input[1] || (made == 4 && input[1] > 4);
        return place && noise && map[1] >= kFeatureChannelsLeast;
      });
}

}  // namespace

bool HasTimeStep(const WorkloadSizes& sizes, std::int64_t batch) {
  std::map<std::int64_t, std::set<std::int64_t>> widths;  // by the width they come from
  for (const GemmSizes& gemm : sizes.gemms) {
    if (gemm.m == batch && gemm.n >= kFeatureChannelsLeast) widths[gemm.k].insert(gemm.n);
  }
  return std::any_of(widths.begin(), widths.end(),
                     [](const auto& one) { return one.second.size() >= kWidthsLeast; });
}

std::int64_t BatchOfConvolutions(const WorkloadFacts& facts) {
  std::map<std::int64_t, double> by_batch;
  double all_us = 0;
  for (const ShapedOperation& one : facts.operations) {
    if (!IsForwardConvolution(one)) continue;
    by_batch[one.shapes[0][0]] += one.operation->gpu_us;
    all_us += one.operation->gpu_us;
  }
  for (const auto& [batch, us] : by_batch) {
    if (us >= kOneBatch * all_us) return batch;
  }
  return 0;
}

bool IsGroupNormedPyramid(const WorkloadFacts& facts) {
  if (GroupNormed(facts).size() < 2 && !HasGeneratedGroupNorms(facts)) return false;
  std::set<Resolution> convolved;
  double convolution_us = 0, other_us = 0;
  for (const ShapedOperation& one : facts.operations) {
    if (IsForwardConvolution(one)) convolved.insert(ResolutionOf(one.shapes[0]));
    if (one.operation == nullptr) continue;
    if (one.kind == Kind::kConvolution) convolution_us += one.operation->gpu_us;
    if (one.kind == Kind::kGemm || one.kind == Kind::kSdpa) other_us += one.operation->gpu_us;
  }
  return convolved.size() >= 3 && convolution_us > other_us;
}

std::optional<DiffusionUnet> FindDiffusionUnet(const WorkloadFacts& facts,
                                               const WorkloadSizes& sizes) {
  const std::set<Resolution> normed = GroupNormed(facts);
  if (normed.size() < 2 && !HasGeneratedGroupNorms(facts)) return std::nullopt;
  std::set<std::int64_t> places;  // of maps that are convolved
  double convolution_us = 0;
  for (const ShapedOperation& one : facts.operations) {
    if (!IsForwardConvolution(one)) continue;
    convolution_us += one.operation->gpu_us;
    places.insert(one.shapes[0][2] * one.shapes[0][3]);
  }
  const std::set<std::int64_t> attended = Attended(facts, sizes, places);
  if (convolution_us < kConvolutionsLeast * facts.ComputeUs() || attended.size() < 2)
    return std::nullopt;
  // Encoders and decoders of latents come in and go out alike, but run once where the U-Net runs
  // again and again.
  const ShapedOperation* in = nullptr;
  for (const ShapedOperation& one : facts.operations) {
    if (!ComesIn(one) || !ComesOut(facts, one.shapes[0]) || !HasTimeStep(sizes, one.shapes[0][0]))
      continue;
    const auto rank = [](const ShapedOperation& first) {
      return std::pair(first.operation->count, first.shapes[0][1] != 3);
    };
    if (in == nullptr || rank(one) > rank(*in)) in = &one;
  }
  if (in == nullptr) return std::nullopt;
  const Shape& input = in->shapes[0];
  DiffusionUnet unet{input[0], input[1], input[2], input[3], in->operation->count, {}};
  unet.evidence = fmt::format(
      "convolutions with group norms, attention over all places of {} resolutions, "
      "{} channels in and noise of as many out, dense layers for the time step",
      attended.size(), unet.channels);
  return unet;
}

void TellDiffusionUnet(const DiffusionUnet& unet, Workload* out) {
  out->Set(WorkloadPart::kFamily, "diffusion U-Net", Certainty::kInferred, unet.evidence);
  constexpr std::string_view kFirst = "input of the first convolution";
  out->Set(WorkloadPart::kBatch, fmt::format("batch {}", unet.batch), Certainty::kRecorded,
           std::string(kFirst));
  out->Set(WorkloadPart::kInput,
           unet.channels == 3
               ? fmt::format("{} x {} pixels", unet.height, unet.width)
               : fmt::format("latents of {} x {} x {}", unet.channels, unet.height, unet.width),
           Certainty::kRecorded, std::string(kFirst));
}

}  // namespace jarvis::findings
