// Kernels of a JAX profile that the reference has a model of, a table a category.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compat/tracelens_jax_kernels.h"
#include "table/table.h"
#include "trace/metadata.h"

namespace jarvis::compat {

void AddJaxModelTables(const JaxProfile& profile, const std::vector<trace::TrackNames>& names,
                       std::vector<Table>* tables);

// 'count': 3, 'total_duration_us': ...: members of a Python dictionary.
std::string JaxTimesText(std::span<const double> times);
// "2,3".
std::vector<std::int64_t> JaxNumbers(std::string_view dims);

}  // namespace jarvis::compat
