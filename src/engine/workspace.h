// The open traces of a server: loaded once however many ask, shared, bounded.
//
// Threads: every method may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/job.h"
#include "engine/loaded_trace.h"

namespace jarvis::engine {

struct WorkspaceOptions {
  // Traces beyond this are dropped, the least recently used first; the one just asked for stays.
  std::uint64_t memory_bytes_max = std::uint64_t{8} << 30;
  int threads = 0;  // of one load; 0: one per core
};

class Workspace {
 public:
  explicit Workspace(WorkspaceOptions options = {}) : options_(options) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // `trace`: an id that Open gave out before, or a path. Loads the file if it is not in memory or
  // has changed; callers that ask for a trace that is being loaded wait for that one load.
  Result<std::shared_ptr<const LoadedTrace>> Open(const std::string& trace, Job& job);

  // Ids and paths of all traces that were loaded, by id.
  std::vector<std::pair<std::string, std::string>> Known() const;

 private:
  // What a file is, without reading it.
  struct FileKey {
    std::string path;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    auto operator<=>(const FileKey&) const = default;
  };
  struct Entry {
    std::shared_ptr<const LoadedTrace> trace;  // null: evicted
    std::uint64_t used = 0;
  };

  static Result<FileKey> KeyOf(const std::string& path);
  Result<std::string> PathOf(const std::string& trace) const;
  void Insert(const FileKey& key, const std::shared_ptr<const LoadedTrace>& trace);

  WorkspaceOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<FileKey, Entry> entries_;
  std::map<std::string, std::string> path_of_id_;
  std::set<FileKey> loading_;
  std::uint64_t clock_ = 0;
};

}  // namespace jarvis::engine
