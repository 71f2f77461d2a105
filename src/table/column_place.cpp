#include "table/column_place.h"

#include <algorithm>

#include "base/check.h"

namespace jarvis {

std::size_t PlaceOf(const std::vector<std::string>& columns, std::string_view column) {
  const auto found = std::find(columns.begin(), columns.end(), column);
  JV_CHECK(found != columns.end());
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace jarvis
