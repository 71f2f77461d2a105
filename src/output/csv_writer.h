// Tables as CSV: UTF-8, \n, comma, quotes only where needed, header row, full precision.
#pragma once

#include <string>

#include "table/table.h"

namespace jarvis::output {

std::string ToCsv(const Table& table);

}  // namespace jarvis::output
