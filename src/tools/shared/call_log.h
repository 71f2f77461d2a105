// What callers asked about each trace, in order: the source of the working notes. No clock in it,
// so that the same calls give the same notes.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "documents/report.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

class CallLog {
 public:
  static constexpr std::size_t kCallsMax = 1000;  // of a trace; later ones are not noted
  static constexpr std::size_t kTracesMax = 100;  // the calls of further ones are not noted

  // `schema`: the tool's inputSchema; arguments that have their default are left out.
  void Note(const std::string& trace, const std::string& tool, const Json& arguments,
            const Json& schema, const Result<Answer>& answer, std::size_t bytes);
  std::vector<documents::CallRecord> Of(const std::string& trace) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<documents::CallRecord>> calls_;  // by trace id
};

// One line per call. Of a damaged file: the lines that can be read.
std::string LogText(const std::vector<documents::CallRecord>& calls);
std::vector<documents::CallRecord> ReadLog(const std::string& text);

}  // namespace jarvis::tools
