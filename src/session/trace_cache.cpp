#include "session/trace_cache.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/string_pool.h"
#include "io/byte_source.h"
#include "session/trace_image.h"

namespace jarvis::session {
namespace {

// A build keeps files of its own, so that several can use one folder.
std::string BuildPart() {
  return TraceImage::Build().substr(0, 12);
}

std::string EntryName(std::uint64_t content_hash, std::uint64_t file_bytes) {
  return fmt::format("{:016x}-{:x}-{}.trace", content_hash, file_bytes, BuildPart());
}

// Whether a trace of a file of that size was kept, whichever.
bool HasSize(const std::vector<std::string>& names, std::uint64_t file_bytes) {
  const std::string ending = fmt::format("-{:x}-{}.trace", file_bytes, BuildPart());
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.ends_with(ending); });
}

// What a stamp's file holds: the stamp as text and the content's hash.
struct StampText {
  std::string text;
  std::string Name() const { return fmt::format("{:016x}.stamp", HashText(text)); }
};

StampText TextOf(const FileStamp& stamp) {
  return {fmt::format("{} {} {} {} {}", stamp.size, stamp.modified_ns, stamp.changed_ns,
                      stamp.inode, stamp.path)};
}

std::string_view View(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The content's hash as an earlier run noted it.
std::optional<std::uint64_t> NotedHash(const io::CacheFolder& folder, const FileStamp& stamp) {
  const StampText text = TextOf(stamp);
  const io::CachedBytes file = folder.Read(text.Name());
  const std::string_view noted = View(file.bytes());
  std::uint64_t hash = 0;
  if (noted.size() != text.text.size() + sizeof hash || !noted.starts_with(text.text))
    return std::nullopt;
  std::memcpy(&hash, noted.data() + text.text.size(), sizeof hash);
  return hash;
}

bool ChangedWithin(std::chrono::nanoseconds time, const FileStamp& stamp) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return now - std::chrono::nanoseconds(stamp.changed_ns) < time;
}

}  // namespace

TraceCache::~TraceCache() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (writer_.joinable()) writer_.join();
}

std::shared_ptr<LoadedTrace> TraceCache::Find(const io::InputFile& file, std::uint64_t bytes_max,
                                              const IdChoice& id_of) const {
  if (!on() || BuildPart().empty()) return nullptr;
  const FileStamp stamp(file);
  std::optional<std::uint64_t> hash = NotedHash(folder_, stamp);
  const bool noted = hash.has_value();
  // A copy of a file that was read before, or one that was touched: its content is what counts.
  if (!noted && HasSize(folder_.Names(), stamp.size)) hash = io::HashOf(file);
  if (!hash) return nullptr;
  io::CachedBytes kept = folder_.Read(EntryName(*hash, stamp.size));
  if (kept.bytes().empty()) return nullptr;
  std::shared_ptr<LoadedTrace> trace = TraceImage::Read(std::move(kept));
  if (trace == nullptr || trace->content_hash() != *hash || trace->file_bytes() != stamp.size ||
      trace->events().text_bytes > bytes_max)
    return nullptr;
  TraceImage::Name(trace.get(), file.path, id_of(*hash));
  if (!noted && options_.writes) WriteStamp(stamp, *hash);
  return trace;
}

void TraceCache::Keep(std::shared_ptr<const LoadedTrace> trace, FileStamp stamp) {
  if (!on() || !options_.writes || BuildPart().empty() || !trace->may_be_kept() ||
      trace->events().text_bytes < options_.text_bytes_min)
    return;
  const std::lock_guard lock(mutex_);
  try {
    if (!writer_.joinable()) writer_ = std::thread([this] { Run(); });
    waiting_.push_back({std::move(trace), std::move(stamp)});
  } catch (const std::exception&) {
    return;  // no thread or memory is left: it is read again next time
  }
  changed_.notify_all();
}

void TraceCache::Stop() {
  job_.Stop();
}

// The writer's thread.
void TraceCache::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Kept next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      if (!job_.stopped()) Write(next);
    } catch (const std::exception&) {
      // Without memory or a core to spare nothing is kept, and nothing is lost.
    }
    lock.lock();
  }
}

void TraceCache::Write(const Kept& kept) {
  const TraceImage image(*kept.trace);
  const auto& pieces = image.Pieces();
  std::uint64_t bytes = 0;
  for (const auto piece : pieces)
    bytes += piece.size();
  if (bytes > options_.bytes_max / 2) return;
  folder_.Shrink(options_.bytes_max - bytes);
  const std::uint64_t hash = kept.trace->content_hash();
  const Status written = folder_.Write(EntryName(hash, kept.trace->file_bytes()), pieces, job_);
  if (written) WriteStamp(kept.stamp, hash);
}

void TraceCache::WriteStamp(const FileStamp& stamp, std::uint64_t content_hash) const {
  if (ChangedWithin(options_.settled_after, stamp)) return;
  const StampText text = TextOf(stamp);
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text.text)),
                                               std::as_bytes(std::span(&content_hash, 1))};
  // One that cannot be written is hashed again next time.
  static_cast<void>(folder_.Write(text.Name(), pieces, job_));
}

}  // namespace jarvis::session
