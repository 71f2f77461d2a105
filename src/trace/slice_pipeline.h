// A file's slices, decoded on all cores and handed on in file order.
#pragma once

#include <cstdint>
#include <string>

#include "base/job.h"
#include "base/limits.h"
#include "io/byte_source.h"
#include "trace/event_decoder.h"
#include "trace/metadata.h"
#include "trace/oddities.h"
#include "trace/slice_reader.h"

namespace jarvis::trace {

struct ReadOptions {
  int threads = 0;                                   // 0: one per core
  std::uint64_t bytes_max = limits::kTraceBytesMax;  // of text, inflated
};

// Who takes the slices.
class SliceSink {
 public:
  virtual ~SliceSink() = default;
  // Called by many threads at once: whether a slice is worth decoding, and what of it to leave out
  // before it is handed on.
  virtual bool Wants(const SliceText&) const { return true; }
  virtual void Select(DecodedSlice*) const {}
  // Takes the next slice in file order, one thread at a time. False: there are more events than can
  // be told apart.
  virtual bool Append(const SliceText& text, const DecodedSlice& slice) = 0;
};

// Runs until the reader's end. The result does not depend on the number of threads.
Status RunPipeline(int threads, SliceReader* reader, SliceSink* sink, Job* job,
                   io::ByteSource* bytes);

// What a file says beside its events, and how its reading ended.
struct FileFacts {
  std::uint64_t elements = 0;    // of traceEvents, of whatever phase
  std::uint64_t text_bytes = 0;  // of JSON read
  bool bare_array = false;
  Metadata metadata;
  std::string damage;  // a sentence if the file was damaged or cut off; else empty
};

// What is known once the reader has come to its end; counts what ended it. An error if the file
// holds no list of events, or nothing in it.
Result<FileFacts> FactsAtEnd(const io::ByteSource& bytes, SliceReader& reader, Oddities* oddities);
// The error of a file without a single event that has a start and a duration.
Status CheckHasEvents(bool any, SliceReader& reader, const Oddities& oddities);

}  // namespace jarvis::trace
