// The file as slices of whole events, one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/job.h"
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

// One caller at a time.
class SliceReader {
 public:
  SliceReader(io::ByteSource& bytes, std::uint64_t bytes_max, Job& job)
      : bytes_(bytes), bytes_max_(bytes_max), job_(job) {}

  // Fills the piece with the next slice; false at the end.
  Result<bool> Next(SliceText* piece);

  JsonSlicer& slicer() { return slicer_; }
  std::uint64_t total() const { return total_; }  // bytes of text so far
  bool oversize() const { return oversize_; }     // ended at an event larger than the limit

 private:
  Status CheckSize() const;

  io::ByteSource& bytes_;
  const std::uint64_t bytes_max_;
  Job& job_;
  JsonSlicer slicer_;
  std::vector<char> carry_;  // the start of an event that the last slice ended before
  std::uint64_t total_ = 0;
  bool oversize_ = false;
};

}  // namespace jarvis::trace
