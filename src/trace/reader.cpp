#include "trace/reader.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/parallel.h"
#include "trace/event_decoder.h"
#include "trace/json_slicer.h"
#include "trace/repair.h"
#include "trace/store_builder.h"

namespace jarvis::trace {
namespace {

// One slice on its way: its text, then its events.
struct Piece {
  std::vector<char> buffer;  // one byte, text, padding: what EventDecoder asks for
  std::size_t text_size = 0;
  std::uint64_t index = 0;
  std::uint64_t first_uid = 0;
  DecodedSlice decoded;
};

// Hands pieces from the thread that slices to threads that decode, and puts the results together in
// order. The number of pieces bounds the memory; when all are taken, the slicing thread decodes
// too.
class Pipeline {
 public:
  Pipeline(int threads, StoreBuilder* builder) : builder_(*builder) {
    // One is being filled while the others wait, are decoded or are put together.
    const int pieces = 2 * threads + 2;
    for (int i = 0; i < pieces; ++i)
      free_.push_back(std::make_unique<Piece>());
    for (int i = 1; i < threads; ++i)
      workers_.emplace_back([this] { Work(); });
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { Close(); }

  // A piece to fill.
  std::unique_ptr<Piece> Take() {
    std::unique_lock lock(mutex_);
    while (free_.empty()) {
      if (!waiting_.empty()) {
        DecodeNext(lock, own_decoder_);
      } else {
        changed_.wait(lock);
      }
    }
    std::unique_ptr<Piece> piece = std::move(free_.back());
    free_.pop_back();
    return piece;
  }

  void Submit(std::unique_ptr<Piece> piece) {
    std::unique_lock lock(mutex_);
    piece->index = submitted_++;
    waiting_.push_back(std::move(piece));
    changed_.notify_all();
  }

  // Decodes what is left; returns when everything submitted is in the store.
  Status Finish() {
    std::unique_lock lock(mutex_);
    while (committed_ < submitted_ && !failed_) {
      if (!waiting_.empty()) {
        DecodeNext(lock, own_decoder_);
      } else {
        changed_.wait(lock);
      }
    }
    lock.unlock();
    Close();
    if (out_of_memory_) return Fail(ErrorCode::kOutOfMemory, "not enough memory for this trace");
    if (failed_) {
      return Fail(ErrorCode::kTooLarge,
                  fmt::format("more than {} events in one trace", limits::kEventsMax));
    }
    return {};
  }

 private:
  void Work() {
    EventDecoder decoder;
    std::unique_lock lock(mutex_);
    while (!closed_) {
      if (!waiting_.empty()) {
        DecodeNext(lock, decoder);
      } else {
        changed_.wait(lock);
      }
    }
  }

  // REQUIRES: the lock is held and a piece waits. Releases the lock while it decodes.
  void DecodeNext(std::unique_lock<std::mutex>& lock, EventDecoder& decoder) {
    std::unique_ptr<Piece> piece = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    bool good = true;
    try {
      decoder.Decode(piece->buffer.data() + 1, piece->text_size, piece->first_uid, &piece->decoded);
    } catch (const std::bad_alloc&) {
      good = false;
    }
    lock.lock();
    if (!good) out_of_memory_ = failed_ = true;
    decoded_[piece->index] = std::move(piece);
    Commit(lock);
    changed_.notify_all();
  }

  // Appends what is next in order. One thread at a time does it, without holding the lock.
  void Commit(std::unique_lock<std::mutex>& lock) {
    if (committing_) return;
    committing_ = true;
    while (!decoded_.empty() && decoded_.begin()->first == committed_) {
      std::unique_ptr<Piece> piece = std::move(decoded_.begin()->second);
      decoded_.erase(decoded_.begin());
      lock.unlock();
      bool good = false;
      bool memory = true;
      try {
        good = builder_.Append(piece->decoded);
      } catch (const std::bad_alloc&) {
        memory = false;
      }
      lock.lock();
      failed_ = failed_ || !good;
      out_of_memory_ = out_of_memory_ || !memory;
      ++committed_;
      free_.push_back(std::move(piece));
      changed_.notify_all();
    }
    committing_ = false;
  }

  void Close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      changed_.notify_all();
    }
    workers_.clear();
  }

  StoreBuilder& builder_;
  EventDecoder own_decoder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Piece>> free_;
  std::deque<std::unique_ptr<Piece>> waiting_;
  std::map<std::uint64_t, std::unique_ptr<Piece>> decoded_;
  std::uint64_t submitted_ = 0;
  std::uint64_t committed_ = 0;
  bool committing_ = false;
  bool closed_ = false;
  bool failed_ = false;
  bool out_of_memory_ = false;
  std::vector<std::jthread> workers_;
};

// Reads and slices; what a piece of text holds is no business of this class.
class SliceReader {
 public:
  SliceReader(io::ByteSource& bytes, Pipeline& pipeline, Job& job)
      : bytes_(bytes), pipeline_(pipeline), job_(job) {}

  Status Run() {
    std::unique_ptr<Piece> piece = pipeline_.Take();
    std::size_t filled = 0;  // bytes of text in the piece
    for (;;) {
      JV_TRY(job_.Check());
      job_.Report(bytes_.consumed(), bytes_.file_size(), "reading");
      const std::size_t wanted = filled + limits::kSliceBytes;
      if (piece->buffer.size() < wanted + 1 + EventDecoder::kPaddingBytes) {
        piece->buffer.resize(wanted + 1 + EventDecoder::kPaddingBytes);
      }
      char* text = piece->buffer.data() + 1;
      JV_ASSIGN(const std::size_t got, bytes_.Read({text + filled, limits::kSliceBytes}));
      if (got == 0) break;
      filled += got;
      total_ += got;
      if (total_ > limits::kTraceBytesMax) {
        return Fail(ErrorCode::kTooLarge, fmt::format("more than {} GiB of text in one trace",
                                                      limits::kTraceBytesMax >> 30));
      }
      // The end of an array hands back control early: feed the rest at once.
      std::size_t begin = 0;
      for (bool more = true; more;) {
        JV_TRY(slicer_.Feed({text + begin, filled - begin}));
        more = slicer_.consumed() > 0 && !slicer_.inside_events() &&
               begin + slicer_.consumed() < filled;
        JV_TRY(Dispatch(&piece, &text, &begin, &filled));
      }
      std::memmove(text, text + begin, filled - begin);
      filled -= begin;
      if (filled > limits::kEventBytesMax) {
        oversize_ = true;
        break;
      }
    }
    return {};
  }

  JsonSlicer& slicer() { return slicer_; }
  std::uint64_t total() const { return total_; }
  bool oversize() const { return oversize_; }

 private:
  // Sends off the slice that the last Feed found, if any; what follows it moves to a new piece.
  Status Dispatch(std::unique_ptr<Piece>* piece, char** text, std::size_t* begin,
                  std::size_t* filled) {
    const JsonSlicer::Slice slice = slicer_.slice();
    const std::size_t end = *begin + slicer_.consumed();
    if (slice.elements == 0) {
      *begin = end;
      return {};
    }
    std::unique_ptr<Piece> next = pipeline_.Take();
    const std::size_t rest = *filled - end;
    const std::size_t needed = rest + limits::kSliceBytes + 1 + EventDecoder::kPaddingBytes;
    if (next->buffer.size() < needed) next->buffer.resize(needed);
    std::memcpy(next->buffer.data() + 1, *text + end, rest);
    const auto offset = static_cast<std::size_t>(slice.text.data() - *text);
    if (offset > 0) std::memmove(*text, slice.text.data(), slice.text.size());
    (*piece)->text_size = slice.text.size();
    (*piece)->first_uid = slice.first_element;
    pipeline_.Submit(std::move(*piece));
    *piece = std::move(next);
    *text = (*piece)->buffer.data() + 1;
    *begin = 0;
    *filled = rest;
    return {};
  }

  io::ByteSource& bytes_;
  Pipeline& pipeline_;
  Job& job_;
  JsonSlicer slicer_;
  std::uint64_t total_ = 0;
  bool oversize_ = false;
};

std::string DamageOf(const io::ByteSource& bytes, SliceReader& reader, EventStore* events) {
  JsonSlicer& slicer = reader.slicer();
  std::string damage;
  if (!bytes.damage().empty()) {
    events->oddities.Count(Oddity::kDamagedContainer, bytes.consumed());
    damage = bytes.damage();
  }
  if (reader.oversize()) {
    events->oddities.Count(Oddity::kOversizeEvent, slicer.elements());
    return damage + "an event larger than 64 MiB; reading stopped there";
  }
  if (!slicer.complete()) {
    events->oddities.Count(Oddity::kTruncated, slicer.elements());
    if (!damage.empty()) damage += "; ";
    damage +=
        fmt::format("the text ends {} after {} bytes and {} whole events",
                    slicer.inside_element() ? "inside an event" : "before its closing bracket",
                    reader.total(), slicer.elements());
  }
  if (slicer.text_after_end()) events->oddities.Count(Oddity::kTextAfterEnd, reader.total());
  return damage;
}

Status CheckIsTrace(const EventStore& events, SliceReader& reader) {
  JsonSlicer& slicer = reader.slicer();
  if (!slicer.started())
    return Fail(ErrorCode::kNotATrace, "the file holds nothing but white space");
  if (!slicer.seen_events()) {
    return Fail(ErrorCode::kNotATrace,
                slicer.complete() ? "JSON without a traceEvents array: not a profiler trace"
                                  : "the file ends before its traceEvents array");
  }
  if (events.elements == 0) {
    return Fail(ErrorCode::kNotATrace, "traceEvents is empty: nothing was recorded",
                "record with torch.profiler and export_chrome_trace after the profiled steps");
  }
  if (events.events.empty()) {
    return Fail(ErrorCode::kNotATrace,
                fmt::format("none of the {} elements of traceEvents is an event with a start and a "
                            "duration",
                            events.elements));
  }
  return {};
}

}  // namespace

Result<Trace> ReadTrace(io::ByteSource& bytes, const ReadOptions& options, Job& job) {
  Trace trace;
  StoreBuilder builder(&trace.events);
  {
    Pipeline pipeline(options.threads > 0 ? options.threads : DefaultThreads(), &builder);
    SliceReader reader(bytes, pipeline, job);
    JV_TRY(reader.Run());
    JV_TRY(pipeline.Finish());
    JV_TRY(job.Check());
    builder.Finish();
    trace.events.elements = reader.slicer().elements();
    trace.events.text_bytes = reader.total();
    trace.events.dialect.bare_array = reader.slicer().bare_array();
    JV_TRY(CheckIsTrace(trace.events, reader));
    trace.damage = DamageOf(bytes, reader, &trace.events);
    trace.partial = !trace.damage.empty();
    trace.metadata = ReadMetadata(std::move(reader.slicer().values()));
  }
  trace.track_names = ReadTrackNames(trace.events);
  Repair(&trace.events);
  return trace;
}

}  // namespace jarvis::trace
