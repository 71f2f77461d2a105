// The packets of a Perfetto trace, as far as slices need them: tracks, events with their times on
// the trace's clock, what they carry. Messages: protos/perfetto/trace of Perfetto (TracePacket,
// TrackEvent, TrackDescriptor, DebugAnnotation, InternedData, ClockSnapshot).
//
// Threads: one reader a file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/event.h"
#include "trace/import/shared/slice_writer.h"

namespace jarvis::trace::perfetto {

struct TrackInfo {
  std::uint64_t uuid = 0, parent = 0;
  std::string name, process, thread;
  std::optional<std::int64_t> pid, tid;
  bool counter = false;
};

// What an event's annotations say that has a meaning here; texts are in the trace's pool.
struct Annotations {
  std::int64_t begin_ns = kAbsent, end_ns = kAbsent, correlation = kAbsent, tid = kAbsent;
  std::int64_t stream = kAbsent, queue = kAbsent;
  StringId agent = kNoString, source_agent = kNoString, target_agent = kNoString;
  bool copies = false;       // says how many bytes
  StringId all = kNoString;  // all of them, as Args::other has them

  // Where the later says nothing, what was there stays.
  void Add(const Annotations& later);
};

enum class EventType : std::uint8_t { kBegin, kEnd, kInstant, kCounter };

struct TrackPoint {
  std::int64_t when_ns = 0;
  std::uint64_t track = 0;
  StringId name = kNoString, category = kNoString;
  std::uint32_t annotations = kNoArgs;  // a place in Packets::annotations
  EventType type = EventType::kInstant;
};

struct Packets {
  StringPool texts;                // of names, categories, annotations
  std::vector<TrackPoint> points;  // in the order of the file
  std::vector<Annotations> annotations;
  std::unordered_map<std::uint64_t, TrackInfo> tracks;
  std::vector<std::uint64_t> track_order;  // as they are told of first
  std::uint64_t packets = 0;
  std::map<std::string, std::uint64_t> lost;       // why something was left out, how often
  std::map<std::uint32_t, std::uint64_t> skipped;  // packets' fields that are not read
  std::vector<std::string> damage;
};

Packets ReadPackets(std::string_view bytes);

}  // namespace jarvis::trace::perfetto
