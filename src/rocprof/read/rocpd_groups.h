// The tables of a rocpd database: one group of them for each process that wrote one.
#pragma once

#include <map>
#include <string>

#include "io/sqlite_file.h"

namespace jarvis::rocprof {

// "kernel_dispatch" -> the table of that group.
using RocpdGroup = std::map<std::string, std::string>;

// By what the names of a group's tables end in, in the order of texts. Empty: this is no rocpd
// database.
std::map<std::string, RocpdGroup> RocpdGroups(const io::SqliteFile& file);

}  // namespace jarvis::rocprof
