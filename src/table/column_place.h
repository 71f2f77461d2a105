// Cells by the name of their column, for tables and answers that this program made itself. What
// comes from a file may lack a column, and is asked with analysis::ColumnOf.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis {

// The column's place. Checked: there is one.
std::size_t PlaceOf(const std::vector<std::string>& columns, std::string_view column);

}  // namespace jarvis
