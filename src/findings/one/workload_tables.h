// Recommendation models by their lookups in tables. Internal to the layer.
#pragma once

#include <cstdint>
#include <optional>

#include "findings/one/workload_facts.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {

// Tables of categories, a row of each of which is looked up for every sample.
struct CategoryTables {
  std::int64_t batch = 0;   // samples
  std::int64_t tables = 0;  // as many lookups in a pass
};

// Many large and narrow tables beside dense layers that work on as many rows as are looked up in
// each. Absent: the trace has no such.
std::optional<CategoryTables> FindCategoryTables(const WorkloadFacts& facts,
                                                 const WorkloadSizes& sizes);

}  // namespace jarvis::findings
