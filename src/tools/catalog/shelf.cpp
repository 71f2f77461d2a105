#include "tools/catalog/shelf.h"

#include <algorithm>
#include <utility>

namespace jarvis::tools {

bool Shelf::Note(std::size_t traces, const std::vector<FileLink>& files) {
  const std::lock_guard lock(mutex_);
  bool is_new = std::exchange(traces_, traces) != traces;
  for (const FileLink& file : files) {
    const auto known = std::find_if(files_.begin(), files_.end(),
                                    [&](const FileLink& other) { return other.path == file.path; });
    if (known != files_.end()) continue;
    files_.push_back(file);
    is_new = true;
  }
  if (files_.size() > kFilesMax) {
    files_.erase(files_.begin(), files_.end() - static_cast<std::ptrdiff_t>(kFilesMax));
  }
  return is_new;
}

std::vector<FileLink> Shelf::Files() const {
  std::vector<FileLink> files;
  {
    const std::lock_guard lock(mutex_);
    files = files_;
  }
  std::sort(files.begin(), files.end(),
            [](const FileLink& a, const FileLink& b) { return a.path < b.path; });
  return files;
}

std::optional<FileLink> Shelf::Find(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  for (const FileLink& file : files_) {
    if (file.path == path) return file;
  }
  return std::nullopt;
}

}  // namespace jarvis::tools
