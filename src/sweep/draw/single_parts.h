// What the plots and the page of a single-configuration comparison look up in its runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sweep/draw/single_page.h"

namespace jarvis::sweep {

// All types, ranks and collectives of any run: types in the order of the runs, the rest sorted.
struct SingleNames {
  using CollectiveKey = std::pair<std::string, std::int64_t>;

  explicit SingleNames(std::span<const SingleRun> runs);
  std::vector<std::string> RankNames() const;
  std::vector<std::string> CollectiveNames() const;  // "allreduce 33554432"

  std::vector<std::string> types;
  std::vector<std::int64_t> ranks;
  std::vector<CollectiveKey> collectives;
};

// Absent where the run does not have it.
std::optional<double> TimeOf(const SingleRun& run, std::string_view type, std::int64_t rank);
std::optional<double> MeanTime(const SingleRun& run, std::string_view type);
std::optional<double> CollectiveValue(const SingleRun& run, const SingleNames::CollectiveKey& key,
                                      std::optional<double> SingleCollective::*value);

// Percent of the base; absent where either is or the base is 0.
std::optional<double> ChangePercent(const std::optional<double>& base,
                                    const std::optional<double>& test);

// A type of the timeline as part of a file's name: what is no letter, digit or sign is "_".
std::string PlotFileName(std::string_view type);

}  // namespace jarvis::sweep
