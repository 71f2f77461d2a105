#include "tools/shared/table_files.h"

#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "output/csv_writer.h"
#include "output/xlsx_writer.h"

namespace jarvis::tools {

Status WriteTables(const std::vector<Table>& tables, io::OutputFolder& folder,
                   io::OutputFolder& book_folder, const std::string& book_name, Answer* answer,
                   output::CsvFormulas formulas, std::span<const LongTable> long_tables) {
  const bool book = !book_name.empty();
  std::vector<Result<std::string>> paths(tables.size());
  std::vector<Result<std::string>> long_paths(long_tables.size());
  Result<output::XlsxFile> made_book;
  // The largest go first: the workbook and what is too long for it.
  ParallelFor(1 + long_tables.size() + tables.size(), 0, [&](std::size_t piece) {
    if (piece == 0) {
      if (book) made_book = output::WriteXlsx(tables, book_folder, book_name);
    } else if (piece <= long_tables.size()) {
      const LongTable& table = long_tables[piece - 1];
      long_paths[piece - 1] = folder.Write(table.name + ".csv", table.csv);
    } else {
      const std::size_t i = piece - 1 - long_tables.size();
      paths[i] = folder.Write(tables[i].name + ".csv", [&](const io::AddText& add) {
        output::WriteCsv(tables[i], formulas, add);
      });
    }
  });
  for (std::size_t i = 0; i < tables.size(); ++i) {
    JV_ASSIGN(std::string path, std::move(paths[i]));
    answer->files.push_back({std::move(path), tables[i].name, tables[i].rows.size()});
  }
  for (std::size_t i = 0; i < long_tables.size(); ++i) {
    JV_ASSIGN(std::string path, std::move(long_paths[i]));
    answer->files.push_back({std::move(path), long_tables[i].name, long_tables[i].rows});
    if (book) {
      answer->notes.push_back(fmt::format("{} has {} rows and is a CSV file alone, not a sheet",
                                          long_tables[i].name, long_tables[i].rows));
    }
  }
  if (!book) return {};
  JV_ASSIGN(const output::XlsxFile made, std::move(made_book));
  answer->files.push_back({made.path, "workbook", made.sheets.size()});
  if (made.texts_cut > 0) {
    answer->notes.push_back(
        fmt::format("{} cells of the workbook are cut at Excel's limit; the CSV files hold them "
                    "whole",
                    made.texts_cut));
  }
  if (made.rows_left_out > 0 || made.columns_left_out > 0) {
    answer->notes.push_back(
        fmt::format("{} rows and {} columns are beyond Excel's limits; the CSV files hold them",
                    made.rows_left_out, made.columns_left_out));
  }
  return {};
}

}  // namespace jarvis::tools
