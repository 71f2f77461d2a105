// What published attention kernels reach on a device: a target that does not take attention for a
// matrix product.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "findings/one/category_analysis.h"
#include "perf/platform.h"

namespace jarvis::findings {

struct PublishedAttention {
  std::string_view platform;  // beginning of perf::Platform::name: "H100"
  double head_size;           // up to this
  double tflops;              // forward, 16-bit operands, long sequences
  std::string_view kernels;   // whose: "FlashAttention-3"
  std::string_view source;    // with the year
  std::string_view library;   // as LibraryOfKernel names them; those kernels are the reference
  bool measured = false;      // at just this head size on this chip, not at a larger or smaller one
};
std::span<const PublishedAttention> PublishedAttentionRates();

// "FlashAttention-3's `flash_attn_func`": the generation that the rate names, which is the one made
// for the device; without a number where it names none.
std::string FlashAttentionCall(const PublishedAttention& rate);

// The rate for a device and head size; null: none is published.
const PublishedAttention* PublishedAttentionFor(const perf::Platform& platform, double head_size);

// The part of the time of a kernel at `now` TFLOPS/s that goes at 75 %, 90 % and all of `goal`, the
// rate for its direction. The least is 0 where that is over 1.6 times as fast, no attention of this
// trace is, and nobody measured it at this head size.
Range SavedAtPublished(const PublishedAttention& rate, double head_size, double now, double goal,
                       std::span<const CategoryAnalysis> categories);

}  // namespace jarvis::findings
