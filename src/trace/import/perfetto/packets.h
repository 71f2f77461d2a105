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

#include "base/column.h"
#include "base/string_pool.h"
#include "trace/event.h"
#include "trace/import/perfetto/annotations.h"

namespace jarvis::trace::perfetto {

struct TrackInfo {
  std::uint64_t uuid = 0, parent = 0;
  std::string name, process, thread;
  std::optional<std::int64_t> pid, tid;
  bool counter = false;
};

enum class EventType : std::uint8_t { kBegin, kEnd, kInstant, kCounter };

struct TrackPoint {
  std::int64_t when_ns = 0;
  std::uint32_t track = 0;  // a place in Packets::tracks_of_points
  StringId name = kNoString, category = kNoString;
  std::uint32_t said = kNoArgs;  // a place in Packets::said
  EventType type = EventType::kInstant;
};

struct Packets {
  StringPool texts;           // of names, categories, annotations
  Column<TrackPoint> points;  // in the order of the file
  std::vector<std::uint64_t> tracks_of_points;
  Column<Said> said;               // of points with annotations
  std::vector<Annotations> kinds;  // what their annotations say
  std::unordered_map<std::uint64_t, TrackInfo> tracks;
  std::vector<std::uint64_t> track_order;  // as they are told of first
  std::uint64_t packets = 0;
  std::map<std::string, std::uint64_t> lost;       // why something was left out, how often
  std::map<std::uint32_t, std::uint64_t> skipped;  // packets' fields that are not read
  std::vector<std::string> damage;
};

Packets ReadPackets(std::string_view bytes);

}  // namespace jarvis::trace::perfetto
