#include "tools/rocprof/parts.h"

#include <algorithm>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "io/output_folder.h"
#include "tools/shared/table_files.h"

namespace jarvis::tools {

std::string ShownKernel(const rocprof::KernelRow& row) {
  return row.label.empty() ? analysis::ShortKernelName(row.kernel) : row.label;
}

void ShowColumns(const Table& table, const std::vector<std::string>& columns, Answer* answer) {
  std::vector<std::size_t> places;
  for (const std::string& column : columns) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), column);
    if (found == table.columns.end()) continue;
    const auto place = static_cast<std::size_t>(found - table.columns.begin());
    const bool any = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return !std::holds_alternative<Absent>(row[place]);
    });
    if (!any) continue;
    answer->columns.push_back(column);
    places.push_back(place);
  }
  for (const auto& row : table.rows) {
    std::vector<Cell> cells;
    for (const std::size_t place : places)
      cells.push_back(row[place]);
    answer->rows.push_back(std::move(cells));
  }
}

Status WriteTableFolder(const io::FilePolicy& files, const std::string& directory,
                        const std::vector<Table>& tables, bool overwrite, Job& job,
                        Answer* answer) {
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(files, directory, job));
  std::vector<std::string> names;
  for (const Table& table : tables)
    names.push_back(table.name + ".csv");
  JV_TRY(folder->Claim(names, overwrite));
  JV_TRY(WriteTables(tables, *folder, *folder, "", answer));
  return folder->Commit();
}

}  // namespace jarvis::tools
