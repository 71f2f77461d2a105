// What was found out about large files of which only parts are read, so that the next part needs no
// pass over the whole file.
//
// Threads: any.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/job.h"
#include "io/file_policy.h"
#include "trace/survey.h"

namespace jarvis::trace {
struct Importer;
}

namespace jarvis::session {

struct SurveyedFile {
  const trace::Importer* importer = nullptr;  // whose survey it is
  trace::Survey survey;
};

class SurveyShelf {
 public:
  // The survey of a file; made in one pass over it unless the same file, unchanged, was surveyed
  // before. Errors: those of LoadWindow.
  Result<std::shared_ptr<const SurveyedFile>> Get(const io::InputFile& file,
                                                  const trace::ReadOptions& options, Job& job);

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const SurveyedFile>>;
  static constexpr std::size_t kKeptMax = 4;

  std::shared_ptr<const SurveyedFile> Find(const std::string& key);

  std::mutex mutex_;
  std::list<Entry> entries_;  // by what the file is; the last one used first
};

}  // namespace jarvis::session
