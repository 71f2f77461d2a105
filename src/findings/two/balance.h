// Where the difference of two steps comes from: lines that add up to it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/one/analysis.h"
#include "findings/two/common_order.h"
#include "findings/two/compare_traces.h"
#include "findings/two/work_classes.h"

namespace jarvis::findings {

// A trace, and what was found about it.
struct AnalysedSide {
  const CompareSide& side;
  const Analysis& analysis;
};

enum class BalanceKind : std::uint8_t {
  kHostBefore,  // the host alone, before the first GPU work
  kIdle,
  kHostAfter,
  kClass,    // GPU work of one kind
  kOverlap,  // time that work shares with other work: more of it makes a step shorter
};

// Of a class: one op, or one collective of one size.
struct BalancePart {
  std::string name;
  double ms[2] = {0, 0};     // primary, comparison
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

struct BalanceLine {
  BalanceKind kind = BalanceKind::kClass;
  WorkClass work = WorkClass::kOther;
  double ms[2] = {0, 0};
  std::vector<BalancePart> parts;  // all of them, by |difference|
  double difference_ms() const { return ms[0] - ms[1]; }
  // Whether its rate is to be told in FLOPs rather than in bytes: the arithmetic bounds it, or
  // attention of many rows, which no more than its kernel keeps from that.
  bool told_by_arithmetic() const;
  // Of classes between different devices, where most of the comparison's time has roofs that it
  // comes near to: what the devices make of the comparison's time.
  std::optional<double> expected_ms;
  // What the primary would take at rates that were measured on its device.
  std::optional<double> practical_ms;
  std::optional<perf::Bound> bound;  // of most of the class' roofs, on the primary's device
  // Of the part of it whose work is known: achieved rates, and shares, 0 to 1, of the roof, of the
  // arithmetic's rate and of the bandwidth.
  std::optional<double> tflops[2], tb_per_s[2], roof_share[2], rate_share[2], bandwidth_share[2];
  bool far_from_roofs = false;  // neither side is anywhere near
};

struct Balance {
  std::string unit = "recording";  // "step", "iteration": what times are of, on both sides
  double units[2] = {1, 1};        // how many of them the times are averaged over
  double ms[2] = {0, 0};           // one unit; 0: a trace has no GPU work
  std::vector<BalanceLine> lines;  // by |difference|; their sum is the difference of `ms`
  double busy_ms[2] = {0, 0};
  double window_ms[2] = {0, 0};  // busy and idle: from the first GPU work to the last
  double idle_ms[2] = {0, 0};
  double exposed_comm_ms[2] = {0, 0};

  const BalanceLine* Find(WorkClass work) const;
};

// Of the steps that each analysis is based on; of iterations where the only step repeats its work;
// of the recordings where units of the two are of different kinds. Iterations that were found in
// one alone are those of the other too if calls that both have, in the same order, come in
// multiples of them.
//   step = host before + idle + sum of all calls' GPU time - time that they share + host after
// `ops`: the rows by op of the same pair.
Balance BalanceOf(const AnalysedSide& primary, const AnalysedSide& comparison,
                  const TraceComparison& ops, const CommonOrder& order);

// "GPU idle", "matrix products".
std::string_view LineText(const BalanceLine& line);

}  // namespace jarvis::findings
