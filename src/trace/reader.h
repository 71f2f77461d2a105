// Bytes in, events out: inflating, slicing and decoding overlap on the machine's cores.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "io/byte_source.h"
#include "trace/event_store.h"
#include "trace/metadata.h"
#include "trace/slice_pipeline.h"
#include "trace/window.h"

namespace jarvis::trace {

struct Trace {
  EventStore events;
  Metadata metadata;
  std::vector<TrackNames> track_names;  // by track
  std::string damage;                   // a sentence if the file was damaged or cut off; else empty
  bool partial = false;
  std::optional<TraceWindow> window;  // what part of the recording was read; absent: all of it
};

// Puts what a file says beside its events where a trace has it.
void TakeFacts(FileFacts facts, Trace* trace);

// Reads a whole trace. An error only if there is no event to be had; the same trace gives the same
// result whatever the number of threads.
Result<Trace> ReadTrace(io::ByteSource& bytes, const ReadOptions& options, Job& job);

}  // namespace jarvis::trace
