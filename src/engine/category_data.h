// A trace's operations by category, as the files of an analysis need them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ops_tables.h"
#include "engine/loaded_trace.h"

namespace jarvis::engine {

// One signature (op and arguments) of a category.
struct CategoryRow {
  std::size_t row;     // in CategoryData::unique and in its table
  double gpu_us = 0;   // of all calls
  double host_us = 0;  // host duration of all calls
  std::uint64_t count = 0;
  trace::EventIndex example = trace::kNoEvent;  // the first call; kNoEvent: unlinked
};

struct Category {
  std::string key;                // file name: "conv_fwd"
  std::string display_name;       // "CONV_fwd"
  std::vector<CategoryRow> rows;  // the longest first
  double gpu_us = 0;
  double host_us = 0;
  // Rows whose host time is more than five times their GPU time, and the excess: a hint at waiting,
  // no proof.
  double sync_us = 0;
  std::uint64_t sync_rows = 0;
  bool has_sync_bottleneck() const { return sync_us > 0.1 * gpu_us && sync_us > 1000; }
};

struct CategoryData {
  std::vector<Category> categories;  // the longest first, ties by name
  std::vector<analysis::UniqueArgsRow> unique;
  Table table;  // ops_unique_args, row by row as `unique`
};

CategoryData CollectCategories(const LoadedTrace& trace);

}  // namespace jarvis::engine
