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

namespace jarvis::session {

class SurveyShelf {
 public:
  // The survey of a file; made in one pass over it unless the same file, unchanged, was surveyed
  // before. `file` stays open and is at no certain place afterwards.
  Result<std::shared_ptr<const trace::Survey>> Get(const io::InputFile& file,
                                                   const trace::ReadOptions& options, Job& job);

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const trace::Survey>>;
  static constexpr std::size_t kKeptMax = 4;

  std::shared_ptr<const trace::Survey> Find(const std::string& key);

  std::mutex mutex_;
  std::list<Entry> entries_;  // by what the file is; the last one used first
};

}  // namespace jarvis::session
