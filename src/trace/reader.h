// Bytes in, events out: inflating, slicing and decoding overlap on the machine's cores.
#pragma once

#include <cstdint>
#include <string>

#include "base/job.h"
#include "base/limits.h"
#include "io/byte_source.h"
#include "trace/event_store.h"
#include "trace/metadata.h"

namespace jarvis::trace {

struct ReadOptions {
  int threads = 0;                                   // 0: one per core
  std::uint64_t bytes_max = limits::kTraceBytesMax;  // of text, inflated
};

struct Trace {
  EventStore events;
  Metadata metadata;
  std::vector<TrackNames> track_names;  // by track
  std::string damage;                   // a sentence if the file was damaged or cut off; else empty
  bool partial = false;
};

// Reads a whole trace. An error only if there is no event to be had; the same trace gives the same
// result whatever the number of threads.
Result<Trace> ReadTrace(io::ByteSource& bytes, const ReadOptions& options, Job& job);

}  // namespace jarvis::trace
