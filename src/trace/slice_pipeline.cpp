#include "trace/slice_pipeline.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/parallel.h"
#include "trace/json_slicer.h"

namespace jarvis::trace {
namespace {

// One slice on its way: its text, then its events.
struct Piece : SliceText {
  std::uint64_t index = 0;
  DecodedSlice decoded;
};

// Every thread does the same: takes the next slice while no other does, decodes it while it is in
// this core's cache, and appends it, or leaves it to the thread that is to append its predecessor.
// Inflating and slicing, which cannot be split, thus overlap with decoding; the number of pieces
// bounds the memory.
class Pipeline {
 public:
  Pipeline(int threads, SliceReader* reader, SliceSink* sink, Job* job, io::ByteSource* bytes)
      : threads_(threads), reader_(*reader), sink_(*sink), job_(*job), bytes_(*bytes) {
    for (int i = 0; i < 2 * threads; ++i)
      free_.push_back(std::make_unique<Piece>());
  }

  Status Run() {
    {
      std::vector<std::jthread> workers;
      try {
        for (int i = 1; i < threads_; ++i)
          workers.emplace_back([this] { Work(false); });
      } catch (const std::exception&) {  // no more threads or memory: those there are do it
      }
      Work(true);
    }
    try {
      if (thrown_ != nullptr) std::rethrow_exception(thrown_);
    } catch (const std::bad_alloc&) {
      return Fail(ErrorCode::kOutOfMemory, "not enough memory for this trace");
    }
    return std::move(status_);
  }

 private:
  void Work(bool reports) {
    try {
      EventDecoder decoder;
      while (std::unique_ptr<Piece> piece = NextPiece(reports)) {
        if (sink_.Wants(*piece)) {
          decoder.Decode(piece->buffer.data() + 1, piece->text_size, piece->first_uid,
                         piece->elements, &piece->decoded);
          sink_.Select(&piece->decoded);
        } else {
          piece->decoded.Clear();
        }
        Commit(std::move(piece));
      }
    } catch (...) {  // whatever it is goes to the caller's thread, see Run()
      const std::lock_guard lock(mutex_);
      if (thrown_ == nullptr) thrown_ = std::current_exception();
      ended_ = true;
      changed_.notify_all();
    }
  }

  // A piece with the next slice in it; null at the end.
  std::unique_ptr<Piece> NextPiece(bool reports) {
    std::unique_ptr<Piece> piece;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || !free_.empty(); });
      if (ended_) return nullptr;
      piece = std::move(free_.back());
      free_.pop_back();
    }
    const std::lock_guard reading(reading_);
    if (ended_) return nullptr;
    if (reports) job_.Report(bytes_.consumed(), bytes_.file_size(), "reading");
    const Result<bool> more = reader_.Next(piece.get());
    if (!more || !*more) {
      End(more ? Status() : Status(tl::make_unexpected(more.error())));
      return nullptr;
    }
    piece->index = next_index_++;
    return piece;
  }

  // Appends what is next in order. One thread at a time does it, without holding the lock.
  void Commit(std::unique_ptr<Piece> piece) {
    std::unique_lock lock(mutex_);
    decoded_[piece->index] = std::move(piece);
    if (committing_) return;
    committing_ = true;
    while (!decoded_.empty() && decoded_.begin()->first == committed_) {
      std::unique_ptr<Piece> next = std::move(decoded_.begin()->second);
      decoded_.erase(decoded_.begin());
      lock.unlock();
      const bool good = sink_.Append(*next, next->decoded);
      lock.lock();
      if (!good) {
        lock.unlock();
        End(Fail(ErrorCode::kTooLarge,
                 fmt::format("more than {} events in one trace", limits::kEventsMax)));
        return;
      }
      ++committed_;
      free_.push_back(std::move(next));
      changed_.notify_all();
    }
    committing_ = false;
  }

  // No more slices; the first error stays.
  void End(Status status) {
    const std::lock_guard lock(mutex_);
    if (status_ && !status) status_ = std::move(status);
    ended_ = true;
    changed_.notify_all();
  }

  const int threads_;
  SliceReader& reader_;
  SliceSink& sink_;
  Job& job_;
  io::ByteSource& bytes_;
  std::mutex reading_;  // held while a slice is read; guards reader_ and next_index_
  std::uint64_t next_index_ = 0;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Piece>> free_;
  std::map<std::uint64_t, std::unique_ptr<Piece>> decoded_;  // waiting for their predecessors
  std::uint64_t committed_ = 0;
  bool committing_ = false;
  std::atomic<bool> ended_{false};
  Status status_;
  std::exception_ptr thrown_;  // the first
};

std::string DamageOf(const io::ByteSource& bytes, SliceReader& reader, Oddities* oddities) {
  JsonSlicer& slicer = reader.slicer();
  std::string damage;
  if (!bytes.damage().empty()) {
    oddities->Count(Oddity::kDamagedContainer, bytes.consumed());
    damage = bytes.damage();
  }
  if (reader.oversize()) {
    oddities->Count(Oddity::kOversizeEvent, slicer.elements());
    return damage + "an event larger than 64 MiB; reading stopped there";
  }
  if (!slicer.complete()) {
    oddities->Count(Oddity::kTruncated, slicer.elements());
    if (!damage.empty()) damage += "; ";
    damage +=
        fmt::format("the text ends {} after {} bytes and {} whole events",
                    slicer.inside_element() ? "inside an event" : "before its closing bracket",
                    reader.total(), slicer.elements());
  }
  if (slicer.text_after_end()) {
    oddities->Count(Oddity::kTextAfterEnd, slicer.elements());
    if (!damage.empty()) damage += "; ";
    damage +=
        fmt::format("text follows the end of the events, after {} of them", slicer.elements());
  }
  return damage;
}

Status CheckHoldsElements(SliceReader& reader) {
  JsonSlicer& slicer = reader.slicer();
  if (!slicer.started())
    return tl::make_unexpected(reader.NotATrace("the file holds nothing but white space"));
  if (!slicer.seen_events()) {
    return tl::make_unexpected(reader.NotATrace(
        slicer.complete() ? "JSON without a traceEvents array: not a profiler trace"
                          : "the file ends before its traceEvents array"));
  }
  if (slicer.elements() == 0 && reader.oversize()) {
    return Fail(ErrorCode::kTooLarge, "the first event is larger than the limit of 64 MiB");
  }
  if (slicer.elements() == 0) {
    return Fail(ErrorCode::kNotATrace, "traceEvents is empty: nothing was recorded",
                "record with torch.profiler and export_chrome_trace after the profiled steps");
  }
  return {};
}

}  // namespace

Status RunPipeline(int threads, SliceReader* reader, SliceSink* sink, Job* job,
                   io::ByteSource* bytes) {
  Pipeline pipeline(threads > 0 ? threads : DefaultThreads(), reader, sink, job, bytes);
  JV_TRY(pipeline.Run());
  return job->Check();
}

Result<FileFacts> FactsAtEnd(const io::ByteSource& bytes, SliceReader& reader, Oddities* oddities) {
  JV_TRY(CheckHoldsElements(reader));
  FileFacts facts;
  JsonSlicer& slicer = reader.slicer();
  facts.elements = slicer.elements();
  facts.text_bytes = reader.total();
  facts.bare_array = slicer.bare_array();
  facts.damage = DamageOf(bytes, reader, oddities);
  if (slicer.values_left_out() > 0)
    oddities->Count(Oddity::kLongMetadata, facts.elements, slicer.values_left_out());
  facts.metadata = ReadMetadata(std::move(slicer.values()));
  return facts;
}

Status CheckHasEvents(bool any, SliceReader& reader, const Oddities& oddities) {
  if (any) return {};
  if (const std::uint64_t huge = oddities.count(Oddity::kHugeTimestamp); huge > 0) {
    return Fail(ErrorCode::kNotATrace,
                fmt::format("the times of all {} events are beyond every date in microseconds, "
                            "which is the format's unit: they seem to be nanoseconds",
                            huge),
                "divide ts and dur of every event by 1000, or export the trace with times in "
                "microseconds");
  }
  return tl::make_unexpected(reader.NotATrace(
      fmt::format("none of the {} elements of traceEvents is an event with a start and a duration",
                  reader.slicer().elements())));
}

}  // namespace jarvis::trace
