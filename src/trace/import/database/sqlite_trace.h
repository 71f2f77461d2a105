// Databases of SQLite that hold a recording: told apart by their tables.
#pragma once

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

extern const Importer kSqliteTrace;

}  // namespace jarvis::trace
