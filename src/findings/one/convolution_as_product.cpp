#include "findings/one/convolution_as_product.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"
#include "perf/platform.h"

namespace jarvis::findings {
namespace {

// aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding,
// groups).
constexpr std::size_t kStride = 3, kPadding = 4, kTransposed = 6, kGroups = 8;

// Elements of its output. Absent: its windows overlap, or are cut.
std::optional<double> OutputOf(const Shape& input, const Shape& weight,
                               const std::vector<std::string>& values) {
  if (values.size() <= kGroups || input.size() < 3 || weight.size() != input.size() ||
      values[kTransposed] != "True" || values[kGroups] != "1")
    return std::nullopt;
  const Shape window(weight.begin() + 2, weight.end());
  if (values[kStride] != fmt::format("[{}]", fmt::join(window, ", "))) return std::nullopt;
  const bool padded = values[kPadding].find_first_of("123456789") != std::string::npos;
  if (padded || input[1] <= 0) return std::nullopt;
  return Elements(input) / static_cast<double>(input[1]) * static_cast<double>(weight[1]) *
         Elements(window);
}

}  // namespace

std::optional<Target> AsProductAndShuffle(const Calls& calls, const Operation& convolution) {
  const Efficiency& e = convolution.efficiency;
  const perf::Platform* platform = calls.platform;
  if (convolution.dims.empty() || convolution.concrete.empty() || convolution.mean_us <= 0 ||
      platform == nullptr || !e.peak_tb_per_s || !e.peak_tflops || !e.flops)
    return std::nullopt;
  const trace::EventStore& events = calls.events();
  const trace::Args& args = events.args_of(convolution.example);
  const std::vector<Shape> shapes = ParseShapes(events.text(args.dims));
  const std::vector<std::string> types = ParseTypes(events.text(args.types));
  if (shapes.size() < 2 || types.empty()) return std::nullopt;
  const auto output = OutputOf(shapes[0], shapes[1], ParseTypes(events.text(args.concrete)));
  const double size = TypeBytes(ShortType(types[0]));
  if (!output || size <= 0) return std::nullopt;
  const auto fp32 = perf::PeakFor(*platform, "matrix_fp32");
  const bool tf32 = e.spec == "matrix_tf32" && fp32;
  const auto saved = [&](double times, double bandwidth, double tflops) {
    const double memory_us =
        size * (Elements(shapes[0]) + times * *output) / (bandwidth * *e.peak_tb_per_s * 1e6);
    const double compute_us = *e.flops / (limits::kTensorHigh * tflops * 1e6);
    return std::max(0.0, 1 - std::max(memory_us, compute_us) / convolution.mean_us);
  };
  const double low = saved(3, limits::kRoofMid, tf32 ? fp32->tflops : *e.peak_tflops);
  const double high = saved(1, limits::kStreamShare, *e.peak_tflops);
  return Target{{low, (low + high) / 2, high},
                "one GEMM, whose output is stored once to three times",
                "traffic and arithmetic of the convolution"};
}

}  // namespace jarvis::findings
