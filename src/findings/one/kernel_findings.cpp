#include "findings/one/kernel_findings.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/text.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/kernel_categories.h"
#include "findings/one/structure_maker.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

template <std::size_t kCount>
bool HasAny(std::string_view name, const std::array<std::string_view, kCount>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return ContainsNoCase(name, part); });
}

// Of a convolution in NHWC, around which tensors in NCHW are transposed.
bool IsConvolutionKernel(std::string_view name) {
  constexpr std::array<std::string_view, 5> kParts = {"igemm_", "implicit_gemm", "implicitgemm",
                                                      "conv", "fprop"};
  return !IsLayoutKernel(name) && HasAny(name, kParts);
}

// PyTorch's own for NCHW; those for NHWC have "channels_last" in their name.
bool IsPlanarBatchNorm(std::string_view name) {
  constexpr std::array<std::string_view, 3> kParts = {"batch_norm_collect_statistics_kernel",
                                                      "batch_norm_backward_kernel",
                                                      "batch_norm_transform_input_kernel"};
  return HasAny(name, kParts) && name.find("channels_last") == std::string_view::npos;
}

class KernelFindingMaker {
 public:
  explicit KernelFindingMaker(const Calls& calls) : calls_(calls), events_(calls.events()) {}

  std::vector<Finding> Run() {
    bool convolutions = false;
    std::vector<EventIndex> layout, norms;
    for (const EventIndex e : calls_.trace.attribution().timeline) {
      if (events_[e].kind != trace::EventKind::kKernel) continue;
      const std::string_view name = events_.name(e);
      convolutions = convolutions || IsConvolutionKernel(name);
      if (IsLayoutKernel(name)) layout.push_back(e);
      if (IsPlanarBatchNorm(name)) norms.push_back(e);
    }
    if (convolutions) Layout(std::move(layout));
    BatchNorm(std::move(norms));
    return std::move(out_);
  }

 private:
  bool IsSmall(const std::vector<EventIndex>& gpu) const {
    constexpr double kShown = 3;  // percent of computing
    double us = 0;
    for (const EventIndex e : gpu)
      us += trace::MicrosOf(events_[e].dur_ns);
    return us * 100 < kShown * calls_.computation_us || gpu.empty();
  }

  void Layout(std::vector<EventIndex> gpu) {
    if (IsSmall(gpu)) return;
    std::string subject = fmt::format("{} transposes", gpu.size());
    out_.push_back(StructureFinding(
        calls_, Pattern::kLayoutKernels, "layout transposes", std::move(subject), std::move(gpu),
        {0.6, 0.8, 1}, {{}, "most of the conversions gone", "layout of convolution kernels"}, {}));
  }

  void BatchNorm(std::vector<EventIndex> gpu) {
    if (IsSmall(gpu)) return;
    std::string subject = fmt::format("{} kernels", gpu.size());
    std::vector<Fact> facts;
    if (std::string few = FewBlocks(gpu); !few.empty())
      facts.push_back(StructureWords("few_blocks", std::move(few)));
    out_.push_back(StructureFinding(
        calls_, Pattern::kPlanarBatchNorm, "Batch norm", std::move(subject), std::move(gpu),
        {0.2, 0.4, 0.6}, {{}, "20 to 60 % less", "estimate: no other kernel of them in this trace"},
        std::move(facts)));
  }

  // What runs on fewer blocks than there are compute units.
  std::string FewBlocks(const std::vector<EventIndex>& gpu) const {
    const auto& devices = calls_.trace.trace().metadata.devices;
    if (devices.empty() || !devices.front().sm_count) return "";
    const std::int64_t units = *devices.front().sm_count;
    double few_us = 0;
    EventIndex longest = trace::kNoEvent;
    for (const EventIndex e : gpu) {
      const auto blocks = GridBlocksOf(events_, e);
      if (!blocks || *blocks >= units) continue;
      few_us += trace::MicrosOf(events_[e].dur_ns);
      if (longest == trace::kNoEvent || events_[e].dur_ns > events_[longest].dur_ns) longest = e;
    }
    if (longest == trace::kNoEvent) return "";
    return fmt::format(
        "{} ms of it in grids of fewer blocks than the {} compute units; the longest has {} "
        "and takes {} µs",
        ThreeDigits(few_us / 1000), units, *GridBlocksOf(events_, longest),
        ThreeDigits(trace::MicrosOf(events_[longest].dur_ns)));
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  std::vector<Finding> out_;
};

}  // namespace

std::vector<Finding> FindingsByKernel(const Calls& calls) {
  if (calls.trace.recorded().cpu_ops) return {};
  return KernelFindingMaker(calls).Run();
}

}  // namespace jarvis::findings
