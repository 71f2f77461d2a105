// What an importer read, as a trace: the facts beside its events become members that
// trace::ReadMetadata understands, so that they are kept, written again and shown as those of
// torch.profiler are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/import/shared/event_writer.h"
#include "trace/import/shared/owners.h"
#include "trace/metadata.h"
#include "trace/reader.h"

namespace jarvis::trace {

// The member that keeps what recorded it.
inline constexpr const char* kRecorderKey = "recorder";

struct RecordingFacts {
  std::string recorder;  // "nsight systems 3.25.0"
  bool amd = false;      // else NVIDIA's
  std::string trace_name;
  std::optional<std::int64_t> rank, world_size;
  std::map<std::pair<OwnerId, std::int64_t>, std::string> threads;  // names, by process and tid
  Recording recording;              // but for its processes, which the owners tell
  std::vector<std::string> damage;  // sentences without their ends
  std::uint64_t elements = 0;       // rows of events, kept or not
  std::uint64_t bytes = 0;          // of the file

  void Note(std::string code, std::uint64_t count, std::string text, std::string record = "");
  // Nothing is said of a count of 0.
  void Seen(std::string what, std::uint64_t count, std::optional<double> ms = std::nullopt);
};

// Tells the framework by the events, and notes what of a whole recording is not among them: calls,
// ranges, ops. `profiler`: a name of how_to_record.h.
void JudgeParts(const EventStore& events, std::string_view profiler, RecordingFacts* facts);

// REQUIRES: owners.Settle() was called.
Trace MakeTrace(EventWriter writer, const Owners& owners, RecordingFacts facts);

}  // namespace jarvis::trace
