#include "findings/two/pair_verdict.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/number_text.h"

namespace jarvis::findings {
namespace {

// Communication is as often on both sides if its calls differ by no more.
constexpr double kCommAsOften = 0.01;

// Without sizes, a change of time beyond this part of it may be one of sizes.
constexpr double kCommNearly = 0.1;

CommLikeness LikenessOf(const Balance& balance) {
  bool sizes = true;
  double ms[2] = {0, 0};
  for (const ExchangePart& part : balance.exchanges) {
    if (std::abs(part.calls[0] - part.calls[1]) >
        kCommAsOften * std::max(part.calls[0], part.calls[1]))
      return CommLikeness::kUnlike;
    sizes = sizes && part.bytes;
    for (int i = 0; i < 2; ++i)
      ms[i] += part.ms[i];
  }
  if (sizes) return CommLikeness::kSizes;
  return std::abs(ms[0] - ms[1]) <= kCommNearly * ms[1] ? CommLikeness::kCalls
                                                        : CommLikeness::kUnlike;
}

Proof ProofOf(const DifferenceVerdict& verdict, const Balance& balance) {
  if (!(balance.ms[0] > 0) || !(balance.ms[1] > 0)) return Proof::kNoWork;
  if (verdict.spread[0].count >= 2 && verdict.spread[1].count >= 2)
    return DifferBySteps(verdict.spread[0], verdict.spread[1]) ? Proof::kSteps : Proof::kSpread;
  return std::abs(verdict.ms) > kUsualWall * balance.ms[1] ? Proof::kAboveUsual
                                                           : Proof::kWithinUsual;
}

}  // namespace

Sample UnitsOf(const analysis::BaseOfTime& base) {
  std::vector<double> lengths;
  for (const std::size_t at : base.regimes.kept) {
    if (at >= base.units.size()) continue;
    const double ms = MillisOf(Length(analysis::Within(base.base, base.units[at]))) /
                      static_cast<double>(base.group.size);
    if (ms > 0) lengths.push_back(ms);
  }
  return SampleOf(lengths);
}

bool DifferBySteps(const Sample& a, const Sample& b) {
  return a.count >= 2 && b.count >= 2 && std::abs(a.mean - b.mean) > NoiseOf(a, b).value_or(0);
}

DifferenceVerdict JudgeDifference(const Balance& balance, const analysis::BaseOfTime& candidate,
                                  const analysis::BaseOfTime& baseline) {
  DifferenceVerdict verdict;
  verdict.ms = balance.ms[0] - balance.ms[1];
  verdict.spread[0] = UnitsOf(candidate);
  verdict.spread[1] = UnitsOf(baseline);
  double work_ms = 0;  // of the baseline
  for (const ledger::DifferenceLine& line : balance.ledger.wall) {
    const double ms = MillisOf(line.delta_ns());
    if (line.idle) {
      verdict.idle_ms += ms;
    } else if (!line.work) {
      verdict.rest_ms += ms;
    } else if (ledger::IsCommunication(*line.work)) {
      verdict.comm_ms += ms;
      verdict.any_comm = true;
    } else if (*line.work == ledger::WorkKind::kHostCopy) {
      verdict.copy_ms += ms;
    } else {
      verdict.work_ms += ms;
      work_ms += MillisOf(line.ns[1]);
    }
  }
  verdict.work_changed = std::abs(verdict.work_ms) > kUsualWork * work_ms;
  verdict.comm = LikenessOf(balance);
  verdict.clock_factor = OneFactor(balance);
  verdict.proof = ProofOf(verdict, balance);
  return verdict;
}

}  // namespace jarvis::findings
