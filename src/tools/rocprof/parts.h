// What the tools about rocprofv3 share.
#pragma once

#include <string>
#include <vector>

#include "rocprof/metrics/kernel_rows.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {

// A kernel's name for reading: its label, else shortened by rule.
std::string ShownKernel(const rocprof::KernelRow& row);

// The named columns of a table as the answer's, without those that are empty in every row.
void ShowColumns(const Table& table, const std::vector<std::string>& columns, Answer* answer);

// Tables as CSV files of a directory of their own.
Status WriteTableFolder(const io::FilePolicy& files, const std::string& directory,
                        const std::vector<Table>& tables, bool overwrite, Job& job, Answer* answer);

}  // namespace jarvis::tools
