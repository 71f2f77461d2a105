// Two traces side by side: which work takes longer in the one than in the other, and longer than
// the two devices explain.
//
// For each row, in milliseconds of GPU time of one unit of each side's base:
//   ratio      = primary / comparison
//   expected   = the roofs of the row's work on the primary's platform / on the comparison's: the
//                ratio of bandwidths where memory sets both roofs, of FLOP/s at the work's
//                precision where arithmetic does (rates of the same kind: perf::LikeWithLike); 1 on
//                the same device
//   with fixed cost = the same with 3 us per kernel added to both roofs: nearly expected for large
//                kernels, nearly 1 for small ones, which no device's rates explain
//   unexpected = primary - e * comparison, e: the ratio where it lies between those two, else the
//                nearer of them
// Where neither comes near its roof (both below half of it), the roofs say little: any ratio from 1
// to the expected one is then unremarkable, and only what lies outside is judged, from the nearer
// end. Kernels that are mostly fixed cost are not judged between devices.
// Work that was launched before the recording, and steps that are set apart, are left out.
// Exchanging the traces gives the same rows, with ratios and expected ones inverted.
// Source of the roofs: perf/roofline.h, of the work that the calls' arguments tell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "perf/platform.h"
#include "perf/roofline.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

struct CompareSide {
  const session::LoadedTrace& trace;
  std::optional<perf::Platform> platform;
};

// Why a row is not judged.
enum class NotJudged : std::uint8_t {
  kNo,             // it is
  kCommunication,  // transfer and waiting for other ranks in one
  kArguments,      // they differ
  kUnknown,        // its work or a platform is not known
  kFarFromRoofs,   // neither is near its roof, and the ratio is between theirs and 1
  kShort,          // kernels that are mostly fixed cost
};

enum class CompareVerdict : std::uint8_t {
  kAsExpected,  // ratio / e within 1.15 either way
  kSlower,      // the primary is slower than expected
  kFaster,
  kUnknown,  // see NotJudged
  kOnlyInPrimary,
  kOnlyInComparison,
};
std::string_view VerdictText(CompareVerdict verdict);

struct CompareRow {
  std::string name;
  std::string shape;              // of ops: Input Dims as a tuple; empty: not recorded
  bool arguments_differ = false;  // see MatchGroups
  NotJudged not_judged = NotJudged::kNo;
  std::optional<double> primary_ms;
  std::optional<double> comparison_ms;
  std::optional<double> primary_calls;  // of kernels: how often they ran
  std::optional<double> comparison_calls;
  std::optional<double> ratio;
  std::optional<double> expected;  // by the devices' rates alone
  std::optional<double> expected_with_fixed_cost;
  std::optional<perf::Bound> primary_bound;  // of most of the work on that platform; with expected
  std::optional<perf::Bound> comparison_bound;
  // The least time that each one's own work can take on its platform; absent: not known.
  std::optional<double> primary_roof_ms;
  std::optional<double> comparison_roof_ms;
  // What the primary would take at rates that were measured on its device; absent: none were.
  std::optional<double> primary_practical_ms;
  // Of both together: neither reaches half of its roof.
  bool far_from_roofs = false;
  std::optional<double> primary_flops, comparison_flops;  // of the work, where that is known
  std::optional<double> primary_bytes, comparison_bytes;
  // What the arithmetic alone would take each at its own device's rate; absent: not known.
  std::optional<double> primary_arithmetic_ms, comparison_arithmetic_ms;
  std::optional<double> unexpected_ms;
  CompareVerdict verdict = CompareVerdict::kUnknown;
  // Whose time it is: indices into each trace's Attribution::launchers.
  std::vector<std::uint32_t> primary_launchers;
  std::vector<std::uint32_t> comparison_launchers;
};

struct TraceComparison {
  // By |unexpected|; of rows in one trace their time, of unknown ones the difference.
  std::vector<CompareRow> rows;
  double primary_ms = 0;  // sums of the rows
  double comparison_ms = 0;
  double only_primary_ms = 0;
  double only_comparison_ms = 0;
  std::uint64_t only_primary_rows = 0;
  std::uint64_t only_comparison_rows = 0;
  // Of the rows that are judged: the primary's time and the comparison's.
  double expected_known_ms = 0;
  double expected_known_comparison_ms = 0;
  std::optional<double> expected;  // of those rows together
  double units[2] = {1, 1};        // what times and calls are divided by: units of each side's base
  bool same_device = false;
};

// by: kOp (rows are an op with its Input Dims and types; calls of an op whose arguments occur in
// one trace only are matched by name), kCategory, kKernel or kModule.
Result<TraceComparison> CompareTraces(const CompareSide& primary, const CompareSide& comparison,
                                      analysis::GroupBy by, Job& job);

}  // namespace jarvis::findings
