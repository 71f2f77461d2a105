// Where the difference of two units comes from: the wall lines of both ledgers, which add up to it,
// each with what judging needs beside its times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/analysis.h"
#include "findings/two/compare_traces.h"
#include "ledger/books/difference.h"

namespace jarvis::findings {

// A trace, and what was found about it.
struct AnalysedSide {
  const CompareSide& side;
  const Analysis& analysis;
};

// The kind of work of most of the time of these launchers.
ledger::WorkKind KindOfLaunchers(const AnalysedSide& side,
                                 const std::vector<std::uint32_t>& launchers);

// Communication of one kind and size, or by one kernel that is no library's collective.
// Arrays: of the primary, of the comparison.
struct ExchangePart {
  std::string name;
  double ms[2] = {0, 0};     // of a unit
  double calls[2] = {0, 0};  // how often
  bool collective = false;   // then of one call:
  std::optional<double> bytes;
  // What of the bytes a rank's link carries: 2 (n - 1) / n of an AllReduce of n ranks, (n - 1) / n
  // of a ReduceScatter, AllGather or all_to_all.
  std::optional<double> link_part;
  double shortest_us[2] = {0, 0};
  double median_us[2] = {0, 0};
  double longest_us[2] = {0, 0};
  double difference_ms() const { return ms[0] - ms[1]; }
};

// What a compiler makes one kernel of, whatever kinds it was before: told in one line where one
// side runs much more of its work in such kernels.
bool FoldsTogether(ledger::WorkKind work);
// "triton_...": made by a compiler.
bool IsGenerated(std::string_view kernel);

struct BalanceLine {
  std::string name;                       // as in the ledger
  std::optional<ledger::WorkKind> work;   // absent: no GPU work
  std::optional<ledger::IdleCause> idle;  // of idle time
  bool folded = false;                    // the sum of the kinds of FoldsTogether
  double ms[2] = {0, 0};                  // wall time of a unit
  double gpu_ms[2] = {0, 0};              // sum of durations
  double difference_ms() const { return ms[0] - ms[1]; }
  // Whether its rate is to be told in FLOPs rather than in bytes: the arithmetic bounds it, or
  // attention of many rows, which no more than its kernel keeps from that.
  bool told_by_arithmetic() const;
  // Of GPU time between different devices, where most of the comparison's time has roofs that it
  // comes near to: what the devices make of the comparison's time.
  std::optional<double> expected_ms;
  // What the primary would take at rates that were measured on its device.
  std::optional<double> practical_ms;
  std::optional<perf::Bound> bound;  // of most of the kind's roofs, on the primary's device
  // Of the part of it whose work is known: achieved rates, and shares, 0 to 1, of the roof, of the
  // arithmetic's rate and of the bandwidth.
  std::optional<double> tflops[2], tb_per_s[2], roof_share[2], rate_share[2], bandwidth_share[2];
  bool far_from_roofs = false;  // neither side is anywhere near
};

// What of a unit is worth a word as a part of its difference.
inline constexpr double kPartOfUnit = 0.005;

struct Balance {
  std::string unit = "recording";   // of the primary: "step", "pass"
  bool like_units = true;           // the comparison's is of the same kind
  ledger::LedgerDifference ledger;  // what the lines are of
  double units[2] = {1, 1};         // how many of them the times are averaged over
  double ms[2] = {0, 0};            // one unit; 0: a trace has no GPU work
  std::vector<BalanceLine> lines;   // by |difference|; their sum is the difference of `ms`
  double busy_ms[2] = {0, 0};
  double idle_ms[2] = {0, 0};
  double exposed_comm_ms[2] = {0, 0};
  std::vector<ExchangePart> exchanges;  // by |difference|

  const BalanceLine* Find(ledger::WorkKind work) const;
};

// Nearly all kernels, with the same calls on both sides, take this part of the comparison's time
// whatever they compute: a clock, not the program. Absent: they do not, or it is 1.
std::optional<double> OneFactor(const Balance& balance);

// Of the base of each trace's ledger. `ops`: the rows by op of the same pair.
Balance BalanceOf(const AnalysedSide& primary, const AnalysedSide& comparison,
                  const TraceComparison& ops);

}  // namespace jarvis::findings
