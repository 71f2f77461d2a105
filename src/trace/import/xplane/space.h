// An XSpace as it lies in its bytes: planes with their tables of names, and their lines, whose
// events are read one by one. Nothing is copied. Messages: tsl/profiler/protobuf/xplane.proto.
//
// Threads: const after reading; planes, and lines of one plane, may be read side by side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/import/proto/wire.h"

namespace jarvis::trace::xplane {

// A stat, with its value as it stands.
struct Stat {
  enum class Kind : std::uint8_t { kNone, kDouble, kUnsigned, kSigned, kText, kBytes, kReference };
  std::int64_t id = 0;  // of its metadata, which names it
  Kind kind = Kind::kNone;
  std::uint64_t number = 0;  // bits of a double; of a reference: the metadata whose name is meant
  std::string_view text{};
};
// False: the message cannot be read.
bool ReadStat(std::string_view message, Stat* stat);
// Its id alone. False likewise.
inline bool ReadStatId(std::string_view message, std::int64_t* id) {
  proto::Cursor cursor(message);
  proto::Field field;
  *id = 0;
  while (cursor.Next(&field)) {
    if (field.IsVarint(1)) *id = field.Signed();
  }
  return !cursor.broken();
}

struct EventName {
  std::string_view name, display;
  std::vector<std::string_view> stats{};  // messages
};

struct Line {
  std::int64_t id = 0, display_id = 0, timestamp_ns = 0;
  std::string_view name, display_name;
  std::string_view message;
  std::uint64_t events = 0;

  std::string_view label() const { return display_name.empty() ? name : display_name; }
};

struct Plane {
  std::int64_t id = 0;
  std::string_view name;
  std::vector<Line> lines;
  std::unordered_map<std::int64_t, EventName> event_names;
  std::unordered_map<std::int64_t, std::string_view> stat_names;
  std::vector<Stat> stats;

  std::string_view StatName(std::int64_t wanted) const;
  // The value of a stat as text: its own, or the name that it refers to.
  std::string_view TextOf(const Stat& stat) const;
  // A stat of the plane itself; null: it has none of that name.
  const Stat* Find(std::string_view name) const;
};

struct Event {
  std::int64_t name_id = 0, offset_ps = 0, duration_ps = 0;
  bool total = false;        // so many occurrences in sum, no moment of its own
  std::string_view stats{};  // its fields from the first stat on: those of kStatField are stats
};
inline constexpr std::uint32_t kStatField = 4;
// False: it cannot be read.
bool ReadEvent(std::string_view message, Event* event);

struct Space {
  std::vector<Plane> planes;
  std::vector<std::string_view> errors, warnings, hostnames;
  std::vector<std::string> damage;  // sentences without their ends
};
// All that can be read; planes that cannot are left out and told in `damage`.
Space ReadSpace(std::string_view bytes);

}  // namespace jarvis::trace::xplane
