#include "documents/batch_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/base_text.h"
#include "documents/host_prose.h"
#include "documents/markdown_text.h"
#include "documents/time_parts.h"

namespace jarvis::documents {
namespace {

constexpr std::string_view kSizeUnknown = "raises throughput, by how much is unknown";
constexpr std::string_view kNoShorter = "a single pass gets no shorter";
constexpr std::string_view kBatchInputs = "Batch inputs: collect several and run them in one pass";

std::string BatchReason(const findings::Analysis& analysis) {
  return fmt::format(
      "The GPU is busy for {} of the {}; host time is per pass, whatever the batch size",
      BaseShare(analysis, MillisOf(analysis.base.balance.busy_ns())), analysis.base.unit);
}

FixRow Throughput(std::string because, std::string alone, std::string after) {
  FixRow row = Beside('B', std::string(kBatchInputs), std::move(because), std::move(alone),
                      std::move(after));
  row.brief = "throughput";
  return row;
}

// Where the host is alone for most of the time, several inputs cost it as much as one.
FixRow GainRow(const findings::Analysis& analysis, const BatchGain& gain) {
  std::string after =
      fmt::format("about {} times the throughput", gain.longer ? PlainDigits(gain.throughput, 2)
                                                               : fmt::format("{:.0f}", gain.times));
  if (!gain.longer) after += fmt::format(" with {:.0f} times the batch", gain.times);
  return Throughput(BatchReason(analysis), BatchText(analysis, gain), std::move(after));
}

// Where how long the host works without the profiler is not known well enough for a figure.
std::optional<FixRow> IdleRow(const findings::Analysis& analysis) {
  const bool likely = std::ranges::any_of(
      analysis.quality, [](const findings::Quality& quality) { return quality.host_likely; });
  if (!likely) return std::nullopt;
  return Throughput(BatchReason(analysis), std::string(kSizeUnknown), std::string(kNoShorter));
}

// Where small grids leave most of the device idle, more inputs in a pass hardly make it longer.
// Absent: they do not, or nobody asks for one pass after the other.
std::optional<FixRow> SmallGridsRow(const findings::Analysis& analysis) {
  constexpr double kMost = 50;  // percent of the time of kernels
  const double percent = analysis.few_blocks_percent.value_or(0);
  if (percent < kMost || HostHidesGpu(analysis)) return std::nullopt;
  return Throughput(
      fmt::format("Kernels that take {} of the kernel time have fewer blocks than the device has "
                  "{}, so a larger batch barely lengthens them",
                  Pct(percent), analysis.context.amd ? "compute units" : "SMs"),
      std::string(kSizeUnknown), std::string(kNoShorter));
}

}  // namespace

FixRow Beside(char path, std::string action, std::string because, std::string alone,
              std::string after) {
  const std::string paths = path == '\0' ? std::string(kAbsentText) : std::string(1, path);
  return {{},
          std::string(kAbsentText),
          {{path, std::move(action), {}}},
          std::move(because),
          std::move(alone),
          std::move(after),
          paths};
}

std::optional<FixRow> BatchRow(const findings::Analysis& analysis) {
  if (const auto gain = BatchGainOf(analysis)) return GainRow(analysis, *gain);
  if (!IsInference(analysis)) return std::nullopt;
  if (analysis.bound.kind == ledger::BoundKind::kHost) return IdleRow(analysis);
  return SmallGridsRow(analysis);
}

}  // namespace jarvis::documents
