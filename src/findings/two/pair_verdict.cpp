#include "findings/two/pair_verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number_text.h"

namespace jarvis::findings {
namespace {

// Student's t for 95 % on both sides, by degrees of freedom from 1 on.
constexpr std::array<double, 10> kStudent = {12.71, 4.30, 3.18, 2.78, 2.57,
                                             2.45,  2.36, 2.31, 2.26, 2.23};
constexpr double kStudentOfMany = 1.96;

// Between the table's end and infinity it falls by about 2.5 / n.
double StudentOf(double freedom) {
  const auto whole = static_cast<std::size_t>(std::max(1.0, std::floor(freedom)));
  if (whole <= kStudent.size()) return kStudent[whole - 1];
  return kStudentOfMany + 2.5 / freedom;
}

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

UnitSpread SpreadOf(const analysis::BaseOfTime& base) {
  UnitSpread spread;
  std::vector<double> lengths;
  for (const std::size_t at : base.regimes.kept) {
    if (at >= base.units.size()) continue;
    const double ms = MillisOf(Length(analysis::Within(base.base, base.units[at])));
    if (ms > 0) lengths.push_back(ms);
  }
  spread.count = lengths.size();
  if (lengths.empty()) return spread;
  for (const double ms : lengths)
    spread.mean_ms += ms / static_cast<double>(lengths.size());
  double squares = 0;
  for (const double ms : lengths)
    squares += (ms - spread.mean_ms) * (ms - spread.mean_ms);
  if (lengths.size() > 1)
    spread.deviation_ms = std::sqrt(squares / static_cast<double>(lengths.size() - 1));
  return spread;
}

bool DifferBySteps(const UnitSpread& a, const UnitSpread& b) {
  if (a.count < 2 || b.count < 2) return false;
  const auto error = [](const UnitSpread& of) {
    return of.deviation_ms * of.deviation_ms / static_cast<double>(of.count);
  };
  const double both = error(a) + error(b);
  const double difference = std::abs(a.mean_ms - b.mean_ms);
  if (!(both > 0)) return difference > 0;
  const double freedom = both * both /
                         (error(a) * error(a) / static_cast<double>(a.count - 1) +
                          error(b) * error(b) / static_cast<double>(b.count - 1));
  return difference > StudentOf(freedom) * std::sqrt(both);
}

DifferenceVerdict JudgeDifference(const Balance& balance, const analysis::BaseOfTime& candidate,
                                  const analysis::BaseOfTime& baseline) {
  DifferenceVerdict verdict;
  verdict.ms = balance.ms[0] - balance.ms[1];
  verdict.spread[0] = SpreadOf(candidate);
  verdict.spread[1] = SpreadOf(baseline);
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
