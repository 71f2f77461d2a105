// All that a comparison of two or more inputs leaves in a directory: their reports side by side; of
// two traces also what one takes longer for than the other, as tables and as reports to read.
#pragma once

#include <string>
#include <vector>

#include "documents/comparison_files.h"
#include "io/file_policy.h"
#include "session/compare_reports.h"

namespace jarvis::documents {

struct ComparisonRequest {
  session::CompareRequest
      reports;  // the first source is the baseline: the comparison; the second the primary
  ComparisonPlace place;
  bool overwrite = false;  // files too that are in the way and not ours
};

struct WrittenComparison {
  std::vector<std::string> tags;
  std::vector<WrittenFile> files;
  std::size_t tables = 0;
  std::vector<std::string> notes;
};
Result<WrittenComparison> WriteComparisonOf(const io::FilePolicy& files,
                                            const ComparisonRequest& request, Job& job);

}  // namespace jarvis::documents
