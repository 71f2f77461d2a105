// Traces that were read before, kept as files so that they open at once: found by what the file
// system says of the trace's file, known by the hash of its content.
//
// A kept trace is of this very build of the program and as it was written, or it is not used. Small
// traces are not kept: they are read as fast.
//
// Threads: every method may be called from any thread; other processes may use the same folder.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/job.h"
#include "io/cache_folder.h"
#include "io/file_policy.h"
#include "session/loaded_trace.h"

namespace jarvis::session {

struct TraceCacheOptions {
  std::string folder;                                      // empty: nothing is kept
  std::uint64_t bytes_max = std::uint64_t{8} << 30;        // of all files together
  std::uint64_t text_bytes_min = std::uint64_t{32} << 20;  // of JSON, of a trace that is kept
  // File systems tell the time of a change by ticks of some milliseconds: of a file that changed a
  // moment ago they may say the same after its next change, so that it is known by its content.
  std::chrono::nanoseconds settled_after = std::chrono::seconds(2);
  bool writes = true;  // false: what is there is read
};

// What the file system says of a file: as long as it says the same, the content is the same.
struct FileStamp {
  explicit FileStamp(const io::InputFile& file)
      : path(file.path),
        size(file.size),
        modified_ns(file.modified_ns),
        changed_ns(file.changed_ns),
        inode(file.inode) {}

  std::string path;
  std::uint64_t size;
  std::int64_t modified_ns;
  std::int64_t changed_ns;
  std::uint64_t inode;
};

class TraceCache {
 public:
  explicit TraceCache(TraceCacheOptions options)
      : options_(std::move(options)), folder_(options_.folder) {}
  TraceCache(const TraceCache&) = delete;
  TraceCache& operator=(const TraceCache&) = delete;
  // Waits until all that is to be kept is written, unless Stop() was called.
  ~TraceCache();

  // The trace of an open file as it was kept, or null: then it has to be read. `bytes_max`: of
  // text; a trace with more is not given.
  std::shared_ptr<LoadedTrace> Find(const io::InputFile& file, std::uint64_t bytes_max,
                                    const IdChoice& id_of) const;
  // Keeps a trace that was read, on a thread of its own.
  void Keep(std::shared_ptr<const LoadedTrace> trace, FileStamp stamp);
  // Nothing is written any more.
  void Stop();

 private:
  struct Kept {
    std::shared_ptr<const LoadedTrace> trace;
    FileStamp stamp;
  };
  bool on() const { return !options_.folder.empty(); }
  void Run();
  void Write(const Kept& kept);
  void WriteStamp(const FileStamp& stamp, std::uint64_t content_hash) const;

  const TraceCacheOptions options_;
  const io::CacheFolder folder_;
  Job job_;           // of all writing; stopped by Stop()
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Kept> waiting_;
  bool ending_ = false;
  std::thread writer_;  // begun with the first trace to be kept
};

}  // namespace jarvis::session
