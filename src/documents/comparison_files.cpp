#include "documents/comparison_files.h"

#include "base/parallel.h"
#include "io/output_folder.h"
#include "output/csv_writer.h"
#include "output/xlsx_writer.h"

namespace jarvis::documents {
namespace {

std::string FileName(const std::string& folder, const Table& table) {
  return (folder.empty() ? "" : folder + "/") + table.name + ".csv";
}

}  // namespace

Result<std::vector<WrittenFile>> WriteComparison(const io::FilePolicy& files,
                                                 const ComparisonPlace& place,
                                                 const std::vector<Table>& tables,
                                                 const std::vector<NamedText>& texts,
                                                 bool overwrite, Job& job) {
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(files, place.directory, job));
  std::vector<std::string> names = {place.workbook};
  for (const NamedText& text : texts)
    names.push_back(text.name);
  for (const Table& table : tables)
    names.push_back(FileName(place.tables_folder, table));
  JV_TRY(folder->Claim(names, overwrite));
  JV_TRY(job.Check());
  std::vector<Result<std::string>> paths(tables.size());
  Result<output::XlsxFile> book;
  // The workbook is the largest piece of work and goes first.
  ParallelFor(tables.size() + 1, 0, [&](std::size_t piece) {
    if (piece > 0) {
      const Table& table = tables[piece - 1];
      paths[piece - 1] =
          folder->Write(FileName(place.tables_folder, table), [&](const io::AddText& add) {
            output::WriteCsv(table, output::CsvFormulas::kQuoted, add);
          });
    } else {
      book = output::WriteXlsx(tables, *folder, place.workbook);
    }
  });
  std::vector<WrittenFile> written;
  for (const NamedText& text : texts) {
    JV_ASSIGN(std::string path, folder->Write(text.name, text.text));
    written.push_back({std::move(path), text.name, 0});
  }
  JV_TRY(book);
  written.push_back({book->path, "workbook", book->sheets.size()});
  for (std::size_t i = 0; i < tables.size(); ++i) {
    JV_ASSIGN(std::string path, std::move(paths[i]));
    written.push_back({std::move(path), tables[i].name, tables[i].rows.size()});
  }
  JV_TRY(folder->Commit());
  return written;
}

}  // namespace jarvis::documents
