#include "session/workspace.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/parallel.h"
#include "session/capture_files.h"
#include "session/file_ranks.h"

namespace jarvis::session {
namespace {

using std::chrono::steady_clock;

// Between two looks at whether a waiting caller was cancelled and at how far the load is.
constexpr std::chrono::milliseconds kLookEvery(5);

bool LooksLikeId(const std::string& trace) {
  return trace.size() >= 10 && trace.starts_with("t_") &&
         trace.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
}

// Lets other threads go first, those of other clients' calls: on Linux threads have priorities of
// their own.
void GiveWay() {
  constexpr int kNice = 10;
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice));
}

// Lets go of a lock for as long as it lives.
class Unlocked {
 public:
  explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() { lock_.lock(); }

 private:
  std::unique_lock<std::mutex>& lock_;
};

// What a dropped trace leaves behind are small pieces all over the heaps of the threads that made
// them, which keep them until they are told. The heaps are the process's, and so is this.
std::atomic<bool> heap_has_dropped = false;

// Tells them once its block is left and no lock is held: it takes milliseconds.
class GiveBackDropped {
 public:
  GiveBackDropped() = default;
  GiveBackDropped(const GiveBackDropped&) = delete;
  GiveBackDropped& operator=(const GiveBackDropped&) = delete;
  ~GiveBackDropped() {
    if (heap_has_dropped.exchange(false)) ::malloc_trim(0);
  }
};

}  // namespace

// One reading of one file. Everything but the job's stop flag is guarded by the workspace's lock.
struct Workspace::Load {
  Load(Workspace& workspace, FileKey what, io::InputFile input, PartRequest asked)
      : key(std::move(what)),
        part(std::move(asked)),
        file(std::move(input)),
        no_memory{ErrorCode::kOutOfMemory,
                  fmt::format("not enough memory to load \"{}\"", key.path), ""},
        job([this, &workspace](std::uint64_t now, std::uint64_t all, std::string_view doing) {
          const std::lock_guard lock(workspace.mutex_);
          done_bytes = now;
          total = all;
          phase = doing;
        }) {}

  std::optional<double> percent() const {
    if (total == 0) return std::nullopt;
    return std::min(100.0, 100.0 * static_cast<double>(done_bytes) / static_cast<double>(total));
  }

  const FileKey key;
  const PartRequest part;
  io::InputFile file;  // until Run takes it
  Error no_memory;     // made while there is some
  Job job;
  std::thread thread;
  std::size_t waiters = 0;
  bool keep = false;  // somebody was told that it goes on
  bool done = false;
  Result<std::shared_ptr<const LoadedTrace>> result = nullptr;
  std::exception_ptr thrown;  // our bug: each waiter throws it on
  std::uint64_t done_bytes = 0;
  std::uint64_t total = 0;  // 0: not known
  std::string phase = "waiting for other loads";
};

// A caller's place among those who wait for a load. REQUIRES: the lock is held at both ends.
class Workspace::Seat {
 public:
  explicit Seat(Load& load) : load_(load) { ++load_.waiters; }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  ~Seat() {
    --load_.waiters;
    if (load_.waiters == 0 && !load_.keep && !load_.done) load_.job.Stop();
  }

 private:
  Load& load_;
};

Workspace::~Workspace() {
  while (!LoadsEnd(std::chrono::seconds(1))) {
  }
  for (std::thread& thread : finished_)
    thread.join();
}

bool Workspace::StopLoads(std::chrono::milliseconds patience) {
  cache_.Stop();
  return LoadsEnd(patience);
}

bool Workspace::LoadsEnd(std::chrono::milliseconds patience) {
  Lock lock(mutex_);
  for (const LoadPtr& load : running_)
    load->job.Stop();
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [this] { return running_.empty(); });
}

// REQUIRES: the lock is held.
Result<Workspace::Place> Workspace::PlaceOf(const std::string& trace) const {
  if (!LooksLikeId(trace)) return Place{trace, {}};
  const auto known = place_of_id_.find(trace);
  if (known != place_of_id_.end()) return known->second;
  constexpr std::size_t kShownMax = 5;
  constexpr std::size_t kPathBytesMax = 150;
  std::string loaded;
  std::size_t shown = 0;
  for (const auto& [id, place] : place_of_id_) {
    if (shown++ == kShownMax) break;
    loaded += fmt::format("{}{} ({})", loaded.empty() ? "" : ", ", id,
                          Shortened(place.path, kPathBytesMax));
  }
  if (place_of_id_.size() > kShownMax)
    loaded += fmt::format(" and {} more", place_of_id_.size() - kShownMax);
  return Fail(ErrorCode::kUnknownTrace,
              fmt::format("no trace \"{}\" in this process; {}", trace,
                          loaded.empty() ? "none is loaded" : "loaded: " + loaded),
              "load_trace with the path of the trace file");
}

Result<std::shared_ptr<const LoadedTrace>> Workspace::Open(const std::string& trace, Job& job) {
  JV_ASSIGN(Opened opened, Open(trace, job, OpenOptions{}));
  return std::move(opened.trace);
}

Result<Opened> Workspace::Open(const std::string& trace, Job& job, const OpenOptions& asked) {
  const GiveBackDropped give_back;
  Lock lock(mutex_);
  JV_ASSIGN(const Place place, PlaceOf(trace));
  OpenOptions options = asked;
  options.part = asked.part.Or(place.part);
  io::InputFile file;
  std::string capture;
  {
    const Unlocked unlocked(lock);
    JV_ASSIGN(file, options_.files.OpenTrace(place.path));
    if (options.capture) {
      JV_ASSIGN(capture, ResolveCapture(options_.files, *options.capture));
    }
  }
  if (options.capture) capture_of_path_[file.path] = std::move(capture);
  const auto named = capture_of_path_.find(file.path);
  const FileKey key{file.path,          file.size,
                    file.modified_ns,   file.changed_ns,
                    file.inode,         named == capture_of_path_.end() ? "" : named->second,
                    options.part.Text()};
  const auto found = entries_.find(key);
  const bool loaded = found != entries_.end() && found->second.trace != nullptr;
  if (loaded) {
    found->second.used = ++clock_;
    KeepWithinMemory(*found->second.trace);
  }
  JV_ASSIGN(Opened opened, loaded ? Result<Opened>(Found(key, found->second.trace))
                                  : Wait(lock, key, std::move(file), job, options));
  opened.part = options.part;
  const bool same_part = asked.part.whole();
  if (opened.trace != nullptr && same_part && LooksLikeId(trace) && opened.trace->id() != trace) {
    return Fail(ErrorCode::kUnknownTrace,
                fmt::format("trace \"{}\" is stale: its file changed and is {} now", trace,
                            opened.trace->id()),
                fmt::format("load_trace {{\"trace\":\"{}\"}}", opened.trace->id()));
  }
  return opened;
}

// REQUIRES: the lock is held; it is again when this returns.
Result<Opened> Workspace::Wait(Lock& lock, const FileKey& key, io::InputFile file, Job& job,
                               const OpenOptions& options) {
  const auto began = steady_clock::now();
  JV_ASSIGN(const LoadPtr load, FindOrStart(key, std::move(file), options.part));
  const Seat seat(*load);
  while (!load->done) {
    JV_TRY(job.Check());
    auto wait = steady_clock::duration(kLookEvery);
    if (options.patience) {
      const auto left = began + *options.patience - steady_clock::now();
      if (left <= left.zero()) {
        load->keep = true;
        return Opened{nullptr, key.path, load->percent(), ""};
      }
      wait = std::min(wait, left);
    }
    changed_.wait_for(lock, wait);
    const std::uint64_t done = load->done_bytes;
    const std::uint64_t total = load->total;
    const std::string phase = load->phase;
    const Unlocked unlocked(lock);
    job.Report(done, total, phase);
  }
  if (load->thrown) std::rethrow_exception(load->thrown);
  if (!load->result) return tl::make_unexpected(load->result.error());
  return Found(key, *load->result);
}

// REQUIRES: the lock is held.
Opened Workspace::Found(const FileKey& key, std::shared_ptr<const LoadedTrace> trace) const {
  const auto ids = ids_of_path_.find({key.path, key.part});
  return {std::move(trace), key.path, 100, ids == ids_of_path_.end() ? "" : ids->second.before};
}

// REQUIRES: the lock is held.
Result<Workspace::LoadPtr> Workspace::FindOrStart(const FileKey& key, io::InputFile file,
                                                  const PartRequest& part) {
  for (std::thread& thread : finished_)
    thread.join();  // it has nothing left to do
  finished_.clear();
  const auto found = loading_.find(key);
  // One that was stopped is on its way out: whoever comes now needs another.
  if (found != loading_.end() && !found->second->job.stopped()) {
    LoadPtr load = found->second;
    if (load->done) loading_.erase(found);
    return load;
  }
  auto load = std::make_shared<Load>(*this, key, std::move(file), part);
  finished_.reserve(running_.size() + 1);  // Finish() has no way to fail
  running_.reserve(running_.size() + 1);
  loading_[key] = load;
  try {
    load->thread = std::thread([this, load] { Run(load); });
  } catch (const std::exception&) {
    loading_.erase(key);
    return Fail(ErrorCode::kBusy, kNoThread, "call again later");
  }
  running_.push_back(load);
  return load;
}

// The short id, unless other content has it already.
std::string Workspace::IdOf(std::uint64_t content_hash) {
  const Lock lock(mutex_);
  for (std::string id : {ShortId(content_hash), LongId(content_hash)}) {
    if (hash_of_id_.try_emplace(id, content_hash).first->second == content_hash) return id;
  }
  return LongId(content_hash);
}

Result<std::shared_ptr<const LoadedTrace>> Workspace::LoadWithCapture(
    const LoadPtr& load, const trace::ReadOptions& options) {
  const IdChoice id_of = [this](std::uint64_t hash) { return IdOf(hash); };
  if (!load->part.rank) return LoadAllRanks(load, options, id_of);
  FileKey key = load->key;
  key.part = load->part.window.Text();
  std::shared_ptr<const LoadedTrace> all;
  {
    const Lock lock(mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) all = found->second.trace;
  }
  if (all == nullptr) {
    JV_ASSIGN(all, LoadAllRanks(load, options, id_of));
  }
  JV_ASSIGN(const std::shared_ptr<LoadedTrace> trace,
            LoadRank(*all, *load->part.rank, options.threads, load->job, id_of));
  JV_TRY(AddCapture(options_.files, load->key.capture, options, load->job, trace.get()));
  return trace;
}

// The same whatever rank is asked for.
Result<std::shared_ptr<const LoadedTrace>> Workspace::LoadAllRanks(
    const LoadPtr& load, const trace::ReadOptions& options, const IdChoice& id_of) {
  if (!load->part.window.whole()) return LoadWindowOf(load, options, id_of);
  FileStamp stamp(load->file);
  std::shared_ptr<LoadedTrace> trace = cache_.Find(load->file, options.bytes_max, id_of);
  const bool known = trace != nullptr;
  if (!known) {
    JV_ASSIGN(trace, LoadTrace(std::move(load->file), options, load->job, id_of));
  }
  JV_TRY(AddCapture(options_.files, load->key.capture, options, load->job, trace.get()));
  if (!known) cache_.Keep(trace, std::move(stamp));
  return trace;
}

// The same for a part of the time, which is read anew each time: the survey of its file makes
// that quick.
Result<std::shared_ptr<const LoadedTrace>> Workspace::LoadWindowOf(
    const LoadPtr& load, const trace::ReadOptions& options, const IdChoice& id_of) {
  const io::InputFile file = std::move(load->file);
  JV_ASSIGN(const auto survey, surveys_.Get(file, options, load->job));
  JV_ASSIGN(const std::shared_ptr<LoadedTrace> trace,
            LoadWindow(file, *survey, load->part.window, options, load->job, id_of));
  JV_TRY(AddCapture(options_.files, load->key.capture, options, load->job, trace.get()));
  return trace;
}

// The thread of a load. Those that it starts are as urgent as itself.
void Workspace::Run(const LoadPtr& load) {
  if (options_.loads_give_way) GiveWay();
  const GiveBackDropped give_back;
  Lock lock(mutex_);
  while (busy_ >= options_.loads_max && !load->job.stopped())
    changed_.wait_for(lock, kLookEvery);
  ++busy_;
  {
    const Unlocked unlocked(lock);
    Result<std::shared_ptr<const LoadedTrace>> result = nullptr;
    std::exception_ptr thrown;
    try {
      const trace::ReadOptions options{.threads = options_.threads,
                                       .bytes_max = options_.trace_bytes_max};
      const Status unstopped = load->job.Check();
      result = unstopped ? LoadWithCapture(load, options) : tl::make_unexpected(unstopped.error());
      // Stopped too late to fail: all the same nobody wants it, so it must not take up memory.
      if (result && load->job.stopped()) result = tl::make_unexpected(load->job.Check().error());
    } catch (const std::bad_alloc&) {
      result = tl::make_unexpected(std::move(load->no_memory));
    } catch (...) {
      thrown = std::current_exception();
    }
    // The threads of a load have heaps of their own, which keep what a stopped load gave back.
    if (thrown || !result) ::malloc_trim(0);
    // Nobody looks at these before `done`.
    load->result = std::move(result);
    load->thrown = thrown;
  }
  --busy_;
  try {
    if (!load->thrown && load->result) Insert(*load, *load->result);
  } catch (const std::bad_alloc&) {
    load->result = tl::make_unexpected(std::move(load->no_memory));
  } catch (...) {
    load->thrown = std::current_exception();
  }
  Finish(load);
}

// REQUIRES: the lock is held.
void Workspace::Finish(const LoadPtr& load) {
  load->done = true;
  const bool failed = load->thrown != nullptr || !load->result;
  const auto at = loading_.find(load->key);
  // Who was told to come again must hear of a failure, or would start it anew for ever.
  const bool unheard = failed && load->keep && load->waiters == 0;
  if (at != loading_.end() && at->second == load && !unheard) loading_.erase(at);
  std::erase(running_, load);
  finished_.push_back(std::move(load->thread));
  changed_.notify_all();
}

// REQUIRES: the lock is held.
void Workspace::Insert(const Load& load, const std::shared_ptr<const LoadedTrace>& trace) {
  const FileKey& key = load.key;
  // A changed file's old content is stale: nobody can ask for it any more. Of one content there may
  // be several parts.
  std::erase_if(entries_, [&](const auto& entry) {
    const FileKey& other = entry.first;
    return other.path == key.path && (other.part == key.part || !other.SameContent(key));
  });
  entries_[key] = {trace, ++clock_};
  place_of_id_[trace->id()] = {key.path, load.part};
  Ids& ids = ids_of_path_[{key.path, key.part}];
  if (!ids.now.empty() && ids.now != trace->id()) ids.before = ids.now;
  ids.now = trace->id();
  KeepWithinMemory(*trace);
}

// REQUIRES: the lock is held.
void Workspace::KeepWithinMemory(const LoadedTrace& asked_for) {
  std::uint64_t total = 0;
  for (const auto& [other, entry] : entries_)
    total += entry.trace ? entry.trace->MemoryBytes() : 0;
  while (total > options_.memory_bytes_max) {
    Entry* oldest = nullptr;
    for (auto& [other, entry] : entries_) {
      if (entry.trace == nullptr || entry.trace.get() == &asked_for) continue;
      if (oldest == nullptr || entry.used < oldest->used) oldest = &entry;
    }
    if (oldest == nullptr) break;
    total -= std::min<std::uint64_t>(total, oldest->trace->MemoryBytes());
    oldest->trace.reset();
    heap_has_dropped = true;
  }
  if (total <= options_.memory_bytes_max) return;
  const std::uint64_t beyond = total - options_.memory_bytes_max;
  const std::uint64_t derived = asked_for.derived().MemoryBytes();
  asked_for.derived().Shrink(derived > beyond ? derived - beyond : 0);
}

bool Workspace::IsAtHand(const std::string& trace) const {
  const std::lock_guard lock(mutex_);
  const auto known = place_of_id_.find(trace);
  const Place place = known == place_of_id_.end() ? Place{trace, {}} : known->second;
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry.first.path == place.path && entry.first.part == place.part.Text() &&
           entry.second.trace != nullptr;
  });
}

std::size_t Workspace::Loads() const {
  const std::lock_guard lock(mutex_);
  return running_.size();
}

std::vector<std::pair<std::string, std::string>> Workspace::Known() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::string>> known;
  for (const auto& [id, place] : place_of_id_)
    known.emplace_back(id, place.path);
  return known;
}

}  // namespace jarvis::session
