#include "findings/one/published_rates.h"

#include <algorithm>
#include <iterator>

#include "findings/one/estimates.h"

namespace jarvis::findings {
namespace {

// Rounded down from plots and tables: a target has to be within reach. Rows of a device by head
// size.
constexpr PublishedAttention kRates[] = {
    {"H100", 64, 400, "FlashAttention-3 and cuDNN 9", "Shah et al., FlashAttention-3, 2024",
     "FlashAttention", true},
    {"H100", 128, 600, "FlashAttention-3 and cuDNN 9", "Shah et al., FlashAttention-3, 2024",
     "FlashAttention", true},
    {"H100", 256, 650, "FlashAttention-3 and cuDNN 9", "Shah et al., FlashAttention-3, 2024",
     "FlashAttention", true},
    {"H200", 64, 400, "FlashAttention-3 and cuDNN 9", "Shah et al., FlashAttention-3, 2024",
     "FlashAttention", true},
    {"H200", 256, 600, "FlashAttention-3 and cuDNN 9", "Shah et al., FlashAttention-3, 2024",
     "FlashAttention"},
    {"A100", 64, 175, "FlashAttention-2", "Dao, FlashAttention-2, 2023", "FlashAttention", true},
    {"A100", 128, 200, "FlashAttention-2", "Dao, FlashAttention-2, 2023", "FlashAttention", true},
    {"A100", 256, 200, "FlashAttention-2", "Dao, FlashAttention-2, 2023", "FlashAttention"},
    {"MI300X", 256, 500, "Composable Kernel and AITER", "AMD, ROCm blogs on CK and AITER, 2025",
     "CK"},
    {"MI325X", 256, 520, "Composable Kernel and AITER", "AMD, ROCm blogs on CK and AITER, 2025",
     "CK"},
    {"MI355X", 256, 1000, "Composable Kernel and AITER", "AMD, ROCm blogs on AITER, 2025", "CK"},
    {"B200", 64, 900, "cuDNN 9 and FlashAttention-4", "NVIDIA and Dao-AILab, 2025",
     "FlashAttention"},
    {"B200", 128, 1200, "cuDNN 9 and FlashAttention-4", "NVIDIA and Dao-AILab, 2025",
     "FlashAttention", true},
    {"B200", 256, 1200, "cuDNN 9 and FlashAttention-4", "NVIDIA and Dao-AILab, 2025",
     "FlashAttention"},
};

}  // namespace

std::string FlashAttentionCall(const PublishedAttention& rate) {
  constexpr std::string_view kName = "FlashAttention-";
  const std::size_t at = rate.kernels.find(kName);
  if (at == std::string_view::npos) return "flash-attn's `flash_attn_func`";
  return std::string(rate.kernels.substr(at, kName.size() + 1)) + "'s `flash_attn_func`";
}

std::span<const PublishedAttention> PublishedAttentionRates() {
  return kRates;
}

const PublishedAttention* PublishedAttentionFor(const perf::Platform& platform, double head_size) {
  const auto* found =
      std::find_if(std::begin(kRates), std::end(kRates), [&](const PublishedAttention& row) {
        return platform.name.starts_with(row.platform) && head_size <= row.head_size;
      });
  return found == std::end(kRates) ? nullptr : found;
}

Range SavedAtPublished(const PublishedAttention& rate, double head_size, double now, double goal,
                       std::span<const CategoryAnalysis> categories) {
  constexpr double kFar = 1.6;
  Range out{SavedPart(now, 0.75 * goal), SavedPart(now, 0.9 * goal), SavedPart(now, goal)};
  const bool measured = rate.measured && rate.head_size == head_size;
  const bool reached = std::ranges::any_of(categories, [&](const CategoryAnalysis& category) {
    return category.kind == Kind::kSdpa &&
           std::ranges::any_of(category.operations, [&](const Operation& one) {
             return one.efficiency.tflops_per_s.value_or(0) >= goal;
           });
  });
  if (goal > kFar * now && !measured && !reached) out.low = 0;
  return out;
}

}  // namespace jarvis::findings
