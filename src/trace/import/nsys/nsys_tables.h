// Which tables an export of Nsight Systems has.
#pragma once

#include <string>
#include <string_view>

#include "io/sqlite_file.h"

namespace jarvis::trace {

// Whether these are the tables of an export.
bool IsNsysExport(const io::SqliteFile& file);

// A table by its name, or the newest of its numbered forms ("CUPTI_ACTIVITY_KIND_KERNEL_V3");
// empty: there is none.
std::string NsysTable(const io::SqliteFile& file, std::string_view name);

}  // namespace jarvis::trace
