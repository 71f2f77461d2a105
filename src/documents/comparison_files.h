// What a comparison leaves in a directory: one CSV file per table, a workbook with all of them, and
// texts.
#pragma once

#include <string>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"
#include "table/table.h"

namespace jarvis::documents {

struct NamedText {
  std::string name;  // of the file
  std::string text;
};

struct WrittenFile {
  std::string path;  // absolute
  std::string what;  // the table's name, "workbook", or the text's
  std::uint64_t rows = 0;
};

struct ComparisonPlace {
  std::string directory;      // from FilePolicy::ResolveOutput
  std::string tables_folder;  // below it, for the CSV files; empty: beside the others
  std::string workbook = "comparison.xlsx";
};

// Texts first, then the workbook, then the tables. kExists: a file in
// the way that we did not write, unless `overwrite`.
Result<std::vector<WrittenFile>> WriteComparison(const io::FilePolicy& files,
                                                 const ComparisonPlace& place,
                                                 const std::vector<Table>& tables,
                                                 const std::vector<NamedText>& texts,
                                                 bool overwrite, Job& job);

}  // namespace jarvis::documents
