// Where the GPUs' time went, by configuration: each type of time over the ranks.
#pragma once

#include <optional>
#include <string_view>

#include "sweep/measure/facts.h"

namespace jarvis::sweep {

enum class Aggregate : std::uint8_t { kMean, kGeomean, kMedian, kMax };
std::optional<Aggregate> AggregateOf(std::string_view name);
std::string_view AggregateName(Aggregate aggregate);

// All_Data: one row per configuration and type with time in ms and percent of the total, over
// ranks; Pivot_Time_ms, Pivot_Percent: types by configurations; Summary_By_Config. By default also
// Per_Rank and Rank_Spread, and of Summary_By_Config the slowest rank: in a synchronous job it sets
// the time of a step.
std::vector<Table> TimelineTables(const SweepFacts& facts, Aggregate aggregate);

// The mean over the ranks of one type of time ("exposed_comm_time"), ms; absent: no rank has it.
std::optional<double> MeanTimeMs(const ConfigFacts& config, std::string_view type);
// By rank, ms.
std::vector<double> TimesMs(const ConfigFacts& config, std::string_view type);

}  // namespace jarvis::sweep
