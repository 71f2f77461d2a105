// The file as slices of whole events, one after the other.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/job.h"
#include "base/limits.h"
#include "io/byte_source.h"
#include "trace/json_slicer.h"

namespace jarvis::trace {

// One slice's text.
struct SliceText {
  std::vector<char> buffer;  // one byte, text, padding: what EventDecoder asks for
  std::size_t text_size = 0;
  std::uint64_t first_uid = 0;
  std::uint64_t elements = 0;

  std::string_view text() const { return {buffer.data() + 1, text_size}; }
};

// A place between two events from which slices can be read again.
struct SlicePoint {
  std::unique_ptr<const io::RestartPoint> bytes;
  std::vector<char> carry;    // text before that place that belongs to no whole event yet
  std::uint64_t element = 0;  // position of the next one in traceEvents
  std::uint64_t text = 0;     // bytes of text up to that place
  bool inside_events = false;
  bool bare_array = false;
};

// Places all over a file, in order: the further apart, the larger the file, so that their memory is
// bounded.
class SlicePoints {
 public:
  // Whether so much text lies behind the last point that the next one is due.
  bool Due(std::uint64_t text) const {
    return points_.empty() || text >= points_.back().text + spacing_;
  }
  void Add(SlicePoint point);
  const std::vector<SlicePoint>& all() const { return points_; }
  std::size_t MemoryBytes() const { return bytes_; }

 private:
  static std::size_t BytesOf(const SlicePoint& point);
  void Thin();

  std::vector<SlicePoint> points_;
  std::uint64_t spacing_ = limits::kRestartSpacingMin;
  std::size_t bytes_ = 0;
};

// One caller at a time.
class SliceReader {
 public:
  SliceReader(io::ByteSource& bytes, std::uint64_t bytes_max, Job& job)
      : bytes_(bytes), bytes_max_(bytes_max), job_(job) {}
  // Goes on at `from`, where `bytes` was opened, until the slice that holds the last element before
  // `elements_end`.
  SliceReader(io::ByteSource& bytes, std::uint64_t bytes_max, Job& job, const SlicePoint& from,
              std::uint64_t elements_end);

  // Notes places on the way; `points` must outlive the reading.
  void NoteIn(SlicePoints* points) { points_ = points; }

  // Fills the piece with the next slice; false at the end.
  Result<bool> Next(SliceText* piece);

  JsonSlicer& slicer() { return slicer_; }
  std::uint64_t total() const { return total_; }  // bytes of text so far
  bool oversize() const { return oversize_; }     // ended at an event larger than the limit
  // Why these bytes are no trace: what kind of file they are where that can be told, else
  // `message`.
  // Nothing can be read after it.
  Error NotATrace(std::string message, std::string hint = "");

 private:
  Status CheckSize() const;
  void NotePoint();

  io::ByteSource& bytes_;
  const std::uint64_t bytes_max_;
  Job& job_;
  JsonSlicer slicer_;
  std::string head_;         // how the text begins
  std::vector<char> carry_;  // the start of an event that the last slice ended before
  std::uint64_t total_ = 0;
  std::uint64_t elements_end_ = std::numeric_limits<std::uint64_t>::max();
  SlicePoints* points_ = nullptr;
  bool oversize_ = false;
};

}  // namespace jarvis::trace
