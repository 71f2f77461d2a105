#include "documents/comparative_rates.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/comparative_facts.h"

namespace jarvis::documents {
namespace {

using findings::BalanceLine;
using findings::PairLever;
using findings::PairTarget;
using ledger::WorkKind;

// "474 TFLOPS/s, 36 % of its peak": of a kind of work on one side; empty: not known. Rate and share
// are of one resource.
std::string RateText(const BalanceLine& line, int side) {
  const bool arithmetic = line.told_by_arithmetic();
  const std::optional<double>& rate = arithmetic ? line.tflops[side] : line.tb_per_s[side];
  const std::optional<double>& share =
      arithmetic ? line.rate_share[side] : line.bandwidth_share[side];
  if (!rate || !share) return {};
  std::string text =
      fmt::format("{} {}, {} of its {}", ThreeDigits(*rate), arithmetic ? "TFLOPS/s" : "TB/s",
                  PercentText(*share), arithmetic ? "peak" : "bandwidth");
  const bool products = line.work == WorkKind::kProduct || line.work == WorkKind::kConvolution;
  if (side == 0 && products && arithmetic && line.practical_ms)
    text += fmt::format(" and {} of what was measured to be possible",
                        PercentText(*line.practical_ms / line.gpu_ms[0]));
  return text;
}

}  // namespace

std::string PercentText(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string BothRates(const BalanceLine* line) {
  if (line == nullptr) return {};
  const std::string candidate = RateText(*line, 0);
  const std::string baseline = RateText(*line, 1);
  if (candidate.empty() || baseline.empty()) return {};
  // So small a share is of short kernels: their work says nothing of their time.
  constexpr double kTold = 0.02;
  const auto& share = line->told_by_arithmetic() ? line->rate_share : line->bandwidth_share;
  if (std::max(*share[0], *share[1]) < kTold) return {};
  return fmt::format(" ({}; the baseline {})", candidate, baseline);
}

std::string TargetText(const PairLever& lever) {
  switch (lever.target) {
    case PairTarget::kSameShare:
      return fmt::format("at the share of the peak that the baseline reaches: {}",
                         Ms(lever.target_ms));
    case PairTarget::kMeasured:
      return fmt::format("at the rate that was measured on this device: {}", Ms(lever.target_ms));
    case PairTarget::kBandwidth:
      return fmt::format("at the ratio of the bandwidths: {}", Ms(lever.target_ms));
    case PairTarget::kComparison: return fmt::format("as on the baseline: {}", Ms(lever.target_ms));
  }
  return {};
}

}  // namespace jarvis::documents
