// What a server's clients have made so far and may look at again: loaded traces and written files.
// There is one for all clients of a server, as there is one workspace.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/shared/answer.h"

namespace jarvis::tools {

class Shelf {
 public:
  static constexpr std::size_t kFilesMax = 1000;  // the oldest leave the list; they stay on disk

  // After a call. True: there is something new. `traces`: how many the workspace knows.
  bool Note(std::size_t traces, const std::vector<FileLink>& files);

  std::vector<FileLink> Files() const;  // by path
  std::optional<FileLink> Find(const std::string& path) const;

 private:
  mutable std::mutex mutex_;
  std::size_t traces_ = 0;
  std::vector<FileLink> files_;  // the oldest first
};

}  // namespace jarvis::tools
