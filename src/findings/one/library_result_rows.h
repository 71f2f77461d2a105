// Which functions of libraries make results that can be kept, and by which switch: data, a file a
// library in library_results/.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/embedded_file.h"

namespace jarvis::findings {

std::span<const EmbeddedFile> LibraryResultFiles();

struct LibraryResult {
  std::string file, function;  // the end of the file's path, and the function's name
  std::string caller;          // the end of the path of the file that calls it; empty: any
  std::string what;            // what it makes
  std::string action;          // an imperative
  bool of_weights = false;     // and not of inputs: weights stay in inference alone
};

const std::vector<LibraryResult>& LibraryResults();

}  // namespace jarvis::findings
