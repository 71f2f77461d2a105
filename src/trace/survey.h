// What one pass over a file finds out without keeping its events: how long the recording is, where
// its steps are, and where in the file which part of it lies. With it a part can be read without
// the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "base/job.h"
#include "io/byte_source.h"
#include "trace/event_decoder.h"
#include "trace/slice_pipeline.h"
#include "trace/slice_reader.h"

namespace jarvis::trace {

// Numbers from `least` to `most`; none at first.
struct Range {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();

  void Add(std::int64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  bool empty() const { return least > most; }
};

// One slice of the file: its place, and what its events could be asked for.
struct SliceContents {
  std::uint64_t first_uid = 0;
  std::uint64_t end_uid = 0;
  Range time_ns;         // from the first start to the last end
  Range launches;        // correlations of runtime and driver calls
  Range works;           // correlations of GPU work
  bool at_zero = false;  // it has events at time 0, which time_ns leaves out
};

struct Survey {
  struct Span {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };

  DecodedSlice head;  // tracks, names of processes, what was strange; no events
  FileFacts facts;
  std::uint64_t content_hash = 0;
  std::int64_t begin_ns = 0;           // of the first event
  std::int64_t end_ns = 0;             // of the last
  std::map<std::int64_t, Span> steps;  // by number: from its first mark's begin to its last's end
  std::vector<SliceContents> slices;   // in file order
  SlicePoints points;

  std::size_t MemoryBytes() const;
};

// Reads a whole file in bounded memory. Errors: those of ReadTrace.
Result<Survey> SurveyTrace(io::ByteSource& bytes, const ReadOptions& options, Job& job);

}  // namespace jarvis::trace
