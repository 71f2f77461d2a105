#include "engine/workspace.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include <fmt/format.h>
#include <sys/stat.h>

namespace jarvis::engine {
namespace {

bool LooksLikeId(const std::string& trace) {
  return trace.size() >= 10 && trace.starts_with("t_") &&
         trace.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
}

std::string Expanded(std::string path) {
  if (path.starts_with("file://")) path.erase(0, 7);
  if (path == "~" || path.starts_with("~/")) {
    if (const char* home = std::getenv("HOME")) path.replace(0, 1, home);
  }
  return path;
}

}  // namespace

Result<Workspace::FileKey> Workspace::KeyOf(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return Fail(ErrorCode::kTraceNotFound, fmt::format("no file at \"{}\"", path),
                  "give the path of a trace (.json or .json.gz) that torch.profiler exported");
    }
    return Fail(ErrorCode::kIo, fmt::format("cannot read \"{}\": {}", path, std::strerror(errno)));
  }
  std::error_code ignored;
  const std::filesystem::path canonical = std::filesystem::canonical(path, ignored);
  FileKey key;
  key.path = canonical.empty() ? path : canonical.string();
  key.size = static_cast<std::uint64_t>(status.st_size);
  key.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return key;
}

// REQUIRES: the lock is held.
Result<std::string> Workspace::PathOf(const std::string& trace) const {
  if (!LooksLikeId(trace)) return Expanded(trace);
  const auto known = path_of_id_.find(trace);
  if (known != path_of_id_.end()) return known->second;
  std::string loaded;
  for (const auto& [id, path] : path_of_id_) {
    loaded += fmt::format("{}{} ({})", loaded.empty() ? "" : ", ", id, path);
  }
  return Fail(ErrorCode::kUnknownTrace,
              fmt::format("no trace \"{}\" in this process; {}", trace,
                          loaded.empty() ? "none is loaded" : "loaded: " + loaded),
              "load_trace {\"trace\":\"<path of the trace file>\"}");
}

Result<std::shared_ptr<const LoadedTrace>> Workspace::Open(const std::string& trace, Job& job) {
  std::unique_lock lock(mutex_);
  JV_ASSIGN(const std::string path, PathOf(trace));
  FileKey key;
  for (;;) {
    lock.unlock();
    JV_ASSIGN(key, KeyOf(path));
    lock.lock();
    const auto found = entries_.find(key);
    if (found != entries_.end() && found->second.trace != nullptr) {
      found->second.used = ++clock_;
      return found->second.trace;
    }
    if (!loading_.contains(key)) break;
    // Another call loads it. If that one is cancelled, this one takes over.
    JV_TRY(job.Check());
    changed_.wait_for(lock, std::chrono::milliseconds(50));
  }
  loading_.insert(key);
  lock.unlock();
  Result<std::shared_ptr<const LoadedTrace>> loaded = Fail(ErrorCode::kInternal, "");
  try {
    loaded = LoadTrace(key.path, options_.threads, job);
  } catch (const std::bad_alloc&) {
    loaded = Fail(ErrorCode::kOutOfMemory, fmt::format("not enough memory to load \"{}\"", path));
  }
  lock.lock();
  loading_.erase(key);
  if (loaded) Insert(key, *loaded);
  changed_.notify_all();
  return loaded;
}

// REQUIRES: the lock is held.
void Workspace::Insert(const FileKey& key, const std::shared_ptr<const LoadedTrace>& trace) {
  // A changed file's old content is stale: nobody can ask for it any more.
  std::erase_if(entries_, [&](const auto& entry) { return entry.first.path == key.path; });
  entries_[key] = {trace, ++clock_};
  path_of_id_[trace->id()] = key.path;
  std::uint64_t total = 0;
  for (const auto& [other, entry] : entries_)
    total += entry.trace ? entry.trace->MemoryBytes() : 0;
  while (total > options_.memory_bytes_max) {
    Entry* oldest = nullptr;
    for (auto& [other, entry] : entries_) {
      if (entry.trace == nullptr || entry.trace == trace) continue;
      if (oldest == nullptr || entry.used < oldest->used) oldest = &entry;
    }
    if (oldest == nullptr) break;
    total -= oldest->trace->MemoryBytes();
    oldest->trace.reset();
  }
}

std::vector<std::pair<std::string, std::string>> Workspace::Known() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::string>> known(path_of_id_.begin(), path_of_id_.end());
  return known;
}

}  // namespace jarvis::engine
