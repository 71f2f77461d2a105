// Tables as CSV: UTF-8, \n, comma, quotes only where needed, header row, full precision.
#pragma once

#include <string>

#include "base/result.h"
#include "table/table.h"

namespace jarvis::output {

std::string ToCsv(const Table& table);

// Writes <directory>/<table name>.csv, whole or not at all; the path written.
Result<std::string> WriteCsv(const Table& table, const std::string& directory);

}  // namespace jarvis::output
