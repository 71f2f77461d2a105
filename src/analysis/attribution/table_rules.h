// Where two readings of a table's definition exist, the tables ask here. The defaults are ours; the
// other set is made in compat/, and nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/attribution/clock.h"
#include "perf/model_rows.h"

namespace jarvis::analysis {

// The order of rows by a value, the largest first; equal values keep the order they come in.
std::vector<std::size_t> StableDescending(std::span<const double> values);

// Bytes of one element of a tensor by PyTorch's name of its type ("BFloat16"); absent: unknown.
std::optional<std::int64_t> CollectiveElementBytes(std::string_view dtype);

enum class CollectiveType : std::uint8_t {
  kOther,  // no rank waits for all others, or it is not known
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kAllToAllV,
};
// By the recorded name, whatever its spelling: "all_reduce", "_allgather_base".
CollectiveType CollectiveTypeOf(std::string_view name);

struct CollectiveRules {
  std::optional<std::int64_t> (*element_bytes)(std::string_view dtype) = &CollectiveElementBytes;
  // Whatever the trace says, this is its rank.
  std::optional<std::int64_t> rank;
  // Groups without a name are named "all" if no collective has a group and all are on one stream,
  // else "Unknown_Group".
  bool name_missing_groups = false;
  // Where the name of the collective was not recorded it is taken from the kernel's.
  bool name_from_kernel = true;
  // Collectives are kernels of the category "kernel" with a correlation or an External id, and
  // their own args are all that is known of them.
  bool kernel_args_only = false;
  CollectiveType (*type_of)(std::string_view name) = &CollectiveTypeOf;
  // Summaries keep groups apart.
  bool split_groups = true;
  // A rank's skew in end time is how long it ends before the last, not after the first.
  bool skew_before_last_end = false;
  // Destinations in the heat map are positions in the group, not ranks.
  bool destination_is_position = false;
  // Tables and columns that the reference does not have.
  bool own_columns = true;
  // Times of straggler_summary have one decimal.
  bool tenths = false;
};

struct TableRules {
  Clock clock = Clock::kNanoseconds;
  // Calls of one signature that ran another number of kernels than the first call are left out of
  // the kernel cells, instead of being matched kernel by kernel.
  bool skip_deviating_kernel_lists = false;
  // Rows of short_kernels_summary without an op or without recorded arguments are dropped, and rows
  // of coll_analysis of which anything is unknown.
  bool drop_null_keys = false;
  // How tables with one sort key are ordered.
  std::vector<std::size_t> (*descending)(std::span<const double> values) = &StableDescending;
  // What overlaps with an op is listed in the order in which it was found, not by name.
  bool overlap_names_by_first_sight = false;
  CollectiveRules collectives;
  // The models, and with them the categories of ops.
  const perf::ModelRows* models = &perf::BuiltinRows();
  // Of how many frames a call stack's text is at most; of a deeper one it has both ends, as a stack
  // in each row would make a trace of deeply nested calls into many times its size.
  std::size_t stack_frames_max = 128;
  // Several kernels of one name and place leave an empty list behind their common stack.
  bool empty_stack_tail = false;
  // What "Data Moved (MB)" counts in.
  double megabyte = 1e6;
  // A parameter column of a roofline table in which some number is fractional or missing shows all
  // its numbers with a decimal point.
  bool float_parameter_columns = false;
  // A sum of values of which none is known is 0 instead of absent.
  bool empty_sums_are_zero = false;
};

}  // namespace jarvis::analysis
