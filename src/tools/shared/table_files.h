// Tables as the files of an answer.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/output_folder.h"
#include "output/csv_writer.h"
#include "table/table.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

// A table of too many rows to be held at once, and for a workbook: its CSV alone is written.
struct LongTable {
  std::string name;
  std::size_t rows = 0;
  std::function<void(const io::AddText& add)> csv;
};

// Writes NAME.csv for each table into `folder` and, unless its name is empty, a workbook of all of
// them into `book_folder`; each file is a piece of work of its own. The names must be claimed;
// committing is the caller's. Adds to the answer's files and notes.
Status WriteTables(const std::vector<Table>& tables, io::OutputFolder& folder,
                   io::OutputFolder& book_folder, const std::string& book_name, Answer* answer,
                   output::CsvFormulas formulas = output::CsvFormulas::kQuoted,
                   std::span<const LongTable> long_tables = {});

}  // namespace jarvis::tools
