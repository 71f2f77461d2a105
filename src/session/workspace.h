// The open traces of a server: loaded once however many ask, shared, bounded. And what the server's
// callers may do: which files they may name, how much may be loaded, how long they wait.
//
// A load runs on a thread of its own. Callers that ask for the same file wait for that one load,
// and each sees its progress. A caller that is cancelled only leaves; the load stops when the last
// one has left, unless somebody was told that it goes on.
//
// Threads: every method may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/job.h"
#include "base/limits.h"
#include "io/file_policy.h"
#include "session/loaded_trace.h"
#include "session/part_request.h"
#include "session/survey_shelf.h"
#include "session/trace_cache.h"

namespace jarvis::session {

struct WorkspaceOptions {
  // Traces beyond this are dropped with all that was derived from them, the least recently used
  // first. The one just asked for stays, but for what can be derived from it again. Looked at
  // whenever a trace is asked for.
  std::uint64_t memory_bytes_max = std::uint64_t{8} << 30;
  int threads = 0;  // of one load; 0: one per core
  io::FilePolicy files{};
  std::uint64_t trace_bytes_max = limits::kTraceBytesMax;  // of text in one trace
  // How long a tool waits for a trace before it answers "still loading"; absent: until it is there.
  std::optional<std::chrono::milliseconds> patience{};
  int loads_max = 2;            // at the same time; further ones wait
  bool loads_give_way = false;  // to whatever else the process does, as a server's must
  bool may_execute = false;     // start programs that a caller names
  TraceCacheOptions cache{};    // of traces that were read before; default: none is kept
};

struct OpenOptions {
  // The capture of the trace's GPU graphs, a folder or a file (AddCapture). It counts for the trace
  // until another one is named. Absent: what was named before, else what lies beside the trace.
  std::optional<std::string> capture;
  // A part of the file, which becomes a trace with an id of its own. Nothing said: all of it or, of
  // the id of a part, that part.
  PartRequest part;
  std::optional<std::chrono::milliseconds> patience;  // absent: until the trace is there
};

struct Opened {
  std::shared_ptr<const LoadedTrace> trace;  // null: still loading, and the load goes on
  std::string path;                          // absolute; asking for it again waits further
  std::optional<double> percent;             // of a load: how much is done; absent: not known
  std::string stale_id;  // the id of what this file held before it changed; mostly empty
  PartRequest part{};    // what part of the file it is
};

class Workspace {
 public:
  explicit Workspace(WorkspaceOptions options = {})
      : options_(std::move(options)), cache_(options_.cache) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  // Stops the loads and waits for them, and for what the cache is about to keep. No call may be in
  // progress.
  ~Workspace();

  // `trace`: an id that was given out before, or a path. Loads the file if it is not in memory or
  // has changed. When the patience is over before the load is, the outcome has no trace.
  Result<Opened> Open(const std::string& trace, Job& job, const OpenOptions& options);
  // The same with all the patience in the world.
  Result<std::shared_ptr<const LoadedTrace>> Open(const std::string& trace, Job& job);

  // Can this be answered without waiting for a load? It may have changed by the next moment.
  bool IsAtHand(const std::string& trace) const;

  // Tells all loads to stop and waits this long for it; are they? The cache keeps nothing any more.
  bool StopLoads(std::chrono::milliseconds patience);

  // How many loads run or wait for their turn.
  std::size_t Loads() const;

  // Ids and paths of all traces that were loaded, by id.
  std::vector<std::pair<std::string, std::string>> Known() const;

  const WorkspaceOptions& options() const { return options_; }
  const io::FilePolicy& files() const { return options_.files; }

 private:
  // What a file is, without reading it.
  struct FileKey {
    std::string path;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    std::uint64_t inode = 0;
    std::string capture;  // named for it; mostly empty
    std::string part;     // of the file; empty: all of it
    auto operator<=>(const FileKey&) const = default;
    bool SameContent(const FileKey& other) const {
      return size == other.size && modified_ns == other.modified_ns &&
             changed_ns == other.changed_ns && inode == other.inode;
    }
  };
  struct Entry {
    std::shared_ptr<const LoadedTrace> trace;  // null: evicted
    std::uint64_t used = 0;
  };
  struct Load;
  class Seat;
  using LoadPtr = std::shared_ptr<Load>;
  using Lock = std::unique_lock<std::mutex>;

  // A file, and which part of it.
  struct Place {
    std::string path;
    PartRequest part;
  };
  Result<Place> PlaceOf(const std::string& trace) const;
  Result<Opened> Wait(Lock& lock, const FileKey& key, io::InputFile file, Job& job,
                      const OpenOptions& options);
  Opened Found(const FileKey& key, std::shared_ptr<const LoadedTrace> trace) const;
  Result<LoadPtr> FindOrStart(const FileKey& key, io::InputFile file, const PartRequest& part);
  Result<std::shared_ptr<const LoadedTrace>> LoadWithCapture(const LoadPtr& load,
                                                             const trace::ReadOptions& options);
  Result<std::shared_ptr<const LoadedTrace>> LoadAllRanks(const LoadPtr& load,
                                                          const trace::ReadOptions& options,
                                                          const IdChoice& id_of);
  Result<std::shared_ptr<const LoadedTrace>> LoadWindowOf(const LoadPtr& load,
                                                          const trace::ReadOptions& options,
                                                          const IdChoice& id_of);
  void Run(const LoadPtr& load);
  void Finish(const LoadPtr& load);
  std::string IdOf(std::uint64_t content_hash);
  void Insert(const Load& load, const std::shared_ptr<const LoadedTrace>& trace);
  void KeepWithinMemory(const LoadedTrace& asked_for);
  bool LoadsEnd(std::chrono::milliseconds patience);

  const WorkspaceOptions options_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::map<FileKey, Entry> entries_;
  std::map<std::string, Place> place_of_id_;
  std::map<std::string, std::uint64_t> hash_of_id_;  // of the content that an id was given to
  struct Ids {
    std::string now;
    std::string before;
  };
  std::map<std::pair<std::string, std::string>, Ids> ids_of_path_;  // by path and part
  std::map<std::string, std::string> capture_of_path_;              // that a caller named, absolute
  // Loads that a caller can wait for: running, or failed after all who asked were told to come
  // again.
  std::map<FileKey, LoadPtr> loading_;
  std::vector<LoadPtr> running_;       // with a thread
  std::vector<std::thread> finished_;  // to be joined
  int busy_ = 0;                       // running ones that hold a place among loads_max
  std::uint64_t clock_ = 0;
  TraceCache cache_;     // has a lock of its own
  SurveyShelf surveys_;  // has a lock of its own
};

}  // namespace jarvis::session
